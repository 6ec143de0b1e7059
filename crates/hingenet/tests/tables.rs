//! Tables from outside: every good and bad kind of CSV, ARFF, Parquet and Arrow input. Large inputs are
//! made by code.
//!
//! Memory: while a CSV is read there are the read buffer (1 MB, more only for a longer record), one or two
//! bytes a cell for columns of at most 65535 distinct texts, eight bytes a cell for numbers beyond that,
//! and each distinct text once. A column changes its representation by itself, so at any time at most one
//! column exists twice: the peak is the encoded table plus one column, whatever the length of the text.

use hingenet::table::read::Place;
use hingenet::table::{
    Codes, Column, Format, Note, ReadOptions, ReadResult, Schema, Source, Table, UnseenPolicy, read,
    write_csv,
};
use hingenet::{Control, Error, Result};
use proptest::prelude::*;
use std::io::Write;

fn try_read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<ReadResult> {
    read(Source::reader(name, bytes), options, &Control::default())
}

fn csv(text: &str) -> ReadResult {
    csv_with(text, &ReadOptions::default())
}

fn csv_with(text: &str, options: &ReadOptions) -> ReadResult {
    try_read("data.csv", text.as_bytes(), options).unwrap()
}

fn arff(text: &str) -> Table {
    try_read("data.arff", text.as_bytes(), &ReadOptions::default()).unwrap().table
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| s.to_string()).collect()
}

/// Cells of a column as text, `-` when missing.
fn cells(table: &Table, column: &str) -> Vec<String> {
    let column = table.by_name(column).unwrap();
    (0..column.len())
        .map(|i| match (column.as_numeric(), column.as_categorical()) {
            (Some(n), _) => n.get(i).map(|x| x.to_string()),
            (_, Some(c)) => c.get(i).map(str::to_string),
            _ => None,
        })
        .map(|cell| cell.unwrap_or_else(|| "-".into()))
        .collect()
}

fn categories(table: &Table, column: &str) -> Vec<String> {
    table.by_name(column).unwrap().as_categorical().expect("categorical").categories().to_vec()
}

fn is_numeric(table: &Table, column: &str) -> bool {
    table.by_name(column).unwrap().as_numeric().is_some()
}

// ---------------------------------------------------------------------------------------------- good CSV

#[test]
fn types_are_inferred_from_every_present_cell() {
    let table = csv("a,b,c\n1,x,1\n?,y,\n2.5,NA,two\nNaN,null,3\n").table;
    assert_eq!(cells(&table, "a"), ["1", "-", "2.5", "-"]);
    assert_eq!(cells(&table, "b"), ["x", "y", "-", "-"]);
    assert_eq!(cells(&table, "c"), ["1", "-", "two", "3"]);
    assert!(is_numeric(&table, "a") && !is_numeric(&table, "b") && !is_numeric(&table, "c"));
}

#[test]
fn delimiters_are_detected_in_the_header_or_given() {
    for (delimiter, text) in [(b',', "a,b\n1,2\n"), (b';', "a;b\n1;2\n"), (b'\t', "a\tb\n1\t2\n")] {
        let found = csv(text);
        assert_eq!((found.delimiter, found.table.n_columns()), (Some(delimiter), 2), "{text:?}");
    }
    assert_eq!(csv("\"x,y\";b\n1;2\n").table.column(0).name(), "x,y");
    let options = ReadOptions { delimiter: Some(b'|'), ..Default::default() };
    assert_eq!(cells(&csv_with("a|b,c\n1|2\n", &options).table, "b,c"), ["2"]);
    assert_eq!(csv("only\n1\n2\n").table.n_columns(), 1);
}

#[test]
fn quotes_line_ends_byte_order_marks_and_spaces_are_understood() {
    let text = "\u{feff}name, \"note\" ,n\r\n\"a, b\",\"he said \"\"yes\"\"\", 1 \r\n\"two\nlines\",\" kept \",2\r\n\r\n";
    let table = csv(text).table;
    assert_eq!(cells(&table, "name"), ["a, b", "two\nlines"]);
    assert_eq!(cells(&table, "note"), ["he said \"yes\"", " kept "]);
    assert_eq!(cells(&table, "n"), ["1", "2"]);
    assert_eq!(cells(&csv("a,b\n1,5\" pipe").table, "b"), ["5\" pipe"]);
}

