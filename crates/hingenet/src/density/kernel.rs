//! Gaussian kernel density estimates of one and two variables, evaluated exactly in log space:
//! `p(x) = (1/m) Σ_i K(x - x_i)`. Leave-one-out values omit the term, they do not subtract it.

use super::bandwidth::Symmetric;
use super::sample::{PairSample, Sample};
use crate::error::{Error, Result, require};
use crate::numeric::simd::{exp, vectorised, weighted_exp_sum};

/// Sums of kernels above this are taken as they are; below it the largest exponent is taken out first.
const SAFE: f64 = 1e-250;

/// `ln √(2π)`.
const LOG_ROOT_TAU: f64 = 0.918_938_533_204_672_7;

/// Which values of an estimate are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// The query is no training row, or counts as such: all kernels.
    Keep,
    /// The query is training row i: its kernel is left out.
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
        vectorised(
            #[inline(always)]
            || {
                let mut exponents = vec![0.0; self.centres.len()];
                let value = |(q, x): (usize, &f64)| {
                    let at = (x - self.origin) / self.h;
                    for (u, c) in exponents.iter_mut().zip(&self.centres) {
                        *u = -0.5 * (at - c) * (at - c);
                    }
                    self.log_peak() + log_mean_exp(&mut exponents, &self.weights, self.total, own(q))
                };
                queries.iter().enumerate().map(value).collect()
            },
        )
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
        vectorised(
            #[inline(always)]
            || {
                let mut exponents = vec![0.0; self.first.len()];
                let value = |(q, (x, y)): (usize, (&f64, &f64))| {
                    let (s, t) = self.whitened(*x, *y);
                    for ((u, a), b) in exponents.iter_mut().zip(&self.first).zip(&self.second) {
                        *u = -0.5 * ((s - a) * (s - a) + (t - b) * (t - b));
                    }
                    self.log_peak() + log_mean_exp(&mut exponents, &self.weights, self.total, own(q))
                };
                x.iter().zip(y).enumerate().map(value).collect()
            },
        )
    }

    #[inline(always)]
    fn whitened(&self, x: f64, y: f64) -> (f64, f64) {
        let s = (x - self.origin.0) / self.factor[0];
        (s, (y - self.origin.1 - self.factor[1] * s) / self.factor[2])
    }
}

/// `log (Σ w e^u / Σ w)`, with the own term left out above and below where asked; `-inf` if nothing is left.
#[inline(always)]
fn log_mean_exp(exponents: &mut [f64], weights: &[f64], total: f64, own: Own) -> f64 {
    let mut m = total;
    if let Own::Omit(i) = own {
        exponents[i] = f64::NEG_INFINITY;
        m -= weights[i];
    }
    let sum = weighted_exp_sum(exponents, weights);
    if sum > SAFE {
        return (sum / m).ln();
    }
    let max = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY || m <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let scaled: f64 = exponents.iter().zip(weights).map(|(u, w)| w * exp(u - max)).sum();
    max + (scaled / m).ln()
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
    /// The smallest log density for an estimate with this peak and total weight.
    pub fn log_value(&self, log_peak: f64, total: f64) -> f64 {
        match self {
            Floor::Bandwidths(r) => log_peak - total.ln() - 0.5 * r * r,
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
