//! ML-BN-SVM: the entry point. From coded rows and a C1 structure to a proper network that is as likely as
//! the required margins allow, with a proof of how close to optimal it is.

use super::certificate::Certificate;
use super::likelihood::Likelihood;
use super::loss::{MarginLoss, Smoothing};
use super::problem::Problem;
use super::rows::Rows;
use super::solve::{Solution, SolveSettings, Solver, default_smoothing, parts, solve};
use crate::{Network, Samples, Structure, counts};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require, require_len};
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
    /// Arc radius R of the soft hinge, in (0, ∞); `None` is min(1, γ).
    pub radius: Option<f64>,
    /// Sharpness η of the soft maximum, in [1, ∞).
    pub eta: f64,
    /// Whether problem (11) is solved (the paper's choice) or the non-smooth problem (10).
    pub smooth: bool,
    /// Weights of the classes; they multiply the sample weights.
    pub class_weights: Option<Vec<f64>>,
    /// Costs, K x K row by row: mistaking class c for c' asks for the margin `γ cost[c][c']`. The diagonal is
    /// not used; the others must be positive.
    pub costs: Option<Vec<f64>>,
    /// Method.
    pub solver: Solver,
    /// Relative duality gap to prove.
    pub tolerance: f64,
    /// Iterations of a first-order method.
    pub max_iterations: usize,
    /// Whether a second method goes on where the first falls short of the tolerance.
    pub persistent: bool,
}

/// Gap to which fits inside a search are solved, and iterations of their first-order solvers.
const SEARCH_TOLERANCE: f64 = 1e-4;
const SEARCH_ITERATIONS: usize = 300;

impl Default for MarginParams {
    fn default() -> Self {
        MarginParams {
            lambda: 1.0,
            gamma: 1.0,
            alpha: 1.0,
            radius: None,
            eta: 10.0,
            smooth: true,
            class_weights: None,
            costs: None,
            solver: Solver::Auto,
            tolerance: 1e-6,
            max_iterations: 3000,
            persistent: true,
        }
    }
}

impl MarginParams {
    /// Refuses values outside their ranges.
    pub fn check(&self, n_classes: usize) -> Result<()> {
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
        require("eta", self.eta, "a finite number >= 1", self.eta.is_finite() && self.eta >= 1.0)?;
        if let Some(radius) = self.radius {
            require("radius", radius, "a finite number > 0", positive(radius))?;
        }
        require(
            "tolerance",
            self.tolerance,
            "a number in (0, 1)",
            self.tolerance > 0.0 && self.tolerance < 1.0,
        )?;
        if let Some(weights) = &self.class_weights {
            require_len("class weights", n_classes, weights.len())?;
            let bad = weights.iter().copied().find(|w| !w.is_finite() || *w < 0.0);
            require("class weight", bad.unwrap_or(1.0), "finite and not negative", bad.is_none())?;
        }
        if let Some(costs) = &self.costs {
            require_len("costs", n_classes * n_classes, costs.len())?;
            let off = (0..costs.len()).filter(|i| i / n_classes != i % n_classes);
            let bad = off.map(|i| costs[i]).find(|c| !positive(*c));
            require("cost", bad.unwrap_or(1.0), "finite and positive off the diagonal", bad.is_none())?;
        }
        Ok(())
    }

    /// Smoothing of the loss.
    pub fn smoothing(&self) -> Smoothing {
        if self.smooth {
            let radius = self.radius.unwrap_or(default_smoothing(self.gamma).radius);
            Smoothing { radius, eta: self.eta }
        } else {
            Smoothing::NONE
        }
    }

    /// The margin loss for K classes.
    pub fn loss(&self, n_classes: usize) -> MarginLoss {
        let gamma = match &self.costs {
            Some(costs) => costs.iter().map(|c| c * self.gamma).collect(),
            None => vec![self.gamma; n_classes * n_classes],
        };
        MarginLoss::new(self.lambda, n_classes, gamma, self.smoothing())
    }

