//! Discretisation by recursive entropy splits with the minimum description length stopping rule.
//! One sort per column; every segment then costs O(V K) for V distinct values and K classes.
//!
//! Fayyad, Irani: Multi-interval discretization of continuous-valued attributes for classification
//! learning, IJCAI 1993.

use super::values::{coarse_shift, ordered_key};
use crate::table::Codes;
use hingenet_base::error::{Error, Result};
use std::collections::BTreeMap;

/// A later candidate must gain this much more (bits), so ties go to the lower cut.
const TIE: f64 = 1e-12;

/// Cut points of a numeric column, ascending; `x <= cut` lies below the cut.
///
/// With N the total weight of a segment, k the number of its classes and E its class entropy in bits,
/// the cut of largest gain `E − (N₁E₁ + N₂E₂)/N` is accepted iff
///
/// ```text
/// gain > [ log₂(N − 1) + log₂(3ᵏ − 2) − (k E − k₁E₁ − k₂E₂) ] / N
/// ```
///
/// and both halves are treated alike. Candidates lie half-way between adjacent distinct values, except
/// where both carry one and the same class. Rows with NaN, without class or with weight zero do not
/// count, so weights equal repetition. For total weights below 2 the first logarithm is taken as 0.
/// Infinite values and weights that are negative or not finite are errors. Of more than
/// [`MOST_BINS`](super::MOST_BINS) distinct values, neighbours share a bin, and cuts lie between bins.
pub fn cuts(values: &[f64], class: &Codes, n_classes: usize, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    Ok(Blocks::new(rows(values, class, n_classes, weights)?).coarse().cuts(n_classes))
}

/// The middle of `low < high`, computed so that it overflows for no input and stays below `high`.
fn between(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    if middle >= high { low } else { middle }
}

/// One training row: value, class, weight.
type Row = (f64, usize, f64);

/// The rows that count, ordered by value, then class, then weight, so that row order never matters.
fn rows(values: &[f64], class: &Codes, n_classes: usize, weights: Option<&[f64]>) -> Result<Vec<Row>> {
    let mut rows = Vec::with_capacity(values.len());
    for (m, (&x, c)) in values.iter().zip(class.iter()).enumerate() {
        let s = weights.map_or(1.0, |w| w[m]);
        if x.is_infinite() || !(s.is_finite() && s >= 0.0) || c.is_some_and(|c| c >= n_classes) {
            return Err(Error::data(
                format!("row {}: value {x}, weight {s}, class {c:?} cannot be discretised", m + 1),
                "values must be finite, weights finite and not negative",
            ));
        }
        if let Some(c) = c.filter(|_| !x.is_nan() && s > 0.0) {
            rows.push((x + 0.0, c, s)); // −0 and 0 are one value
        }
    }
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.total_cmp(&b.2)));
    Ok(rows)
}

/// Class weights per distinct value, or bin of neighbouring values: bin v has the entries `starts[v]..starts[v + 1]`.
#[derive(Default)]
pub(super) struct Blocks {
    /// Smallest and largest value of each bin.
    ranges: Vec<[f64; 2]>,
    starts: Vec<usize>,
    /// (class, weight), one entry per class that occurs with the value.
    entries: Vec<(usize, f64)>,
}

impl Blocks {
    fn new(rows: Vec<Row>) -> Self {
        let mut blocks = Blocks::default();
        for (x, c, s) in rows {
            if blocks.ranges.last() != Some(&[x, x]) {
                blocks.push([x, x], [(c, s)]);
                continue;
            }
            match blocks.entries.last_mut() {
                Some(last) if last.0 == c => last.1 += s,
                _ => blocks.entries.push((c, s)),
            }
        }
        blocks
    }

    /// One more bin, above all others, with the classes that occur in it in ascending order.
    pub(super) fn push(&mut self, range: [f64; 2], entries: impl IntoIterator<Item = (usize, f64)>) {
        self.ranges.push(range);
        self.starts.push(self.entries.len());
        self.entries.extend(entries);
    }

    /// At most [`MOST_BINS`] bins.
    fn coarse(self) -> Self {
        let shift = coarse_shift(self.ranges.iter().map(|range| ordered_key(range[0])));
        if shift == 0 {
            return self;
        }
        let bin = |v: usize| ordered_key(self.ranges[v][0]) >> shift;
        let mut coarse = Blocks::default();
        let mut from = 0;
        while from < self.ranges.len() {
            let to = (from..self.ranges.len()).find(|&v| bin(v) != bin(from)).unwrap_or(self.ranges.len());
            let mut classes: BTreeMap<usize, f64> = BTreeMap::new();
            (from..to)
                .for_each(|v| self.entries(v).iter().for_each(|(c, s)| *classes.entry(*c).or_default() += s));
            coarse.push([self.ranges[from][0], self.ranges[to - 1][1]], classes);
            from = to;
        }
        coarse
    }

