//! Choosing by inner folds: λ and γ of ML-BN-SVM along paths of rising λ, the points of other rules, the number of
//! iterations of a discriminative fit, and the temperature that calibrates a margin-trained posterior.

use crate::inference::log_joint_rows;
use crate::margin::completion::completed;
use crate::margin::conditional::{ConditionalParams, Form, fit_watched, table_softmax};
use crate::margin::{MarginParams, Problem, Solution, Start, margin_problem, require_two_classes, solve};
use crate::params::Grid;
use crate::{Network, Normaliser, Samples, Structure, counts};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_data::select::calibration::{Targets, temperature};
use hingenet_data::select::criterion::{self, Judged};
use hingenet_data::select::folds::{Order, split, stratified};
use hingenet_data::select::search::{first_best, path_scores, point_scores};
use hingenet_data::table::Codes;
use rayon::prelude::*;

/// Inner folds of calibration and of the choice among a few points.
pub(crate) const FOLDS: usize = 5;
/// Times the grid may grow.
const EXTENSIONS: usize = 6;
/// Logarithms of the least and the largest 1/T: scores 1100 times too certain, and 20 times not certain enough.
const LOG_BETA: (f64, f64) = (-7.0, 3.0);

/// Learns a structure from training rows; called once for every inner fold.
pub type Learn<'a> = dyn Fn(&Samples) -> Result<Structure> + Sync + 'a;

/// A model that scores coded rows: `log P(c, observed cells)`, K values a row.
pub trait ClassScores {
    /// Scores of the given feature columns.
    fn log_joint(&self, features: &[Codes]) -> Result<Vec<f64>>;
}

impl ClassScores for Network {
    fn log_joint(&self, features: &[Codes]) -> Result<Vec<f64>> {
        log_joint_rows(self, features)
    }
}

/// One inner fold: what is made once from its training rows, and its validation rows.
struct Part<T> {
    ready: T,
    test: Samples,
}

/// The folds that can be judged: one without rows, or whose other rows are all of one class, can tell nothing.
fn inner_parts<T: Send>(
    samples: &Samples,
    prepare: &(dyn Fn(&Samples) -> Result<T> + Sync),
    folds: usize,
) -> Result<Vec<Part<T>>> {
    require("inner folds", folds, "at least 2", folds >= 2)?;
    let fold = stratified(samples.column(0).iter(), folds, Order::AsTheyStand);
    let part = |f: usize| {
        let (train, test) = split(&fold, f);
        if test.is_empty() || train.is_empty() {
            return Ok(None);
        }
        let train = samples.rows(&train)?;
        if require_two_classes(&train).is_err() {
            return Ok(None);
        }
        Ok(Some(Part { ready: prepare(&train)?, test: samples.rows(&test)? }))
    };
    (0..folds).into_par_iter().map(part).filter_map(Result::transpose).collect()
}

/// The labelled rows with their scores.
fn judged<'a>(joint: &'a [f64], test: &'a Samples) -> impl Iterator<Item = Judged<'a>> {
    let rows = joint.chunks_exact(test.card()[0]).zip(test.column(0).iter()).enumerate();
    rows.filter_map(|(m, (scores, class))| class.map(|c| (scores, c, test.weight(m))))
}

/// Weight of the labelled rows classified right.
fn correct(model: &impl ClassScores, test: &Samples) -> Result<f64> {
    Ok(criterion::correct(judged(&model.log_joint(&test.columns()[1..])?, test)))
}

/// The point with the most correct validation rows over the inner folds; ties to the first. `prepare` makes
/// of training rows what all points need, `fit` learns from that.
pub(crate) fn select_point<P: Copy + Sync, T: Send + Sync, M: ClassScores>(
    samples: &Samples,
    prepare: &(dyn Fn(&Samples) -> Result<T> + Sync),
    points: &[P],
    folds: usize,
    fit: &(dyn Fn(&T, &P) -> Result<M> + Sync),
    control: &Control,
) -> Result<P> {
    if let [only] = points {
        return Ok(*only);
    }
    let parts = inner_parts(samples, prepare, folds)?;
    let score = |part: &Part<T>, point: &P| correct(&fit(&part.ready, point)?, &part.test);
    let scores = point_scores(&parts, points, &score, control)?;
    let best = points.get(first_best(&scores, 0.0)).copied();
    best.ok_or_else(|| Error::data("there are no values to choose from", "give at least one"))
}

