//! Linear support vector machine with an unpenalised intercept: an interior-point method where rows or columns are few
//! enough for dense systems, else dual coordinate descent; then a solve on the active set.
//!
//! ```text
//! primal   min_{w,b}  ½|w|² + Σ_i C_i max(0, 1 - y_i (w·x_i + b))
//! dual     max_a      Σ_i a_i - ½|Σ_i a_i y_i x_i|²     0 <= a_i <= C_i,  Σ_i a_i y_i = 0
//! ```
//!
//! In coordinate descent the equality constraint is kept by the method of multipliers: its multiplier is the intercept.
//! Hsieh et al.: A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML 2008, gives passes and shrinking.

use super::svm_certificate::{Certificate, certify, check_rows, machine_report};
use super::svm_interior::{interior_point, is_suitable};
use super::svm_polish::polish;
use crate::control::Control;
use crate::error::{Error, Result, require_len};
use crate::numeric::linalg::{Matrix, dot};
use crate::numeric::random::Random;
use crate::numeric::simd::vectorised;
use crate::solver::SolverReport;

/// Rows, labels and costs of a linear SVM.
#[derive(Debug, Clone, Copy)]
pub struct SvmProblem<'a> {
    /// One row per sample.
    pub rows: &'a Matrix,
    /// +1 or -1 for each row.
    pub labels: &'a [f64],
    /// C_i > 0 for each row: C times class weight times sample weight.
    pub costs: &'a [f64],
}

/// Most passes of coordinate descent over the rows.
const MOST_PASSES: usize = 20_000;

/// A solved linear SVM: decision value `w·x + b`.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmSolution {
    /// w.
    pub weights: Vec<f64>,
    /// b; the middle of the optimal interval where it is not unique.
    pub intercept: f64,
    /// The multipliers a; they warm-start a problem with other features or costs.
    pub multipliers: Vec<f64>,
    /// How the solver ended; the objective is the primal value, and the gap is relative to it.
    pub report: SolverReport,
}

impl SvmProblem<'_> {
    pub(super) fn check(&self) -> Result<()> {
        require_len("labels of an SVM", self.rows.rows(), self.labels.len())?;
        check_rows(self.rows, self.costs)?;
        let both = self.labels.contains(&1.0) && self.labels.contains(&-1.0);
        if !both || self.labels.iter().any(|y| *y != 1.0 && *y != -1.0) {
            return Err(Error::data(
                "an SVM needs rows of both classes, labelled +1 and -1",
                "give rows of two classes",
            ));
        }
        Ok(())
    }
}

/// State of the coordinate descent.
struct Descent<'a> {
    problem: SvmProblem<'a>,
    a: Vec<f64>,
    w: Vec<f64>,
    /// Σ a_i y_i, 0 at the optimum.
    imbalance: f64,
    intercept: f64,
    penalty: f64,
    diagonal: Vec<f64>,
    active: Vec<usize>,
    shrink: (f64, f64),
}

/// Solves to a relative duality gap `(primal - dual) / primal` of at most `gap`. `warm` holds multipliers of a related
/// problem, from which coordinate descent starts.
pub fn linear_svm(
    problem: SvmProblem<'_>,
    gap: f64,
    warm: Option<&[f64]>,
    control: &Control,
) -> Result<SvmSolution> {
    problem.check()?;
    if let Some(warm) = warm {
        require_len("multipliers of the warm start", problem.rows.rows(), warm.len())?;
    }
    if is_suitable(&problem) {
        let (found, steps) = by_interior_point(&problem, gap, control)?;
        if found.gap() <= gap {
            return Ok(solution(found, "interior point", steps, gap));
        }
        // Only rounding stops the interior point method; descent goes on from where it ended.
        return descend(problem, gap, Some(&found.a), control);
    }
    descend(problem, gap, warm, control)
}

/// Gap from which the solution is worth a solve on the active set: below it, all digits are wanted.
const EXACT_GAP: f64 = 1e-5;

fn by_interior_point(problem: &SvmProblem<'_>, gap: f64, control: &Control) -> Result<(Certificate, usize)> {
    let (inner, rounded, steps) = interior_point(problem, gap, control)?;
    let found = certify(problem, &inner);
    if gap > EXACT_GAP {
        return Ok((found, steps));
    }
    let exact = polish(problem, &rounded, f64::MIN_POSITIVE, POLISH_CHANGES)?;
    // Its multipliers lie on their bounds exactly.
    let take = exact.gap() <= gap.max(found.gap());
    Ok((if take { exact } else { found }, steps))
}

/// Changes of the active set that are tried after an interior point, which nearly always names it.
const POLISH_CHANGES: usize = 12;

/// Coordinate descent with solves on the active set in between.
fn descend(
    problem: SvmProblem<'_>,
    gap: f64,
    warm: Option<&[f64]>,
    control: &Control,
) -> Result<SvmSolution> {
    let mut descent = Descent::new(problem, warm);
    let mut random = Random::new(0x5eed);
    let mut best = certify(&problem, &descent.a);
    let (mut pass, mut next_check) = (0, 4);
    while best.gap() > gap && pass < MOST_PASSES {
        control.check()?;
        let spread = vectorised(
            #[inline(always)]
            || descent.pass(&mut random),
        );
        pass += 1;
        if pass < next_check && spread > 0.1 * gap {
            continue;
        }
        next_check = pass + (pass / 2).clamp(4, 200);
        let mut found = certify(&problem, &descent.a);
        // Far from the optimum the active set is wrong, and a solve on it is wasted.
        if found.gap() > gap && found.gap() < 0.1 {
            let polished = polish(&problem, &descent.a, gap, usize::MAX)?;
            if polished.dual > found.dual {
                found = polished;
                descent.restart(&found);
            }
        }
        if found.gap() < best.gap() {
            best = found;
        }
        descent.unshrink();
    }
    Ok(solution(best, "dual coordinate descent", pass, gap))
}

