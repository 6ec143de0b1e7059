//! Last step of the linear SVM: on the rows with `0 < a_i < C_i` the optimum solves linear equations, so a
//! few solves with that active set give the solution to machine precision.

use super::linear_svm::SvmProblem;
use super::svm_certificate::{Certificate, certify};
use crate::error::Result;
use crate::numeric::linalg::Cholesky;

/// Most free rows: the solve costs their number cubed.
const MOST_FREE: usize = 1500;

/// Most changes of the active set before coordinate descent takes over again: many where a solve is cheap.
fn most_changes(free: usize) -> usize {
    (20_000_000 / (free * free + 1)).clamp(25, 300)
}

/// Moves towards the solution of the equations `y_i (w·x_i + b) = 1` on the free rows. A row that meets its
/// bound on the way is fixed there; a fixed row with the wrong sign of its margin is freed.
pub(super) fn polish(
    problem: &SvmProblem<'_>,
    multipliers: &[f64],
    gap: f64,
    changes: usize,
) -> Result<Certificate> {
    let mut best = certify(problem, multipliers);
    // Not the certified ones: scaling to feasibility moves rows off their bounds.
    let mut a = multipliers.to_vec();
    let near = |a: f64, c: f64| 1e-9 * c.max(a);
    let mut free: Vec<bool> =
        a.iter().zip(problem.costs).map(|(a, c)| *a > near(*a, *c) && *a < c - near(*a, *c)).collect();
    for _ in 0..most_changes(free.iter().filter(|f| **f).count()).min(changes) {
        let rows: Vec<usize> = (0..a.len()).filter(|&i| free[i]).collect();
        if rows.is_empty() || rows.len() > MOST_FREE {
            return Ok(best);
        }
        let Ok(target) = solve_free(problem, &a, &rows) else { return Ok(best) };
        let blocked = step_towards(problem, &mut a, &rows, &target);
        match blocked {
            Some(i) => free[i] = false,
            None => {
                let found = certify(problem, &a);
                if found.dual > best.dual {
                    best = found;
                }
                if best.gap() <= gap || !free_worst(problem, &best, &a, &mut free) {
                    return Ok(best);
                }
            }
        }
    }
    let found = certify(problem, &a);
    Ok(if found.dual > best.dual { found } else { best })
}

/// Multipliers of the free rows that solve `K_FF β + b = y_F - X_F w_B`, `Σ β = -s_B`, with β = a y and w_B, s_B
/// from the fixed rows. A small ridge towards the present values picks one solution where K_FF is singular.
fn solve_free(problem: &SvmProblem<'_>, a: &[f64], rows: &[usize]) -> Result<Vec<f64>> {
    let columns: Vec<usize> = (0..problem.rows.cols()).collect();
    let x = problem.rows.select(rows, &columns);
    let mut fixed = a.to_vec();
    rows.iter().for_each(|&i| fixed[i] = 0.0);
    let w_fixed = super::linear_svm::combination(problem, &fixed);
    let s_fixed: f64 = fixed.iter().zip(problem.labels).map(|(a, y)| a * y).sum();
    let offsets = x.mul_vec(&w_fixed);
    let mut gram = x.mul_transpose(&x);
    let k = rows.len();
    let mean = (0..k).map(|r| gram[(r, r)]).sum::<f64>() / k as f64;
    let ridge = 1e-11 * mean.max(f64::MIN_POSITIVE);
    // Since Σ β is given, a constant added to K_FF only shifts b. It makes the matrix regular for one free row more than
    // there are columns, the usual number where columns are few.
    gram.data_mut().iter_mut().for_each(|v| *v += mean);
    (0..k).for_each(|r| gram[(r, r)] += ridge);
    let factor = Cholesky::new(&gram)?;
    let mut ones = vec![1.0; k];
    factor.solve(&mut ones);
    let ones_sum: f64 = ones.iter().sum();
    let mut beta: Vec<f64> = rows.iter().map(|&i| a[i] * problem.labels[i]).collect();
    for _ in 0..4 {
        // Proximal steps: the ridge pulls towards the last iterate, so its effect vanishes.
        let mut rhs: Vec<f64> =
            (0..k).map(|r| problem.labels[rows[r]] - offsets[r] + ridge * beta[r]).collect();
        factor.solve(&mut rhs);
        let b = (rhs.iter().sum::<f64>() + s_fixed) / ones_sum;
        beta = rhs.iter().zip(&ones).map(|(r, o)| r - b * o).collect();
    }
    Ok(rows.iter().zip(&beta).map(|(&i, b)| b * problem.labels[i]).collect())
}

/// Goes from `a` to the target as far as the bounds allow; returns the row that stopped it.
fn step_towards(problem: &SvmProblem<'_>, a: &mut [f64], rows: &[usize], target: &[f64]) -> Option<usize> {
    let (mut length, mut blocked) = (1.0, None);
    for (&i, t) in rows.iter().zip(target) {
        let step = t - a[i];
        let room = if *t < 0.0 {
            -a[i] / step
        } else if *t > problem.costs[i] {
            (problem.costs[i] - a[i]) / step
        } else {
            continue;
        };
        if room < length {
            (length, blocked) = (room.max(0.0), Some(i));
        }
    }
    for (&i, t) in rows.iter().zip(target) {
        a[i] = (a[i] + length * (t - a[i])).clamp(0.0, problem.costs[i]);
    }
    if let Some(i) = blocked {
        // Exactly on its bound, so that it counts as fixed.
        a[i] = if 2.0 * a[i] < problem.costs[i] { 0.0 } else { problem.costs[i] };
    }
    blocked
}

/// Frees the fixed row that violates its optimality condition most; false if none does.
fn free_worst(problem: &SvmProblem<'_>, at: &Certificate, a: &[f64], free: &mut [bool]) -> bool {
    let mut worst = (1e-10, None);
    for i in 0..a.len() {
        if free[i] {
            continue;
        }
        let slack = problem.labels[i] * (at.scores[i] + at.intercept) - 1.0;
        let violation = if a[i] <= 0.0 { -slack } else { slack };
        if violation > worst.0 {
            worst = (violation, Some(i));
        }
    }
    if let Some(i) = worst.1 {
        free[i] = true;
    }
    worst.1.is_some()
}
