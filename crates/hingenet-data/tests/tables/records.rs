//! Small files of named columns, such as edges: cells by name, and every mistake with its line.

use super::*;
use hingenet_data::table::{Records, read_records};
use std::io::Write;

fn records(bytes: &[u8]) -> Result<Records> {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(bytes).unwrap();
    read_records(file.path(), &["from", "to"], &["weight"])
}

#[test]
fn cells_are_found_by_name_and_missing_ones_are_none() {
    let found = records(b"weight,to,from\n2.5,b,a\n\nNA,\"c,d\",a\n").unwrap();
    let rows: Vec<_> =
        found.iter().map(|r| (found.text(r, "to").unwrap(), found.number(r, "weight").unwrap())).collect();
    assert_eq!(rows, [("b", Some(2.5)), ("c,d", None)]);
    assert!(found.has("weight") && !found.has("colour"));
    let first = found.iter().next().unwrap();
    assert_eq!((found.text(first, "colour"), found.required(first, "from").unwrap()), (None, "a"));
    let without = records(b"from,to\na,b\n").unwrap();
    assert!(!without.has("weight"));
    assert_eq!(without.number(without.iter().next().unwrap(), "weight").unwrap(), None);
}

#[test]
fn mistakes_of_a_file_of_records_name_line_and_remedy() {
    for (bytes, line, problem, hint) in [
        (&b""[..], None, "empty", "from, to, weight"),
        (b"from\na\n", Some(1), "no column `to`", "from, to, weight"),
        (b"from,to,colour\na,b,red\n", Some(1), "`colour` is not known", "from, to, weight"),
        (b"from,to,to\na,b,c\n", Some(1), "`to` is there twice", "from, to, weight"),
        (b"from,to\na,b\n\na\n", Some(4), "1 cell, but the header has 2", "--delimiter"),
        (b"from,to\na,caf\xe9\n", Some(2), "column `to` is not valid UTF-8", "UTF-8"),
    ] {
        let error = records(bytes).unwrap_err();
        let Error::File { line: found, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*found, line, "{error}");
        assert!(error.to_string().contains(problem), "{error}");
        assert!(error.hint().unwrap().contains(hint), "{error:?}");
    }
    let absent = read_records(std::path::Path::new("no such file.csv"), &[], &[]).unwrap_err();
    assert!(matches!(absent, Error::Io { .. }), "{absent}");
}

/// Whatever an endless source repeats, it comes to an end: too many records, or too many bytes.
#[test]
fn a_file_of_records_without_an_end_is_refused() {
    let refused = |first: &str, repeated: &[u8], times: usize| {
        let text = [first.as_bytes(), &repeated.repeat(times)].concat();
        let error = records(&text).unwrap_err();
        assert!(error.hint().unwrap().contains("from, to, weight"), "{error:?}");
        error.to_string()
    };
    assert!(refused("from,to\n", b"a,b\n", 1_000_001).ends_with("is longer than 1000000 records"));
    let blank_lines = refused("from,to\n", b"\n\n\n\n", 16 << 20);
    assert!(blank_lines.ends_with("is longer than 64 MB"), "{blank_lines}");
    let open_quote = refused("from,to\n\"", b"text", 16 << 20);
    assert!(open_quote.ends_with("is longer than 64 MB"), "{open_quote}");
    let most = [b"from,to\n", &b"a,b\n".repeat(1_000_000)[..]].concat();
    assert_eq!(records(&most).unwrap().iter().count(), 1_000_000);
}

#[test]
fn a_bad_cell_of_a_record_is_shown_with_its_line_and_column() {
    let found = records(b"from,to,weight\na,b,1\na,?,heavy\na,b,inf\n").unwrap();
    let rows: Vec<_> = found.iter().collect();
    let empty = found.required(rows[1], "to").unwrap_err();
    assert!(
        matches!(&empty, Error::Cell { line: 3, column, value, .. } if column == "to" && value.is_empty()),
        "{empty}"
    );
    for (row, text) in [(1, "heavy"), (2, "inf")] {
        let error = found.number(rows[row], "weight").unwrap_err();
        let Error::Cell { line, column, value, .. } = &error else { panic!("{error:?}") };
        assert_eq!((*line, column.as_str(), value.as_str()), (row as u64 + 2, "weight", text));
    }
}
