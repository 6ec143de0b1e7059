//! The fitted pool behind the common interface: probabilities of any rows, explanations, and plain facts
//! about what the fit chose.

use super::fit::Terms;
use super::rows::FeatureType;
use super::terms::density::search::DensityChoice;
use super::terms::gaussian::GaussianChoice;
use super::terms::machine::fit::MachineChoice;
use super::terms::{self, TermModel, TermScores, missing_share};
use super::weights::{PoolWeights, TERMS};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::Classifier;
use hingenet_data::explain::{ScoreTerms, leave_one_out};
use hingenet_data::table::Table;
use std::sync::Arc;

/// Log probability of a class that has no training rows: the smallest whose exponential is still a normal number
/// (10⁻³⁰⁴), so that averages and log losses stay finite where `-inf` would not.
const ABSENT: f64 = -700.0;

/// What the fit of a pool chose, and how its solvers ended.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PoolFacts {
    /// Choices of term P.
    pub density: DensityChoice,
    /// Choices of term K.
    pub machine: MachineChoice,
    /// Choices of term G; `None` if it was left out.
    pub gaussian: Option<GaussianChoice>,
    /// How the solver of term K ended.
    pub machine_report: SolverReport,
    /// How the fit of the weights ended; `None` if there were too few rows to fit them.
    pub pool_report: Option<SolverReport>,
    /// Training rows after merging equal ones.
    pub rows: usize,
    /// Mutual information of each feature with the class (nats, bias-corrected).
    pub information: Vec<f64>,
}

/// Weighted product of four class posteriors, each with its own marginal for missing features:
/// kernel density (P), averaged one-dependence network (A), shrunk class Gaussians (G) and a margin
/// kernel machine averaged over completions (K).
///
/// The model keeps training rows: terms P and K are made of them.
#[derive(Debug, Clone)]
pub struct PoolClassifier {
    pub(crate) terms: Terms,
    pub(crate) facts: PoolFacts,
    /// Class code of each class that has training rows.
    pub(crate) present: Vec<usize>,
    pub(crate) n_classes: usize,
}

/// The terms of the pool, in the order of [`PoolWeights`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolTerm {
    /// P: kernel density.
    Density,
    /// A: averaged one-dependence network.
    Averaged,
    /// G: shrunk class Gaussians.
    Gaussian,
    /// K: margin kernel machine with completions.
    Machine,
}

/// Terms with their log posteriors, K values a row.
pub type TermPosteriors = Vec<(PoolTerm, Vec<f64>)>;

impl PoolTerm {
    /// All terms, in the order of [`PoolWeights`].
    pub const ALL: [PoolTerm; TERMS] =
        [PoolTerm::Density, PoolTerm::Averaged, PoolTerm::Gaussian, PoolTerm::Machine];

    /// The letter of the term.
    pub fn name(self) -> &'static str {
        match self {
            PoolTerm::Density => "P",
            PoolTerm::Averaged => "A",
            PoolTerm::Gaussian => "G",
            PoolTerm::Machine => "K",
        }
    }
}

impl PoolClassifier {
    /// Weights of the terms at the knots of the share of missing features.
    pub fn weights(&self) -> &PoolWeights {
        &self.terms.weights
    }

    /// What the fit chose.
    pub fn facts(&self) -> &PoolFacts {
        &self.facts
    }

    /// The models of terms A and G; G may be left out.
    pub fn term_models(&self) -> [Option<&dyn TermModel>; 2] {
        self.terms.others.each_ref().map(Option::as_deref)
    }

    /// The same pool with other models in place of terms A and G where they are given, as read from a file.
    pub fn with_stand_ins(mut self, stand_ins: [Option<Arc<dyn TermModel>>; 2]) -> Self {
        for (term, stand_in) in self.terms.others.iter_mut().zip(stand_ins) {
            *term = stand_in.or_else(|| term.take());
        }
        self
    }

    /// Number of feature columns.
    pub fn n_features(&self) -> usize {
        self.terms.kernels.rows.features.n_columns()
    }

    /// Number of training rows the model keeps for its kernel density.
    pub fn n_kernel_rows(&self) -> usize {
        self.terms.kernels.density.len()
    }