#[test]
fn quoted_missing_tokens_are_missing_and_a_lone_quoted_blank_is_a_row() {
    let table = csv("a,b\n\"NA\",\"\"\nx,1\n").table;
    assert_eq!((cells(&table, "a"), cells(&table, "b")), (names(&["-", "x"]), names(&["-", "1"])));
    assert_eq!(cells(&csv("a\n1\n\"\"\n\n2\n").table, "a"), ["1", "-", "2"]);
}

#[test]
fn options_override_types_and_leave_columns_out() {
    let text = "id,code,x,y\nu1,1,5,0\nu2,2,6,1\n";
    let options = ReadOptions {
        categorical: names(&["code"]),
        numeric: names(&["x"]),
        ignore: names(&["id"]),
        ..ReadOptions::with_target("y")
    };
    let found = csv_with(text, &options);
    assert_eq!(found.skipped, ["id"]);
    assert_eq!(categories(&found.table, "code"), ["1", "2"]);
    assert_eq!(categories(&found.table, "y"), ["0", "1"]);
    assert!(is_numeric(&found.table, "x"));
    assert_eq!(found.table.n_columns(), 3);
}

#[test]
fn missing_tokens_can_be_replaced() {
    let options = ReadOptions { missing: Some(names(&["-999", "n/a"])), ..Default::default() };
    let table = csv_with("a,b\n-999,NA\n1,n/a\n,x\n", &options).table;
    assert_eq!(cells(&table, "a"), ["-", "1", "-"]);
    assert_eq!(cells(&table, "b"), ["NA", "-", "x"]);
    let forced = ReadOptions { numeric: names(&["a"]), ..options };
    assert_eq!(cells(&csv_with("a\n-999\n1\n", &forced).table, "a"), ["-", "1"]);
}

#[test]
fn category_order_is_by_value_if_all_are_numbers_else_by_bytes() {
    let options = ReadOptions { categorical: names(&["a", "b"]), ..Default::default() };
    let table = csv_with("a,b\n10,10\n9,9\n1.0,x\n1,1\n", &options).table;
    assert_eq!(categories(&table, "a"), ["1", "1.0", "9", "10"]);
    assert_eq!(categories(&table, "b"), ["1", "10", "9", "x"]);
}

#[test]
fn gzip_is_undone_by_its_magic_bytes_also_in_several_members() {
    let zip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let bytes = [zip("a,b\n1,x\n"), zip("2,y\n")].concat();
    let table = try_read("anything", &bytes, &ReadOptions::default()).unwrap().table;
    assert_eq!(cells(&table, "a"), ["1", "2"]);
    let cut = try_read("data.csv.gz", &bytes[..bytes.len() - 5], &ReadOptions::default()).unwrap_err();
    assert!(cut.to_string().contains("data.csv.gz") && cut.hint().is_some(), "{cut}");
    let mut damaged = zip(&"a,b\n1,2\n".repeat(1000));
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    assert!(try_read("data.csv.gz", &damaged, &ReadOptions::default()).is_err());
}

#[test]
fn a_path_is_read_and_a_missing_file_is_named() {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(b"a,b\n1,x\n").unwrap();
    let table = read(file.path(), &ReadOptions::default(), &Control::default()).unwrap().table;
    assert_eq!(cells(&table, "b"), ["x"]);
    let absent = std::path::Path::new("no such file.csv");
    let error = read(absent, &ReadOptions::default(), &Control::default()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("no such file.csv"));
}

#[test]
fn records_longer_than_the_buffer_are_read() {
    let long = "z".repeat(3 << 20);
    let table = csv(&format!("a,b\n\"{long}\",1\nshort,2\n")).table;
    assert_eq!(cells(&table, "a"), ["short".to_string(), long].into_iter().rev().collect::<Vec<_>>());
    assert_eq!(cells(&table, "b"), ["1", "2"]);
}

