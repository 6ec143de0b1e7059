//! Gaussian kernel density estimates of one and two variables, evaluated exactly in log space:
//! `p(x) = (1/m) Σ_i K(x - x_i)`. Leave-one-out values omit the term, they do not subtract it.

use super::bandwidth::Symmetric;
use super::kernel_grid::{TOLERANCE, grid_sums};
use super::sample::{PairSample, Sample};
use crate::error::{Error, Result, require};
use crate::numeric::simd::{LANES, fused_exp, vectorised};

/// Sums of kernels above this are taken as they are; below it the largest exponent is taken out first.
const SAFE: f64 = 1e-250;

/// `ln √(2π)`.
const LOG_ROOT_TAU: f64 = 0.918_938_533_204_672_7;

/// Which values of an estimate are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// The query is no training row, or counts as such: all kernels.
    Keep,
    /// The query is training row i: its kernel is left out (one copy of it, if the row has a weight above 1).
    Omit(usize),
}

/// Density estimate of one variable.
#[derive(Debug, Clone, PartialEq)]
pub struct LineKde {
    /// Centres in units of the bandwidth, from the first one: a large common shift costs no digits.
    centres: Vec<f64>,
    origin: f64,
    weights: Vec<f64>,
    total: f64,
    h: f64,
}

impl LineKde {
    /// The estimate with bandwidth h > 0.
    pub fn new(sample: &Sample, h: f64) -> Result<Self> {
        require("bandwidth", h, "a finite number > 0", h.is_finite() && h > 0.0)?;
        if sample.is_empty() {
            return Err(Error::data("a density needs at least one value", "drop the column"));
        }
        let origin = sample.values()[0];
        let centres = sample.values().iter().map(|x| (x - origin) / h).collect();
        Ok(LineKde { centres, origin, weights: sample.weights().to_vec(), total: sample.total(), h })
    }

    /// The bandwidth.
    pub fn h(&self) -> f64 {
        self.h
    }

    /// Total weight m of the rows behind the estimate.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// `log K(0)`, the kernel's peak: no value of the estimate is above it.
    pub fn log_peak(&self) -> f64 {
        -LOG_ROOT_TAU - self.h.ln()
    }

    /// `log p(x)`.
    pub fn log_density(&self, x: f64) -> f64 {
        self.log_densities(&[x], |_| Own::Keep)[0]
    }

    /// `log p` at every query; `own` says which query is which training row.
    pub fn log_densities(&self, queries: &[f64], own: impl Fn(usize) -> Own) -> Vec<f64> {
        let mut out = vec![0.0; queries.len()];
        let mut terms = Terms::new(&self.weights, self.total);
        // Plain loops: what is called through iterators is not compiled for the wide instructions.
        vectorised(
            #[inline(always)]
            || {
                for (q, x) in queries.iter().enumerate() {
                    let at = (x - self.origin) / self.h;
                    let m = terms.leave_out(own(q));
                    let sum = line_sum(&self.centres, &terms.weights, at);
                    let exponents = || self.centres.iter().map(|c| -0.5 * (at - c) * (at - c)).collect();
                    out[q] = self.log_peak() + terms.log_mean(sum, m, exponents);
                }
            },
        );
        out
    }
}

/// Density estimate of two variables with a full bandwidth matrix `H = L L'`.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaneKde {
    /// Centres `L⁻¹ (x - x_0)`, coordinate by coordinate.
    first: Vec<f64>,
    second: Vec<f64>,
    origin: (f64, f64),
    weights: Vec<f64>,
    total: f64,
    h: Symmetric,
    factor: [f64; 3],
}

impl PlaneKde {
    /// The estimate with a positive definite bandwidth matrix.
    pub fn new(sample: &PairSample, h: Symmetric) -> Result<Self> {
        let shown = format!("[[{}, {}], [{}, {}]]", h.a, h.b, h.b, h.c);
        require("bandwidth matrix", shown, "a positive definite matrix", h.is_positive_definite())?;
        if sample.is_empty() {
            return Err(Error::data("a density needs at least one pair of values", "drop the pair"));
        }
        let l11 = h.a.sqrt();
        let l21 = h.b / l11;
        let l22 = (h.c - l21 * l21).sqrt();
        let mut kde = PlaneKde {
            first: Vec::new(),
            second: Vec::new(),
            origin: (sample.x()[0], sample.y()[0]),
            weights: sample.weights().to_vec(),
            total: sample.total(),
            h,
            factor: [l11, l21, l22],
        };
        (kde.first, kde.second) =
            sample.x().iter().zip(sample.y()).map(|(x, y)| kde.whitened(*x, *y)).unzip();
        Ok(kde)
    }

