//! Solves problems (10) and (11) and proves how well: Newton's method and interior points where the dense system
//! is small, else scaled L-BFGS and Newton-CG on the unconstrained form with the smoothing shrunk step by step.

mod interior;
mod interior_rows;
mod interior_system;
mod newton;

use super::conic;
use super::problem::{Certificate, DualPoint, Point, Problem, Smoothing};
use super::projected::{self, ProjectedSettings};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::optimise::lbfgs::{Iterate, LbfgsSettings, lbfgs};
use hingenet_base::optimise::newton_cg::{Curved, NewtonSettings, newton_cg};
use interior::{DenseSolution, InteriorSettings};
use interior_system::step_work;

/// Which method solves the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Solver {
    /// What measures best: for small dense systems Newton's method while λ γ is small and interior points
    /// beyond, else L-BFGS and Newton-CG.
    #[default]
    Auto,
    /// Primal-dual interior points.
    Interior,
    /// Newton's method with a dense factor and less and less smoothing.
    Newton,
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
    /// Whether another method goes on where the first falls short; else its point is good enough, as in a
    /// search for λ and γ.
    pub persistent: bool,
}

/// Where a solver may start.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// Normalised parameters.
    pub w: &'a [f64],
    /// Multipliers of a problem with the same rows and a λ at most as large: they may prove that `w` is good
    /// enough already.
    pub multipliers: Option<&'a [f64]>,
}

impl<'a> From<&'a [f64]> for Start<'a> {
    fn from(w: &'a [f64]) -> Self {
        Start { w, multipliers: None }
    }
}

impl<'a> From<&'a Solution> for Start<'a> {
    fn from(solution: &'a Solution) -> Self {
        Start { w: &solution.w, multipliers: Some(&solution.multipliers) }
    }
}

/// Where a solver ended.
#[derive(Debug, Clone)]
pub struct Solution {
    /// Normalised parameters.
    pub w: Vec<f64>,
    /// Feasible multipliers of the lower bound, laid out as [`Problem::multipliers`].
    pub multipliers: Vec<f64>,
    /// Proven bounds.
    pub certificate: Certificate,
    /// Iterations of all stages.
    pub iterations: usize,
    /// Whether the gap reached the tolerance.
    pub converged: bool,
    /// What ran.
    pub method: &'static str,
}

/// Largest work of one interior-point step (multiplications) for which the method is chosen, and for which
/// it is tried as a last resort.
const INTERIOR_WORK: f64 = 2e8;
const LAST_RESORT_WORK: f64 = 1e10;
/// Largest λ γ for which Newton's method is tried first: beyond, interior points need fewer steps.
const NEWTON_REACH: f64 = 16.0;
/// Most unknowns of a dense system: its matrix takes half a gigabyte.
const LARGEST_SYSTEM: usize = 8192;
/// Gap that needs no second method in a search.
const ROUGH: f64 = 0.02;
/// Newton steps of the interior-point method.
const INTERIOR_STEPS: usize = 400;

/// Minimises from normalised parameters `start` (the maximum-likelihood estimate if none).
pub fn solve(
    problem: &Problem,
    start: Option<Start<'_>>,
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let ml = problem.likelihood.ml_parameters();
    // Without a loss at the maximum-likelihood estimate there is nothing to trade for.
    if problem.loss.lambda() == 0.0 || problem.rows.loss(&problem.rows.gather(&ml), &problem.loss) == 0.0 {
        let dual = problem.dual_point(vec![0.0; problem.rows.len() * problem.rows.n_classes()]);
        return Ok(proven(problem, ml, dual, "closed form"));
    }
    if let Some(Start { w, multipliers: Some(a) }) = start {
        let dual = problem.dual_point(a.to_vec());
        let solution = proven(problem, w.to_vec(), dual, "the point it started from");
        if solution.certificate.gap(problem.loss.is_smooth()) <= settings.tolerance {
            return Ok(solution);
        }
    }
    let start = start.map_or(&ml[..], |s| s.w);
    if matches!(settings.solver, Solver::Interior | Solver::Newton) {
        require_dense(problem, settings.solver)?;
    }
    match settings.solver {
        Solver::Interior => interior(problem, &ml, settings, control),
        Solver::Newton => dense_newton(problem, start, settings, control),
        Solver::Lbfgs => smoothed(problem, start, settings, control),
        Solver::Projected => projected(problem, start, settings, control),
        Solver::Conic => conic(problem, control),
        Solver::Auto => automatic(problem, start, &ml, settings, control),
    }
}