#[test]
fn many_distinct_numbers_become_eight_byte_numbers_and_stay_exact() {
    let value = |i: usize| i as f64 * 0.37 - 1000.0;
    let text: String = (0..100_000).map(|i| format!("{},{}\n", value(i), i % 3)).collect();
    let table = csv(&format!("x,y\n?,?\n{text}")).table;
    let x = table.by_name("x").unwrap().as_numeric().unwrap();
    assert_eq!(x.get(0), None);
    assert!((0..100_000).all(|i| x.get(i + 1) == Some(value(i))));
}

#[test]
fn exactly_65535_categories_are_accepted() {
    let text: String = (0..65535).map(|i| format!("c{i}\n")).collect();
    let table = csv(&format!("x\n{text}NA\n?\n")).table;
    assert_eq!(categories(&table, "x").len(), 65535);
    assert_eq!(table.n_missing(), 2);
}

#[test]
fn narrow_codes_widen_without_losing_missing_cells() {
    for n in [254, 255, 256, 257] {
        let text: String = (0..n).map(|i| format!("c{i:03}\n\"\"\n")).collect();
        let table = csv(&format!("x\n{text}")).table;
        let x = table.by_name("x").unwrap();
        assert_eq!((categories(&table, "x").len(), x.n_missing()), (n, n), "{n} categories");
        assert!((0..n).all(|i| x.as_categorical().unwrap().get(2 * i) == Some(format!("c{i:03}").as_str())));
    }
}

#[test]
fn a_schema_gives_types_and_skips_columns_the_model_does_not_know() {
    let training =
        csv_with("c,x\n1,1.5\n2,2\n", &ReadOptions { categorical: names(&["c"]), ..Default::default() });
    let schema = Schema::of(&training.table);
    let options = ReadOptions { schema: Some(schema.clone()), ..Default::default() };
    let found = csv_with("id,c\nu1,2\nu2,3\n", &options);
    assert_eq!(found.skipped, ["id"]);
    let (table, report) = schema.align(&found.table, UnseenPolicy::Missing).unwrap();
    assert_eq!((cells(&table, "c"), cells(&table, "x")), (names(&["2", "-"]), names(&["-", "-"])));
    assert_eq!((report.n_unseen(), report.absent), (1, names(&["x"])));
}

// ------------------------------------------------------------------------------------- notes and rules

#[test]
fn an_all_missing_column_is_kept_as_numbers_with_a_warning() {
    let found = csv("a,b\n,1.5\n?,2.5\n");
    assert_eq!(found.notes, [Note::AllMissing { column: "a".into() }]);
    assert!(found.notes[0].is_warning() && is_numeric(&found.table, "a"));
    assert_eq!(found.table.by_name("a").unwrap().n_missing(), 2);
}

#[test]
fn integers_above_2_to_the_53_are_rounded_with_a_warning() {
    for option in [ReadOptions::default(), ReadOptions { numeric: names(&["a"]), ..Default::default() }] {
        let found = csv_with("a\n0.5\n9007199254740993\n", &option);
        assert_eq!(cells(&found.table, "a")[1], "9007199254740992");
        let [Note::LargeInteger { column, place, value }] = found.notes.as_slice() else {
            panic!("{:?}", found.notes)
        };
        assert_eq!((column.as_str(), *place, value.as_str()), ("a", Place::Line(3), "9007199254740993"));
    }
    assert!(csv("a\n0.5\n9007199254740991\n1e300\n").notes.is_empty());
}

#[test]
fn few_integers_bring_a_hint() {
    let found = csv("a,b,c,d\n1,1.5,1,x\n2,2.5,NA,y\n");
    assert_eq!(found.notes, [Note::IntegerCodes { columns: vec![("a".into(), 2)] }]);
    assert!(found.notes[0].to_string().contains("--categorical"));
    let eleven: String = (0..11).map(|i| format!("{i}\n")).collect();
    assert!(csv(&format!("a\n{eleven}")).notes.is_empty());
}

