//! Solves problems (10) and (11) and proves how well: interior points where the dense system is small,
//! else scaled L-BFGS and Newton-CG on the unconstrained form with the smoothing shrunk step by step.

use super::certificate::Certificate;
use super::conic;
use super::interior::{self, InteriorSettings};
use super::loss::Smoothing;
use super::problem::{Point, Problem};
use super::projected::{self, ProjectedSettings};
use crate::control::Control;
use crate::error::Result;
use crate::numeric::linalg::dot;
use crate::optimise::lbfgs::{Iterate, LbfgsSettings, lbfgs};
use crate::optimise::newton_cg::{Curved, NewtonSettings, newton_cg};

/// Which method solves the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Solver {
    /// What measures best: interior points for small dense systems, else L-BFGS and Newton-CG.
    #[default]
    Auto,
    /// Primal-dual interior points.
    Interior,
    /// Scaled L-BFGS on the unconstrained form, then Newton-CG.
    Lbfgs,
    /// Accelerated projected gradient on the constrained form: the paper's method, kept as a second path.
    Projected,
    /// Exponential cones (Clarabel); small problems only.
    Conic,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveSettings {
    /// Method.
    pub solver: Solver,
    /// Relative duality gap to prove (gap11 of a smooth problem, gap10 of the plain hinge).
    pub tolerance: f64,
    /// Iterations of a first-order method.
    pub max_iterations: usize,
}

/// Where a solver ended.
#[derive(Debug, Clone)]
pub struct Solution {
    /// Normalised parameters.
    pub w: Vec<f64>,
    /// Proven bounds.
    pub certificate: Certificate,
    /// Iterations of all stages.
    pub iterations: usize,
    /// Whether the gap reached the tolerance.
    pub converged: bool,
    /// What ran.
    pub method: &'static str,
}

impl Solution {
    fn gap(&self, smooth: bool) -> f64 {
        if smooth { self.certificate.gap11() } else { self.certificate.gap10() }
    }
}

/// Largest work of one interior-point step (multiplications) for which the method is chosen, and the size
/// of system it is tried on as a last resort.
const INTERIOR_WORK: f64 = 2e8;
const INTERIOR_CELLS: usize = 3000;
/// Newton steps of the interior-point method.
const INTERIOR_STEPS: usize = 250;

/// Minimises from normalised parameters `start` (the maximum-likelihood estimate if none).
pub fn solve(
    problem: &Problem,
    start: Option<&[f64]>,
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let ml = problem.likelihood.ml_parameters();
    if problem.loss.lambda() == 0.0 {
        let certificate = problem.certificate(&ml);
        return Ok(Solution { w: ml, certificate, iterations: 0, converged: true, method: "closed form" });
    }
    let start = start.unwrap_or(&ml);
    match settings.solver {
        Solver::Interior => interior(problem, &ml, settings, control),
        Solver::Lbfgs => smoothed(problem, start, settings, control),
        Solver::Projected => projected(problem, start, settings, control),
        Solver::Conic => conic(problem, control),
        Solver::Auto => automatic(problem, start, &ml, settings, control),
    }
}

fn automatic(
    problem: &Problem,
    start: &[f64],
    ml: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let cells = problem.rows.n_cells() as f64;
    let pairs = (problem.rows.n_slots() * problem.rows.n_classes()) as f64;
    let work = cells.powi(3) / 3.0 + problem.rows.len() as f64 * pairs * pairs / 2.0;
    let smooth = problem.loss.is_smooth();
    let first = if work <= INTERIOR_WORK {
        interior(problem, ml, settings, control)?
    } else {
        smoothed(problem, start, settings, control)?
    };
    if first.converged {
        return Ok(first);
    }
    let second = if work <= INTERIOR_WORK {
        let reached = upper(&first, smooth);
        let at_start = if smooth { problem.objective(start) } else { problem.hard_objective(start) };
        smoothed(problem, if reached < at_start { &first.w } else { start }, settings, control)?
    } else if problem.rows.n_cells() <= INTERIOR_CELLS {
        interior(problem, ml, settings, control)?
    } else {
        return Ok(first);
    };
    let iterations = first.iterations + second.iterations;
    let (mut best, other) = if second.gap(smooth).total_cmp(&first.gap(smooth)).is_le()
        || upper(&second, smooth) < upper(&first, smooth)
    {
        (second, first)
    } else {
        (first, second)
    };
    best.certificate.lower10 = best.certificate.lower10.max(other.certificate.lower10);
    best.certificate.lower11 = best.certificate.lower11.max(other.certificate.lower11);
    best.converged = best.gap(smooth) <= settings.tolerance;
    Ok(Solution { iterations, ..best })
}

