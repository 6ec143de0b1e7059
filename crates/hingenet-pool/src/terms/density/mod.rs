//! Term P: a kernel density per class, a product of one kernel per feature around every training row.
//! All kernels share their bandwidths, so constants cancel between classes, and a missing feature
//! integrates to one and drops out: the marginal is exact.

pub(crate) mod search;

use crate::points::{Encoded, Encoding};
use crate::rows::Labelled;
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::simd::{fused_exp, vectorised};
use std::ops::Range;

/// Takes the place of an empty kernel sum (a class whose only row is left out): its logarithm is still finite, and
/// the pool's floor makes it the least any term can say.
const EMPTY_SUM: f64 = 1e-300;

/// Rows per step of the search for drawn rows.
const CHUNK: usize = 64;

/// Distance of the row that is left out: never the nearest of its class, and its kernel is 0.
const FAR: f64 = 1e300;

/// Kernel density with the metric `λ_j`:
///
/// ```text
/// S_c(x_o) = ln(n_c/n) + ln (1/n_c) Σ_{i: y_i = c} exp(−½ D_i),   D_i = (d/d_o)^s Σ_{j∈o} λ_j D_j(x, x_i)
/// ```
///
/// `s = 0` is one joint density for all patterns of missing features; `s > 0` narrows the kernels when
/// fewer features are seen.
#[derive(Debug, Clone)]
pub(crate) struct Density {
    pub(crate) encoding: Encoding,
    /// First and second moment of every training cell, `[T | T²]`.
    basis: Matrix,
    /// Rows of each class; rows are sorted by class.
    pub(crate) classes: Vec<Range<usize>>,
    weight: Vec<f64>,
    class_weight: Vec<f64>,
    total: f64,
    /// `λ` per column.
    metric: Vec<f64>,
    power: f64,
}

/// What one query row means for the classes and the training rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct KernelSums {
    /// Smallest distance per class.
    pub(crate) nearest: Vec<f64>,
    /// `Σ weight · exp(−½(D − nearest))` per class.
    pub(crate) sums: Vec<f64>,
}

impl Density {
    /// The density of the training rows under `metric` (one λ per feature). A missing training cell
    /// counts with the mean and mean square of its class: its kernel is the one at the expected distance.
    pub(crate) fn new(encoding: Encoding, training: &Labelled, metric: &[f64], power: f64) -> Self {
        let encoded = encoding.encode(&training.features);
        let mut density = Density {
            basis: moments_of_cells(&encoding, &encoded, training),
            classes: training.class_ranges(),
            weight: training.weight.clone(),
            class_weight: training.class_weight(),
            total: training.weight.iter().sum(),
            metric: Vec::new(),
            power,
            encoding,
        };
        density.set_metric(metric, power);
        density
    }

    pub(crate) fn set_metric(&mut self, metric: &[f64], power: f64) {
        self.metric = self.encoding.per_column(metric);
        self.power = power;
    }

    /// Number of training rows.
    pub(crate) fn len(&self) -> usize {
        self.weight.len()
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.class_weight.len()
    }

    /// `ln(n_c/n)`.
    pub(crate) fn log_prior(&self) -> Vec<f64> {
        self.class_weight.iter().map(|n_c| (n_c / self.total).ln()).collect()
    }

    /// Distances `D` of the given query rows to all training rows, as one matrix product:
    /// `Σ λ e² − 2 (λ e) Tᵀ + (λ o) (T²)ᵀ`, e the query with zeros at missing cells, o its 0/1 mask.
    pub(crate) fn distances(&self, queries: &Encoded, rows: &[usize]) -> Matrix {
        let p = self.encoding.n_columns();
        let mut left = Matrix::zeros(rows.len(), 2 * p);
        let mut constant = Vec::with_capacity(rows.len());
        for (k, &i) in rows.iter().enumerate() {
            let d_o = queries.n_observed(i).max(1);
            let scale = (queries.n_features as f64 / d_o as f64).powf(self.power);
            let (e, row) = (queries.values.row(i), left.row_mut(k));
            let mut own = 0.0;
            for a in self.encoding.columns(queries.pattern(i), true) {
                let weight = scale * self.metric[a];
                row[a] = -2.0 * weight * e[a];
                row[p + a] = weight;
                own += weight * e[a] * e[a];
            }
            constant.push(own);
        }
        let mut distances = left.mul_transpose(&self.basis);
        for (k, own) in constant.iter().enumerate() {
            distances.row_mut(k).iter_mut().for_each(|v| *v = (*v + own).max(0.0));
        }
        distances
    }

    /// Turns the distances of one query row into weights `exp(−½(D − nearest of the class))` in place and
    /// adds them up per class. The kernel of training row `own` is left out.
    pub(crate) fn kernel_sums(&self, distances: &mut [f64], own: Option<usize>) -> KernelSums {
        if let Some(own) = own {
            distances[own] = FAR;
        }
        let nearest = self.nearest(distances);
        for (rows, near) in self.classes.iter().zip(&nearest) {
            let part = &mut distances[rows.clone()];
            vectorised(
                #[inline(always)]
                || part.iter_mut().for_each(|v| *v = fused_exp(-0.5 * (*v - near))),
            );
        }
        if let Some(own) = own {
            distances[own] = 0.0;
        }
        KernelSums { nearest, sums: self.class_sums(distances) }
    }

