//! A file that several threads read at places of their own. (Handles that the system makes of one share their place.)

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A file that is open for all its columns.
#[derive(Clone)]
pub(super) struct SharedFile {
    file: Arc<Mutex<File>>,
    length: u64,
}

impl SharedFile {
    pub(super) fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(SharedFile { file: Arc::new(Mutex::new(file)), length })
    }
}

/// Reads on from a place.
pub(super) struct From {
    file: SharedFile,
    at: u64,
}

impl Read for From {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let mut file = self.file.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let n = file.read(bytes)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(From { file: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF("a part is longer than the file".into()));
        }
        let mut bytes = vec![0; length];
        From { file: self.clone(), at: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