    /// What the solver needs.
    pub fn settings(&self) -> SolveSettings {
        SolveSettings {
            solver: self.solver,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            persistent: self.persistent,
        }
    }

    /// The same problem solved as far as a comparison of validation rows needs it.
    pub fn for_search(&self) -> Self {
        MarginParams {
            tolerance: self.tolerance.max(SEARCH_TOLERANCE),
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
    /// `−nᵀw`: the smoothed negative log-likelihood of the training rows.
    pub negative_log_likelihood: f64,
    /// Σ s_m ξ_m, the weighted sum of the margins' shortfalls.
    pub slack_sum: f64,
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
    params.check(structure.n_classes())?;
    let samples = weighted(samples, params.class_weights.as_deref())?;
    require_two_classes(&samples)?;
    let n = counts::smoothed_counts(structure, &samples, params.alpha)?;
    if params.lambda == 0.0 && params.alpha == 0.0 {
        return unsmoothed(structure, &n);
    }
    let problem = margin_problem(&samples, structure, n, params)?;
    let solution = solve(&problem, None, &params.settings(), control)?;
    finish(structure, &problem, solution)
}

/// The problem of one fit from rows and counts.
pub fn margin_problem(
    samples: &Samples,
    structure: &Structure,
    n: Vec<f64>,
    params: &MarginParams,
) -> Result<Problem> {
    let likelihood = Likelihood::new(structure, n)?;
    let rows = Rows::new(structure, samples)?;
    Ok(Problem { likelihood, rows, loss: params.loss(structure.n_classes()) })
}

/// Turns a solution into a fit.
pub fn finish(structure: &Structure, problem: &Problem, solution: Solution) -> Result<MarginFit> {
    let smooth = problem.loss.is_smooth();
    let (gap, objective) = if smooth {
        (solution.certificate.gap11(), solution.certificate.upper11)
    } else {
        (solution.certificate.gap10(), solution.certificate.upper10)
    };
    let (negative_log_likelihood, slack_sum) = parts(problem, &solution.w);
    let report = SolverReport {
        method: format!("{} (relative duality gap)", solution.method),
        converged: solution.converged,
        iterations: solution.iterations,
        objective,
        gap: Some(gap),
        slack: Some(slack_sum / problem.rows.total_weight()),
    };
    let network = Network::new(structure.clone(), solution.w)?;
    let certificate = solution.certificate;
    Ok(MarginFit { network, certificate, report, negative_log_likelihood, slack_sum })
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
    let network = Network::new(structure.clone(), w)?;
    Ok(MarginFit { network, certificate, report, negative_log_likelihood: value, slack_sum: 0.0 })
}

/// The rows with class weights multiplied into their weights.
pub fn weighted(samples: &Samples, class_weights: Option<&[f64]>) -> Result<Samples> {
    let Some(class_weights) = class_weights else { return Ok(samples.clone()) };
    let factor = |m: usize| samples.column(0).get(m).map_or(1.0, |c| class_weights[c]);
    let weights = (0..samples.n_rows()).map(|m| samples.weight(m) * factor(m)).collect();
    Samples::new(samples.card().to_vec(), samples.columns().to_vec(), Some(weights))
}

/// Refuses rows of fewer than two classes (rows of weight zero do not count).
pub fn require_two_classes(samples: &Samples) -> Result<()> {
    let first =
        (0..samples.n_rows()).filter(|&m| samples.weight(m) > 0.0).find_map(|m| samples.column(0).get(m));
    let other = (0..samples.n_rows())
        .filter(|&m| samples.weight(m) > 0.0)
        .any(|m| samples.column(0).get(m).is_some_and(|c| Some(c) != first));
    if other {
        Ok(())
    } else {
        Err(Error::data("the rows have fewer than two classes", "a classifier needs rows of two classes"))
    }
}
