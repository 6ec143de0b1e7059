//! The margin machine of term K: squared hinge loss on the kernel, solved by finite Newton steps on the
//! active set, with leave-one-out in closed form.
//!
//! Keerthi, DeCoste: A modified finite Newton method for fast solution of large scale linear SVMs, JMLR
//! 2005 (here with kernels); the leave-one-out identity is that of ridge regression on the active set.

use super::kernel::{Kernel, Side};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::{Cholesky, Matrix, dot};
use hingenet_base::numeric::sum::ordered_chunks;
use rayon::prelude::*;

/// Most Newton rounds.
const ROUNDS: usize = 20;

/// Kernel values between the training rows.
pub(crate) enum Gram {
    /// All of them, kept.
    Stored(Matrix),
    /// Computed when needed, for many rows with small active sets.
    Computed { left: Side, right: Side },
}

impl Gram {
    /// Keeps the whole kernel matrix.
    pub(crate) fn stored(kernel: &Kernel, points: &Matrix) -> Self {
        let n = points.rows();
        let (left, right) = (kernel.left(points), kernel.right(points));
        let mut matrix = Matrix::zeros(n, n);
        matrix.data_mut().par_chunks_mut(64 * n.max(1)).enumerate().for_each(|(k, out)| {
            let rows: Vec<usize> = (k * 64..((k + 1) * 64).min(n)).collect();
            out.copy_from_slice(left.select(&rows).block(&right).data());
        });
        Gram::Stored(matrix)
    }

    /// Keeps the points only.
    pub(crate) fn computed(kernel: &Kernel, points: &Matrix) -> Self {
        Gram::Computed { left: kernel.left(points), right: kernel.right(points) }
    }

    /// `K_II` of some rows.
    fn among(&self, rows: &[usize]) -> Matrix {
        match self {
            Gram::Stored(matrix) => matrix.select(rows, rows),
            Gram::Computed { left, right } => left.select(rows).block(&right.select(rows)),
        }
    }

    /// `K β` for coefficients that are 0 outside `active`.
    pub(crate) fn times(&self, active: &[usize], beta: &[f64]) -> Vec<f64> {
        match self {
            Gram::Stored(matrix) => matrix.mul_vec(beta),
            Gram::Computed { left, right } => {
                let on_active: Vec<f64> = active.iter().map(|&i| beta[i]).collect();
                let right = right.select(active);
                let parts = ordered_chunks(left.len(), 128, |range| {
                    left.select(&range.collect::<Vec<_>>()).block(&right).mul_vec(&on_active)
                });
                parts.concat()
            }
        }
    }
}

/// One machine against the rest.
pub(crate) struct Problem<'a> {
    /// Kernel values of the training rows.
    pub(crate) kernel: &'a Gram,
    /// Targets ±1.
    pub(crate) target: &'a [f64],
    /// Weights of the rows.
    pub(crate) weight: &'a [f64],
    /// Ridge μ.
    pub(crate) ridge: f64,
}

/// Solution of a [`Problem`].
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    /// Coefficients, 0 outside the active set.
    pub(crate) beta: Vec<f64>,
    /// `f = K β` at the training rows.
    pub(crate) values: Vec<f64>,
    /// Active rows `I = {i: u_i f_i < 1}`, ascending.
    pub(crate) active: Vec<usize>,
    pub(crate) objective: f64,
    pub(crate) rounds: usize,
    pub(crate) converged: bool,
    factor: Cholesky,
}

impl Problem<'_> {
    /// Minimises `μ/2 βᵀKβ + ½ Σ s_i max(0, 1 − u_i f_i)²`, `f = Kβ`, starting from an active set.
    ///
    /// On the active set I the solution is `β_I = (K_II + μ S_I⁻¹)⁻¹ u_I`; a round solves for it and takes
    /// the rows with `u f < 1` as the next set. It ends when the set repeats; otherwise the solution with
    /// the least objective is kept.
    pub(crate) fn solve(&self, start: &[usize], control: &Control) -> Result<Solution> {
        let mut active = start.to_vec();
        let mut best: Option<Solution> = None;
        for round in 1..=ROUNDS {
            control.check()?;
            let mut solution = self.step(&active)?;
            solution.rounds = round;
            let next = self.active_rows(&solution.values);
            solution.converged = next == active;
            let done = solution.converged;
            if done || best.as_ref().is_none_or(|b| solution.objective < b.objective) {
                best = Some(solution);
            }
            if done {
                break;
            }
            active = next;
        }
        match best {
            Some(solution) => Ok(solution),
            None => self.step(&active),
        }
    }

    /// The solution on a given active set.
    fn step(&self, active: &[usize]) -> Result<Solution> {
        let factor = self.factorise(active)?;
        let mut on_active: Vec<f64> = active.iter().map(|&i| self.target[i]).collect();
        factor.solve(&mut on_active);
        Ok(self.solution(active, on_active, factor))
    }

    /// Completes a solution from its coefficients on the active set.
    fn solution(&self, active: &[usize], on_active: Vec<f64>, factor: Cholesky) -> Solution {
        let n = self.target.len();
        let mut beta = vec![0.0; n];
        active.iter().zip(&on_active).for_each(|(&i, b)| beta[i] = *b);
        let values = self.kernel.times(active, &beta);
        let loss: f64 =
            (0..n).map(|i| self.weight[i] * (1.0 - self.target[i] * values[i]).max(0.0).powi(2)).sum();
        let objective = 0.5 * self.ridge * dot(&beta, &values) + 0.5 * loss;
        Solution { beta, values, active: active.to_vec(), objective, rounds: 0, converged: false, factor }
    }

    /// `K_II + μ S_I⁻¹`, factorised; a hair is added if rounding makes it indefinite.
    pub(crate) fn factorise(&self, active: &[usize]) -> Result<Cholesky> {
        let mut a = self.kernel.among(active);
        for (r, &i) in active.iter().enumerate() {
            a[(r, r)] += self.ridge / self.weight[i];
        }
        Cholesky::new(&a).or_else(|_| {
            let m = active.len();
            let trace: f64 = (0..m).map(|r| a[(r, r)]).sum();
            (0..m).for_each(|r| a[(r, r)] += 1e-8 * trace / m as f64);
            Cholesky::new(&a)
        })
    }

    /// Rows with `u f < 1`.
    pub(crate) fn active_rows(&self, values: &[f64]) -> Vec<usize> {
        (0..values.len()).filter(|&i| self.target[i] * values[i] < 1.0).collect()
    }
}

impl Solution {
    /// Leave-one-out values at the training rows: `f⁻ⁱ(x_i) = u_i − β_i / C_ii` on the active set, with
    /// `C = (K_II + μ S⁻¹)⁻¹`; rows outside it change nothing.
    pub(crate) fn left_out(&self, target: &[f64]) -> Vec<f64> {
        let mut values = self.values.clone();
        for (&i, c) in self.active.iter().zip(self.factor.inverse_diagonal()) {
            values[i] = target[i] - self.beta[i] / c;
        }
        values
    }

    /// `C = (K_II + μ S⁻¹)⁻¹` over the active rows.
    pub(crate) fn inverse(&self) -> Matrix {
        self.factor.inverse()
    }
}
