//! Writes a table as CSV: comma, LF, quotes only where a reader would otherwise see something else.

use super::{Column, ColumnData, Table};
use std::io::{self, Write};

/// Writes header and rows. Reading the result gives the same cells back, provided that no category is one
/// of the reader's missing tokens and every column is read with its type.
pub fn write_csv(table: &Table, out: &mut impl Write) -> io::Result<()> {
    write_csv_header(table, out)?;
    write_csv_rows(table, out)?;
    out.flush()
}

/// Writes the names of the columns.
pub fn write_csv_header(table: &Table, out: &mut impl Write) -> io::Result<()> {
    write_line(table, out, |line, column| {
        push_text(line, column.name());
        Ok(())
    })
}

/// Writes the rows: those of a table that comes in pieces, one piece after the other.
pub fn write_csv_rows(table: &Table, out: &mut impl Write) -> io::Result<()> {
    (0..table.n_rows())
        .try_for_each(|row| write_line(table, out, |line, column| push_cell(line, column, row)))
}

/// One line with what `push` gives of each column.
fn write_line(
    table: &Table,
    out: &mut impl Write,
    push: impl Fn(&mut Vec<u8>, &Column) -> io::Result<()>,
) -> io::Result<()> {
    let mut line = Vec::new();
    for (i, column) in table.columns().iter().enumerate() {
        if i > 0 {
            line.push(b',');
        }
        push(&mut line, column)?;
    }
    if line.is_empty() {
        line.extend_from_slice(b"\"\""); // a blank line would be skipped
    }
    line.push(b'\n');
    out.write_all(&line)
}

fn push_cell(line: &mut Vec<u8>, column: &Column, row: usize) -> io::Result<()> {
    match column.data() {
        ColumnData::Numeric(n) => match n.get(row) {
            None => Ok(()),
            Some(x) if x == 0.0 || (1e-5..1e16).contains(&x.abs()) => write!(line, "{x}"),
            Some(x) => write!(line, "{x:e}"), // plain notation would need hundreds of digits
        },
        ColumnData::Categorical(c) => {
            c.get(row).into_iter().for_each(|text| push_text(line, text));
            Ok(())
        }
    }
}

/// Quotes a text that holds a delimiter of any kind, a quote or a line end, that has spaces around it, or
/// that starts with a byte-order mark.
fn push_text(line: &mut Vec<u8>, text: &str) {
    let special = |b: u8| b",;\t\"\r\n".contains(&b);
    let spaced = text.starts_with(' ') || text.ends_with(' ');
    if !text.is_empty() && !spaced && !text.starts_with('\u{feff}') && !text.bytes().any(special) {
        return line.extend_from_slice(text.as_bytes());
    }
    line.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}
