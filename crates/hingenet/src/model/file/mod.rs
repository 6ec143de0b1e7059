//! The model file `.hgn`: what cannot be read back is never written, loading checks everything.

mod container;
mod discrete;
mod plain;
mod pool;
mod store;
mod strict;

pub use container::Container;

use super::{Fitted, Model};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::file;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Bytes that a number of a table takes while its file is made: as a JSON value, then in its section and in the file.
const NUMBER: f64 = 48.0;

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

    /// Asks for the memory of [`Self::to_bytes`] before it is taken. Only the tables of densities can be so large, or so
    /// often copied, that it is more than the fit has taken.
    #[doc(hidden)]
    pub fn reserve_file(&self, control: &Control) -> Result<()> {
        let Fitted::Density(model) = &self.fitted else { return Ok(()) };
        let numbers = model.summary.table_numbers;
        let hint =
            "fit to fewer columns, keep fewer pairs (slb with `fraction`), or allow more (`--max-memory`)";
        control.reserve(
            NUMBER * numbers as f64,
            format!("a model file with {numbers} numbers in its tables"),
            hint,
        )
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
        opened(path.as_ref(), |file| store::unpack(Container::read(file)?))
    }

    /// What a model file says about itself, without reading the parameters.
    pub fn read_header(path: impl AsRef<Path>) -> Result<serde_json::Value> {
        opened(path.as_ref(), |file| store::checked_header(Container::read_about(file)?))
    }
}

/// What `read` makes of a file; errors name the file.
fn opened<T>(path: &Path, read: impl FnOnce(BufReader<File>) -> Result<T>) -> Result<T> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    read(BufReader::new(file)).map_err(|e| named(path, e))
}

/// The error of a damaged file with the file's name.
fn named(path: &Path, error: Error) -> Error {
    match error {
        Error::Io { source, .. } => Error::io(path, source),
        Error::ModelFile { problem, hint } => {
            Error::ModelFile { problem: format!("{}: {problem}", path.display()), hint }
        }
        other => other,
    }
}
