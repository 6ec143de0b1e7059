//! How often the values of a numeric column occur with each class, gathered piece by piece: what MDL cuts are learnt
//! from. Every distinct value has its bin while there are at most [`MOST_BINS`]; beyond that neighbouring values share
//! one. Which do depends on the values alone, not on their order or on how they came in pieces.

use super::grid::Grid;
use super::mdl::Blocks;
use super::order::{Order, ascending};
use crate::table::{Keyed, KeyedPart, NO_KEY};
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
    /// The bins by their values; they are numbered as they came to be.
    order: Order,
    /// Where a value that was met before has its bin.
    grid: Grid,
    /// Of each bin its smallest and its largest value.
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

/// Cells that are placed at a time: each may need a bin of its own before there are too many.
const BATCH: usize = 1 << 18;
/// All bins are brought near before they are met by chance if they are no more for each value.
const NEAR: usize = 8;
/// Most counts by key and class, so that they stay in a near cache, and most for each cell.
const MOST_COUNTS: usize = 1 << 20;
const COUNTS_OF_CELL: usize = 8;

impl ValueCounts {
    /// No values, and so many classes.
    pub fn new(n_classes: usize) -> Self {
        ValueCounts::with_shift(n_classes, 0)
    }

    fn with_shift(n_classes: usize, shift: u32) -> Self {
        ValueCounts { n_classes, shift, ..ValueCounts::default() }
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
        let of_bin = |v: usize| rows[v * n_classes..][..n_classes].iter().copied().enumerate();
        counts.place(low.len(), |_| true, |v| [low[v], high[v]], of_bin);
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
        ValueArrays {
            shift: self.shift,
            low: self.ordered().map(|v| self.ends[v][0]).collect(),
            high: self.ordered().map(|v| self.ends[v][1]).collect(),
            rows: self.ordered().flat_map(|v| self.rows(v).iter().copied()).collect(),
        }
    }

    /// Number of bins.
    pub fn n_bins(&self) -> usize {
        self.order.len()
    }

