//! Delimited text with a header line, read in one pass: every cell goes straight into its column.

use super::builder::Role;
use super::context::Context;
use super::options::Place;
use super::pieces::{FileRows, Opened, Piece};
use super::scanner::Scanner;
use super::{Input, plan};
use hingenet_base::error::{Error, Result};

/// The columns, and the rows below them; `None` finds out the delimiter.
pub(super) fn open<'a>(
    input: Input<'a>,
    delimiter: Option<u8>,
    context: &'a Context<'a>,
) -> Result<Opened<'a>> {
    let mut scanner = Scanner::new(input.reader, delimiter, context)?;
    if !scanner.next_record()? {
        return Err(context.file(None, "the file is empty", "the first line must name the columns"));
    }
    let names = match context.options.no_header {
        true => (1..=scanner.n_cells()).map(|k| format!("c{k}")).collect(),
        false => header(&mut scanner, context)?,
    };
    let roles = plan::roles(&names, context, Some(1), |_| Role::Infer)?;
    let delimiter = Some(scanner.delimiter);
    let rows = Box::new(Records { scanner, context, is_at_row: context.options.no_header });
    Ok(Opened { names, roles, delimiter, n_rows: 0, rows })
}

/// The records below the header.
struct Records<'a> {
    scanner: Scanner<'a>,
    context: &'a Context<'a>,
    /// Whether the record at hand is still to be read: without a header the first one is a row.
    is_at_row: bool,
}

impl FileRows for Records<'_> {
    fn fill(&mut self, piece: &mut Piece<'_>) -> Result<bool> {
        let Records { scanner, context, is_at_row } = self;
        while std::mem::take(is_at_row) || scanner.next_record()? {
            let (line, columns) = (scanner.record_line, &mut piece.columns);
            if scanner.n_cells() != columns.len() {
                return Err(ragged(scanner, columns.len(), context));
            }
            scanner.for_each_cell(|k, cell| columns[k].push(cell, Place::Line(line), context))?;
            if piece.line_done(line)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The column names.
pub(super) fn header(scanner: &mut Scanner<'_>, context: &Context<'_>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let line = scanner.record_line;
    scanner.for_each_cell(|k, cell| {
        let name = std::str::from_utf8(cell.bytes()).map_err(|_| {
            let text = String::from_utf8_lossy(cell.bytes()).into_owned();
            let problem = format!("the name of column {} (`{text}`) is not valid UTF-8", k + 1);
            context.file(Some(line), problem, "save the file as UTF-8 (for example with `iconv -t utf-8`)")
        })?;
        names.push(name.to_string());
        Ok(())
    })?;
    Ok(names)
}

pub(super) fn ragged(scanner: &Scanner<'_>, n_columns: usize, context: &Context<'_>) -> Error {
    let d = (scanner.delimiter as char).escape_default();
    context.file(
        Some(scanner.record_line),
        match scanner.n_cells() {
            1 => format!("this row has 1 cell, but the header has {n_columns} columns"),
            n => format!("this row has {n} cells, but the header has {n_columns} columns"),
        },
        format!("quote cells that contain the delimiter `{d}`, or give the right one with `--delimiter`"),
    )
}
