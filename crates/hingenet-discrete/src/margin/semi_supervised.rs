//! ML-BN-SVM from labelled rows and rows without class label. Responsibilities `r_{uc} = P(c | z_u; w)` of the
//! unlabelled rows and a fit of problem (11) with `τ r_{uc} φ_c(z_u)` added to the counts alternate; such
//! counts are consistent (Eq. 7), so every step is convex with a unique normalised solution. Missing
//! features are completed in the same rounds.

use super::completion::{CompletionParams, complete, fit_incomplete};
use super::fit::{
    MarginFit, MarginParams, finish, fit_margin, margin_problem, require_two_classes, weighted,
};
use super::select::{FOLDS, calibrated, select_point, subset};
use super::solve::solve;
use super::train::{Learning, Trained, choose, learn_again, set_alpha};
use crate::fit::code_columns;
use crate::inference::log_joint_rows;
use crate::{DiscreteClassifier, DiscreteParams, Network, Prepared, Samples, Structure, counts, prepare};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_data::classifier::Training;
use hingenet_data::table::Codes;

/// Settings of a semi-supervised fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SemiParams {
    /// Weight τ in [0, 1] of unlabelled rows in the counts; 0 is the supervised fit.
    pub tau: f64,
    /// Weight in [0, 1] of unlabelled rows in the margins.
    pub margin_tau: f64,
    /// Rounds.
    pub max_rounds: usize,
    /// Stops when no responsibility changes by more.
    pub tolerance: f64,
}

impl Default for SemiParams {
    fn default() -> Self {
        SemiParams { tau: 0.5, margin_tau: 0.0, max_rounds: 100, tolerance: 1e-6 }
    }
}

/// Rounds over which τ rises to its value, so that early mistakes do not lock in.
const ANNEALING: usize = 5;

/// Learns from labelled rows and rows without class label; features may be missing in both.
pub fn fit_semi_supervised(
    samples: &Samples,
    structure: &Structure,
    params: &MarginParams,
    semi: &SemiParams,
    control: &Control,
) -> Result<MarginFit> {
    params.check(structure.n_classes())?;
    let share = |x: f64| (0.0..=1.0).contains(&x);
    require("tau", semi.tau, "a number in [0, 1]", share(semi.tau))?;
    require("margin_tau", semi.margin_tau, "a number in [0, 1]", share(semi.margin_tau))?;
    let (known, unknown) = split(samples.column(0));
    if known.is_empty() {
        return Err(Error::data("no row has a class label", "label some rows of each class"));
    }
    let labelled = weighted(&subset(samples, &known)?, params.class_weights.as_deref())?;
    require_two_classes(&labelled)?;
    let mut fit = supervised(&labelled, structure, params, control)?;
    if unknown.is_empty() || semi.tau == 0.0 {
        return Ok(fit);
    }
    let unlabelled = subset(samples, &unknown)?;
    let mut last: Option<Vec<f64>> = None;
    for round in 0..semi.max_rounds {
        control.progress("semi-supervised fit", round, semi.max_rounds)?;
        let responsibility = responsibilities(&fit.network, &unlabelled)?;
        let annealed = ((round + 1) as f64 / ANNEALING as f64).min(1.0);
        let change =
            |old: &Vec<f64>| old.iter().zip(&responsibility).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        if round >= ANNEALING && last.as_ref().map_or(f64::INFINITY, change) < semi.tolerance {
            break;
        }
        let own = without_gaps(labelled.clone(), &fit.network)?;
        let guessed = without_gaps(expand(&unlabelled, &responsibility, 1.0)?, &fit.network)?;
        let mut n = counts::raw_counts(structure, &guessed)?;
        let seen = counts::raw_counts(structure, &own)?;
        n.iter_mut().zip(&seen).for_each(|(n, seen)| *n = semi.tau * annealed * *n + seen);
        counts::smooth(structure, &mut n, params.alpha);
        let margins = if semi.margin_tau > 0.0 {
            joined(&own, &scaled(&guessed, semi.margin_tau * annealed)?)?
        } else {
            own
        };
        let problem = margin_problem(&margins, structure, n, params)?;
        let solution = solve(&problem, Some(fit.network.w().into()), &params.settings(), &control.quiet())?;
        fit = finish(structure, &problem, solution)?;
        last = Some(responsibility);
    }
    Ok(fit)
}

/// The fit of the labelled rows alone; their class weights are in the rows already.
fn supervised(
    labelled: &Samples,
    structure: &Structure,
    params: &MarginParams,
    control: &Control,
) -> Result<MarginFit> {
    let params = MarginParams { class_weights: None, ..params.clone() };
    if labelled.has_missing() {
        let completion = CompletionParams::default();
        return Ok(fit_incomplete(labelled, structure, &params, &completion, &control.quiet())?.fit);
    }
    fit_margin(labelled, structure, &params, &control.quiet())
}

/// The rows themselves if complete, else their completions under the network.
fn without_gaps(rows: Samples, network: &Network) -> Result<Samples> {
    if rows.has_missing() { Ok(complete(&rows, network, &CompletionParams::default())?.0) } else { Ok(rows) }
}

/// Numbers of the rows with and without a label.
fn split(class: &Codes) -> (Vec<usize>, Vec<usize>) {
    (0..class.len()).partition(|&m| class.get(m).is_some())
}

