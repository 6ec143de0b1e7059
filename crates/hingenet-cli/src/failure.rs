//! From an error to what the user reads and the exit code.

use crate::output;
use hingenet::Error;
use std::borrow::Cow;

/// The command line asks for something that cannot be: exit code 2.
#[derive(Debug)]
pub struct Usage {
    problem: String,
    hint: String,
}

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for Usage {}

/// A usage error with its remedy.
pub fn usage(problem: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Usage { problem: problem.into(), hint: hint.into() }.into()
}

/// Prints `error:` and `hint:` lines to stderr; the exit code says what kind of failure it was.
pub fn report(error: &anyhow::Error) -> u8 {
    // errors of the library name their cause themselves, others in a chain
    let text = if error.is::<Error>() { format!("error: {error}") } else { format!("error: {error:#}") };
    output::write_stderr(&as_called(&text));
    if let Some(hint) = hint(error) {
        // what the library calls a field is an option here
        let hint = hint.replace("calibrate_sets", "--calibrate-sets");
        output::write_stderr(&as_called(&format!("hint: {hint}")));
    }
    code(error)
}

/// Commands in a text as whoever runs the program from its sources would type them.
pub fn as_called(text: &str) -> Cow<'_, str> {
    // set by `cargo run` for the program that it starts
    let by_cargo = std::env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME"));
    if !by_cargo {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.replace("`hingenet ", "`cargo run --release -- ")
            .replace("  hingenet ", "  cargo run --release -- "),
    )
}

fn hint(error: &anyhow::Error) -> Option<&str> {
    if let Some(usage) = error.downcast_ref::<Usage>() {
        return Some(&usage.hint);
    }
    error.downcast_ref::<Error>().and_then(Error::hint)
}

fn code(error: &anyhow::Error) -> u8 {
    if error.is::<Usage>() {
        return 2;
    }
    match error.downcast_ref::<Error>() {
        Some(Error::Interrupted) => 130,
        Some(Error::Parameter { .. } | Error::Unsupported { .. }) => 2,
        Some(Error::Numeric { .. }) | None => 1,
        Some(_) => 3,
    }
}
