//! ML-BN-SVM: the entry point. From coded rows and a C1 structure to a proper network that is as likely as
//! the required margins allow, with a proof of how close to optimal it is.

use super::problem::{
    Certificate, Likelihood, LossRows, MarginLoss, MarginRows, Problem, Smoothing, StreamedRows,
};
use super::solve::{Solution, SolveSettings, Solver, default_smoothing, solve, solve_streamed};
use crate::{Network, Samples, Structure, counts};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::solver::SolverReport;

/// Settings of an ML-BN-SVM fit. `MarginParams::default()` is a sound choice for small λ and γ; both are
/// better chosen by cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginParams {
    /// Weight λ of the margin loss against the log-likelihood, per sample, in [0, ∞); 0 is maximum likelihood.
    pub lambda: f64,
    /// Required log margin γ, in (0, ∞).
    pub gamma: f64,
    /// Virtual sample count α of the smoothed counts, in (0, ∞) (0 only with λ = 0).
    pub alpha: f64,
    /// Whether problem (11) is solved (the paper's choice) or the non-smooth problem (10).
    pub smooth: bool,
    /// Method.
    pub solver: Solver,
    /// Relative duality gap to prove.
    pub tolerance: f64,
    /// The same for problems that are too large for dense steps. The default is that of a search, so that what inner folds have
    /// judged is what is fitted in the end; nearer to the optimum such problems take longer and decide no better.
    pub large_tolerance: f64,
    /// Iterations of a first-order method.
    pub max_iterations: usize,
    /// Whether a second method goes on where the first falls short of the tolerance.
    pub persistent: bool,
}

/// Gaps to which fits inside a search and those that calibrate are solved, and iterations of their first-order solvers.
const SEARCH_TOLERANCE: f64 = 1e-2;
const CALIBRATION_TOLERANCE: f64 = 1e-4;
const SEARCH_ITERATIONS: usize = 300;

impl Default for MarginParams {
    fn default() -> Self {
        MarginParams {
            lambda: 1.0,
            gamma: 1.0,
            alpha: 1.0,
            smooth: true,
            solver: Solver::Auto,
            tolerance: 1e-6,
            large_tolerance: SEARCH_TOLERANCE,
            max_iterations: 3000,
            persistent: true,
        }
    }
}

impl MarginParams {
    /// Refuses values outside their ranges.
    pub fn check(&self) -> Result<()> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        require(
            "lambda",
            self.lambda,
            "a finite number >= 0",
            self.lambda.is_finite() && self.lambda >= 0.0,
        )?;
        require("gamma", self.gamma, "a finite number > 0", positive(self.gamma))?;
        counts::require_alpha(self.alpha)?;
        let alpha = self.alpha > 0.0 || self.lambda == 0.0;
        require("alpha", self.alpha, "above 0 when lambda is (the margin needs positive counts)", alpha)?;
        require(
            "tolerance",
            self.tolerance,
            "a number in (0, 1)",
            self.tolerance > 0.0 && self.tolerance < 1.0,
        )
    }

    /// Smoothing of the loss.
    pub fn smoothing(&self) -> Smoothing {
        if self.smooth { default_smoothing(self.gamma) } else { Smoothing::NONE }
    }

    /// The margin loss for K classes.
    pub fn loss(&self, n_classes: usize) -> MarginLoss {
        MarginLoss::new(self.lambda, n_classes, self.gamma, self.smoothing())
    }

    /// What the solver needs.
    pub fn settings(&self) -> SolveSettings {
        SolveSettings {
            solver: self.solver,
            tolerance: self.tolerance,
            large_tolerance: self.large_tolerance,
            max_iterations: self.max_iterations,
            persistent: self.persistent,
        }
    }

    /// The same problem solved as far as a comparison of decisions needs it.
    pub fn for_search(&self) -> Self {
        self.rough(SEARCH_TOLERANCE)
    }

    /// The same problem solved as far as the scores of held-out rows need it.
    pub fn for_calibration(&self) -> Self {
        self.rough(CALIBRATION_TOLERANCE)
    }

    fn rough(&self, tolerance: f64) -> Self {
        MarginParams {
            tolerance: self.tolerance.max(tolerance),
            max_iterations: self.max_iterations.min(SEARCH_ITERATIONS),
            persistent: false,
            ..self.clone()
        }
    }
}

