//! Results go to stdout or, whole or not at all, to a file.

use crate::failure::usage;
use crate::session::Session;
use anyhow::{Context, Result};
use hingenet::table::{Column, Format, ReadOptions, Table};
use hingenet_data::file;
use hingenet_data::table::{Batches, parse_number, would_match, write_csv_header, write_csv_rows};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Names of the standard streams on systems that have them as files.
const STDIN: &str = "/dev/stdin";
const STDOUT: &str = "/dev/stdout";

/// What a command reads and writes, as the command line names it; `-` is standard input or output.
#[derive(Debug, Default)]
pub struct Files {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
}

impl Files {
    /// Adds files that are read.
    pub fn reads<'a>(mut self, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.reads.extend(paths.into_iter().cloned());
        self
    }

    /// Adds files that are written.
    pub fn writes<'a>(mut self, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.writes.extend(paths.into_iter().cloned());
        self
    }

    /// Adds the result, which goes to stdout if no file is given.
    pub fn writes_result(self, path: Option<&PathBuf>) -> Self {
        self.writes([path.unwrap_or(&PathBuf::from("-"))])
    }

    /// Fails if an output cannot be written, is an input or the same as another output, whatever their names.
    pub fn check(&self) -> Result<()> {
        let reads: Vec<PathBuf> = self.reads.iter().flat_map(|path| files_of(path)).collect();
        for (i, path) in self.writes.iter().enumerate() {
            if is_file(path) {
                file::target(path).map_err(cannot_write)?;
            }
            if let Some(folder) = self.reads.iter().find(|input| is_in(path, input)) {
                let problem =
                    format!("{} would become a file of the table {}", path.display(), folder.display());
                return Err(usage(problem, "write the output to another folder"));
            }
            if let Some(input) = reads.iter().find(|input| is_same(input, STDIN, path)) {
                let problem = format!("{} is an input and would be overwritten", input.display());
                return Err(usage(problem, "give the output another name"));
            }
            if let Some(other) = self.writes[..i].iter().find(|other| is_same(other, STDOUT, path)) {
                let problem = format!("two outputs would be written to {}", other.display());
                return Err(usage(problem, "give each a name of its own"));
            }
        }
        Ok(())
    }
}

/// The files of an input, which may be a folder or a pattern; what is wrong with it is told when it is read.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let found = Batches::of(path, &ReadOptions::default()).ok().filter(|_| is_file(path));
    found.map_or_else(|| vec![path.into()], |batches| batches.files().to_vec())
}

/// Whether an output would be a part of an input that is a folder or a pattern. Parts that are there already are inputs.
fn is_in(output: &Path, input: &Path) -> bool {
    is_file(output) && (is_table_in(output, input) || (!output.exists() && would_match(input, output)))
}

/// Whether an output would be a table in an input that is a folder.
fn is_table_in(output: &Path, input: &Path) -> bool {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    let is_named = |path: &PathBuf| Format::of_name(&path.to_string_lossy()).is_some();
    input.is_dir()
        && same(folder, input)
        && (is_named(&output.to_path_buf()) || !files_of(input).iter().any(is_named))
}

/// Whether two paths name one file: `-` among outputs is standard output, `stream` for `path`.
fn is_same(path: &Path, stream: &str, output: &Path) -> bool {
    let both_stdout = stream == STDOUT && !is_file(path) && !is_file(output);
    let named =
        |path: &Path, stream: &str| file::identity(if is_file(path) { path } else { Path::new(stream) });
    both_stdout || named(path, stream).is_some_and(|one| Some(one) == named(output, STDOUT))
}

/// Version of the JSON that commands write: it grows when a field changes its meaning or goes, not when one is added.
const JSON_FORMAT: u32 = 1;

/// JSON with its version, as docs/json.md describes it.
pub fn json(content: &impl Serialize) -> Result<String> {
    #[derive(Serialize)]
    struct Versioned<'a, T> {
        format: u32,
        #[serde(flatten)]
        content: &'a T,
    }
    Ok(serde_json::to_string_pretty(&Versioned { format: JSON_FORMAT, content })? + "\n")
}

/// Writes text for people, whatever names and values of the data hold.
pub fn write_text(path: Option<&PathBuf>, text: &str) -> Result<()> {
    write(path, visible(text, "\n").as_bytes())
}

/// Writes a table as CSV, as its cells are; warns of cells that a spreadsheet would take for formulas.
pub fn write_table(path: Option<&PathBuf>, table: &Table, session: &Session) -> Result<()> {
    let mut writer = TableWriter::create(path)?;
    writer.add(table)?;
    writer.finish(session)
}

/// A table that is written piece by piece; nobody sees it before it is whole.
pub struct TableWriter {
    sink: Sink,
    /// The first formula of each column.
    formulas: Vec<Option<String>>,
    names: Vec<String>,
}

enum Sink {
    Stdout(file::Spool),
    File(Box<file::Writing>),
}

