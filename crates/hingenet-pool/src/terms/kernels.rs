//! Terms P and K: one pass over the training rows gives the kernel density its sums and the kernel machine the
//! rows its completions are drawn from.

use super::density::{Density, search::DensityChoice};
use super::machine::centres::{PANEL, Panel};
use super::machine::projection::projected;
use super::machine::{Decision, Machine, probabilities};
use crate::points::completion::{self, Completion, Conditional};
use crate::points::moments::Sample;
use crate::points::prototypes::Prototypes;
use crate::points::{Encoded, Encoding, imputation};
use crate::rows::{ColumnFacts, Labelled, put_rows};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::table::Table;
use rayon::prelude::*;

/// Query rows per block: their distances stay in the second cache.
const BLOCK: usize = 12;
/// Weight of the uniform distribution in the posterior of term K: a machine sure of all its completions gives a
/// probability of 0, which has no logarithm.
const UNIFORM: f64 = 0.001;

/// The fitted terms P and K.
#[derive(Debug, Clone)]
pub(crate) struct Kernels {
    /// Columns of the training rows.
    pub(crate) columns: Vec<ColumnFacts>,
    /// What the density is made of.
    pub(crate) kept: Kept,
    pub(crate) density: Density,
    pub(crate) completion: Completion,
    pub(crate) machine: Machine,
    /// Number of completions N.
    pub(crate) draws: usize,
}

/// What is kept of the training rows.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    /// Rows.
    Rows(Labelled),
    /// Prototypes of at least so many rows each.
    Prototypes(Prototypes, usize),
}

/// The training row a query comes from: its kernel is left out, and the machine does without it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Own {
    /// Among the rows of the density.
    pub(crate) density: usize,
    /// Among the rows of the machine.
    pub(crate) machine: usize,
}

impl Kernels {
    /// Scores `S^P` and log posteriors of K, `ln((P_K + 0.001/K)/1.001)`, of every row, K values a row.
    /// Those of K are 0 in rows that need no machine.
    pub(crate) fn scores(&self, rows: &Table, needs_machine: &[bool]) -> Result<(Vec<f64>, Vec<f64>)> {
        self.scores_with(rows, &self.machine, needs_machine, &[])
    }

    /// The same without a training row: `own[i]` is the one that query i is a copy of, and `decision` the
    /// machine that can do without it.
    pub(crate) fn scores_without(
        &self,
        rows: &Table,
        decision: &dyn Decision,
        own: &[Own],
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        self.scores_with(rows, decision, &vec![true; rows.n_rows()], own)
    }

    fn scores_with(
        &self,
        rows: &Table,
        decision: &dyn Decision,
        needs_machine: &[bool],
        own: &[Own],
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let encoded = self.density.encoding.encode(rows);
        let order = encoded.by_pattern();
        let k = self.density.n_classes();
        let parts: Vec<Result<(Vec<f64>, Vec<f64>)>> = order
            .par_chunks(BLOCK)
            .map(|block| self.block(&encoded, block, decision, needs_machine, own))
            .collect();
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
        needs_machine: &[bool],
        own: &[Own],
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let k = self.density.n_classes();
        let mut density = vec![0.0; block.len() * k];
        let mut machine = vec![0.0; block.len() * k];
        let mut distances = self.density.distances(encoded, block);
        let mut conditional: Option<Conditional> = None;
        let mut complete = Vec::new();
        for (r, &i) in block.iter().enumerate() {
            let left = own.get(i).copied();
            let kernels = distances.row_mut(r);
            let sums = self.density.kernel_sums(kernels, left.map(|o| o.density));
            self.density.scores(&sums, left.map(|o| o.density), &mut density[r * k..(r + 1) * k]);
            if !needs_machine[i] {
                continue;
            }
            let pattern = encoded.pattern(i);
            if pattern.iter().all(|o| *o) {
                complete.push(r);
                continue;
            }
            let shared = conditional.take().filter(|c| c.pattern == pattern);
            let current = shared.map_or_else(|| self.completion.conditional(pattern), Ok)?;
            let drawn = self.density.draws(kernels, &sums, self.draws);
            let own = left.map(|o| o.machine);
            let mean = self.over_completions(decision, &current, encoded.values.row(i), &drawn, own);
            machine[r * k..(r + 1) * k].copy_from_slice(&mean);
            conditional = Some(current);
        }
        // complete rows stand together where none of them must be left out
        for rows in complete.chunks(if own.is_empty() { PANEL } else { 1 }) {
            let points = encoded.values.select_rows(&rows.iter().map(|&r| block[r]).collect::<Vec<_>>());
            let own = own.get(block[rows[0]]).map(|o| o.machine);
            let panel = Panel { points: points.data(), count: rows.len(), shared: None, own };
            let values = decision.values(&panel);
            for (l, &r) in rows.iter().enumerate() {
                probabilities(values.row(l), self.machine.scale, &mut machine[r * k..(r + 1) * k]);
            }
        }
        machine.iter_mut().for_each(|p| *p = ((*p + UNIFORM / k as f64) / (1.0 + UNIFORM)).ln());
        Ok((density, machine))
    }

    /// Mean posterior `P_K` over the completions of one query from the rows drawn (and how often).
    fn over_completions(
        &self,
        decision: &dyn Decision,
        conditional: &Conditional,
        x: &[f64],
        drawn: &[(usize, usize)],
        own: Option<usize>,
    ) -> Vec<f64> {
        let k = self.density.n_classes();
        let (mut mean, mut p) = (vec![0.0; k], vec![0.0; k]);
        let mut points = Vec::with_capacity(PANEL * x.len());
        for rows in drawn.chunks(PANEL) {
            points.clear();
            rows.iter().for_each(|(row, _)| self.completion.complete(conditional, x, *row, &mut points));
            let shared = Some(&conditional.pattern[..]);
            let panel = Panel { points: &points, count: rows.len(), shared, own };
            let values = decision.values(&panel);
            for (l, (_, times)) in rows.iter().enumerate() {
                probabilities(values.row(l), self.machine.scale, &mut p);
                let share = *times as f64 / self.draws as f64;
                mean.iter_mut().zip(&p).for_each(|(total, p)| *total += share * p);
            }
        }
        mean
    }
}

/// All training rows, encoded and completed: what kernels are distilled from.
pub(crate) struct Source<'a> {
    pub(crate) rows: &'a Labelled,
    pub(crate) points: &'a Matrix,
    pub(crate) density: &'a DensityChoice,
    /// Ridge of the machine.
    pub(crate) ridge: f64,
}

impl Kernels {
    /// The same terms on prototypes of at least `group` rows: the density becomes a mixture of as many parts, completions
    /// are drawn from their means, and the machine has these as its centres.
    pub(crate) fn distilled(self, source: &Source, group: usize, control: &Control) -> Result<Self> {
        let Source { rows, points, density, ridge } = source;
        let encoding = &self.density.encoding;
        let prototypes = Prototypes::new(encoding, points, rows, &density.metric, group);
        let rows = (*points, rows.weight.as_slice());
        let machine = projected(&self.machine, &encoding.groups, rows, &prototypes.means, *ridge, control)?;
        let mixture = Density::of_prototypes(encoding.clone(), &prototypes, &density.metric, density.power);
        let completion =
            Completion::new(encoding.clone(), prototypes.means.clone(), self.completion.covariance)?;
        let kept = Kept::Prototypes(prototypes, group);
        Ok(Kernels { kept, density: mixture, completion, machine, ..self })
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
