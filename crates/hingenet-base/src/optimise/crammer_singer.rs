//! Support vector machine of several classes in one problem (Crammer & Singer, JMLR 2001), with unpenalised intercepts:
//!
//! ```text
//! primal   min_{w,b}  ½ Σ_k |w_k|² + Σ_i C_i max_k [l_ik + (w_k·x_i + b_k) - (w_y·x_i + b_y)]      y = y_i,  l_iy = 0
//! dual     max_a      Σ_ik a_ik l_ik - ½ Σ_k |w_k|²     a_ik >= 0,  Σ_k a_ik = C_i,  Σ_i β_ik = 0
//!                     w_k = Σ_i β_ik x_i,   β_ik = C_i [k = y_i] - a_ik
//! ```
//!
//! The losses are `l_ik = 1` for k ≠ y, or other where scores are given beforehand. An interior-point method where the
//! weights are few; else descent on the multipliers of one row at a time (Keerthi et al.: A Sequential Dual Method for
//! Large Scale Multi-Class Linear SVMs, KDD 2008): the best ones are a projection onto a simplex. The equality
//! constraints are kept by the method of multipliers, whose multipliers are the intercepts.

use super::multiclass_certificate::{Certificate, certify};
use super::multiclass_interior::{interior_point, is_suitable};
use super::svm_certificate::{check_rows, machine_report};
use crate::control::Control;
use crate::error::{Error, Result, require_len};
use crate::numeric::linalg::{Matrix, dot};
use crate::numeric::random::Random;
use crate::numeric::simd::vectorised;
use crate::solver::SolverReport;

/// Rows, classes, losses and costs.
#[derive(Debug, Clone, Copy)]
pub struct MulticlassProblem<'a> {
    /// One row for each sample.
    pub rows: &'a Matrix,
    /// Class of each row.
    pub class: &'a [usize],
    /// `l_ik`, row by row; 0 for the own class.
    pub losses: &'a Matrix,
    /// C_i > 0 for each row.
    pub costs: &'a [f64],
    /// Whether there are intercepts; without them all are 0.
    pub intercepts: bool,
}

/// Most passes of the descent over the rows.
const MOST_PASSES: usize = 5000;

/// A solved machine: class k scores `w_k·x + b_k`.
#[derive(Debug, Clone, PartialEq)]
pub struct MulticlassSolution {
    /// One row w_k for each class.
    pub weights: Matrix,
    /// b.
    pub intercepts: Vec<f64>,
    /// β row by row; they warm-start a problem with other features or costs.
    pub multipliers: Vec<f64>,
    /// How the solver ended; the objective is the primal value, and the gap is relative to it.
    pub report: SolverReport,
}

impl MulticlassProblem<'_> {
    /// Losses 1 for every wrong class.
    pub fn unit_losses(class: &[usize], n_classes: usize) -> Matrix {
        Matrix::from_fn(class.len(), n_classes, |i, k| f64::from(u8::from(k != class[i])))
    }

    /// Number of classes.
    pub(super) fn n_classes(&self) -> usize {
        self.losses.cols()
    }

    /// `C_i [k = y_i]`, the largest β_ik.
    pub(super) fn upper(&self, i: usize, k: usize) -> f64 {
        if self.class[i] == k { self.costs[i] } else { 0.0 }
    }

    fn check(&self) -> Result<()> {
        let (n, k) = (self.rows.rows(), self.n_classes());
        require_len("classes of an SVM", n, self.class.len())?;
        require_len("losses of an SVM", n, self.losses.rows())?;
        check_rows(self.rows, self.costs)?;
        let known = |y: &usize| *y < k;
        if n == 0 || !self.class.iter().all(known) || !(0..k).all(|y| self.class.contains(&y)) {
            return Err(Error::data("an SVM needs rows of every class", "give rows of all classes"));
        }
        if self.losses.data().iter().any(|x| !x.is_finite()) {
            return Err(Error::data("a loss of the SVM is not a finite number", "check the features"));
        }
        Ok(())
    }
}

/// Scores of the rows as the multipliers move: from their inner products where these fit into memory, so that a row
/// that does not move costs nothing; else from the weights.
enum Scores<'a> {
    /// Inner products of the rows, and the scores, row by row.
    Products { gram: Matrix, scores: Matrix },
    /// The rows and the weights of the classes.
    Weights { rows: &'a Matrix, weights: Matrix },
}

/// Most rows whose inner products are kept: 128 MB.
const MOST_PRODUCTS: usize = 4000;

