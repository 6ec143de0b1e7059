//! The support vector machine with squared slacks, in the dual:
//!
//! ```text
//! J0 = max_α Σ α_i − ½ Σ α_i α_k y_i y_k K̃_ik,   y'α = 0,  α >= 0,      K̃ = K + diag(1 / (C w_i))
//! ```
//!
//! i.e. `½ ‖w‖² + (C/2) Σ w_i ξ_i²` in the primal. K̃ is positive definite: α is unique and J0 is differentiable in K.
//! Newton's method on the primal (Mangasarian 2002, Chapelle 2007) solves a linear system for the rows inside the margin
//! until that set stays the same. Where it does not, or rounding is left over, sequential minimal optimisation
//! with the second-order choice of the pair (Fan, Chen, Lin 2005) goes on; there is no upper bound on α, so a step is
//! limited by zero only.

use crate::numeric::linalg::{Cholesky, Matrix};
use crate::solver::SolverReport;

/// A solved machine.
#[derive(Debug, Clone)]
pub struct L2Svm {
    /// Dual variables.
    pub alpha: Vec<f64>,
    /// Bias: the mean over `α_i > 0` of `y_i − Σ_k α_k y_k K̃_ki`.
    pub bias: f64,
    /// J0, which is `½ ‖w‖²` plus the slack term at the optimum.
    pub objective: f64,
    /// How the solver ended; the gap is the largest violation of the optimality conditions.
    pub report: SolverReport,
}

/// Solves for labels ±1. `kernel` is K̃ already; `start` must satisfy the constraints (an old solution of the same
/// labels does). With one label only, α = 0.
pub fn l2_svm(
    kernel: &Matrix,
    y: &[f64],
    start: Option<&[f64]>,
    tolerance: f64,
    max_iterations: usize,
) -> L2Svm {
    let n = y.len();
    let start = start.filter(|s| s.len() == n);
    let mut smo = Smo { kernel, y, alpha: vec![0.0; n], slope: vec![-1.0; n] };
    let newton = newton(kernel, y, start);
    if let Some(alpha) = newton.as_ref().map(|(alpha, _)| alpha.as_slice()).or(start) {
        smo.start_from(alpha);
    }
    let mut iterations = newton.map_or(0, |(_, iterations)| iterations);
    let max_iterations = max_iterations.saturating_add(iterations);
    let mut gap = smo.step();
    while gap.is_some_and(|g| g > tolerance) && iterations < max_iterations {
        iterations += 1;
        gap = smo.step_above(tolerance);
    }
    let gap = gap.unwrap_or(0.0).max(0.0);
    let objective = 0.5 * smo.alpha.iter().zip(&smo.slope).map(|(a, g)| a * (1.0 - g)).sum::<f64>();
    L2Svm {
        bias: smo.bias(),
        objective,
        report: SolverReport {
            method: "Newton and SMO (largest violation of the optimality conditions)".into(),
            converged: gap <= tolerance,
            iterations,
            objective,
            gap: Some(gap),
            slack: None,
        },
        alpha: smo.alpha,
    }
}

/// Largest number of linear systems, and of rows: beyond, pairs are cheaper than factors.
const NEWTON_STEPS: usize = 15;
const NEWTON_ROWS: usize = 2000;

