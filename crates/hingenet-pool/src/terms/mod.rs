//! The terms of the pool. Any classifier that can be fitted on labelled rows and gives class scores for rows
//! with gaps is one: the averaged networks (A), the Gaussians (G), or another model in the place of either.
//! Kernel density (P) and kernel machine (K) share their pass over the training rows and stand together.

pub(crate) mod averaged;
pub(crate) mod density;
pub(crate) mod gaussian;
pub(crate) mod kernels;
pub(crate) mod machine;

use crate::rows::{CellsSeen, ColumnFacts, Labelled};
use crate::weights::{PoolWeights, TERMS, floored_posterior};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require_len};
use hingenet_base::numeric::log::log_normalise;
use hingenet_data::table::Table;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A fitted term.
pub trait TermModel: Any + Debug + Send + Sync {
    /// What it is, for people.
    fn name(&self) -> String;

    /// `ln P(c | observed cells)` up to a constant of the row, K values a row, for a table with the training
    /// columns.
    fn scores(&self, rows: &Table) -> Result<Vec<f64>>;

    /// Whether both are the same model, bit by bit.
    fn equals(&self, other: &dyn TermModel) -> bool;
}

/// How to fit a term on labelled rows. With a model of all rows as second argument, whatever that one has chosen by an inner
/// search is kept.
pub type TermRecipe<'a> =
    dyn Fn(&Labelled, Option<&dyn TermModel>, &Control) -> Result<Arc<dyn TermModel>> + Sync + 'a;

/// Models to take in place of terms A and G.
pub type StandIns<'a> = [Option<&'a TermRecipe<'a>>; 2];

/// Scores of a term for every row, K values a row; a term that is left out says nothing (all zeros).
pub(crate) fn scores(term: Option<&dyn TermModel>, rows: &Table, n_classes: usize) -> Result<Vec<f64>> {
    let n = rows.n_rows() * n_classes;
    let Some(term) = term else { return Ok(vec![0.0; n]) };
    let scores = term.scores(rows)?;
    require_len("probabilities of a term", n, scores.len())?;
    Ok(scores)
}

/// Class scores of the four terms P, A, G, K, as many values a row as there are classes.
pub(crate) struct TermScores {
    pub(crate) n_classes: usize,
    pub(crate) terms: [Vec<f64>; TERMS],
}

impl TermScores {
    /// Floored log posteriors of row `i`, term by term.
    pub(crate) fn posteriors(&self, i: usize) -> Vec<f64> {
        let k = self.n_classes;
        let mut all = Vec::with_capacity(TERMS * k);
        for scores in &self.terms {
            let mut one = scores[i * k..(i + 1) * k].to_vec();
            floored_posterior(&mut one);
            all.extend(one);
        }
        all
    }

    /// `ln P(c|x_o)` of row `i`: the weighted product of the four posteriors.
    pub(crate) fn pooled(&self, i: usize, weights: &PoolWeights, missing: f64) -> Vec<f64> {
        let k = self.n_classes;
        let posteriors = self.posteriors(i);
        let mut pooled = vec![0.0; k];
        for (term, w) in posteriors.chunks_exact(k).zip(weights.at(missing)) {
            pooled.iter_mut().zip(term).for_each(|(p, l)| *p += w * l);
        }
        log_normalise(&mut pooled);
        pooled
    }
}

/// Columns with two different cells: the others tell nothing, known or missing.
pub(crate) fn varying(training: &[ColumnFacts]) -> Vec<usize> {
    (0..training.len()).filter(|&j| training[j].cells == CellsSeen::Several).collect()
}

/// Share of missing features, among those that vary in training, of every row; 1 if none does.
pub(crate) fn missing_share(rows: &Table, varying: &[usize]) -> Vec<f64> {
    let missing = |i: usize| varying.iter().filter(|&&j| rows.column(j).is_missing(i)).count();
    let share = |i: usize| if varying.is_empty() { 1.0 } else { missing(i) as f64 / varying.len() as f64 };
    (0..rows.n_rows()).map(share).collect()
}
