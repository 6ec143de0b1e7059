//! How often the values of a numeric column occur with each class, gathered piece by piece: what MDL cuts are learnt
//! from. Every distinct value has its bin while there are at most [`MOST_BINS`]; beyond that neighbouring values share
//! one. Which do depends on the values alone, not on their order or on how they came in pieces.

use super::mdl::Blocks;
use super::slots::{NO_BIN, Slots};
use hingenet_base::error::{Error, Result, require_len};

/// Most bins of a column. Cuts are exact for columns of fewer distinct values.
pub const MOST_BINS: usize = 1 << 16;

/// A whole number in the order of the numbers it stands for.
pub(super) fn ordered_key(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits(); // −0 is 0
    let sign = (bits as i64 >> 63) as u64;
    bits ^ (sign | 1 << 63)
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
    /// Low bits of a key that do not count.
    shift: u32,
    slots: Slots,
    /// Of each bin its smallest and its largest value: with the slots they fit into a near cache, where cells are looked up.
    ends: Vec<[f64; 2]>,
    /// The rows of bin v and class c at `v K + c`.
    rows: Vec<u64>,
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

/// The bins of some cells, numbered as they came to be.
#[derive(Debug, Clone, Default)]
pub struct BinCells {
    /// The bin of each cell; 0 where it is missing.
    pub bins: Vec<u16>,
    /// The cells that are missing.
    pub gaps: Vec<u32>,
}

/// Where bins went: whenever they were made coarser, the new number of each.
pub type BinMoves = Vec<Vec<u16>>;

/// Cells that are looked up together.
const BATCH: usize = 64;

impl ValueCounts {
    /// No values, and so many classes.
    pub fn new(n_classes: usize) -> Self {
        ValueCounts::with_shift(n_classes, 0)
    }

    fn with_shift(n_classes: usize, shift: u32) -> Self {
        ValueCounts { n_classes, shift, slots: Slots::default(), ends: Vec::new(), rows: Vec::new() }
    }

    /// Counts from arrays; nothing is believed.
    pub fn from_arrays(n_classes: usize, arrays: &ValueArrays) -> Result<Self> {
        let ValueArrays { shift, low, high, rows } = arrays;
        require_len("upper ends of bins", low.len(), high.len())?;
        require_len("rows of bins", low.len().saturating_mul(n_classes), rows.len())?;
        let bin = |x: f64| ordered_key(x).checked_shr(*shift);
        let fits = |(a, b): (&f64, &f64)| a.is_finite() && b.is_finite() && a <= b && bin(*a) == bin(*b);
        let is_ordered = low.iter().skip(1).zip(high).all(|(next, last)| bin(*next) > bin(*last));
        if !(low.iter().zip(high).all(fits) && is_ordered && *shift < 64 && low.len() <= MOST_BINS) {
            return Err(Error::model_file("the values of a column are not in order"));
        }
        let mut counts = ValueCounts::with_shift(n_classes, *shift);
        for v in 0..low.len() {
            let rows = &rows[v * n_classes..][..n_classes];
            counts.insert([low[v], high[v]], rows.iter().copied().enumerate());
        }
        Ok(counts)
    }

    /// Whether the values can be those of so many rows of each class.
    pub fn are_of(&self, class_rows: &[u64]) -> bool {
        let of_class =
            |c: usize| (0..self.n_bins()).try_fold(0u64, |sum, v| sum.checked_add(self.rows(v)[c]));
        (0..self.n_classes).all(|c| of_class(c).is_some_and(|n| n <= class_rows[c]))
    }

    /// The arrays, bins in ascending order.
    pub fn arrays(&self) -> ValueArrays {
        let order = self.order();
        ValueArrays {
            shift: self.shift,
            low: order.iter().map(|&v| self.ends[v][0]).collect(),
            high: order.iter().map(|&v| self.ends[v][1]).collect(),
            rows: order.iter().flat_map(|&v| self.rows(v).iter().copied()).collect(),
        }
    }

    /// Number of bins.
    pub fn n_bins(&self) -> usize {
        self.slots.n_bins()
    }

    /// Memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.ends[..]) + size_of_val(&self.rows[..]) + self.slots.bytes()
    }

    /// Smallest and largest value.
    pub fn range(&self) -> Option<[f64; 2]> {
        self.ends.iter().copied().reduce(|[a, b], [low, high]| [a.min(low), b.max(high)])
    }

    /// The smallest value of each bin, in the order in which they came to be.
    pub fn lows(&self) -> Vec<f64> {
        self.ends.iter().map(|[low, _]| *low).collect()
    }

    /// Counts a value of so many equal rows of a class.
    #[inline]
    pub fn add(&mut self, x: f64, class: usize, rows: u64) {
        let x = x + 0.0; // −0 is 0
        let v = self.bin(x);
        self.count(v, x, class, rows);
        if self.n_bins() > MOST_BINS {
            self.coarsen();
        }
    }

    /// Counts a column: cells (NaN where missing) with the class and the weight of each. Gives the bin of each cell, which
    /// the bins may leave later on: `moves` has where they went.
    pub fn add_cells(
        &mut self,
        cells: &[f64],
        class: &[usize],
        weights: &[u64],
        moves: &mut BinMoves,
    ) -> BinCells {
        let mut found = BinCells { bins: vec![0; cells.len()], gaps: Vec::new() };
        let mut likely = [0; BATCH];
        for (at, batch) in cells.chunks(BATCH).enumerate() {
            self.look_up(batch, &mut likely);
            let mut is_stale = false;
            for (m, (&x, &likely)) in (at * BATCH..).zip(batch.iter().zip(&likely)) {
                if x.is_nan() {
                    found.gaps.push(m as u32);
                    continue;
                }
                let x = x + 0.0; // −0 is 0
                let v = if is_stale || likely == NO_BIN { self.bin(x) } else { likely as usize };
                self.count(v, x, class[m], weights[m]);
                found.bins[m] = v as u16;
                if self.n_bins() > MOST_BINS {
                    let to = self.coarsen();
                    found.bins[..m].iter_mut().for_each(|bin| *bin = to[usize::from(*bin)]);
                    // its own bin has a number beyond those of a cell
                    found.bins[m] = to[v];
                    moves.push(to);
                    is_stale = true;
                }
            }
        }
        found
    }

    /// The bins of some values as far as the first look finds them, [`NO_BIN`] for others. No look waits for another one, so
    /// all of them wait for the memory at once.
    fn look_up(&self, cells: &[f64], likely: &mut [u32]) {
        for (v, x) in likely.iter_mut().zip(cells) {
            *v = self.slots.first(ordered_key(*x) >> self.shift);
        }
        for (v, x) in likely.iter_mut().zip(cells) {
            let [low, _] = self.ends.get(*v as usize).copied().unwrap_or_default();
            let is_it = (ordered_key(low) ^ ordered_key(*x)) >> self.shift == 0;
            *v = if is_it { *v } else { NO_BIN };
        }
    }

    /// Adds the counts of another piece, whose class c is `classes[c]` here.
    pub fn merge(&mut self, other: &ValueCounts, classes: &[usize]) {
        self.shift_to(other.shift);
        for v in 0..other.n_bins() {
            let rows = other.rows(v).iter().zip(classes);
            self.insert(other.ends[v], rows.map(|(n, c)| (*c, *n)));
        }
        if self.n_bins() > MOST_BINS {
            self.coarsen();
        }
    }

    /// The same counts, bins as they are numbered, where class c has become `classes[c]` of so many.
    pub fn with_classes(&self, n_classes: usize, classes: &[usize]) -> Self {
        let mut counts = ValueCounts::with_shift(n_classes, self.shift);
        counts.merge(self, classes);
        counts
    }

    /// MDL cuts (`mdl::cuts`) of the values.
    pub fn cuts(&self) -> Vec<f64> {
        let mut blocks = Blocks::default();
        for v in self.order() {
            let rows = self.rows(v).iter().enumerate().filter(|(_, n)| **n > 0);
            blocks.push(self.ends[v], rows.map(|(c, n)| (c, *n as f64)));
        }
        blocks.cuts(self.n_classes)
    }

    fn rows(&self, v: usize) -> &[u64] {
        &self.rows[v * self.n_classes..][..self.n_classes]
    }

    /// Counts a value of a bin.
    #[inline]
    fn count(&mut self, v: usize, x: f64, class: usize, rows: u64) {
        widen(&mut self.ends[v], [x, x]);
        self.rows[v * self.n_classes + class] += rows;
    }

    /// Adds rows, each with its class, whose values lie between two ends.
    fn insert(&mut self, ends: [f64; 2], rows: impl Iterator<Item = (usize, u64)>) -> usize {
        let v = self.bin(ends[0]);
        widen(&mut self.ends[v], ends);
        let of_bin = &mut self.rows[v * self.n_classes..][..self.n_classes];
        rows.for_each(|(c, n)| of_bin[c] += n);
        v
    }

    /// The bin of a value, a new one if need be.
    #[inline]
    fn bin(&mut self, x: f64) -> usize {
        let (shift, ends) = (self.shift, &self.ends);
        let key_of = |v: usize| ordered_key(ends[v][0]) >> shift;
        let v = self.slots.find_or_add(ordered_key(x) >> shift, key_of);
        if v == self.ends.len() {
            self.ends.push([x; 2]);
            self.rows.resize((v + 1) * self.n_classes, 0);
        }
        v
    }

    /// The bins in ascending order.
    fn order(&self) -> Vec<usize> {
        let low = self.lows();
        let mut order: Vec<usize> = (0..low.len()).collect();
        order.sort_unstable_by(|&a, &b| low[a].total_cmp(&low[b]));
        order
    }

    /// Leaves out as many low bits of the keys as it takes; where each bin went.
    #[cold]
    fn coarsen(&mut self) -> Vec<u16> {
        let shift = self.shift;
        let keys: Vec<u64> = self.order().iter().map(|&v| ordered_key(self.ends[v][0]) >> shift).collect();
        self.shift_to(shift + coarse_shift(keys.into_iter()))
    }

    /// Leaves out so many low bits, if they are more than now; where each bin went.
    fn shift_to(&mut self, shift: u32) -> Vec<u16> {
        if shift <= self.shift {
            return Vec::new();
        }
        let fine = std::mem::replace(self, ValueCounts::with_shift(self.n_classes, shift));
        let moved = |v: usize| self.insert(fine.ends[v], fine.rows(v).iter().copied().enumerate()) as u16;
        (0..fine.n_bins()).map(moved).collect()
    }
}