    /// The cuts, ascending.
    pub(super) fn cuts(&self, n_classes: usize) -> Vec<f64> {
        let (mut cuts, mut segments) = (Vec::new(), vec![(0, self.ranges.len())]);
        while let Some((from, to)) = segments.pop() {
            if let Some(at) = best_cut(self, n_classes, from, to) {
                cuts.push(between(self.ranges[at - 1][1], self.ranges[at][0]));
                segments.push((from, at));
                segments.push((at, to));
            }
        }
        cuts.sort_by(f64::total_cmp);
        cuts
    }

    fn entries(&self, v: usize) -> &[(usize, f64)] {
        let end = self.starts.get(v + 1).copied().unwrap_or(self.entries.len());
        &self.entries[self.starts[v]..end]
    }

    /// The only class that occurs with value `v`, if there is only one.
    fn single_class(&self, v: usize) -> Option<usize> {
        match self.entries(v) {
            [(c, _)] => Some(*c),
            _ => None,
        }
    }
}

/// Class weights of a part of a segment. The number of entries tells whether a class is present,
/// because a weight computed as a difference may be left with rounding dust.
struct Part {
    weight: Vec<f64>,
    entries: Vec<usize>,
}

impl Part {
    fn new(n_classes: usize) -> Self {
        Part { weight: vec![0.0; n_classes], entries: vec![0; n_classes] }
    }

    fn add(&mut self, block: &[(usize, f64)]) {
        for &(c, s) in block {
            self.weight[c] += s;
            self.entries[c] += 1;
        }
    }

    /// What is left of `whole` without `part`.
    fn set_difference(&mut self, whole: &Part, part: &Part) {
        for c in 0..self.weight.len() {
            self.entries[c] = whole.entries[c] - part.entries[c];
            let rest = (whole.weight[c] - part.weight[c]).max(0.0);
            self.weight[c] = if self.entries[c] == 0 { 0.0 } else { rest };
        }
    }

    /// (N, k, N E): total weight, classes present, entropy in bits times N.
    fn entropy(&self) -> (f64, f64, f64) {
        let (mut n, mut k) = (0.0, 0);
        for (&s, &present) in self.weight.iter().zip(&self.entries) {
            n += s;
            k += usize::from(present > 0);
        }
        if k < 2 {
            return (n, k as f64, 0.0); // exactly 0 for a pure part
        }
        let sum: f64 = self.weight.iter().filter(|s| **s > 0.0).map(|s| s * (s / n).log2()).sum();
        (n, k as f64, -sum)
    }
}

/// The first value of the upper half, if a cut of the values `from..to` is accepted.
fn best_cut(blocks: &Blocks, n_classes: usize, from: usize, to: usize) -> Option<usize> {
    let [mut whole, mut left, mut right] = std::array::from_fn(|_| Part::new(n_classes));
    (from..to).for_each(|v| whole.add(blocks.entries(v)));
    let (n, k, n_e) = whole.entropy();
    if k < 2.0 {
        return None;
    }
    let mut best: Option<(f64, usize, f64)> = None; // gain, cut, k₁E₁ + k₂E₂
    for at in from + 1..to {
        left.add(blocks.entries(at - 1));
        let single = blocks.single_class(at - 1);
        if single.is_some() && single == blocks.single_class(at) {
            continue; // not a boundary point
        }
        right.set_difference(&whole, &left);
        let (n1, k1, n1_e1) = left.entropy();
        let (n2, k2, n2_e2) = right.entropy();
        let gain = (n_e - n1_e1 - n2_e2) / n;
        if best.is_none_or(|(most, ..)| gain > most + TIE) {
            best = Some((gain, at, k1 * n1_e1 / n1 + k2 * n2_e2 / n2));
        }
    }
    let (gain, at, halves) = best?;
    let cost = (n - 1.0).max(1.0).log2() + log2_three_to_the_minus_two(k) - (k * n_e / n - halves);
    (gain > cost / n).then_some(at)
}

/// `log₂(3ᵏ − 2)`, without overflow for many classes.
fn log2_three_to_the_minus_two(k: f64) -> f64 {
    k * 3f64.log2() + (-2.0 * 3f64.powf(-k)).ln_1p() / std::f64::consts::LN_2
}