/// One grid point and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// λ.
    pub lambda: f64,
    /// γ.
    pub gamma: f64,
    /// Weight of the validation rows classified right, over all inner folds.
    pub correct: f64,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Chosen λ.
    pub lambda: f64,
    /// Chosen γ.
    pub gamma: f64,
    /// All points tried.
    pub trials: Vec<Trial>,
}

/// Chooses λ and γ; ties go to the smaller λ (more generative), then to the smaller γ.
pub fn select_margin(
    samples: &Samples,
    learn: &Learn<'_>,
    params: &MarginParams,
    grid: &Grid,
    control: &Control,
) -> Result<Selection> {
    let first = (grid.lambda.first(), grid.gamma.first());
    let (Some(_), Some(_)) = first else {
        return Err(Error::data("the grid is empty", "give at least one lambda and one gamma"));
    };
    let quiet = control.quiet();
    let prepare = |train: &Samples| MarginPart::new(train, learn, params, &quiet);
    let parts = inner_parts(samples, &prepare, grid.folds)?;
    let mut selection = Selection { lambda: 0.0, gamma: 0.0, trials: Vec::new() };
    let (mut lambdas, mut gammas) = (grid.lambda.clone(), grid.gamma.clone());
    let (mut new_lambdas, mut new_gammas) = (lambdas.clone(), gammas.clone());
    for round in 0..=EXTENSIONS {
        let fresh = |gamma: &f64| if new_gammas.contains(gamma) { &lambdas } else { &new_lambdas };
        let line = |&gamma: &f64| fresh(&gamma).iter().map(|&lambda| (gamma, lambda)).collect();
        let mut paths: Vec<Vec<(f64, f64)>> = gammas.iter().map(line).collect();
        paths.retain(|path| !path.is_empty());
        let along = |part: &Part<MarginPart>, points: &[(f64, f64)]| path(part, params, points, &quiet);
        let scores = path_scores(&parts, &paths, &along, control)?;
        let points = paths.iter().flatten().zip(scores.iter().flatten());
        let trial = |(&(gamma, lambda), &correct): (&(f64, f64), &f64)| Trial { lambda, gamma, correct };
        selection.trials.extend(points.map(trial));
        let best = best_of(&mut selection.trials);
        (selection.lambda, selection.gamma) = (best.lambda, best.gamma);
        (new_lambdas, new_gammas) = grow(&mut lambdas, &mut gammas, &best);
        if !grid.extend || round == EXTENSIONS || (new_lambdas.is_empty() && new_gammas.is_empty()) {
            break;
        }
    }
    Ok(selection)
}

/// Adds the next values beyond an edge that holds the best point; returns what is new.
fn grow(lambdas: &mut Vec<f64>, gammas: &mut Vec<f64>, best: &Trial) -> (Vec<f64>, Vec<f64>) {
    let (mut new_lambdas, mut new_gammas) = (vec![], vec![]);
    if best.lambda > 0.0 {
        let (low, high) = (gammas[0], gammas[gammas.len() - 1]);
        if best.gamma == high && high < 20.0 {
            new_gammas.push((2.0 * high).min(20.0));
        } else if best.gamma == low && low > 0.1 {
            new_gammas.push((0.2 * low).max(0.1));
        }
        let top = lambdas[lambdas.len() - 1];
        if best.lambda == top && top < 1024.0 {
            new_lambdas.push((4.0 * top).min(1024.0));
        }
    }
    lambdas.extend(&new_lambdas);
    gammas.extend(&new_gammas);
    gammas.sort_by(f64::total_cmp);
    (new_lambdas, new_gammas)
}

/// The best trial; ties to the smaller λ, then to the smaller γ.
fn best_of(trials: &mut [Trial]) -> Trial {
    trials.sort_by(|a, b| a.lambda.total_cmp(&b.lambda).then(a.gamma.total_cmp(&b.gamma)));
    let scores: Vec<f64> = trials.iter().map(|t| t.correct).collect();
    trials[first_best(&scores, 0.0)]
}

/// Training rows ready for ML-BN-SVM: what does not depend on λ and γ.
struct MarginPart {
    structure: Structure,
    problem: Problem,
}

impl MarginPart {
    /// Completes the training rows, counts and merges them.
    fn new(train: &Samples, learn: &Learn<'_>, params: &MarginParams, control: &Control) -> Result<Self> {
        let structure = learn(train)?;
        let train = completed(train, &structure, params.alpha, control)?;
        let n = counts::smoothed_counts(&structure, &train, params.alpha)?;
        let problem = margin_problem(&train, &structure, n, params)?;
        Ok(MarginPart { structure, problem })
    }
}

