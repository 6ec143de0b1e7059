//! Optimality certificate of a linear SVM: from any multipliers a feasible dual point, its primal weights,
//! the best intercept for them, and so a duality gap.

use super::linear_svm::{SvmProblem, combination};
use crate::error::{Error, Result, require, require_len};
use crate::numeric::linalg::Matrix;
use crate::solver::SolverReport;

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
        relative_gap(self.primal, self.dual)
    }
}

/// `(primal - dual) / primal`.
pub(super) fn relative_gap(primal: f64, dual: f64) -> f64 {
    if primal > 0.0 { ((primal - dual) / primal).max(0.0) } else { 0.0 }
}

/// How a machine ended whose relative duality gap was to be at most `wanted`.
pub(super) fn machine_report(
    method: &str,
    iterations: usize,
    primal: f64,
    dual: f64,
    wanted: f64,
) -> SolverReport {
    let gap = relative_gap(primal, dual);
    let method = format!("{method} (relative duality gap)");
    SolverReport::new(method, gap <= wanted, iterations, primal, Some(gap))
}

/// Refuses features that are not finite and costs that are not positive.
pub(super) fn check_rows(rows: &Matrix, costs: &[f64]) -> Result<()> {
    require_len("costs of an SVM", rows.rows(), costs.len())?;
    for c in costs {
        require("C", c, "a finite number > 0", c.is_finite() && *c > 0.0)?;
    }
    if rows.data().iter().any(|x| !x.is_finite()) {
        return Err(Error::data("a feature of the SVM is not a finite number", "check the features"));
    }
    Ok(())
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

/// Minimiser over b of the hinge losses: each row has a break at `y_i - w·x_i`.
pub(super) fn best_intercept(problem: &SvmProblem<'_>, scores: &[f64]) -> f64 {
    let breaks = (0..scores.len()).map(|i| (problem.labels[i] - scores[i], problem.costs[i])).collect();
    let positive = problem.labels.iter().zip(problem.costs).filter(|(y, _)| **y > 0.0);
    lowest_break(breaks, positive.map(|(_, c)| c).sum()).unwrap_or(0.0)
}

/// Minimiser of a convex piecewise linear function of slope `-fall` before its breaks `(place, growth of the slope)`.
/// Where the minimum is an interval, its middle; `None` where the function never stops falling.
pub(super) fn lowest_break(mut breaks: Vec<(f64, f64)>, fall: f64) -> Option<f64> {
    let flat = 1e-12 * breaks.iter().map(|(_, growth)| growth).sum::<f64>();
    breaks.sort_by(|p, q| p.0.total_cmp(&q.0));
    let mut slope = -fall;
    for (k, (at, growth)) in breaks.iter().enumerate() {
        slope += growth;
        if slope >= -flat {
            let end = breaks.get(k + 1).filter(|_| slope <= flat).map_or(*at, |next| next.0);
            return Some(0.5 * (at + end));
        }
    }
    None
}
