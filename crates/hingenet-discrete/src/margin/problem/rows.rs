//! The rows of a margin problem: equal rows merged into weights, and of each row only the cells that
//! depend on the class. For node i those are the entries `w^i_{x_i|c, rest}` for all classes c; such K
//! entries form a group, and the solvers keep them side by side (vector `v`, group by group), so the
//! scores of all classes are sums of short contiguous pieces.

use super::block::ScoreBlock;
use super::layout::Layout;
use super::loss::MarginLoss;
use crate::tally::Digit;
use crate::{Samples, Structure};
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::simd::vectorised;
use hingenet_base::numeric::sum::{add_into, ordered_chunks};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

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
    layout: Arc<Layout>,
    n_classes: usize,
    /// Class-dependent nodes: the class first, then its children.
    slots: usize,
    /// Group of each row and slot, row by row.
    groups: Vec<u32>,
    class: Vec<u32>,
    weight: Vec<f64>,
}

impl MarginRows {
    /// Takes the class-dependent cells of complete rows and merges equal rows; rows of weight 0 vanish.
    pub fn new(structure: &Structure, samples: &Samples) -> Result<Self> {
        require_complete(samples)?;
        let layout = Arc::new(Layout::new(structure));
        let cells = group_rows(structure, samples, &layout);
        let mut rows = MarginRows::empty(layout);
        rows.merge(&cells, &sorted_rows(structure, samples, &rows.layout, &cells), samples);
        Ok(rows)
    }

    /// Complete rows as they are, but sorted by class: for a look at some rows, where merging them costs more than it saves.
    pub(super) fn unmerged(structure: &Structure, layout: &Arc<Layout>, samples: &Samples) -> Result<Self> {
        require_complete(samples)?;
        let groups = group_rows(structure, samples, layout);
        let class: Vec<u32> = samples.column(0).iter().map(|c| c.unwrap_or(0) as u32).collect();
        let mut of_class = vec![Vec::new(); layout.n_classes()];
        class.iter().enumerate().for_each(|(m, c)| of_class[*c as usize].push(m));
        let order = of_class.concat();
        let mut rows = MarginRows::empty(layout.clone());
        rows.groups = vec![0; groups.len()];
        let places = rows.groups.par_chunks_exact_mut(rows.slots).zip(&order).with_min_len(BLOCK);
        places.for_each(|(place, &m)| place.copy_from_slice(&groups[m * rows.slots..(m + 1) * rows.slots]));
        rows.class = order.iter().map(|&m| class[m]).collect();
        rows.weight = order.iter().map(|&m| samples.weight(m)).collect();
        Ok(rows)
    }

    fn empty(layout: Arc<Layout>) -> Self {
        let (n_classes, slots) = (layout.n_classes(), layout.n_slots());
        MarginRows { layout, n_classes, slots, groups: vec![], class: vec![], weight: vec![] }
    }

    /// The given rows, in ascending order; cells and groups stay.
    pub fn subset(&self, kept: &[usize]) -> MarginRows {
        MarginRows {
            groups: kept.iter().flat_map(|&m| self.groups(m)).copied().collect(),
            class: kept.iter().map(|&m| self.class[m]).collect(),
            weight: kept.iter().map(|&m| self.weight[m]).collect(),
            ..MarginRows::empty(self.layout.clone())
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
        self.layout.n_cells()
    }

    /// Where the cells stand.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Entry in w of each cell of `v`.
    pub fn entries(&self) -> &[u32] {
        self.layout.entries()
    }

    /// Number of class-dependent nodes.
    pub fn n_slots(&self) -> usize {
        self.slots
    }

    /// First group of each class-dependent node, and the number of groups at the end.
    pub fn slot_groups(&self) -> &[usize] {
        self.layout.slot_groups()
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
        self.layout.gather(w)
    }

    /// Adds `v` to the class-dependent entries of a vector laid out as w.
    pub fn scatter_add(&self, v: &[f64], w: &mut [f64]) {
        self.layout.scatter_add(v, w);
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

/// Refuses rows with missing cells.
fn require_complete(samples: &Samples) -> Result<()> {
    match samples.has_missing() {
        false => Ok(()),
        true => Err(Error::data(
            "rows with missing cells cannot be used in a margin",
            "complete them first (completion-EM), or remove them",
        )),
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
fn group_rows(structure: &Structure, samples: &Samples, layout: &Layout) -> Vec<u32> {
    let slots = layout.n_slots();
    let mut groups = vec![0; samples.n_rows() * slots];
    groups.par_chunks_mut(BLOCK * slots).enumerate().for_each(|(block, rows)| {
        let range = block * BLOCK..block * BLOCK + rows.len() / slots;
        let mut column = vec![0u32; range.len()];
        for (slot, (&i, &first)) in layout.nodes().iter().zip(layout.slot_groups()).enumerate() {
            column.fill(first as u32);
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
fn sorted_rows(structure: &Structure, samples: &Samples, layout: &Layout, cells: &[u32]) -> Vec<u32> {
    let nodes = layout.nodes();
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
