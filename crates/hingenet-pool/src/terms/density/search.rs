//! The choice of term P's transform, metric and bandwidth: least leave-one-out log-loss over training
//! rows, each once complete and once with blanks.

use super::{Density, KernelSums};
use crate::points::{Encoded, Encoding, Transform};
use crate::rows::{Labelled, blank_cells, least, random_subset, repeated};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::log_normalise;
use hingenet_base::numeric::random::Random;
use hingenet_base::numeric::simd::exp_in_place;
use hingenet_base::numeric::sum::{add_into, ordered_chunks};
use hingenet_data::table::Table;

/// Exponents p of the mutual information in the metric.
const EXPONENTS: [f64; 3] = [0.0, 0.5, 1.0];
/// Powers s of the share of observed features.
const POWERS: [f64; 3] = [0.0, 0.5, 1.0];
/// Inverse squared bandwidths τ = 2^k/d, k below this.
const BANDWIDTHS: usize = 7;
/// Query rows per matrix product.
const BLOCK: usize = 32;

/// What was chosen for term P.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DensityChoice {
    /// Transform of the numeric features.
    pub transform: Transform,
    /// Exponent p of the mutual information.
    pub exponent: f64,
    /// Inverse squared bandwidth τ.
    pub tau: f64,
    /// Power s of the share of observed features.
    pub power: f64,
    /// λ of each feature.
    pub metric: Vec<f64>,
    /// Mean leave-one-out log-loss.
    pub loss: f64,
}

/// Settings of the search.
pub(crate) struct DensitySearch<'a> {
    pub(crate) training: &'a Labelled,
    /// Bias-corrected mutual information of each feature with the class.
    pub(crate) information: &'a [f64],
    /// Most training rows in the criterion.
    pub(crate) rows: usize,
    /// Only s = 0: one joint density.
    pub(crate) consistent: bool,
}

impl DensitySearch<'_> {
    /// Chooses transform, p, τ and s. Ties go to the first in the order listed.
    pub(crate) fn choose(&self, random: &mut Random, control: &Control) -> Result<DensityChoice> {
        let own = random_subset(self.training.len(), self.rows, random);
        let mut queries = repeated(&self.training.features.rows(&own), 2);
        blank_cells(&mut queries, own.len()..2 * own.len(), random, |r| 0.1 + 0.8 * r.uniform());
        let own: Vec<usize> = own.iter().chain(&own).copied().collect();
        let weight: f64 = own.iter().map(|&i| self.training.weight[i]).sum();
        let mut tried = Vec::new();
        for &transform in transforms(&self.training.features) {
            let encoding = Encoding::learn(&self.training.features, &self.training.weight, transform, true);
            let encoded = encoding.encode(&queries);
            let d = self.information.len();
            let mut density = Density::new(encoding, self.training, &vec![0.0; d], 0.0);
            for exponent in self.exponents() {
                control.check()?;
                let metric = metric(self.information, *exponent, 1.0 / d as f64);
                density.set_metric(&metric, 0.0);
                let losses = self.losses(&density, &encoded, &own);
                for (k, row) in losses.chunks_exact(self.powers().len()).enumerate() {
                    let tau = (1u64 << k) as f64;
                    let candidates = self.powers().iter().zip(row);
                    tried.extend(candidates.map(|(power, loss)| {
                        let choice = DensityChoice {
                            transform,
                            exponent: *exponent,
                            tau: tau / d as f64,
                            power: *power,
                            metric: metric.iter().map(|l| l * tau).collect(),
                            loss: loss / weight,
                        };
                        (choice.loss, choice)
                    }));
                }
            }
        }
        least("kernel density", tried)
    }

    fn exponents(&self) -> &'static [f64] {
        if self.information.iter().all(|i| *i == 0.0) { &EXPONENTS[..1] } else { &EXPONENTS }
    }

    fn powers(&self) -> &'static [f64] {
        if self.consistent { &POWERS[..1] } else { &POWERS }
    }

    /// Weighted leave-one-out log-loss for every τ and s, s running fastest.
    fn losses(&self, density: &Density, queries: &Encoded, own: &[usize]) -> Vec<f64> {
        let n_losses = BANDWIDTHS * self.powers().len();
        let parts = ordered_chunks(queries.len(), BLOCK, |range| {
            let rows: Vec<usize> = range.collect();
            let distances = density.distances(queries, &rows);
            let mut losses = vec![0.0; n_losses];
            let mut work = Work::new(density);
            for (k, &q) in rows.iter().enumerate() {
                self.add_losses(density, queries, (q, own[q]), distances.row(k), &mut work, &mut losses);
            }
            losses
        });
        let mut total = vec![0.0; n_losses];
        parts.iter().for_each(|part| add_into(&mut total, part));
        total
    }

    /// Adds the losses of one query row. Doubling τ squares every kernel, so one exponential per training
    /// row and s is enough.
    fn add_losses(
        &self,
        density: &Density,
        queries: &Encoded,
        (query, own): (usize, usize),
        distances: &[f64],
        work: &mut Work,
        losses: &mut [f64],
    ) {
        let powers = self.powers();
        let (d, d_o) = (queries.n_features as f64, queries.n_observed(query).max(1) as f64);
        let (y, s_own) = (self.training.class[own], self.training.weight[own]);
        work.distances.copy_from_slice(distances);
        work.distances[own] = f64::MAX;
        let nearest = density.nearest(&work.distances);
        let mut previous: Option<Vec<f64>> = None;
        for (a, power) in powers.iter().enumerate() {
            let scale = (d / d_o).powf(*power);
            // complete rows do not depend on s
            let column = match previous.take().filter(|_| d_o == d) {
                Some(column) => column,
                None => work.losses(density, &nearest, scale, own, y),
            };
            for (k, loss) in column.iter().enumerate() {
                losses[k * powers.len() + a] += s_own * loss;
            }
            previous = Some(column);
        }
    }
}

