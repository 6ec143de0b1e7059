//! Library errors as Python exceptions, with the same text and the hint in a second line.

use hingenet::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyTimeoutError, PyValueError};

pyo3::create_exception!(
    hingenet,
    HingenetError,
    PyValueError,
    "Data, model files or options that cannot be used; the text says why and what to do."
);

/// Remedies of the library that name options of the command line, and what they are in Python.
const REMEDIES: [(&str, &str); 17] = [
    (" with `--ignore`", ""),
    (" (`--ignore`)", ""),
    (" with --ignore ", ": "),
    ("read as categories with --categorical ", "give as texts: "),
    ("say what it is with `--categorical`, or", "make all of it numbers or all of it texts, or"),
    ("`--max-memory`", "`max_memory`"),
    ("`--max-time`", "`max_time`"),
    (" (`--na` names other texts for that)", ""),
    ("read text files with --decimal , or write", "write"),
    (" (`--drop-unlabelled`)", ""),
    (" with `--drop-unlabelled`", ""),
    (", or learn from them with `--semi-supervised` (nb, tan, kdb and dag)", ""),
    ("`--seed`", "`random_state`"),
    ("`--rounds`", "`rounds`"),
    ("--given", "`given`"),
    ("`hingenet fit`", "`save`"),
    ("a name that `hingenet models` lists", "the name of a model"),
];

/// A remedy with the names of Python.
pub fn for_python(remedy: &str) -> String {
    REMEDIES.iter().fold(remedy.to_string(), |text, (flag, name)| text.replace(flag, name))
}

/// The Python exception of a library error: `ValueError` for an option outside its range, `OSError` for
/// files that cannot be read or written, `KeyboardInterrupt` when the user stopped the work, `TimeoutError` when
/// it was not done in time, and `HingenetError` (a `ValueError`) for everything else.
pub fn to_python(error: Error) -> PyErr {
    let text = match error.hint() {
        Some(hint) => for_python(&format!("{error}\nhint: {hint}")),
        None => for_python(&error.to_string()),
    };
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        Error::Time { .. } => PyTimeoutError::new_err(text),
        Error::Io { path, source } => match source.raw_os_error() {
            // With number, text and name Python picks the subclass (FileNotFoundError and so on).
            Some(number) => PyOSError::new_err((number, source.to_string(), path.display().to_string())),
            None => std::io::Error::new(source.kind(), text).into(),
        },
        Error::Parameter { .. } => PyValueError::new_err(text),
        _ => HingenetError::new_err(text),
    }
}

#[cfg(test)]
mod tests {
    use super::for_python;
    use std::path::Path;

    /// Calls `found` with the lines of code, without tests, of the files below a folder.
    fn lines(folder: &Path, found: &mut dyn FnMut(&str, &Path)) {
        for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() && !entry.ends_with("table/read") {
                lines(&entry, found);
            } else if entry.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&entry).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines();
                code.filter(|line| !line.trim_start().starts_with("//")).for_each(|line| found(line, &entry));
            }
        }
    }

    /// Readers of files are not part of the package; everything else in the library may speak to users of Python.
    #[test]
    fn no_remedy_names_an_option_of_the_command_line() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut named = 0;
        for name in ["base", "data", "discrete", "density", "gaussian", "pool", ""] {
            let folder = crates.join(format!("hingenet-{name}").trim_end_matches('-')).join("src");
            lines(&folder, &mut |line, file| {
                let is_option = |text: &str| {
                    text.split("--").skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
                };
                if line.contains('"') && is_option(line) {
                    named += 1;
                    assert!(!is_option(&for_python(line)), "{}: {line}", file.display());
                }
            });
        }
        assert!(named > 10, "the search finds nothing");
    }
}