/// Widens a bin to hold these ends too.
#[inline]
fn widen(ends: &mut [f64; 2], [low, high]: [f64; 2]) {
    if low < ends[0] {
        ends[0] = low;
    }
    if high > ends[1] {
        ends[1] = high;
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

    /// Cells keep their bins through every coarsening, in pieces of any size.
    #[test]
    fn cells_are_found_in_their_bins_again() {
        let rows = rows(3 * MOST_BINS, 5);
        let cells: Vec<f64> =
            rows.iter().enumerate().map(|(m, r)| if m % 9 == 4 { f64::NAN } else { r.0 }).collect();
        let class: Vec<usize> = rows.iter().map(|r| r.1).collect();
        let weights = vec![1; rows.len()];
        let (mut counts, mut moves) = (ValueCounts::new(3), BinMoves::new());
        let mut pieces = Vec::new();
        for start in (0..rows.len()).step_by(10_007) {
            let part = start..(start + 10_007).min(rows.len());
            let found = counts.add_cells(
                &cells[part.clone()],
                &class[part.clone()],
                &weights[part.clone()],
                &mut moves,
            );
            pieces.push((part, moves.len(), found));
        }
        assert!(moves.len() > 1);
        let mut plain = ValueCounts::new(3);
        cells.iter().zip(&class).filter(|(x, _)| !x.is_nan()).for_each(|(x, c)| plain.add(*x, *c, 1));
        assert_eq!(counts.arrays(), plain.arrays());
        let cuts = counts.cuts();
        let lows = counts.lows();
        for (part, seen, found) in pieces {
            for (at, m) in part.enumerate() {
                assert_eq!(cells[m].is_nan(), found.gaps.binary_search(&(at as u32)).is_ok());
                if !cells[m].is_nan() {
                    let bin = moves[seen..].iter().fold(found.bins[at], |bin, to| to[usize::from(bin)]);
                    let state = |x: f64| cuts.partition_point(|cut| *cut < x);
                    assert_eq!(state(lows[usize::from(bin)]), state(cells[m]));
                }
            }
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
