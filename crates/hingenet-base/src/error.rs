//! The one error type of the library. Each variant holds the place (file, line, column, parameter)
//! as fields; [`Error::hint`] says what the user can do about it.

use std::path::{Path, PathBuf};

/// Result of everything in this library that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read or write a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// File that was read or written.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file as a whole cannot be used.
    #[error("{file}{}: {problem}", line.map(|l| format!(", line {l}")).unwrap_or_default())]
    File {
        /// File name as the user gave it.
        file: String,
        /// Line (1-based), where one is to blame.
        line: Option<u64>,
        /// What is wrong with it.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// One cell of a table cannot be used.
    #[error("{file}, line {line}, column `{column}`: `{value}` {problem}")]
    Cell {
        /// File name as the user gave it.
        file: String,
        /// Line (1-based) of the cell.
        line: u64,
        /// Column name.
        column: String,
        /// The text of the cell.
        value: String,
        /// What is wrong with it, as a predicate.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// A column cannot be used.
    #[error("column `{column}`: {problem}")]
    Column {
        /// Column name.
        column: String,
        /// What is wrong with it.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// The rows cannot be learnt from.
    #[error("{problem}")]
    Data {
        /// What is wrong with them.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// An option or parameter is outside its range.
    #[error("{name} = {value}: expected {expected}")]
    Parameter {
        /// Name of the parameter.
        name: String,
        /// The value that was given.
        value: String,
        /// The values that are allowed.
        expected: String,
    },
    /// Two things that must have the same size do not.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What was counted.
        what: String,
        /// The size needed.
        expected: usize,
        /// The size given.
        found: usize,
    },
    /// A graph that must be acyclic has a cycle.
    #[error("the graph has a cycle: {}", nodes.join(" -> "))]
    Cycle {
        /// The nodes of one cycle, the first repeated at the end.
        nodes: Vec<String>,
    },
    /// A graph cannot be used for a reason other than a cycle.
    #[error("node `{node}`: {problem}")]
    Graph {
        /// The offending node.
        node: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A computation would need more memory or time than the stated limit.
    #[error("{what} needs {size:.3e}, above the limit of {limit:.3e}")]
    TooLarge {
        /// What would be computed.
        what: String,
        /// How large it would be.
        size: f64,
        /// The limit.
        limit: f64,
        /// What to do about it.
        hint: String,
    },
    /// A model file (or an exchange file) is damaged, hostile or of an unknown version.
    #[error("model file: {problem}")]
    ModelFile {
        /// What is wrong with it.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// The model cannot do what was asked (for example sampling from a kernel machine).
    #[error("{model}: {problem}")]
    Unsupported {
        /// Model name.
        model: String,
        /// What it cannot do.
        problem: String,
        /// What to use instead.
        hint: String,
    },
    /// A numerical method failed in a way the caller must know about.
    #[error("{method}: {problem}")]
    Numeric {
        /// The method.
        method: String,
        /// How it failed.
        problem: String,
    },
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
            | Error::Data { hint, .. }
            | Error::TooLarge { hint, .. }
            | Error::ModelFile { hint, .. }
            | Error::Unsupported { hint, .. }
                if !hint.is_empty() =>
            {
                Some(hint)
            }
            _ => None,
        }
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

/// Refuses a parameter unless `ok`; NaN must make `ok` false.
pub fn require(name: &str, value: impl std::fmt::Display, expected: &str, ok: bool) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::parameter(name, value, expected)) }
}

/// Refuses two sizes that must agree and do not.
pub fn require_len(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Shape { what: what.into(), expected, found }) }
}
