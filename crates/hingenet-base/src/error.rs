//! The one error type of the library. Each variant holds the place (file, line, column, parameter)
//! as fields; [`Error::hint`] says what the user can do about it.

use std::path::{Path, PathBuf};

/// Result of everything in this library that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and where. The fields are what the messages name: `problem` is what is wrong, `hint` what the user
/// can do about it, `line` counts from 1, and the nodes of a cycle begin and end with the same one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // said above for all variants
pub enum Error {
    /// The operating system refused to read or write a file.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// A file as a whole cannot be used.
    #[error("{file}{}: {problem}", line.map(|l| format!(", line {l}")).unwrap_or_default())]
    File { file: String, line: Option<u64>, problem: String, hint: String },
    /// One cell of a table cannot be used.
    #[error("{file}, line {line}, column `{column}`: `{value}` {problem}")]
    Cell { file: String, line: u64, column: String, value: String, problem: String, hint: String },
    /// A column cannot be used.
    #[error("column `{column}`: {problem}")]
    Column { column: String, problem: String, hint: String },
    /// One row of a table cannot be used; rows count from 1.
    #[error("row {row}: {problem}")]
    Row { row: usize, problem: String, hint: String },
    /// The rows cannot be learnt from.
    #[error("{problem}")]
    Data { problem: String, hint: String },
    /// An option or parameter is outside its range.
    #[error("{name} = {value}: expected {expected}")]
    Parameter { name: String, value: String, expected: String },
    /// Two things that must have the same size do not.
    #[error("{what}: expected {expected}, found {found}")]
    Shape { what: String, expected: usize, found: usize },
    /// A graph that must be acyclic has a cycle.
    #[error("the graph has a cycle: {}", nodes.join(" -> "))]
    Cycle { nodes: Vec<String> },
    /// A graph cannot be used for a reason other than a cycle.
    #[error("node `{node}`: {problem}")]
    Graph { node: String, problem: String },
    /// A computation would need more memory or time than the stated limit.
    #[error("{what} needs {size:.3e}, above the limit of {limit:.3e}")]
    TooLarge { what: String, size: f64, limit: f64, hint: String },
    /// A step needs more memory than the caller allows, or than the system has (no `limit`).
    #[error("{what} needs {} of memory, more than {}", size(*bytes), memory_limit(*limit))]
    Memory { what: String, bytes: f64, limit: Option<u64>, hint: String },
    /// A model file (or an exchange file) is damaged, hostile or of an unknown version.
    #[error("model file: {problem}")]
    ModelFile { problem: String, hint: String },
    /// The model cannot do what was asked (for example sampling from a kernel machine).
    #[error("{model}: {problem}")]
    Unsupported { model: String, problem: String, hint: String },
    /// A numerical method failed in a way the caller must know about.
    #[error("{method}: {problem}")]
    Numeric { method: String, problem: String },
    /// The work was not done within the time that the caller allowed.
    #[error("not done within {seconds} s")]
    Time { seconds: f64 },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// What the user can do about it, if that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::File { hint, .. }
            | Error::Cell { hint, .. }
            | Error::Column { hint, .. }
            | Error::Row { hint, .. }
            | Error::Data { hint, .. }
            | Error::TooLarge { hint, .. }
            | Error::Memory { hint, .. }
            | Error::ModelFile { hint, .. }
            | Error::Unsupported { hint, .. }
                if !hint.is_empty() =>
            {
                Some(hint)
            }
            Error::Time { .. } => {
                Some("allow more time (`--max-time`), give fewer rows or columns, or take a simpler model")
            }
            _ => None,
        }
    }

    /// Whether the caller ended the work: no part of it may then go on with what failed.
    pub fn is_stop(&self) -> bool {
        matches!(self, Error::Interrupted | Error::Time { .. })
    }

    /// Wraps an operating-system error with the file it belongs to.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().to_path_buf(), source }
    }

    /// Rows that cannot be learnt from.
    pub fn data(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Data { problem: problem.into(), hint: hint.into() }
    }

    /// A column that cannot be used.
    pub fn column(column: impl Into<String>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Column { column: column.into(), problem: problem.into(), hint: hint.into() }
    }

    /// A row that cannot be used, by its position in the table from 0.
    pub fn row(position: usize, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Row { row: position.saturating_add(1), problem: problem.into(), hint: hint.into() }
    }

    /// A graph that cannot be used, for a reason other than a cycle.
    pub fn graph(node: impl ToString, problem: impl Into<String>) -> Self {
        Error::Graph { node: node.to_string(), problem: problem.into() }
    }

    /// A numerical method that failed.
    pub fn numeric(method: impl Into<String>, problem: impl Into<String>) -> Self {
        Error::Numeric { method: method.into(), problem: problem.into() }
    }

    /// A parameter outside its range.
    pub fn parameter(name: impl Into<String>, value: impl ToString, expected: impl Into<String>) -> Self {
        Error::Parameter { name: name.into(), value: value.to_string(), expected: expected.into() }
    }

    /// A computation above a stated limit.
    pub fn too_large(what: impl Into<String>, size: f64, limit: f64, hint: &str) -> Self {
        Error::TooLarge { what: what.into(), size, limit, hint: hint.into() }
    }

    /// A damaged or hostile model file.
    pub fn model_file(problem: impl Into<String>) -> Self {
        Error::ModelFile {
            problem: problem.into(),
            hint: "write the model again with `hingenet fit`; a damaged file cannot be repaired".into(),
        }
    }
}

/// A number of bytes for people.
fn size(bytes: f64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let k = ((bytes.max(1.0).log10() / 3.0) as usize).min(units.len() - 1);
    let digits = usize::from(k > 0);
    format!("{:.digits$} {}", bytes / 1e3f64.powi(k as i32), units[k])
}

fn memory_limit(limit: Option<u64>) -> String {
    limit.map_or("the system has to give".into(), |limit| format!("the {} allowed", size(limit as f64)))
}

/// Refuses a parameter unless `ok`; NaN must make `ok` false.
pub fn require(name: &str, value: impl std::fmt::Display, expected: &str, ok: bool) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::parameter(name, value, expected)) }
}

/// Refuses two sizes that must agree and do not.
pub fn require_len(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Shape { what: what.into(), expected, found }) }
}
