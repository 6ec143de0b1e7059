//! How often the values of a numeric column occur with each class, gathered piece by piece: what MDL cuts are learnt
//! from. Every distinct value has its bin while there are at most [`MOST_BINS`]; beyond that neighbouring values share
//! one. Which do depends on the values alone, not on their order or on how they came in pieces.

use super::mdl::Blocks;
use hingenet_base::error::{Error, Result, require_len};
use rustc_hash::FxHashMap;

/// Most bins of a column. Cuts are exact for columns of fewer distinct values.
pub const MOST_BINS: usize = 1 << 16;

/// A whole number in the order of the numbers it stands for.
pub(super) fn ordered_key(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits(); // −0 is 0
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The smallest number of low bits to leave out of ascending keys so that at most [`MOST_BINS`] distinct ones are left.
/// More keys never need fewer, which is why pieces can be coarsened before all of them are known.
pub(super) fn coarse_shift(keys: impl ExactSizeIterator<Item = u64> + Clone) -> u32 {
    if keys.len() <= MOST_BINS {
        return 0;
    }
    // two neighbours stay apart as long as the highest bit in which they differ is kept
    let mut apart = [0usize; 64];
    for (a, b) in keys.clone().zip(keys.skip(1)) {
        if let Some(highest) = (a ^ b).checked_ilog2() {
            apart[highest as usize] += 1;
        }
    }
    let mut distinct = 1;
    for bit in (0..64).rev() {
        distinct += apart[bit as usize];
        if distinct > MOST_BINS {
            return bit + 1;
        }
    }
    0
}

/// Counts of values and classes.
#[derive(Debug, Clone, Default)]
pub struct ValueCounts {
    n_classes: usize,
    /// The bin of each key.
    bins: FxHashMap<u64, u32>,
    arrays: ValueArrays,
}

/// The counts as plain arrays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValueArrays {
    /// Low bits of a key that do not count.
    pub shift: u32,
    /// Smallest value of each bin.
    pub low: Vec<f64>,
    /// Its largest.
    pub high: Vec<f64>,
    /// Rows of bin v and class c at `v K + c`.
    pub rows: Vec<u64>,
}

impl ValueCounts {
    /// No values, and so many classes.
    pub fn new(n_classes: usize) -> Self {
        ValueCounts::with_shift(n_classes, 0)
    }

    fn with_shift(n_classes: usize, shift: u32) -> Self {
        let arrays = ValueArrays { shift, ..ValueArrays::default() };
        ValueCounts { n_classes, bins: FxHashMap::default(), arrays }
    }

    /// Counts from arrays; nothing is believed.
    pub fn from_arrays(n_classes: usize, arrays: &ValueArrays) -> Result<Self> {
        let ValueArrays { shift, low, high, rows } = arrays;
        require_len("upper ends of bins", low.len(), high.len())?;
        require_len("rows of bins", low.len() * n_classes, rows.len())?;
        let bin = |x: f64| ordered_key(x).checked_shr(*shift);
        let fits = |(a, b): (&f64, &f64)| a.is_finite() && b.is_finite() && a <= b && bin(*a) == bin(*b);
        let is_ordered = low.iter().skip(1).zip(high).all(|(next, last)| bin(*next) > bin(*last));
        if !(low.iter().zip(high).all(fits) && is_ordered && *shift < 64 && low.len() <= MOST_BINS) {
            return Err(Error::model_file("the values of a column are not in order"));
        }
        let mut counts = ValueCounts::with_shift(n_classes, *shift);
        counts.insert(arrays, &(0..n_classes).collect::<Vec<_>>());
        Ok(counts)
    }

    /// The arrays, bins in ascending order.
    pub fn arrays(&self) -> ValueArrays {
        let k = self.n_classes;
        let ValueArrays { shift, low, high, rows } = &self.arrays;
        let order = self.order();
        ValueArrays {
            shift: *shift,
            low: order.iter().map(|&v| low[v]).collect(),
            high: order.iter().map(|&v| high[v]).collect(),
            rows: order.iter().flat_map(|&v| rows[v * k..][..k].iter().copied()).collect(),
        }
    }