impl<'a> Scores<'a> {
    fn new(problem: &MulticlassProblem<'a>, beta: &Matrix) -> Self {
        let weights = combination(problem.rows, beta);
        if problem.rows.rows() <= MOST_PRODUCTS {
            let scores = problem.rows.mul_transpose(&weights);
            Scores::Products { gram: problem.rows.gram_of_rows(), scores }
        } else {
            Scores::Weights { rows: problem.rows, weights }
        }
    }

    /// `w_k·x_i` of all classes.
    #[inline(always)]
    fn of_row(&self, i: usize, out: &mut [f64]) {
        match self {
            Scores::Products { scores, .. } => out.copy_from_slice(scores.row(i)),
            Scores::Weights { rows, weights } => {
                out.iter_mut().enumerate().for_each(|(k, o)| *o = dot(weights.row(k), rows.row(i)));
            }
        }
    }

    /// β_ik grows by `steps[k]`.
    #[inline(always)]
    fn add(&mut self, i: usize, steps: &[f64]) {
        match self {
            Scores::Products { gram, scores } => {
                let along = gram.row(i);
                for (r, product) in along.iter().enumerate() {
                    scores.row_mut(r).iter_mut().zip(steps).for_each(|(f, s)| *f += s * product);
                }
            }
            Scores::Weights { rows, weights } => {
                for (k, step) in steps.iter().enumerate().filter(|(_, s)| **s != 0.0) {
                    weights.row_mut(k).iter_mut().zip(rows.row(i)).for_each(|(w, x)| *w += step * x);
                }
            }
        }
    }
}

/// One row w_k for each class: `Σ_i β_ik x_i`.
pub(super) fn combination(rows: &Matrix, beta: &Matrix) -> Matrix {
    beta.transpose_mul(rows)
}

/// State of the descent.
struct Descent<'a> {
    problem: MulticlassProblem<'a>,
    beta: Matrix,
    scores: Scores<'a>,
    /// Σ_i β_ik of each class, 0 at the optimum.
    imbalance: Vec<f64>,
    intercepts: Vec<f64>,
    penalty: f64,
    squares: Vec<f64>,
    active: Vec<usize>,
    /// Rows whose decision is clear by more than this are left out.
    clear: f64,
}

/// Weight of the squared constraints against the mean square of a row. A stiff constraint ties all rows together and slows the
/// descent: 1 needs three to five times as many passes.
const STIFFNESS: f64 = 0.01;

/// Solves to a relative duality gap `(primal - dual) / primal` of at most `gap`. `warm` holds multipliers of a related
/// problem on the same rows.
pub fn crammer_singer(
    problem: MulticlassProblem<'_>,
    gap: f64,
    warm: Option<&[f64]>,
    control: &Control,
) -> Result<MulticlassSolution> {
    problem.check()?;
    if let Some(warm) = warm {
        require_len("multipliers of the warm start", problem.losses.data().len(), warm.len())?;
    }
    if is_suitable(&problem) {
        let (beta, intercepts, steps) = interior_point(&problem, gap, control)?;
        let found = certify(&problem, &beta, &intercepts);
        if found.gap() <= gap {
            return Ok(solution(found, "interior point", steps, gap));
        }
        // Only rounding stops the interior point method; descent goes on from where it ended.
        return descend(problem, gap, (found.beta.data(), &found.intercepts), control);
    }
    descend(problem, gap, (warm.unwrap_or_default(), &[]), control)
}

/// Multipliers and intercepts at which descent begins; what is empty is zero.
type Start<'a> = (&'a [f64], &'a [f64]);

fn descend(
    problem: MulticlassProblem<'_>,
    gap: f64,
    start: Start<'_>,
    control: &Control,
) -> Result<MulticlassSolution> {
    let mut descent = Descent::new(problem, start);
    let mut random = Random::new(0x5eed);
    let mut best = certify(&problem, &descent.beta, &descent.intercepts);
    let (mut pass, mut next_check) = (0, 4);
    while best.gap() > gap && pass < MOST_PASSES {
        control.check()?;
        let violation = vectorised(
            #[inline(always)]
            || descent.pass(&mut random),
        );
        pass += 1;
        if pass < next_check && violation > 0.1 * gap {
            continue;
        }
        next_check = pass + (pass / 4).clamp(4, 100);
        let found = certify(&problem, &descent.beta, &descent.intercepts);
        if found.gap() < best.gap() {
            best = found;
        }
        descent.unshrink();
    }
    Ok(solution(best, "dual descent", pass, gap))
}

