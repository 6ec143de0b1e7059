//! Term P: a kernel density per class, a product of one kernel per feature around every training row.
//! All kernels share their bandwidths, so constants cancel between classes, and a missing feature
//! integrates to one and drops out: the marginal is exact.

pub(crate) mod search;

use crate::points::columns::Columns;
use crate::points::prototypes::Prototypes;
use crate::points::{Encoded, Encoding};
use crate::rows::Labelled;
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::simd::{LANES, fused_exp, vectorised};
use std::ops::Range;

/// Takes the place of an empty kernel sum (a class whose only row is left out): its logarithm is still finite, and
/// the pool's floor makes it the least any term can say.
const EMPTY_SUM: f64 = 1e-300;

/// Rows per step of the search for drawn rows.
const CHUNK: usize = 64;

/// Rows this much further than the nearest of their class are left out of its sum: their kernels are below 3·10⁻²⁰ of
/// the largest, and with 20 000 of them the sum loses less than its rounding error.
const TOO_FAR: f64 = 90.0;

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
    /// The training rows.
    columns: Columns,
    /// Rows of each class; rows are sorted by class.
    pub(crate) classes: Vec<Range<usize>>,
    weight: Vec<f64>,
    class_weight: Vec<f64>,
    total: f64,
    /// `λ` per feature.
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
        let (encoded, classes) = (encoding.encode(&training.features), training.class_ranges());
        Density {
            columns: Columns::new(&encoding, &encoded, &training.weight, classes.clone()),
            classes,
            weight: training.weight.clone(),
            class_weight: training.class_weight(),
            total: training.weight.iter().sum(),
            metric: metric.to_vec(),
            power,
            encoding,
        }
    }

    /// The density of prototypes: a mixture with their weights.
    pub(crate) fn of_prototypes(
        encoding: Encoding,
        prototypes: &Prototypes,
        metric: &[f64],
        power: f64,
    ) -> Self {
        let first = |c: usize| prototypes.class.partition_point(|y| *y < c);
        let classes: Vec<Range<usize>> = (0..prototypes.n_classes).map(|c| first(c)..first(c + 1)).collect();
        let sum = |rows: &Range<usize>| prototypes.weight[rows.clone()].iter().sum();
        Density {
            columns: Columns::of_prototypes(&encoding, prototypes),
            class_weight: classes.iter().map(sum).collect(),
            classes,
            weight: prototypes.weight.clone(),
            total: prototypes.weight.iter().sum(),
            metric: metric.to_vec(),
            power,
            encoding,
        }
    }

    pub(crate) fn set_metric(&mut self, metric: &[f64], power: f64) {
        self.metric = metric.to_vec();
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

    /// Distances `D` of the given query rows to all training rows, one line per query.
    pub(crate) fn distances(&self, queries: &Encoded, rows: &[usize]) -> Matrix {
        let d = queries.n_features as f64;
        let scale = |i: usize| (d / queries.n_observed(i).max(1) as f64).powf(self.power);
        self.columns.distances(queries, rows, &self.metric, scale)
    }

    /// Turns the distances of one query row into weights `exp(−½(D − nearest of the class))` in place and
    /// adds them up per class. The kernel of training row `own` is left out.
    pub(crate) fn kernel_sums(&self, distances: &mut [f64], own: Option<usize>) -> KernelSums {
        if let Some(own) = own {
            distances[own] = FAR;
        }
        let nearest = self.nearest(distances);
        let kernels = |(rows, near): (&Range<usize>, &f64)| {
            let part = &mut distances[rows.clone()];
            if *near == FAR {
                // the row that is left out is alone in its class
                part.fill(0.0);
                return 0.0;
            }
            kernels_in_place(part, &self.weight[rows.clone()], *near)
        };
        let sums = self.classes.iter().zip(&nearest).map(kernels).collect();
        KernelSums { nearest, sums }
    }

    /// Smallest distance of each class.
    pub(crate) fn nearest(&self, distances: &[f64]) -> Vec<f64> {
        self.classes.iter().map(|rows| least(&distances[rows.clone()])).collect()
    }

    /// `Σ weight · kernel` per class, for kernels relative to the nearest row of the class, which are squared on the way.
    pub(crate) fn sums_and_squares(&self, kernels: &mut [f64]) -> Vec<f64> {
        let of_class =
            |rows: &Range<usize>| sum_and_square(&mut kernels[rows.clone()], &self.weight[rows.clone()]);
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
                let share = factor * product(&kernels[rows.clone()], &self.weight[rows.clone()]);
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

/// `a · b`.
fn product(a: &[f64], b: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || dot(a, b),
    )
}

/// `v ← exp(−½(v − near))`, and `Σ weight · v`. Kernels of rows that are [`TOO_FAR`] behind the nearest are 0.
fn kernels_in_place(distances: &mut [f64], weight: &[f64], near: f64) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (chunks, last) = distances.as_chunks_mut::<LANES>();
            let (weights, last_weights) = weight.as_chunks::<LANES>();
            for (chunk, weight) in chunks.iter_mut().zip(weights) {
                // plain loops: what is not inlined is not compiled for the vectors
                let mut closest = TOO_FAR;
                for v in chunk.iter_mut() {
                    *v -= near;
                    closest = if *v < closest { *v } else { closest };
                }
                if closest == TOO_FAR {
                    *chunk = [0.0; LANES];
                    continue;
                }
                for v in chunk.iter_mut() {
                    *v = fused_exp(-0.5 * *v);
                }
                for l in 0..LANES {
                    sums[l] = weight[l].mul_add(chunk[l], sums[l]);
                }
            }
            for (l, (v, weight)) in last.iter_mut().zip(last_weights).enumerate() {
                *v = fused_exp(-0.5 * (*v - near));
                sums[l] = weight.mul_add(*v, sums[l]);
            }
            sums.iter().sum()
        },
    )
}

/// `Σ weight · v`, and `v ← v²`. With as many running sums as there are lanes: the compiler may not regroup a sum by
/// itself.
fn sum_and_square(kernels: &mut [f64], weight: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let mut sums = [0.0; LANES];
            let (chunks, last) = kernels.as_chunks_mut::<LANES>();
            let (weights, last_weights) = weight.as_chunks::<LANES>();
            for (chunk, weight) in chunks.iter_mut().zip(weights) {
                for l in 0..LANES {
                    sums[l] = weight[l].mul_add(chunk[l], sums[l]);
                    chunk[l] *= chunk[l];
                }
            }
            for (l, (v, weight)) in last.iter_mut().zip(last_weights).enumerate() {
                sums[l] = weight.mul_add(*v, sums[l]);
                *v *= *v;
            }
            sums.iter().sum()
        },
    )
}

/// The smallest number.
fn least(x: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let smaller = |a: f64, b: f64| if b < a { b } else { a };
            let mut lanes = [f64::INFINITY; LANES];
            let (chunks, last) = x.as_chunks::<LANES>();
            for chunk in chunks {
                (0..LANES).for_each(|l| lanes[l] = smaller(lanes[l], chunk[l]));
            }
            lanes.iter().chain(last).copied().fold(f64::INFINITY, smaller)
        },
    )
}
