//! The kernel machine with squared hinge loss, by finite Newton steps on its active set:
//!
//! ```text
//! min_{β,b}  ½ β'Kβ + ½ Σ_i max(0, 1 − y_i f_i)² / r_i        f = Kβ + b
//! ```
//!
//! with labels y = ±1 and ridges r_i > 0: `1/(C w_i)` for slack weight C, `μ/w_i` for ridge μ. The intercept b is free or 0. On
//! the active set I = {i: y_i f_i < 1} the optimum solves `(K_II + R_I) β_I + b = y_I`, `Σ β = 0` where b is free, and β is
//! zero elsewhere; a set that reproduces itself is optimal. A round solves for one set and takes the rows inside the
//! margin as the next; where that raises the objective, the exact minimum on the way is taken instead, so that the
//! objective falls and the method ends (Keerthi, DeCoste: A modified finite Newton method for fast solution of large
//! scale linear SVMs, JMLR 2005; here with kernels). In the dual `α = yβ >= 0` is unique, so the objective is differentiable in K.

use crate::control::Control;
use crate::error::Result;
use crate::numeric::linalg::{Cholesky, Matrix, dot};
use crate::solver::SolverReport;

/// Most rounds; 5 to 15 are usual.
const MOST_ROUNDS: usize = 50;
/// Rows from which the first active set comes from the machine of every second row: the first factor is that of all
/// rows otherwise, ten times the work of a good set.
const MANY_ROWS: usize = 2000;
/// Halvings in the search along a step: the length is exact to rounding.
const HALVINGS: usize = 52;

/// Kernel values between the rows.
pub trait KernelRows {
    /// `K_II` of some rows.
    fn among(&self, rows: &[usize]) -> Matrix;
    /// `Kβ` for coefficients that are 0 outside `active`.
    fn times(&self, active: &[usize], beta: &[f64]) -> Vec<f64>;
}

impl KernelRows for Matrix {
    fn among(&self, rows: &[usize]) -> Matrix {
        self.select(rows, rows)
    }

    fn times(&self, active: &[usize], beta: &[f64]) -> Vec<f64> {
        self.symmetric_mul_sparse(active, beta)
    }
}

/// One machine of two sides.
#[derive(Debug)]
pub struct SquaredHinge<'a, K> {
    /// Kernel values between the rows.
    pub kernel: &'a K,
    /// Labels ±1.
    pub labels: &'a [f64],
    /// Ridge r_i > 0 of each row.
    pub ridges: &'a [f64],
    /// Whether there is an intercept.
    pub intercept: bool,
}

/// A solved machine.
#[derive(Debug, Clone)]
pub struct SquaredHingeSolution {
    /// Coefficients, 0 outside the active set.
    pub beta: Vec<f64>,
    /// b, 0 for a machine without intercept.
    pub intercept: f64,
    /// `f = Kβ + b` at the rows.
    pub values: Vec<f64>,
    /// Active rows, ascending.
    pub active: Vec<usize>,
    /// How the machine ended: converged where the active set reproduced itself; no gap where `α = yβ` has a negative entry
    /// and bounds nothing.
    pub report: SolverReport,
    factor: Cholesky,
}

/// Coefficients and values between two solutions, which need no active set of their own.
struct Iterate {
    beta: Vec<f64>,
    intercept: f64,
    values: Vec<f64>,
    objective: f64,
}