impl TableWriter {
    /// Begins to write to the file, or to stdout if there is none or `-`.
    pub fn create(path: Option<&PathBuf>) -> Result<Self> {
        let sink = match path.filter(|p| is_file(p)) {
            None => Sink::Stdout(file::Spool::default()),
            Some(path) => Sink::File(Box::new(file::Writing::create(path).map_err(cannot_write)?)),
        };
        Ok(TableWriter { sink, formulas: Vec::new(), names: Vec::new() })
    }

    /// Adds rows; the columns are always the same.
    pub fn add(&mut self, table: &Table) -> Result<()> {
        let mut text = Vec::new();
        if self.names.is_empty() {
            self.names = table.columns().iter().map(|column| column.name().to_string()).collect();
            self.formulas = vec![None; self.names.len()];
            write_csv_header(table, &mut text)?;
        }
        for (known, column) in self.formulas.iter_mut().zip(table.columns()) {
            *known = known.take().or_else(|| formula(column));
        }
        write_csv_rows(table, &mut text)?;
        match &mut self.sink {
            Sink::Stdout(spool) => {
                let kept = spool.write_all(&on_stdout(&text));
                kept.context("cannot keep what goes to standard output")
            }
            Sink::File(writing) => writing.add(&text).map_err(cannot_write),
        }
    }

    /// Shows the table; warns of cells that a spreadsheet would take for formulas.
    pub fn finish(self, session: &Session) -> Result<()> {
        for (name, text) in self.names.iter().zip(&self.formulas) {
            if let Some(text) = text {
                session.warn(&format!(
                    "column `{name}`: `{text}` begins like a formula, which a spreadsheet would run: import the column as text"
                ));
            }
        }
        match self.sink {
            Sink::Stdout(spool) => stdout_written(spool.pour(&mut std::io::stdout().lock())),
            Sink::File(writing) => writing.finish().map_err(cannot_write),
        }
    }
}

/// The name or the first cell of a column that begins like a formula and is no number.
fn formula(column: &Column) -> Option<String> {
    let begins = |text: &&str| {
        text.len() > 1 && text.starts_with(['=', '+', '-', '@', '\t', '\r']) && parse_number(text).is_none()
    };
    let cells = column.as_categorical();
    let cells = cells.into_iter().flat_map(|c| (0..c.codes().len()).filter_map(|m| c.get(m)));
    let found = std::iter::once(column.name()).chain(cells).find(begins)?;
    Some(found.chars().take(60).collect())
}

/// The text with control characters, but for those in `kept`, and marks that turn the direction of writing as escapes:
/// names and cells come from anywhere, and a terminal would obey them.
fn visible<'a>(text: &'a str, kept: &str) -> Cow<'a, str> {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harmful = |c: char| (c.is_control() && !kept.contains(c)) || turns(c);
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if harmful(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// What standard output gets: the bytes as they are for programs and files, and text that commands nothing for a terminal.
fn on_stdout(bytes: &[u8]) -> Cow<'_, [u8]> {
    if std::io::stdout().is_terminal() { Cow::Owned(on_terminal(bytes)) } else { Cow::Borrowed(bytes) }
}

fn on_terminal(bytes: &[u8]) -> Vec<u8> {
    visible(&String::from_utf8_lossy(bytes), "\n").into_owned().into_bytes()
}

/// Writes to the file, or to stdout if there is none or `-`.
pub fn write(path: Option<&PathBuf>, bytes: &[u8]) -> Result<()> {
    match path.filter(|p| is_file(p)) {
        None => write_stdout(bytes),
        Some(path) => file::write(path, bytes).map_err(cannot_write),
    }
}

/// Makes a folder for outputs, with those above it, unless it is there.
pub fn make_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))
}

fn cannot_write(error: hingenet::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot write {error}")
}

/// Whether the path names a file rather than stdout.
pub fn is_file(path: &Path) -> bool {
    path != Path::new("-")
}

/// A line for people. Nobody may be listening any more, which is no reason to stop.
pub fn write_stderr(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(line, ""));
}

fn write_stdout(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    stdout_written(out.write_all(&on_stdout(bytes)).and_then(|()| out.flush()))
}

fn stdout_written(written: std::io::Result<()>) -> Result<()> {
    match written {
        // whoever reads us has seen enough, as in `hingenet models | head`
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_byte_that_commands_it() {
        let shown = |bytes: &[u8]| String::from_utf8(on_terminal(bytes)).unwrap();
        assert_eq!(shown("a,b\n1,\u{e9}\n".as_bytes()), "a,b\n1,\u{e9}\n");
        assert_eq!(shown(b"x\x1b[31m\r\n\t\x07"), "x\\u{1b}[31m\\r\n\\t\\u{7}");
        assert_eq!(shown(b"\xff\x9b\x1b"), "\u{fffd}\u{fffd}\\u{1b}", "bytes that are no text");
    }
}
