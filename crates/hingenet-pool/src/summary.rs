//! A fitted pool in a few numbers, for people: what the terms are, how much each counts at which share of
//! missing features, what was chosen, how many training rows are kept.

use super::classifier::{PoolClassifier, PoolFacts};
use super::terms::TermModel;
use super::weights::{KNOTS, LETTERS};
use serde::Serialize;

/// What is worth telling about a fitted pool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PoolSummary {
    /// Shares of missing features at which the weights are given; linear in between.
    pub missing: [f64; 4],
    /// The terms, in the order P, A, G, K; one that was left out is not listed.
    pub terms: Vec<TermSummary>,
    /// Training rows kept in the model.
    pub kept_rows: usize,
    /// Support rows of the kernel machine.
    pub support_rows: usize,
    /// What the fit chose and how its solvers ended.
    pub facts: PoolFacts,
}

/// One term of a pool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermSummary {
    /// Letter.
    pub name: &'static str,
    /// What it is.
    pub model: String,
    /// Its exponent at each of the shares of missing features.
    pub weights: [f64; 4],
}

impl PoolClassifier {
    /// The pool in a few numbers.
    pub fn summary(&self) -> PoolSummary {
        let [a, g] = self.term_models().map(|model| model.map(TermModel::name).unwrap_or_default());
        let models = ["kernel density".into(), a, g, "margin kernel machine".into()];
        let term = |f: usize| TermSummary {
            name: LETTERS[f],
            model: models[f].clone(),
            weights: self.terms.weights.0[f],
        };
        PoolSummary {
            missing: KNOTS,
            terms: self.listed_terms().map(term).collect(),
            kept_rows: self.terms.kernels.density.len(),
            support_rows: self.terms.kernels.machine.points.len(),
            facts: self.facts.clone(),
        }
    }
}
