//! The machines of term K for many rows: the same squared-hinge problems as in [`super::newton`], solved
//! by dual descent on blocks of the worst rows. Kernel values are computed when needed and never stored
//! beyond one block, so memory grows with the rows, not with their square.

use super::kernel::{Kernel, Side};
use super::machine::{Decision, Machine};
use crate::classifier::SolverReport;
use crate::control::Control;
use crate::error::Result;
use crate::numeric::linalg::Matrix;
use crate::numeric::sum::ordered_chunks;
use rayon::prelude::*;

/// Rows per block of the descent.
const BLOCK: usize = 1024;
/// Most blocks.
const ROUNDS: usize = 400;
/// Most sweeps of coordinate descent within a block.
const SWEEPS: usize = 200;
/// The descent ends when the duality gap falls below this share of the primal objective.
const GAP: f64 = 1e-3;

/// Machines of several targets on one kernel:
///
/// ```text
/// primal  min_β  μ/2 βᵀKβ + ½ Σ s_i max(0, 1 − u_i f_i)²,     f = Kβ
/// dual    min_{α ≥ 0}  ½ αᵀ(UKU + μ S⁻¹)α − 1ᵀα,              β_i = u_i α_i
/// ```
pub(crate) struct Problem<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) points: &'a Matrix,
    pub(crate) targets: &'a [Vec<f64>],
    pub(crate) weight: &'a [f64],
    pub(crate) ridge: f64,
}

/// The state of all machines: `α` and `f`, one row per training row, one column per machine.
struct State {
    alpha: Matrix,
    values: Matrix,
}

