//! Nonlinear conjugate gradients (Polak-Ribière, restarted), for smooth functions that need not be convex.
//!
//! Nocedal, Wright: Numerical Optimization, 2nd ed., section 5.2 (PR+).

use super::lbfgs::{Iterate, Minimum, largest};
use crate::error::Result;
use crate::numeric::linalg::dot;
use crate::solver::Stopping;

/// Minimises `f`, which writes its gradient and returns its value, until no derivative is larger than the tolerance;
/// `watch` sees every iterate and may stop.
pub fn conjugate_gradient(
    start: Vec<f64>,
    stop: Stopping,
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
    mut watch: impl FnMut(Iterate<'_>) -> Result<bool>,
) -> Result<Minimum> {
    let mut x = start;
    let mut gradient = vec![0.0; x.len()];
    let mut value = f(&x, &mut gradient);
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let (mut iterations, mut evaluations) = (0, 1);
    let mut step = 0.1 / largest(&gradient).max(f64::MIN_POSITIVE);
    let mut converged = false;
    loop {
        if largest(&gradient) <= stop.tolerance
            || watch(Iterate { iteration: iterations, evaluations, x: &x, value })?
        {
            converged = true;
            break;
        }
        if iterations >= stop.max_iterations {
            break;
        }
        let mut slope = dot(&gradient, &direction);
        if slope >= 0.0 {
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        let Some((t, at, now, next)) = search(&x, value, slope, &direction, step, &mut f, &mut evaluations)
        else {
            break;
        };
        let change: Vec<f64> = next.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let beta = (dot(&next, &change) / dot(&gradient, &gradient)).max(0.0);
        let old_slope = slope;
        direction.iter_mut().zip(&next).for_each(|(d, g)| *d = beta * *d - g);
        (x, value, gradient) = (at, now, next);
        // The next step makes the same first-order change.
        let new_slope = dot(&gradient, &direction);
        step = if new_slope < 0.0 { (t * old_slope / new_slope).min(10.0 * t) } else { t };
        iterations += 1;
    }
    Ok(Minimum { gradient_norm: largest(&gradient), x, value, iterations, evaluations, converged })
}

type Step = (f64, Vec<f64>, f64, Vec<f64>);

/// A step with enough decrease and a slope at most a tenth as steep (strong Wolfe), by secant steps.
fn search(
    x: &[f64],
    value: f64,
    slope: f64,
    direction: &[f64],
    first: f64,
    f: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    evaluations: &mut usize,
) -> Option<Step> {
    let (mut low, mut low_slope, mut high, mut high_slope) = (0.0, slope, f64::INFINITY, f64::NAN);
    let mut step = first;
    let mut best: Option<Step> = None;
    for _ in 0..25 {
        let at: Vec<f64> = x.iter().zip(direction).map(|(x, d)| x + step * d).collect();
        let mut gradient = vec![0.0; x.len()];
        let now = f(&at, &mut gradient);
        *evaluations += 1;
        let now_slope = dot(&gradient, direction);
        let fits = now.is_finite() && now <= value + 1e-4 * step * slope;
        if fits && best.as_ref().is_none_or(|b| now < b.2) {
            best = Some((step, at, now, gradient));
        }
        if fits && now_slope.abs() <= 0.1 * slope.abs() {
            break;
        }
        if !fits || now_slope > 0.0 {
            (high, high_slope) = (step, if now.is_finite() { now_slope } else { f64::NAN });
        } else {
            (low, low_slope) = (step, now_slope);
        }
        step = if high.is_infinite() {
            4.0 * step
        } else {
            let width = high - low;
            let secant = -low_slope / (high_slope - low_slope) * width;
            let inside = secant.is_finite() && high_slope > 0.0;
            low + if inside { secant.clamp(0.05 * width, 0.95 * width) } else { 0.5 * width }
        };
        if high.is_finite() && high - low <= 1e-15 * high {
            break;
        }
    }
    best
}
