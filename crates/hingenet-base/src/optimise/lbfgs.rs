//! Limited-memory BFGS with a weak Wolfe line search, for smooth functions of many variables.
//!
//! Nocedal, Wright: Numerical Optimization, 2nd ed., Algorithm 7.5; line search by bracketing as in Lewis,
//! Overton: Nonsmooth optimization via quasi-Newton methods, 2013.

use crate::error::Result;
use crate::numeric::linalg::dot;
use crate::solver::Stopping;
use std::collections::VecDeque;

/// How long to run and what to remember.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LbfgsSettings {
    /// Pairs of steps and gradient changes kept.
    pub memory: usize,
    /// Iterations.
    pub max_iterations: usize,
    /// Stop when no derivative is larger than this.
    pub gradient_tolerance: f64,
}

/// A point the method passed.
#[derive(Debug, Clone, Copy)]
pub struct Iterate<'a> {
    /// Iterations so far.
    pub iteration: usize,
    /// Evaluations of function and gradient so far.
    pub evaluations: usize,
    /// The point.
    pub x: &'a [f64],
    /// Function value.
    pub value: f64,
}

/// Where the method ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The point.
    pub x: Vec<f64>,
    /// Function value.
    pub value: f64,
    /// Largest derivative in absolute value.
    pub gradient_norm: f64,
    /// Iterations.
    pub iterations: usize,
    /// Evaluations of function and gradient.
    pub evaluations: usize,
    /// Whether the gradient tolerance was met or the watcher was satisfied.
    pub converged: bool,
}

/// Minimises `f`, which writes its gradient and returns its value.
///
/// `inverse_scale` is a diagonal that stands in for the inverse Hessian before the first pair (1/n runs
/// the method in the variables √n x). `watch` sees every iterate and may stop the run.
pub fn lbfgs(
    start: Vec<f64>,
    inverse_scale: Option<&[f64]>,
    settings: &LbfgsSettings,
    f: impl FnMut(&[f64], &mut [f64]) -> f64,
    watch: impl FnMut(Iterate<'_>) -> Result<bool>,
) -> Result<Minimum> {
    let stop = Stopping { tolerance: settings.gradient_tolerance, max_iterations: settings.max_iterations };
    let mut memory = Memory { pairs: VecDeque::new(), size: settings.memory, inverse_scale };
    minimise(start, stop, f, watch, |at, f| {
        loop {
            let mut direction = memory.direction(&at.gradient);
            if dot(&direction, &at.gradient) >= 0.0 {
                memory.pairs.clear();
                direction = memory.direction(&at.gradient);
            }
            let first = if memory.pairs.is_empty() { first_step(&direction) } else { 1.0 };
            if let Some(found) = line_search(at, &direction, first, f) {
                memory.push(difference(&found.x, &at.x), difference(&found.gradient, &at.gradient));
                return Some(found);
            }
            if memory.pairs.is_empty() {
                return None;
            }
            memory.pairs.clear();
        }
    })
}

/// A point with value and gradient.
pub(super) struct Point {
    pub(super) x: Vec<f64>,
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
}

/// The function at a step of this length along a direction.
pub(super) type Along<'a> = dyn FnMut(f64, &[f64]) -> Point + 'a;

/// Asks a method for lower points until no derivative is larger than the tolerance, the watcher is satisfied, or the
/// method finds none.
pub(super) fn minimise(
    start: Vec<f64>,
    stop: Stopping,
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
    mut watch: impl FnMut(Iterate<'_>) -> Result<bool>,
    mut method: impl FnMut(&Point, &mut Along<'_>) -> Option<Point>,
) -> Result<Minimum> {
    let mut evaluate = |x: Vec<f64>| {
        let mut gradient = vec![0.0; x.len()];
        Point { value: f(&x, &mut gradient), gradient, x }
    };
    let mut at = evaluate(start);
    let (mut iterations, mut evaluations) = (0, 1);
    let converged = loop {
        let iterate = Iterate { iteration: iterations, evaluations, x: &at.x, value: at.value };
        if largest(&at.gradient) <= stop.tolerance || watch(iterate)? {
            break true;
        }
        if iterations >= stop.max_iterations {
            break false;
        }
        let lower = method(&at, &mut |step, direction| {
            evaluations += 1;
            evaluate(at.x.iter().zip(direction).map(|(x, d)| x + step * d).collect())
        });
        let Some(lower) = lower else { break false };
        at = lower;
        iterations += 1;
    };
    let gradient_norm = largest(&at.gradient);
    Ok(Minimum { x: at.x, value: at.value, gradient_norm, iterations, evaluations, converged })
}

/// `a − b`.
pub(super) fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Largest absolute value.
pub fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// The first step changes no variable by more than one half.
fn first_step(direction: &[f64]) -> f64 {
    (0.5 / largest(direction).max(f64::MIN_POSITIVE)).min(1.0)
}

struct Memory<'a> {
    pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
    size: usize,
    inverse_scale: Option<&'a [f64]>,
}

impl Memory<'_> {
    fn push(&mut self, step: Vec<f64>, change: Vec<f64>) {
        let curvature = dot(&step, &change);
        if curvature <= 1e-14 * dot(&change, &change).sqrt() * dot(&step, &step).sqrt() {
            return;
        }
        if self.pairs.len() == self.size {
            self.pairs.pop_front();
        }
        self.pairs.push_back((step, change, 1.0 / curvature));
    }

    fn scaled(&self, x: &[f64]) -> Vec<f64> {
        match self.inverse_scale {
            Some(scale) => x.iter().zip(scale).map(|(x, s)| x * s).collect(),
            None => x.to_vec(),
        }
    }

    /// `−H g` by the two-loop recursion.
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut alphas = Vec::with_capacity(self.pairs.len());
        for (step, change, rho) in self.pairs.iter().rev() {
            let alpha = rho * dot(step, &d);
            d.iter_mut().zip(change).for_each(|(d, y)| *d -= alpha * y);
            alphas.push(alpha);
        }
        d = self.scaled(&d);
        if let Some((step, change, _)) = self.pairs.back() {
            let size = dot(step, change) / dot(change, &self.scaled(change));
            d.iter_mut().for_each(|d| *d *= size);
        }
        for ((step, change, rho), alpha) in self.pairs.iter().zip(alphas.iter().rev()) {
            let beta = rho * dot(change, &d);
            d.iter_mut().zip(step).for_each(|(d, s)| *d += (alpha - beta) * s);
        }
        d
    }
}

