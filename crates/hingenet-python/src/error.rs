//! Library errors as Python exceptions, with the same text and the hint in a second line.

use hingenet::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};

pyo3::create_exception!(
    hingenet,
    HingenetError,
    PyValueError,
    "Data, model files or options that cannot be used; the text says why and what to do."
);

/// Remedies of the library that name options of the command line, and what they are in Python.
const REMEDIES: [(&str, &str); 10] = [
    (" with `--ignore`", ""),
    (" (`--ignore`)", ""),
    (" with --ignore ", ": "),
    ("read as categories with --categorical ", "give as texts: "),
    (", or allow more (`--max-memory`)", ""),
    (", or allow more memory (`--max-memory`)", ""),
    (" (`--na` names other texts for that)", ""),
    ("`--seed`", "`random_state`"),
    ("--given", "`given`"),
    ("`hingenet fit`", "`save`"),
];

/// A remedy with the names of Python.
pub fn for_python(remedy: &str) -> String {
    REMEDIES.iter().fold(remedy.to_string(), |text, (flag, name)| text.replace(flag, name))
}

/// The Python exception of a library error: `ValueError` for an option outside its range, `OSError` for
/// files that cannot be read or written, `KeyboardInterrupt` when the user stopped the work, and
/// `HingenetError` (a `ValueError`) for everything else.
pub fn to_python(error: Error) -> PyErr {
    let text = match error.hint() {
        Some(hint) => format!("{error}\nhint: {}", for_python(hint)),
        None => error.to_string(),
    };
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        Error::Io { path, source } => match source.raw_os_error() {
            // With number, text and name Python picks the subclass (FileNotFoundError and so on).
            Some(number) => PyOSError::new_err((number, source.to_string(), path.display().to_string())),
            None => std::io::Error::new(source.kind(), text).into(),
        },
        Error::Parameter { .. } => PyValueError::new_err(text),
        _ => HingenetError::new_err(text),
    }
}