#[test]
fn a_word_among_numbers_brings_a_hint() {
    let numbers: String = (0..10).map(|i| format!("{i}.5\n")).collect();
    let found = csv(&format!("a\n{numbers}nan\n"));
    let [Note::MostlyNumbers { place, value, .. }] = found.notes.as_slice() else {
        panic!("{:?}", found.notes)
    };
    assert_eq!((*place, value.as_str()), (Place::Line(12), "nan"));
    assert!(found.notes[0].to_string().contains("--na"));
    assert!(csv("doors\n2\n3\n4\n5more\n").notes.is_empty());
}

// ---------------------------------------------------------------------------------------------- bad CSV

/// The error must name file, line, and each of `parts`, and carry a hint that contains `hint`.
#[track_caller]
fn refused(name: &str, bytes: &[u8], options: &ReadOptions, line: Option<u64>, parts: &[&str], hint: &str) {
    let error = try_read(name, bytes, options).expect_err("must be refused");
    let message = error.to_string();
    assert!(message.contains(name), "{message}");
    let found = match &error {
        Error::File { line, .. } => *line,
        Error::Cell { line, .. } => Some(*line),
        other => panic!("{other:?}"),
    };
    assert_eq!(found, line, "{message}");
    parts.iter().for_each(|part| assert!(message.contains(part), "`{part}` is not in `{message}`"));
    let given = error.hint().unwrap_or_default();
    assert!(given.contains(hint), "hint `{given}` lacks `{hint}`");
}

#[track_caller]
fn refused_csv(text: &str, options: &ReadOptions, line: Option<u64>, parts: &[&str], hint: &str) {
    refused("bad.csv", text.as_bytes(), options, line, parts, hint);
}

#[test]
fn empty_files_and_headers_without_rows_are_refused() {
    let options = ReadOptions::default();
    for text in ["", "\n\n", "\u{feff}"] {
        refused_csv(text, &options, None, &["empty"], "name the columns");
    }
    for text in ["a,b", "a,b\n", "a,b\r\n\r\n"] {
        refused_csv(text, &options, None, &["no rows"], "one row");
    }
}

#[test]
fn ragged_rows_name_their_line() {
    let options = ReadOptions::default();
    refused_csv(
        "a,b\n1,2\n\n\"x\ny\",2\n1,2,3\n",
        &options,
        Some(6),
        &["3 cells", "2 columns"],
        "--delimiter",
    );
    refused_csv("a,b\n1\n", &options, Some(2), &["1 cells"], "quote");
    refused_csv("a;b\n1,2\n", &options, Some(2), &["1 cells"], "`;`");
}

#[test]
fn bad_headers_are_refused() {
    let options = ReadOptions::default();
    refused_csv("a,b,a\n1,2,3\n", &options, Some(1), &["`a`", "twice", "1 and 3"], "rename");
    refused_csv("a,,c\n1,2,3\n", &options, Some(1), &["column 2 has no name"], "name every column");
    refused("bad.csv", b"a,b\xff\n1,2\n", &options, Some(1), &["column 2", "UTF-8"], "iconv");
    refused("bad.csv", b"\xff\xfea\0,\0", &options, None, &["UTF-16"], "UTF-8");
}

#[test]
fn columns_that_do_not_exist_are_named_with_those_that_do() {
    let text = "a,b\n1,2\n";
    refused_csv(text, &ReadOptions::with_target("y"), Some(1), &["`y`", "target"], "a, b");
    let lists = |list: &[&str]| names(list);
    for options in [
        ReadOptions { categorical: lists(&["q"]), ..Default::default() },
        ReadOptions { numeric: lists(&["q"]), ..Default::default() },
        ReadOptions { ignore: lists(&["q"]), ..Default::default() },
    ] {
        refused_csv(text, &options, Some(1), &["`q`", "--"], "a, b");
    }
}

