//! Support vector machine whose weights are selected in groups (the group penalty of Yuan & Lin 2006 with the hinge
//! loss):
//!
//! ```text
//! primal   min_{w,b}  Σ_g λ_g |w_g|₂ + Σ_i C_i max(0, 1 - y_i (w·x_i + b))
//! dual     max_a      Σ_i a_i     0 <= a_i <= C_i,  Σ_i a_i y_i = 0,  |Σ_i a_i y_i x_ig|₂ <= λ_g
//! ```
//!
//! At the optimum `Σ_i a_i y_i x_ig = λ_g w_g / |w_g|` for every group that is not zero. A second-order cone program,
//! solved by an interior-point method; the gap is computed anew from a feasible dual point. Groups of one
//! feature give the 1-norm machine (Zhu, Rosset, Hastie, Tibshirani 2004).

use super::cone::ConeProgram;
use super::linear_svm::{SvmProblem, SvmSolution, combination};
use super::svm_certificate::{balanced, best_intercept, machine_report};
use crate::control::Control;
use crate::error::{Result, require, require_len};
use crate::numeric::linalg::dot;

/// One group of columns and its penalty λ_g.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The columns.
    pub columns: Vec<usize>,
    /// λ_g > 0.
    pub penalty: f64,
}

impl Group {
    /// Every column by itself, with penalty 1: the 1-norm.
    pub fn singles(columns: usize) -> Vec<Group> {
        (0..columns).map(|j| Group { columns: vec![j], penalty: 1.0 }).collect()
    }
}

/// Share of the largest group norm below which a group counts as zero: interior points leave what the gap leaves.
const ZERO: f64 = 1e-6;

/// Solves to a relative duality gap of about 1e-8; `gap` is the largest one that counts as converged. The weights are
/// exactly zero in the groups that are not selected, the multipliers feasible.
pub fn group_svm(
    problem: SvmProblem<'_>,
    groups: &[Group],
    gap: f64,
    control: &Control,
) -> Result<SvmSolution> {
    problem.check()?;
    check_groups(groups, problem.rows.cols())?;
    let (n, p) = (problem.rows.rows(), problem.rows.cols());
    // Variables: w (p), b, group norms; ξ of each row.
    let (intercept, norms, slacks) = (p, p + 1, p + 1 + groups.len());
    let mut program = ConeProgram::new(slacks, n, 1);
    for i in 0..n {
        let y = problem.labels[i];
        let margin = problem.rows.row(i).iter().enumerate().map(|(j, x)| (j, -y * x));
        program.at_least_zero(-1.0, margin.chain([(intercept, -y), (slacks + i, -1.0)]).collect());
    }
    (0..n).for_each(|i| program.at_least_zero(0.0, vec![(slacks + i, -1.0)]));
    for (g, group) in groups.iter().enumerate() {
        let row = |j: usize| (0.0, vec![(j, -1.0)]);
        program.cone([norms + g].iter().chain(&group.columns).map(|&j| row(j)).collect());
    }
    let mut cost = vec![0.0; slacks + n];
    groups.iter().enumerate().for_each(|(g, group)| cost[norms + g] = group.penalty);
    cost[slacks..].copy_from_slice(problem.costs);
    let found = program.minimise(&cost, control)?;
    let weights = selected(&found.x[..p], groups);
    let multipliers = feasible(&problem, groups, &found.dual[..n]);
    Ok(certified(&problem, groups, weights, multipliers, found.iterations, gap))
}

fn check_groups(groups: &[Group], columns: usize) -> Result<()> {
    let mut seen = vec![false; columns];
    for group in groups {
        let value = group.penalty;
        require("penalty of a group", value, "a finite number > 0", value.is_finite() && value > 0.0)?;
        for &j in &group.columns {
            let fresh = seen.get_mut(j).is_some_and(|s| !std::mem::replace(s, true));
            require("column of a group", j, "a column of one group", fresh)?;
        }
    }
    require_len("columns in groups", columns, seen.iter().filter(|s| **s).count())
}

fn norm(w: &[f64], group: &Group) -> f64 {
    group.columns.iter().map(|&j| w[j] * w[j]).sum::<f64>().sqrt()
}

/// The weights with exact zeros in the groups that the method has left near zero.
fn selected(w: &[f64], groups: &[Group]) -> Vec<f64> {
    let largest = groups.iter().map(|g| norm(w, g)).fold(0.0, f64::max);
    let mut out = w.to_vec();
    for group in groups.iter().filter(|g| norm(w, g) <= ZERO * largest) {
        group.columns.iter().for_each(|&j| out[j] = 0.0);
    }
    out
}

/// Multipliers within all bounds of the dual: clipped, balanced, and scaled down where a group exceeds its penalty.
fn feasible(problem: &SvmProblem<'_>, groups: &[Group], a: &[f64]) -> Vec<f64> {
    let clipped: Vec<f64> = a.iter().zip(problem.costs).map(|(a, c)| a.clamp(0.0, *c)).collect();
    let mut a = balanced(problem, &clipped);
    let slopes = combination(problem, &a);
    let excess = groups.iter().map(|g| norm(&slopes, g) / g.penalty).fold(1.0, f64::max);
    a.iter_mut().for_each(|a| *a /= excess);
    a
}

