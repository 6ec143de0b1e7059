//! From rows to class posteriors: the kernel terms P and K share one pass over the training rows, A and G
//! stand beside them, and the pool multiplies the four.

use super::completion::{Completion, Conditional};
use super::density::Density;
use super::encoding::Encoded;
use super::machine::{Decision, probabilities};
use super::rows::Rows;
use super::weights::{PoolWeights, TERMS, floored_posterior};
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::log_normalise;
use rayon::prelude::*;

/// Query rows per block.
const BLOCK: usize = 32;
/// Weight of the uniform distribution in the posterior of term K.
const UNIFORM: f64 = 0.001;

/// The terms P and K.
pub(crate) struct KernelTerms<'a> {
    pub(crate) density: &'a Density,
    pub(crate) completion: &'a Completion,
    pub(crate) decision: &'a dyn Decision,
    /// Scale b of the softmax of K.
    pub(crate) scale: f64,
    /// Number of completions N.
    pub(crate) draws: usize,
}

/// The training row a query comes from: its kernel is left out, and the machine does without it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Own {
    /// Among the rows of the density.
    pub(crate) density: usize,
    /// Among the rows of the machine.
    pub(crate) machine: usize,
}

/// Completed query rows of one block.
struct Completed {
    /// Points, row by row.
    points: Vec<f64>,
    /// Query (position in the block) and share of its draws.
    share: Vec<(usize, f64)>,
    own: Vec<Option<usize>>,
}

impl KernelTerms<'_> {
    /// Scores `S^P` and log posteriors of K of every row, K values a row. `own[i]` is the training row
    /// that query i is a copy of; it is empty for new rows.
    pub(crate) fn scores(&self, rows: &Rows, own: &[Own]) -> Result<(Vec<f64>, Vec<f64>)> {
        let encoded = self.density.encoding.encode(rows);
        let order = encoded.by_pattern();
        let k = self.density.n_classes();
        let parts: Vec<Result<(Vec<f64>, Vec<f64>)>> =
            order.par_chunks(BLOCK).map(|block| self.block(&encoded, block, own)).collect();
        let mut density = vec![0.0; rows.len() * k];
        let mut machine = vec![0.0; rows.len() * k];
        for (block, part) in order.chunks(BLOCK).zip(parts) {
            let (p, m) = part?;
            for (r, &i) in block.iter().enumerate() {
                density[i * k..(i + 1) * k].copy_from_slice(&p[r * k..(r + 1) * k]);
                machine[i * k..(i + 1) * k].copy_from_slice(&m[r * k..(r + 1) * k]);
            }
        }
        Ok((density, machine))
    }

    fn block(&self, encoded: &Encoded, block: &[usize], own: &[Own]) -> Result<(Vec<f64>, Vec<f64>)> {
        let k = self.density.n_classes();
        let mut density = vec![0.0; block.len() * k];
        let mut completed = Completed { points: Vec::new(), share: Vec::new(), own: Vec::new() };
        let mut distances = self.density.distances(encoded, block);
        let mut conditional: Option<Conditional> = None;
        for (r, &i) in block.iter().enumerate() {
            let left = own.get(i).copied();
            let kernels = distances.row_mut(r);
            let sums = self.density.kernel_sums(kernels, left.map(|o| o.density));
            self.density.scores_of(&sums, left.map(|o| o.density), &mut density[r * k..(r + 1) * k]);
            let x = encoded.values.row(i);
            let pattern = encoded.pattern(i);
            let machine_row = left.map(|o| o.machine);
            if pattern.iter().all(|o| *o) {
                completed.points.extend_from_slice(x);
                completed.share.push((r, 1.0));
                completed.own.push(machine_row);
                continue;
            }
            let shared = conditional.take().filter(|c| c.pattern == pattern);
            let current = shared.map_or_else(|| self.completion.conditional(pattern), Ok)?;
            for (row, times) in self.density.draws(kernels, &sums, self.draws) {
                self.completion.complete(&current, x, row, &mut completed.points);
                completed.share.push((r, times as f64 / self.draws as f64));
                completed.own.push(machine_row);
            }
            conditional = Some(current);
        }
        let machine = self.machine(&completed, block.len(), encoded.values.cols())?;
        Ok((density, machine))
    }

    /// Log posteriors of K, `ln((P_K + 0.001/K)/1.001)`, P_K the mean over the completions.
    fn machine(&self, completed: &Completed, n: usize, columns: usize) -> Result<Vec<f64>> {
        let k = self.density.n_classes();
        let points = Matrix::from_vec(completed.share.len(), columns, completed.points.clone())?;
        let values = self.decision.values(&points, &completed.own);
        let mut mean = vec![0.0; n * k];
        let mut p = vec![0.0; k];
        for (row, (query, share)) in completed.share.iter().enumerate() {
            probabilities(values.row(row), self.scale, &mut p);
            for (total, p) in mean[query * k..(query + 1) * k].iter_mut().zip(&p) {
                *total += share * p;
            }
        }
        mean.iter_mut().for_each(|p| *p = ((*p + UNIFORM / k as f64) / (1.0 + UNIFORM)).ln());
        Ok(mean)
    }
}

/// Class scores of the four terms, K values a row; a term that is left out says nothing (all zeros).
pub(crate) struct TermScores {
    pub(crate) n_classes: usize,
    /// P, A, G, K.
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

/// Share of missing features of every row.
pub(crate) fn missing_share(rows: &Rows) -> Vec<f64> {
    let d = rows.n_features();
    let missing = |i: usize| (0..d).filter(|&j| rows.is_missing(i, j)).count();
    (0..rows.len()).map(|i| missing(i) as f64 / d as f64).collect()
}
