//! Interior-point method for the linear SVM: Newton steps on the optimality conditions, whose linear systems
//! have the order of the smaller of rows and columns. It needs 10 to 20 steps whatever the data, where coordinate
//! descent may need thousands of passes.
//!
//! ```text
//! w = Σ a_i y_i x_i     Σ a_i y_i = 0     ξ_i - s_i = 1 - y_i (w·x_i + b)
//! a_i s_i = μ           r_i ξ_i = μ       r_i = C_i - a_i                     μ → 0
//! ```
//!
//! All iterates satisfy the first line, so the duality gap is `Σ a_i s_i + r_i ξ_i`. Fine & Scheinberg, JMLR 2001; the
//! steps are those of `interior`.

use super::interior::{LONGEST, PrimalDual, follow, room};
use super::linear_svm::{SvmProblem, combination};
use super::svm_certificate::balanced;
use crate::control::Control;
use crate::error::Result;
use crate::numeric::linalg::{Cholesky, Matrix, dot};
use crate::numeric::simd::vectorised;

/// Most steps; 10 to 25 are usual.
const MOST_STEPS: usize = 60;

/// Largest order of the linear systems: a matrix of 72 MB, about a second for its factor.
const LARGEST_SYSTEM: usize = 3000;

/// Least share of the middle of their range at which multipliers start. The best dual value lies near 0 where costs are large:
/// from there most multipliers must go to the other end of their range, in steps that are shorter the larger it is; with
/// C = 10⁴ the first was too short to go on. From a tenth 10 to 20 steps are enough up to C = 10⁶, where columns are not
/// nearly separable; a hundredth or a third are as good.
const INSIDE: f64 = 0.1;

/// Whether the smaller side of the problem is small enough for dense systems.
pub(super) fn is_suitable(problem: &SvmProblem<'_>) -> bool {
    problem.rows.rows().min(problem.rows.cols() + 1) <= LARGEST_SYSTEM
}

/// Goes on until the relative duality gap is at most `gap`, or rounding stops progress. Returns multipliers strictly inside
/// their bounds, the same with rows on their bounds where the slacks say so, and the number of steps.
pub(super) fn interior_point(
    problem: &SvmProblem<'_>,
    gap: f64,
    control: &Control,
) -> Result<(Vec<f64>, Vec<f64>, usize)> {
    let mut point = Point::start(problem, gap);
    let steps = follow(&mut point, MOST_STEPS, control)?;
    let rounded = point.rounded();
    Ok((point.a, rounded, steps))
}

/// `(X X' + Θ⁻¹) β + b 1 = g`, `Σ β = -imbalance` with β = a y, either by rows (order n) or, after elimination of β,
/// by columns: `(X' Θ X + I) w = X' Θ (g - b 1)` (order p + 1 with the intercept).
enum System {
    /// `X X'`.
    Rows(Matrix),
    /// The rows with a 1 appended.
    Columns(Matrix),
}

/// The matrix of one Newton step, factorised.
struct Factored {
    cholesky: Cholesky,
    theta: Vec<f64>,
    /// By rows: the solution for a right side of ones.
    ones: Vec<f64>,
}

/// Change of β = a y, of the scores `w·x_i` and of the intercept.
struct Direction {
    beta: Vec<f64>,
    scores: Vec<f64>,
    intercept: f64,
}

impl System {
    fn new(problem: &SvmProblem<'_>) -> Self {
        let x = problem.rows;
        let (n, p) = (x.rows() as f64, x.cols() as f64);
        // Floating-point work of about fifteen steps either way.
        let by_rows = n * n * p + 15.0 * n * n * n / 3.0;
        let by_columns = 15.0 * (n * p * p + p * p * p / 3.0);
        if by_rows < by_columns {
            return System::Rows(x.gram_of_rows());
        }
        let cols = x.cols();
        System::Columns(Matrix::from_fn(x.rows(), cols + 1, |i, j| if j < cols { x[(i, j)] } else { 1.0 }))
    }

    fn factorise(&self, theta: &[f64]) -> Result<Factored> {
        match self {
            System::Rows(gram) => {
                let n = theta.len();
                let mean = (0..n).map(|i| gram[(i, i)]).sum::<f64>() / n as f64;
                let mut matrix = gram.clone();
                (0..n).for_each(|i| matrix[(i, i)] += 1.0 / theta[i] + 1e-14 * mean);
                let cholesky = Cholesky::new(&matrix)?;
                let mut ones = vec![1.0; n];
                cholesky.solve(&mut ones);
                Ok(Factored { cholesky, theta: theta.to_vec(), ones })
            }
            System::Columns(x) => {
                let mut matrix = x.weighted_gram_of_columns(theta);
                let p = x.cols() - 1;
                (0..p).for_each(|j| matrix[(j, j)] += 1.0);
                let cholesky = Cholesky::new(&matrix)?;
                Ok(Factored { cholesky, theta: theta.to_vec(), ones: Vec::new() })
            }
        }
    }