    /// Smallest distance of each class.
    pub(crate) fn nearest(&self, distances: &[f64]) -> Vec<f64> {
        let least =
            |rows: &Range<usize>| distances[rows.clone()].iter().copied().fold(f64::INFINITY, f64::min);
        self.classes.iter().map(least).collect()
    }

    /// `Σ weight · kernel` per class, for kernels relative to the nearest row of the class.
    pub(crate) fn class_sums(&self, kernels: &[f64]) -> Vec<f64> {
        let of_class = |rows: &Range<usize>| dot(&kernels[rows.clone()], &self.weight[rows.clone()]);
        self.classes.iter().map(of_class).collect()
    }

    /// `S_c` from the kernel sums; leaving out row `own` uses the class weight without it.
    pub(crate) fn scores(&self, of: &KernelSums, own: Option<usize>, out: &mut [f64]) {
        for c in 0..self.n_classes() {
            let prior = (self.class_weight[c] / self.total).ln();
            let mine = own.is_some_and(|i| self.classes[c].contains(&i));
            out[c] = if mine && self.classes[c].len() == 1 {
                prior + EMPTY_SUM.ln()
            } else {
                let left = own.filter(|_| mine).map_or(0.0, |i| self.weight[i]);
                let divisor = (self.class_weight[c] - left).max(f64::MIN_POSITIVE);
                prior + (of.sums[c] / divisor).max(EMPTY_SUM).ln() - 0.5 * of.nearest[c]
            };
        }
    }

    /// Systematic draws of training rows with probability proportional to weight times kernel: draw l of
    /// N takes the first row whose cumulative weight reaches (l + ½)/N. Returns (row, how often).
    pub(crate) fn draws(&self, kernels: &[f64], sums: &KernelSums, n_draws: usize) -> Vec<(usize, usize)> {
        let present = sums.nearest.iter().zip(&sums.sums).filter(|(_, s)| **s > 0.0);
        let least = present.map(|(m, _)| *m).fold(f64::INFINITY, f64::min);
        let factor: Vec<f64> = sums.nearest.iter().map(|m| (-0.5 * (m - least)).exp().min(1.0)).collect();
        let totals: Vec<f64> = factor.iter().zip(&sums.sums).map(|(factor, sum)| factor * sum).collect();
        let total: f64 = totals.iter().sum();
        let mut drawn: Vec<(usize, usize)> = Vec::with_capacity(n_draws);
        let mut next = 0;
        let target = |l: usize| (l as f64 + 0.5) / n_draws as f64 * total;
        let mut start = 0.0;
        for ((class, factor), class_total) in self.classes.iter().zip(factor).zip(totals) {
            let end = start + class_total;
            let weight = |i: usize| kernels[i] * self.weight[i] * factor;
            let mut cumulative = start;
            let mut chunk = class.start;
            while chunk < class.end && next < n_draws && target(next) <= end {
                let rows = chunk..(chunk + CHUNK).min(class.end);
                chunk = rows.end;
                let share = factor * dot(&kernels[rows.clone()], &self.weight[rows.clone()]);
                let reached = cumulative + share;
                if target(next) <= reached {
                    for i in rows {
                        cumulative += weight(i);
                        let before = next;
                        while next < n_draws && target(next) <= cumulative {
                            next += 1;
                        }
                        if next > before {
                            drawn.push((i, next - before));
                        }
                    }
                }
                cumulative = reached;
            }
            // what rounding leaves over within the class belongs to its last row
            while next < n_draws && target(next) <= end {
                let last = class.clone().rev().find(|&i| weight(i) > 0.0).unwrap_or(class.start);
                drawn.push((last, 1));
                next += 1;
            }
            start = end;
        }
        if next < n_draws {
            match drawn.last_mut() {
                Some(last) => last.1 += n_draws - next,
                None => drawn.push((0, n_draws)),
            }
        }
        drawn
    }
}

/// `[T | T²]`: the encoded cells and their squares; for missing cells mean and mean square of the class
/// (of all rows, if the class never observes the feature).
fn moments_of_cells(encoding: &Encoding, encoded: &Encoded, training: &Labelled) -> Matrix {
    let (n, p, k) = (encoded.len(), encoding.n_columns(), training.n_classes());
    let mut basis = Matrix::zeros(n, 2 * p);
    for i in 0..n {
        let row = basis.row_mut(i);
        for (a, e) in encoded.values.row(i).iter().enumerate() {
            row[a] = *e;
            row[p + a] = e * e;
        }
    }
    for (j, group) in encoding.groups.iter().enumerate() {
        if (0..n).all(|i| encoded.pattern(i)[j]) {
            continue;
        }
        for a in group.clone() {
            let mut sums = vec![[0.0; 3]; k + 1];
            for i in (0..n).filter(|&i| encoded.pattern(i)[j]) {
                let (s, e) = (training.weight[i], encoded.values[(i, a)]);
                for slot in [training.class[i], k] {
                    sums[slot][0] += s;
                    sums[slot][1] += s * e;
                    sums[slot][2] += s * e * e;
                }
            }
            for i in (0..n).filter(|&i| !encoded.pattern(i)[j]) {
                let class = sums[training.class[i]];
                let [s, first, second] = if class[0] > 0.0 { class } else { sums[k] };
                basis[(i, a)] = first / s.max(f64::MIN_POSITIVE);
                basis[(i, p + a)] = second / s.max(f64::MIN_POSITIVE);
            }
        }
    }
    basis
}
