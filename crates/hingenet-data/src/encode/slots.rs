//! Where the bins of keys stand: a table of numbers that fits into a near cache, because it leaves the keys with the bins.

use std::hash::{BuildHasher, RandomState};

/// Bits of a slot that are the number of a bin; the others are bits of the hash, so that hardly any wrong bin is looked at.
const NUMBER: u32 = 17;
/// No bin, and a slot without one.
pub(super) const NO_BIN: u32 = u32::MAX;
/// Slots of a table that begins.
const FIRST: usize = 64;

/// Numbers of bins by their keys, at most 2^17 − 1 of them.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    slots: Vec<u32>,
    n_bins: usize,
    /// Chosen at random, so that no file can be made to collide on purpose; the numbers of bins do not depend on it.
    seed: u64,
}

impl Default for Slots {
    fn default() -> Self {
        Slots { slots: vec![NO_BIN; FIRST], n_bins: 0, seed: RandomState::new().hash_one(FIRST) }
    }
}

impl Slots {
    /// Number of bins.
    #[inline]
    pub fn n_bins(&self) -> usize {
        self.n_bins
    }

    /// Memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.slots[..])
    }

    /// The number of the bin that a key very likely has, if it stands where it should or in the next slot.
    #[inline]
    pub fn first(&self, key: u64) -> u32 {
        let (hash, mask) = (self.hash(key), self.slots.len() - 1);
        let at = hash as usize & mask;
        let [slot, next] = [self.slots[at], self.slots[(at + 1) & mask]];
        let slot = if slot >> NUMBER == tag(hash) { slot } else { next };
        if slot >> NUMBER == tag(hash) { slot & ((1 << NUMBER) - 1) } else { NO_BIN }
    }

    /// The number of the bin of a key, the next one if it has none yet. `key_of` gives the key of each bin before.
    #[inline]
    pub fn find_or_add(&mut self, key: u64, key_of: impl Fn(usize) -> u64) -> usize {
        let hash = self.hash(key);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == NO_BIN {
                return self.add(hash, at, key_of);
            }
            let v = (slot & ((1 << NUMBER) - 1)) as usize;
            if slot >> NUMBER == tag(hash) && key_of(v) == key {
                return v;
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn add(&mut self, hash: u64, at: usize, key_of: impl Fn(usize) -> u64) -> usize {
        let v = self.n_bins;
        self.slots[at] = v as u32 | tag(hash) << NUMBER;
        self.n_bins += 1;
        if 2 * self.n_bins > self.slots.len() {
            self.grow(hash, key_of);
        }
        v
    }

    /// Twice as many slots. The key of the last bin is not known yet, but its hash is.
    fn grow(&mut self, last: u64, key_of: impl Fn(usize) -> u64) {
        let mask = 2 * self.slots.len() - 1;
        self.slots = vec![NO_BIN; mask + 1];
        for v in 0..self.n_bins {
            let hash = if v + 1 == self.n_bins { last } else { self.hash(key_of(v)) };
            let mut at = hash as usize & mask;
            while self.slots[at] != NO_BIN {
                at = (at + 1) & mask;
            }
            self.slots[at] = v as u32 | tag(hash) << NUMBER;
        }
    }

    #[inline]
    fn hash(&self, key: u64) -> u64 {
        let product = u128::from(key ^ self.seed) * 0x9e37_79b9_7f4a_7c15;
        product as u64 ^ (product >> 64) as u64
    }
}

/// High bits of a hash; never all of them, so that no slot of a bin looks empty.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash >> (64 + NUMBER - u32::BITS)) as u32 & !1
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn every_key_keeps_its_number() {
        let keys: Vec<u64> = (0..70_000).map(|v: u64| (v * v) << (v % 40)).collect();
        let (mut slots, mut bins) = (Slots::default(), Vec::new());
        for _ in 0..2 {
            for &key in &keys {
                let v = slots.find_or_add(key, |v| bins[v]);
                if v == bins.len() {
                    bins.push(key);
                }
                assert_eq!(bins[v], key);
            }
        }
        let distinct: std::collections::BTreeSet<u64> = keys.into_iter().collect();
        assert_eq!(bins.len(), distinct.len());
    }
}
