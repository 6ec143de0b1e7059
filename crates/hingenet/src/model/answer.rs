//! What a model answers are numbers. Its parameters have passed every check, but those of a file may be extreme on purpose,
//! each alone possible and together beyond what a number can hold: such an answer is an error, never a NaN.

use super::{Model, RowLikelihood};
use hingenet_base::error::{Error, Result};
use hingenet_data::explain::Explanation;
use hingenet_data::table::Table;

impl Model {
    /// The answer if `is_number` says it is one. A numerical method that fails on a fitted model fails because of its
    /// parameters, which no option of the caller can change.
    pub(crate) fn answered<T>(&self, answer: Result<T>, is_number: impl FnOnce(&T) -> bool) -> Result<T> {
        let extreme = |problem: String| Error::ModelFile {
            problem: format!("{}: {problem}", self.spec),
            hint: "fit the model again; its parameters are beyond what training can make".into(),
        };
        match answer {
            Ok(answer) if is_number(&answer) => Ok(answer),
            Ok(_) => Err(extreme("the parameters are so extreme that there is no finite answer".into())),
            Err(Error::Numeric { method, problem }) => Err(extreme(format!("{method}: {problem}"))),
            Err(other) => Err(other),
        }
    }

    /// Log posteriors, K values a row. Families normalise them; where that failed, a value is NaN or above 0, or all are
    /// impossible.
    pub(super) fn posteriors(&self, log_proba: Result<Vec<f64>>) -> Result<Vec<f64>> {
        let is_posterior = |row: &[f64]| row.iter().all(|l| *l <= 1e-6) && row.iter().any(|l| l.is_finite());
        self.answered(log_proba, |l| l.chunks_exact(self.classes.len()).all(is_posterior))
    }

    /// Likelihoods; a row may be impossible.
    pub(super) fn likelihoods(&self, rows: Result<Vec<RowLikelihood>>) -> Result<Vec<RowLikelihood>> {
        let is_log = |l: f64| l < f64::INFINITY;
        self.answered(rows, |rows| rows.iter().all(|r| is_log(r.features) && r.joint.is_none_or(is_log)))
    }

    /// Drawn rows, which have no missing cell.
    pub(super) fn drawn(&self, rows: Result<Table>) -> Result<Table> {
        self.answered(rows, |rows| rows.n_missing() == 0 && rows.require_finite().is_ok())
    }

    pub(super) fn explained(&self, explanation: Result<Explanation>) -> Result<Explanation> {
        self.answered(explanation, Explanation::is_number)
    }
}