/// Newton's method from the support of `start`, else from all rows: with the support S held, `K̃_SS β + b = y_S`, `Σ β = 0`
/// and `α = y β`. A row stays in S while `α > 0` and enters when it lies inside the margin; a set that reproduces
/// itself is optimal. `None` when the set does not settle, or for many rows.
fn newton(kernel: &Matrix, y: &[f64], start: Option<&[f64]>) -> Option<(Vec<f64>, usize)> {
    let n = y.len();
    if n > NEWTON_ROWS {
        return None;
    }
    let mut support: Vec<usize> = match start {
        Some(alpha) => (0..n).filter(|&i| alpha[i] > 0.0).collect(),
        None => (0..n).collect(),
    };
    for iterations in 1..=NEWTON_STEPS {
        if !support.iter().any(|&i| y[i] > 0.0) || !support.iter().any(|&i| y[i] < 0.0) {
            return None;
        }
        let (beta, bias) = equality_solution(kernel, y, &support)?;
        let mut score = vec![bias; n];
        for (&i, b) in support.iter().zip(&beta) {
            score.iter_mut().zip(kernel.row(i)).for_each(|(s, k)| *s += b * k);
        }
        let mut alpha = vec![0.0; n];
        support.iter().zip(&beta).for_each(|(&i, b)| alpha[i] = y[i] * b);
        // On the support the score is y exactly, whatever the sign of α.
        let held = |i: &usize| if alpha[*i] == 0.0 { y[*i] * score[*i] < 1.0 } else { alpha[*i] > 0.0 };
        let next: Vec<usize> = (0..n).filter(held).collect();
        if next == support {
            return Some((alpha, iterations));
        }
        support = next;
    }
    None
}

/// β and bias with all rows of `support` on their margins.
fn equality_solution(kernel: &Matrix, y: &[f64], support: &[usize]) -> Option<(Vec<f64>, f64)> {
    let factor = Cholesky::new(&kernel.select(support, support)).ok()?;
    let mut beta: Vec<f64> = support.iter().map(|&i| y[i]).collect();
    let mut ones = vec![1.0; support.len()];
    factor.solve(&mut beta);
    factor.solve(&mut ones);
    let bias = beta.iter().sum::<f64>() / ones.iter().sum::<f64>();
    beta.iter_mut().zip(&ones).for_each(|(b, o)| *b -= bias * o);
    (bias.is_finite() && beta.iter().all(|b| b.is_finite())).then_some((beta, bias))
}

struct Smo<'a> {
    kernel: &'a Matrix,
    y: &'a [f64],
    alpha: Vec<f64>,
    /// Gradient `Qα − 1` of the minimisation form, `Q_ik = y_i y_k K̃_ik`.
    slope: Vec<f64>,
}

