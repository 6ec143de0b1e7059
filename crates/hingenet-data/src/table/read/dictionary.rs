//! Distinct texts of a column, each with a code. Texts of at most 15 bytes are compared as one 16-byte word.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The text of a cell, with the bytes that follow it in the buffer (they make reading a word cheap).
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    tail: &'a [u8],
    len: usize,
}

impl<'a> Cell<'a> {
    /// The first `len` bytes of `tail`.
    #[inline]
    pub(super) fn new(tail: &'a [u8], len: usize) -> Self {
        Cell { tail, len: len.min(tail.len()) }
    }

    /// The text.
    #[inline]
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.tail[..self.len]
    }

    /// Text and length as one word; only for texts of at most [`SHORT`] bytes.
    #[inline]
    fn word(self) -> u128 {
        let mut bytes = [0u8; 16];
        match self.tail.get(..16) {
            Some(window) => bytes.copy_from_slice(window),
            None => bytes[..self.len].copy_from_slice(self.bytes()),
        }
        let mask = (1u128 << (8 * self.len)) - 1;
        (u128::from_le_bytes(bytes) & mask) | ((self.len as u128) << 120)
    }
}

impl<'a> From<&'a [u8]> for Cell<'a> {
    fn from(text: &'a [u8]) -> Self {
        Cell::new(text, text.len())
    }
}

/// Longest text that is compared as one word.
const SHORT: usize = 15;

/// Distinct texts, each with a code given by the caller.
pub(super) struct Dictionary {
    short: HashMap<u128, u16, Seed>,
    long: HashMap<Vec<u8>, u16>,
}

impl Dictionary {
    /// An empty dictionary. The hash is seeded at random, so no file can be made to collide on purpose;
    /// codes do not depend on it.
    pub(super) fn new() -> Self {
        let state = RandomState::new();
        let seed = Seed(state.hash_one(1), state.hash_one(2));
        Dictionary { short: HashMap::with_hasher(seed), long: HashMap::with_hasher(state) }
    }

    /// The code of a text, if it has one.
    #[inline]
    pub(super) fn find(&self, cell: Cell<'_>) -> Option<u16> {
        if cell.len <= SHORT {
            self.short.get(&cell.word()).copied()
        } else {
            self.long.get(cell.bytes()).copied()
        }
    }

    /// Adds a text that is not there yet.
    pub(super) fn insert(&mut self, cell: Cell<'_>, code: u16) {
        debug_assert!(self.find(cell).is_none());
        if cell.len <= SHORT {
            self.short.insert(cell.word(), code);
        } else {
            self.long.insert(cell.bytes().to_vec(), code);
        }
    }

    /// All texts with their codes, by code.
    pub(super) fn by_code(&self) -> Vec<(u16, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let short = |(word, code): (&u128, &u16)| {
            (*code, text(&word.to_le_bytes()[..((word >> 120) as usize).min(SHORT)]))
        };
        let long = self.long.iter().map(|(bytes, code)| (*code, text(bytes)));
        let mut all: Vec<(u16, String)> = self.short.iter().map(short).chain(long).collect();
        all.sort_unstable();
        all
    }
}

/// Seeds of the hash of words: both halves of a product, mixed.
struct Seed(u64, u64);

struct WordHasher(u64, u64);

impl BuildHasher for Seed {
    type Hasher = WordHasher;

    #[inline]
    fn build_hasher(&self) -> WordHasher {
        WordHasher(self.0, self.1)
    }
}

impl Hasher for WordHasher {
    #[inline]
    fn write_u128(&mut self, word: u128) {
        let product = u128::from(word as u64 ^ self.0) * u128::from(((word >> 64) as u64 ^ self.1) | 1);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u128(u128::from(*b)));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_keep_their_codes() {
        let texts: Vec<String> = (0..40_000).map(|i| "x".repeat(i % 40) + &i.to_string()).collect();
        let mut dictionary = Dictionary::new();
        let mut known: HashMap<&str, u16> = HashMap::new();
        for (i, text) in texts.iter().enumerate() {
            assert_eq!(dictionary.find(text.as_bytes().into()), known.get(text.as_str()).copied());
            if !known.contains_key(text.as_str()) {
                dictionary.insert(text.as_bytes().into(), i as u16);
                known.insert(text, i as u16);
            }
        }
        for (text, code) in &known {
            // the bytes after the cell do not matter
            let longer = format!("{text},more cells follow here");
            assert_eq!(dictionary.find(Cell::new(longer.as_bytes(), text.len())), Some(*code));
        }
        let texts = dictionary.by_code();
        assert_eq!(texts.len(), known.len());
        assert!(texts.iter().all(|(code, text)| known[text.as_str()] == *code));
    }

    #[test]
    fn zero_bytes_and_the_empty_text_are_texts_like_others() {
        let mut dictionary = Dictionary::new();
        for (code, text) in [&b""[..], b"\0", b"\0\0", b"a", b"a\0"].into_iter().enumerate() {
            assert_eq!(dictionary.find(text.into()), None);
            dictionary.insert(text.into(), code as u16);
        }
        assert_eq!(dictionary.find(b"\0\0"[..].into()), Some(2));
    }
}