fn upper(solution: &Solution, smooth: bool) -> f64 {
    if smooth { solution.certificate.upper11 } else { solution.certificate.upper10 }
}

fn interior(
    problem: &Problem,
    start: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let inner = InteriorSettings { max_iterations: INTERIOR_STEPS, tolerance: settings.tolerance };
    let found = interior::minimise(problem, start, &inner, control)?;
    Ok(Solution {
        w: found.w,
        certificate: found.certificate,
        iterations: found.iterations,
        converged: found.converged,
        method: "interior points",
    })
}

fn projected(
    problem: &Problem,
    start: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let inner = ProjectedSettings { max_iterations: settings.max_iterations, tolerance: settings.tolerance };
    let found = projected::minimise(problem, start, &inner, control)?;
    Ok(Solution {
        w: found.w,
        certificate: found.certificate,
        iterations: found.iterations,
        converged: found.converged,
        method: "projected gradient",
    })
}

fn conic(problem: &Problem, control: &Control) -> Result<Solution> {
    control.check()?;
    let found = conic::minimise(problem)?;
    let (lower10, lower11) = problem.dual_values(found.multipliers);
    let certificate = Certificate {
        upper10: problem.hard_objective(&found.w),
        lower10,
        upper11: problem.objective(&found.w),
        lower11,
    };
    let iterations = found.iterations;
    Ok(Solution { w: found.w, certificate, iterations, converged: found.solved, method: "exponential cones" })
}

/// Smoothing of problem (11) by default: R = min(1, γ), η = 10.
pub fn default_smoothing(gamma: f64) -> Smoothing {
    Smoothing { radius: gamma.min(1.0), eta: 10.0 }
}

/// Continuation: a smooth problem is first solved smoothed further where λ γ is large; the plain hinge is
/// approached by smoothing 4 times less at each stage until the proven gap is small enough.
fn smoothed(
    problem: &Problem,
    start: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let smooth = problem.loss.is_smooth();
    let gamma = problem.loss.largest_gamma();
    let base = if smooth { problem.loss.smoothing() } else { default_smoothing(gamma) };
    let hard = problem.loss.lambda() * gamma >= 100.0;
    let mut factors = if hard { vec![16.0, 4.0, 1.0] } else { vec![1.0] };
    if !smooth {
        factors.extend((1..=14).map(|k| 0.25f64.powi(k)));
    }
    let mut state = Stage { w: start.to_vec(), certificate: Certificate::OPEN, best: None, iterations: 0 };
    for (at, factor) in factors.iter().enumerate() {
        control.check()?;
        let stage = Problem { loss: problem.loss.with_smoothing(base.scaled(*factor)), ..problem.clone() };
        let target = smooth && at + 1 == factors.len();
        state.descend(problem, &stage, target, settings, control)?;
        if state.gap(smooth) <= settings.tolerance || state.iterations >= settings.max_iterations {
            break;
        }
    }
    let mut w = state.best.map_or(state.w, |(_, w)| w);
    problem.likelihood.normaliser().normalise(&mut w)?;
    let mut certificate = state.certificate;
    certificate.upper10 = problem.hard_objective(&w);
    certificate.upper11 = problem.objective(&w);
    let mut solution = Solution {
        w,
        certificate,
        iterations: state.iterations,
        converged: false,
        method: "L-BFGS, Newton-CG",
    };
    solution.converged = solution.gap(smooth) <= settings.tolerance;
    Ok(solution)
}

/// State of the continuation; bounds always belong to the problem itself.
struct Stage {
    w: Vec<f64>,
    certificate: Certificate,
    /// Best objective and its parameters.
    best: Option<(f64, Vec<f64>)>,
    iterations: usize,
}

impl Stage {
    fn gap(&self, smooth: bool) -> f64 {
        if smooth { self.certificate.gap11() } else { self.certificate.gap10() }
    }