/// Working space for one query row.
struct Work {
    distances: Vec<f64>,
    kernels: Vec<f64>,
    scores: Vec<f64>,
}

impl Work {
    fn new(density: &Density) -> Self {
        let (n, k) = (density.len(), density.n_classes());
        Work { distances: vec![0.0; n], kernels: vec![0.0; n], scores: vec![0.0; k] }
    }

    /// `−ln P(y)` for every bandwidth.
    fn losses(&mut self, density: &Density, nearest: &[f64], scale: f64, own: usize, y: usize) -> Vec<f64> {
        for (rows, near) in density.classes.iter().zip(nearest) {
            for (kernel, distance) in self.kernels[rows.clone()].iter_mut().zip(&self.distances[rows.clone()])
            {
                *kernel = -0.5 * scale * (distance - near);
            }
        }
        exp_in_place(&mut self.kernels);
        self.kernels[own] = 0.0;
        let mut losses = Vec::with_capacity(BANDWIDTHS);
        let mut of = KernelSums { nearest: nearest.iter().map(|m| m * scale).collect(), sums: Vec::new() };
        for _ in 0..BANDWIDTHS {
            of.sums = density.sums_and_squares(&mut self.kernels);
            density.scores(&of, Some(own), &mut self.scores);
            log_normalise(&mut self.scores);
            losses.push(-self.scores[y]);
            of.nearest.iter_mut().for_each(|v| *v *= 2.0);
        }
        losses
    }
}

/// The transforms worth trying.
pub(crate) fn transforms(rows: &Table) -> &'static [Transform] {
    if rows.columns().iter().any(|c| c.as_numeric().is_some()) {
        &[Transform::Identity, Transform::Asinh]
    } else {
        &[Transform::Identity]
    }
}

/// `λ_j = τ v_j^p / mean(v^p)`, `v_j = max(0.03, I_j / mean(I))`.
pub(crate) fn metric(information: &[f64], exponent: f64, tau: f64) -> Vec<f64> {
    let d = information.len() as f64;
    let mean = information.iter().sum::<f64>() / d;
    if mean <= 0.0 || exponent == 0.0 {
        return vec![tau; information.len()];
    }
    let v: Vec<f64> = information.iter().map(|i| (i / mean).max(0.03).powf(exponent)).collect();
    let mean = v.iter().sum::<f64>() / d;
    v.iter().map(|v| tau * v / mean).collect()
}
