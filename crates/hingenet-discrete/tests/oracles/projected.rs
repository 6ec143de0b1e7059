//! Projected gradient for problem (11) in its constrained form, the paper's way: accelerated, with
//! backtracking on the local Lipschitz constant, adaptive restart, and the exact projection of every
//! table row. Independent of the unconstrained form; the final parameters go through Algorithm 1.

use super::projection::project_sub_normalised;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::dot;
use hingenet_discrete::Structure;
use hingenet_discrete::margin::{Certificate, Problem};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProjectedSettings {
    /// Gradient steps.
    pub max_iterations: usize,
    /// Relative gap to prove.
    pub tolerance: f64,
}

/// Where the method ended.
#[derive(Debug, Clone)]
pub struct ProjectedSolution {
    /// Normalised parameters.
    pub w: Vec<f64>,
    /// Last iterate before Algorithm 1: sub-normalised, at the optimum normalised by itself (Theorem 2).
    pub raw: Vec<f64>,
    /// Proven bounds.
    pub certificate: Certificate,
}

/// Minimises a smooth problem from `start`.
pub fn minimise(
    structure: &Structure,
    problem: &Problem,
    start: &[f64],
    settings: &ProjectedSettings,
    control: &Control,
) -> Result<ProjectedSolution> {
    let mut w = start.to_vec();
    project(structure, &mut w);
    let mut best = (Certificate::OPEN, w.clone());
    let mut point = w.clone();
    let mut gradient = vec![0.0; w.len()];
    let mut value = problem.objective(&w);
    let (mut lipschitz, mut momentum) = (problem.likelihood.total(), 1.0f64);
    let (mut iterations, mut next_check) = (0, 20);
    while iterations < settings.max_iterations {
        control.progress("projected gradient", iterations, settings.max_iterations)?;
        let at = problem.objective_and_gradient(&point, &mut gradient);
        lipschitz *= 0.9;
        let (next, next_value) = loop {
            let mut trial: Vec<f64> = point.iter().zip(&gradient).map(|(x, g)| x - g / lipschitz).collect();
            project(structure, &mut trial);
            let step: Vec<f64> = trial.iter().zip(&point).map(|(a, b)| a - b).collect();
            let trial_value = problem.objective(&trial);
            let model = at + dot(&gradient, &step) + 0.5 * lipschitz * dot(&step, &step);
            if trial_value <= model + 1e-12 * at.abs() {
                break (trial, trial_value);
            }
            lipschitz *= 2.0;
        };
        iterations += 1;
        if next_value > value {
            // Momentum overshot: start again from the best point with a plain step.
            if momentum > 1.0 {
                momentum = 1.0;
                point.copy_from_slice(&w);
                continue;
            }
        }
        let ahead = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let weight = (momentum - 1.0) / ahead;
        point = next.iter().zip(&w).map(|(x, old)| x + weight * (x - old)).collect();
        (w, value, momentum) = (next, next_value, ahead);
        if iterations >= next_check {
            next_check = iterations * 3 / 2;
            if certify(problem, &w, &mut best)? <= settings.tolerance {
                break;
            }
        }
    }
    certify(problem, &w, &mut best)?;
    let (certificate, normalised) = best;
    Ok(ProjectedSolution { w: normalised, raw: w, certificate })
}

/// Joins the bounds at Algorithm 1 of `w`; returns the gap.
fn certify(problem: &Problem, w: &[f64], best: &mut (Certificate, Vec<f64>)) -> Result<f64> {
    let mut normalised = w.to_vec();
    problem.likelihood.normaliser().normalise(&mut normalised)?;
    let now = problem.certificate(&normalised);
    let smooth = problem.loss.is_smooth();
    let better = if smooth { now.upper11 < best.0.upper11 } else { now.upper10 < best.0.upper10 };
    if better {
        best.1 = normalised;
    }
    best.0 = best.0.join(&now);
    Ok(if smooth { best.0.gap11() } else { best.0.gap10() })
}

/// Projects every table row onto the sub-normalised ones.
fn project(structure: &Structure, w: &mut [f64]) {
    for i in 0..structure.n_nodes() {
        for row in w[structure.table(i)].chunks_exact_mut(structure.card()[i]) {
            project_sub_normalised(row);
        }
    }
}
