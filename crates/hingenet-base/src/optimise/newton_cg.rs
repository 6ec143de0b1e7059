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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::linalg::{Cholesky, Matrix};
    use crate::numeric::random::Random;

    /// `½ x'Ax − b'x + weight Σ ln cosh x`: a quadratic, or strictly convex beyond it.
    struct Bowl {
        a: Matrix,
        b: Vec<f64>,
        weight: f64,
    }

    impl Curved for Bowl {
        type Point = (Vec<f64>, f64, Vec<f64>);

        fn evaluate(&self, x: &[f64]) -> Self::Point {
            let ax = self.a.mul_vec(x);
            let bent: f64 = x.iter().map(|x| x.abs() + (0.5 + 0.5 * (-2.0 * x.abs()).exp()).ln()).sum();
            let slope = |j: usize| ax[j] - self.b[j] + self.weight * x[j].tanh();
            let value = 0.5 * dot(x, &ax) - dot(&self.b, x) + self.weight * bent;
            (x.to_vec(), value, (0..x.len()).map(slope).collect())
        }

        fn value(&self, at: &Self::Point) -> f64 {
            at.1
        }

        fn gradient<'a>(&self, at: &'a Self::Point) -> &'a [f64] {
            &at.2
        }

        fn hessian_product(&self, at: &Self::Point, direction: &[f64]) -> Vec<f64> {
            let bend = |x: f64| self.weight / x.cosh().powi(2);
            let product = self.a.mul_vec(direction);
            product.iter().zip(at.0.iter().zip(direction)).map(|(p, (x, d))| p + bend(*x) * d).collect()
        }

        fn preconditioner(&self, at: &Self::Point) -> Vec<f64> {
            let entry = |j: usize| 1.0 / (self.a[(j, j)] + self.weight / at.0[j].cosh().powi(2));
            (0..at.0.len()).map(entry).collect()
        }
    }

    fn bowl(weight: f64) -> Bowl {
        let mut random = Random::new(11);
        let x = Matrix::from_fn(12, 8, |_, j| random.normal() * 10f64.powi(j as i32 % 3));
        let a = x.transpose().mul(&x);
        Bowl { a, b: (0..8).map(|_| 10.0 * random.normal()).collect(), weight }
    }

    fn minimum(bowl: &Bowl) -> Minimum {
        let settings = NewtonSettings { max_iterations: 100, max_inner: 50, gradient_tolerance: 1e-9 };
        newton_cg(vec![3.0; 8], &settings, bowl, |_| Ok(false)).unwrap()
    }

    #[test]
    fn the_minimum_of_a_quadratic_is_that_of_cholesky() {
        let bowl = bowl(0.0);
        let mut want = bowl.b.clone();
        Cholesky::new(&bowl.a).unwrap().solve(&mut want);
        let found = minimum(&bowl);
        assert!(found.converged, "{found:?}");
        assert!(found.x.iter().zip(&want).all(|(x, w)| (x - w).abs() < 1e-8), "{found:?} {want:?}");
    }

    /// The slope is zero where it ends, and rises everywhere: no other point is a minimum.
    #[test]
    fn a_function_that_is_not_quadratic_is_followed_to_its_minimum() {
        let bowl = bowl(50.0);
        let found = minimum(&bowl);
        let x = &found.x;
        for j in 0..8 {
            let slope = dot(bowl.a.row(j), x) - bowl.b[j] + 50.0 * x[j].tanh();
            assert!(slope.abs() < 1e-8, "{j}: {slope}, {found:?}");
        }
        assert!(found.converged && found.value < bowl.evaluate(&[0.0; 8]).1);
    }
}