fn solution(best: Certificate, method: &str, iterations: usize, gap: f64) -> MulticlassSolution {
    let method = format!("machine of all classes (Crammer-Singer), {method}");
    let report = machine_report(&method, iterations, best.primal, best.dual, gap);
    let multipliers = best.beta.data().to_vec();
    MulticlassSolution { weights: best.weights, intercepts: best.intercepts, multipliers, report }
}

impl<'a> Descent<'a> {
    fn new(problem: MulticlassProblem<'a>, (start_beta, start_intercepts): Start<'_>) -> Self {
        let (n, k) = (problem.rows.rows(), problem.n_classes());
        let mut beta = Matrix::zeros(n, k);
        if !start_beta.is_empty() {
            for i in 0..n {
                let a: Vec<f64> = (0..k).map(|c| problem.upper(i, c) - start_beta[i * k + c]).collect();
                let a = project_onto_simplex(&a, problem.costs[i]);
                (0..k).for_each(|c| beta[(i, c)] = problem.upper(i, c) - a[c]);
            }
        }
        let squares: Vec<f64> = (0..n).map(|i| dot(problem.rows.row(i), problem.rows.row(i))).collect();
        let mean = squares.iter().sum::<f64>() / n as f64;
        let penalty = match (problem.intercepts, mean > 0.0) {
            (false, _) => 0.0,
            (true, true) => STIFFNESS * mean,
            (true, false) => 1.0,
        };
        let imbalance = (0..k).map(|c| beta.col(c).iter().sum()).collect();
        let scores = Scores::new(&problem, &beta);
        let mut intercepts = vec![0.0; k];
        intercepts.iter_mut().zip(start_intercepts).for_each(|(b, s)| *b = *s);
        let active = (0..n).collect();
        Descent {
            problem,
            beta,
            scores,
            imbalance,
            intercepts,
            penalty,
            squares,
            active,
            clear: f64::INFINITY,
        }
    }

    /// One pass over the active rows, then the multiplier step of the equality constraints. Returns the largest
    /// violation of the optimality conditions: `max_k g_k - min_{a_k > 0} g_k`.
    #[inline(always)]
    fn pass(&mut self, random: &mut Random) -> f64 {
        random.shuffle(&mut self.active);
        let k = self.problem.n_classes();
        let (mut g, mut a) = (vec![0.0; k], vec![0.0; k]);
        let (mut worst, mut kept) = (0.0f64, 0);
        for at in 0..self.active.len() {
            let i = self.active[at];
            self.gradient(i, &mut g, &mut a);
            let (highest, lowest, second) = spread(&g, &a);
            if lowest == highest && highest - second > self.clear {
                continue;
            }
            self.active[kept] = i;
            kept += 1;
            worst = worst.max(highest - lowest);
            if highest - lowest > 1e-13 {
                self.step(i, &g, &a);
            }
        }
        self.active.truncate(kept);
        let off = self.imbalance.iter().fold(0.0f64, |m, s| m.max(s.abs()));
        for (b, s) in self.intercepts.iter_mut().zip(&self.imbalance) {
            *b += self.penalty * s;
        }
        worst = worst.max(self.penalty * off);
        self.clear = if worst > 0.0 { worst } else { f64::INFINITY };
        worst
    }

    /// `g_k = l_ik + w_k·x_i + b_k` with the augmented intercepts, and the multipliers a of the row.
    #[inline(always)]
    fn gradient(&self, i: usize, g: &mut [f64], a: &mut [f64]) {
        self.scores.of_row(i, g);
        let losses = self.problem.losses.row(i);
        for k in 0..g.len() {
            g[k] += losses[k] + self.intercepts[k] + self.penalty * self.imbalance[k];
            a[k] = self.problem.upper(i, k) - self.beta[(i, k)];
        }
    }

    /// Moves the multipliers of row i to their best values, all others fixed.
    #[inline(always)]
    fn step(&mut self, i: usize, g: &[f64], a: &[f64]) {
        let curvature = (self.squares[i] + self.penalty).max(f64::MIN_POSITIVE);
        let target: Vec<f64> = a.iter().zip(g).map(|(a, g)| a + g / curvature).collect();
        let new = project_onto_simplex(&target, self.problem.costs[i]);
        let steps: Vec<f64> = a.iter().zip(&new).map(|(a, n)| a - n).collect();
        for (k, step) in steps.iter().enumerate() {
            self.beta[(i, k)] = self.problem.upper(i, k) - new[k];
            self.imbalance[k] += step;
        }
        self.scores.add(i, &steps);
    }

