//! The model file `.hgn`: what cannot be read back is never written, loading checks everything.

mod container;
mod discrete;
mod plain;
mod pool;
mod store;

pub use container::Container;

use super::Model;
use hingenet_base::error::{Error, Result};
use hingenet_data::file;
use std::fs::File;
use std::path::Path;

impl Model {
    /// The bytes of the model file, which [`Self::from_bytes`] has read back: a fit whose numbers overflowed must not
    /// replace a good file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes = store::pack(self)?.to_bytes()?;
        match Self::from_bytes(&bytes) {
            Ok(_) => Ok(bytes),
            Err(Error::ModelFile { problem, .. }) => Err(Error::numeric(
                self.spec.to_string(),
                format!(
                    "the fit holds numbers that no model file can hold ({problem}); are values, weights or options extreme?"
                ),
            )),
            Err(other) => Err(other),
        }
    }

    /// Reads and checks the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        store::unpack(Container::from_bytes(bytes)?)
    }

    /// Writes the model file as [`file::write`] does; on failure no file, or the old one, is there.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::write(path.as_ref(), &self.to_bytes()?)
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
