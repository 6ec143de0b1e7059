//! The program `hingenet` within the package: the same compiled code serves estimators and the shell.

use pyo3::prelude::*;
use std::ffi::OsString;

/// The exit code of a Rust program that panics.
const PANICKED: u8 = 101;

/// Runs the program with these words, of which the first is its name; gives the exit code. Once in a process.
#[pyfunction]
pub fn run_program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    // a panic has told its message already
    py.detach(|| std::panic::catch_unwind(|| hingenet_cli::run(words))).unwrap_or(PANICKED)
}
