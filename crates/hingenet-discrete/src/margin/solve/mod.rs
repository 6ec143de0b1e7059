//! Solves problems (10) and (11) and proves how well: Newton's method and interior points where the dense system
//! is small, else scaled L-BFGS and Newton-CG on the unconstrained form with the smoothing shrunk step by step.

mod interior;
mod interior_rows;
mod interior_system;
mod newton;
mod smoothed;

use super::problem::{Certificate, DualPoint, LossRows, Problem, Smoothing};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
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
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveSettings {
    /// Method.
    pub solver: Solver,
    /// Relative duality gap to prove (gap11 of a smooth problem, gap10 of the plain hinge).
    pub tolerance: f64,
    /// The same for problems whose dense systems are too large, unless `tolerance` asks for less: what first-order steps
    /// gain beyond costs most of the time and changes hardly a decision.
    pub large_tolerance: f64,
    /// Iterations of a first-order method.
    pub max_iterations: usize,
    /// Whether another method goes on where the first falls short; else its point is good enough, as in a
    /// search for λ and γ.
    pub persistent: bool,
}

impl SolveSettings {
    fn for_size_of(&self, problem: &Problem) -> Self {
        let (over_cells, over_rows) = step_work(problem);
        let large = over_cells.min(over_rows) > INTERIOR_WORK;
        let tolerance = if large { self.tolerance.max(self.large_tolerance) } else { self.tolerance };
        SolveSettings { tolerance, ..*self }
    }
}

/// Where a solver may start.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// Normalised parameters.
    pub w: &'a [f64],
    /// Multipliers of a problem with the same rows and a λ at most as large: they may prove that `w` is good
    /// enough already. Without them `w` solves nearly the same problem.
    pub multipliers: Option<&'a [f64]>,
}

impl Start<'_> {
    /// Largest λ γ for which Newton's method is tried first.
    fn newton_reach(&self) -> f64 {
        if self.multipliers.is_some() { WARM_NEWTON_REACH } else { f64::INFINITY }
    }
}

/// Parameters that solve nearly the same problem.
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
pub struct Solution<M = Vec<f64>> {
    /// Normalised parameters.
    pub w: Vec<f64>,
    /// Feasible multipliers of the lower bound, laid out as [`Problem::multipliers`].
    pub multipliers: M,
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
/// The same when the start is a solution for a smaller λ: there is less far to go.
const WARM_NEWTON_REACH: f64 = 32.0;
/// Most unknowns of a dense system: its matrix takes half a gigabyte.
const LARGEST_SYSTEM: usize = 8192;
/// Gap that needs no second method in a search.
const ROUGH: f64 = 0.02;

/// Minimises from normalised parameters `start` (the maximum-likelihood estimate if none).
pub fn solve(
    problem: &Problem,
    start: Option<Start<'_>>,
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let settings = &settings.for_size_of(problem);
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
    let reach = start.map_or(NEWTON_REACH, |s| s.newton_reach());
    let start = start.map_or(&ml[..], |s| s.w);
    if matches!(settings.solver, Solver::Interior | Solver::Newton) {
        require_dense(problem, settings.solver)?;
    }
    match settings.solver {
        Solver::Interior => interior(problem, &ml, settings, control),
        Solver::Newton => newton::minimise(problem, start, settings.tolerance, control),
        Solver::Lbfgs => smoothed::minimise(problem, start, settings, control),
        Solver::Auto => automatic(problem, start, &ml, reach, settings, control),
    }
}

/// The same for rows that come past: first-order steps need nothing but sums over them.
pub fn solve_streamed<R: LossRows>(
    problem: &Problem<R>,
    start: Option<&[f64]>,
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution<R::Multipliers>> {
    let settings =
        &SolveSettings { tolerance: settings.tolerance.max(settings.large_tolerance), ..*settings };
    let ml = problem.likelihood.ml_parameters();
    if problem.loss.lambda() == 0.0 {
        let dual = problem.dual_point(problem.multipliers(&ml));
        return Ok(proven(problem, ml, dual, "closed form"));
    }
    smoothed::minimise(problem, start.unwrap_or(&ml), settings, control)
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
fn proven<R: LossRows>(
    problem: &Problem<R>,
    w: Vec<f64>,
    dual: DualPoint<R::Multipliers>,
    method: &'static str,
) -> Solution<R::Multipliers> {
    let certificate = problem.bounds(&w, &dual);
    Solution { w, multipliers: dual.multipliers, certificate, iterations: 0, converged: true, method }
}

fn automatic(
    problem: &Problem,
    start: &[f64],
    ml: &[f64],
    reach: f64,
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let (over_cells, over_rows) = step_work(problem);
    let work = over_cells.min(over_rows);
    let smooth = problem.loss.is_smooth();
    if over_cells <= INTERIOR_WORK && problem.loss.lambda() * problem.loss.gamma() <= reach {
        let found = newton::minimise(problem, start, settings.tolerance, control)?;
        if found.converged {
            return Ok(found);
        }
    }
    let first = if work <= INTERIOR_WORK {
        interior(problem, ml, settings, control)?
    } else {
        smoothed::minimise(problem, start, settings, control)?
    };
    if first.converged || (!settings.persistent && first.certificate.gap(smooth) <= ROUGH) {
        return Ok(first);
    }
    let second = if work <= INTERIOR_WORK {
        let reached = first.certificate.upper(smooth);
        let at_start = if smooth { problem.objective(start) } else { problem.hard_objective(start) };
        smoothed::minimise(problem, if reached < at_start { &first.w } else { start }, settings, control)?
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

/// Share of the rows near their margins below which the others are first left out, for small λ and beyond. The
/// attempt costs that share of a whole run and is lost unless all others end without a loss; it pays while the
/// share is below the chance of that, and a larger λ pulls more rows back.
const FEW: f64 = 0.8;
const VERY_FEW: f64 = 0.3;
const SMALL_LAMBDA: f64 = 4.0;

/// Interior points; rows beyond their margins by more than 1 + γ at `start` are left out first, which is right when
/// none of them has a loss at the end.
fn interior(
    problem: &Problem,
    start: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution> {
    let near = problem.rows_within(start, 1.0 + problem.loss.gamma());
    let mut spent = 0;
    let few = if problem.loss.lambda() <= SMALL_LAMBDA { FEW } else { VERY_FEW };
    if (near.len() as f64) < few * problem.rows.len() as f64 {
        let small = Problem {
            likelihood: problem.likelihood.clone(),
            rows: problem.rows.subset(&near),
            loss: problem.loss.clone(),
        };
        let found = interior::Solver::new(&small).minimise(start, settings.tolerance, control)?;
        let solution = with_all_rows(problem, &near, found);
        let smooth = problem.loss.is_smooth();
        if solution.certificate.gap(smooth) <= settings.tolerance {
            return Ok(solution);
        }
        spent = solution.iterations;
    }
    let found = interior::Solver::new(problem).minimise(start, settings.tolerance, control)?;
    Ok(Solution { iterations: found.iterations + spent, ..found })
}

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

/// Smoothing of problem (11) by default: R = min(1, γ), η = 10.
pub fn default_smoothing(gamma: f64) -> Smoothing {
    Smoothing { radius: gamma.min(1.0), eta: 10.0 }
}
