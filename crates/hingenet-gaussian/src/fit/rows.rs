//! Labelled rows as a family-internal matrix: nodes (NaN where missing), class, weight.

use crate::features::FeatureMap;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::{Training, check_weights};

/// Labelled rows.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    pub x: Matrix,
    pub class: Vec<usize>,
    pub weights: Vec<f64>,
    pub classes: usize,
}

impl Rows {
    /// Encodes training rows; rows of weight zero are dropped.
    pub fn new(training: &Training<'_>) -> Result<(FeatureMap, Self)> {
        let n = training.features.n_rows();
        require_len("class labels", n, training.class.len())?;
        if let Some(w) = training.weights {
            check_weights(w, n)?;
        }
        let weight = |a: usize| training.weights.map_or(1.0, |w| w[a]);
        let kept: Vec<usize> = (0..n).filter(|&a| weight(a) > 0.0).collect();
        let weights: Vec<f64> = kept.iter().map(|&a| weight(a)).collect();
        let class: Option<Vec<usize>> = kept.iter().map(|&a| training.class.get(a)).collect();
        let class =
            class.ok_or_else(|| Error::data("a training row has no class", "drop rows without a label"))?;
        let table = training.features.rows(&kept);
        let features = FeatureMap::learn(&table, Some(&weights))?;
        let x = features.encode(&table)?;
        let rows = Rows { x, class, weights, classes: training.classes.len() };
        rows.check()?;
        Ok((features, rows))
    }

    fn check(&self) -> Result<()> {
        let present = (0..self.classes).filter(|c| self.class.contains(c)).count();
        if present < 2 || self.class.iter().any(|c| *c >= self.classes) {
            return Err(Error::data(
                "the target has rows of one class only",
                "a classifier needs rows of at least two classes",
            ));
        }
        if self.x.cols() < 2 {
            return Err(Error::data(
                format!("a Gaussian network needs at least 2 nodes, found {}", self.x.cols()),
                "add numeric columns, or use another model",
            ));
        }
        Ok(())
    }

    /// The rows of one class with their weights.
    pub fn of_class(&self, c: usize) -> (Matrix, Vec<f64>) {
        let rows: Vec<usize> = (0..self.class.len()).filter(|&a| self.class[a] == c).collect();
        let all: Vec<usize> = (0..self.x.cols()).collect();
        (self.x.select(&rows, &all), rows.iter().map(|&a| self.weights[a]).collect())
    }

    /// Total weight of a class.
    pub fn class_weight(&self, c: usize) -> f64 {
        self.class.iter().zip(&self.weights).filter(|(k, _)| **k == c).map(|(_, w)| w).sum()
    }

    /// Fold of each row: within a class in random order, one after the other.
    pub fn folds(&self, folds: usize, seed: u64) -> Vec<usize> {
        let mut fold = vec![0; self.class.len()];
        let mut next = 0;
        for c in 0..self.classes {
            let mut own: Vec<usize> = (0..self.class.len()).filter(|&a| self.class[a] == c).collect();
            Random::stream(seed, c as u64).shuffle(&mut own);
            for a in own {
                fold[a] = next % folds;
                next += 1;
            }
        }
        fold
    }
}
