//! Averaged one-dependence networks as a classifier (`aode`): codes a table and averages the members' joint
//! probabilities.

use super::stars::Stars;
use crate::classifier::require_proper;
use crate::explain::{largest_first, leave_one_out};
use crate::samples::code_columns;
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_base::numeric::log::log_normalise;
use hingenet_data::classifier::{Classifier, Explanation};
use hingenet_data::encode::FeatureCoder;
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

    fn posterior(&self, columns: &[Codes]) -> Result<Vec<f64>> {
        let mut scores = self.stars.log_joint_rows(columns)?;
        for row in scores.chunks_exact_mut(self.n_classes()) {
            row.iter_mut().for_each(|s| *s /= self.temperature);
            if log_normalise(row) == f64::NEG_INFINITY {
                // A row that every class makes impossible says nothing: all classes alike.
                row.fill(-(row.len() as f64).ln());
            }
        }
        Ok(scores)
    }
}

impl Classifier for AveragedClassifier {
    fn n_classes(&self) -> usize {
        self.stars.n_classes()
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        self.posterior(&code_columns(&self.coders, rows)?)
    }

    /// For each observed feature what the log posterior gains by it.
    fn explain(&self, rows: &Table, row: usize) -> Result<Explanation> {
        if row >= rows.n_rows() {
            return Err(Error::Shape { what: "rows".into(), expected: row + 1, found: rows.n_rows() });
        }
        let coded = code_columns(&self.coders, &rows.rows(&[row]))?;
        let state: Vec<Option<usize>> = coded.iter().map(|c| c.get(0)).collect();
        let n_states = |i: usize| self.coders[i].n_states();
        leave_one_out(&state, n_states, self.n_classes(), |columns| self.posterior(columns))
            .map(largest_first)
    }
}
