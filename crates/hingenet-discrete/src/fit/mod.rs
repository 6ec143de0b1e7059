//! From training rows to a classifier: states of the features and graph (`prepare`), options by inner folds where
//! they are not given (`select`), parameters, and the temperature that calibrates the posterior. Everything is
//! learnt on the rows given.

pub mod margin_search;
mod partly_labelled;
mod prepare;
pub mod select;

pub use prepare::{Prepared, prepare};
pub(crate) use prepare::{given, learnt_from, naming_rows, prepared};

use crate::margin::bn_svm::fit_bn_svm;
use crate::margin::completion::{CompletionParams, completed, fit_incomplete};
use crate::margin::conditional::{fit_conditional, fit_conditional_streamed};
use crate::margin::{
    CodedPieces, MarginRows, StreamedRows, fit_margin, fit_margin_streamed, require_two_classes,
};
use crate::params::{DiscreteParams, Learning};
use crate::{DiscreteClassifier, Network, Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::solver::SolverReport;
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use margin_search::{sample, select_margin};
use select::{FOLDS, calibrated, select_iterations, select_point};
use std::collections::BTreeMap;

/// Rows at hand whose solution all rows start from: a look at a million costs as much as a whole fit to so many.
const START_ROWS: usize = 100_000;

/// Learns states, graph and parameters, by maximum likelihood unless another rule is given; cells may be missing,
/// and classes where the rule allows it. The
/// temperature of a margin-trained model, chosen by five more fits, calibrates `P(c | x)` only: likelihoods stay
/// those of the network.
pub fn fit(
    rows: &Rows<'_>,
    params: &DiscreteParams,
    learning: Option<&Learning>,
    control: &Control,
) -> Result<Fit<DiscreteClassifier>> {
    if rows.class().has_missing() {
        return partly_labelled::fit(rows, params, learning, control);
    }
    fit_prepared(prepare(rows, params, control)?, params, learning, control)
}

/// Learns the parameters.
pub(crate) fn fit_prepared(
    prepared: Prepared,
    params: &DiscreteParams,
    learning: Option<&Learning>,
    control: &Control,
) -> Result<Fit<DiscreteClassifier>> {
    let Some(learning) = learning else {
        let (network, report) = prepared.maximum_likelihood(params, control)?;
        let model = DiscreteClassifier::new(prepared.coders, network, 1.0)?.with_support(prepared.support)?;
        return Ok(Fit { model, reports: report.into_iter().collect(), chosen: Chosen::new() });
    };
    let learn = |rule: &Learning| fit_once(&prepared.samples, &prepared.structure, rule, control);
    let learnt = chosen_and_learnt(&prepared, params, learning, &learn, control)?;
    learnt.finish(prepared)
}

/// The same where only some of the rows are at hand, with the graph and the counts of all, and all come past: options and
/// temperature are chosen on those at hand, the parameters are learnt from all.
pub(crate) fn fit_streamed(
    prepared: Prepared,
    params: &DiscreteParams,
    learning: &Learning,
    pieces: &dyn CodedPieces,
    control: &Control,
) -> Result<Fit<DiscreteClassifier>> {
    let Prepared { samples, structure, support, .. } = &prepared;
    let total = support[structure.table(0)].iter().sum();
    let rows = StreamedRows::new(structure, pieces, total, control);
    let learn = |rule: &Learning| fit_passing(samples, &rows, structure, support, rule, control);
    let learnt = chosen_and_learnt(&prepared, params, learning, &learn, control)?;
    learnt.finish(prepared)
}

/// A network with what was chosen for it.
struct Learnt {
    network: Network,
    report: SolverReport,
    chosen: Chosen,
    temperature: f64,
}

impl Learnt {
    fn finish(self, prepared: Prepared) -> Result<Fit<DiscreteClassifier>> {
        let Learnt { network, report, chosen, temperature } = self;
        let model =
            DiscreteClassifier::new(prepared.coders, network, temperature)?.with_support(prepared.support)?;
        Ok(Fit { model, reports: vec![report], chosen })
    }
}

/// Chooses what is open, learns the parameters, calibrates.
fn chosen_and_learnt(
    prepared: &Prepared,
    params: &DiscreteParams,
    learning: &Learning,
    learn: &dyn Fn(&Learning) -> Result<(Network, SolverReport)>,
    control: &Control,
) -> Result<Learnt> {
    let Choice { learning, chosen, temperature } = choose(prepared, params, learning, control)?;
    let (network, report) = learn(&learning)?;
    let temperature = if let Some(temperature) = temperature {
        temperature
    } else if learning.is_calibrated() {
        let quiet = control.quiet();
        let rough = learning.for_calibration();
        let fit = |rows: &Samples| {
            let structure = prepared.learn_again(rows, &params.structure, &quiet)?;
            let rows = completed(rows, &structure, params.alpha, &quiet)?;
            Ok(fit_once(&rows, &structure, &rough, &quiet)?.0)
        };
        calibrated(&prepared.samples, &fit, control)?
    } else {
        1.0
    };
    Ok(Learnt { network, report, chosen, temperature })
}

/// Values chosen by inner folds, by name.
type Chosen = BTreeMap<String, f64>;

/// What inner folds chose.
struct Choice {
    /// The rule with everything set.
    learning: Learning,
    /// The values, by name.
    chosen: Chosen,
    /// The calibrating temperature, where the folds gave it.
    temperature: Option<f64>,
}

/// The rule with everything set that inner folds choose.
fn choose(
    prepared: &Prepared,
    discrete: &DiscreteParams,
    learning: &Learning,
    control: &Control,
) -> Result<Choice> {
    let (mut chosen, mut temperature) = (Chosen::new(), None);
    let mut learning = learning.clone();
    learning.set_alpha(discrete.alpha);
    let quiet = control.quiet();
    let learn = |rows: &Samples| prepared.learn_again(rows, &discrete.structure, &quiet);
    let points = learning.points();
    if !points.is_empty() {
        // Structure and completions of a fold's training rows are the same for all points.
        let ready = |rows: &Samples| {
            let structure = learn(rows)?;
            Ok((completed(rows, &structure, discrete.alpha, &quiet)?, structure))
        };
        let fit = |(rows, structure): &(Samples, Structure), point: &(f64, f64)| {
            Ok(fit_once(rows, structure, &learning.at(*point).0, &quiet)?.0)
        };
        let best = select_point(&prepared.samples, &ready, &points, FOLDS, &fit, control)?;
        let (rule, names) = learning.at(best);
        chosen.extend(names.iter().zip([best.0, best.1]).map(|(name, value)| (name.to_string(), value)));
        learning = rule;
    }
    match &mut learning {
        Learning::MlBnSvm { params, grid: Some(grid) } => {
            let found = select_margin(&prepared.samples, &learn, params, grid, control)?;
            let best = found.best;
            temperature = found.temperature;
            chosen.extend([("lambda".into(), best.lambda), ("gamma".into(), best.gamma)]);
            if grid.alpha {
                chosen.insert("alpha".into(), best.alpha);
            }
            (params.lambda, params.gamma, params.alpha) = (best.lambda, best.gamma, best.alpha);
        }
        Learning::Conditional { params, early_stopping: true, .. } => {
            let rows = completed(&prepared.samples, &prepared.structure, params.alpha, control)?;
            params.max_iterations = select_iterations(&rows, &learn, params, FOLDS, control)?;
            chosen.insert("iterations".into(), params.max_iterations as f64);
        }
        _ => {}
    }
    Ok(Choice { learning, chosen, temperature })
}

/// One fit with everything chosen; the rules that need complete rows get completions.
fn fit_once(
    samples: &Samples,
    structure: &Structure,
    learning: &Learning,
    control: &Control,
) -> Result<(Network, SolverReport)> {
    let filled = |alpha: f64| completed(samples, structure, alpha, control);
    match learning {
        Learning::MlBnSvm { params, .. } => {
            let completion = CompletionParams::default();
            let fit = fit_incomplete(samples, structure, params, &completion, control)?.fit;
            Ok((fit.network, fit.report))
        }
        Learning::BnSvm { norm, params, .. } => {
            let filled = filled(params.alpha)?;
            require_two_classes(&filled)?;
            let fit = fit_bn_svm(MarginRows::new(structure, &filled)?, structure, *norm, params, control)?;
            Ok((fit.network, fit.report))
        }
        Learning::Conditional { params, .. } => {
            let fit = fit_conditional(&filled(params.alpha)?, structure, params, control)?;
            Ok((fit.network, fit.report))
        }
    }
}

/// One fit to rows that come past, of which `samples` are some. A solution for these is where a convex program starts.
fn fit_passing(
    samples: &Samples,
    rows: &StreamedRows<'_>,
    structure: &Structure,
    counts: &[f64],
    learning: &Learning,
    control: &Control,
) -> Result<(Network, SolverReport)> {
    match learning {
        Learning::MlBnSvm { params, .. } => {
            let some = sample(samples, START_ROWS.min(samples.n_rows()))?;
            let start = fit_margin(&some, structure, &params.for_search(), &control.quiet())?;
            let start = Some(start.network.w());
            let fit = fit_margin_streamed(rows.clone(), structure, counts, params, start, control)?;
            Ok((fit.network, fit.report))
        }
        Learning::BnSvm { norm, params, .. } => {
            let fit = rows.checked(fit_bn_svm(rows.clone(), structure, *norm, params, control))?;
            Ok((fit.network, fit.report))
        }
        Learning::Conditional { params, .. } => {
            let fit = fit_conditional_streamed(rows, structure, counts, params, control)?;
            Ok((fit.network, fit.report))
        }
    }
}