impl Smo<'_> {
    fn start_from(&mut self, start: &[f64]) {
        self.alpha.copy_from_slice(start);
        for (i, &a) in start.iter().enumerate() {
            if a != 0.0 {
                let (row, scale) = (self.kernel.row(i), a * self.y[i]);
                for k in 0..row.len() {
                    self.slope[k] += scale * self.y[k] * row[k];
                }
            }
        }
    }

    /// The present violation, without moving.
    fn step(&self) -> Option<f64> {
        self.violation().map(|(_, gap)| gap)
    }

    /// The variable that most wants to grow along y, and the violation.
    fn violation(&self) -> Option<(usize, f64)> {
        let mut up: Option<(usize, f64)> = None;
        let mut low = f64::INFINITY;
        for i in 0..self.y.len() {
            let v = -self.y[i] * self.slope[i];
            if (self.y[i] > 0.0 || self.alpha[i] > 0.0) && up.is_none_or(|u| v > u.1) {
                up = Some((i, v));
            }
            if self.y[i] < 0.0 || self.alpha[i] > 0.0 {
                low = low.min(v);
            }
        }
        up.filter(|_| low.is_finite()).map(|(i, v)| (i, v - low))
    }

    /// Moves the pair with the largest second-order gain; returns the violation after the move.
    fn step_above(&mut self, tolerance: f64) -> Option<f64> {
        let (i, gap) = self.violation()?;
        if gap <= tolerance {
            return Some(gap);
        }
        let top = -self.y[i] * self.slope[i];
        let mut best: Option<(usize, f64)> = None;
        for k in 0..self.y.len() {
            if self.y[k] < 0.0 || self.alpha[k] > 0.0 {
                let b = top + self.y[k] * self.slope[k];
                if b > 0.0 {
                    let gain = b * b / self.curvature(i, k);
                    if best.is_none_or(|x| gain > x.1) {
                        best = Some((k, gain));
                    }
                }
            }
        }
        let (k, _) = best?;
        self.move_pair(i, k, top);
        self.step()
    }

    fn curvature(&self, i: usize, k: usize) -> f64 {
        let kernel = self.kernel;
        (kernel[(i, i)] + kernel[(k, k)] - 2.0 * kernel[(i, k)]).max(1e-300)
    }

    /// `α_i += y_i t`, `α_k −= y_k t`, as far as both stay non-negative.
    fn move_pair(&mut self, i: usize, k: usize, top: f64) {
        let mut t = (top + self.y[k] * self.slope[k]) / self.curvature(i, k);
        if self.y[i] < 0.0 {
            t = t.min(self.alpha[i]);
        }
        if self.y[k] > 0.0 {
            t = t.min(self.alpha[k]);
        }
        self.alpha[i] = (self.alpha[i] + self.y[i] * t).max(0.0);
        self.alpha[k] = (self.alpha[k] - self.y[k] * t).max(0.0);
        let (row_i, row_k) = (self.kernel.row(i), self.kernel.row(k));
        for a in 0..self.y.len() {
            self.slope[a] += self.y[a] * t * (row_i[a] - row_k[a]);
        }
    }

    fn bias(&self) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for i in 0..self.y.len() {
            if self.alpha[i] > 0.0 {
                // y_i − Σ_k α_k y_k K̃_ki = −y_i · slope_i
                sum -= self.y[i] * self.slope[i];
                count += 1.0;
            }
        }
        if count > 0.0 { sum / count } else { self.y.first().copied().unwrap_or(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn primal_and_dual_agree(
            x in proptest::collection::vec((-2.0..2.0f64, -2.0..2.0f64), 4..25), c in 0.01..50.0f64,
        ) {
            let n = x.len();
            let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
            let plain = Matrix::from_fn(n, n, |i, k| x[i].0 * x[k].0 + x[i].1 * x[k].1);
            let kernel = Matrix::from_fn(n, n, |i, k| plain[(i, k)] + if i == k { 1.0 / c } else { 0.0 });
            let svm = l2_svm(&kernel, &y, None, 1e-10, 1_000_000);
            prop_assert!(svm.report.converged);
            prop_assert!(svm.alpha.iter().zip(&y).map(|(a, y)| a * y).sum::<f64>().abs() < 1e-9);
            let beta: Vec<f64> = svm.alpha.iter().zip(&y).map(|(a, y)| a * y).collect();
            let scores = plain.mul_vec(&beta);
            let norm: f64 = beta.iter().zip(&scores).map(|(b, s)| b * s).sum();
            let slack: f64 =
                (0..n).map(|i| (1.0 - y[i] * (scores[i] + svm.bias)).max(0.0).powi(2)).sum();
            let primal = 0.5 * norm + 0.5 * c * slack;
            prop_assert!((primal - svm.objective).abs() < 1e-6 * (1.0 + primal), "{primal} {}", svm.objective);
            // Either method alone ends at the same point.
            let mut smo = Smo { kernel: &kernel, y: &y, alpha: vec![0.0; n], slope: vec![-1.0; n] };
            let settled = (0..1_000_000).any(|_| smo.step_above(1e-10).is_none_or(|gap| gap <= 1e-10));
            prop_assert!(settled);
            let other = newton(&kernel, &y, None).map_or(svm.alpha.clone(), |(alpha, _)| alpha);
            let scale = 1e-6 * (1.0 + smo.alpha.iter().fold(0.0f64, |a, v| a.max(*v)));
            prop_assert!(smo.alpha.iter().zip(&other).all(|(a, b)| (a - b).abs() < scale));
            // Swapping the signs of the labels changes nothing.
            let swapped: Vec<f64> = y.iter().map(|y| -y).collect();
            let other = l2_svm(&kernel, &swapped, None, 1e-10, 1_000_000);
            prop_assert!((other.objective - svm.objective).abs() < 1e-8 * (1.0 + primal));
        }
    }
}