impl<K: KernelRows> SquaredHinge<'_, K> {
    /// Minimises from an active set; from that of a smaller machine, or all rows, without one.
    pub fn solve(&self, start: Option<&[usize]>, control: &Control) -> Result<SquaredHingeSolution> {
        let all: Vec<usize> = (0..self.labels.len()).collect();
        let mut active = match start {
            Some(set) if !set.is_empty() => set.to_vec(),
            _ if all.len() > MANY_ROWS => self.set_of_half(control)?,
            _ => all,
        };
        let mut at: Option<Iterate> = None;
        // A factor is as large as the problem: of the best set so far only the rows are kept.
        let mut best: Option<(f64, Vec<usize>)> = None;
        let mut rounds = 0;
        while rounds < MOST_ROUNDS {
            control.check()?;
            rounds += 1;
            let mut found = self.solve_on(&active)?;
            found.report.iterations = rounds;
            let next = self.next_set(&found);
            if next == active || self.has_one_side() {
                found.report.converged = true;
                return Ok(found);
            }
            let arrived = match at.take() {
                Some(from) if found.report.objective >= from.objective => self.lowest_between(&from, &found),
                _ => Some((Iterate::of(&found), next)),
            };
            if best.as_ref().is_none_or(|(objective, _)| found.report.objective < *objective) {
                best = Some((found.report.objective, active.clone()));
            }
            let Some((here, set)) = arrived else { break };
            (at, active) = (Some(here), set);
        }
        let mut found = self.solve_on(best.as_ref().map_or(&active, |(_, set)| set))?;
        found.report.iterations = rounds;
        Ok(found)
    }

    /// With one label only the intercept does all the work.
    fn has_one_side(&self) -> bool {
        self.intercept && self.labels.windows(2).all(|y| y[0] == y[1])
    }

    /// The solution with all rows of `active` held on the equations of the active set.
    pub fn solve_on(&self, active: &[usize]) -> Result<SquaredHingeSolution> {
        let factor = self.factorise(active)?;
        let mut on_active: Vec<f64> = active.iter().map(|&i| self.labels[i]).collect();
        factor.solve(&mut on_active);
        let mut intercept = 0.0;
        if self.intercept {
            let mut ones = vec![1.0; active.len()];
            factor.solve(&mut ones);
            intercept = on_active.iter().sum::<f64>() / ones.iter().sum::<f64>();
            on_active.iter_mut().zip(&ones).for_each(|(b, o)| *b -= intercept * o);
        }
        let mut beta = vec![0.0; self.labels.len()];
        active.iter().zip(&on_active).for_each(|(&i, b)| beta[i] = *b);
        let mut values = self.kernel.times(active, &beta);
        let quadratic = dot(&beta, &values);
        values.iter_mut().for_each(|f| *f += intercept);
        let objective = 0.5 * (quadratic + self.loss(&values));
        let gap =
            self.dual_objective(&beta, quadratic).map(|dual| (objective - dual).max(0.0) / (1.0 + objective));
        let method = "finite Newton on the squared hinge loss (relative duality gap)";
        let report = SolverReport::new(method, false, 0, objective, gap);
        Ok(SquaredHingeSolution { beta, intercept, values, active: active.to_vec(), report, factor })
    }

    /// `K_II + R_I`, factorised; a hair is added if rounding makes it indefinite.
    pub fn factorise(&self, active: &[usize]) -> Result<Cholesky> {
        let regularised = |hair: f64| {
            let mut a = self.kernel.among(active);
            let trace: f64 = (0..active.len()).map(|r| a[(r, r)]).sum();
            let mean = (trace + active.iter().map(|&i| self.ridges[i]).sum::<f64>()) / active.len() as f64;
            for (r, &i) in active.iter().enumerate() {
                a[(r, r)] += self.ridges[i] + hair * mean;
            }
            Cholesky::of_symmetric(a)
        };
        regularised(0.0).or_else(|_| regularised(1e-8))
    }

    /// `Σ α − ½ β'(K + R)β` with `α = yβ`, a lower bound of the objective where α >= 0 (and `Σ β = 0` where the intercept
    /// is free, which every solution fulfils).
    fn dual_objective(&self, beta: &[f64], quadratic: f64) -> Option<f64> {
        let feasible = beta.iter().zip(self.labels).all(|(b, y)| b * y >= 0.0);
        let ridge: f64 = beta.iter().zip(self.ridges).map(|(b, r)| r * b * b).sum();
        feasible.then(|| dot(beta, self.labels) - 0.5 * (quadratic + ridge))
    }

    /// `Σ_i max(0, 1 − y_i f_i)² / r_i`.
    fn loss(&self, values: &[f64]) -> f64 {
        let row = |i: usize| (1.0 - self.labels[i] * values[i]).max(0.0).powi(2) / self.ridges[i];
        (0..values.len()).map(row).sum()
    }

    /// Rows with `y f < 1`.
    pub fn inside_the_margin(&self, values: &[f64]) -> Vec<usize> {
        (0..values.len()).filter(|&i| self.labels[i] * values[i] < 1.0).collect()
    }

    /// The next set: on the active one `1 − y f = r y β`, whose sign rounding cannot hide behind a small r.
    fn next_set(&self, at: &SquaredHingeSolution) -> Vec<usize> {
        let inside = |i: &usize| {
            let alpha = self.labels[*i] * at.beta[*i];
            if alpha == 0.0 { self.labels[*i] * at.values[*i] < 1.0 } else { alpha > 0.0 }
        };
        (0..self.labels.len()).filter(inside).collect()
    }

    /// The lowest point between an iterate and a solution that lies no lower, and the rows inside its margin; `None` where
    /// rounding leaves no descent.
    fn lowest_between(&self, from: &Iterate, to: &SquaredHingeSolution) -> Option<(Iterate, Vec<usize>)> {
        let step = |a: &[f64], b: &[f64]| b.iter().zip(a).map(|(b, a)| b - a).collect::<Vec<f64>>();
        let (d_beta, d_values) = (step(&from.beta, &to.beta), step(&from.values, &to.values));
        let d_intercept = to.intercept - from.intercept;
        // β'Kβ along the step, from K β = f − b.
        let plain: Vec<f64> = from.values.iter().map(|f| f - from.intercept).collect();
        let d_plain: Vec<f64> = d_values.iter().map(|f| f - d_intercept).collect();
        let (linear, square) = (dot(&d_beta, &plain), dot(&d_beta, &d_plain));
        let slope = |t: f64| {
            let row = |i: usize| {
                let short = 1.0 - self.labels[i] * (from.values[i] + t * d_values[i]);
                -short.max(0.0) * self.labels[i] * d_values[i] / self.ridges[i]
            };
            linear + t * square + (0..d_values.len()).map(row).sum::<f64>()
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if slope(middle) < 0.0 { low = middle } else { high = middle }
        }
        let along = |a: &[f64], d: &[f64]| a.iter().zip(d).map(|(a, d)| a + low * d).collect::<Vec<f64>>();
        let (beta, values) = (along(&from.beta, &d_beta), along(&from.values, &d_values));
        let intercept = from.intercept + low * d_intercept;
        let quadratic = dot(&beta, &values) - intercept * beta.iter().sum::<f64>();
        let objective = 0.5 * (quadratic + self.loss(&values));
        let set = self.inside_the_margin(&values);
        let falls = objective < from.objective && !set.is_empty();
        falls.then_some((Iterate { beta, intercept, values, objective }, set))
    }

    /// Rows inside the margin of the machine of every second row.
    fn set_of_half(&self, control: &Control) -> Result<Vec<usize>> {
        let half: Vec<usize> = (0..self.labels.len()).step_by(2).collect();
        let of_half = |v: &[f64]| half.iter().map(|&i| v[i]).collect::<Vec<f64>>();
        let (kernel, labels, ridges) = (self.kernel.among(&half), of_half(self.labels), of_half(self.ridges));
        let part =
            SquaredHinge { kernel: &kernel, labels: &labels, ridges: &ridges, intercept: self.intercept };
        let found = part.solve(None, control)?;
        let mut beta = vec![0.0; self.labels.len()];
        half.iter().zip(&found.beta).for_each(|(&i, b)| beta[i] = *b);
        let active: Vec<usize> = found.active.iter().map(|&i| half[i]).collect();
        let values = self.kernel.times(&active, &beta);
        Ok(self.inside_the_margin(&values.iter().map(|f| f + found.intercept).collect::<Vec<_>>()))
    }
}