    /// Number of support rows of the kernel machine.
    pub fn n_support_rows(&self) -> usize {
        self.terms.kernels.machine.points.len()
    }

    /// Log posteriors of the pool and of each of its terms alone, K values a row; a term that was left out
    /// is not listed.
    pub fn log_proba_and_terms(&self, rows: &Table) -> Result<(Vec<f64>, TermPosteriors)> {
        self.check(rows)?;
        let scores = self.term_scores(rows)?;
        let terms = PoolTerm::ALL.into_iter().filter(|&t| self.has(t));
        let alone = terms.map(|t| (t, self.alone(&scores, t))).collect();
        Ok((self.pooled_from(rows, &scores), alone))
    }

    /// Whether the pool has this term: the Gaussian is left out where there are too many columns.
    pub fn has(&self, term: PoolTerm) -> bool {
        term != PoolTerm::Gaussian || self.terms.others[1].is_some()
    }

    fn alone(&self, scores: &TermScores, term: PoolTerm) -> Vec<f64> {
        let k = scores.n_classes;
        let at = term as usize * k..(term as usize + 1) * k;
        let n = scores.terms[0].len() / k;
        (0..n).flat_map(|i| self.all_classes(&scores.posteriors(i)[at.clone()])).collect()
    }

    /// Refuses a table that has not the training columns, and infinite numbers.
    pub(crate) fn check(&self, table: &Table) -> Result<()> {
        let training = &self.terms.kernels.rows.features;
        require_len("feature columns", training.n_columns(), table.n_columns())?;
        for (column, training) in table.columns().iter().zip(training.columns()) {
            let (found, wanted) = (FeatureType::of(column), FeatureType::of(training));
            if found != wanted {
                return Err(Error::column(
                    column.name(),
                    format!("{}, but training saw {}", described(found), described(wanted)),
                    "bring the table into the columns and categories of the training table first",
                ));
            }
        }
        table.require_finite()
    }

    /// Scores of the four terms over the classes that have training rows.
    pub(crate) fn term_scores(&self, rows: &Table) -> Result<TermScores> {
        let n_classes = self.present.len();
        let (p, k) = self.terms.kernels.scores(rows)?;
        let [a, g] = self.term_models().map(|term| terms::scores(term, rows, n_classes));
        Ok(TermScores { n_classes, terms: [p, a?, g?, k] })
    }

    /// `ln P(c|x_o)` over all classes, K values a row. Nothing observed: the class frequencies, exactly.
    pub(crate) fn pooled(&self, rows: &Table) -> Result<Vec<f64>> {
        Ok(self.pooled_from(rows, &self.term_scores(rows)?))
    }

    fn pooled_from(&self, rows: &Table, scores: &TermScores) -> Vec<f64> {
        let prior = self.terms.kernels.density.log_prior();
        let mut out = Vec::with_capacity(rows.n_rows() * self.n_classes);
        for (i, missing) in missing_share(rows).into_iter().enumerate() {
            if missing == 1.0 {
                out.extend(self.all_classes(&prior));
            } else {
                out.extend(self.all_classes(&scores.pooled(i, &self.terms.weights, missing)));
            }
        }
        out
    }

    /// Puts the values of the classes with training rows at their codes.
    pub(crate) fn all_classes(&self, present: &[f64]) -> Vec<f64> {
        let mut all = vec![ABSENT; self.n_classes];
        self.present.iter().zip(present).for_each(|(&c, v)| all[c] = *v);
        all
    }
}

impl Classifier for PoolClassifier {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        self.check(rows)?;
        self.pooled(rows)
    }

    fn terms(&self, row: &Table) -> Result<ScoreTerms> {
        leave_one_out(self, row, 0..row.n_columns())
    }

    fn next_measurements(&self, row: &Table) -> Result<Option<Vec<(usize, f64)>>> {
        self.expected_information(row).map(Some)
    }
}

fn described(kind: FeatureType) -> String {
    match kind {
        FeatureType::Number => "numbers".into(),
        FeatureType::Levels(count) => format!("{count} categories"),
    }
}
