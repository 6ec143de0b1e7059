//! The fitted pool behind the common interface: probabilities of any rows, explanations, and plain facts
//! about what the fit chose.

use super::density_search::DensityChoice;
use super::fit::Terms;
use super::gaussian::GaussianChoice;
use super::machine_fit::MachineChoice;
use super::predict::{KernelTerms, TermScores, missing_share};
use super::rows::{FeatureType, Rows};
use super::stand_in::{self, FittedStandIns, TermModel};
use super::weights::{PoolWeights, TERMS};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::{Classifier, Explanation};
use hingenet_data::table::Table;
use std::sync::Arc;

/// Log probability of a class that has no training rows: not `-inf`, so that averages stay finite.
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
    pub(crate) names: Vec<String>,
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
    pub(crate) fn assemble(
        terms: Terms,
        facts: PoolFacts,
        names: Vec<String>,
        present: Vec<usize>,
        n_classes: usize,
    ) -> Result<Self> {
        require_len("feature names", terms.rows.rows.n_features(), names.len())?;
        Ok(PoolClassifier { terms, facts, names, present, n_classes })
    }

    /// Weights of the terms at the knots of the share of missing features.
    pub fn weights(&self) -> &PoolWeights {
        &self.terms.weights
    }

    /// What the fit chose.
    pub fn facts(&self) -> &PoolFacts {
        &self.facts
    }

    /// Models in place of terms A and G, if others were asked for.
    pub fn stand_ins(&self) -> [Option<&dyn TermModel>; 2] {
        let FittedStandIns { averaged, gaussian } = &self.terms.stand_ins;
        [averaged.as_deref(), gaussian.as_deref()]
    }

    /// The same pool with models in place of terms A and G, as read from a file.
    pub fn with_stand_ins(
        mut self,
        averaged: Option<Arc<dyn TermModel>>,
        gaussian: Option<Arc<dyn TermModel>>,
    ) -> Self {
        self.terms.stand_ins = FittedStandIns { averaged, gaussian };
        self
    }

    /// Classes that have training rows; stand-ins know only these.
    pub fn n_present_classes(&self) -> usize {
        self.present.len()
    }

    /// Number of training rows the model keeps for its kernel density.
    pub fn n_kernel_rows(&self) -> usize {
        self.terms.density.len()
    }

    /// Number of support rows of the kernel machine.
    pub fn n_support_rows(&self) -> usize {
        self.terms.machine.points.len()
    }

    /// Log posteriors of one term alone, K values a row.
    pub fn term_log_proba(&self, rows: &Table, term: PoolTerm) -> Result<Vec<f64>> {
        let scores = self.term_scores(&self.rows_of(rows)?)?;
        Ok(self.alone(&scores, term))
    }

    /// Log posteriors of the pool and of each of its terms alone, K values a row; a term that was left out
    /// is not listed.
    pub fn log_proba_and_terms(&self, rows: &Table) -> Result<(Vec<f64>, TermPosteriors)> {
        let rows = self.rows_of(rows)?;
        let scores = self.term_scores(&rows)?;
        let terms = PoolTerm::ALL.into_iter().filter(|&t| self.has(t));
        let alone = terms.map(|t| (t, self.alone(&scores, t))).collect();
        Ok((self.pooled_from(&rows, &scores), alone))
    }

    /// Whether the pool has this term: the Gaussian is left out where there are too many columns.
    pub fn has(&self, term: PoolTerm) -> bool {
        let terms = &self.terms;
        term != PoolTerm::Gaussian || terms.gaussian.is_some() || terms.stand_ins.gaussian.is_some()
    }

    fn alone(&self, scores: &TermScores, term: PoolTerm) -> Vec<f64> {
        let k = scores.n_classes;
        let at = term as usize * k..(term as usize + 1) * k;
        let n = scores.terms[0].len() / k;
        (0..n).flat_map(|i| self.all_classes(&scores.posteriors(i)[at.clone()])).collect()
    }

    /// The cells of a table with the training columns.
    pub(crate) fn rows_of(&self, table: &Table) -> Result<Rows> {
        require_len("feature columns", self.names.len(), table.n_columns())?;
        let rows = Rows::of(table)?;
        let training = self.terms.rows.rows.types();
        for (j, (found, wanted)) in rows.types().iter().zip(&training).enumerate() {
            if found != wanted {
                return Err(Error::column(
                    table.column(j).name(),
                    format!("{}, but training saw {}", described(*found), described(*wanted)),
                    "bring the table into the columns and categories of the training table first",
                ));
            }
        }
        Ok(rows)
    }

    /// Scores of the four terms over the classes that have training rows.
    pub(crate) fn term_scores(&self, rows: &Rows) -> Result<TermScores> {
        let terms = &self.terms;
        let kernel_terms = KernelTerms {
            density: &terms.density,
            completion: &terms.completion,
            decision: &terms.machine,
            scale: terms.machine.scale,
            draws: terms.draws,
        };
        let (p, k) = kernel_terms.scores(rows, &[])?;
        let n_classes = self.present.len();
        let other =
            |model: &Arc<dyn TermModel>| stand_in::scores(model.as_ref(), &self.names, rows, n_classes);
        let a = match &terms.stand_ins.averaged {
            Some(model) => other(model)?,
            None => terms.averaged.scores(rows),
        };
        let g = match (&terms.stand_ins.gaussian, &terms.gaussian) {
            (Some(model), _) => other(model)?,
            (None, Some(gaussian)) => gaussian.scores(rows),
            (None, None) => vec![0.0; p.len()],
        };
        Ok(TermScores { n_classes, terms: [p, a, g, k] })
    }

    /// `ln P(c|x_o)` over all classes, K values a row. Nothing observed: the class frequencies, exactly.
    pub(crate) fn pooled(&self, rows: &Rows) -> Result<Vec<f64>> {
        Ok(self.pooled_from(rows, &self.term_scores(rows)?))
    }

    fn pooled_from(&self, rows: &Rows, scores: &TermScores) -> Vec<f64> {
        let prior = self.terms.density.log_prior();
        let mut out = Vec::with_capacity(rows.len() * self.n_classes);
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
        self.pooled(&self.rows_of(rows)?)
    }

    fn explain(&self, rows: &Table, row: usize) -> Result<Explanation> {
        super::explain::leave_one_out(self, rows, row)
    }
}

fn described(kind: FeatureType) -> String {
    match kind {
        FeatureType::Number => "numbers".into(),
        FeatureType::Levels(count) => format!("{count} categories"),
    }
}
