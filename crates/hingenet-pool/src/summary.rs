//! A fitted pool in a few numbers, for people: what the terms are, how much each counts at which share of
//! missing features, what was chosen, how many training rows are kept.

use super::classifier::{PoolClassifier, PoolFacts};
use super::gaps::{Gain, Telling};
use super::terms::TermModel;
use super::terms::kernels::Kept;
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
    /// What is kept in place of rows: prototypes, and the fewest rows one stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prototypes: Option<PrototypeSummary>,
    /// Which gaps tell the class; `None` if they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaps: Option<GapSummary>,
    /// What the fit chose and how its solvers ended.
    pub facts: PoolFacts,
}

/// Gaps that tell the class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GapSummary {
    /// Columns whose gaps count; of columns that were always missing together, the first.
    pub columns: Vec<String>,
    /// How much better training rows that were left out are predicted with them.
    pub gain: Gain,
    /// The terms that know of gaps.
    pub terms: Vec<TermSummary>,
}

/// Prototypes in place of training rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PrototypeSummary {
    /// How many.
    pub count: usize,
    /// Fewest different training rows that one stands for.
    pub least_rows: usize,
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
        let kernels = &self.terms.kernels;
        let (kept_rows, support_rows, prototypes) = match &kernels.kept {
            Kept::Rows(rows) => (rows.len(), kernels.machine.points.len(), None),
            Kept::Prototypes(prototypes, _) => {
                let least_rows = prototypes.sizes.iter().copied().min().unwrap_or_default();
                (0, 0, Some(PrototypeSummary { count: prototypes.len(), least_rows }))
            }
        };
        let of_gaps = |telling: &Telling| GapSummary {
            columns: telling.columns.iter().map(|&j| kernels.columns[j].name.clone()).collect(),
            gain: telling.gain,
            terms: telling.pool.term_summaries(),
        };
        PoolSummary {
            missing: KNOTS,
            terms: self.term_summaries(),
            kept_rows,
            support_rows,
            prototypes,
            gaps: self.telling.as_deref().map(of_gaps),
            facts: self.facts.clone(),
        }
    }

    fn term_summaries(&self) -> Vec<TermSummary> {
        let [a, g] = self.term_models().map(|model| model.map(TermModel::name).unwrap_or_default());
        let models = ["kernel density".into(), a, g, "margin kernel machine".into()];
        let term = |f: usize| TermSummary {
            name: LETTERS[f],
            model: models[f].clone(),
            weights: self.terms.weights.0[f],
        };
        self.listed_terms().map(term).collect()
    }
}
