//! What a reader is asked to do ([`ReadOptions`]) and what it has to say besides the table ([`Note`]).

use super::places::Places;
use crate::table::{Schema, Table};
use hingenet_base::error::{Result, require};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Texts that stand for a missing cell unless [`ReadOptions::missing`] says otherwise.
pub const MISSING_TOKENS: [&str; 5] = ["", "?", "NA", "NaN", "null"];

/// Where the bytes come from.
#[allow(missing_docs)] // said with the variants
pub enum Source<'a> {
    /// A file.
    Path(PathBuf),
    /// Any reader, for example standard input, with the name that errors give it.
    Reader { name: String, reader: Box<dyn Read + 'a> },
}

impl<'a> Source<'a> {
    /// Any reader, with the name that errors give it.
    pub fn reader(name: impl Into<String>, reader: impl Read + 'a) -> Self {
        Source::Reader { name: name.into(), reader: Box::new(reader) }
    }

    /// The name errors use.
    pub fn name(&self) -> String {
        match self {
            Source::Path(path) => path.display().to_string(),
            Source::Reader { name, .. } => name.clone(),
        }
    }
}

impl From<&Path> for Source<'_> {
    fn from(path: &Path) -> Self {
        Source::Path(path.to_path_buf())
    }
}

/// Format of a table file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Delimited text with a header line.
    Csv,
    /// Attribute-relation file format.
    Arff,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
}

impl Format {
    /// The format of a file by the end of its name, `.gz` left out.
    pub fn of_name(file: &str) -> Option<Format> {
        let lower = file.to_ascii_lowercase();
        let name = lower.strip_suffix(".gz").unwrap_or(&lower);
        match name.rsplit_once('.')?.1 {
            "csv" | "tsv" => Some(Format::Csv),
            "arff" => Some(Format::Arff),
            "parquet" | "pq" => Some(Format::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Format::Arrow),
            _ => None,
        }
    }
}

/// How to read a table. The default reads everything and infers types.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// Column that must exist and is always categorical.
    pub target: Option<String>,
    /// Columns to read as categories whatever their cells look like.
    pub categorical: Vec<String>,
    /// Columns whose every present cell must be a finite number.
    pub numeric: Vec<String>,
    /// Columns that are not read at all.
    pub ignore: Vec<String>,
    /// Cell delimiter of CSV; `None`: comma, semicolon or tab, whichever the header line has most of.
    pub delimiter: Option<u8>,
    /// Decimal mark of text files, `.` or `,`. `None`: the point; commas too where they can be nothing else, which is in
    /// cells such as `51,3` of a column that holds numbers only, and of one whose type is open if cells are not
    /// parted by commas. What the comma is in one column, it is in all.
    pub decimal: Option<u8>,
    /// Whether the first line of CSV is a row: the columns are then named `c1`, `c2` and so on.
    pub no_header: bool,
    /// Texts that stand for a missing cell, instead of [`MISSING_TOKENS`]. The empty cell is always missing.
    pub missing: Option<Vec<String>>,
    /// Format; `None`: by file name, else by the first bytes.
    pub format: Option<Format>,
    /// Columns of a fitted model: they are read with their types if they are there, and other columns
    /// (but for the target and those named in `categorical` or `numeric`) are not read.
    pub schema: Option<Schema>,
    /// Whether numbers that a file keeps as keys into a list of values may stay so: for who counts values. Others pay for
    /// both, the keys and the cells.
    pub keyed: bool,
}

impl ReadOptions {
    /// Refuses options that contradict each other.
    pub fn check(&self) -> Result<()> {
        if let Some(d) = self.delimiter {
            let ok = d.is_ascii() && !d.is_ascii_alphanumeric() && !b"\"\r\n\0+-.".contains(&d);
            require("delimiter", (d as char).escape_default(), "one character such as , or ;", ok)?;
        }
        if let Some(d) = self.decimal {
            require("decimal", (d as char).escape_default(), ". or ,", b".,".contains(&d))?;
        }
        for (option, names) in [("numeric", &self.numeric), ("ignore", &self.ignore)] {
            for name in names {
                let is_target = self.target.as_ref() == Some(name);
                require(option, name, "columns other than the target, which is categorical", !is_target)?;
                let twice = self.categorical.contains(name);
                require(option, name, "columns that are not named by `categorical` too", !twice)?;
                let twice = option == "ignore" && self.numeric.contains(name);
                require(option, name, "columns that are not named by `numeric` too", !twice)?;
            }
        }
        Ok(())
    }
}

/// A table and what the reader has to say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadResult {
    /// The columns that were asked for.
    pub table: Table,
    /// Decisions a user should know of.
    pub notes: Vec<Note>,
    /// The delimiter found, for CSV.
    pub delimiter: Option<u8>,
    /// Columns that were not read.
    pub skipped: Vec<String>,
    /// Where the rows come from.
    pub places: Places,
}

/// Where a cell stands: text files have lines, others rows (both from 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Physical line at which the record starts.
    Line(u64),
    /// Row of data.
    Row(u64),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Line(n) => write!(f, "line {n}"),
            Place::Row(n) => write!(f, "row {n}"),
        }
    }
}

/// A rule that was applied to unusual input, or a hint. `Display` gives the sentence for people; `place` and `value` are
/// those of the first such cell, `file` its file where the table has several, and columns of integer codes come with their numbers of distinct values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // said above for all variants
pub enum Note {
    /// No cell is present: the column is kept, numeric unless asked otherwise, every cell missing.
    AllMissing { column: String },
    /// An integer above 2^53 was read as the nearest number there is.
    LargeInteger { column: String, file: Option<String>, place: Place, value: String },
    /// Numeric columns of 2 to 10 distinct integers, which may be codes of categories.
    IntegerCodes { columns: Vec<(String, usize)> },
    /// A column of ten times more numbers than texts (distinct ones) is categorical because of the texts.
    MostlyNumbers { column: String, file: Option<String>, place: Place, value: String },
    /// Columns with cells such as `51,3` were read as numbers.
    DecimalCommas { columns: Vec<String> },
}

impl Note {
    /// Whether this is a warning rather than a hint.
    pub fn is_warning(&self) -> bool {
        !matches!(self, Note::IntegerCodes { .. } | Note::DecimalCommas { .. })
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Note::AllMissing { column } => {
                write!(f, "column `{column}`: every cell is missing; it is kept and carries no information")
            }
            Note::LargeInteger { column, file, place, value } => write!(
                f,
                "column `{column}`, {}{place}: `{value}` is above 2^53 and was rounded to the nearest number; \
                 if the column holds identifiers, use `--categorical` or `--ignore`",
                within(file)
            ),
            Note::IntegerCodes { columns } => {
                let list: Vec<String> =
                    columns.iter().map(|(name, n)| format!("`{name}` ({n} values)")).collect();
                write!(
                    f,
                    "read as numbers: {}; name those that are codes with `--categorical`",
                    list.join(", ")
                )
            }
            Note::DecimalCommas { columns } => write!(
                f,
                "read as numbers with decimal commas: `{}`; `--decimal .` leaves them texts",
                columns.join("`, `")
            ),
            Note::MostlyNumbers { column, file, place, value } => write!(
                f,
                "column `{column}` is categorical because `{value}` ({}{place}) is not a number; if it stands \
                 for a missing cell, name it with `--na`",
                within(file)
            ),
        }
    }
}

fn within(file: &Option<String>) -> String {
    file.as_ref().map_or(String::new(), |file| format!("{file}, "))
}
