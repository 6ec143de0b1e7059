//! The rows of a margin problem: equal rows merged into weights, and of each row only the cells that
//! depend on the class. For node i those are the entries `w^i_{x_i|c, rest}` for all classes c; such K
//! entries form a group, and the solvers keep them side by side (vector `v`, group by group), so the
//! scores of all classes are sums of short contiguous pieces.

use super::block::ScoreBlock;
use super::loss::MarginLoss;
use crate::tally::Digit;
use crate::{Samples, Structure};
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::simd::vectorised;
use hingenet_base::numeric::sum::{add_into, ordered_chunks};
use rayon::prelude::*;
use std::ops::Range;

/// Fewest rows of a parallel chunk, and most chunks: both fixed, so that sums keep their bits.
const CHUNK: usize = 512;
const MAX_CHUNKS: usize = 64;

/// Stands for a number of classes that is not known when compiling.
pub(crate) const ANY: usize = 0;

/// A loss of one row as a function of its K class scores.
pub trait RowLoss: Sync {
    /// Replaces the scores by the derivatives of the loss and returns the loss; `None` (scores left as they
    /// are) when loss and derivatives are all zero.
    fn first(&self, class: usize, weight: f64, scores: &mut [f64]) -> Option<f64>;

    /// As [`RowLoss::first`] for all rows of a block, which have the same class: returns the sum of the losses and
    /// leaves derivatives and rows of those with a loss.
    #[inline(always)]
    fn first_block(&self, class: usize, weights: &[f64], block: &mut ScoreBlock) -> f64 {
        let mut scores = vec![0.0; block.n_classes()];
        let mut total = 0.0;
        block.keep_all(weights.len());
        for (r, &weight) in weights.iter().enumerate() {
            block.read(r, &mut scores);
            match self.first(class, weight, &mut scores) {
                Some(value) => total += value,
                None => scores.fill(0.0),
            }
            block.write(r, &scores);
        }
        total
    }
}

/// Merged rows, sorted by class and cells.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginRows {
    n_classes: usize,
    /// Class-dependent nodes: the class first, then its children.
    slots: usize,
    /// Group of each row and slot, row by row.
    groups: Vec<u32>,
    class: Vec<u32>,
    weight: Vec<f64>,
    /// Entry in w of `group * K + c`.
    entry: Vec<u32>,
    /// First group of each slot; one more entry at the end.
    slot_groups: Vec<usize>,
}

impl MarginRows {
    /// Takes the class-dependent cells of complete rows and merges equal rows; rows of weight 0 vanish.
    pub fn new(structure: &Structure, samples: &Samples) -> Result<Self> {
        if samples.has_missing() {
            return Err(Error::data(
                "rows with missing cells cannot be used in a margin",
                "complete them first (completion-EM), or remove them",
            ));
        }
        let k = structure.n_classes();
        let nodes: Vec<usize> =
            (0..structure.n_nodes()).filter(|&i| i == 0 || structure.is_class_child(i)).collect();
        let mut entry = Vec::new();
        let mut first_group = Vec::with_capacity(nodes.len());
        for &i in &nodes {
            first_group.push((entry.len() / k) as u32);
            let table = structure.table(i);
            // The class has number 0: as a parent it is the most significant digit of the row number.
            let per_class = table.len() / k;
            let (step, count) = if i == 0 { (1, per_class) } else { (per_class, per_class) };
            for g in 0..count {
                let base = table.start + if i == 0 { g * k } else { g };
                entry.extend((0..k).map(|c| (base + c * step) as u32));
            }
        }
        let cells = group_rows(structure, samples, &nodes, &first_group);
        let slot_groups =
            first_group.iter().map(|&g| g as usize).chain(std::iter::once(entry.len() / k)).collect();
        let mut rows = MarginRows {
            n_classes: k,
            slots: nodes.len(),
            groups: vec![],
            class: vec![],
            weight: vec![],
            entry,
            slot_groups,
        };
        rows.merge(&cells, &sorted_rows(structure, samples, &nodes, &cells), samples);
        Ok(rows)
    }

    /// The given rows, in ascending order; cells and groups stay.
    pub fn subset(&self, kept: &[usize]) -> MarginRows {
        MarginRows {
            n_classes: self.n_classes,
            slots: self.slots,
            groups: kept.iter().flat_map(|&m| self.groups(m)).copied().collect(),
            class: kept.iter().map(|&m| self.class[m]).collect(),
            weight: kept.iter().map(|&m| self.weight[m]).collect(),
            entry: self.entry.clone(),
            slot_groups: self.slot_groups.clone(),
        }
    }