#[test]
fn contradictory_options_are_refused() {
    let bad = [
        ReadOptions { numeric: names(&["y"]), ..ReadOptions::with_target("y") },
        ReadOptions { ignore: names(&["y"]), ..ReadOptions::with_target("y") },
        ReadOptions { numeric: names(&["a"]), categorical: names(&["a"]), ..Default::default() },
        ReadOptions { numeric: names(&["a"]), ignore: names(&["a"]), ..Default::default() },
        ReadOptions { delimiter: Some(b'"'), ..Default::default() },
        ReadOptions { delimiter: Some(b'a'), ..Default::default() },
        ReadOptions { delimiter: Some(0xe9), ..Default::default() },
    ];
    for options in bad {
        let error = try_read("data.csv", b"a,y\n1,2\n", &options).unwrap_err();
        assert!(matches!(error, Error::Parameter { .. }), "{error}");
    }
}

#[test]
fn invalid_utf8_names_the_cell() {
    let bytes = b"a,b\n1,ok\n2,caf\xe9\n";
    refused("bad.csv", bytes, &ReadOptions::default(), Some(3), &["`b`", "UTF-8"], "iconv");
    let ignore = ReadOptions { ignore: names(&["b"]), ..Default::default() };
    assert!(try_read("bad.csv", bytes, &ignore).is_ok());
}

#[test]
fn infinities_are_refused_unless_the_column_is_categorical() {
    let parts = ["`x`", "not a finite number"];
    for value in ["inf", "-Infinity", "1e999"] {
        let text = format!("x,y\n1,a\n{value},b\n2,c\n");
        refused_csv(
            &text,
            &ReadOptions::default(),
            Some(3),
            &[&parts[..], &[value]].concat(),
            "--categorical",
        );
        let numeric = ReadOptions { numeric: names(&["x"]), ..Default::default() };
        refused_csv(&text, &numeric, Some(3), &parts, "finite number");
        let categorical = ReadOptions { categorical: names(&["x"]), ..Default::default() };
        assert_eq!(categories(&csv_with(&text, &categorical).table, "x").len(), 3);
    }
    assert!(!is_numeric(&csv("x\ninf\nlow\n").table, "x"));
    let many: String = (0..70_000).map(|i| format!("{i}.5\n")).collect();
    refused_csv(&format!("x\ninf\n{many}"), &ReadOptions::default(), Some(2), &parts, "finite number");
    refused_csv(&format!("x\n{many}inf\n"), &ReadOptions::default(), Some(70_002), &parts, "finite number");
}

#[test]
fn quote_errors_name_the_line() {
    let options = ReadOptions::default();
    refused_csv("a,b\n1,\"x\n2,y\n", &options, Some(2), &["never closed"], "close every quote");
    refused_csv("a,b\n1,x\n\"p\"q,y\n", &options, Some(3), &["after a closing quote"], "\"\"");
}

#[test]
fn a_word_in_a_numeric_column_is_refused() {
    let options = ReadOptions { numeric: names(&["x"]), ..Default::default() };
    refused_csv("x\n1\nNA\nlow\n", &options, Some(4), &["`x`", "`low`", "not a number"], "--na");
}

#[test]
fn more_than_65535_categories_are_refused_with_a_remedy() {
    let texts: String = (0..65_536).map(|i| format!("c{i}\n")).collect();
    let options = ReadOptions::default();
    refused_csv(&format!("x\n{texts}"), &options, Some(65_537), &["`x`", "`c65535`", "65535"], "--ignore");
    let numbers: String = (0..65_536).map(|i| format!("{i}\n")).collect();
    let parts = ["`x`", "`word`", "65535"];
    refused_csv(&format!("x\n{numbers}word\n"), &options, Some(65_538), &parts, "--ignore");
    let first = format!("x\nword\n{numbers}");
    refused_csv(&first, &options, Some(65_537), &["`x`", "65535"], "--ignore");
    let categorical = ReadOptions { categorical: names(&["x"]), ..Default::default() };
    refused_csv(&format!("x\n{numbers}"), &categorical, Some(65_537), &["`65535`", "limit"], "--ignore");
    let ignore = ReadOptions { ignore: names(&["x"]), ..Default::default() };
    assert_eq!(csv_with(&format!("x\n{texts}"), &ignore).table.n_rows(), 65_536);
}