    fn unshrink(&mut self) {
        self.active = (0..self.problem.rows.rows()).collect();
        self.clear = f64::INFINITY;
    }
}

/// The largest g, the smallest where a > 0, and the second largest.
#[inline(always)]
fn spread(g: &[f64], a: &[f64]) -> (f64, f64, f64) {
    let (mut highest, mut second, mut lowest) = (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY);
    for (g, a) in g.iter().zip(a) {
        if *g > highest {
            (highest, second) = (*g, highest);
        } else {
            second = second.max(*g);
        }
        if *a > 0.0 {
            lowest = lowest.min(*g);
        }
    }
    (highest, lowest, second)
}

/// Nearest point with non-negative entries of this sum (Held, Wolfe, Crowder 1974).
fn project_onto_simplex(v: &[f64], sum: f64) -> Vec<f64> {
    let mut sorted = v.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut total, mut shift) = (0.0, 0.0);
    for (count, x) in sorted.iter().enumerate() {
        total += x;
        let candidate = (total - sum) / (count + 1) as f64;
        if *x <= candidate {
            break;
        }
        shift = candidate;
    }
    v.iter().map(|x| (x - shift).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::linear_svm::{SvmProblem, linear_svm};

    struct Blobs {
        rows: Matrix,
        class: Vec<usize>,
        losses: Matrix,
        costs: Vec<f64>,
    }

    impl Blobs {
        fn new(n: usize, p: usize, k: usize, cost: f64) -> Self {
            let mut random = Random::new(4);
            let class: Vec<usize> = (0..n).map(|i| i % k).collect();
            let rows = Matrix::from_fn(n, p, |i, j| f64::from(u8::from(j % k == class[i])) + random.normal());
            Blobs { rows, losses: MulticlassProblem::unit_losses(&class, k), class, costs: vec![cost; n] }
        }

        fn problem(&self) -> MulticlassProblem<'_> {
            let Blobs { rows, class, losses, costs } = self;
            MulticlassProblem { rows, class, losses, costs, intercepts: true }
        }
    }

    /// With two classes `w_1 = -w_0 = u/2`, so the machine is the usual one of weights u at twice the cost.
    #[test]
    fn two_classes_are_the_usual_machine() {
        let blobs = Blobs::new(80, 5, 2, 0.5);
        let joint = crammer_singer(blobs.problem(), 1e-9, None, &Control::default()).unwrap();
        let labels: Vec<f64> = blobs.class.iter().map(|c| if *c == 1 { 1.0 } else { -1.0 }).collect();
        let twice = vec![1.0; 80];
        let usual = SvmProblem { rows: &blobs.rows, labels: &labels, costs: &twice };
        let usual = linear_svm(usual, 1e-6, None, &Control::default()).unwrap();
        for (j, w) in usual.weights.iter().enumerate() {
            let u = joint.weights[(1, j)] - joint.weights[(0, j)];
            assert!((u - w).abs() < 1e-3, "{u} {w}");
        }
        let b = joint.intercepts[1] - joint.intercepts[0];
        assert!((b - usual.intercept).abs() < 1e-2, "{b} {}", usual.intercept);
    }

    #[test]
    fn rows_without_products_in_memory_and_warm_starts_give_the_same_optimum() {
        let blobs = Blobs::new(50, 6, 3, 1.0);
        let problem = blobs.problem();
        let first = crammer_singer(problem, 1e-6, None, &Control::default()).unwrap();
        let start: Start<'_> = (&first.multipliers, &first.intercepts);
        let again = descend(problem, 1e-6, start, &Control::default()).unwrap();
        assert_eq!(again.report.iterations, 0);
        let mut by_weights = Descent::new(problem, (&[], &[]));
        by_weights.scores = Scores::Weights { rows: &blobs.rows, weights: Matrix::zeros(3, 6) };
        let mut random = Random::new(1);
        (0..2000).for_each(|_| {
            by_weights.pass(&mut random);
            by_weights.unshrink();
        });
        let found = certify(&problem, &by_weights.beta, &by_weights.intercepts);
        let want = first.report.objective;
        assert!((found.primal - want).abs() < 1e-5 * want, "{} {want}", found.primal);
    }
}
