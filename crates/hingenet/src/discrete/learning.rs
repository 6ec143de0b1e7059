//! From a training table to a classifier by any rule of learning the parameters. Options that are not given
//! are chosen by inner cross-validation; margin-trained models get a temperature that calibrates their
//! probabilities and keeps their decisions.

use super::fit::{DiscreteParams, Prepared, StructureKind, prepare};
use super::inference::Inference;
use super::learn::{PairStatistics, k_tree, tan};
use super::margin::bn_svm::{Norm, fit_bn_svm};
use super::margin::completion::{CompletionParams, complete, fit_incomplete};
use super::margin::conditional::{ConditionalParams, Form, Objective, fit_conditional};
use super::margin::select::{
    Grid, calibrate, correct, inner_folds, select_iterations, select_margin, subset,
};
use super::margin::{MarginParams, fit_margin};
use super::{DiscreteClassifier, Network, Samples, Structure};
use crate::classifier::{SolverReport, Training};
use crate::control::Control;
use crate::error::Result;
use crate::numeric::log::argmax;
use crate::table::Codes;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A rule of learning the parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Learning {
    /// Maximum likelihood, Eq. (3).
    MaximumLikelihood,
    /// Maximum conditional likelihood.
    Conditional {
        /// How the parameters stay a network.
        form: Form,
        /// Weight of the ridge towards maximum likelihood.
        ridge: f64,
        /// Iterations.
        iterations: usize,
    },
    /// Maximum capped margins (Pernkopf et al., 2012).
    Margin {
        /// Scale of the log margins; chosen if absent.
        lambda: Option<f64>,
        /// Rounding of the cap; chosen if absent.
        kappa: Option<f64>,
        /// How the parameters stay a network.
        form: Form,
        /// Iterations, at most.
        iterations: usize,
        /// Whether the number of iterations is chosen by inner cross-validation.
        early_stopping: bool,
    },
    /// BN-SVM, Eq. (9).
    BnSvm {
        /// Weight of the slacks; chosen if absent.
        lambda: Option<f64>,
        /// Norm of the weights.
        norm: Norm,
    },
    /// ML-BN-SVM, Eq. (10) and (11): as likely as the required margins allow.
    MlBnSvm {
        /// Weight of the slacks; chosen if absent.
        lambda: Option<f64>,
        /// Required log margin; chosen if absent.
        gamma: Option<f64>,
        /// Everything else.
        params: MarginParams,
    },
}

/// A fitted classifier and the options that were chosen for it.
#[derive(Debug, Clone)]
pub struct Learnt {
    /// The classifier.
    pub classifier: DiscreteClassifier,
    /// Options chosen by inner cross-validation.
    pub chosen: BTreeMap<String, f64>,
}

/// Inner folds of every choice.
const FOLDS: usize = 5;
/// Scales λ of the margins tried (the paper's interval is 0.01 to 0.5).
const MARGIN_LAMBDA: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.5];
/// Roundings κ tried (the paper's interval is 0.01 to 1).
const MARGIN_KAPPA: [f64; 3] = [0.01, 0.5, 1.0];
/// Slack weights of BN-SVM tried.
const BN_SVM_LAMBDA: [f64; 6] = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];

/// Fits graph and parameters. With missing cells ML uses EM, ML-BN-SVM completion-EM, and the other rules
/// learn from the completions of the EM network, weighted by their probabilities; choices by inner
/// cross-validation and calibration then use each row's most probable completion.
pub fn fit_discrete(
    training: &Training<'_>,
    params: &DiscreteParams,
    learning: &Learning,
    control: &Control,
) -> Result<Learnt> {
    let prepared = prepare(training, params, control)?;
    let fit = Fit { prepared: &prepared, params, control };
    let mut chosen = BTreeMap::new();
    let (network, report, temperature) = match learning {
        Learning::MaximumLikelihood => {
            let (_, w, report) = prepared.maximum_likelihood(params, control)?;
            (Network::new(prepared.structure.clone(), w)?, report, 1.0)
        }
        Learning::Conditional { form, ridge, iterations } => {
            let objective = Objective::ConditionalLikelihood;
            let (ridge, alpha, max_iterations) = (*ridge, params.alpha, *iterations);
            let rule = ConditionalParams {
                objective,
                form: *form,
                ridge,
                alpha,
                max_iterations,
                class_weights: None,
            };
            let found = fit_conditional(&fit.weighted_rows()?, &prepared.structure, &rule, control)?;
            (found.network, Some(found.report), 1.0)
        }
        Learning::Margin { .. } => fit.margin(learning, &mut chosen)?,
        Learning::BnSvm { lambda, norm } => fit.bn_svm(*lambda, *norm, &mut chosen)?,
        Learning::MlBnSvm { lambda, gamma, params } => fit.ml_bn_svm(*lambda, *gamma, params, &mut chosen)?,
    };
    if let Some(report) = report.as_ref().filter(|r| !r.converged && r.gap.is_some_and(|g| g > 1e-2)) {
        control.warn(&format!(
            "{} stopped after {} iterations at {:.1e}, before it converged",
            report.method,
            report.iterations,
            report.gap.unwrap_or_default()
        ));
    }
    let classifier = DiscreteClassifier::new(prepared.coders.clone(), network, temperature, report)?;
    Ok(Learnt { classifier, chosen })
}