impl Problem<'_> {
    /// Coefficients of each machine.
    pub(crate) fn solve(&self, control: &Control) -> Result<(Vec<Vec<f64>>, SolverReport)> {
        let (n, m) = (self.points.rows(), self.targets.len());
        let (left, right) = (self.kernel.left(self.points), self.kernel.right(self.points));
        let mut state = State { alpha: Matrix::zeros(n, m), values: Matrix::zeros(n, m) };
        let (mut objective, mut gap, mut rounds) = (f64::INFINITY, f64::INFINITY, 0);
        while rounds < ROUNDS {
            control.progress("kernel machine", rounds, 0)?;
            (objective, gap) = self.certificate(&state);
            if gap <= GAP * objective {
                break;
            }
            let block = self.worst_rows(&state);
            if block.is_empty() {
                break;
            }
            self.descend(&block, &left, &right, &mut state);
            rounds += 1;
        }
        let beta =
            (0..m).map(|k| (0..n).map(|i| self.targets[k][i] * state.alpha[(i, k)]).collect()).collect();
        let report = SolverReport {
            method: "blockwise dual descent on the squared hinge loss (relative duality gap)".into(),
            converged: gap <= GAP * objective,
            iterations: rounds,
            objective,
            gap: Some(gap / objective.max(f64::MIN_POSITIVE)),
        };
        Ok((beta, report))
    }

    /// Gradient of the dual in `α_i`, zero where the bound holds it.
    fn violation(&self, state: &State, i: usize, m: usize) -> f64 {
        let alpha = state.alpha[(i, m)];
        let g = self.targets[m][i] * state.values[(i, m)] + self.ridge * alpha / self.weight[i] - 1.0;
        if alpha > 0.0 { g.abs() } else { (-g).max(0.0) }
    }

    /// The rows with the largest violation in any machine, ascending.
    fn worst_rows(&self, state: &State) -> Vec<usize> {
        let worst =
            |i: usize| (0..self.targets.len()).map(|m| self.violation(state, i, m)).fold(0.0, f64::max);
        let violations: Vec<f64> = (0..self.points.rows()).map(worst).collect();
        let mut rows: Vec<usize> = (0..violations.len()).filter(|&i| violations[i] > 1e-12).collect();
        rows.sort_by(|&a, &b| violations[b].total_cmp(&violations[a]).then(a.cmp(&b)));
        rows.truncate(BLOCK);
        rows.sort_unstable();
        rows
    }

    /// Primal objective and duality gap, over all machines. With `α` from the dual, the loss part of the
    /// gap is taken at `f = Kβ`.
    fn certificate(&self, state: &State) -> (f64, f64) {
        let (mut primal, mut dual) = (0.0, 0.0);
        for (m, target) in self.targets.iter().enumerate() {
            for (i, u) in target.iter().enumerate() {
                let (alpha, f) = (state.alpha[(i, m)], u * state.values[(i, m)]);
                let s = self.weight[i];
                primal += 0.5 * self.ridge * alpha * f + 0.5 * s * (1.0 - f).max(0.0).powi(2);
                // the dual value in the scale of the primal: μ (1ᵀα − ½ αᵀ(UKU + μS⁻¹)α)
                dual += self.ridge * (alpha - 0.5 * alpha * f - 0.5 * self.ridge * alpha * alpha / s);
            }
        }
        (primal, (primal - dual).max(0.0))
    }

    /// Solves the dual over the rows of a block, then carries the change to all rows.
    fn descend(&self, block: &[usize], left: &Side, right: &Side, state: &mut State) {
        let inside = left.select(block).block(&right.select(block));
        let m = self.targets.len();
        let steps: Vec<Vec<f64>> =
            (0..m).into_par_iter().map(|k| self.coordinate_descent(block, &inside, state, k)).collect();
        let change = Matrix::from_fn(block.len(), m, |r, k| self.targets[k][block[r]] * steps[k][r]);
        for (r, &i) in block.iter().enumerate() {
            for k in 0..m {
                state.alpha[(i, k)] += steps[k][r];
            }
        }
        let chosen = right.select(block);
        let parts = ordered_chunks(left.len(), 128, |range| {
            left.select(&range.collect::<Vec<_>>()).block(&chosen).mul(&change)
        });
        let mut at = 0;
        for part in parts {
            let values = &mut state.values.data_mut()[at..at + part.data().len()];
            values.iter_mut().zip(part.data()).for_each(|(v, d)| *v += d);
            at += part.data().len();
        }
    }

    /// Changes of `α` on the block for machine `k`, by cyclic coordinate descent.
    fn coordinate_descent(&self, block: &[usize], inside: &Matrix, state: &State, k: usize) -> Vec<f64> {
        let target: Vec<f64> = block.iter().map(|&i| self.targets[k][i]).collect();
        let mut alpha: Vec<f64> = block.iter().map(|&i| state.alpha[(i, k)]).collect();
        let mut values: Vec<f64> = block.iter().map(|&i| state.values[(i, k)]).collect();
        let start = alpha.clone();
        for _ in 0..SWEEPS {
            let mut largest: f64 = 0.0;
            for r in 0..block.len() {
                let ridge = self.ridge / self.weight[block[r]];
                let g = target[r] * values[r] + ridge * alpha[r] - 1.0;
                let next = (alpha[r] - g / (inside[(r, r)] + ridge)).max(0.0);
                let step = next - alpha[r];
                if step != 0.0 {
                    largest = largest.max(step.abs() * (inside[(r, r)] + ridge));
                    alpha[r] = next;
                    let by = step * target[r];
                    values.iter_mut().zip(inside.row(r)).for_each(|(v, kernel)| *v += by * kernel);
                }
            }
            if largest < 1e-4 {
                break;
            }
        }
        alpha.iter().zip(&start).map(|(a, b)| a - b).collect()
    }
}

/// Decision values of a machine at the given rows of a matrix of points.
pub(crate) fn values(machine: &Machine, points: &Matrix, rows: &[usize]) -> Matrix {
    let columns: Vec<usize> = (0..points.cols()).collect();
    let parts = ordered_chunks(rows.len(), 64, |range| {
        machine.values(&points.select(&rows[range], &columns), &[]).data().to_vec()
    });
    let mut values = Matrix::zeros(rows.len(), machine.coefficients.cols());
    values.data_mut().copy_from_slice(&parts.concat());
    values
}