    /// Bounds of `problem` at `w`, with multipliers of the smoothed `stage`.
    fn certify(&mut self, problem: &Problem, stage: &Problem, w: &[f64]) -> f64 {
        let w = problem.likelihood.expand(w).normalised;
        let (lower10, lower11) = problem.dual_values(stage.multipliers(&w));
        let now = Certificate {
            upper10: problem.hard_objective(&w),
            lower10,
            upper11: problem.objective(&w),
            lower11,
        };
        self.certificate = self.certificate.join(&now);
        let smooth = problem.loss.is_smooth();
        let value = if smooth { now.upper11 } else { now.upper10 };
        if self.best.as_ref().is_none_or(|(best, _)| value < *best) {
            self.best = Some((value, w));
        }
        self.gap(smooth)
    }

    /// L-BFGS, then Newton-CG, on one stage. `target` stages run to the tolerance, the others until the
    /// next one starts well.
    fn descend(
        &mut self,
        problem: &Problem,
        stage: &Problem,
        target: bool,
        settings: &SolveSettings,
        control: &Control,
    ) -> Result<()> {
        let inverse: Vec<f64> = problem.likelihood.counts().iter().map(|n| 1.0 / n).collect();
        let rough = if target { 1e-9 } else { 1e-6 } * problem.likelihood.total();
        let left = settings.max_iterations.saturating_sub(self.iterations).max(1);
        let budget = if target { left } else { left.min(500) };
        let lbfgs_settings = LbfgsSettings { memory: 50, max_iterations: budget, gradient_tolerance: rough };
        let mut next_check = 10;
        let start = std::mem::take(&mut self.w);
        let found = lbfgs(
            start,
            Some(&inverse),
            &lbfgs_settings,
            |w, gradient| {
                let point = stage.unconstrained(w);
                gradient.copy_from_slice(&point.gradient);
                point.value
            },
            |at: Iterate<'_>| {
                control.progress("L-BFGS", at.iteration, budget)?;
                if at.iteration < next_check {
                    return Ok(false);
                }
                next_check = at.iteration * 3 / 2;
                Ok(self.certify(problem, stage, at.x) <= settings.tolerance)
            },
        )?;
        self.iterations += found.iterations;
        self.w = found.x;
        let w = self.w.clone();
        if self.certify(problem, stage, &w) <= settings.tolerance
            || self.iterations >= settings.max_iterations
        {
            return Ok(());
        }
        self.polish(problem, stage, settings, control)
    }

    fn polish(
        &mut self,
        problem: &Problem,
        stage: &Problem,
        settings: &SolveSettings,
        control: &Control,
    ) -> Result<()> {
        let newton = NewtonSettings {
            max_iterations: 40,
            max_inner: 200,
            gradient_tolerance: 1e-12 * problem.likelihood.total(),
        };
        let start = std::mem::take(&mut self.w);
        let found = newton_cg(start, &newton, stage, |at: Iterate<'_>| {
            control.progress("Newton-CG", at.iteration, newton.max_iterations)?;
            Ok(at.iteration > 0
                && at.iteration.is_multiple_of(3)
                && self.certify(problem, stage, at.x) <= settings.tolerance)
        })?;
        self.iterations += found.iterations;
        self.w = found.x;
        let w = self.w.clone();
        self.certify(problem, stage, &w);
        Ok(())
    }
}

impl Curved for Problem {
    type Point = Point;

    fn evaluate(&self, x: &[f64]) -> Point {
        self.unconstrained(x)
    }

    fn value(&self, at: &Point) -> f64 {
        at.value
    }

    fn gradient<'a>(&self, at: &'a Point) -> &'a [f64] {
        &at.gradient
    }

    fn hessian_product(&self, at: &Point, direction: &[f64]) -> Vec<f64> {
        Problem::hessian_product(self, at, direction)
    }

    /// The diagonal of the likelihood part is about the expected counts.
    fn preconditioner(&self, at: &Point) -> Vec<f64> {
        at.expansion.expected.iter().map(|e| 1.0 / (e + 1e-3)).collect()
    }
}

/// `−nᵀw` and the slack sum of problem (10) at w.
pub fn parts(problem: &Problem, w: &[f64]) -> (f64, f64) {
    (-dot(problem.likelihood.counts(), w), problem.slack_sum(w))
}