    /// Number of bins.
    pub fn n_bins(&self) -> usize {
        self.arrays.low.len()
    }

    /// Smallest and largest value.
    pub fn range(&self) -> Option<[f64; 2]> {
        let low = self.arrays.low.iter().copied().reduce(f64::min)?;
        Some([low, self.arrays.high.iter().copied().fold(low, f64::max)])
    }

    /// Counts a value of so many equal rows of a class.
    #[inline]
    pub fn add(&mut self, x: f64, class: usize, rows: u64) {
        let x = x + 0.0; // −0 is 0
        let v = self.bin(x);
        self.widen(v, x, x);
        self.arrays.rows[v * self.n_classes + class] += rows;
        if self.n_bins() > MOST_BINS {
            self.coarsen();
        }
    }

    /// Adds the counts of another piece, whose class c is `classes[c]` here.
    pub fn merge(&mut self, other: &ValueCounts, classes: &[usize]) {
        self.shift_to(other.arrays.shift);
        self.insert(&other.arrays, classes);
    }

    /// The same counts where class c has become `classes[c]` of so many.
    pub fn with_classes(&self, n_classes: usize, classes: &[usize]) -> Self {
        let mut counts = ValueCounts::with_shift(n_classes, self.arrays.shift);
        counts.insert(&self.arrays, classes);
        counts
    }

    /// MDL cuts (`mdl::cuts`) of the values.
    pub fn cuts(&self) -> Vec<f64> {
        let k = self.n_classes;
        let mut blocks = Blocks::default();
        for v in self.order() {
            let rows = self.arrays.rows[v * k..][..k].iter().enumerate().filter(|(_, n)| **n > 0);
            blocks.push([self.arrays.low[v], self.arrays.high[v]], rows.map(|(c, n)| (c, *n as f64)));
        }
        blocks.cuts(k)
    }

    fn insert(&mut self, arrays: &ValueArrays, classes: &[usize]) {
        for (v, rows) in arrays.rows.chunks_exact(classes.len().max(1)).enumerate() {
            let at = self.bin(arrays.low[v]);
            self.widen(at, arrays.low[v], arrays.high[v]);
            let own = &mut self.arrays.rows[at * self.n_classes..];
            rows.iter().zip(classes).for_each(|(n, &c)| own[c] += n);
        }
        if self.n_bins() > MOST_BINS {
            self.coarsen();
        }
    }

    /// The bin of a value, a new one if need be.
    #[inline]
    fn bin(&mut self, x: f64) -> usize {
        let ValueArrays { shift, low, high, rows } = &mut self.arrays;
        let new = low.len() as u32;
        let v = *self.bins.entry(ordered_key(x) >> *shift).or_insert(new);
        if v == new {
            low.push(x);
            high.push(x);
            rows.resize(rows.len() + self.n_classes, 0);
        }
        v as usize
    }

    #[inline]
    fn widen(&mut self, v: usize, low: f64, high: f64) {
        self.arrays.low[v] = self.arrays.low[v].min(low);
        self.arrays.high[v] = self.arrays.high[v].max(high);
    }

    /// The bins in ascending order.
    fn order(&self) -> Vec<usize> {
        let low = &self.arrays.low;
        let mut order: Vec<usize> = (0..low.len()).collect();
        order.sort_unstable_by(|&a, &b| low[a].total_cmp(&low[b]));
        order
    }

    /// Leaves out as many low bits of the keys as it takes.
    #[cold]
    fn coarsen(&mut self) {
        let shift = self.arrays.shift;
        let keys: Vec<u64> = self.order().iter().map(|&v| ordered_key(self.arrays.low[v]) >> shift).collect();
        self.shift_to(shift + coarse_shift(keys.into_iter()));
    }