/// Parameters, how the solver ended, temperature.
type Found = (Network, Option<SolverReport>, f64);

/// What every rule works with.
struct Fit<'a> {
    prepared: &'a Prepared,
    params: &'a DiscreteParams,
    control: &'a Control,
}

impl Fit<'_> {
    fn ml_bn_svm(
        &self,
        lambda: Option<f64>,
        gamma: Option<f64>,
        base: &MarginParams,
        chosen: &mut BTreeMap<String, f64>,
    ) -> Result<Found> {
        let mut rule = MarginParams { alpha: self.params.alpha, ..base.clone() };
        self.prepared.structure.require_c1()?;
        let single = self.single_completions()?;
        let learn = |part: &Samples| self.learn_structure(part);
        let default = Grid::default();
        let grid = Grid {
            lambda: lambda.map_or(default.lambda, |l| vec![l]),
            gamma: gamma.map_or(default.gamma, |g| vec![g]),
            extend: lambda.is_none() && gamma.is_none(),
            folds: default.folds,
        };
        if lambda.is_none() || gamma.is_none() {
            let selection = select_margin(&single, &learn, &rule, &grid, self.control)?;
            (rule.lambda, rule.gamma) = (selection.lambda, selection.gamma);
            chosen.insert("lambda".into(), rule.lambda);
            chosen.insert("gamma".into(), rule.gamma);
        } else {
            (rule.lambda, rule.gamma) = (lambda.unwrap_or(1.0), gamma.unwrap_or(1.0));
        }
        let quiet = self.control.quiet();
        let refit = |part: &Samples| {
            Ok(fit_margin(part, &self.learn_structure(part)?, &loose(&rule), &quiet)?.network)
        };
        let temperature = if rule.lambda > 0.0 { calibrate(&single, FOLDS, &refit)? } else { 1.0 };
        let samples = &self.prepared.samples;
        let fit = if samples.has_missing() {
            fit_incomplete(
                samples,
                &self.prepared.structure,
                &rule,
                &CompletionParams::default(),
                self.control,
            )?
            .fit
        } else {
            fit_margin(samples, &self.prepared.structure, &rule, self.control)?
        };
        Ok((fit.network, Some(fit.report), temperature))
    }

    fn bn_svm(&self, lambda: Option<f64>, norm: Norm, chosen: &mut BTreeMap<String, f64>) -> Result<Found> {
        self.prepared.structure.require_c1()?;
        let single = self.single_completions()?;
        let quiet = self.control.quiet();
        let rule = |lambda: f64| MarginParams { lambda, gamma: 1.0, ..MarginParams::default() };
        let fit = |part: &Samples, structure: &Structure, lambda: f64| {
            Ok(fit_bn_svm(part, structure, norm, &rule(lambda), &quiet)?.network)
        };
        let lambda = match lambda {
            Some(lambda) => lambda,
            None => {
                let best =
                    self.best(&single, &BN_SVM_LAMBDA, |part, structure, &l| fit(part, structure, l))?;
                chosen.insert("lambda".into(), best);
                best
            }
        };
        let refit = |part: &Samples| fit(part, &self.learn_structure(part)?, lambda);
        let temperature = calibrate(&single, FOLDS, &refit)?;
        let found =
            fit_bn_svm(&self.weighted_rows()?, &self.prepared.structure, norm, &rule(lambda), self.control)?;
        Ok((found.network, Some(found.report), temperature))
    }

    fn margin(&self, learning: &Learning, chosen: &mut BTreeMap<String, f64>) -> Result<Found> {
        let Learning::Margin { lambda, kappa, form, iterations, early_stopping } = learning else {
            return Err(crate::error::Error::data("this rule is not the capped margin", ""));
        };
        self.prepared.structure.require_c1()?;
        let single = self.single_completions()?;
        let quiet = self.control.quiet();
        let rule = |lambda: f64, kappa: f64, iterations: usize| ConditionalParams {
            objective: Objective::Margin { lambda, kappa },
            form: *form,
            alpha: self.params.alpha,
            max_iterations: iterations,
            ..ConditionalParams::default()
        };
        let (mut l, mut k) = (lambda.unwrap_or(MARGIN_LAMBDA[0]), kappa.unwrap_or(MARGIN_KAPPA[0]));
        if lambda.is_none() || kappa.is_none() {
            let lambdas = lambda.map_or(MARGIN_LAMBDA.to_vec(), |l| vec![l]);
            let kappas = kappa.map_or(MARGIN_KAPPA.to_vec(), |k| vec![k]);
            let points: Vec<(f64, f64)> =
                lambdas.iter().flat_map(|&l| kappas.iter().map(move |&k| (l, k))).collect();
            (l, k) = self.best(&single, &points, |part, structure, &(l, k)| {
                Ok(fit_conditional(part, structure, &rule(l, k, *iterations), &quiet)?.network)
            })?;
            chosen.insert("lambda".into(), l);
            chosen.insert("kappa".into(), k);
        }
        let mut rounds = *iterations;
        if *early_stopping {
            let learn = |part: &Samples| self.learn_structure(part);
            rounds = select_iterations(&single, &learn, &rule(l, k, rounds), FOLDS, self.control)?;
            chosen.insert("iterations".into(), rounds as f64);
        }
        let rule = rule(l, k, rounds);
        let refit =
            |part: &Samples| Ok(fit_conditional(part, &self.learn_structure(part)?, &rule, &quiet)?.network);
        let temperature = calibrate(&single, FOLDS, &refit)?;
        let found = fit_conditional(&self.weighted_rows()?, &self.prepared.structure, &rule, self.control)?;
        Ok((found.network, Some(found.report), temperature))
    }

    /// The point with the most correct validation rows over the inner folds; ties to the first.
    fn best<P: Copy + Sync>(
        &self,
        samples: &Samples,
        points: &[P],
        fit: impl Fn(&Samples, &Structure, &P) -> Result<Network> + Sync,
    ) -> Result<P> {
        let fold = inner_folds(samples, FOLDS);
        let mut scores = vec![0.0; points.len()];
        for f in (0..FOLDS).filter(|f| fold.contains(f)) {
            let rows =
                |inside: bool| (0..fold.len()).filter(|&m| (fold[m] == f) == inside).collect::<Vec<_>>();
            let (train, test) = (subset(samples, &rows(false))?, subset(samples, &rows(true))?);
            let structure = self.learn_structure(&train)?;
            let score = |p: &P| {
                self.control.check()?;
                correct(&fit(&train, &structure, p)?, &test)
            };
            let parts: Vec<f64> = points.par_iter().map(score).collect::<Result<_>>()?;
            scores.iter_mut().zip(parts).for_each(|(s, part)| *s += part);
        }
        Ok(points[argmax(&scores)])
    }

    /// The graph rule applied to other rows; given graphs stay.
    fn learn_structure(&self, samples: &Samples) -> Result<Structure> {
        match &self.params.structure {
            StructureKind::Tan(root) => tan(&PairStatistics::new(samples, &self.control.quiet())?, *root),
            StructureKind::KTree(k) => k_tree(&PairStatistics::new(samples, &self.control.quiet())?, *k),
            StructureKind::NaiveBayes | StructureKind::Dag { .. } => Ok(self.prepared.structure.clone()),
        }
    }

    /// The maximum-likelihood network of the training rows.
    fn ml_network(&self) -> Result<Network> {
        let (_, w, _) = self.prepared.maximum_likelihood(self.params, &self.control.quiet())?;
        Network::new(self.prepared.structure.clone(), w)
    }

    /// The rows themselves, or their completions weighted by the EM network.
    fn weighted_rows(&self) -> Result<Samples> {
        let samples = &self.prepared.samples;
        if !samples.has_missing() {
            return Ok(samples.clone());
        }
        Ok(complete(samples, &self.ml_network()?, &CompletionParams::default())?.0)
    }

    /// The rows themselves, or each row's most probable completion: one row stays one row, so that folds
    /// never share one.
    fn single_completions(&self) -> Result<Samples> {
        let samples = &self.prepared.samples;
        if !samples.has_missing() {
            return Ok(samples.clone());
        }
        let network = self.ml_network()?;
        let inference = Inference::new(&network);
        let fill = |m: usize| -> Result<Vec<usize>> {
            let evidence: Vec<Option<usize>> = samples.columns().iter().map(|c| c.get(m)).collect();
            match evidence.iter().copied().collect() {
                Some(complete) => Ok(complete),
                None => Ok(inference.most_probable(&evidence)?.0),
            }
        };
        let rows: Vec<Vec<usize>> = (0..samples.n_rows()).into_par_iter().map(fill).collect::<Result<_>>()?;
        let column = |i: usize| Codes::from_options(samples.card()[i], rows.iter().map(|row| Some(row[i])));
        let columns = (0..samples.card().len()).map(column).collect();
        Samples::new(samples.card().to_vec(), columns, samples.weights().map(<[f64]>::to_vec))
    }
}

/// The gap that suffices for a calibration fit.
fn loose(rule: &MarginParams) -> MarginParams {
    MarginParams {
        tolerance: rule.tolerance.max(1e-4),
        max_iterations: rule.max_iterations.min(300),
        ..rule.clone()
    }
}