/// Refuses a dense system that would not fit into memory, for a solver that was asked for by name.
fn require_dense(problem: &Problem, solver: Solver) -> Result<()> {
    let cells = problem.rows.n_cells();
    let pairs = problem.rows.len() * (problem.rows.n_classes() - 1);
    let size = if solver == Solver::Newton { cells } else { cells.min(pairs) };
    if size <= LARGEST_SYSTEM {
        return Ok(());
    }
    Err(Error::TooLarge {
        what: "the unknowns of a dense Newton system".into(),
        size: size as f64,
        limit: LARGEST_SYSTEM as f64,
        hint: "use solver=auto or solver=lbfgs".into(),
    })
}

/// A point that needs no iterations.
fn proven(problem: &Problem, w: Vec<f64>, dual: DualPoint, method: &'static str) -> Solution {
    let certificate = problem.bounds(&w, &dual);
    Solution { w, multipliers: dual.multipliers, certificate, iterations: 0, converged: true, method }
}

fn automatic(
    problem: &Problem,
    start: &[f64],
    ml: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let (over_cells, over_rows) = step_work(problem);
    let work = over_cells.min(over_rows);
    let smooth = problem.loss.is_smooth();
    if over_cells <= INTERIOR_WORK && problem.loss.lambda() * problem.loss.gamma() <= NEWTON_REACH {
        let found = dense_newton(problem, start, settings, control)?;
        if found.converged {
            return Ok(found);
        }
    }
    let first = if work <= INTERIOR_WORK {
        interior(problem, ml, settings, control)?
    } else {
        smoothed(problem, start, settings, control)?
    };
    if first.converged || (!settings.persistent && first.certificate.gap(smooth) <= ROUGH) {
        return Ok(first);
    }
    let second = if work <= INTERIOR_WORK {
        let reached = first.certificate.upper(smooth);
        let at_start = if smooth { problem.objective(start) } else { problem.hard_objective(start) };
        smoothed(problem, if reached < at_start { &first.w } else { start }, settings, control)?
    } else if settings.persistent && work <= LAST_RESORT_WORK {
        interior(problem, ml, settings, control)?
    } else {
        return Ok(first);
    };
    let iterations = first.iterations + second.iterations;
    let (mut best, other) =
        if second.certificate.gap(smooth).total_cmp(&first.certificate.gap(smooth)).is_le()
            || second.certificate.upper(smooth) < first.certificate.upper(smooth)
        {
            (second, first)
        } else {
            (first, second)
        };
    if other.certificate.lower(smooth) > best.certificate.lower(smooth) {
        best.multipliers = other.multipliers;
    }
    best.certificate.lower10 = best.certificate.lower10.max(other.certificate.lower10);
    best.certificate.lower11 = best.certificate.lower11.max(other.certificate.lower11);
    best.converged = best.certificate.gap(smooth) <= settings.tolerance;
    Ok(Solution { iterations, ..best })
}

/// Interior points; rows far beyond their margins at `start` are left out first, which is right when none of
/// them has a loss at the end.
fn interior(
    problem: &Problem,
    start: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let ahead = QUIET * (1.0 + problem.loss.gamma());
    let near = problem.rows_within(start, ahead);
    let mut spent = 0;
    // With a large λ rows that were far ahead fall back.
    let few = if problem.loss.lambda() <= 4.0 { 0.8 } else { 0.3 };
    if (near.len() as f64) < few * problem.rows.len() as f64 {
        let small = Problem {
            likelihood: problem.likelihood.clone(),
            rows: problem.rows.subset(&near),
            loss: problem.loss.clone(),
        };
        let found = interior_all(&small, start, settings, control)?;
        let solution = with_all_rows(problem, &near, found);
        let smooth = problem.loss.is_smooth();
        if solution.certificate.gap(smooth) <= settings.tolerance {
            return Ok(solution);
        }
        spent = solution.iterations;
    }
    let found = interior_all(problem, start, settings, control)?;
    Ok(Solution { iterations: found.iterations + spent, ..found })
}

/// Log margin, in units of 1 + γ, beyond which a row is first left out.
const QUIET: f64 = 1.0;

/// The solution of a problem that has the rows `near` only, as one of `problem`.
fn with_all_rows(problem: &Problem, near: &[usize], found: Solution) -> Solution {
    let k = problem.rows.n_classes();
    let mut a = vec![0.0; problem.rows.len() * k];
    for (part, &m) in found.multipliers.chunks_exact(k).zip(near) {
        a[m * k..(m + 1) * k].copy_from_slice(part);
    }
    let dual = problem.dual_point(a);
    Solution { iterations: found.iterations, ..proven(problem, found.w, dual, found.method) }
}

