//! One row at the tables: its class scores are sums of local terms, one for each feature and one for each kept pair.

use super::{LineTable, PairTable};

/// A row and the log densities of its cells; kept from row to row.
pub(crate) struct Scratch {
    /// The cells; NaN is missing.
    pub row: Vec<f64>,
    /// Log densities of every feature in every class; 0 where missing.
    pub log_density: Vec<Vec<f64>>,
}

impl Scratch {
    /// For rows at these tables.
    pub(crate) fn new(lines: &[LineTable], n_classes: usize) -> Self {
        let d = lines.len();
        Scratch { row: vec![f64::NAN; d], log_density: vec![vec![0.0; n_classes]; d] }
    }

    /// Reads a row: its cells, and their log densities from the tables.
    pub(crate) fn read(&mut self, lines: &[LineTable], cell: impl Fn(usize) -> f64) {
        for (i, (line, t)) in lines.iter().zip(&mut self.log_density).enumerate() {
            self.row[i] = cell(i);
            t.fill(0.0);
            if !self.row[i].is_nan() {
                line.log_densities(self.row[i], t);
            }
        }
    }

    /// Whether no cell is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.row.iter().all(|x| !x.is_nan())
    }

    /// Adds all terms to `base`. A pair with one missing cell has the term of the other feature, else none.
    pub(crate) fn outputs(&self, base: &[f64], lines: &[LineTable], pairs: &[PairTable]) -> Vec<f64> {
        let mut out = base.to_vec();
        for ((line, x), t) in lines.iter().zip(&self.row).zip(&self.log_density) {
            line.add(*x, t, &mut out);
        }
        for table in pairs {
            let (i, j) = table.pair;
            match (self.row[i].is_nan(), self.row[j].is_nan()) {
                (false, false) => table.add(self.row[i], self.row[j], &mut out),
                (false, true) => table.add_marginal(&self.log_density[i], &mut out),
                (true, false) => table.add_marginal(&self.log_density[j], &mut out),
                (true, true) => {}
            }
        }
        out
    }
}