    /// Number of merged rows.
    pub fn len(&self) -> usize {
        self.class.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.class.is_empty()
    }

    /// Number of classes K.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Length of `v`: all class-dependent entries.
    pub fn n_cells(&self) -> usize {
        self.entry.len()
    }

    /// Entry in w of each cell of `v`.
    pub fn entries(&self) -> &[u32] {
        &self.entry
    }

    /// Number of class-dependent nodes.
    pub fn n_slots(&self) -> usize {
        self.slots
    }

    /// First group of each class-dependent node, and the number of groups at the end.
    pub fn slot_groups(&self) -> &[usize] {
        &self.slot_groups
    }

    /// Groups of row `m`, one per class-dependent node.
    #[inline]
    pub fn groups(&self, m: usize) -> &[u32] {
        &self.groups[m * self.slots..(m + 1) * self.slots]
    }

    /// Class of row `m`.
    #[inline]
    pub fn class(&self, m: usize) -> usize {
        self.class[m] as usize
    }

    /// Weight s_m of row `m`.
    #[inline]
    pub fn weight(&self, m: usize) -> f64 {
        self.weight[m]
    }

    /// Σ s_m.
    pub fn total_weight(&self) -> f64 {
        self.weight.iter().sum()
    }

    /// The class-dependent entries of a vector laid out as w.
    pub fn gather(&self, w: &[f64]) -> Vec<f64> {
        self.entry.iter().map(|&e| w[e as usize]).collect()
    }

    /// Adds `v` to the class-dependent entries of a vector laid out as w.
    pub fn scatter_add(&self, v: &[f64], w: &mut [f64]) {
        for (&e, x) in self.entry.iter().zip(v) {
            w[e as usize] += x;
        }
    }

    /// Rows of a parallel chunk: enough that summing the gradients of the chunks costs less than making them.
    pub fn chunk(&self) -> usize {
        let per_cell = 2 * self.n_cells() / (self.slots * self.n_classes);
        CHUNK.max(self.len().div_ceil(MAX_CHUNKS)).max(per_cell)
    }

    /// Class scores of row `m` into `scores`.
    #[inline(always)]
    pub fn scores(&self, m: usize, v: &[f64], scores: &mut [f64]) {
        sum_groups(self.groups(m), self.n_classes, v, scores);
    }

    /// Σ of a loss over the rows.
    pub fn loss(&self, v: &[f64], loss: &impl RowLoss) -> f64 {
        let work = |range| {
            vectorised(
                #[inline(always)]
                || self.each_block::<ANY>(range, v, loss, |_, _| ()),
            )
        };
        ordered_chunks(self.len(), self.chunk(), work).into_iter().sum()
    }

    /// Σ of a loss over the rows; its gradient with respect to `v` is added to `gradient`.
    pub fn loss_and_gradient(&self, v: &[f64], loss: &impl RowLoss, gradient: &mut [f64]) -> f64 {
        // A constant number of classes lets the compiler unroll the inner loops.
        let parts = ordered_chunks(self.len(), self.chunk(), |range| {
            vectorised(
                #[inline(always)]
                || match self.n_classes {
                    2 => self.first_chunk::<2>(range, v, loss),
                    3 => self.first_chunk::<3>(range, v, loss),
                    4 => self.first_chunk::<4>(range, v, loss),
                    _ => self.first_chunk::<ANY>(range, v, loss),
                },
            )
        });
        add_parts(parts, gradient)
    }

