//! Smoothed frequencies of discrete features.

use super::kernel::one_row;

/// Frequencies of the cells of a table, `(count + α) / (m + α cells)`.
#[derive(Debug, Clone)]
pub struct Counts {
    /// Weighted count of each cell.
    counts: Vec<f64>,
    total: f64,
    pseudo_count: f64,
    /// Training rows behind the counts, ascending, with their weights.
    rows: Vec<usize>,
    weights: Vec<f64>,
}

impl Counts {
    /// Counts the given rows; `cell` says where each belongs.
    pub(super) fn new(
        cells: usize,
        rows: Vec<usize>,
        weights: Vec<f64>,
        pseudo_count: f64,
        cell: impl Fn(usize) -> usize,
    ) -> Self {
        let mut counts = vec![0.0; cells];
        rows.iter().zip(&weights).for_each(|(&r, w)| counts[cell(r)] += w);
        Counts { total: counts.iter().sum(), counts, pseudo_count, rows, weights }
    }

    /// Weighted count of a cell.
    pub(super) fn count(&self, cell: usize) -> f64 {
        self.counts[cell]
    }

    /// Training rows behind the counts, ascending.
    pub(super) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Logarithm of the frequency of a cell, without the row of the query if that is a training row.
    pub(super) fn log_share(&self, cell: usize, own: Option<usize>) -> f64 {
        let place = own.and_then(|r| self.rows.binary_search(&r).ok());
        let less = place.map_or(0.0, |k| one_row(self.weights[k]));
        let count = (self.counts[cell] - less).max(0.0);
        let m = self.total - less + self.pseudo_count * self.counts.len() as f64;
        ((count + self.pseudo_count) / m).ln()
    }
}
