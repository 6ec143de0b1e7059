//! Blocks of bytes that are read one after the other: in memory while they fit there, else in a temporary file that is
//! gone with the program.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom, Write};

/// Takes a block, with its number.
type Each<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<()>;

/// Blocks, in the order in which they were added.
#[derive(Debug)]
pub(super) struct Store {
    /// Bytes that may stay in memory, and those that do.
    most: usize,
    in_memory: Vec<Vec<u8>>,
    n_bytes: usize,
    /// The blocks behind those in memory.
    file: Option<File>,
    lengths: Vec<usize>,
}

impl Store {
    pub fn new(most: usize) -> Self {
        Store { most, in_memory: Vec::new(), n_bytes: 0, file: None, lengths: Vec::new() }
    }

    /// Adds a block; an error if the temporary folder has no room for it.
    pub fn add(&mut self, block: Vec<u8>) -> Result<()> {
        self.n_bytes += block.len();
        if self.file.is_none() && self.n_bytes <= self.most {
            self.in_memory.push(block);
            return Ok(());
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile()?,
        };
        file.write_all(&block)?;
        self.lengths.push(block.len());
        self.file = Some(file);
        Ok(())
    }

    /// Hands on all blocks.
    pub fn for_each(&mut self, each: Each<'_>) -> Result<()> {
        self.in_memory.iter().enumerate().try_for_each(|(at, block)| each(at, block))?;
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(SeekFrom::Start(0))?;
        let mut block = Vec::new();
        for (at, &length) in (self.in_memory.len()..).zip(&self.lengths) {
            block.resize(length, 0);
            file.read_exact(&mut block)?;
            each(at, &block)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Store;

    #[test]
    fn blocks_come_back_as_often_as_asked_from_memory_and_from_a_file() {
        for most in [0, 25, 1000] {
            let mut store = Store::new(most);
            let blocks: Vec<Vec<u8>> = (0..7).map(|k| vec![k; 3 * usize::from(k)]).collect();
            blocks.iter().for_each(|block| store.add(block.clone()).unwrap());
            assert_eq!(store.file.is_some(), most < 63);
            for _ in 0..2 {
                let mut seen = Vec::new();
                let mut keep = |at: usize, block: &[u8]| {
                    assert_eq!(at, seen.len());
                    seen.push(block.to_vec());
                    Ok(())
                };
                store.for_each(&mut keep).unwrap();
                assert_eq!(seen, blocks);
            }
        }
    }
}
