//! Interior-point method for the machine of all classes: Newton steps on the optimality conditions, in the weights of all
//! classes. For problems with few columns, where descent on the multipliers is slow.
//!
//! ```text
//! D z_k = Σ_i β_ik x_i     s_ik = ξ_i - l_ik - z_k·x_i + z_y·x_i     Σ_k a_ik = C_i     a_ik s_ik = μ → 0
//! ```
//!
//! with z_k = (w_k, b_k), rows x_i that end in a 1 for the intercept, and D = 1 but for the intercepts, where it is 0. All
//! iterates satisfy the two conditions in the middle. With θ = a/s, Θ_i = Σ_k θ_ik the Newton matrix has the blocks
//! `[k = l] D + Σ_i ([k = l] θ_ik - θ_ik θ_il / Θ_i) x_i x_i'`. The steps are those of `interior`.

use super::crammer_singer::MulticlassProblem;
use super::interior::{LONGEST, PrimalDual, follow, room};
use crate::control::Control;
use crate::error::Result;
use crate::numeric::linalg::{Cholesky, Matrix, dot};
use rayon::prelude::*;

/// Most steps; 10 to 30 are usual.
const MOST_STEPS: usize = 80;

/// Largest order of the Newton matrix: 32 MB. Its blocks cost more to build than to factorise, so it is smaller than for two
/// classes.
const LARGEST_SYSTEM: usize = 2000;

/// Whether the weights of all classes are few enough for dense systems.
pub(super) fn is_suitable(problem: &MulticlassProblem<'_>) -> bool {
    let columns = problem.rows.cols() + usize::from(problem.intercepts);
    columns * problem.n_classes() <= LARGEST_SYSTEM
}

/// Goes on until the complementarity gap is well below `gap` of the primal value, or rounding stops progress; returns β,
/// the intercepts and the number of steps.
pub(super) fn interior_point(
    problem: &MulticlassProblem<'_>,
    gap: f64,
    control: &Control,
) -> Result<(Matrix, Vec<f64>, usize)> {
    let (p, k) = (problem.rows.cols(), problem.n_classes());
    let q = p + usize::from(problem.intercepts);
    let x = Matrix::from_fn(problem.rows.rows(), q, |i, j| if j < p { problem.rows[(i, j)] } else { 1.0 });
    let mut point = Point::start(problem, x, gap);
    let steps = follow(&mut point, MOST_STEPS, control)?;
    let intercepts = (0..k).map(|c| if problem.intercepts { point.z[(c, p)] } else { 0.0 }).collect();
    Ok((point.beta(), intercepts, steps))
}

/// An iterate, with its problem and the relative gap it must reach; a and s row by row, z one row for each class.
struct Point<'a> {
    problem: &'a MulticlassProblem<'a>,
    /// The rows, with a 1 for the intercept.
    x: Matrix,
    wanted: f64,
    a: Matrix,
    s: Matrix,
    z: Matrix,
}

impl<'a> Point<'a> {
    /// All classes alike, weights zero, slacks of the size of the losses.
    fn start(problem: &'a MulticlassProblem<'a>, x: Matrix, wanted: f64) -> Self {
        let (n, k) = (problem.rows.rows(), problem.n_classes());
        let a = Matrix::from_fn(n, k, |i, _| problem.costs[i] / k as f64);
        let mut s = Matrix::zeros(n, k);
        for i in 0..n {
            let losses = problem.losses.row(i);
            let highest = losses.iter().copied().fold(0.0, f64::max);
            s.row_mut(i).iter_mut().zip(losses).for_each(|(s, l)| *s = highest - l + 1.0);
        }
        Point { problem, wanted, a, s, z: Matrix::zeros(k, x.cols()), x }
    }

    /// `½ Σ_k |w_k|²`, without intercepts.
    fn half_norm(&self) -> f64 {
        let of_class = |k: usize| {
            let w = &self.z.row(k)[..self.penalised()];
            0.5 * dot(w, w)
        };
        (0..self.z.rows()).map(of_class).sum()
    }

    /// The sum of complementary products that is small enough.
    fn allowed(&self) -> f64 {
        let short = |i: usize| self.problem.costs[i] * self.s[(i, self.problem.class[i])];
        0.1 * self.wanted * (self.half_norm() + (0..self.s.rows()).map(short).sum::<f64>())
    }

    /// `Σ a s`, the duality gap once the weights fit to the multipliers.
    fn complementarity(&self) -> f64 {
        dot(self.a.data(), self.s.data())
    }

    /// Number of penalised columns.
    fn penalised(&self) -> usize {
        self.problem.rows.cols()
    }

    fn beta(&self) -> Matrix {
        let (n, k) = (self.a.rows(), self.a.cols());
        Matrix::from_fn(n, k, |i, c| self.problem.upper(i, c) - self.a[(i, c)])
    }

    /// `D z_k - Σ_i β_ik x_i`, one row for each class.
    fn residual(&self) -> Matrix {
        let mut out = self.beta().transpose_mul(&self.x);
        for k in 0..out.rows() {
            for j in 0..out.cols() {
                let kept = if j < self.penalised() { self.z[(k, j)] } else { 0.0 };
                out[(k, j)] = kept - out[(k, j)];
            }
        }
        out
    }

