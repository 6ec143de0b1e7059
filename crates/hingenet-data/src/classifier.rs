//! What every fitted family can do. Families implement [`Classifier`]; `model` joins them in one enum.

use crate::explain::{Explanation, Game, Reasons, ScoreTerms};
use crate::table::Table;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::log_normalise;

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

    /// The only row of a table as a game of its known features. A family says which features can tell something, and
    /// where it can, which of them are independent given the class.
    fn game<'a>(&'a self, row: &'a Table) -> Result<Game<'a>> {
        Ok(Game::of_cells(self, row, 0..row.n_columns()))
    }

    /// What to measure next for the only row of a table: every missing feature with the information (nats)
    /// that its value is expected to give about the class, largest first; `None` if the family cannot say.
    fn next_measurements(&self, _row: &Table) -> Result<Option<Vec<(usize, f64)>>> {
        Ok(None)
    }

    /// Why row `row` of a table got its class.
    fn explain(&self, rows: &Table, row: usize, reasons: &Reasons, control: &Control) -> Result<Explanation> {
        Explanation::new(self, rows.one_row(row)?, reasons, control)
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

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::error::Error;

    #[test]
    fn a_row_that_no_class_allows_gets_the_prior() {
        let never = f64::NEG_INFINITY;
        let mut scores = vec![0.5f64.ln(), never, never, never, 3.0, 3.0];
        let prior = vec![0.25f64.ln(), 0.75f64.ln()];
        log_posteriors(&mut scores, 2, || Ok(prior.clone())).unwrap();
        assert_eq!(scores[..4], [0.0, never, prior[0], prior[1]]);
        assert!(scores[4..].iter().all(|s| (s - 0.5f64.ln()).abs() < 1e-15), "{scores:?}");
        log_posteriors(&mut [0.0, 1.0], 2, || Err(Error::Interrupted)).unwrap();
    }
}