impl Iterate {
    fn of(found: &SquaredHingeSolution) -> Iterate {
        Iterate {
            beta: found.beta.clone(),
            intercept: found.intercept,
            values: found.values.clone(),
            objective: found.report.objective,
        }
    }
}

impl SquaredHingeSolution {
    /// Leave-one-out values at the rows, for a machine without intercept: `f⁻ⁱ(x_i) = y_i − β_i / C_ii` on the active set, with
    /// `C = (K_II + R_I)⁻¹` (the identity of ridge regression); rows outside it change nothing.
    pub fn left_out(&self, labels: &[f64]) -> Vec<f64> {
        let mut values = self.values.clone();
        for (&i, c) in self.active.iter().zip(self.factor.inverse_diagonal()) {
            values[i] = labels[i] - self.beta[i] / c;
        }
        values
    }

    /// Columns of `C = (K_II + R_I)⁻¹`, for positions among the active rows, one below the other.
    pub fn inverse_columns(&self, positions: &[usize]) -> Matrix {
        self.factor.inverse_columns(positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::Random;
    use proptest::prelude::*;

    /// Dual objective `Σ α − ½ α'(Q + R)α`, a lower bound for feasible α.
    fn dual(kernel: &Matrix, labels: &[f64], ridges: &[f64], beta: &[f64]) -> f64 {
        let bent: f64 = beta.iter().zip(ridges).map(|(b, r)| r * b * b).sum();
        dot(beta, labels) - 0.5 * (dot(beta, &kernel.mul_vec(beta)) + bent)
    }

    proptest! {
        #[test]
        fn primal_and_dual_agree(
            x in proptest::collection::vec((-2.0..2.0f64, -2.0..2.0f64), 4..40), c in 0.01..50.0f64,
            intercept: bool, seed in any::<u64>(),
        ) {
            let n = x.len();
            let mut random = Random::new(seed);
            let labels: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
            let ridges: Vec<f64> = (0..n).map(|_| (0.5 + random.uniform()) / c).collect();
            let kernel = Matrix::from_fn(n, n, |i, k| x[i].0 * x[k].0 + x[i].1 * x[k].1);
            let machine = SquaredHinge { kernel: &kernel, labels: &labels, ridges: &ridges, intercept };
            let found = machine.solve(None, &Control::default()).unwrap();
            prop_assert!(found.report.converged);
            prop_assert!(found.beta.iter().zip(&labels).all(|(b, y)| b * y >= 0.0));
            prop_assert!(!intercept || found.beta.iter().sum::<f64>().abs() < 1e-9);
            let lower = dual(&kernel, &labels, &ridges, &found.beta);
            prop_assert!((found.report.objective - lower).abs() < 1e-9 * (1.0 + lower), "{} {lower}", found.report.objective);
            prop_assert!(found.report.gap.is_some_and(|gap| gap < 1e-9), "{:?}", found.report.gap);
            // Any start ends there, also one that needs steps cut short.
            let one: Vec<usize> = vec![random.below(n)];
            let again = machine.solve(Some(&one), &Control::default()).unwrap();
            prop_assert!(again.report.converged);
            prop_assert!(again.values.iter().zip(&found.values).all(|(a, b)| (a - b).abs() < 1e-7));
            // Swapping the signs of the labels changes nothing.
            let swapped: Vec<f64> = labels.iter().map(|y| -y).collect();
            let other = SquaredHinge { labels: &swapped, ..machine };
            let other = other.solve(None, &Control::default()).unwrap();
            prop_assert!((other.report.objective - found.report.objective).abs() < 1e-9 * (1.0 + lower));
        }
    }

    #[test]
    fn many_rows_start_from_half_of_them_and_one_side_needs_no_direction() {
        let mut random = Random::new(3);
        let n = MANY_ROWS + 100;
        let x = Matrix::from_fn(n, 3, |_, _| random.normal());
        let labels: Vec<f64> =
            (0..n).map(|i| if x[(i, 0)] + 0.5 * random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        let (kernel, ridges) = (x.gram_of_rows(), vec![0.1; n]);
        let machine = SquaredHinge { kernel: &kernel, labels: &labels, ridges: &ridges, intercept: true };
        let found = machine.solve(None, &Control::default()).unwrap();
        let lower = dual(&kernel, &labels, &ridges, &found.beta);
        assert!(found.report.converged && (found.report.objective - lower).abs() < 1e-8 * lower, "{found:?}");
        let one = vec![-1.0; n];
        let found =
            SquaredHinge { labels: &one, ..machine }.solve(Some(&[0, 1]), &Control::default()).unwrap();
        assert!(found.report.converged && found.values.iter().all(|f| (f + 1.0).abs() < 1e-9));
    }
}
