//! Least-squares cross-validation of a one-dimensional bandwidth.

use super::functionals::pair_sum;
use super::normal_scale;
use crate::estimate::sample::Sample;
use hingenet_base::numeric::simd::exp;

/// Number of log-spaced bandwidths scanned before the refinement: the criterion has several local minima.
const SCAN: usize = 60;

/// Estimate of `∫ p̂² - 2 ∫ p̂ p`, with n² in both pair sums:
///
/// ```text
/// LSCV(h) = 1/(2√π n h) + 1/(n² h √π) Σ_{i<j} e^{-d²/(4h²)} - √8/(n² h √π) Σ_{i<j} e^{-d²/(2h²)}
/// ```
pub fn least_squares_criterion(sample: &Sample, h: f64) -> f64 {
    let n = sample.total;
    let root_pi = std::f64::consts::PI.sqrt();
    let wide = 2f64.sqrt() * h;
    // Twice the sum over i < j plus the diagonal, Σ w² at distance 0; equal rows count as pairs i < j.
    let pairs =
        |g: f64| 0.5 * (pair_sum(sample, g, 9.0 * g, |g| move |u: f64| exp(-0.5 * (u / g) * (u / g))) - n);
    1.0 / (2.0 * root_pi * n * h) + (pairs(wide) - 8f64.sqrt() * pairs(h)) / (n * n * h * root_pi)
}

/// The minimiser of [`least_squares_criterion`] over `[0.01, 1.5]` times the normal-scale bandwidth: a scan
/// of 60 log-spaced values, then golden section around the best. The minimum may lie at an end.
pub fn least_squares(sample: &Sample) -> f64 {
    let reference = normal_scale(sample);
    let (low, high) = ((0.01 * reference).ln(), (1.5 * reference).ln());
    let step = (high - low) / (SCAN - 1) as f64;
    let value = |log_h: f64| least_squares_criterion(sample, log_h.exp());
    let mut best = (0, f64::INFINITY);
    for k in 0..SCAN {
        let v = value(low + k as f64 * step);
        if v < best.1 {
            best = (k, v);
        }
    }
    let centre = low + best.0 as f64 * step;
    let (refined, at) = golden_section(value, (centre - step).max(low), (centre + step).min(high));
    if at < best.1 { refined.exp() } else { centre.exp() }
}

/// Minimises a function that is unimodal on `[a, b]`; returns the place and the value.
fn golden_section(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> (f64, f64) {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut x1, mut x2) = (b - ratio * (b - a), a + ratio * (b - a));
    let (mut f1, mut f2) = (f(x1), f(x2));
    for _ in 0..40 {
        if f1 <= f2 {
            (b, x2, f2) = (x2, x1, f1);
            x1 = b - ratio * (b - a);
            f1 = f(x1);
        } else {
            (a, x1, f1) = (x1, x2, f2);
            x2 = a + ratio * (b - a);
            f2 = f(x2);
        }
    }
    if f1 <= f2 { (x1, f1) } else { (x2, f2) }
}