/// A step with enough decrease (1e-4) and a flatter slope (0.9). Near the optimum, where values differ by
/// rounding only, the slope alone decides.
fn line_search(from: &Point, direction: &[f64], first: f64, f: &mut Along<'_>) -> Option<Point> {
    let (value, slope) = (from.value, dot(&from.gradient, direction));
    if slope.is_nan() || slope >= 0.0 {
        return None;
    }
    let rounding = 1e-14 * value.abs();
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let (mut low_value, mut low_slope) = (value, slope);
    let mut step = first;
    for _ in 0..50 {
        let at = f(step, direction);
        let (now, now_slope) = (at.value, dot(&at.gradient, direction));
        let decreased = now <= value + 1e-4 * step * slope;
        let level = (now - value).abs() <= rounding && now_slope.abs() <= 0.9 * slope.abs();
        if now.is_finite() && (decreased || level) {
            if now_slope >= 0.9 * slope || level {
                return Some(at);
            }
            (low, low_value, low_slope) = (step, now, now_slope);
        } else {
            high = step;
        }
        step = if high.is_infinite() {
            2.0 * step
        } else {
            // Minimum of the parabola through the lower end, kept inside the bracket.
            let width = high - low;
            let bend = now - low_value - low_slope * width;
            let guess = if high == step && bend > 0.0 && now.is_finite() {
                -0.5 * low_slope * width * width / bend
            } else {
                0.5 * width
            };
            // `clamp` would keep a guess that overflowed to NaN
            low + guess.max(0.1 * width).min(0.9 * width)
        };
        if high.is_finite() && high - low <= 1e-16 * high {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_overflows_ends_the_search_without_a_panic() {
        let f = |x: &[f64], g: &mut [f64]| {
            g[0] = 1e308 * x[0];
            1e308 * x[0] * x[0]
        };
        let settings = LbfgsSettings { memory: 3, max_iterations: 20, gradient_tolerance: 1e-9 };
        for start in [1e-3, 0.5, 1e3, 1e200] {
            let m = lbfgs(vec![start], None, &settings, f, |_| Ok(false)).unwrap();
            assert!(!m.x[0].is_nan(), "{start}: {m:?}");
        }
    }

    #[test]
    fn the_rosenbrock_valley_is_followed_to_its_end() {
        let f = |x: &[f64], g: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            g[0] = -2.0 * a - 400.0 * x[0] * b;
            g[1] = 200.0 * b;
            a * a + 100.0 * b * b
        };
        let settings = LbfgsSettings { memory: 10, max_iterations: 200, gradient_tolerance: 1e-9 };
        let m = lbfgs(vec![-1.2, 1.0], None, &settings, f, |_| Ok(false)).unwrap();
        assert!(m.converged && (m.x[0] - 1.0).abs() < 1e-8 && (m.x[1] - 1.0).abs() < 1e-8, "{m:?}");
    }
}