/// Validation scores along the points (γ, λ) of one γ, each fit started from the last.
fn path(
    part: &Part<MarginPart>,
    params: &MarginParams,
    points: &[(f64, f64)],
    control: &Control,
) -> Result<Vec<f64>> {
    let MarginPart { structure, problem } = &part.ready;
    let mut problem = problem.clone();
    let mut last: Option<Solution> = None;
    let mut scores: Vec<f64> = Vec::with_capacity(points.len());
    for &(gamma, lambda) in points {
        control.check()?;
        let at = MarginParams { gamma, lambda, ..params.for_search() };
        problem.loss = at.loss(structure.n_classes());
        let solution = solve(&problem, last.as_ref().map(Start::from), &at.settings(), control)?;
        let score = match (&last, scores.last()) {
            (Some(last), Some(score)) if last.w == solution.w => *score,
            _ => correct(&Network::new(structure.clone(), solution.w.clone())?, &part.test)?,
        };
        scores.push(score);
        last = Some(solution);
    }
    Ok(scores)
}

/// The temperature T that gives posteriors `∝ exp(S_c / T)` the smallest log loss on inner validation rows;
/// the decisions do not depend on it. `fit` learns a network from training rows.
pub fn calibrate<M: ClassScores>(
    samples: &Samples,
    folds: usize,
    fit: &(dyn Fn(&Samples) -> Result<M> + Sync),
) -> Result<f64> {
    require("inner folds", folds, "at least 2", folds >= 2)?;
    let fold = stratified(samples.column(0).iter(), folds, Order::AsTheyStand);
    let held_out = |f: usize| -> Result<(Samples, Vec<f64>)> {
        let (train, test) = split(&fold, f);
        let test = samples.rows(&test)?;
        let joint = fit(&samples.rows(&train)?)?.log_joint(&test.columns()[1..])?;
        Ok((test, joint))
    };
    let present: Vec<usize> = (0..folds).filter(|f| fold.contains(f)).collect();
    let parts: Vec<(Samples, Vec<f64>)> = present.into_par_iter().map(held_out).collect::<Result<_>>()?;
    let rows: Vec<Judged<'_>> = parts.iter().flat_map(|(test, joint)| judged(joint, test)).collect();
    Ok(temperature(&rows, &Targets::Certain, (LOG_BETA.0.exp(), LOG_BETA.1.exp())))
}

/// The calibrating temperature by five inner folds; 1, with a warning, where the folds lack a class.
pub fn calibrated<M: ClassScores>(
    samples: &Samples,
    fit: &(dyn Fn(&Samples) -> Result<M> + Sync),
    control: &Control,
) -> Result<f64> {
    match calibrate(samples, FOLDS, fit) {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => {
            control.warn(&format!("the posterior is not calibrated: {error}"));
            Ok(1.0)
        }
        temperature => temperature,
    }
}

/// Early stopping of a discriminative fit: the number of iterations (at most `params.max_iterations`) with
/// the most correct validation rows over the inner folds; ties to the fewer.
pub fn select_iterations(
    samples: &Samples,
    learn: &Learn<'_>,
    params: &ConditionalParams,
    folds: usize,
    control: &Control,
) -> Result<usize> {
    let prepare = |rows: &Samples| Ok((rows.clone(), learn(rows)?));
    let parts = inner_parts(samples, &prepare, folds)?;
    if parts.is_empty() {
        return Ok(params.max_iterations);
    }
    let quiet = control.quiet();
    let curve = |(part, steps): (&Part<(Samples, Structure)>, &[usize])| -> Result<Vec<f64>> {
        let (train, structure) = &part.ready;
        let normaliser = Normaliser::new(structure)?;
        let mut curve = Vec::new();
        fit_watched(train, structure, params, &quiet, |_, free| {
            let mut w = match params.form {
                Form::Exact => free.to_vec(),
                Form::Tables => table_softmax(structure, free),
            };
            normaliser.normalise(&mut w)?;
            curve.push(correct(&Network::new(structure.clone(), w)?, &part.test)?);
            Ok(())
        })?;
        // A fit that ended early stays as it is.
        let at = |t: &usize| curve.get(*t).or(curve.last()).copied().unwrap_or(0.0);
        Ok(steps.iter().map(at).collect())
    };
    let steps: Vec<usize> = (0..=params.max_iterations).collect();
    let totals = path_scores(&parts, &[steps], &|part, steps| curve((part, steps)), control)?;
    Ok(first_best(&totals[0], 0.0))
}
