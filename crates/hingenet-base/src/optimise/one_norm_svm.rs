//! Support vector machine with a 1-norm penalty, for sparse weights (Zhu, Rosset, Hastie, Tibshirani 2004):
//!
//! ```text
//! min_{w,b}  Σ_j λ_j |w_j| + Σ_i C_i max(0, 1 - y_i (w·x_i + b))
//! ```
//!
//! A linear program, solved by an interior-point method; λ_j = 0 leaves a weight unpenalised.

use super::linear_svm::SvmProblem;
use crate::error::{Error, Result, require, require_len};
use crate::solver::SolverReport;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};

/// A solved 1-norm SVM.
#[derive(Debug, Clone, PartialEq)]
pub struct OneNormSolution {
    /// w; exact zeros where the solution is zero.
    pub weights: Vec<f64>,
    /// b.
    pub intercept: f64,
    /// Multipliers a of the margins: `|Σ_i a_i y_i x_ij| <= λ_j`, equality with the sign of w_j where w_j ≠ 0.
    pub multipliers: Vec<f64>,
    /// How the solver ended; the gap is relative.
    pub report: SolverReport,
}

/// Solves the 1-norm problem with penalties λ_j >= 0.
pub fn one_norm_svm(problem: SvmProblem<'_>, penalties: &[f64]) -> Result<OneNormSolution> {
    let (n, p) = (problem.rows.rows(), problem.rows.cols());
    require_len("penalties of a 1-norm SVM", p, penalties.len())?;
    require_len("labels of an SVM", n, problem.labels.len())?;
    require_len("costs of an SVM", n, problem.costs.len())?;
    for value in penalties {
        require("penalty", value, "a finite number >= 0", value.is_finite() && *value >= 0.0)?;
    }
    let (columns, n_constraints) = constraint_columns(&problem);
    let a = sparse(columns, n_constraints);
    // Variables: w⁺ (p), w⁻ (p), b, ξ (n).
    let mut q: Vec<f64> = penalties.iter().chain(penalties).copied().collect();
    q.push(0.0);
    q.extend_from_slice(problem.costs);
    let mut bounds = vec![0.0; n_constraints];
    bounds[..n].fill(-1.0);
    let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
    let zero = CscMatrix::zeros((q.len(), q.len()));
    let failed = |problem: String| Error::Numeric { method: "1-norm SVM".into(), problem };
    let mut solver = DefaultSolver::new(&zero, &q, &a, &bounds, &[NonnegativeConeT(n_constraints)], settings)
        .map_err(|e| failed(e.to_string()))?;
    solver.solve();
    let found = &solver.solution;
    if found.x.iter().any(|v| !v.is_finite()) {
        return Err(failed(format!("the linear program ended with {:?}", found.status)));
    }
    let raw: Vec<f64> = (0..p).map(|j| found.x[j] - found.x[p + j]).collect();
    let largest = raw.iter().fold(0.0f64, |m, w| m.max(w.abs()));
    let weights = raw.iter().map(|w| if w.abs() < 1e-7 * largest { 0.0 } else { *w }).collect();
    let gap = (found.obj_val - found.obj_val_dual).abs() / found.obj_val.abs().max(f64::MIN_POSITIVE);
    let report = SolverReport {
        method: "1-norm SVM, interior point (relative duality gap)".into(),
        converged: matches!(found.status, SolverStatus::Solved),
        iterations: found.iterations as usize,
        objective: found.obj_val,
        gap: Some(gap),
        slack: None,
    };
    Ok(OneNormSolution { weights, intercept: found.x[2 * p], multipliers: found.z[..n].to_vec(), report })
}

type Columns = Vec<Vec<(usize, f64)>>;

/// `-y_i (x_i·(w⁺ - w⁻) + b) - ξ_i <= -1`, then `-w⁺ <= 0`, `-w⁻ <= 0`, `-ξ <= 0`; column by column.
fn constraint_columns(problem: &SvmProblem<'_>) -> (Columns, usize) {
    let (n, p) = (problem.rows.rows(), problem.rows.cols());
    let mut columns: Columns = Vec::with_capacity(2 * p + 1 + n);
    for sign in [1.0, -1.0] {
        for j in 0..p {
            let mut column: Vec<(usize, f64)> =
                (0..n).map(|i| (i, -sign * problem.labels[i] * problem.rows[(i, j)])).collect();
            column.push((n + columns.len(), -1.0));
            columns.push(column);
        }
    }
    columns.push((0..n).map(|i| (i, -problem.labels[i])).collect());
    for i in 0..n {
        columns.push(vec![(i, -1.0), (n + 2 * p + i, -1.0)]);
    }
    (columns, 2 * n + 2 * p)
}

fn sparse(columns: Columns, n_rows: usize) -> CscMatrix<f64> {
    let n_cols = columns.len();
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in columns {
        for (row, value) in column.into_iter().filter(|(_, v)| *v != 0.0) {
            rows.push(row);
            values.push(value);
        }
        starts.push(rows.len());
    }
    CscMatrix::new(n_rows, n_cols, starts, rows, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::linalg::{Matrix, dot};
    use crate::numeric::random::Random;

    #[test]
    fn the_optimality_conditions_of_the_one_norm_hold() {
        let mut random = Random::new(4);
        let (n, p) = (60, 12);
        let rows = Matrix::from_fn(n, p, |_, _| random.normal());
        let labels: Vec<f64> = (0..n)
            .map(|i| if rows[(i, 0)] - 0.7 * rows[(i, 3)] + 0.4 * random.normal() > 0.0 { 1.0 } else { -1.0 })
            .collect();
        let costs = vec![0.3; n];
        let problem = SvmProblem { rows: &rows, labels: &labels, costs: &costs };
        let found = one_norm_svm(problem, &vec![1.0; p]).unwrap();
        assert!(found.report.converged && found.report.gap.unwrap() < 1e-6);
        let zeros = found.weights.iter().filter(|w| **w == 0.0).count();
        assert!(zeros >= 3, "{:?}", found.weights);
        let signed: Vec<f64> = found.multipliers.iter().zip(&labels).map(|(a, y)| a * y).collect();
        for j in 0..p {
            let slope = dot(&signed, &rows.col(j));
            assert!(slope.abs() <= 1.0 + 1e-6);
            if found.weights[j] != 0.0 {
                assert!((slope - found.weights[j].signum()).abs() < 1e-5, "{j}: {slope}");
            }
        }
        assert!(found.multipliers.iter().all(|a| *a > -1e-8 && *a < 0.3 + 1e-8));
    }
}