/// A fitted ML-BN-SVM.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginFit {
    /// The normalised network.
    pub network: Network,
    /// Proven bounds on the optimal values.
    pub certificate: Certificate,
    /// How the solver ended; its gap is gap11 of a smooth fit, gap10 of a non-smooth one.
    pub report: SolverReport,
}

/// Learns the parameters of `structure` from complete, labelled rows.
///
/// Equal rows are merged into weights first, so weights equal repetition and the order of rows does not
/// matter. The structure must be C1.
pub fn fit_margin(
    samples: &Samples,
    structure: &Structure,
    params: &MarginParams,
    control: &Control,
) -> Result<MarginFit> {
    params.check()?;
    require_two_classes(samples)?;
    let n = counts::smoothed_counts(structure, samples, params.alpha)?;
    if params.lambda == 0.0 && params.alpha == 0.0 {
        return unsmoothed(structure, &n);
    }
    let problem = margin_problem(samples, structure, n, params)?;
    let solution = solve(&problem, None, &params.settings(), control)?;
    finish(structure, &problem, solution)
}

/// The same from rows that come past, whose raw counts are known: `start` is a solution for some of them.
pub fn fit_margin_streamed(
    rows: StreamedRows<'_>,
    structure: &Structure,
    raw_counts: &[f64],
    params: &MarginParams,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<MarginFit> {
    params.check()?;
    let mut n = raw_counts.to_vec();
    counts::smooth(structure, &mut n, params.alpha);
    if params.lambda == 0.0 && params.alpha == 0.0 {
        return unsmoothed(structure, &n);
    }
    let likelihood = Likelihood::new(structure, n)?;
    let problem = Problem { likelihood, rows, loss: params.loss(structure.n_classes()) };
    let fitted = solve_streamed(&problem, start, &params.settings(), control)
        .and_then(|solution| finish(structure, &problem, solution));
    problem.rows.checked(fitted)
}

/// The problem of one fit from rows and counts.
pub fn margin_problem(
    samples: &Samples,
    structure: &Structure,
    n: Vec<f64>,
    params: &MarginParams,
) -> Result<Problem> {
    let likelihood = Likelihood::new(structure, n)?;
    let rows = MarginRows::new(structure, samples)?;
    Ok(Problem { likelihood, rows, loss: params.loss(structure.n_classes()) })
}

/// Turns a solution into a fit.
pub fn finish<R: LossRows>(
    structure: &Structure,
    problem: &Problem<R>,
    solution: Solution<R::Multipliers>,
) -> Result<MarginFit> {
    let smooth = problem.loss.is_smooth();
    let certificate = solution.certificate;
    let report = SolverReport {
        method: format!("{} (relative duality gap)", solution.method),
        converged: solution.converged,
        iterations: solution.iterations,
        objective: certificate.upper(smooth),
        gap: Some(certificate.gap(smooth)),
        slack: Some(problem.slack_sum(&solution.w) / problem.rows.total_weight()),
    };
    Ok(MarginFit { network: Network::new(structure.clone(), solution.w)?, certificate, report })
}

/// λ = 0 and α = 0: plain maximum likelihood, zero counts allowed.
fn unsmoothed(structure: &Structure, n: &[f64]) -> Result<MarginFit> {
    let w = counts::ml_parameters(structure, n)?;
    let value: f64 = n.iter().zip(&w).filter(|(n, _)| **n > 0.0).map(|(n, w)| -n * w).sum();
    let certificate = Certificate { upper10: value, lower10: value, upper11: value, lower11: value };
    let report = SolverReport {
        method: "closed form".into(),
        converged: true,
        iterations: 0,
        objective: value,
        gap: None,
        slack: None,
    };
    Ok(MarginFit { network: Network::new(structure.clone(), w)?, certificate, report })
}

/// Refuses rows of fewer than two classes (rows of weight zero do not count).
pub fn require_two_classes(samples: &Samples) -> Result<()> {
    let weighed = (0..samples.n_rows()).filter(|&m| samples.weight(m) > 0.0);
    let mut classes = weighed.filter_map(|m| samples.column(0).get(m));
    let first = classes.next();
    if classes.any(|c| Some(c) != first) {
        return Ok(());
    }
    Err(Error::data("the rows have fewer than two classes", "a classifier needs rows of two classes"))
}
