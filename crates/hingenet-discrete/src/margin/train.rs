//! From a training table to a margin-trained classifier: codes and graph, λ and γ by inner folds where they
//! are not given, parameters, and the temperature that calibrates the posterior.

use super::bn_svm::{Norm, fit_bn_svm};
use super::certificate::Certificate;
use super::completion::{CompletionParams, complete, fit_incomplete};
use super::conditional::{ConditionalParams, Objective, fit_conditional};
use super::fit::{MarginParams, fit_margin};
use super::select::{
    FOLDS, Grid, calibrated as calibrated_by, select_iterations, select_margin, select_point,
};
use crate::em::{EmParams, fit_em};
use crate::learn::{PairStatistics, k_tree, tan};
use crate::{
    DiscreteClassifier, DiscreteParams, Network, Prepared, Samples, Structure, StructureKind, prepare,
};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::Training;

/// How the parameters are learnt.
#[derive(Debug, Clone, PartialEq)]
pub enum Learning {
    /// ML-BN-SVM; with a grid λ and γ are chosen from it, else taken from the parameters.
    MlBnSvm {
        /// Parameters.
        params: MarginParams,
        /// Values to choose from.
        grid: Option<Grid>,
    },
    /// BN-SVM of Eq. (9).
    BnSvm {
        /// Norm of the weights.
        norm: Norm,
        /// Parameters (γ is 1 in the paper).
        params: MarginParams,
        /// Values of λ to choose from; empty: that of the parameters.
        lambdas: Vec<f64>,
    },
    /// Maximum conditional likelihood or maximum margin.
    Conditional {
        /// Parameters.
        params: ConditionalParams,
        /// Pairs (λ, κ) of the margin objective to choose from; empty: those of the parameters.
        points: Vec<(f64, f64)>,
        /// Whether the number of iterations is chosen by inner folds.
        early_stopping: bool,
    },
}

impl Learning {
    /// The same rule, solved as far as inner folds need it.
    fn for_search(&self) -> Self {
        let mut rough = self.clone();
        if let Learning::MlBnSvm { params, .. } = &mut rough {
            *params = params.for_search();
        }
        rough
    }
}

/// A fitted classifier and how it came about.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The classifier; its temperature calibrates `P(c | x)` only, likelihoods stay those of the network.
    pub classifier: DiscreteClassifier,
    /// Values chosen by inner folds, by name.
    pub chosen: Vec<(&'static str, f64)>,
    /// Bounds of an ML-BN-SVM fit.
    pub certificate: Option<Certificate>,
}

/// Learns states, graph and parameters from labelled rows; cells may be missing. `calibrated` chooses a
/// temperature by inner folds (5 more fits).
pub fn fit_discriminative(
    training: &Training<'_>,
    discrete: &DiscreteParams,
    learning: &Learning,
    calibrated: bool,
    control: &Control,
) -> Result<Trained> {
    let prepared = prepare(training, discrete, control)?;
    let mut learning = learning.clone();
    let mut chosen = Vec::new();
    set_alpha(&mut learning, discrete.alpha);
    choose(&prepared, discrete, &mut learning, &mut chosen, control)?;
    let (network, report, certificate) =
        fit_once(&prepared.samples, &prepared.structure, &learning, control)?;
    let temperature = if calibrated {
        let quiet = control.quiet();
        let rough = learning.for_search();
        let fit = |rows: &Samples| {
            let structure = learn_again(rows, discrete, &prepared.structure, &quiet)?;
            let rows = completed(rows, &structure, discrete.alpha, &quiet)?;
            Ok(fit_once(&rows, &structure, &rough, &quiet)?.0)
        };
        calibrated_by(&prepared.samples, &fit, control)?
    } else {
        1.0
    };
    let Prepared { coders, .. } = prepared;
    let classifier = DiscreteClassifier::new(coders, network, temperature, Some(report))?;
    Ok(Trained { classifier, chosen, certificate })
}

pub(super) fn set_alpha(learning: &mut Learning, alpha: f64) {
    match learning {
        Learning::MlBnSvm { params, .. } | Learning::BnSvm { params, .. } => params.alpha = alpha,
        Learning::Conditional { params, .. } => params.alpha = alpha,
    }
}