    /// Memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.ends[..]) + size_of_val(&self.rows[..]) + self.order.bytes() + self.grid.bytes()
    }

    /// Smallest and largest value.
    pub fn range(&self) -> Option<[f64; 2]> {
        self.ends.iter().copied().reduce(|[a, b], [low, high]| [a.min(low), b.max(high)])
    }

    /// The smallest value of each bin, in the order in which they came to be.
    pub fn lows(&self) -> Vec<f64> {
        self.ends.iter().map(|[low, _]| *low).collect()
    }

    /// Counts a column: cells (NaN where missing) with the class and the weight of each, 1 without weights. Gives the bin of
    /// each cell, which the bins may leave later on: `moves` has where they went.
    pub fn add_cells(
        &mut self,
        cells: &[f64],
        class: &[u16],
        weights: Option<&[u64]>,
        moves: &mut BinMoves,
    ) -> BinCells {
        let mut found = BinCells::default();
        self.add_to(&mut found, cells, (class, weights), moves);
        found
    }

    /// The same for cells that are keys of values: they are counted by key, and each value is looked up once.
    pub fn add_keyed(
        &mut self,
        keyed: &Keyed,
        class: &[u16],
        weights: Option<&[u64]>,
        moves: &mut BinMoves,
    ) -> BinCells {
        let mut found = BinCells { bins: Vec::with_capacity(keyed.len()), gaps: Vec::new() };
        for part in keyed.parts() {
            let start = found.bins.len();
            let rows = start..start + part.keys().len();
            let class = &class[rows.clone()];
            match weights {
                None if self.is_worth_counting(part) => {
                    self.add_part(&mut found, part, class, moves);
                }
                _ => {
                    let cells: Vec<f64> = part.cells().collect();
                    self.add_to(&mut found, &cells, (class, weights.map(|all| &all[rows])), moves);
                }
            }
        }
        found
    }

    /// Whether counts of all values by class are no trouble for these cells.
    fn is_worth_counting(&self, part: &KeyedPart) -> bool {
        let counts = part.values().len().saturating_mul(self.n_classes);
        counts <= MOST_COUNTS.min(COUNTS_OF_CELL * part.keys().len())
    }

    /// Counts cells behind those that were found.
    fn add_to(
        &mut self,
        found: &mut BinCells,
        cells: &[f64],
        (class, weights): (&[u16], Option<&[u64]>),
        moves: &mut BinMoves,
    ) {
        let gaps = (found.bins.len()..).zip(cells).filter(|(_, x)| x.is_nan());
        found.gaps.extend(gaps.map(|(m, _)| m as u32));
        let row = |m: usize| [(class[m].into(), weights.map_or(1, |w| w[m]))];
        for start in (0..cells.len()).step_by(BATCH) {
            let some = &cells[start..cells.len().min(start + BATCH)];
            let (is_known, ends) = (|m: usize| !some[m].is_nan(), |m: usize| [some[m]; 2]);
            self.grid.choose(some.iter().copied().filter(|x| !x.is_nan()));
            let mut bins = self.place(some.len(), is_known, ends, |m| row(start + m));
            self.bound(&mut bins, &mut found.bins, moves);
            found.bins.extend(bins.iter().map(|bin| *bin as u16));
        }
    }

    /// Counts cells that are keys.
    fn add_part(&mut self, found: &mut BinCells, part: &KeyedPart, class: &[u16], moves: &mut BinMoves) {
        let (k, values) = (self.n_classes, part.values());
        // missing cells have a place behind the values
        let place = |key: &u32| (*key as usize).min(values.len());
        let mut counts = vec![0u32; (values.len() + 1) * k];
        part.keys().iter().zip(class).for_each(|(key, c)| counts[place(key) * k + usize::from(*c)] += 1);
        let (counts, missing) = counts.split_at(values.len() * k);
        if missing.iter().any(|n| *n > 0) {
            let gaps = (found.bins.len()..).zip(part.keys()).filter(|(_, key)| **key == NO_KEY);
            found.gaps.extend(gaps.map(|(m, _)| m as u32));
        }
        let rows = |v: usize| counts[v * k..][..k].iter().map(|n| u64::from(*n)).enumerate();
        let occurs = |v: usize| counts[v * k..][..k].iter().any(|n| *n > 0);
        self.grid.choose(values.iter().copied().filter(|x| !x.is_nan()));
        let mut bins = self.place(values.len(), occurs, |v| [values[v]; 2], rows);
        self.bound(&mut bins, &mut found.bins, moves);
        let bins: Vec<u16> = bins.iter().map(|bin| *bin as u16).chain([0]).collect();
        found.bins.extend(part.keys().iter().map(|key| bins[place(key)]));
    }

    /// Adds things, those that count, each with its smallest and its largest value and its rows of classes. The number of the
    /// bin of each.
    fn place<R: IntoIterator<Item = (usize, u64)>>(
        &mut self,
        n: usize,
        counts: impl Fn(usize) -> bool,
        ends_of: impl Fn(usize) -> [f64; 2],
        rows_of: impl Fn(usize) -> R,
    ) -> Vec<u32> {
        let ValueCounts { n_classes, shift, order, grid, ends, rows } = self;
        let (mut bins, mut keys) = (vec![0; n], Vec::new());
        let add_rows = |rows: &mut [u64], bin: usize, m: usize| {
            let of_bin = &mut rows[bin * *n_classes..][..*n_classes];
            rows_of(m).into_iter().for_each(|(c, n)| of_bin[c] += n);
        };
        if NEAR * n > order.len() {
            bring_near(rows);
        }
        for m in (0..n).filter(|m| counts(*m)) {
            let [low, high] = ends_of(m);
            match grid.place(low).filter(|_| low == high).and_then(|place| grid.bin(place)) {
                Some(bin) => {
                    add_rows(rows, bin, m);
                    bins[m] = bin as u32;
                }
                None => keys.push((ordered_key(low) >> *shift, m as u32)),
            }
        }
        for (m, v) in order.find_or_add(ascending(keys, n)) {
            let (m, bin) = (m as usize, v as usize);
            let [low, high] = ends_of(m).map(|x| x + 0.0); // −0 is 0
            if bin == ends.len() {
                ends.push([low, high]);
                rows.resize((bin + 1) * *n_classes, 0);
            }
            widen(&mut ends[bin], [low, high]);
            if let Some(place) = grid.place(low) {
                // if the value is an end of a wider bin, it is no news there either
                grid.keep(place, bin);
            }
            add_rows(rows, bin, m);
            bins[m] = v;
        }
        bins
    }

    /// Makes bins coarser if there are too many. Those that were just found, and those before, get their new numbers.
    fn bound(&mut self, bins: &mut [u32], before: &mut [u16], moves: &mut BinMoves) {
        if self.n_bins() <= MOST_BINS {
            return;
        }
        let to = self.coarsen();
        bins.iter_mut().for_each(|bin| *bin = to[*bin as usize].into());
        before.iter_mut().for_each(|bin| *bin = to[usize::from(*bin)]);
        moves.push(to);
    }

    /// Adds the counts of another piece, whose class c is `classes[c]` here.
    pub fn merge(&mut self, other: &ValueCounts, classes: &[usize]) {
        self.shift_to(other.shift);
        let rows = |v: usize| other.rows(v).iter().zip(classes).map(|(n, c)| (*c, *n));
        self.place(other.n_bins(), |_| true, |v| other.ends[v], rows);
        if self.n_bins() > MOST_BINS {
            self.coarsen();
        }
    }

    /// The same counts, bins as they are numbered, where class c has become `classes[c]` of so many.
    pub fn with_classes(&self, n_classes: usize, classes: &[usize]) -> Self {
        let mut rows = vec![0; self.n_bins() * n_classes];
        for (to, from) in
            rows.chunks_exact_mut(n_classes.max(1)).zip(self.rows.chunks_exact(self.n_classes.max(1)))
        {
            from.iter().zip(classes).for_each(|(n, c)| to[*c] += n);
        }
        ValueCounts { n_classes, rows, ..self.clone() }
    }

    /// MDL cuts (`mdl::cuts`) of the values.
    pub fn cuts(&self) -> Vec<f64> {
        let mut blocks = Blocks::default();
        for v in self.ordered() {
            let rows = self.rows(v).iter().enumerate().filter(|(_, n)| **n > 0);
            blocks.push(self.ends[v], rows.map(|(c, n)| (c, *n as f64)));
        }
        blocks.cuts(self.n_classes)
    }

    fn rows(&self, v: usize) -> &[u64] {
        &self.rows[v * self.n_classes..][..self.n_classes]
    }

    /// The bins in ascending order.
    fn ordered(&self) -> impl Iterator<Item = usize> + '_ {
        self.order.numbers().iter().map(|v| *v as usize)
    }

    /// Leaves out as many low bits of the keys as it takes; where each bin went.
    #[cold]
    fn coarsen(&mut self) -> Vec<u16> {
        let shift = self.shift;
        let keys: Vec<u64> = self.ordered().map(|v| ordered_key(self.ends[v][0]) >> shift).collect();
        self.shift_to(shift + coarse_shift(keys.into_iter()))
    }

    /// Leaves out so many low bits, if they are more than now; where each bin went.
    fn shift_to(&mut self, shift: u32) -> Vec<u16> {
        if shift <= self.shift {
            return Vec::new();
        }
        let mut fine = std::mem::replace(self, ValueCounts::with_shift(self.n_classes, shift));
        self.grid = std::mem::take(&mut fine.grid).without_bins();
        let rows = |v: usize| fine.rows(v).iter().copied().enumerate();
        let to = self.place(fine.n_bins(), |_| true, |v| fine.ends[v], rows);
        to.into_iter().map(|v| v as u16).collect()
    }
}