fn solution(best: Certificate, method: &str, iterations: usize, gap: f64) -> SvmSolution {
    let report = machine_report(&format!("linear SVM, {method}"), iterations, best.primal, best.dual, gap);
    SvmSolution { weights: best.w, intercept: best.intercept, multipliers: best.a, report }
}

impl<'a> Descent<'a> {
    fn new(problem: SvmProblem<'a>, warm: Option<&[f64]>) -> Self {
        let n = problem.rows.rows();
        let mut a = vec![0.0; n];
        if let Some(warm) = warm {
            for i in 0..n {
                a[i] = if warm[i].is_nan() { 0.0 } else { warm[i].clamp(0.0, problem.costs[i]) };
            }
        }
        let squares: Vec<f64> = (0..n).map(|i| dot(problem.rows.row(i), problem.rows.row(i))).collect();
        let mean = squares.iter().sum::<f64>() / n as f64;
        let penalty = if mean > 0.0 { mean } else { 1.0 };
        let diagonal = squares.iter().map(|s| s + penalty).collect();
        let w = combination(&problem, &a);
        let imbalance = a.iter().zip(problem.labels).map(|(a, y)| a * y).sum();
        let shrink = (f64::INFINITY, f64::NEG_INFINITY);
        let active = (0..n).collect();
        Descent { problem, a, w, imbalance, intercept: 0.0, penalty, diagonal, active, shrink }
    }

    /// One pass over the active rows: exact minimisation in each multiplier, then the multiplier step of the
    /// equality constraint. Returns the spread of the projected gradients.
    #[inline(always)]
    fn pass(&mut self, random: &mut Random) -> f64 {
        random.shuffle(&mut self.active);
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut kept = 0;
        for at in 0..self.active.len() {
            let i = self.active[at];
            let (x, y, c) = (self.problem.rows.row(i), self.problem.labels[i], self.problem.costs[i]);
            let b = self.intercept + self.penalty * self.imbalance;
            let gradient = y * (dot(&self.w, x) + b) - 1.0;
            let projected = if self.a[i] <= 0.0 {
                if gradient > self.shrink.0 {
                    continue;
                }
                gradient.min(0.0)
            } else if self.a[i] >= c {
                if gradient < self.shrink.1 {
                    continue;
                }
                gradient.max(0.0)
            } else {
                gradient
            };
            self.active[kept] = i;
            kept += 1;
            highest = highest.max(projected);
            lowest = lowest.min(projected);
            if projected.abs() > 1e-15 {
                let new = (self.a[i] - gradient / self.diagonal[i]).clamp(0.0, c);
                let step = (new - self.a[i]) * y;
                self.a[i] = new;
                self.imbalance += step;
                self.w.iter_mut().zip(x).for_each(|(w, x)| *w += step * x);
            }
        }
        self.active.truncate(kept);
        self.intercept += self.penalty * self.imbalance;
        self.shrink.0 = if highest > 0.0 { highest } else { f64::INFINITY };
        self.shrink.1 = if lowest < 0.0 { lowest } else { f64::NEG_INFINITY };
        (highest - lowest).max(self.penalty * self.imbalance.abs())
    }

    fn unshrink(&mut self) {
        self.active = (0..self.a.len()).collect();
        self.shrink = (f64::INFINITY, f64::NEG_INFINITY);
    }

    fn restart(&mut self, from: &Certificate) {
        self.a.clone_from(&from.a);
        self.w.clone_from(&from.w);
        self.intercept = from.intercept;
        self.imbalance = self.a.iter().zip(self.problem.labels).map(|(a, y)| a * y).sum();
    }
}

/// `Σ_i a_i y_i x_i`.
pub(super) fn combination(problem: &SvmProblem<'_>, a: &[f64]) -> Vec<f64> {
    let mut w = vec![0.0; problem.rows.cols()];
    for i in 0..a.len() {
        if a[i] != 0.0 {
            let factor = a[i] * problem.labels[i];
            w.iter_mut().zip(problem.rows.row(i)).for_each(|(w, x)| *w += factor * x);
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Descent serves where rows and columns are too many for dense systems, or where rounding stops interior points.
    #[test]
    fn descent_ends_where_interior_points_end() {
        let mut random = Random::new(23);
        for (n, p, cost) in [(60, 4, 1.0), (40, 90, 0.1), (300, 10, 30.0)] {
            let rows = Matrix::from_fn(n, p, |_, _| random.normal());
            let side = |i: usize| if rows[(i, 0)] + 0.7 * random.normal() > 0.0 { 1.0 } else { -1.0 };
            let labels: Vec<f64> = (0..n).map(side).collect();
            let problem = SvmProblem { rows: &rows, labels: &labels, costs: &vec![cost; n] };
            let control = Control::default();
            let inside = linear_svm(problem, 1e-9, None, &control).unwrap();
            let far = vec![0.5 * cost; n];
            for start in [None, Some(&inside.multipliers[..]), Some(&far[..])] {
                let found = descend(problem, 1e-9, start, &control).unwrap();
                assert!(found.report.converged, "{n} x {p}: {:?}", found.report);
                let (a, b) = (found.report.objective, inside.report.objective);
                assert!((a / b - 1.0).abs() < 2e-9, "{n} x {p}: {a} {b}");
                for (u, v) in found.weights.iter().zip(&inside.weights) {
                    assert!((u - v).abs() < 1e-3 * (1.0 + v.abs()), "{n} x {p}: {u} {v}");
                }
            }
        }
    }
}
