//! Readers: bytes from outside become a [`Table`](super::Table), whole or in pieces. Rows stream, so memory is that of
//! the encoded table; errors name file, line, column, value and remedy; decisions come back as [`Note`]s.
//!
//! Rules, the same for every format: a column is numeric if every present cell is a finite number, else
//! categorical; the target is always categorical. Missing cells are empty, `?`, `NA`, `NaN`, `null` in
//! text files (quoted or not) and nulls or NaN in typed files. Categories keep the order a file declares,
//! else numeric order if all are numbers, else byte order. A column without any present cell is numeric
//! (categorical if it is the target), all missing. Integers above 2^53 become the nearest number.

mod arff;
mod arff_tokens;
#[cfg(feature = "parquet")]
mod arrow_sizes;
mod batches;
mod builder;
mod context;
mod csv;
mod dictionary;
mod foreign;
mod number;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_columns;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "parquet")]
mod parquet_footer;
#[cfg(feature = "parquet")]
mod parquet_keys;
#[cfg(feature = "parquet")]
mod parquet_sizes;
mod pieces;
mod places;
mod plan;
mod records;
mod scanner;
#[cfg(feature = "parquet")]
mod thrift;

pub use batches::{Batches, would_match};
pub use options::{Format, MISSING_TOKENS, Note, Place, ReadOptions, ReadResult, Source};
#[cfg(feature = "parquet")]
pub use parquet::is_decoding;
pub use places::Places;
pub use records::{Record, Records, read_records};

use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use std::io::{Cursor, Read};
use std::path::PathBuf;

/// Bytes looked at to find out the format.
const HEAD: u64 = 4096;

/// Reads a table from a file or any reader; gzip is undone where its magic bytes are found.
pub fn read<'a>(
    source: impl Into<Source<'a>>,
    options: &ReadOptions,
    control: &Control,
) -> Result<ReadResult> {
    let source = source.into();
    let table = source.name();
    let mut found = None;
    read_pieces(source, options, usize::MAX, control, &mut |piece| {
        found = Some(piece);
        Ok(())
    })?;
    found.ok_or_else(|| pieces::no_rows(&table))
}

/// Reads a table in pieces of so many rows at most, once: a file or any reader. [`Batches`] reads files as often as asked.
pub fn read_pieces<'a>(
    source: impl Into<Source<'a>>,
    options: &ReadOptions,
    most_rows: usize,
    control: &Control,
    each: &mut dyn FnMut(ReadResult) -> Result<()>,
) -> Result<()> {
    let source = source.into();
    let table = source.name();
    let order = pieces::Order {
        table: &table,
        files: [table.clone()].into(),
        most_rows: most_rows.max(1),
        total: 0,
        options,
        control,
    };
    pieces::for_each(&order, std::iter::once(source), each)
}

/// The bytes of a table, unzipped.
struct Input<'a> {
    /// Name in errors.
    file: String,
    format: Format,
    /// The first bytes.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    head: Vec<u8>,
    /// All bytes.
    reader: Box<dyn Read + 'a>,
    /// The file that holds them as they are.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    path: Option<PathBuf>,
}

impl<'a> Input<'a> {
    fn open(source: Source<'a>, options: &ReadOptions) -> Result<Self> {
        let file = source.name();
        let (raw, path): (Box<dyn Read + 'a>, _) = match source {
            Source::Path(path) => {
                let opened = std::fs::File::open(&path).map_err(|e| Error::io(&path, e))?;
                (Box::new(opened), Some(path))
            }
            Source::Reader { reader, .. } => (reader, None),
        };
        let (head, reader, zipped) = unzipped(raw, &file)?;
        let format = options.format.or_else(|| Format::of_name(&file)).unwrap_or_else(|| by_content(&head));
        if matches!(format, Format::Csv | Format::Arff) {
            foreign::refuse(&head, &file)?;
        }
        if options.no_header && format != Format::Csv {
            return Err(Error::parameter(
                "no header",
                &file,
                "a CSV file; files of other formats name their columns",
            ));
        }
        Ok(Input { file, format, head, reader, path: path.filter(|_| !zipped) })
    }
}

/// The first bytes, a reader that starts with them, and whether gzip was undone.
fn unzipped<'a>(raw: Box<dyn Read + 'a>, file: &str) -> Result<(Vec<u8>, Box<dyn Read + 'a>, bool)> {
    let (head, reader) = peek(raw, file)?;
    if !head.starts_with(b"\x1f\x8b") {
        return Ok((head, reader, false));
    }
    let (head, reader) = peek(Box::new(flate2::read::MultiGzDecoder::new(reader)), file)?;
    Ok((head, reader, true))
}

/// The first bytes, and a reader that starts with them.
fn peek<'a>(mut reader: Box<dyn Read + 'a>, file: &str) -> Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut head = Vec::new();
    reader.by_ref().take(HEAD).read_to_end(&mut head).map_err(|e| read_error(file, e))?;
    let whole = Cursor::new(head.clone()).chain(reader);
    Ok((head, Box::new(whole)))
}

/// Format by the first bytes; what nothing else claims is CSV.
fn by_content(head: &[u8]) -> Format {
    let first_words = || {
        let mut lines = head.split(|b| *b == b'\n').map(|line| line.trim_ascii());
        lines.find(|line| !line.is_empty() && !line.starts_with(b"%")).unwrap_or_default()
    };
    if head.starts_with(b"PAR1") {
        Format::Parquet
    } else if head.starts_with(b"ARROW1") || head.starts_with(b"\xff\xff\xff\xff") {
        Format::Arrow
    } else if first_words().get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"@relation")) {
        Format::Arff
    } else {
        Format::Csv
    }
}

/// Data that is damaged (gzip) is the file's fault, anything else the operating system's.
fn read_error(file: &str, e: std::io::Error) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match e.kind() {
        InvalidData | InvalidInput | UnexpectedEof => Error::File {
            file: file.into(),
            line: None,
            problem: format!("the compressed data is damaged ({e})"),
            hint: "fetch or compress the file again".into(),
        },
        _ => Error::io(file, e),
    }
}