    /// The bandwidth matrix.
    pub fn h(&self) -> Symmetric {
        self.h
    }

    /// Total weight m of the rows behind the estimate.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// `log K(0) = -log(2π |H|^½)`.
    pub fn log_peak(&self) -> f64 {
        -2.0 * LOG_ROOT_TAU - self.factor[0].ln() - self.factor[2].ln()
    }

    /// `log p(x, y)`.
    pub fn log_density(&self, x: f64, y: f64) -> f64 {
        self.log_densities(&[x], &[y], |_| Own::Keep)[0]
    }

    /// `log p` at every query; `own` says which query is which training row.
    pub fn log_densities(&self, x: &[f64], y: &[f64], own: impl Fn(usize) -> Own) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        let mut terms = Terms::new(&self.weights, self.total);
        vectorised(
            #[inline(always)]
            || {
                for q in 0..x.len() {
                    let at = self.whitened(x[q], y[q]);
                    let m = terms.leave_out(own(q));
                    let sum = plane_sum(&self.first, &self.second, &terms.weights, at);
                    let exponents = || {
                        let squares = |(a, b): (&f64, &f64)| (at.0 - a).powi(2) + (at.1 - b).powi(2);
                        self.first.iter().zip(&self.second).map(|c| -0.5 * squares(c)).collect()
                    };
                    out[q] = self.log_peak() + terms.log_mean(sum, m, exponents);
                }
            },
        );
        out
    }

    /// As [`Self::log_densities`] for readers that do not tell values below `least` apart: those come out no higher than
    /// `least` plus the error, the others are right to 2e-4, whatever their size. With many rows and queries this goes by
    /// way of a grid, in time that hardly grows with them.
    pub fn log_densities_above(
        &self,
        least: f64,
        x: &[f64],
        y: &[f64],
        own: impl Fn(usize) -> Own,
    ) -> Vec<f64> {
        let Some(sums) = self.sums_above(least, x, y) else { return self.log_densities(x, y, own) };
        let mut out = vec![0.0; x.len()];
        let mut again = Vec::new();
        for (q, sum) in sums.iter().enumerate() {
            let less = match own(q) {
                Own::Keep => 0.0,
                Own::Omit(i) => self.weights[i],
            };
            // The own kernel would leave mostly the error of the sum.
            if less > 0.0 && *sum < 2.0 * less {
                again.push(q);
            } else {
                out[q] = self.log_peak() + ((sum - less) / (self.total - less)).ln();
            }
        }
        let at = |v: &[f64]| again.iter().map(|&q| v[q]).collect::<Vec<f64>>();
        let exact = self.log_densities(&at(x), &at(y), |k| own(again[k]));
        again.iter().zip(exact).for_each(|(&q, v)| out[q] = v);
        out
    }

    /// Kernel sums by way of a grid; kernels out of its reach together are below half the tolerance of `least`.
    fn sums_above(&self, least: f64, x: &[f64], y: &[f64]) -> Option<Vec<f64>> {
        let depth = (self.log_peak() - least).max(0.0) + (2.0 / TOLERANCE).ln();
        if !depth.is_finite() {
            return None;
        }
        let (s, t): (Vec<f64>, Vec<f64>) = x.iter().zip(y).map(|(x, y)| self.whitened(*x, *y)).unzip();
        grid_sums((&self.first, &self.second), &self.weights, (&s, &t), (2.0 * depth).sqrt())
    }

    #[inline(always)]
    fn whitened(&self, x: f64, y: f64) -> (f64, f64) {
        let s = (x - self.origin.0) / self.factor[0];
        (s, (y - self.origin.1 - self.factor[1] * s) / self.factor[2])
    }
}

/// What leaving a row out takes from the weight of the merged row it belongs to: one row, so that the other
/// copies of a repeated row stay. (Without them a row of a table of categories would make its own class look
/// less likely than the others.)
#[inline(always)]
pub fn one_row(weight: f64) -> f64 {
    weight.min(1.0)
}

/// Weights of the kernels, one row of the present query's own kernel left out.
struct Terms {
    weights: Vec<f64>,
    total: f64,
    left_out: Option<(usize, f64)>,
}

impl Terms {
    fn new(weights: &[f64], total: f64) -> Self {
        Terms { weights: weights.to_vec(), total, left_out: None }
    }

