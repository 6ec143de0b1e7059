//! Optimality certificate of a linear SVM: from any multipliers a feasible dual point, its primal weights,
//! the best intercept for them, and so a duality gap.

use super::linear_svm::{SvmProblem, combination};

/// A feasible dual point with the primal point that belongs to it.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    /// Multipliers with `0 <= a_i <= C_i` and `Σ a_i y_i = 0`.
    pub a: Vec<f64>,
    /// `w = Σ a_i y_i x_i`.
    pub w: Vec<f64>,
    /// `w·x_i` for each row.
    pub scores: Vec<f64>,
    /// The best intercept for w.
    pub intercept: f64,
    /// Primal value.
    pub primal: f64,
    /// Dual value.
    pub dual: f64,
}

impl Certificate {
    /// `(primal - dual) / primal`.
    pub fn gap(&self) -> f64 {
        if self.primal > 0.0 { ((self.primal - self.dual) / self.primal).max(0.0) } else { 0.0 }
    }
}

/// Scales the multipliers of the heavier class down, so that `Σ a_i y_i = 0`.
pub(super) fn balanced(problem: &SvmProblem<'_>, multipliers: &[f64]) -> Vec<f64> {
    let of_class = |sign: f64| {
        multipliers.iter().zip(problem.labels).filter(|(_, y)| **y == sign).map(|(a, _)| a).sum::<f64>()
    };
    let (plus, minus) = (of_class(1.0), of_class(-1.0));
    let (down_plus, down_minus) =
        if plus > minus { (minus / plus, 1.0) } else { (1.0, if minus > 0.0 { plus / minus } else { 1.0 }) };
    let scale = |(a, y): (&f64, &f64)| a * if *y > 0.0 { down_plus } else { down_minus };
    multipliers.iter().zip(problem.labels).map(scale).collect()
}

/// Makes the multipliers feasible and evaluates both problems.
pub(super) fn certify(problem: &SvmProblem<'_>, multipliers: &[f64]) -> Certificate {
    let a = balanced(problem, multipliers);
    let w = combination(problem, &a);
    let scores = problem.rows.mul_vec(&w);
    let intercept = best_intercept(problem, &scores);
    let half_norm = 0.5 * w.iter().map(|w| w * w).sum::<f64>();
    let hinge: f64 = (0..a.len())
        .map(|i| problem.costs[i] * (1.0 - problem.labels[i] * (scores[i] + intercept)).max(0.0))
        .sum();
    let dual = a.iter().sum::<f64>() - half_norm;
    Certificate { a, w, scores, intercept, primal: half_norm + hinge, dual }
}

/// Minimiser over b of the hinge losses: a convex piecewise linear function with a break at `y_i - w·x_i`
/// for each row, where its slope grows by C_i. Where the minimum is an interval, its middle.
pub(super) fn best_intercept(problem: &SvmProblem<'_>, scores: &[f64]) -> f64 {
    let mut breaks: Vec<(f64, f64)> =
        (0..scores.len()).map(|i| (problem.labels[i] - scores[i], problem.costs[i])).collect();
    breaks.sort_by(|p, q| p.0.total_cmp(&q.0));
    let positive: f64 =
        problem.labels.iter().zip(problem.costs).filter(|(y, _)| **y > 0.0).map(|(_, c)| c).sum();
    let total: f64 = problem.costs.iter().sum();
    let flat = 1e-12 * total;
    let mut slope = -positive;
    for (k, (at, cost)) in breaks.iter().enumerate() {
        slope += cost;
        if slope.abs() <= flat {
            return breaks.get(k + 1).map_or(*at, |next| 0.5 * (at + next.0));
        }
        if slope > 0.0 {
            return *at;
        }
    }
    0.0
}