    /// K classes, or [`ANY`] number of them.
    #[inline(always)]
    fn first_chunk<const K: usize>(
        &self,
        range: Range<usize>,
        v: &[f64],
        loss: &impl RowLoss,
    ) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; v.len()];
        let mut slopes = vec![0.0; self.n_classes];
        let k = if K == ANY { self.n_classes } else { K };
        let total = self.each_block::<K>(
            range,
            v,
            loss,
            #[inline(always)]
            |first, block| {
                for (i, r) in block.kept().enumerate() {
                    block.read(i, &mut slopes);
                    spread_groups(self.groups(first + r), k, &slopes, &mut gradient);
                }
            },
        );
        (total, gradient)
    }

    /// Scores, then losses of a block of rows at a time; `use_block` gets its first row and the derivatives.
    #[inline(always)]
    fn each_block<const K: usize>(
        &self,
        range: Range<usize>,
        v: &[f64],
        loss: &impl RowLoss,
        mut use_block: impl FnMut(usize, &ScoreBlock),
    ) -> f64 {
        let k = if K == ANY { self.n_classes } else { K };
        let mut block = ScoreBlock::new(k);
        let mut scores = vec![0.0; k];
        let mut total = 0.0;
        let mut first = range.start;
        while first < range.end {
            let class = self.class[first];
            let limit = range.end.min(first + ScoreBlock::ROWS);
            let len = self.class[first..limit].iter().take_while(|&&c| c == class).count();
            for r in 0..len {
                sum_groups(self.groups(first + r), k, v, &mut scores);
                block.write(r, &scores);
            }
            total += loss.first_block(class as usize, &self.weight[first..first + len], &mut block);
            use_block(first, &block);
            first += len;
        }
        total
    }

    /// Adds the Hessian of the loss at `v` times `dv` to `out`.
    pub fn hessian_product(&self, v: &[f64], dv: &[f64], loss: &MarginLoss, out: &mut [f64]) {
        let parts = ordered_chunks(self.len(), self.chunk(), |range| {
            vectorised(
                #[inline(always)]
                || (0.0, self.product_chunk(range, v, dv, loss)),
            )
        });
        add_parts(parts, out);
    }
}

impl MarginRows {
    #[inline(always)]
    fn product_chunk(&self, range: Range<usize>, v: &[f64], dv: &[f64], loss: &MarginLoss) -> Vec<f64> {
        let k = self.n_classes;
        let mut product = vec![0.0; v.len()];
        let (mut scores, mut ds) = (vec![0.0; k], vec![0.0; k]);
        for m in range {
            let groups = self.groups(m);
            sum_groups(groups, k, v, &mut scores);
            sum_groups(groups, k, dv, &mut ds);
            if loss.second(self.class(m), self.weight[m], &scores, &mut ds) {
                spread_groups(groups, k, &ds, &mut product);
            }
        }
        product
    }
}

fn add_parts(parts: Vec<(f64, Vec<f64>)>, gradient: &mut [f64]) -> f64 {
    let mut total = 0.0;
    for (value, part) in parts {
        total += value;
        add_into(gradient, &part);
    }
    total
}

/// Classes that are summed together: their sums stay in registers.
const PANEL: usize = 8;

/// Calls `$work::<N>` for panels of N classes that cover `k` of them, widest first.
macro_rules! by_panels {
    ($k:expr, $work:ident, $($argument:expr),+) => {{
        let mut c = 0;
        while $k - c >= PANEL {
            $work::<PANEL>(c, $($argument),+);
            c += PANEL;
        }
        match $k - c {
            0 => {}
            1 => $work::<1>(c, $($argument),+),
            2 => $work::<2>(c, $($argument),+),
            3 => $work::<3>(c, $($argument),+),
            4 => $work::<4>(c, $($argument),+),
            5 => $work::<5>(c, $($argument),+),
            6 => $work::<6>(c, $($argument),+),
            _ => $work::<7>(c, $($argument),+),
        }
    }};
}

/// `scores_c = Σ_groups v[g K + c]`.
#[inline(always)]
pub fn sum_groups(groups: &[u32], k: usize, v: &[f64], scores: &mut [f64]) {
    by_panels!(k, sum_panel, groups, k, v, scores);
}

#[inline(always)]
fn sum_panel<const N: usize>(c: usize, groups: &[u32], k: usize, v: &[f64], scores: &mut [f64]) {
    let mut sums = [0.0; N];
    for &g in groups {
        let at = g as usize * k + c;
        sums.iter_mut().zip(&v[at..at + N]).for_each(|(s, x)| *s += x);
    }
    scores[c..c + N].copy_from_slice(&sums);
}

/// `v[g K + c] += coefficient_c` for every group.
#[inline(always)]
pub fn spread_groups(groups: &[u32], k: usize, coefficients: &[f64], v: &mut [f64]) {
    by_panels!(k, spread_panel, groups, k, coefficients, v);
}

#[inline(always)]
fn spread_panel<const N: usize>(c: usize, groups: &[u32], k: usize, coefficients: &[f64], v: &mut [f64]) {
    let mut panel = [0.0; N];
    panel.copy_from_slice(&coefficients[c..c + N]);
    // Classes far from the margin have no gradient.
    if panel == [0.0; N] {
        return;
    }
    for &g in groups {
        let at = g as usize * k + c;
        v[at..at + N].iter_mut().zip(&panel).for_each(|(x, s)| *x += s);
    }
}

