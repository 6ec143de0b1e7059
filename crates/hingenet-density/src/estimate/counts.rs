//! Smoothed frequencies of discrete features.

use super::kernel::one_row;

/// Pseudo-count α: one row more in every cell.
const PSEUDO_COUNT: f64 = 1.0;

/// Frequencies of the cells of a table, `(count + α) / (m + α cells)`.
#[derive(Debug, Clone)]
pub struct Counts {
    /// Weighted count of each cell.
    pub(super) counts: Vec<f64>,
    total: f64,
    /// Training rows behind the counts, ascending, with their weights.
    pub(super) rows: Vec<usize>,
    weights: Vec<f64>,
}

impl Counts {
    /// Counts the given rows; `cell` says where each belongs.
    pub(super) fn new(
        cells: usize,
        rows: Vec<usize>,
        weights: Vec<f64>,
        cell: impl Fn(usize) -> usize,
    ) -> Self {
        let mut counts = vec![0.0; cells];
        rows.iter().zip(&weights).for_each(|(&r, w)| counts[cell(r)] += w);
        Counts { total: counts.iter().sum(), counts, rows, weights }
    }

    /// Logarithm of the frequency of a cell, without the row of the query if that is a training row.
    pub(super) fn log_share(&self, cell: usize, own: Option<usize>) -> f64 {
        let less = place(&self.rows, own).map_or(0.0, |k| one_row(self.weights[k]));
        let count = (self.counts[cell] - less).max(0.0);
        let m = self.total - less + PSEUDO_COUNT * self.counts.len() as f64;
        ((count + PSEUDO_COUNT) / m).ln()
    }
}

/// Place of a training row among the rows behind an estimate, if it is one of them.
pub(super) fn place(rows: &[usize], own: Option<usize>) -> Option<usize> {
    own.and_then(|r| rows.binary_search(&r).ok())
}