#[test]
fn reading_stops_when_asked_to() {
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let text: String = "1,2\n".repeat(10_000);
    let bytes = format!("a,b\n{text}");
    let source = Source::reader("data.csv", bytes.as_bytes());
    let result = read(source, &ReadOptions::default(), &Control::new(stop));
    assert!(matches!(result, Err(Error::Interrupted)));
}

// ------------------------------------------------------------------------------------------------- ARFF

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
fn arff_is_recognised_by_content_and_any_column_may_be_the_target() {
    let text = "% c\n@relation r\n@attribute a numeric\n@attribute b {x,NA}\n@data\n1 NA\n2 x\n";
    let found = try_read("standard input", text.as_bytes(), &ReadOptions::with_target("a")).unwrap();
    assert_eq!(found.format, Format::Arff);
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
    let string = "@attribute s string\n@attribute a numeric\n@data\n{1 2}\n";
    check(string, Some(4), &["`s`"], "--ignore");
    let date = "@attribute d date\n@attribute a numeric\n@data\n2000-01-01,2\n";
    let ignore = ReadOptions { ignore: names(&["d"]), ..Default::default() };
    assert_eq!(try_read("ok.arff", date.as_bytes(), &ignore).unwrap().table.n_columns(), 1);
}

// ------------------------------------------------------------------------------------- Parquet and Arrow

#[cfg(feature = "parquet")]
mod typed {
    use super::*;
    use arrow::array::*;
    use arrow::datatypes::{Int32Type, TimeUnit};
    use arrow::record_batch::RecordBatch;
    use std::sync::Arc;

    fn batch() -> RecordBatch {
        let tag: DictionaryArray<Int32Type> = vec![Some("v"), None, Some("u")].into_iter().collect();
        let price =
            Decimal128Array::from(vec![Some(150), None, Some(-25)]).with_precision_and_scale(6, 2).unwrap();
        RecordBatch::try_from_iter(vec![
            ("id", Arc::new(Int64Array::from(vec![Some(1), None, Some((1 << 53) + 1)])) as ArrayRef),
            ("x", Arc::new(Float64Array::from(vec![0.5, f64::NAN, -2.0]))),
            ("f", Arc::new(Float32Array::from(vec![Some(0.1), None, Some(2.0)]))),
            ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
            ("text", Arc::new(StringArray::from(vec![Some("b"), None, Some("a")]))),
            ("large", Arc::new(LargeStringArray::from(vec![Some("NA"), None, Some("")]))),
            ("view", Arc::new(StringViewArray::from(vec![Some("2"), None, Some("10")]))),
            ("tag", Arc::new(tag)),
            ("price", Arc::new(price)),
        ])
        .unwrap()
    }

