//! Rows counted in fine bins of one feature or of two, by class. Counts are whole numbers, so it does not matter in which
//! pieces the rows come.

use crate::columns::Kind;
use hingenet_base::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Bins lie within this number on either side of 0.
const FARTHEST: i32 = (1 << 23) - 1;

/// Classes that have room in a key.
pub(crate) const MOST_CLASSES: usize = 1 << 16;

/// How one feature is cut into bins: of a number the step between them, of a discrete one its codes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Side {
    /// Bins of this width.
    Steps(f64),
    /// So many codes.
    Codes(usize),
}

impl Side {
    pub fn new(kind: Kind, step: f64) -> Self {
        match kind {
            Kind::Continuous => Side::Steps(step),
            Kind::Discrete(levels) => Side::Codes(levels),
        }
    }

    pub fn fits(&self, kind: Kind) -> bool {
        match (self, kind) {
            (Side::Steps(step), Kind::Continuous) => step.is_finite() && *step > 0.0,
            (Side::Codes(n), Kind::Discrete(levels)) => *n == levels,
            _ => false,
        }
    }

    /// The bin of a value that is there.
    pub fn bin(&self, x: f64) -> i32 {
        match self {
            Side::Steps(step) => ((x / step).floor() as i32).clamp(-FARTHEST, FARTHEST),
            Side::Codes(_) => x as i32,
        }
    }

    /// The middle of a bin.
    pub fn value(&self, bin: i32) -> f64 {
        match self {
            Side::Steps(step) => (f64::from(bin) + 0.5) * step,
            Side::Codes(_) => f64::from(bin),
        }
    }

    fn has(&self, bin: i32) -> bool {
        match self {
            Side::Steps(_) => bin.abs() <= FARTHEST,
            Side::Codes(n) => usize::try_from(bin).is_ok_and(|code| code < *n),
        }
    }
}

/// A bin of a class: the class, then the bins of the two sides, in an order that is that of numbers.
pub(super) fn key(class: usize, bins: [i32; 2]) -> u64 {
    let [a, b] = bins.map(|bin| (bin + FARTHEST + 1) as u64);
    (class as u64) << 48 | a << 24 | b
}

/// What [`key`] was made of.
pub(super) fn unpacked(key: u64) -> (usize, [i32; 2]) {
    let bin = |bits: u64| (bits & 0xff_ffff) as i32 - FARTHEST - 1;
    ((key >> 48) as usize, [bin(key >> 24), bin(key)])
}

/// Rows of each bin that has some, in the order of the keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BinCounts {
    /// Class and bins.
    pub keys: Vec<u64>,
    /// Rows.
    pub rows: Vec<u64>,
}

impl BinCounts {
    /// Counts rows by their keys.
    pub(super) fn of(mut rows: Vec<(u64, u64)>) -> Self {
        rows.sort_unstable_by_key(|(key, _)| *key);
        let mut counts = BinCounts::default();
        rows.into_iter().for_each(|(key, n)| counts.push(key, n));
        counts
    }

    fn push(&mut self, key: u64, n: u64) {
        match (self.keys.last(), self.rows.last_mut()) {
            (Some(last), Some(rows)) if *last == key => *rows = rows.saturating_add(n),
            _ => {
                self.keys.push(key);
                self.rows.push(n);
            }
        }
    }

    /// Adds the counts of other rows.
    pub fn merge(&mut self, other: &BinCounts) {
        let ours = std::mem::take(self);
        let mut ours = ours.keys.into_iter().zip(ours.rows).peekable();
        let mut theirs = other.keys.iter().copied().zip(other.rows.iter().copied()).peekable();
        loop {
            let next = match (ours.peek(), theirs.peek()) {
                (Some(a), Some(b)) if a.0 <= b.0 => ours.next(),
                (Some(_), None) => ours.next(),
                (_, Some(_)) => theirs.next(),
                (None, None) => return,
            };
            next.into_iter().for_each(|(key, n)| self.push(key, n));
        }
    }

    /// Refuses bins that the sides do not have (for what is read from a file).
    pub(super) fn check(&self, n_classes: usize, sides: [Side; 2]) -> Result<()> {
        let is_bin = |key: &u64| {
            let (class, bins) = unpacked(*key);
            class < n_classes && sides.iter().zip(bins).all(|(side, bin)| side.has(bin))
        };
        let fits = self.keys.len() == self.rows.len()
            && self.keys.windows(2).all(|w| w[0] < w[1])
            && self.keys.iter().all(is_bin)
            && self.rows.iter().all(|n| (1..1 << 53).contains(n));
        if fits { Ok(()) } else { Err(Error::model_file("the bins do not fit the columns")) }
    }

    /// Place of a key, if it has rows.
    pub(super) fn place(&self, key: u64) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }
}
