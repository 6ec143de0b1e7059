//! Delimited text with a header line, read in one pass: every cell goes straight into its column.

use super::builder::{ColumnBuilder, Role};
use super::context::Context;
use super::options::{Place, ReadOptions, ReadResult};
use super::places::Lines;
use super::scanner::Scanner;
use super::{Input, plan};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};

/// Reads a whole table.
pub(super) fn read(input: Input<'_>, options: &ReadOptions, control: &Control) -> Result<ReadResult> {
    let context = Context::new(&input.file, options);
    let mut scanner = Scanner::new(input.reader, options.delimiter, &context)?;
    if !scanner.next_record()? {
        return Err(context.file(None, "the file is empty", "the first line must name the columns"));
    }
    // without a header the record at hand is a row
    let header = match options.no_header {
        true => (1..=scanner.n_cells()).map(|k| format!("c{k}")).collect(),
        false => header(&mut scanner, &context)?,
    };
    let roles = plan::roles(&header, options, &context, Some(1), |_| Role::Infer)?;
    let mut columns = ColumnBuilder::all(header, roles);
    let mut rows = Lines::default();
    while (options.no_header && rows.n_rows == 0) || scanner.next_record()? {
        let line = scanner.record_line;
        if scanner.n_cells() != columns.len() {
            return Err(ragged(&scanner, columns.len(), &context));
        }
        scanner.for_each_cell(|k, cell| columns[k].push(cell, Place::Line(line), &context))?;
        plan::row_done(&mut rows, line, &columns, control)?;
    }
    plan::finish(columns, rows, &context, Some(scanner.delimiter), control)
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