    fn parquet(batch: &RecordBatch) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = arrow::ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        bytes
    }

    fn compressed_arrow_file(batch: &RecordBatch) -> Vec<u8> {
        let lz4 = Some(arrow::ipc::CompressionType::LZ4_FRAME); // what Feather files have by default
        let options = arrow::ipc::writer::IpcWriteOptions::default().try_with_compression(lz4).unwrap();
        let mut bytes = Vec::new();
        let mut writer =
            arrow::ipc::writer::FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options)
                .unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        bytes
    }

    fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        bytes
    }

    fn all_formats(batch: &RecordBatch) -> [Vec<u8>; 4] {
        [parquet(batch), arrow_file(batch), arrow_stream(batch), compressed_arrow_file(batch)]
    }

    #[test]
    fn every_supported_type_is_read_from_every_typed_format() {
        for bytes in all_formats(&batch()) {
            let found = try_read("standard input", &bytes, &ReadOptions::default()).unwrap();
            let table = &found.table;
            assert_eq!(cells(table, "id"), ["1", "-", "9007199254740992"]);
            assert_eq!(cells(table, "x"), ["0.5", "-", "-2"]);
            assert_eq!(cells(table, "price"), ["1.5", "-", "-0.25"]);
            assert_eq!(categories(table, "flag"), ["false", "true"]);
            assert_eq!(categories(table, "text"), ["a", "b"]);
            assert_eq!(cells(table, "large"), ["NA", "-", ""], "only nulls are missing in typed files");
            assert_eq!(categories(table, "view"), ["2", "10"]);
            assert_eq!(cells(table, "tag"), ["v", "-", "u"]);
            assert_eq!(categories(table, "tag"), ["u", "v"]);
            let large = |note: &Note| matches!(note, Note::LargeInteger { place: Place::Row(3), .. });
            assert!(found.notes.iter().any(large), "{:?}", found.notes);
        }
    }

    #[test]
    fn options_apply_to_typed_files_too() {
        let options = ReadOptions {
            categorical: names(&["f"]),
            numeric: names(&["view", "flag"]),
            ignore: names(&["text"]),
            ..ReadOptions::with_target("id")
        };
        for bytes in all_formats(&batch()) {
            let found = try_read("standard input", &bytes, &options).unwrap();
            assert_eq!(found.skipped, ["text"]);
            assert_eq!(categories(&found.table, "id"), ["1", "9007199254740993"]);
            assert_eq!(categories(&found.table, "f"), ["0.1", "2"]);
            assert_eq!(cells(&found.table, "view"), ["2", "-", "10"]);
            assert_eq!(cells(&found.table, "flag"), ["1", "-", "0"]);
        }
        let error = try_read("t", &parquet(&batch()), &ReadOptions::with_target("q")).unwrap_err();
        assert!(error.to_string().contains("`q`") && error.hint().unwrap().contains("id, x"));
        let numeric = ReadOptions { numeric: names(&["text"]), ..Default::default() };
        let error = try_read("t", &parquet(&batch()), &numeric).unwrap_err();
        assert!(error.to_string().contains("row 1, column `text`: `b`"), "{error}");
    }

    #[test]
    fn files_are_read_by_path() {
        for (bytes, suffix) in
            all_formats(&batch()).into_iter().zip([".parquet", ".arrow", ".arrows", ".feather"])
        {
            let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            let found = read(file.path(), &ReadOptions::default(), &Control::default()).unwrap();
            assert_eq!(found.table.n_rows(), 3, "{suffix}");
        }
    }

    #[test]
    fn dates_and_infinities_are_refused_with_a_remedy() {
        let dates = Date32Array::from(vec![1, 2]);
        let times = TimestampSecondArray::from(vec![1, 2]);
        assert_eq!(times.data_type(), &arrow::datatypes::DataType::Timestamp(TimeUnit::Second, None));
        for (name, array) in [("day", Arc::new(dates) as ArrayRef), ("time", Arc::new(times))] {
            let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
            let batch = RecordBatch::try_from_iter(vec![(name, array), ("x", x)]).unwrap();
            for bytes in all_formats(&batch) {
                let hint = format!("--ignore {name}");
                refused("bad.bin", &bytes, &ReadOptions::default(), None, &[name, "type"], &hint);
                let ignore = ReadOptions { ignore: names(&[name]), ..Default::default() };
                assert_eq!(try_read("ok.bin", &bytes, &ignore).unwrap().table.n_columns(), 1);
            }
        }
        let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::INFINITY]));
        let batch = RecordBatch::try_from_iter(vec![("x", x)]).unwrap();
        for bytes in all_formats(&batch) {
            let parts = ["row 2", "`x`", "finite"];
            refused("bad.bin", &bytes, &ReadOptions::default(), None, &parts, "finite number");
        }
    }

    #[test]
    fn empty_tables_are_refused() {
        for bytes in all_formats(&batch().slice(0, 0)) {
            refused("bad.bin", &bytes, &ReadOptions::default(), None, &["no rows"], "one row");
        }
    }

    #[test]
    fn truncated_and_damaged_files_never_panic() {
        for bytes in all_formats(&batch()) {
            for cut in (0..bytes.len()).step_by(29) {
                let _ = try_read("cut.bin", &bytes[..cut], &ReadOptions::default());
            }
            for at in (0..bytes.len()).step_by(11) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x55;
                let _ = try_read("damaged.bin", &damaged, &ReadOptions::default());
            }
        }
    }
}