    /// Total weight of the kernels that remain.
    #[inline(always)]
    fn leave_out(&mut self, own: Own) -> f64 {
        if let Some((i, w)) = self.left_out.take() {
            self.weights[i] = w;
        }
        match own {
            Own::Keep => self.total,
            Own::Omit(i) => {
                let w = self.weights[i];
                self.weights[i] = w - one_row(w);
                self.left_out = Some((i, w));
                self.total - one_row(w)
            }
        }
    }

    /// `log (sum / m)`; a sum so small that it has lost digits is computed again with the largest exponent taken out.
    /// `-inf` if no kernel is left.
    #[inline(always)]
    fn log_mean(&self, sum: f64, m: f64, exponents: impl Fn() -> Vec<f64>) -> f64 {
        if sum > SAFE {
            return (sum / m).ln();
        }
        self.log_mean_of(m, &exponents())
    }

    #[cold]
    fn log_mean_of(&self, m: f64, exponents: &[f64]) -> f64 {
        let present = || exponents.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
        let max = present().map(|(u, _)| *u).fold(f64::NEG_INFINITY, f64::max);
        if max == f64::NEG_INFINITY || m <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let scaled: f64 = present().map(|(u, w)| w * (u - max).exp()).sum();
        max + (scaled / m).ln()
    }
}

/// `Σ_i w_i exp(-½ (at - c_i)²)` in eight running sums, so that the order is fixed and the additions overlap.
#[inline(always)]
fn line_sum(centres: &[f64], weights: &[f64], at: f64) -> f64 {
    let mut sums = [0.0f64; LANES];
    let whole = centres.len() - centres.len() % LANES;
    for (c, w) in centres[..whole].chunks_exact(LANES).zip(weights[..whole].chunks_exact(LANES)) {
        for l in 0..LANES {
            let u = at - c[l];
            sums[l] = w[l].mul_add(fused_exp(-0.5 * u * u), sums[l]);
        }
    }
    let mut tail = 0.0;
    for (c, w) in centres[whole..].iter().zip(&weights[whole..]) {
        tail += w * fused_exp(-0.5 * (at - c) * (at - c));
    }
    added(&sums) + tail
}

/// `Σ_i w_i exp(-½ |at - (a_i, b_i)|²)`.
#[inline(always)]
fn plane_sum(first: &[f64], second: &[f64], weights: &[f64], at: (f64, f64)) -> f64 {
    let mut sums = [0.0f64; LANES];
    let whole = first.len() - first.len() % LANES;
    let centres = first[..whole].chunks_exact(LANES).zip(second[..whole].chunks_exact(LANES));
    for ((a, b), w) in centres.zip(weights[..whole].chunks_exact(LANES)) {
        for l in 0..LANES {
            let (u, v) = (at.0 - a[l], at.1 - b[l]);
            sums[l] = w[l].mul_add(fused_exp(-0.5 * u.mul_add(u, v * v)), sums[l]);
        }
    }
    let mut tail = 0.0;
    for i in whole..first.len() {
        let (u, v) = (at.0 - first[i], at.1 - second[i]);
        tail += weights[i] * fused_exp(-0.5 * u.mul_add(u, v * v));
    }
    added(&sums) + tail
}

#[inline(always)]
fn added(sums: &[f64; LANES]) -> f64 {
    let pairs = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
    (pairs[0] + pairs[2]) + (pairs[1] + pairs[3])
}

/// Lower end of a log-density feature (Remark 2 of the paper leaves it open): the density that one lone
/// training point produces R bandwidths away, `log K(0) - log m - R²/2`. It is equivariant under rescaling.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Floor {
    /// R bandwidths.
    Bandwidths(f64),
    /// An absolute log density.
    Absolute(f64),
    /// No floor.
    None,
}

impl Floor {
    /// The smallest log density for an estimate with this peak and total weight. Less than one row counts as
    /// one: the floor must not lie above the peak.
    pub fn log_value(&self, log_peak: f64, total: f64) -> f64 {
        match self {
            Floor::Bandwidths(r) => log_peak - total.max(1.0).ln() - 0.5 * r * r,
            Floor::Absolute(v) => *v,
            Floor::None => f64::NEG_INFINITY,
        }
    }

    /// Refuses NaN, and a negative number of bandwidths.
    pub fn check(&self) -> Result<()> {
        match self {
            Floor::Bandwidths(r) => require("floor", r, "a finite number >= 0", r.is_finite() && *r >= 0.0),
            Floor::Absolute(v) => require("floor", v, "a finite log density", v.is_finite()),
            Floor::None => Ok(()),
        }
    }
}
