//! The baseline every classifier has to beat: class frequencies, whatever the features say.

use hingenet_base::error::Result;
use hingenet_data::classifier::Classifier;
use hingenet_data::explain::{Game, ScoreTerms};
use hingenet_data::table::Table;

/// Log class frequencies of the training rows.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Majority {
    /// `log P(c)`, smoothed by one virtual row spread over the classes, so that no class is impossible.
    pub log_prior: Vec<f64>,
}

impl Majority {
    /// Weighted class frequencies with one virtual row.
    pub fn fit(class_totals: &[f64]) -> Self {
        let one = 1.0 / class_totals.len() as f64;
        let counts: Vec<f64> = class_totals.iter().map(|n| one + n).collect();
        let total: f64 = counts.iter().sum();
        Majority { log_prior: counts.iter().map(|n| (n / total).ln()).collect() }
    }
}

impl Classifier for Majority {
    fn n_classes(&self) -> usize {
        self.log_prior.len()
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        Ok(self.log_prior.repeat(rows.n_rows()))
    }

    fn terms(&self, _: &Table) -> Result<ScoreTerms> {
        Ok(ScoreTerms::additive(self.log_prior.clone(), Vec::new()))
    }

    fn game<'a>(&'a self, row: &'a Table) -> Result<Game<'a>> {
        Ok(Game::of_cells(self, row, []))
    }
}
