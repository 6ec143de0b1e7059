//! Small files of facts about columns (arcs, groups, tiers): delimited text with named columns, read as text with the
//! line of every record, so that whoever makes sense of a cell can name its place in an error.

use super::context::Context;
use super::csv::{header, ragged};
use super::options::ReadOptions;
use super::scanner::Scanner;
use hingenet_base::error::{Error, Result};
use std::cell::Cell;
use std::io::Read;
use std::path::Path;

/// Most bytes of such a file, unpacked, and most records: a pipe that never ends must not fill the memory. A million
/// records take about 200 MB.
const MOST_BYTES: u64 = 64 << 20;
const MOST_RECORDS: usize = 1_000_000;

/// The records of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    file: String,
    header: Vec<String>,
    list: Vec<Record>,
}

/// One record: its cells in the order of the header, `None` where empty or missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    line: u64,
    cells: Vec<Option<String>>,
}

/// Reads a file that must have the columns `required` and may have the columns `optional`, in any order;
/// plain or gzip. It may have 64 MB and a million records.
pub fn read_records(path: &Path, required: &[&str], optional: &[&str]) -> Result<Records> {
    let file = path.display().to_string();
    let opened = std::fs::File::open(path).map_err(|e| Error::io(path, e))?;
    let options = ReadOptions::default();
    let context = Context::new(&file, &options);
    let (_, reader, _) = super::unzipped(Box::new(opened), &file)?;
    let bytes = Cell::new(0);
    let reader = Counted { reader: reader.take(MOST_BYTES + 1), bytes: &bytes };
    let mut scanner = Scanner::new(Box::new(reader), None, &context)?;
    let wanted = || format!("the first line names the columns: {}", [required, optional].concat().join(", "));
    let too_long = |most: String| {
        context.file(None, format!("is longer than {most}"), format!("give a list of facts; {}", wanted()))
    };
    // where the bytes end because there are too many, what was scanned last is not whole
    let next = |scanner: &mut Scanner<'_>| match scanner.next_record() {
        _ if bytes.get() > MOST_BYTES => Err(too_long("64 MB".into())),
        found => found,
    };
    if !next(&mut scanner)? {
        return Err(context.file(None, "the file is empty", wanted()));
    }
    let header = header(&mut scanner, &context)?;
    check_header(&header, required, optional, &context, wanted)?;
    let mut list = Vec::new();
    while next(&mut scanner)? {
        if list.len() == MOST_RECORDS {
            return Err(too_long(format!("{MOST_RECORDS} records")));
        }
        if scanner.n_cells() != header.len() {
            return Err(ragged(&scanner, header.len(), &context));
        }
        let line = scanner.record_line;
        let mut cells = Vec::with_capacity(header.len());
        scanner.for_each_cell(|k, cell| {
            let text = std::str::from_utf8(cell.bytes()).map_err(|_| {
                context.file(
                    Some(line),
                    format!("column `{}` is not valid UTF-8", header[k]),
                    "save it as UTF-8",
                )
            })?;
            cells.push((!context.is_missing(text.as_bytes())).then(|| text.to_string()));
            Ok(())
        })?;
        list.push(Record { line, cells });
    }
    Ok(Records { file: file.clone(), header, list })
}

/// A reader that tells how many bytes it has given.
struct Counted<'a, R> {
    reader: R,
    bytes: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let found = self.reader.read(buffer)?;
        self.bytes.set(self.bytes.get() + found as u64);
        Ok(found)
    }
}

fn check_header(
    header: &[String],
    required: &[&str],
    optional: &[&str],
    context: &Context<'_>,
    wanted: impl Fn() -> String,
) -> Result<()> {
    let known = |name: &String| required.contains(&name.as_str()) || optional.contains(&name.as_str());
    if let Some(name) = required.iter().find(|r| !header.iter().any(|h| h == *r)) {
        return Err(context.file(Some(1), format!("there is no column `{name}`"), wanted()));
    }
    if let Some(name) = header.iter().find(|h| !known(h)) {
        return Err(context.file(Some(1), format!("the column `{name}` is not known here"), wanted()));
    }
    if let Some(k) = (1..header.len()).find(|&k| header[..k].contains(&header[k])) {
        return Err(context.file(Some(1), format!("the column `{}` is there twice", header[k]), wanted()));
    }
    Ok(())
}

impl Records {
    /// The records in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Record> {
        self.list.iter()
    }

    /// Whether the file has the column.
    pub fn has(&self, column: &str) -> bool {
        self.header.iter().any(|h| h == column)
    }

    /// The text of a cell, if the column is there and the cell is not empty.
    pub fn text<'a>(&self, record: &'a Record, column: &str) -> Option<&'a str> {
        let k = self.header.iter().position(|h| h == column)?;
        record.cells[k].as_deref()
    }

    /// The text of a cell that must not be empty.
    pub fn required<'a>(&self, record: &'a Record, column: &str) -> Result<&'a str> {
        self.text(record, column)
            .ok_or_else(|| self.error(record, column, "is empty", "fill the cell or remove the line"))
    }

    /// The number of a cell, `None` where it is empty.
    pub fn number(&self, record: &Record, column: &str) -> Result<Option<f64>> {
        let Some(text) = self.text(record, column) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Some(x)),
            _ => Err(self.error(record, column, "is not a finite number", "write it like 12.5")),
        }
    }

    /// An error about one cell.
    pub fn error(
        &self,
        record: &Record,
        column: &str,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Error {
        Error::Cell {
            file: self.file.clone(),
            line: record.line,
            column: column.into(),
            value: self.text(record, column).unwrap_or_default().into(),
            problem: problem.into(),
            hint: hint.into(),
        }
    }
}
