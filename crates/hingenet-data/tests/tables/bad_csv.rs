//! CSV that must be refused, with file, line and remedy.

use super::*;

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
    refused_csv("a,b\n1\n", &options, Some(2), &["1 cell,"], "quote");
    refused_csv("a;b\n1,2\n", &options, Some(2), &["1 cell,"], "`;`");
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
fn a_first_line_of_cells_is_a_missing_header() {
    let options = ReadOptions::default();
    refused_csv("5.1,5.1,a\n4.9,3.0,b\n", &options, Some(1), &["`5.1`", "twice"], "`--no-header`");
    refused_csv("5.1,,a\n4.9,3.0,b\n", &options, Some(1), &["no name"], "`--no-header`");
    refused_csv("5.1,3.5,a\n4.9,3.0,b\n", &with_target("y"), Some(1), &["`y`"], "`--no-header`");
}

#[test]
fn files_that_hold_no_text_are_named_for_what_they_are() {
    let options = ReadOptions::default();
    for (bytes, what, hint) in [
        (&b"PK\x03\x04\x14\0\x06\0a,b\n"[..], "a zip archive", "unpack"),
        (b"PK\x03\x04\x14\0\x06\0[Content_Types].xml", "an Excel workbook (.xlsx)", "save the sheet as CSV"),
        (
            b"PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
            "(.ods)",
            "save the sheet as CSV",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an Excel workbook (.xls)", "CSV"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document", "CSV"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture (PNG)", "CSV"),
        (b"RDX3\nX\n\0\0\0\x03", "an R data file", "write.csv"),
        (b"\xef\xbb\xbf\n<!DOCTYPE HTML>\n<title>404</title>", "a web page", "download"),
        (b"[{\"a\": 1}]", "JSON", "CSV"),
        (b"\x89HGN\r\n\x1a\n", "model", "inspect"),
        (b"PAR1\x15\x04\x15", "Parquet", ".parquet"),
        (b"BZh91AY&SY\x12", "bzip2", "unpack"),
        (b"\x28\xb5\x2f\xfd\x04", "zstd", "unpack"),
        (b"\x7fELF\x02\x01\x01\0\0", "a program", "CSV"),
        (b"a,b\n1,\0\0\n", "binary", "CSV"),
    ] {
        refused("data.csv", bytes, &options, None, &[what], hint);
    }
    let table = csv("PAR1,BZh,ORC\n1,2,3\n").table;
    assert_eq!(table.n_columns(), 3, "names are not taken for magic");
}

#[test]
fn a_text_where_a_model_knows_numbers_does_not_speak_of_options_that_nobody_gave() {
    let schema = Schema::of(&csv("x\n1\n2\n").table);
    let error =
        try_read("q.csv", b"x\n1\n\nlow\n", &ReadOptions { schema: Some(schema), ..Default::default() });
    let hint = error.unwrap_err().hint().unwrap().to_string();
    assert!(hint.contains("trained on numbers") && !hint.contains("--numeric"), "{hint}");
}

#[test]
fn columns_that_do_not_exist_are_named_with_those_that_do() {
    let text = "a,b\n1,2\n";
    refused_csv(text, &with_target("y"), Some(1), &["`y`", "target"], "a, b");
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
        ReadOptions { numeric: names(&["y"]), ..with_target("y") },
        ReadOptions { ignore: names(&["y"]), ..with_target("y") },
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
    refused_csv("a,b\n\"p\"\rq,y\n", &options, Some(2), &["after a closing quote"], "\"\"");
    refused_csv("a,b\n\"x\ny\nz\",1\n\n2,\"", &options, Some(6), &["never closed"], "close every quote");
}

#[test]
fn long_cells_and_long_lists_of_names_are_shown_in_part() {
    let numeric = ReadOptions { numeric: names(&["x"]), ..Default::default() };
    for (n, shown) in [(60, format!("`{}`", "é".repeat(60))), (61, format!("`{}...`", "é".repeat(60)))] {
        refused_csv(&format!("x\n{}\n", "é".repeat(n)), &numeric, Some(2), &[&shown], "--na");
    }
    let header = |n: usize| (0..n).map(|i| format!("v{i}")).collect::<Vec<_>>().join(",");
    let hint = |n: usize| {
        let error = try_read("d.csv", format!("{}\n", header(n)).as_bytes(), &with_target("class"));
        error.unwrap_err().hint().unwrap().to_string()
    };
    assert!(hint(20).ends_with("v18, v19"), "{}", hint(20));
    assert!(hint(21).ends_with("v18, v19, ..."), "{}", hint(21));
    assert!(hint(1).contains("remove the line") && hint(1).contains("--delimiter"), "{}", hint(1));
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
    let commas: String = (0..65_536).map(|i| format!("{i},5;b\n")).collect();
    let commas = format!("x;y\n{commas}");
    refused_csv(&commas, &options, Some(65_537), &["`x`", "`65535,5`", "65535"], "`--decimal ,`");
    let decimal = ReadOptions { decimal: Some(b','), ..Default::default() };
    assert_eq!(cells(&csv_with(&commas, &decimal).table, "x")[65_535], "65535.5");
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
