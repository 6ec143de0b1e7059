//! Results go to stdout or, whole or not at all, to a file.

use crate::failure::usage;
use anyhow::{Context, Result, bail};
use hingenet::model::file::write_atomically;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Fails before the work starts if the folder of an output file is not there, or if the file is one that is read.
pub fn check(path: Option<&PathBuf>, inputs: &[&Path]) -> Result<()> {
    let Some(path) = path.filter(|p| is_file(p)) else { return Ok(()) };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!("cannot write {}: the folder {} does not exist", path.display(), folder.display());
    }
    if path.is_dir() {
        bail!("cannot write {}: it is a folder", path.display());
    }
    let same =
        |input: &&&Path| path.canonicalize().ok().is_some_and(|p| input.canonicalize().ok() == Some(p));
    match inputs.iter().find(same) {
        Some(input) => Err(usage(
            format!("{} is an input and would be overwritten", input.display()),
            "give the output another name",
        )),
        None => Ok(()),
    }
}

/// Writes to the file (through a temporary file that is renamed), or to stdout if there is none or `-`.
pub fn write(path: Option<&PathBuf>, bytes: &[u8]) -> Result<()> {
    match path.filter(|p| is_file(p)) {
        None => write_stdout(bytes),
        Some(path) => write_atomically(path, bytes).map_err(|e| anyhow::anyhow!("cannot write {e}")),
    }
}

/// Whether the path names a file rather than stdout.
pub fn is_file(path: &Path) -> bool {
    path != Path::new("-")
}

/// A line for people. Nobody may be listening any more, which is no reason to stop.
pub fn write_stderr(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn write_stdout(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // whoever reads us has seen enough, as in `hingenet models | head`
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}