/// P(c | z) of every unlabelled row, K values a row.
fn responsibilities(network: &Network, rows: &Samples) -> Result<Vec<f64>> {
    let mut joint = log_joint_rows(network, &rows.columns()[1..])?;
    for scores in joint.chunks_exact_mut(network.structure().n_classes()) {
        let total = log_sum_exp(scores);
        scores.iter_mut().for_each(|s| *s = (*s - total).exp());
    }
    Ok(joint)
}

/// K weighted copies of every row, one for each class.
fn expand(rows: &Samples, responsibility: &[f64], tau: f64) -> Result<Samples> {
    let k = rows.card()[0];
    let n = rows.n_rows();
    let source: Vec<usize> = (0..n).flat_map(|m| std::iter::repeat_n(m, k)).collect();
    let mut columns = vec![Codes::from_options(k, (0..n * k).map(|i| Some(i % k)))];
    columns.extend(rows.columns()[1..].iter().map(|c| c.rows(&source)));
    let weights = (0..n * k).map(|i| tau * rows.weight(i / k) * responsibility[i]).collect();
    Samples::new(rows.card().to_vec(), columns, Some(weights))
}

/// The rows with all weights multiplied.
fn scaled(rows: &Samples, factor: f64) -> Result<Samples> {
    let weights = (0..rows.n_rows()).map(|m| factor * rows.weight(m)).collect();
    Samples::new(rows.card().to_vec(), rows.columns().to_vec(), Some(weights))
}

fn joined(a: &Samples, b: &Samples) -> Result<Samples> {
    let card = a.card();
    let column = |i: usize| Codes::from_options(card[i], a.column(i).iter().chain(b.column(i).iter()));
    let weights = (0..a.n_rows()).map(|m| a.weight(m)).chain((0..b.n_rows()).map(|m| b.weight(m)));
    Samples::new(card.to_vec(), (0..card.len()).map(column).collect(), Some(weights.collect()))
}

/// Weights τ that are tried, ties to the smaller.
const TAU: [f64; 4] = [0.0, 0.1, 0.3, 1.0];

/// Learns from a table some of whose rows have no class label. States and graph come from the labelled rows;
/// λ and γ are chosen on them as without the others; τ, unless given, by inner folds of the labelled rows
/// with all unlabelled rows at hand.
pub fn fit_partly_labelled(
    training: &Training<'_>,
    discrete: &DiscreteParams,
    learning: &Learning,
    tau: Option<f64>,
    control: &Control,
) -> Result<Trained> {
    let (known, unknown) = split(training.class);
    let weights = |rows: &[usize]| training.weights.map(|w| rows.iter().map(|&m| w[m]).collect::<Vec<f64>>());
    let (features, class, own) =
        (training.features.rows(&known), training.class.rows(&known), weights(&known));
    let labelled =
        Training { features: &features, class: &class, classes: training.classes, weights: own.as_deref() };
    let prepared = prepare(&labelled, discrete, control)?;
    let mut learning = learning.clone();
    set_alpha(&mut learning, discrete.alpha);
    let mut chosen = Vec::new();
    choose(&prepared, discrete, &mut learning, &mut chosen, control)?;
    let Learning::MlBnSvm { params, .. } = learning else {
        return Err(Error::data("this rule needs a class label in every row", "use :ml or :ml-bn-svm"));
    };
    let unlabelled = coded(&prepared, &training.features.rows(&unknown), weights(&unknown))?;
    let quiet = control.quiet();
    let rough = params.for_search();
    let ready = |rows: &Samples| {
        let structure = learn_again(rows, discrete, &prepared.structure, &quiet)?;
        Ok((joined(rows, &unlabelled)?, structure))
    };
    let fit = |(rows, structure): &(Samples, Structure), tau: &f64| {
        let semi = SemiParams { tau: *tau, tolerance: 1e-3, ..SemiParams::default() };
        Ok(fit_semi_supervised(rows, structure, &rough, &semi, &quiet)?.network)
    };
    let tau = match tau {
        Some(tau) => tau,
        None => {
            let tau = select_point(&prepared.samples, &ready, &TAU, FOLDS, &fit, control)?;
            chosen.push(("tau", tau));
            tau
        }
    };
    let all = joined(&prepared.samples, &unlabelled)?;
    let semi = SemiParams { tau, ..SemiParams::default() };
    let found = fit_semi_supervised(&all, &prepared.structure, &params, &semi, control)?;
    let temperature = if params.lambda > 0.0 {
        calibrated(&prepared.samples, &|rows| fit(&ready(rows)?, &tau), control)?
    } else {
        1.0
    };
    let Prepared { coders, .. } = prepared;
    let classifier = DiscreteClassifier::new(coders, found.network, temperature, Some(found.report))?;
    Ok(Trained { classifier, chosen, certificate: Some(found.certificate) })
}

/// Unlabelled rows in the states of the labelled ones; a category that these lack is a missing cell.
fn coded(
    prepared: &Prepared,
    features: &hingenet_data::table::Table,
    weights: Option<Vec<f64>>,
) -> Result<Samples> {
    let card = prepared.samples.card().to_vec();
    let mut columns = vec![Codes::from_options(card[0], (0..features.n_rows()).map(|_| None))];
    columns.extend(code_columns(&prepared.coders, features)?);
    Samples::new(card, columns, weights)
}
