//! Optimality certificate of the machine of all classes: from any multipliers a feasible dual point, its weights, good
//! intercepts for them, and so a duality gap.

use super::crammer_singer::{MulticlassProblem, combination};
use super::svm_certificate::{lowest_break, relative_gap};
use crate::numeric::linalg::Matrix;

/// A feasible dual point with the primal point that belongs to it.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    /// Feasible multipliers.
    pub beta: Matrix,
    /// One row w_k for each class.
    pub weights: Matrix,
    /// Intercepts.
    pub intercepts: Vec<f64>,
    /// Primal value.
    pub primal: f64,
    /// Dual value.
    pub dual: f64,
}

impl Certificate {
    /// `(primal - dual) / primal`.
    pub fn gap(&self) -> f64 {
        relative_gap(self.primal, self.dual)
    }
}

/// Sweeps over the classes in the search for intercepts: the solvers come with good ones, which a third would not move.
const SWEEPS: usize = 2;

/// Makes the multipliers feasible and evaluates both problems; the search for intercepts starts at the given ones.
pub(super) fn certify(problem: &MulticlassProblem<'_>, beta: &Matrix, intercepts: &[f64]) -> Certificate {
    let beta = if problem.intercepts { balanced(problem, beta) } else { beta.clone() };
    let weights = combination(problem.rows, &beta);
    let half_norm = 0.5 * weights.data().iter().map(|w| w * w).sum::<f64>();
    let mut required = problem.rows.mul_transpose(&weights);
    required.data_mut().iter_mut().zip(problem.losses.data()).for_each(|(f, l)| *f += l);
    let mut intercepts = intercepts.to_vec();
    if problem.intercepts {
        for _ in 0..SWEEPS {
            (0..intercepts.len()).for_each(|k| improve(problem, &required, &mut intercepts, k));
        }
    }
    let gained: f64 = beta.data().iter().zip(problem.losses.data()).map(|(b, l)| -b * l).sum();
    let primal = half_norm + hinge(problem, &required, &intercepts);
    Certificate { weights, intercepts, primal, dual: gained - half_norm, beta }
}

/// `Σ_i C_i max_k [l_ik + f_ik + b_k] - (f_iy + b_y)`.
fn hinge(problem: &MulticlassProblem<'_>, required: &Matrix, intercepts: &[f64]) -> f64 {
    let of_row = |i: usize| {
        let at = |k: usize| required[(i, k)] + intercepts[k];
        let highest = (0..intercepts.len()).map(at).fold(f64::NEG_INFINITY, f64::max);
        problem.costs[i] * (highest - at(problem.class[i]))
    };
    (0..required.rows()).map(of_row).sum()
}

/// Multipliers with `Σ_i β_ik = 0` for every class: classes with too little β hand a share of every row's
/// multiplier a to those with too much. A class with too little has more a than it hands over, so all bounds hold.
fn balanced(problem: &MulticlassProblem<'_>, beta: &Matrix) -> Matrix {
    let (n, k) = (beta.rows(), beta.cols());
    let sums: Vec<f64> = (0..k).map(|c| beta.col(c).iter().sum()).collect();
    let excess: f64 = sums.iter().filter(|s| **s > 0.0).sum();
    let lack: f64 = sums.iter().filter(|s| **s < 0.0).map(|s| -s).sum();
    let mut out = beta.clone();
    if excess <= 0.0 || lack <= 0.0 {
        return out;
    }
    let held = |c: usize| (0..n).map(|i| problem.upper(i, c) - beta[(i, c)]).sum::<f64>();
    let share: Vec<f64> =
        (0..k).map(|c| if sums[c] < 0.0 { (-sums[c] / held(c)).min(1.0) } else { 0.0 }).collect();
    for i in 0..n {
        let mut given = 0.0;
        for c in 0..k {
            let part = share[c] * (problem.upper(i, c) - beta[(i, c)]);
            out[(i, c)] += part;
            given += part;
        }
        for c in (0..k).filter(|c| sums[*c] > 0.0) {
            out[(i, c)] -= given * sums[c] / excess;
        }
    }
    out
}

/// Minimises the hinge losses over the intercept of one class, the others fixed: each row has a break where the class
/// becomes the highest; far to the left only the rows of the class pull.
fn improve(problem: &MulticlassProblem<'_>, required: &Matrix, intercepts: &mut [f64], k: usize) {
    let others = |i: usize| {
        let at = |c: usize| required[(i, c)] + intercepts[c];
        (0..intercepts.len()).filter(|c| *c != k).map(at).fold(f64::NEG_INFINITY, f64::max)
    };
    let breaks = (0..required.rows()).map(|i| (others(i) - required[(i, k)], problem.costs[i])).collect();
    let own = (0..required.rows()).map(|i| problem.upper(i, k)).sum();
    if let Some(lowest) = lowest_break(breaks, own) {
        intercepts[k] = lowest;
    }
}
