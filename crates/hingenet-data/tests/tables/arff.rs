//! ARFF, good and bad.

use super::*;

const ARFF: &str = "% comment\n@RELATION 'a test'\n\n@attribute 'sepal length' REAL\n\
    @attribute size {small, 'very large', \"it's\", unused}\n@ATTRIBUTE note string\n\
    @attribute class {yes,no}\n@data\n";

#[test]
fn arff_keeps_declared_values_and_their_order() {
    let table = arff(&format!(
        "{ARFF}1.5,small,hello,no\n% in between\n?,'very large',\"a, b\",yes\n2, \"it's\" , 'x\\'y' , ?\n"
    ));
    assert_eq!(cells(&table, "sepal length"), ["1.5", "-", "2"]);
    assert_eq!(categories(&table, "size"), ["small", "very large", "it's", "unused"]);
    assert_eq!(cells(&table, "size"), ["small", "very large", "it's"]);
    assert_eq!(cells(&table, "note"), ["hello", "a, b", "x'y"]);
    assert_eq!(categories(&table, "class"), ["yes", "no"]);
    assert_eq!(cells(&table, "class"), ["no", "yes", "-"]);
}

#[test]
fn arff_sparse_rows_fill_with_zero_or_the_first_value() {
    let text = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c integer\n@data\n\
                {0 1.5, 2 ?}\n{1 y}\n{}\n{ 1 'y' , 0 2 } % end\n";
    let table = arff(text);
    assert_eq!(cells(&table, "a"), ["1.5", "0", "0", "2"]);
    assert_eq!(cells(&table, "b"), ["x", "y", "x", "y"]);
    assert_eq!(cells(&table, "c"), ["-", "0", "0", "0"]);
}

#[test]
fn arff_texts_with_escapes_and_rows_parted_by_spaces_are_understood() {
    let text = "@attribute s string\n@attribute skipped string\n@attribute n numeric\n@attribute none {}\n@data\n\
                'a\\nb\\tc\\rd\\\\e' ? 1 ?\n'it\\'s, so' x 2 ?\n{0 y, 1 x, 2 3}\n";
    let options = ReadOptions { ignore: names(&["skipped"]), ..Default::default() };
    let table = try_read("data.arff", text.as_bytes(), &options).unwrap().table;
    assert_eq!(cells(&table, "s"), ["a\nb\tc\rd\\e", "it's, so", "y"]);
    assert_eq!(cells(&table, "n"), ["1", "2", "3"]);
    assert_eq!(cells(&table, "none"), ["-", "-", "-"], "there is no value that could be left out");
}

#[test]
fn arff_is_recognised_by_content_and_any_column_may_be_the_target() {
    let text = "% c\n@relation r\n@attribute a numeric\n@attribute b {x,NA}\n@data\n1 NA\n2 x\n";
    let found = try_read("standard input", text.as_bytes(), &with_target("a")).unwrap();
    assert_eq!(found.table.n_columns(), 2);
    assert_eq!(categories(&found.table, "a"), ["1", "2"]);
    assert_eq!(cells(&found.table, "b"), ["NA", "x"], "a declared value is no missing token");
}

#[test]
fn bad_arff_is_refused_with_its_line() {
    let check = |text: &str, line: Option<u64>, parts: &[&str], hint: &str| {
        refused("bad.arff", text.as_bytes(), &ReadOptions::default(), line, parts, hint);
    };
    let head = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n";
    check("", None, &["empty"], "@data");
    check("@relation r\n@attribute a numeric\n", None, &["@data"], "@data");
    check("@relation r\n@data\n1\n", Some(2), &["no attribute"], "@attribute");
    check(head, None, &["no rows"], "one row");
    check("@relation r\nnonsense\n", Some(2), &["`nonsense`"], "@relation");
    check("@attribute a\n@data\n", Some(1), &["name and a type"], "@attribute");
    check("@attribute a {x,y\n@data\n", Some(1), &["not closed"], "}");
    check("@attribute a {x,,y}\n@data\n", Some(1), &["empty"], "quoted");
    check("@attribute a {x,x}\n@data\nx\n", Some(1), &["`a`", "`x`", "twice"], "once");
    check("@attribute a numeric\n@attribute a {x}\n@data\n1,x\n", None, &["`a`", "twice"], "rename");
    check("@attribute d date 'yyyy'\n@data\n2000\n", Some(1), &["`d`", "date"], "--ignore");
    check("@attribute d relational\n@data\n2000\n", Some(1), &["`d`", "relational"], "--ignore");
    check(&format!("{head}1,z\n"), Some(5), &["`b`", "`z`", "declared"], "`?`");
    check(&format!("{head}low,x\n"), Some(5), &["`a`", "`low`", "not a number"], "--na");
    check(&format!("{head}1e999,x\n"), Some(5), &["`a`", "finite"], "finite");
    check(&format!("{head}1,x,2\n"), Some(5), &["3 cells", "2 attributes"], "quote");
    check(&format!("{head}1,'x\n"), Some(5), &["never closed"], "close");
    check(&format!("{head}1,x,{{2.5}}\n"), Some(5), &["weight"], "--weights");
    check(&format!("{head}{{0 1}}, {{2.5}}\n"), Some(5), &["weight"], "--weights");
    check(&format!("{head}{{5 1}}\n"), Some(5), &["index 5"], "from 0");
    check(&format!("{head}{{0 1, 0 2}}\n"), Some(5), &["twice"], "from 0");
    check(&format!("{head}{{0 1\n"), Some(5), &["not closed"], "from 0");
    check(&format!("{head}{{a 1}}\n"), Some(5), &["index"], "from 0");
    let many = (0..65_536).map(|i| format!("v{i}")).collect::<Vec<_>>().join(",");
    check(&format!("@attribute a {{{many}}}\n@data\nv1\n"), Some(1), &["`a`", "65535"], "--ignore");
    let string = "@attribute s string\n@attribute a numeric\n@data\n{1 2}\n";
    check(string, Some(4), &["`s`"], "--ignore");
    let date = "@attribute d date\n@attribute a numeric\n@data\n2000-01-01,2\n";
    let ignore = ReadOptions { ignore: names(&["d"]), ..Default::default() };
    assert_eq!(try_read("ok.arff", date.as_bytes(), &ignore).unwrap().table.n_columns(), 1);
}
