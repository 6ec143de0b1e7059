//! What every fitted family can do, and the rows every family learns from. Families implement
//! [`Classifier`]; `model` joins them in one enum.

use crate::explain::{Explanation, ScoreTerms};
use crate::table::{Codes, Table};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::log::log_normalise;

/// Rows to learn from. The class codes lie below `classes.len()`; a missing class code is an
/// unlabelled row, which only a semi-supervised fit accepts.
#[derive(Debug, Clone, Copy)]
pub struct Training<'a> {
    /// Feature columns, in the order the model keeps. Cells may be missing.
    pub features: &'a Table,
    /// Class code of each row.
    pub class: &'a Codes,
    /// Class names, in code order.
    pub classes: &'a [String],
    /// Sample weights; `None` means 1 for every row.
    pub weights: Option<&'a [f64]>,
}

impl Training<'_> {
    /// Rows of each class with a positive weight; a weight of 2 is a row given twice.
    pub fn class_rows(&self) -> Vec<f64> {
        let mut found = vec![(0.0f64, 0.0f64); self.classes.len()];
        for (row, class) in self.class.iter().enumerate() {
            let weight = self.weights.map_or(1.0, |w| w[row]);
            if let Some((rows, total)) = class.and_then(|c| found.get_mut(c)).filter(|_| weight > 0.0) {
                *rows += 1.0;
                *total += weight;
            }
        }
        found.iter().map(|(rows, total)| rows.max(total.floor())).collect()
    }

    /// Class `c` has fewer rows than a family can learn from.
    pub fn too_few_rows(&self, c: usize, rows: f64, needed: &str) -> Error {
        let word = if rows == 1.0 { "row" } else { "rows" };
        Error::data(
            format!("class `{}` has {rows} {word}; {needed} of every class", self.classes[c]),
            "add rows, leave the class out or join it with another; small_classes=allow fits it all the same",
        )
    }
}

/// A fitted model of one family: nothing unfitted can predict. Tables given to it have the training
/// columns in the training order, categories coded as in training (unseen ones missing).
pub trait Classifier {
    /// Number of classes K.
    fn n_classes(&self) -> usize;

    /// `log P(c | observed cells)`, row by row, K values a row; missing features are marginalised or
    /// dropped by the family's stated rule.
    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>>;

    /// The class scores of the only row of a table taken apart, on the scale of the probabilities: the
    /// softmax of the scores is what [`Self::log_proba`] reports.
    fn terms(&self, row: &Table) -> Result<ScoreTerms>;

    /// What to measure next for the only row of a table: every missing feature with the information (nats)
    /// that its value is expected to give about the class, largest first; `None` if the family cannot say.
    fn next_measurements(&self, _row: &Table) -> Result<Option<Vec<(usize, f64)>>> {
        Ok(None)
    }

    /// Why row `row` of a table got its class.
    fn explain(&self, rows: &Table, row: usize) -> Result<Explanation> {
        Explanation::new(self, rows.one_row(row)?)
    }
}

/// Class scores `log P(c, observed cells)`, K values a row, to log posteriors in place. A row that is impossible
/// under every class says nothing about it and gets the class prior, which is asked for only then.
pub fn log_posteriors(
    scores: &mut [f64],
    n_classes: usize,
    log_prior: impl FnOnce() -> Result<Vec<f64>>,
) -> Result<()> {
    let mut impossible = Vec::new();
    for (m, row) in scores.chunks_exact_mut(n_classes).enumerate() {
        if !log_normalise(row).is_finite() {
            impossible.push(m);
        }
    }
    if !impossible.is_empty() {
        let prior = log_prior()?;
        impossible.iter().for_each(|m| scores[m * n_classes..(m + 1) * n_classes].copy_from_slice(&prior));
    }
    Ok(())
}

/// Weights must be finite, not negative and not all zero.
pub fn check_weights(weights: &[f64], n_rows: usize) -> Result<()> {
    require_len("sample weights", n_rows, weights.len())?;
    if let Some(m) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        return Err(Error::data(
            format!("the weight of row {} is {}", m + 1, weights[m]),
            "weights are finite and not negative",
        ));
    }
    if weights.iter().all(|w| *w == 0.0) {
        return Err(Error::data("all sample weights are zero", "give at least one row a positive weight"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_no_class_allows_gets_the_prior() {
        let never = f64::NEG_INFINITY;
        let mut scores = vec![0.5f64.ln(), never, never, never, 3.0, 3.0];
        let prior = vec![0.25f64.ln(), 0.75f64.ln()];
        log_posteriors(&mut scores, 2, || Ok(prior.clone())).unwrap();
        assert_eq!(scores, [0.0, never, prior[0], prior[1], 0.5f64.ln(), 0.5f64.ln()]);
        log_posteriors(&mut [0.0, 1.0], 2, || Err(Error::Interrupted)).unwrap();
    }
}