    fn shift_to(&mut self, shift: u32) {
        if shift > self.arrays.shift {
            let arrays = std::mem::take(&mut self.arrays);
            *self = ValueCounts::with_shift(self.n_classes, shift);
            self.insert(&arrays, &(0..self.n_classes).collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::mdl;
    use crate::table::Codes;
    use hingenet_base::numeric::random::Random;

    /// Values with classes that depend on them, many of them distinct.
    fn rows(n: usize, seed: u64) -> Vec<(f64, usize)> {
        let mut random = Random::new(seed);
        let row = |_| {
            let x = random.normal() * if random.below(3) == 0 { 1e-3 } else { 10.0 };
            (x, usize::from(x + 3.0 * random.normal() > 0.4) + usize::from(x > 9.0))
        };
        (0..n).map(row).collect()
    }

    fn counted(rows: &[(f64, usize)]) -> ValueCounts {
        let mut counts = ValueCounts::new(3);
        rows.iter().for_each(|&(x, c)| counts.add(x, c, 1));
        counts
    }

    /// Few distinct values, and more than there are bins.
    #[test]
    fn pieces_in_any_order_give_the_cuts_of_the_whole() {
        for n in [0, 1, 500, 3 * MOST_BINS] {
            let rows = rows(n, n as u64);
            let class = Codes::from_options(3, rows.iter().map(|r| Some(r.1)));
            let values: Vec<f64> = rows.iter().map(|r| r.0).collect();
            let want = mdl::cuts(&values, &class, 3, None).unwrap();
            assert_eq!(want.len() > 1, n >= 500, "{want:?}");
            let whole = counted(&rows);
            assert!(whole.n_bins() <= MOST_BINS);
            assert_eq!(whole.cuts(), want);
            for pieces in [2, 7] {
                let mut merged = ValueCounts::new(3);
                let pieces: Vec<ValueCounts> = rows.chunks(n / pieces + 1).map(counted).collect();
                pieces.iter().rev().for_each(|piece| merged.merge(piece, &[0, 1, 2]));
                assert_eq!(merged.arrays(), whole.arrays());
            }
            let again = ValueCounts::from_arrays(3, &whole.arrays()).unwrap();
            assert_eq!(again.arrays(), whole.arrays());
        }
    }

    #[test]
    fn classes_that_come_later_find_their_place() {
        let mut first = ValueCounts::new(1);
        first.add(-0.0, 0, 2);
        let mut all = first.with_classes(2, &[1]);
        let mut second = ValueCounts::new(2);
        second.add(0.0, 0, 1);
        second.add(5.0, 1, 4);
        all.merge(&second, &[0, 1]);
        assert_eq!(
            all.arrays(),
            ValueArrays { shift: 0, low: vec![0.0, 5.0], high: vec![0.0, 5.0], rows: vec![1, 2, 0, 4] }
        );
        assert_eq!(all.range(), Some([0.0, 5.0]));
    }

    #[test]
    fn hostile_arrays_are_refused() {
        let arrays = |low: &[f64], high: &[f64], rows: &[u64]| ValueArrays {
            shift: 52,
            low: low.to_vec(),
            high: high.to_vec(),
            rows: rows.to_vec(),
        };
        assert!(ValueCounts::from_arrays(1, &arrays(&[1.0, 2.0], &[1.5, 2.0], &[1, 2])).is_ok());
        for bad in [
            arrays(&[0.0], &[], &[1]),
            arrays(&[0.0], &[1.0], &[1, 2]),
            arrays(&[1.0], &[2.0], &[1]),
            arrays(&[1.0, 1.5], &[1.0, 1.5], &[1, 2]),
            ValueArrays { shift: 64, ..arrays(&[1.0], &[1.5], &[1]) },
            arrays(&[0.0, 0.5], &[1.0, 2.0], &[1, 2]),
            arrays(&[f64::NAN], &[1.0], &[1]),
            arrays(&[2.0], &[1.0], &[1]),
        ] {
            assert!(ValueCounts::from_arrays(1, &bad).is_err(), "{bad:?}");
        }
    }
}
