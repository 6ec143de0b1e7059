//! Tables from outside: every good and bad kind of CSV, ARFF, Parquet and Arrow input. Large inputs are
//! made by code.
//!
//! Memory: while a CSV is read there are the read buffer (1 MB, more only for a longer record), one or two
//! bytes a cell for columns of at most 65535 distinct texts, eight bytes a cell for numbers beyond that,
//! and each distinct text once. A column changes its representation by itself, so at any time at most one
//! column exists twice: the peak is the encoded table plus one column, whatever the length of the text.

use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::table::read::Place;
use hingenet_data::table::{
    Codes, Column, Format, Note, ReadOptions, ReadResult, Schema, Source, Table, UnseenPolicy, read,
    write_csv,
};

mod arff;
mod bad_csv;
mod batches;
mod csv;
mod properties;
mod records;
#[cfg(feature = "parquet")]
mod typed;

fn try_read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<ReadResult> {
    read(Source::reader(name, bytes), options, &Control::default())
}

fn with_target(target: &str) -> ReadOptions {
    ReadOptions { target: Some(target.into()), ..ReadOptions::default() }
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