    fn solve(&self, factor: &Factored, g: &[f64], imbalance: f64) -> Direction {
        match self {
            System::Rows(gram) => {
                let mut beta = g.to_vec();
                factor.cholesky.solve(&mut beta);
                let intercept = (beta.iter().sum::<f64>() + imbalance) / factor.ones.iter().sum::<f64>();
                beta.iter_mut().zip(&factor.ones).for_each(|(v, o)| *v -= intercept * o);
                let scores = gram.mul_vec(&beta);
                Direction { beta, scores, intercept }
            }
            System::Columns(x) => vectorised(
                #[inline(always)]
                || {
                    let mut right = vec![0.0; x.cols()];
                    for (i, (g, theta)) in g.iter().zip(&factor.theta).enumerate() {
                        let factor = g * theta;
                        right.iter_mut().zip(x.row(i)).for_each(|(r, x)| *r += factor * x);
                    }
                    let p = x.cols() - 1;
                    right[p] += imbalance;
                    factor.cholesky.solve(&mut right);
                    let (w, intercept) = (&right[..p], right[p]);
                    let scores: Vec<f64> = (0..g.len()).map(|i| dot(&x.row(i)[..p], w)).collect();
                    let change = |i: usize| factor.theta[i] * (g[i] - intercept - scores[i]);
                    Direction { beta: (0..g.len()).map(change).collect(), scores, intercept }
                },
            ),
        }
    }
}

/// An iterate, with its problem and the relative gap it must reach.
struct Point<'a> {
    problem: &'a SvmProblem<'a>,
    system: System,
    wanted: f64,
    a: Vec<f64>,
    /// `C - a`, kept beside a so that neither loses digits near its bound.
    r: Vec<f64>,
    s: Vec<f64>,
    xi: Vec<f64>,
    /// `w·x_i`.
    scores: Vec<f64>,
    intercept: f64,
    half_norm: f64,
}

/// Changes of all variables; r changes against a.
struct Move {
    a: Vec<f64>,
    s: Vec<f64>,
    xi: Vec<f64>,
    direction: Direction,
}

impl<'a> Point<'a> {
    /// Multipliers in the middle of their range, balanced between the classes and scaled to the best dual value on
    /// that ray, but not below [`INSIDE`]. (Starts near the solution of a related problem save no steps: they must be
    /// moved far inside first.)
    fn start(problem: &'a SvmProblem<'a>, wanted: f64) -> Self {
        let n = problem.costs.len();
        let half: Vec<f64> = problem.costs.iter().map(|c| 0.5 * c).collect();
        let mut a = balanced(problem, &half);
        let sum: f64 = a.iter().sum();
        let w = combination(problem, &a);
        let norm = dot(&w, &w);
        let scale = if norm > sum { (sum / norm).max(INSIDE) } else { 1.0 };
        a.iter_mut().for_each(|a| *a *= scale);
        let scores: Vec<f64> = problem.rows.mul_vec(&w).iter().map(|f| f * scale).collect();
        let mut point = Point {
            problem,
            system: System::new(problem),
            wanted,
            r: problem.costs.iter().zip(&a).map(|(c, a)| c - a).collect(),
            a,
            s: Vec::new(),
            xi: Vec::new(),
            scores,
            intercept: 0.0,
            half_norm: 0.5 * norm * scale * scale,
        };
        let violation = point.violation();
        // ξ s = κ² with κ of the size of the violations.
        let kappa = (violation.iter().map(|m| m.abs()).sum::<f64>() / n as f64).max(1e-3);
        let positive = |m: f64| 0.5 * (m.abs() + (m * m + 4.0 * kappa * kappa).sqrt());
        let slacks = |&m: &f64| {
            let (large, small) = (positive(m), kappa * kappa / positive(m));
            if m > 0.0 { (large, small) } else { (small, large) }
        };
        (point.xi, point.s) = violation.iter().map(slacks).unzip();
        point
    }

    /// `1 - y_i (w·x_i + b)`.
    fn violation(&self) -> Vec<f64> {
        let of_row = |(f, y): (&f64, &f64)| 1.0 - y * (f + self.intercept);
        self.scores.iter().zip(self.problem.labels).map(of_row).collect()
    }

    fn gap(&self) -> f64 {
        dot(&self.a, &self.s) + dot(&self.r, &self.xi)
    }

    /// The gap that is small enough.
    fn allowed(&self) -> f64 {
        self.wanted * (self.half_norm + dot(self.problem.costs, &self.xi))
    }

