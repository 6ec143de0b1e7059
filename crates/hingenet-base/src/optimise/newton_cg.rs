//! Newton's method with truncated conjugate gradients, for smooth convex functions whose Hessian products
//! are cheap.
//!
//! Nocedal, Wright: Numerical Optimization, 2nd ed., Algorithm 7.1, with a diagonal preconditioner.

use super::lbfgs::{Iterate, Minimum, largest};
use crate::error::Result;
use crate::numeric::linalg::dot;

/// A function with gradient and Hessian products.
pub trait Curved {
    /// What is known at one point.
    type Point;
    /// Evaluates the function.
    fn evaluate(&self, x: &[f64]) -> Self::Point;
    /// Function value.
    fn value(&self, at: &Self::Point) -> f64;
    /// Gradient.
    fn gradient<'a>(&self, at: &'a Self::Point) -> &'a [f64];
    /// Hessian times a direction.
    fn hessian_product(&self, at: &Self::Point, direction: &[f64]) -> Vec<f64>;
    /// Inverse of an approximate Hessian diagonal.
    fn preconditioner(&self, at: &Self::Point) -> Vec<f64>;
}

/// How long to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonSettings {
    /// Newton steps.
    pub max_iterations: usize,
    /// Conjugate-gradient steps in each.
    pub max_inner: usize,
    /// Stop when no derivative is larger than this.
    pub gradient_tolerance: f64,
}

/// Minimises a convex function; `watch` sees every iterate and may stop the run.
pub fn newton_cg<F: Curved>(
    start: Vec<f64>,
    settings: &NewtonSettings,
    f: &F,
    mut watch: impl FnMut(Iterate<'_>) -> Result<bool>,
) -> Result<Minimum> {
    let mut x = start;
    let mut at = f.evaluate(&x);
    let (mut iterations, mut evaluations) = (0, 1);
    let mut converged = false;
    loop {
        let value = f.value(&at);
        if largest(f.gradient(&at)) <= settings.gradient_tolerance
            || watch(Iterate { iteration: iterations, evaluations, x: &x, value })?
        {
            converged = true;
            break;
        }
        if iterations >= settings.max_iterations {
            break;
        }
        let (direction, products) = newton_direction(f, &at, settings.max_inner);
        evaluations += products;
        let slope = dot(f.gradient(&at), &direction);
        let mut step = 1.0;
        let mut next = None;
        for _ in 0..40 {
            let trial: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
            let point = f.evaluate(&trial);
            evaluations += 1;
            if f.value(&point) <= value + 1e-4 * step * slope + 1e-15 * value.abs() {
                next = Some((trial, point));
                break;
            }
            step *= 0.5;
        }
        let Some((trial, point)) = next else { break };
        (x, at) = (trial, point);
        iterations += 1;
    }
    let (value, gradient_norm) = (f.value(&at), largest(f.gradient(&at)));
    Ok(Minimum { x, value, gradient_norm, iterations, evaluations, converged })
}

/// Solves `H d = −g` roughly (forcing term min(½, √|g|) in the preconditioned norm); returns the number of
/// Hessian products.
fn newton_direction<F: Curved>(f: &F, at: &F::Point, max_inner: usize) -> (Vec<f64>, usize) {
    let inverse = f.preconditioner(at);
    let mut residual: Vec<f64> = f.gradient(at).iter().map(|g| -g).collect();
    let mut x = vec![0.0; residual.len()];
    let precondition = |r: &[f64]| r.iter().zip(&inverse).map(|(r, p)| r * p).collect::<Vec<f64>>();
    let mut z = precondition(&residual);
    let mut p = z.clone();
    let mut rz = dot(&residual, &z);
    let start = rz;
    let forcing = (rz.sqrt() / f.value(at).abs().max(1.0).sqrt()).sqrt().min(0.5);
    for inner in 0..max_inner {
        let hp = f.hessian_product(at, &p);
        let curvature = dot(&p, &hp);
        if curvature <= 1e-16 * dot(&p, &p) {
            return (if inner == 0 { p } else { x }, inner + 1);
        }
        let alpha = rz / curvature;
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += alpha * p);
        residual.iter_mut().zip(&hp).for_each(|(r, h)| *r -= alpha * h);
        z = precondition(&residual);
        let next = dot(&residual, &z);
        if next <= forcing * forcing * start {
            return (x, inner + 1);
        }
        let beta = next / rz;
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        rz = next;
    }
    (x, max_inner)
}