/// Rows of a block that is turned from columns into rows at a time.
const BLOCK: usize = 1024;

/// Groups of all rows, row by row: position in the table with class state 0, plus the slot's first group.
fn group_rows(structure: &Structure, samples: &Samples, nodes: &[usize], first_group: &[u32]) -> Vec<u32> {
    let slots = nodes.len();
    let mut groups = vec![0; samples.n_rows() * slots];
    groups.par_chunks_mut(BLOCK * slots).enumerate().for_each(|(block, rows)| {
        let range = block * BLOCK..block * BLOCK + rows.len() / slots;
        let mut column = vec![0u32; range.len()];
        for (slot, (&i, &first)) in nodes.iter().zip(first_group).enumerate() {
            column.fill(first);
            let r = if i == 0 { 1 } else { structure.card()[i] };
            let parents = structure.dag().parents(i).iter().zip(structure.strides(i));
            let digits = parents.map(|(&p, stride)| (p, stride * r)).chain([(i, 1)]);
            for (v, scale) in digits.filter(|(v, _)| *v != 0) {
                Digit::complete(samples.column(v), scale).add(range.clone(), &mut column);
            }
            rows.iter_mut().skip(slot).step_by(slots).zip(&column).for_each(|(g, c)| *g = *c);
        }
    });
    groups
}

impl MarginRows {
    /// Takes the rows in sorted order and adds the weights of equal neighbours.
    fn merge(&mut self, cells: &[u32], order: &[u32], samples: &Samples) {
        let class = |m: usize| samples.column(0).get(m).unwrap_or(0) as u32;
        self.groups.reserve(order.len() * self.slots);
        for m in order.iter().map(|&m| m as usize) {
            let row = &cells[m * self.slots..(m + 1) * self.slots];
            let last = self.groups.len().saturating_sub(self.slots);
            let same = self.class.last() == Some(&class(m)) && &self.groups[last..] == row;
            match self.weight.last_mut() {
                Some(weight) if same => *weight += samples.weight(m),
                _ => {
                    self.groups.extend_from_slice(row);
                    self.class.push(class(m));
                    self.weight.push(samples.weight(m));
                }
            }
        }
    }
}

/// Rows of positive weight ordered by their states and weight, equal ones side by side, so that the result
/// does not depend on the order they came in.
fn sorted_rows(structure: &Structure, samples: &Samples, nodes: &[usize], cells: &[u32]) -> Vec<u32> {
    let kept = |m: &usize| samples.weight(*m) > 0.0;
    let parents = nodes.iter().flat_map(|&i| structure.dag().parents(i));
    let used: std::collections::BTreeSet<usize> = nodes.iter().chain(parents).copied().collect();
    let card = samples.card();
    let bits = used.iter().map(|&i| (card[i] as f64).log2()).sum::<f64>();
    let weight = |m: usize| samples.weight(m).to_bits();
    if bits < 63.0 {
        // States packed into one word sort much faster than rows compared cell by cell.
        let mut keys = vec![0u64; samples.n_rows()];
        keys.par_chunks_mut(BLOCK).enumerate().for_each(|(block, keys)| {
            for &i in &used {
                let first = block * BLOCK;
                let codes = (first..first + keys.len()).map(|m| samples.column(i).get(m).unwrap_or(0));
                keys.iter_mut().zip(codes).for_each(|(k, c)| *k = *k * card[i] as u64 + c as u64);
            }
        });
        let mut keyed: Vec<(u64, u64, u32)> =
            (0..samples.n_rows()).filter(kept).map(|m| (keys[m], weight(m), m as u32)).collect();
        keyed.par_sort_unstable();
        return keyed.into_iter().map(|(_, _, m)| m).collect();
    }
    let slots = nodes.len();
    let class = samples.column(0);
    let row = |m: usize| &cells[m * slots..(m + 1) * slots];
    let mut order: Vec<u32> = (0..samples.n_rows()).filter(kept).map(|m| m as u32).collect();
    order.par_sort_unstable_by(|&x, &y| {
        let (a, b) = (x as usize, y as usize);
        let by_cells = class.get(a).cmp(&class.get(b)).then_with(|| row(a).cmp(row(b)));
        by_cells.then_with(|| weight(a).cmp(&weight(b))).then(x.cmp(&y))
    });
    order
}
