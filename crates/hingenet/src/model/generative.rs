//! What a generative model can do beside classifying: say how probable rows are, draw rows, and show its
//! network. A model that is not generative refuses with an error that says what to use instead.

use super::dataset::categories_of;
use super::exchange::NamedNetwork;
use super::{Fitted, Model};
use crate::error::{Error, Result};
use crate::numeric::log::log_sum_exp;
use crate::table::{Table, UnseenPolicy};

/// Log-likelihood of the observed cells of one row, natural logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowLikelihood {
    /// `log P(features)`, the class summed out.
    pub features: f64,
    /// `log P(class, features)`, if the row has a class the model knows.
    pub joint: Option<f64>,
}

impl Model {
    /// Log-likelihood of each row; missing features are summed out, the target column is used if it is there.
    pub fn log_likelihood(&self, table: &Table, unseen: UnseenPolicy) -> Result<Vec<RowLikelihood>> {
        let (rows, _) = self.schema.align(table, unseen)?;
        let joint = self.log_joint(&rows)?;
        let class = self.known_classes(table);
        let row = |(m, scores): (usize, &[f64])| RowLikelihood {
            features: log_sum_exp(scores),
            joint: class.get(m).copied().flatten().map(|c| scores[c]),
        };
        Ok(joint.chunks(self.classes.len()).enumerate().map(row).collect())
    }

    /// Draws `n` complete rows, the target last; `given` fixes columns to values (`column`, `value`).
    pub fn sample(&self, n: usize, given: &[(String, String)], seed: u64) -> Result<Table> {
        for (column, _) in given {
            if *column != self.target && !self.schema.features.iter().any(|f| f.name == *column) {
                return Err(Error::column(column, "the model has no such column", "see `hingenet inspect`"));
            }
        }
        match &self.fitted {
            Fitted::Majority(_) => Err(self.cannot(&format!("draw {n} rows from seed {seed}"))),
        }
    }

    /// The network over class and features, to be exported.
    pub fn network(&self) -> Result<NamedNetwork> {
        match &self.fitted {
            Fitted::Majority(_) => Err(self.cannot("be written as a network")),
        }
    }

    /// `log P(c, observed)` of aligned rows, K values a row.
    fn log_joint(&self, _: &Table) -> Result<Vec<f64>> {
        match &self.fitted {
            Fitted::Majority(_) => Err(self.cannot("give a likelihood of features")),
        }
    }

    fn known_classes(&self, table: &Table) -> Vec<Option<usize>> {
        let Some(at) = table.position(&self.target) else { return Vec::new() };
        let (names, codes) = categories_of(table.column(at));
        let code = |name: &String| self.classes.iter().position(|c| c == name);
        let codes_of_names: Vec<Option<usize>> = names.iter().map(code).collect();
        codes.iter().map(|c| c.and_then(|c| codes_of_names[c])).collect()
    }

    fn cannot(&self, what: &str) -> Error {
        Error::Unsupported {
            model: self.spec.to_string(),
            problem: format!("this model cannot {what}"),
            hint: "fit a generative model such as nb:ml or tan:ml".into(),
        }
    }
}