// ------------------------------------------------------------------------------------------- properties

fn column_from(name: &str, cells: &[Option<String>]) -> Column {
    let mut categories: Vec<String> = cells.iter().flatten().cloned().collect();
    hingenet::table::category_order(&mut categories);
    categories.dedup();
    let code = |c: &Option<String>| c.as_ref().and_then(|c| categories.iter().position(|d| d == c));
    let codes = Codes::from_options(categories.len(), cells.iter().map(code));
    Column::categorical(name, categories, codes)
}

fn is_token(text: &str) -> bool {
    hingenet::table::read::MISSING_TOKENS.contains(&text)
}

proptest! {
    /// Whatever the names and cells, the CSV that is written reads back as the same table.
    #[test]
    fn a_written_table_reads_back_the_same(
        names in prop::collection::hash_set("\\PC{1,6}|[ ,;\t\"\r\n\u{feff}a]{1,4}", 1..5),
        texts in prop::collection::vec(prop::option::of("\\PC{1,6}|[ ,;\t\"\r\na]{1,4}"), 1..20),
        numbers in prop::collection::vec(prop::option::of(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL), 20),
    ) {
        let texts: Vec<Option<String>> = texts.into_iter().map(|t| t.filter(|t| !is_token(t))).collect();
        let mut options = ReadOptions { format: Some(Format::Csv), ..Default::default() };
        let columns = names.iter().enumerate().map(|(i, name)| if i % 2 == 0 {
            options.categorical.push(name.clone());
            column_from(name, &texts)
        } else {
            options.numeric.push(name.clone());
            let values = numbers.iter().take(texts.len()).map(|x| x.unwrap_or(f64::NAN)).collect();
            Column::numeric(name.clone(), values)
        }).collect();
        let table = Table::new(columns).unwrap();
        let mut bytes = Vec::new();
        write_csv(&table, &mut bytes).unwrap();
        let back = try_read("back.csv", &bytes, &options);
        prop_assert!(back.is_ok(), "{:?} from {:?}", back, String::from_utf8_lossy(&bytes));
        prop_assert_eq!(back.unwrap().table, table, "{:?}", String::from_utf8_lossy(&bytes));
    }

    /// Types, categories and their order do not depend on the order of the rows.
    #[test]
    fn row_order_never_matters(
        rows in prop::collection::vec(("1|1\\.0|2|10|-3|x|NA", "[0-9]{1,3}|\\?", "a|b|7|\\?"), 1..12).prop_shuffle(),
    ) {
        let text = |rows: &[(String, String, String)]| {
            rows.iter().fold("p,q,r\n".to_string(), |text, (p, q, r)| format!("{text}{p},{q},{r}\n"))
        };
        let mut sorted = rows.clone();
        sorted.sort();
        let order: Vec<usize> = {
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|&i, &j| rows[i].cmp(&rows[j]));
            order
        };
        let shuffled = csv(&text(&rows)).table;
        prop_assert_eq!(shuffled.rows(&order), csv(&text(&sorted)).table);
    }

    /// No bytes make the readers panic.
    #[test]
    fn arbitrary_bytes_are_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["a.csv", "a.arff", "a.parquet", "a.arrow", "-"] {
            let _ = try_read(name, &bytes, &ReadOptions::default());
        }
    }

    /// Text made of the characters that matter is a table or an error that has a hint.
    #[test]
    fn hostile_text_is_a_table_or_an_error(text in "[a1,;\"'\r\n {}?%@.\t]{0,60}") {
        for (name, head) in [("a.csv", ""), ("a.arff", "@attribute a numeric\n@attribute b {a,1}\n@data\n")] {
            let result = try_read(name, format!("{head}{text}").as_bytes(), &ReadOptions::default());
            if let Err(error) = result {
                prop_assert!(error.hint().is_some(), "{error}");
            }
        }
    }
}
