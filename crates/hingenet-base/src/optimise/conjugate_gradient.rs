//! Nonlinear conjugate gradients (Polak-Ribière, restarted), for smooth functions that need not be convex.
//!
//! Nocedal, Wright: Numerical Optimization, 2nd ed., section 5.2 (PR+).

use super::lbfgs::{Along, Iterate, Minimum, Point, difference, largest, minimise};
use crate::error::Result;
use crate::numeric::linalg::dot;
use crate::solver::Stopping;

/// Minimises `f`, which writes its gradient and returns its value, until no derivative is larger than the tolerance;
/// `watch` sees every iterate and may stop.
pub fn conjugate_gradient(
    start: Vec<f64>,
    stop: Stopping,
    f: impl FnMut(&[f64], &mut [f64]) -> f64,
    watch: impl FnMut(Iterate<'_>) -> Result<bool>,
) -> Result<Minimum> {
    let (mut direction, mut step): (Vec<f64>, f64) = (Vec::new(), 0.0);
    minimise(start, stop, f, watch, |at, f| {
        let gradient = &at.gradient;
        if direction.is_empty() {
            direction = gradient.iter().map(|g| -g).collect();
            step = 0.1 / largest(gradient).max(f64::MIN_POSITIVE);
        }
        let mut slope = dot(gradient, &direction);
        if slope >= 0.0 {
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(gradient, gradient);
        }
        let (length, next) = search(at, slope, &direction, step, f)?;
        let change = difference(&next.gradient, gradient);
        let beta = (dot(&next.gradient, &change) / dot(gradient, gradient)).max(0.0);
        direction.iter_mut().zip(&next.gradient).for_each(|(d, g)| *d = beta * *d - g);
        // The next step makes the same first-order change.
        let new_slope = dot(&next.gradient, &direction);
        step = if new_slope < 0.0 { (length * slope / new_slope).min(10.0 * length) } else { length };
        Some(next)
    })
}

/// A step with enough decrease and a slope at most a tenth as steep (strong Wolfe), by secant steps; also its length.
fn search(
    from: &Point,
    slope: f64,
    direction: &[f64],
    first: f64,
    f: &mut Along<'_>,
) -> Option<(f64, Point)> {
    let (mut low, mut low_slope, mut high, mut high_slope) = (0.0, slope, f64::INFINITY, f64::NAN);
    let mut step = first;
    let mut best: Option<(f64, Point)> = None;
    for _ in 0..25 {
        let at = f(step, direction);
        let (now, now_slope) = (at.value, dot(&at.gradient, direction));
        let fits = now.is_finite() && now <= from.value + 1e-4 * step * slope;
        if fits && best.as_ref().is_none_or(|(_, b)| now < b.value) {
            best = Some((step, at));
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
