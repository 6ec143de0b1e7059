//! Files that are often taken for tables of text: told by their first bytes, before these reach a message as names of
//! columns.

use hingenet_base::error::{Error, Result};

const SAVE_AS_CSV: &str = "save the sheet as CSV (UTF-8) and give that file";
const EXPORT: &str = "export the table as CSV and give that file";
const UNPACK: &str = "unpack it and give the table; of compressed texts gzip is read";
const WRONG_FILE: &str = "give a table: CSV, ARFF, Parquet or Arrow";

/// First bytes, none of which can be names of columns, what the file is, and what to do.
const FOREIGN: [(&[u8], &str, &str); 26] = [
    (b"\xd0\xcf\x11\xe0", "an Excel workbook (.xls)", SAVE_AS_CSV),
    (b"\x89HGN", "a Hingenet model", "give a file of rows; `hingenet inspect` shows models"),
    (b"PAR1\x15", "a Parquet file", "let its name end in .parquet"),
    (b"ARROW1\0\0", "an Arrow file", "let its name end in .arrow"),
    (b"\x28\xb5\x2f\xfd", "a file compressed with zstd", UNPACK),
    (b"BZh91AY&SY", "a file compressed with bzip2", UNPACK),
    (b"\xfd7zXZ\0", "a file compressed with xz", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-zip archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"SQLite format 3\0", "an SQLite database", EXPORT),
    (b"%PDF-", "a PDF document", "tables in PDF cannot be read: get the data as CSV"),
    (b"\x89PNG", "a picture (PNG)", WRONG_FILE),
    (b"\xff\xd8\xff", "a picture (JPEG)", WRONG_FILE),
    (b"GIF89a", "a picture (GIF)", WRONG_FILE),
    (b"{\\rtf", "a text document (RTF)", "save its table as plain CSV"),
    (b"$FL2@(#)", "an SPSS file", EXPORT),
    (b"<stata_dta>", "a Stata file", EXPORT),
    (b"HEADER RECORD*******", "a SAS transport file", EXPORT),
    (b"RDX2\n", "an R data file", "write the table with `write.csv(..., row.names = FALSE)`"),
    (b"RDX3\n", "an R data file", "write the table with `write.csv(..., row.names = FALSE)`"),
    (b"X\n\0\0\0", "an R data file", "write the table with `write.csv(..., row.names = FALSE)`"),
    (b"\x89HDF", "an HDF5 file", EXPORT),
    (b"\x93NUMPY", "a NumPy array", "write it as CSV with the names of the columns in the first line"),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file", "write the table with `writetable`"),
    (b"\x7fELF", "a program", WRONG_FILE),
    (b"Obj\x01", "an Avro file", EXPORT),
];

/// Begins of texts that hold no rows of cells, small and capital letters alike.
const OTHER_TEXTS: [(&[u8], &str, &str); 6] = [
    (
        b"<!doctype html",
        "a web page",
        "the download may have failed: open the file in a browser to see what it says",
    ),
    (b"<html", "a web page", "the download may have failed: open the file in a browser to see what it says"),
    (b"<?xml", "an XML file", EXPORT),
    (b"{\"", "JSON", EXPORT),
    (b"[{\"", "JSON", EXPORT),
    (b"version https://git-lfs.", "a pointer of Git LFS", "fetch the file itself with `git lfs pull`"),
];

/// Refuses a file that holds no table of text.
pub(super) fn refuse(head: &[u8], file: &str) -> Result<()> {
    let (what, hint) = match kind(head) {
        Some(found) => found,
        None if is_binary(head) => ("binary data", WRONG_FILE),
        None => return Ok(()),
    };
    let problem = format!("this is {what}, not a table of text");
    Err(Error::File { file: file.into(), line: None, problem, hint: hint.into() })
}

fn kind(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if head.starts_with(b"PK\x03\x04") {
        return Some(zipped(head));
    }
    let begins = |(begin, ..): &&(&[u8], &str, &str)| head.starts_with(begin);
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let says = |(begin, ..): &&(&[u8], &str, &str)| {
        text.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin))
    };
    let found = FOREIGN.iter().find(begins).or_else(|| OTHER_TEXTS.iter().find(says))?;
    Some((found.1, found.2))
}

/// Spreadsheets are zip archives; which, the names of the files inside say.
fn zipped(head: &[u8]) -> (&'static str, &'static str) {
    let holds = |name: &[u8]| head.windows(name.len()).any(|w| w == name);
    if holds(b"opendocument.spreadsheet") {
        ("an OpenDocument spreadsheet (.ods)", SAVE_AS_CSV)
    } else if holds(b"[Content_Types].xml") || holds(b"xl/") {
        ("an Excel workbook (.xlsx)", SAVE_AS_CSV)
    } else {
        ("a zip archive", UNPACK)
    }
}

/// Whether there is a zero byte, which no text but UTF-16 has.
fn is_binary(head: &[u8]) -> bool {
    let is_utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    head.contains(&0) && !is_utf16
}
