//! Averaged one-dependence networks as a classifier (`aode`): codes a table and averages the members' joint
//! probabilities.

use super::stars::Stars;
use crate::classifier::require_proper;
use crate::samples::code_columns;
use hingenet_base::error::{Result, require, require_len};
use hingenet_data::classifier::{Classifier, log_posteriors};
use hingenet_data::encode::FeatureCoder;
use hingenet_data::explain::{ScoreTerms, leave_one_out};
use hingenet_data::table::{Codes, Table};

/// Feature states, member networks and temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct AveragedClassifier {
    coders: Vec<FeatureCoder>,
    stars: Stars,
    temperature: f64,
}

impl AveragedClassifier {
    /// Joins the parts; refuses coders that do not fit the networks and parameters that are not normalised.
    pub fn new(coders: Vec<FeatureCoder>, stars: Stars, temperature: f64) -> Result<Self> {
        let positive = temperature.is_finite() && temperature > 0.0;
        require("temperature", temperature, "a finite number > 0", positive)?;
        let states = stars.states();
        require_len("feature coders", states.n_features(), coders.len())?;
        for (j, coder) in coders.iter().enumerate() {
            coder.check()?;
            require_len(&format!("states of feature {j}"), states.of(j).len(), coder.n_states())?;
        }
        for s in 0..states.n_features() {
            require_proper(&stars.network(s)?)?;
        }
        Ok(AveragedClassifier { coders, stars, temperature })
    }

    /// States of the features.
    pub fn coders(&self) -> &[FeatureCoder] {
        &self.coders
    }

    /// The tables of the members.
    pub fn stars(&self) -> &Stars {
        &self.stars
    }

    /// Temperature of the posterior.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// `log P(c, observed cells)`, K values a row.
    pub fn log_joint(&self, rows: &Table) -> Result<Vec<f64>> {
        self.stars.log_joint_rows(&code_columns(&self.coders, rows)?)
    }

    /// `log P(c)`: of a row without any cell.
    fn log_prior(&self) -> Result<Vec<f64>> {
        let nothing =
            self.coders.iter().map(|coder| Codes::from_options(coder.n_states(), [None].into_iter()));
        self.stars.log_joint_rows(&nothing.collect::<Vec<_>>())
    }
}

impl Classifier for AveragedClassifier {
    fn n_classes(&self) -> usize {
        self.stars.n_classes()
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        let mut scores = self.log_joint(rows)?;
        scores.iter_mut().for_each(|s| *s /= self.temperature);
        log_posteriors(&mut scores, self.n_classes(), || self.log_prior())?;
        Ok(scores)
    }

    /// For each observed feature what the log posterior gains by it.
    fn terms(&self, row: &Table) -> Result<ScoreTerms> {
        leave_one_out(self, row, 0..self.coders.len())
    }
}