/// Sets λ and γ, or the number of iterations, by inner folds.
pub(super) fn choose(
    prepared: &Prepared,
    discrete: &DiscreteParams,
    learning: &mut Learning,
    chosen: &mut Vec<(&'static str, f64)>,
    control: &Control,
) -> Result<()> {
    let quiet = control.quiet();
    let learn = |rows: &Samples| learn_again(rows, discrete, &prepared.structure, &quiet);
    // Structure and completions of a fold's training rows are the same for all points.
    let ready = |rows: &Samples| {
        let structure = learn(rows)?;
        Ok((completed(rows, &structure, discrete.alpha, &quiet)?, structure))
    };
    match learning {
        Learning::MlBnSvm { params, grid: Some(grid) } => {
            let selection = select_margin(&prepared.samples, &learn, params, grid, control)?;
            (params.lambda, params.gamma) = (selection.lambda, selection.gamma);
            chosen.extend([("lambda", selection.lambda), ("gamma", selection.gamma)]);
        }
        Learning::BnSvm { norm, params, lambdas } if !lambdas.is_empty() => {
            let fit = |(rows, structure): &(Samples, Structure), lambda: &f64| {
                let (params, lambdas) = (MarginParams { lambda: *lambda, ..params.clone() }, Vec::new());
                Ok(fit_once(rows, structure, &Learning::BnSvm { norm: *norm, params, lambdas }, &quiet)?.0)
            };
            params.lambda = select_point(&prepared.samples, &ready, lambdas, FOLDS, &fit, control)?;
            chosen.push(("lambda", params.lambda));
        }
        Learning::Conditional { params, points, early_stopping } => {
            if !points.is_empty() {
                let fit = |(rows, structure): &(Samples, Structure), point: &(f64, f64)| {
                    let rule = Learning::Conditional {
                        params: ConditionalParams { objective: margin_of(*point), ..params.clone() },
                        points: Vec::new(),
                        early_stopping: false,
                    };
                    Ok(fit_once(rows, structure, &rule, &quiet)?.0)
                };
                let best = select_point(&prepared.samples, &ready, points, FOLDS, &fit, control)?;
                params.objective = margin_of(best);
                chosen.extend([("lambda", best.0), ("kappa", best.1)]);
            }
            if *early_stopping {
                let rows = completed(&prepared.samples, &prepared.structure, params.alpha, control)?;
                params.max_iterations = select_iterations(&rows, &learn, params, FOLDS, control)?;
                chosen.push(("iterations", params.max_iterations as f64));
            }
        }
        _ => {}
    }
    Ok(())
}

fn margin_of((lambda, kappa): (f64, f64)) -> Objective {
    Objective::Margin { lambda, kappa }
}

/// The graph of a part of the rows; a given graph stays.
pub(super) fn learn_again(
    rows: &Samples,
    discrete: &DiscreteParams,
    given: &Structure,
    control: &Control,
) -> Result<Structure> {
    match &discrete.structure {
        StructureKind::NaiveBayes | StructureKind::Dag { .. } => Ok(given.clone()),
        StructureKind::Tan(root) => tan(&PairStatistics::new(rows, control)?, *root),
        StructureKind::KTree(k) => k_tree(&PairStatistics::new(rows, control)?, *k),
    }
}

/// One fit with everything chosen.
fn fit_once(
    samples: &Samples,
    structure: &Structure,
    learning: &Learning,
    control: &Control,
) -> Result<(Network, SolverReport, Option<Certificate>)> {
    match learning {
        Learning::MlBnSvm { params, .. } => {
            let fit = if samples.has_missing() {
                fit_incomplete(samples, structure, params, &CompletionParams::default(), control)?.fit
            } else {
                fit_margin(samples, structure, params, control)?
            };
            Ok((fit.network, fit.report, Some(fit.certificate)))
        }
        Learning::BnSvm { norm, params, .. } => {
            let rows = completed(samples, structure, params.alpha, control)?;
            let fit = fit_bn_svm(&rows, structure, *norm, params, control)?;
            Ok((fit.network, fit.report, None))
        }
        Learning::Conditional { params, .. } => {
            let rows = completed(samples, structure, params.alpha, control)?;
            let fit = fit_conditional(&rows, structure, params, control)?;
            Ok((fit.network, fit.report, None))
        }
    }
}

/// The rows themselves if complete, else their weighted completions under the maximum-likelihood network.
pub fn completed(samples: &Samples, structure: &Structure, alpha: f64, control: &Control) -> Result<Samples> {
    if !samples.has_missing() {
        return Ok(samples.clone());
    }
    let em = fit_em(structure, samples, alpha, EmParams::default(), &control.quiet())?;
    Ok(complete(samples, &em.network, &CompletionParams::for_search())?.0)
}
