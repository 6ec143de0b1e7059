//! BN-SVM, Eq. (9): the margin against a norm of the free log weights, without counts or constraints, then
//! Algorithm 1. Squared Euclidean norm (strongly convex) or sum of absolute values (sparse).
//!
//! ```text
//! min_w  ½ ‖w‖²  or  ‖w‖₁   +  λ Σ_m s_m h_R(t_m(w))
//! dual:  −½ ‖Bᵀa‖²  or  0 with |Bᵀa| ≤ 1   +  the row terms of the dual of (11)
//! ```

use super::ml_bn_svm::MarginParams;
use super::problem::{Likelihood, LossRows, Problem};
use crate::{Network, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::dot;
use hingenet_base::optimise::lbfgs::{Iterate, LbfgsSettings, largest, lbfgs};
use hingenet_base::solver::SolverReport;

/// The norm of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Norm {
    /// ½ ‖w‖₂².
    #[default]
    Squared,
    /// ‖w‖₁.
    Absolute,
}

/// A fitted BN-SVM.
#[derive(Debug, Clone, PartialEq)]
pub struct BnSvmFit {
    /// The normalised network.
    pub network: Network,
    /// Free weights before Algorithm 1.
    pub weights: Vec<f64>,
    /// How the solver ended, with the relative duality gap.
    pub report: SolverReport,
}

/// Learns a BN-SVM from rows that are kept or come past; of `params` the fields λ, γ (1 in the paper), tolerance and iterations
/// are used.
pub fn fit_bn_svm<R: LossRows>(
    rows: R,
    structure: &Structure,
    norm: Norm,
    params: &MarginParams,
    control: &Control,
) -> Result<BnSvmFit> {
    let params = &MarginParams { smooth: true, ..params.clone() };
    params.check()?;
    // Counts play no part in (9): any give the layout.
    let likelihood = Likelihood::new(structure, vec![1.0; structure.n_entries()])?;
    let problem = &Problem { likelihood, rows, loss: params.loss(structure.n_classes()) };
    let (v, iterations, gap, objective) = match norm {
        Norm::Squared => squared(problem, params, control)?,
        Norm::Absolute => absolute(problem, params, control)?,
    };
    let mut weights = vec![0.0; structure.n_entries()];
    problem.rows.layout().scatter_add(&v, &mut weights);
    let mut w = weights.clone();
    problem.likelihood.normaliser().normalise(&mut w)?;
    let method = match norm {
        Norm::Squared => "L-BFGS (relative duality gap)",
        Norm::Absolute => "accelerated proximal gradient (relative duality gap)",
    };
    let report = SolverReport {
        method: method.into(),
        converged: gap <= params.tolerance,
        iterations,
        objective,
        gap: Some(gap),
        slack: None,
    };
    Ok(BnSvmFit { network: Network::new(structure.clone(), w)?, weights, report })
}

type Outcome = (Vec<f64>, usize, f64, f64);

fn squared<R: LossRows>(problem: &Problem<R>, params: &MarginParams, control: &Control) -> Result<Outcome> {
    let settings = LbfgsSettings {
        memory: 30,
        max_iterations: params.max_iterations,
        gradient_tolerance: 1e-10 * problem.loss.lambda().max(1.0),
    };
    let value = |v: &[f64], gradient: &mut [f64]| {
        gradient.copy_from_slice(v);
        problem.rows.loss_and_gradient(v, &problem.loss, gradient) + 0.5 * dot(v, v)
    };
    let gap = |v: &[f64], value: f64| {
        let a = problem.rows.multipliers(&problem.loss, v);
        let tilt = problem.rows.tilt(&a);
        let dual = problem.row_dual(&a, 1.0) - 0.5 * dot(&tilt, &tilt);
        (value - dual).max(0.0) / value.abs().max(f64::MIN_POSITIVE)
    };
    let start = vec![0.0; problem.rows.layout().n_cells()];
    let mut next_check = 10;
    let found = lbfgs(start, None, &settings, value, |at: Iterate<'_>| {
        control.progress("BN-SVM", at.iteration, params.max_iterations)?;
        if at.iteration < next_check {
            return Ok(false);
        }
        next_check += 10;
        Ok(gap(at.x, at.value) <= params.tolerance)
    })?;
    let last = gap(&found.x, found.value);
    Ok((found.x, found.iterations, last, found.value))
}

/// FISTA with backtracking and restart.
fn absolute<R: LossRows>(problem: &Problem<R>, params: &MarginParams, control: &Control) -> Result<Outcome> {
    let loss = |v: &[f64], gradient: &mut [f64]| {
        gradient.fill(0.0);
        problem.rows.loss_and_gradient(v, &problem.loss, gradient)
    };
    let norm = |v: &[f64]| v.iter().map(|x| x.abs()).sum::<f64>();
    let mut v = vec![0.0; problem.rows.layout().n_cells()];
    let mut gradient = v.clone();
    let mut value = loss(&v, &mut gradient);
    let mut best = (f64::INFINITY, 0.0f64);
    let mut point = v.clone();
    let (mut lipschitz, mut momentum) = (problem.loss.lambda().max(1e-6), 1.0f64);
    let mut iterations = 0;
    while iterations < params.max_iterations {
        control.progress("BN-SVM", iterations, params.max_iterations)?;
        let at = loss(&point, &mut gradient);
        lipschitz *= 0.9;
        let (next, next_value) = loop {
            let shrunk = |(x, g): (&f64, &f64)| {
                let y = x - g / lipschitz;
                y.signum() * (y.abs() - 1.0 / lipschitz).max(0.0)
            };
            let trial: Vec<f64> = point.iter().zip(&gradient).map(shrunk).collect();
            let step: Vec<f64> = trial.iter().zip(&point).map(|(a, b)| a - b).collect();
            let [trial_loss] = problem.rows.losses(&trial, [&problem.loss]);
            let model = at + dot(&gradient, &step) + 0.5 * lipschitz * dot(&step, &step);
            if trial_loss <= model + 1e-12 * at.abs() {
                let total = trial_loss + norm(&trial);
                break (trial, total);
            }
            lipschitz *= 2.0;
        };
        iterations += 1;
        if next_value > value && momentum > 1.0 {
            momentum = 1.0;
            point.copy_from_slice(&v);
            continue;
        }
        let ahead = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let weight = (momentum - 1.0) / ahead;
        point = next.iter().zip(&v).map(|(x, old)| x + weight * (x - old)).collect();
        (v, value, momentum) = (next, next_value, ahead);
        if iterations % 10 == 0 || iterations == params.max_iterations {
            let a = problem.rows.multipliers(&problem.loss, &v);
            let theta = 1.0 / largest(&problem.rows.tilt(&a)).max(1.0);
            best.1 = best.1.max(problem.row_dual(&a, theta));
            best.0 = (value - best.1).max(0.0) / value.abs().max(f64::MIN_POSITIVE);
            if best.0 <= params.tolerance {
                break;
            }
        }
    }
    Ok((v, iterations, best.0, value))
}