/// Reads some of every cache line, one behind the other: it comes from a far memory three times faster than when each is met by
/// chance.
fn bring_near(rows: &[u64]) {
    std::hint::black_box(rows.iter().step_by(8).fold(0, |sum: u64, n| sum.wrapping_add(*n)));
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
        let (values, class): (Vec<f64>, Vec<u16>) = rows.iter().map(|&(x, c)| (x, c as u16)).unzip();
        counts.add_cells(&values, &class, None, &mut BinMoves::new());
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
        let class: Vec<u16> = rows.iter().map(|r| r.1 as u16).collect();
        let (mut counts, mut moves) = (ValueCounts::new(3), BinMoves::new());
        let mut pieces = Vec::new();
        for start in (0..rows.len()).step_by(10_007) {
            let part = start..(start + 10_007).min(rows.len());
            let found = counts.add_cells(&cells[part.clone()], &class[part.clone()], None, &mut moves);
            pieces.push((part, moves.len(), found));
        }
        assert!(moves.len() > 1);
        let known: Vec<_> =
            rows.into_iter().enumerate().filter(|(m, _)| m % 9 != 4).map(|(_, row)| row).collect();
        assert_eq!(counts.arrays(), counted(&known).arrays());
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

    /// Of lists with values that stand in no cell, some larger than the cells there are; with weights, and with few values.
    #[cfg(feature = "parquet")]
    #[test]
    fn cells_that_are_keys_are_counted_as_their_values() {
        for (n, size, digits) in [(500, 300, 1.0), (3 * MOST_BINS, 10_007, 1e9), (9_000, 4_000, 10.0)] {
            let rows = rows(n, 6);
            let value = |(m, row): (usize, &(f64, usize))| match m % 7 {
                3 => f64::NAN,
                _ => (row.0 * digits).round() / digits,
            };
            let cells: Vec<f64> = rows.iter().enumerate().map(value).collect();
            let class: Vec<u16> = rows.iter().map(|r| r.1 as u16).collect();
            let mut keyed = Keyed::default();
            for part in cells.chunks(size) {
                let mut values = vec![1e300];
                let mut keys = std::collections::HashMap::new();
                let mut key = |x: f64| {
                    *keys.entry(x.to_bits()).or_insert_with(|| {
                        values.push(x);
                        values.len() as u32 - 1
                    })
                };
                let keys: Vec<u32> = part.iter().map(|x| if x.is_nan() { NO_KEY } else { key(*x) }).collect();
                keyed.push(&values.into(), &keys);
            }
            let weights: Vec<u64> = (0..n as u64).map(|m| 1 + m % 3).collect();
            for weights in [None, Some(&weights[..])] {
                let [mut by_cell, mut by_key] = [ValueCounts::new(3), ValueCounts::new(3)];
                let [mut cell_moves, mut key_moves] = [BinMoves::new(), BinMoves::new()];
                let of_cells = by_cell.add_cells(&cells, &class, weights, &mut cell_moves);
                let of_keys = by_key.add_keyed(&keyed, &class, weights, &mut key_moves);
                assert_eq!(by_key.arrays(), by_cell.arrays());
                assert!(by_key.range().unwrap()[1] < 1e300);
                assert_eq!((of_keys.gaps, of_keys.bins.len()), (of_cells.gaps, n));
                let [key_lows, cell_lows] = [by_key.lows(), by_cell.lows()];
                for m in (0..n).filter(|m| !cells[*m].is_nan()) {
                    let [a, b] = [of_keys.bins[m], of_cells.bins[m]];
                    assert_eq!(key_lows[usize::from(a)], cell_lows[usize::from(b)], "cell {m}");
                }
            }
        }
    }

    #[test]
    fn classes_that_come_later_find_their_place() {
        let mut first = ValueCounts::new(1);
        first.add_cells(&[-0.0], &[0], Some(&[2]), &mut BinMoves::new());
        let mut all = first.with_classes(2, &[1]);
        let mut second = ValueCounts::new(2);
        second.add_cells(&[5.0, 0.0], &[1, 0], Some(&[4, 1]), &mut BinMoves::new());
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