    /// The Newton matrix of the weights of all classes, lower triangle.
    fn matrix(&self, theta: &Matrix) -> Matrix {
        let (n, k, q) = (theta.rows(), theta.cols(), self.x.cols());
        let totals: Vec<f64> = (0..n).map(|i| theta.row(i).iter().sum()).collect();
        let places: Vec<(usize, usize)> = (0..k).flat_map(|a| (a..k).map(move |b| (a, b))).collect();
        let block = |&(a, b): &(usize, usize)| {
            let weight = |i: usize| {
                let other = if a == b { totals[i] - theta[(i, a)] } else { theta[(i, b)] };
                theta[(i, a)] * other.max(0.0) / totals[i]
            };
            self.x.weighted_gram_of_columns(&(0..n).map(weight).collect::<Vec<_>>())
        };
        let blocks: Vec<Matrix> = places.par_iter().map(block).collect();
        let mut out = Matrix::zeros(k * q, k * q);
        for ((a, b), block) in places.iter().zip(&blocks) {
            let sign = if a == b { 1.0 } else { -1.0 };
            for i in 0..q {
                for j in 0..q {
                    out[(b * q + i, a * q + j)] = sign * block[(i.max(j), i.min(j))];
                }
            }
        }
        // A common shift of all intercepts changes nothing: a little weight keeps the matrix regular.
        let size = (0..k * q).map(|e| out[(e, e)]).fold(0.0, f64::max);
        for e in 0..k * q {
            out[(e, e)] += if e % q < self.penalised() { 1.0 } else { 1e-12 * (1.0 + size) };
        }
        out
    }
}

/// Changes of all variables.
struct Move {
    a: Matrix,
    s: Matrix,
    z: Matrix,
}

/// The Newton matrix, factorised, with θ and what the weights lack of `D z_k = Σ_i β_ik x_i`.
struct Factored {
    theta: Matrix,
    cholesky: Cholesky,
    residual: Matrix,
}

impl PrimalDual for Point<'_> {
    type Factor = Factored;
    type Move = Move;

    fn is_solved(&self) -> bool {
        let size = self.residual().data().iter().fold(0.0f64, |m, r| m.max(r.abs()));
        self.complementarity() <= self.allowed() && size <= 1e-7 * (1.0 + self.half_norm().sqrt())
    }

    fn excess(&self) -> f64 {
        self.complementarity() / self.allowed()
    }

    fn factorise(&self) -> Result<Factored> {
        let (a, s) = (&self.a, &self.s);
        let theta = Matrix::from_fn(a.rows(), a.cols(), |i, c| a[(i, c)] / s[(i, c)]);
        Ok(Factored { cholesky: Cholesky::new(&self.matrix(&theta))?, theta, residual: self.residual() })
    }

    fn products(&self) -> (usize, f64) {
        (self.a.data().len(), self.complementarity())
    }

    fn sum_after(&self, step: &Move, length: f64) -> f64 {
        let (a, s) = (self.a.data(), self.s.data());
        let product = |e: usize| (a[e] + length * step.a.data()[e]) * (s[e] + length * step.s.data()[e]);
        (0..a.len()).map(product).sum()
    }

    fn aim(&self, centre: f64, predictor: Option<&Move>) -> Vec<f64> {
        let Some(step) = predictor else { return vec![centre; self.a.data().len()] };
        step.a.data().iter().zip(step.s.data()).map(|(a, s)| centre - a * s).collect()
    }

    fn towards(&self, Factored { theta, cholesky, residual }: &Factored, aim: &[f64]) -> Move {
        let (n, k, q) = (theta.rows(), theta.cols(), self.x.cols());
        let pull = Matrix::from_fn(n, k, |i, c| aim[i * k + c] / self.s[(i, c)] - self.a[(i, c)]);
        let totals: Vec<f64> = (0..n).map(|i| theta.row(i).iter().sum()).collect();
        let common: Vec<f64> = (0..n).map(|i| pull.row(i).iter().sum::<f64>() / totals[i]).collect();
        let right =
            Matrix::from_fn(n, k, |i, c| theta[(i, c)] * common[i] - pull[(i, c)]).transpose_mul(&self.x);
        let mut z: Vec<f64> = right.data().iter().zip(residual.data()).map(|(h, r)| h - r).collect();
        cholesky.solve(&mut z);
        let z = Matrix::from_fn(k, q, |c, j| z[c * q + j]);
        let scores = self.x.mul_transpose(&z);
        let mut s = Matrix::zeros(n, k);
        for i in 0..n {
            let mean = common[i] + dot(theta.row(i), scores.row(i)) / totals[i];
            s.row_mut(i).iter_mut().zip(scores.row(i)).for_each(|(s, f)| *s = mean - f);
        }
        let a = Matrix::from_fn(n, k, |i, c| pull[(i, c)] - theta[(i, c)] * s[(i, c)]);
        Move { a, s, z }
    }

    fn longest(&self, step: &Move) -> f64 {
        let of = |values: &Matrix, changes: &Matrix, longest: f64| {
            room(values.data(), changes.data().iter().copied(), longest)
        };
        of(&self.s, &step.s, of(&self.a, &step.a, LONGEST))
    }

    fn advance(&mut self, step: &Move, length: f64) {
        let add = |to: &mut Matrix, change: &Matrix, least: f64| {
            let moved = to.data_mut().iter_mut().zip(change.data());
            moved.for_each(|(v, d)| *v = (*v + length * d).max(least));
        };
        add(&mut self.a, &step.a, f64::MIN_POSITIVE);
        add(&mut self.s, &step.s, f64::MIN_POSITIVE);
        add(&mut self.z, &step.z, f64::NEG_INFINITY);
    }
}
