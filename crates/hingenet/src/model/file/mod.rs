//! The model file `.hgn`: saving is atomic and synced, loading checks everything.

mod container;
mod discrete;
mod plain;
mod pool;
mod store;

pub use container::Container;

use super::Model;
use hingenet_base::error::{Error, Result};
use std::fs::File;
use std::io::Write;
use std::path::Path;

impl Model {
    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        store::pack(self)?.to_bytes()
    }

    /// Reads and checks the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        store::unpack(Container::from_bytes(bytes)?)
    }

    /// Writes the model file; on failure no file, or the old one, is there.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path.as_ref(), &self.to_bytes()?)
    }

    /// Reads and checks a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let bytes = std::fs::read(path.as_ref()).map_err(|e| Error::io(path.as_ref(), e))?;
        Self::from_bytes(&bytes).map_err(|e| named(path.as_ref(), e))
    }

    /// What a model file says about itself, without reading the parameters.
    pub fn read_header(path: impl AsRef<Path>) -> Result<serde_json::Value> {
        let file = File::open(path.as_ref()).map_err(|e| Error::io(path.as_ref(), e))?;
        Container::read_about(std::io::BufReader::new(file)).map_err(|e| named(path.as_ref(), e))
    }
}

/// The error of a damaged file with the file's name.
fn named(path: &Path, error: Error) -> Error {
    match error {
        Error::ModelFile { problem, hint } => {
            Error::ModelFile { problem: format!("{}: {problem}", path.display()), hint }
        }
        other => other,
    }
}

/// Writes to a temporary file beside `path`, syncs it, renames it over `path` and syncs the folder.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let attempt = || -> std::io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        // Not every system can sync a folder; the rename itself has happened.
        File::open(folder).and_then(|f| f.sync_all()).or(Ok(()))
    };
    attempt().map_err(|e| {
        // Best effort: the error that counts is the first one.
        std::fs::remove_file(&temporary).ok();
        Error::io(path, e)
    })
}
