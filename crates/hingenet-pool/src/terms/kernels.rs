//! Terms P and K: one pass over the training rows gives the kernel density its sums and the kernel machine the
//! rows its completions are drawn from.

use super::density::{Density, search::DensityChoice};
use super::machine::{Decision, Machine, probabilities};
use crate::points::completion::{self, Completion, Conditional};
use crate::points::moments::Sample;
use crate::points::{Encoded, Encoding, imputation};
use crate::rows::{Labelled, put_rows};
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::table::Table;
use rayon::prelude::*;

/// Query rows per block.
const BLOCK: usize = 32;
/// Weight of the uniform distribution in the posterior of term K: a machine sure of all its completions gives a
/// probability of 0, which has no logarithm.
const UNIFORM: f64 = 0.001;

/// The fitted terms P and K.
#[derive(Debug, Clone)]
pub(crate) struct Kernels {
    /// Rows of the density.
    pub(crate) rows: Labelled,
    pub(crate) density: Density,
    pub(crate) completion: Completion,
    pub(crate) machine: Machine,
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

impl Kernels {
    /// Scores `S^P` and log posteriors of K of every row, K values a row.
    pub(crate) fn scores(&self, rows: &Table) -> Result<(Vec<f64>, Vec<f64>)> {
        self.scores_without(rows, &self.machine, &[])
    }

    /// The same without a training row: `own[i]` is the one that query i is a copy of, and `decision` the
    /// machine that can do without it.
    pub(crate) fn scores_without(
        &self,
        rows: &Table,
        decision: &dyn Decision,
        own: &[Own],
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let encoded = self.density.encoding.encode(rows);
        let order = encoded.by_pattern();
        let k = self.density.n_classes();
        let parts: Vec<Result<(Vec<f64>, Vec<f64>)>> =
            order.par_chunks(BLOCK).map(|block| self.block(&encoded, block, decision, own)).collect();
        let mut density = vec![0.0; rows.n_rows() * k];
        let mut machine = vec![0.0; rows.n_rows() * k];
        for (block, part) in order.chunks(BLOCK).zip(parts) {
            let (p, m) = part?;
            put_rows(&mut density, block, &p);
            put_rows(&mut machine, block, &m);
        }
        Ok((density, machine))
    }

    fn block(
        &self,
        encoded: &Encoded,
        block: &[usize],
        decision: &dyn Decision,
        own: &[Own],
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let k = self.density.n_classes();
        let mut density = vec![0.0; block.len() * k];
        let mut completed = Completed { points: Vec::new(), share: Vec::new(), own: Vec::new() };
        let mut distances = self.density.distances(encoded, block);
        let mut conditional: Option<Conditional> = None;
        for (r, &i) in block.iter().enumerate() {
            let left = own.get(i).copied();
            let kernels = distances.row_mut(r);
            let sums = self.density.kernel_sums(kernels, left.map(|o| o.density));
            self.density.scores(&sums, left.map(|o| o.density), &mut density[r * k..(r + 1) * k]);
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
        let points = Matrix::from_vec(completed.share.len(), encoded.values.cols(), completed.points)?;
        let values = decision.values(&points, &completed.own);
        Ok((density, self.mean_posterior(&values, &completed.share, block.len())))
    }

    /// Log posteriors of K, `ln((P_K + 0.001/K)/1.001)`, P_K the mean over the completions; `share` has the
    /// query and its share of draws for every row of decision values.
    fn mean_posterior(&self, values: &Matrix, share: &[(usize, f64)], n: usize) -> Vec<f64> {
        let k = self.density.n_classes();
        let mut mean = vec![0.0; n * k];
        let mut p = vec![0.0; k];
        for (row, (query, share)) in share.iter().enumerate() {
            probabilities(values.row(row), self.machine.scale, &mut p);
            for (total, p) in mean[query * k..(query + 1) * k].iter_mut().zip(&p) {
                *total += share * p;
            }
        }
        mean.iter_mut().for_each(|p| *p = ((*p + UNIFORM / k as f64) / (1.0 + UNIFORM)).ln());
        mean
    }
}

/// The density with its completions, and all training rows as points: what the machine is fitted on.
pub(crate) struct Ground {
    pub(crate) rows: Labelled,
    pub(crate) density: Density,
    pub(crate) completion: Completion,
    /// All training rows, encoded and completed.
    pub(crate) points: Matrix,
    pub(crate) variances: Vec<f64>,
}

impl Ground {
    /// The density of the sampled `rows` of all, with encodings and moments of all.
    pub(crate) fn new(
        all: &Labelled,
        sampled: &[usize],
        rows: Labelled,
        choice: &DensityChoice,
    ) -> Result<Self> {
        let encoding = Encoding::learn(&rows.features, &rows.weight, choice.transform, true);
        let density = Density::new(encoding.clone(), &rows, &choice.metric, choice.power);
        let encoded = encoding.encode(&all.features);
        let sample = Sample { encoding: &encoding, encoded: &encoded, rows: all };
        let covariance = completion::covariance(&sample)?;
        let variances = sample.variances();
        let points = imputation::complete(&density, &sample, sampled, covariance.as_ref())?;
        let completion = Completion::new(encoding.clone(), points.select_rows(sampled), covariance)?;
        Ok(Ground { rows, density, completion, points, variances })
    }
}