fn certified(
    problem: &SvmProblem<'_>,
    groups: &[Group],
    weights: Vec<f64>,
    multipliers: Vec<f64>,
    iterations: usize,
    gap: f64,
) -> SvmSolution {
    let scores = problem.rows.mul_vec(&weights);
    let intercept = best_intercept(problem, &scores);
    let short: Vec<f64> =
        scores.iter().zip(problem.labels).map(|(f, y)| (1.0 - y * (f + intercept)).max(0.0)).collect();
    let penalty: f64 = groups.iter().map(|g| g.penalty * norm(&weights, g)).sum();
    let primal = penalty + dot(problem.costs, &short);
    let dual: f64 = multipliers.iter().sum();
    let report = machine_report("group-norm SVM, interior point", iterations, primal, dual, gap);
    SvmSolution { weights, intercept, multipliers, report }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::linalg::Matrix;
    use crate::numeric::random::Random;
    use crate::optimise::linear_svm::linear_svm;

    fn rows(n: usize, p: usize, seed: u64) -> (Matrix, Vec<f64>) {
        let mut random = Random::new(seed);
        let rows = Matrix::from_fn(n, p, |_, _| random.normal());
        let score = |i: usize, random: &mut Random| rows[(i, 0)] - 0.7 * rows[(i, 3)] + 0.4 * random.normal();
        let labels = (0..n).map(|i| if score(i, &mut random) > 0.0 { 1.0 } else { -1.0 }).collect();
        (rows, labels)
    }

    fn groups_of(p: usize, size: usize) -> Vec<Group> {
        let columns: Vec<usize> = (0..p).collect();
        columns
            .chunks(size)
            .map(|c| Group { columns: c.to_vec(), penalty: (c.len() as f64).sqrt() })
            .collect()
    }

    #[test]
    fn the_optimality_conditions_of_the_group_norm_hold() {
        for (seed, size) in [(3, 1), (4, 2), (5, 3), (6, 4)] {
            let (rows, labels) = rows(60, 12, seed);
            let costs: Vec<f64> = (0..60).map(|i| if i % 3 == 0 { 0.12 } else { 0.06 }).collect();
            let problem = SvmProblem { rows: &rows, labels: &labels, costs: &costs };
            let groups = groups_of(12, size);
            let found = group_svm(problem, &groups, 1e-6, &Control::default()).unwrap();
            assert!(found.report.converged, "{:?}", found.report);
            let slopes = combination(&problem, &found.multipliers);
            let zero = groups.iter().filter(|g| norm(&found.weights, g) == 0.0).count();
            assert!(zero >= 1 && zero < groups.len(), "{:?}", found.weights);
            for group in &groups {
                assert!(norm(&slopes, group) <= group.penalty * (1.0 + 1e-9));
                let length = norm(&found.weights, group);
                for &j in group.columns.iter().filter(|_| length > 0.0) {
                    let want = group.penalty * found.weights[j] / length;
                    assert!((slopes[j] - want).abs() < 1e-4, "{} {want}", slopes[j]);
                }
            }
            for i in 0..60 {
                let slack = labels[i] * (dot(rows.row(i), &found.weights) + found.intercept) - 1.0;
                let (a, c) = (found.multipliers[i], costs[i]);
                assert!(a >= 0.0 && a <= c && (a < 1e-4 || slack < 1e-3) && (a > c - 1e-4 || slack > -1e-3));
            }
        }
    }

    /// With one group of all columns `λ w/|w| = Σ a y x`, so w also solves the machine with `½|w|²` and costs `C |w|/λ`:
    /// another solver for the same weights.
    #[test]
    fn one_group_is_on_the_path_of_the_two_norm() {
        let (rows, labels) = rows(70, 6, 8);
        let costs = vec![0.5; 70];
        let problem = SvmProblem { rows: &rows, labels: &labels, costs: &costs };
        let group = Group { columns: (0..6).collect(), penalty: 2.0 };
        let grouped = group_svm(problem, std::slice::from_ref(&group), 1e-6, &Control::default()).unwrap();
        let scaled = vec![0.5 * norm(&grouped.weights, &group) / group.penalty; 70];
        let problem = SvmProblem { costs: &scaled, ..problem };
        let plain = linear_svm(problem, 1e-10, None, &Control::default()).unwrap();
        for (a, b) in grouped.weights.iter().zip(&plain.weights) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn columns_outside_the_groups_and_bad_penalties_are_refused() {
        let (rows, labels) = rows(20, 4, 9);
        let costs = vec![1.0; 20];
        let problem = SvmProblem { rows: &rows, labels: &labels, costs: &costs };
        let group = |columns: &[usize], penalty: f64| Group { columns: columns.to_vec(), penalty };
        for groups in [
            vec![group(&[0, 1, 2], 1.0)],
            vec![group(&[0, 1, 2, 3], 1.0), group(&[3], 1.0)],
            vec![group(&[0, 1, 2, 4], 1.0)],
            vec![group(&[0, 1, 2, 3], f64::NAN)],
        ] {
            assert!(group_svm(problem, &groups, 1e-6, &Control::default()).is_err());
        }
    }
}
