//! Distinct texts of a column, numbered in order of appearance: an open-addressing hash table whose
//! slots are four bytes. Texts of at most 15 bytes are compared as one 16-byte word.

use std::hash::BuildHasher;

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
/// First byte of the word of a longer text; the rest is its place in the arena.
const LONG: u128 = 0xff << 120;
/// A slot holds 12 bits of the hash above 20 bits of the entry's number plus one; 0 is empty.
const ENTRY_BITS: u32 = 20;

/// Distinct texts, each with a code given by the caller.
pub(super) struct Dictionary {
    seeds: (u64, u64),
    slots: Vec<u32>,
    /// One word per entry: the text, or the place (offset, length) of a long text.
    words: Vec<u128>,
    codes: Vec<u16>,
    arena: Vec<u8>,
}

impl Dictionary {
    /// An empty dictionary. The hash is seeded at random, so no file can be made to collide on purpose;
    /// codes do not depend on it.
    pub(super) fn new() -> Self {
        let state = std::hash::RandomState::new();
        Dictionary {
            seeds: (state.hash_one(1), state.hash_one(2)),
            slots: vec![0; 64],
            words: Vec::new(),
            codes: Vec::new(),
            arena: Vec::new(),
        }
    }

    /// The code of a text, if it has one.
    #[inline]
    pub(super) fn find(&self, cell: Cell<'_>) -> Option<u16> {
        if cell.len <= SHORT {
            let word = cell.word();
            self.probe(self.hash_word(word), |entry| self.words[entry] == word)
        } else {
            self.find_long(cell)
        }
    }

    fn find_long(&self, cell: Cell<'_>) -> Option<u16> {
        self.probe(self.hash_long(cell.bytes()), |entry| {
            self.words[entry] >= LONG && self.long_text(self.words[entry]) == cell.bytes()
        })
    }

    /// Adds a text that is not there yet. There may be fewer than 2^20 texts.
    pub(super) fn insert(&mut self, cell: Cell<'_>, code: u16) {
        debug_assert!(self.find(cell).is_none() && self.words.len() + 1 < 1 << ENTRY_BITS);
        if 2 * (self.words.len() + 1) > self.slots.len() {
            self.grow();
        }
        let word = if cell.len <= SHORT {
            cell.word()
        } else {
            let place = (self.arena.len() as u128) | ((cell.len as u128) << 60);
            self.arena.extend_from_slice(cell.bytes());
            LONG | place
        };
        self.words.push(word);
        self.codes.push(code);
        self.place(self.words.len() - 1);
    }

    /// All texts with their codes, in order of insertion.
    pub(super) fn iter(&self) -> impl Iterator<Item = (String, u16)> + '_ {
        let text = |word: u128| match word >= LONG {
            true => String::from_utf8_lossy(self.long_text(word)).into_owned(),
            false => {
                let len = (word >> 120) as usize;
                String::from_utf8_lossy(&word.to_le_bytes()[..len.min(SHORT)]).into_owned()
            }
        };
        self.words.iter().zip(&self.codes).map(move |(&word, &code)| (text(word), code))
    }

    fn long_text(&self, word: u128) -> &[u8] {
        let place = word & !LONG;
        let start = (place & ((1 << 60) - 1)) as usize;
        &self.arena[start..start + (place >> 60) as usize]
    }

    #[inline]
    fn probe(&self, hash: u64, same: impl Fn(usize) -> bool) -> Option<u16> {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 52) as u32;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            let entry = (slot & ((1 << ENTRY_BITS) - 1)) as usize - 1;
            if slot >> ENTRY_BITS == tag && same(entry) {
                return Some(self.codes[entry]);
            }
            at = (at + 1) & mask;
        }
    }

    /// Puts an entry into the first free slot of its chain.
    fn place(&mut self, entry: usize) {
        let word = self.words[entry];
        let hash = if word >= LONG { self.hash_long(self.long_text(word)) } else { self.hash_word(word) };
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = ((hash >> 52) as u32) << ENTRY_BITS | (entry as u32 + 1);
    }

    fn grow(&mut self) {
        self.slots = vec![0; 4 * self.slots.len()];
        (0..self.words.len()).for_each(|entry| self.place(entry));
    }

    #[inline]
    fn hash_word(&self, word: u128) -> u64 {
        fold(word as u64 ^ self.seeds.0, (word >> 64) as u64 ^ self.seeds.1)
    }

    fn hash_long(&self, text: &[u8]) -> u64 {
        let mut hash = self.seeds.0 ^ text.len() as u64;
        for chunk in text.chunks(8) {
            let mut bytes = [0u8; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            hash = fold(hash ^ u64::from_le_bytes(bytes), self.seeds.1);
        }
        hash
    }
}

/// Both halves of the product, mixed.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b | 1);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

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
        assert_eq!(dictionary.iter().count(), known.len());
        assert!(dictionary.iter().all(|(text, code)| known[text.as_str()] == code));
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