    /// `a s` and `r ξ` after a step of this length.
    fn products_after(&self, step: &Move, length: f64) -> (Vec<f64>, Vec<f64>) {
        let n = self.a.len();
        let s = (0..n).map(|i| (self.a[i] + length * step.a[i]) * (self.s[i] + length * step.s[i]));
        let xi = (0..n).map(|i| (self.r[i] - length * step.a[i]) * (self.xi[i] + length * step.xi[i]));
        (s.collect(), xi.collect())
    }

    /// Of each complementary pair the smaller one is zero in the limit: a against s, r against ξ.
    fn rounded(&self) -> Vec<f64> {
        let of_row = |i: usize| {
            let c = self.problem.costs[i];
            if self.a[i] < c * self.s[i] {
                0.0
            } else if self.r[i] < c * self.xi[i] {
                c
            } else {
                self.a[i].min(c)
            }
        };
        (0..self.a.len()).map(of_row).collect()
    }
}

/// The products are `a s` of all rows, then `r ξ`.
impl PrimalDual for Point<'_> {
    type Factor = Factored;
    type Move = Move;

    fn is_solved(&self) -> bool {
        self.gap() <= self.allowed()
    }

    fn excess(&self) -> f64 {
        self.gap() / self.allowed()
    }

    fn factorise(&self) -> Result<Factored> {
        let theta = |i: usize| 1.0 / (self.xi[i] / self.r[i] + self.s[i] / self.a[i]);
        self.system.factorise(&(0..self.a.len()).map(theta).collect::<Vec<_>>())
    }

    fn products(&self) -> (usize, f64) {
        (2 * self.a.len(), self.gap())
    }

    fn sum_after(&self, step: &Move, length: f64) -> f64 {
        let (s, xi) = self.products_after(step, length);
        s.iter().sum::<f64>() + xi.iter().sum::<f64>()
    }

    fn aim(&self, centre: f64, predictor: Option<&Move>) -> Vec<f64> {
        let Some(step) = predictor else { return vec![centre; 2 * self.a.len()] };
        let of_s = step.a.iter().zip(&step.s).map(|(a, s)| centre - a * s);
        of_s.chain(step.a.iter().zip(&step.xi).map(|(a, xi)| centre + a * xi)).collect()
    }

    /// The move of the multipliers with the slacks that `a s = μ_s`, `r ξ = μ_ξ`, linearised, give them.
    fn towards(&self, factor: &Factored, aim: &[f64]) -> Move {
        let y = self.problem.labels;
        let n = y.len();
        let (mu_s, mu_xi) = aim.split_at(n);
        let violation = self.violation();
        let imbalance: f64 = self.a.iter().zip(y).map(|(a, y)| a * y).sum();
        let right: Vec<f64> =
            (0..n).map(|i| y[i] * (violation[i] + mu_s[i] / self.a[i] - mu_xi[i] / self.r[i])).collect();
        let direction = self.system.solve(factor, &right, imbalance);
        let a: Vec<f64> = direction.beta.iter().zip(y).map(|(b, y)| b * y).collect();
        let s = (0..n).map(|i| (mu_s[i] - self.s[i] * a[i]) / self.a[i] - self.s[i]).collect();
        let xi = (0..n).map(|i| (mu_xi[i] + self.xi[i] * a[i]) / self.r[i] - self.xi[i]).collect();
        Move { a, s, xi, direction }
    }

    fn longest(&self, step: &Move) -> f64 {
        let longest = room(&self.a, step.a.iter().copied(), LONGEST);
        let longest = room(&self.r, step.a.iter().map(|a| -a), longest);
        let longest = room(&self.s, step.s.iter().copied(), longest);
        room(&self.xi, step.xi.iter().copied(), longest)
    }

    fn advance(&mut self, step: &Move, length: f64) {
        let add = |to: &mut [f64], change: &[f64], length: f64| {
            to.iter_mut().zip(change).for_each(|(v, d)| *v = (*v + length * d).max(f64::MIN_POSITIVE));
        };
        // ½|w|² from the scores: w·dw = Σ dβ_i (w·x_i), |dw|² = Σ dβ_i (dw·x_i).
        let direction = &step.direction;
        self.half_norm += length * dot(&direction.beta, &self.scores)
            + 0.5 * length * length * dot(&direction.beta, &direction.scores);
        add(&mut self.a, &step.a, length);
        add(&mut self.r, &step.a, -length);
        add(&mut self.s, &step.s, length);
        add(&mut self.xi, &step.xi, length);
        self.scores.iter_mut().zip(&direction.scores).for_each(|(f, d)| *f += length * d);
        self.intercept += length * direction.intercept;
    }

    fn recentre(&self, step: &Move, length: f64, centre: f64, aim: &mut [f64]) -> bool {
        let (s, xi) = self.products_after(step, length);
        let correction = |v: f64| (v.clamp(0.1 * centre, 10.0 * centre) - v).max(-10.0 * centre);
        aim.iter_mut().zip(s.into_iter().chain(xi)).for_each(|(mu, v)| *mu += correction(v));
        true
    }
}