fn interior_all(
    problem: &Problem,
    start: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let inner = InteriorSettings { max_iterations: INTERIOR_STEPS, tolerance: settings.tolerance };
    Ok(dense(interior::minimise(problem, start, &inner, control)?, "interior points"))
}

fn dense_newton(
    problem: &Problem,
    start: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    Ok(dense(
        newton::minimise(problem, start, settings.tolerance, control)?,
        "Newton, less and less smoothing",
    ))
}

fn dense(found: DenseSolution, method: &'static str) -> Solution {
    Solution {
        w: found.w,
        multipliers: found.multipliers,
        certificate: found.certificate,
        iterations: found.iterations,
        converged: found.converged,
        method,
    }
}

fn projected(
    problem: &Problem,
    start: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let inner = ProjectedSettings { max_iterations: settings.max_iterations, tolerance: settings.tolerance };
    let found = projected::minimise(problem, start, &inner, control)?;
    let multipliers = problem.dual_point(problem.multipliers(&found.w)).multipliers;
    Ok(Solution {
        w: found.w,
        multipliers,
        certificate: found.certificate,
        iterations: found.iterations,
        converged: found.converged,
        method: "projected gradient",
    })
}

fn conic(problem: &Problem, control: &Control) -> Result<Solution> {
    control.check()?;
    let found = conic::minimise(problem)?;
    let dual = problem.dual_point(found.multipliers);
    let (iterations, converged) = (found.iterations, found.solved);
    Ok(Solution { iterations, converged, ..proven(problem, found.w, dual, "exponential cones") })
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
    let gamma = problem.loss.gamma();
    let base = if smooth { problem.loss.smoothing() } else { default_smoothing(gamma) };
    let hard = problem.loss.lambda() * gamma >= 100.0;
    let mut factors = if hard { vec![16.0, 4.0, 1.0] } else { vec![1.0] };
    if !smooth {
        factors.extend((1..=14).map(|k| 0.25f64.powi(k)));
    }
    let mut state = Stage {
        w: start.to_vec(),
        certificate: Certificate::OPEN,
        multipliers: vec![],
        best: None,
        iterations: 0,
    };
    for (at, factor) in factors.iter().enumerate() {
        control.check()?;
        let stage = Problem { loss: problem.loss.with_smoothing(base.scaled(*factor)), ..problem.clone() };
        let target = smooth && at + 1 == factors.len();
        state.descend(problem, &stage, target, settings, control)?;
        if state.certificate.gap(smooth) <= settings.tolerance || state.iterations >= settings.max_iterations
        {
            break;
        }
    }
    let mut w = state.best.map_or(state.w, |(_, w)| w);
    problem.likelihood.normaliser().normalise(&mut w)?;
    let mut certificate = state.certificate;
    certificate.upper10 = problem.hard_objective(&w);
    certificate.upper11 = problem.objective(&w);
    Ok(Solution {
        w,
        multipliers: state.multipliers,
        certificate,
        iterations: state.iterations,
        converged: certificate.gap(smooth) <= settings.tolerance,
        method: "L-BFGS, Newton-CG",
    })
}

/// State of the continuation; bounds always belong to the problem itself.
struct Stage {
    w: Vec<f64>,
    certificate: Certificate,
    /// Multipliers of the best lower bound.
    multipliers: Vec<f64>,
    /// Best objective and its parameters.
    best: Option<(f64, Vec<f64>)>,
    iterations: usize,
}

impl Stage {
    /// Bounds of `problem` at `w`, with multipliers of the smoothed `stage`.
    fn certify(&mut self, problem: &Problem, stage: &Problem, w: &[f64]) -> f64 {
        let w = problem.likelihood.expand(w).normalised;
        let smooth = problem.loss.is_smooth();
        let dual = problem.dual_point(stage.multipliers(&w));
        let now = problem.bounds(&w, &dual);
        if now.lower(smooth) > self.certificate.lower(smooth) {
            self.multipliers = dual.multipliers;
        }
        self.certificate = self.certificate.join(&now);
        let value = now.upper(smooth);
        if self.best.as_ref().is_none_or(|(best, _)| value < *best) {
            self.best = Some((value, w));
        }
        self.certificate.gap(smooth)
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
