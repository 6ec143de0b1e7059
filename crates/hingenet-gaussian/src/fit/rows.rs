//! Labelled rows as the family learns from them: nodes (NaN where missing), class, weight.

use crate::features::FeatureMap;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::encode::{Divisor, Standard};
use hingenet_data::rows::Rows;
use hingenet_data::select::draw::Drawn;

/// Refuses a network of fewer nodes than two.
pub(super) fn require_two_nodes(nodes: usize) -> Result<()> {
    if nodes >= 2 {
        return Ok(());
    }
    let problem = format!("a Gaussian network needs at least 2 nodes, found {nodes}");
    Err(Error::data(problem, "add numeric columns, or use another model"))
}

/// Encoded rows.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub x: Matrix,
    pub class: Vec<usize>,
    pub weights: Vec<f64>,
    pub classes: usize,
}

impl Sample {
    /// Encodes training rows.
    pub fn new(rows: &Rows<'_>) -> Result<(FeatureMap, Self)> {
        let features = FeatureMap::learn(rows.features(), rows.weights())?;
        let x = features.encode(rows.features())?;
        require_two_nodes(x.cols())?;
        let (class, weights) = (rows.class_codes(), rows.all_weights());
        Ok((features, Sample { x, class, weights, classes: rows.n_classes() }))
    }

    /// The rows of one class with their weights.
    pub fn of_class(&self, c: usize) -> (Matrix, Vec<f64>) {
        let rows: Vec<usize> = (0..self.class.len()).filter(|&a| self.class[a] == c).collect();
        (self.x.select_rows(&rows), rows.iter().map(|&a| self.weights[a]).collect())
    }

    /// Some of the rows; classes keep their shares.
    pub fn some(&self, drawn: &Drawn) -> Sample {
        let rows = &drawn.rows;
        let class: Vec<usize> = rows.iter().map(|&a| self.class[a]).collect();
        let taken: f64 = rows.iter().map(|&a| self.weights[a]).sum();
        let share = taken / self.weights.iter().sum::<f64>();
        let weights =
            rows.iter().map(|&a| self.weights[a] * share * drawn.stands_for[self.class[a]]).collect();
        Sample { x: self.x.select_rows(rows), class, weights, classes: self.classes }
    }

    /// Number of rows of each class.
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes];
        self.class.iter().for_each(|&c| counts[c] += 1);
        counts
    }

    /// Total weight of each class.
    pub fn class_weights(&self) -> Vec<f64> {
        (0..self.classes).map(|c| self.class_weight(c)).collect()
    }

    /// Total weight of a class.
    pub fn class_weight(&self, c: usize) -> f64 {
        self.class.iter().zip(&self.weights).filter(|(k, _)| **k == c).map(|(_, w)| w).sum()
    }

    /// Some rows to learn from and others to judge on, both standardised on the first: held-out rows must not enter
    /// means and deviations.
    pub fn split(&self, inside: &[usize], outside: &[usize]) -> (Sample, Matrix) {
        let weights: Vec<f64> = inside.iter().map(|&a| self.weights[a]).collect();
        let (mut x, mut held) = (self.x.select_rows(inside), self.x.select_rows(outside));
        for j in 0..x.cols() {
            let standard = Standard::learn(&x.col(j), Some(&weights), Divisor::OneLess);
            for part in [&mut x, &mut held] {
                (0..part.rows()).for_each(|a| part[(a, j)] = standard.score(part[(a, j)]));
            }
        }
        let class = inside.iter().map(|&a| self.class[a]).collect();
        (Sample { x, class, weights, classes: self.classes }, held)
    }
}
