//! What every fitted family can do, and the rows every family learns from. Families implement
//! [`Classifier`]; `model` joins them in one enum.

use crate::table::{Codes, Table};
use hingenet_base::error::{Error, Result, require_len};

/// Rows to learn from. The class codes lie below `classes.len()`; a missing class code is an
/// unlabelled row, which only a semi-supervised fit accepts.
#[derive(Debug, Clone, Copy)]
pub struct Training<'a> {
    /// Feature columns, in the order the model keeps. Cells may be missing.
    pub features: &'a Table,
    /// Class code of each row.
    pub class: &'a Codes,
    /// Class names, in code order.
    pub classes: &'a [String],
    /// Sample weights; `None` means 1 for every row.
    pub weights: Option<&'a [f64]>,
}

impl Training<'_> {
    /// Rows of each class with a positive weight; a weight of 2 is a row given twice.
    pub fn class_rows(&self) -> Vec<f64> {
        let mut found = vec![(0.0f64, 0.0f64); self.classes.len()];
        for (row, class) in self.class.iter().enumerate() {
            let weight = self.weights.map_or(1.0, |w| w[row]);
            if let Some((rows, total)) = class.and_then(|c| found.get_mut(c)).filter(|_| weight > 0.0) {
                *rows += 1.0;
                *total += weight;
            }
        }
        found.iter().map(|(rows, total)| rows.max(total.floor())).collect()
    }

    /// Class `c` has fewer rows than a family can learn from.
    pub fn too_few_rows(&self, c: usize, rows: f64, needed: &str) -> Error {
        let word = if rows == 1.0 { "row" } else { "rows" };
        Error::data(
            format!("class `{}` has {rows} {word}; {needed} of every class", self.classes[c]),
            "add rows, leave the class out or join it with another; small_classes=allow fits it all the same",
        )
    }
}

/// A fitted model of one family: nothing unfitted can predict. Tables given to it have the training
/// columns in the training order, categories coded as in training (unseen ones missing).
pub trait Classifier {
    /// Number of classes K.
    fn n_classes(&self) -> usize;

    /// `log P(c | observed cells)`, row by row, K values a row; missing features are marginalised or
    /// dropped by the family's stated rule.
    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>>;

    /// The terms behind the decision for one row.
    fn explain(&self, rows: &Table, row: usize) -> Result<Explanation>;
}

/// Why a row got its class scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// How to read the terms.
    pub kind: ExplanationKind,
    /// Score of each class before any term.
    pub base: Vec<f64>,
    /// The terms.
    pub terms: Vec<Term>,
    /// Total score of each class, up to a constant common to all classes.
    pub scores: Vec<f64>,
}

/// How the terms of an [`Explanation`] relate to its scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplanationKind {
    /// `base + Σ terms = scores`, exactly (complete rows of additive models).
    Additive,
    /// A term is the change of the class log-odds when that feature alone is treated as missing.
    LeaveOneOut,
}

impl Explanation {
    /// What a term does for class `c`: in an additive explanation its contribution against the mean of all
    /// classes; else the change of the log-odds `ln P(c) / (1 − P(c))` when its feature alone is treated
    /// as missing.
    pub fn effect(&self, term: &Term, c: usize) -> f64 {
        match self.kind {
            ExplanationKind::Additive => term.against_mean(c),
            ExplanationKind::LeaveOneOut => {
                let without: Vec<f64> = self.scores.iter().zip(&term.scores).map(|(s, t)| s - t).collect();
                log_odds(&self.scores, c) - log_odds(&without, c)
            }
        }
    }

    /// The same scale for class scores as a whole ([`Self::base`] or [`Self::scores`]).
    pub fn level(&self, scores: &[f64], c: usize) -> f64 {
        match self.kind {
            ExplanationKind::Additive => scores[c] - scores.iter().sum::<f64>() / scores.len() as f64,
            ExplanationKind::LeaveOneOut => log_odds(scores, c),
        }
    }
}

/// `ln P(c) / (1 − P(c))` for `P ∝ exp(scores)`.
fn log_odds(scores: &[f64], c: usize) -> f64 {
    let others = || scores.iter().enumerate().filter(|(o, _)| *o != c).map(|(_, s)| *s);
    let most = others().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return f64::MAX;
    }
    scores[c] - most - others().map(|s| (s - most).exp()).sum::<f64>().ln()
}

/// One local term of a class score.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Feature the term belongs to (the child node), by position.
    pub feature: usize,
    /// Other features the term depends on (its parents), by position.
    pub given: Vec<usize>,
    /// Contribution to each class score.
    pub scores: Vec<f64>,
}

impl Term {
    /// Contribution to class `c` against the mean of all classes: what ranks the terms.
    pub fn against_mean(&self, c: usize) -> f64 {
        self.scores[c] - self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }
}

/// Weights must be finite, not negative and not all zero.
pub fn check_weights(weights: &[f64], n_rows: usize) -> Result<()> {
    require_len("sample weights", n_rows, weights.len())?;
    if let Some(m) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        return Err(Error::data(
            format!("the weight of row {} is {}", m + 1, weights[m]),
            "weights are finite and not negative",
        ));
    }
    if weights.iter().all(|w| *w == 0.0) {
        return Err(Error::data("all sample weights are zero", "give at least one row a positive weight"));
    }
    Ok(())
}
