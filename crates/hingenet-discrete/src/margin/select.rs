//! Model selection by inner cross-validation: λ and γ of ML-BN-SVM, the number of iterations of a
//! discriminative fit, and the temperature that calibrates the posterior of a margin-trained model.

use super::conditional::{ConditionalParams, Form, fit_watched, table_softmax};
use super::fit::{MarginParams, margin_problem, require_two_classes, weighted};
use super::loss::MarginLoss;
use super::problem::Problem;
use super::solve::{Solution, Start, solve};
use super::train::completed;
use crate::inference::log_joint_rows;
use crate::{Network, Normaliser, Samples, Structure, counts};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::log::{argmax, log_sum_exp};
use hingenet_data::table::Codes;
use rayon::prelude::*;

/// Learns a structure from training rows; called once for every inner fold.
pub type Learn<'a> = dyn Fn(&Samples) -> Result<Structure> + Sync + 'a;

/// A model that scores coded rows: `log P(c, observed cells)`, K values a row.
pub trait Scores {
    /// Scores of the given feature columns.
    fn log_joint(&self, features: &[Codes]) -> Result<Vec<f64>>;
}

impl Scores for Network {
    fn log_joint(&self, features: &[Codes]) -> Result<Vec<f64>> {
        log_joint_rows(self, features)
    }
}

/// The values tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Values of λ, ascending.
    pub lambda: Vec<f64>,
    /// Values of γ, ascending.
    pub gamma: Vec<f64>,
    /// Inner folds, at least 2.
    pub folds: usize,
    /// Whether the grid grows while the best value sits on its edge (λ up to 1024, γ from 0.1 to 20).
    pub extend: bool,
}

impl Default for Grid {
    fn default() -> Self {
        Grid {
            lambda: vec![0.0, 0.25, 1.0, 4.0, 16.0, 64.0],
            gamma: vec![1.0, 5.0, 10.0],
            folds: 5,
            extend: true,
        }
    }
}

impl Grid {
    /// The full grid of the paper's experiments: λ in {0, 2^-2, ..., 2^10}, γ in {0.1, 1, 5, 10, 15, 20}.
    pub fn full() -> Self {
        let lambda = std::iter::once(0.0).chain((-2..=10).map(|k| 2f64.powi(k))).collect();
        Grid { lambda, gamma: vec![0.1, 1.0, 5.0, 10.0, 15.0, 20.0], folds: 5, extend: false }
    }
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

/// Inner folds of calibration and of the choice among a few points.
pub const FOLDS: usize = 5;
/// Times the grid may grow.
const EXTENSIONS: usize = 6;

/// Chooses λ and γ; ties go to the smaller λ (more generative), then to the smaller γ.
pub fn select_margin(
    samples: &Samples,
    learn: &Learn<'_>,
    params: &MarginParams,
    grid: &Grid,
    control: &Control,
) -> Result<Selection> {
    require("inner folds", grid.folds, "at least 2", grid.folds >= 2)?;
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
        let wanted: Vec<(f64, Vec<f64>)> = gammas
            .iter()
            .map(|&gamma| {
                let fresh = new_gammas.contains(&gamma);
                (gamma, if fresh { lambdas.clone() } else { new_lambdas.clone() })
            })
            .filter(|(_, lambdas)| !lambdas.is_empty())
            .collect();
        selection.trials.extend(score_points(&parts, params, &wanted, control)?);
        let best = best_of(&selection.trials);
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
fn best_of(trials: &[Trial]) -> Trial {
    let mut best = trials[0];
    for t in trials {
        let smaller = (t.lambda, t.gamma) < (best.lambda, best.gamma);
        if t.correct > best.correct || (t.correct == best.correct && smaller) {
            best = *t;
        }
    }
    best
}

/// One inner fold: what is made once from its training rows, and its validation rows.
struct Part<T> {
    ready: T,
    test: Samples,
}

fn inner_parts<T: Send>(
    samples: &Samples,
    prepare: &(dyn Fn(&Samples) -> Result<T> + Sync),
    folds: usize,
) -> Result<Vec<Part<T>>> {
    let fold = inner_folds(samples, folds);
    (0..folds)
        .into_par_iter()
        .map(|f| {
            let rows = |keep: &dyn Fn(usize) -> bool| -> Vec<usize> {
                (0..samples.n_rows()).filter(|&m| keep(m)).collect()
            };
            let train = subset(samples, &rows(&|m| fold[m] != f))?;
            let test = rows(&|m| fold[m] == f);
            // A fold whose other rows are all of one class can tell nothing.
            if test.is_empty() || require_two_classes(&train).is_err() {
                return Ok(None);
            }
            Ok(Some(Part { ready: prepare(&train)?, test: subset(samples, &test)? }))
        })
        .filter_map(Result::transpose)
        .collect()
}

/// Fold of each row: the rows of each class in order are dealt to the folds in turn, the next class goes on
/// where the last one stopped; unlabelled rows come last.
pub fn inner_folds(samples: &Samples, folds: usize) -> Vec<usize> {
    let class = samples.column(0);
    let mut order: Vec<usize> = (0..samples.n_rows()).collect();
    order.sort_by_key(|&m| class.get(m).unwrap_or(usize::MAX));
    let mut fold = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &m)| fold[m] = at % folds);
    fold
}

/// The given rows of the samples.
pub fn subset(samples: &Samples, rows: &[usize]) -> Result<Samples> {
    let columns: Vec<Codes> = samples.columns().iter().map(|c| c.rows(rows)).collect();
    let weights = samples.weights().map(|w| rows.iter().map(|&m| w[m]).collect());
    Samples::new(samples.card().to_vec(), columns, weights)
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
        let train = weighted(&train, params.class_weights.as_deref())?;
        let n = counts::smoothed_counts(&structure, &train, params.alpha)?;
        let problem = margin_problem(&train, &structure, n, params)?;
        Ok(MarginPart { structure, problem })
    }
}

/// Correct validation weight of every wanted point; folds run in parallel, each along rising λ.
fn score_points(
    parts: &[Part<MarginPart>],
    params: &MarginParams,
    wanted: &[(f64, Vec<f64>)],
    control: &Control,
) -> Result<Vec<Trial>> {
    let quiet = control.quiet();
    let jobs: Vec<(usize, usize)> =
        (0..wanted.len()).flat_map(|g| (0..parts.len()).map(move |p| (g, p))).collect();
    let scores: Vec<Vec<f64>> = jobs
        .par_iter()
        .map(|&(g, p)| path(&parts[p], params, wanted[g].0, &wanted[g].1, &quiet))
        .collect::<Result<_>>()?;
    let mut trials = Vec::new();
    for (g, (gamma, lambdas)) in wanted.iter().enumerate() {
        for (at, &lambda) in lambdas.iter().enumerate() {
            let own = jobs.iter().zip(&scores).filter(|((job, _), _)| *job == g);
            trials.push(Trial { lambda, gamma: *gamma, correct: own.map(|(_, s)| s[at]).sum() });
        }
    }
    control.check()?;
    Ok(trials)
}

/// Validation scores along λ for one γ, each fit started from the last.
fn path(
    part: &Part<MarginPart>,
    params: &MarginParams,
    gamma: f64,
    lambdas: &[f64],
    control: &Control,
) -> Result<Vec<f64>> {
    let at = MarginParams { gamma, ..params.for_search() };
    let MarginPart { structure, problem } = &part.ready;
    let base: MarginLoss = at.loss(structure.n_classes());
    let mut problem = problem.clone();
    let mut last: Option<Solution> = None;
    let mut scores: Vec<f64> = Vec::with_capacity(lambdas.len());
    for &lambda in lambdas {
        control.check()?;
        problem.loss = base.with_lambda(lambda);
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

/// The point with the most correct validation rows over the inner folds; ties to the first. `prepare` makes
/// of training rows what all points need, `fit` learns from that.
pub fn select_point<P: Copy + Sync, T: Send + Sync, M: Scores>(
    samples: &Samples,
    prepare: &(dyn Fn(&Samples) -> Result<T> + Sync),
    points: &[P],
    folds: usize,
    fit: &(dyn Fn(&T, &P) -> Result<M> + Sync),
    control: &Control,
) -> Result<P> {
    let Some(&first) = points.first() else {
        return Err(Error::data("there are no values to choose from", "give at least one"));
    };
    if points.len() == 1 {
        return Ok(first);
    }
    let parts = inner_parts(samples, prepare, folds)?;
    let score = |point: &P| -> Result<f64> {
        let of_part = |part: &Part<T>| {
            control.check()?;
            correct(&fit(&part.ready, point)?, &part.test)
        };
        Ok(parts.par_iter().map(of_part).collect::<Result<Vec<f64>>>()?.iter().sum())
    };
    let scores: Vec<f64> = points.iter().map(score).collect::<Result<_>>()?;
    Ok(points[argmax(&scores)])
}

/// Weight of the labelled rows classified right.
fn correct(model: &impl Scores, test: &Samples) -> Result<f64> {
    let joint = model.log_joint(&test.columns()[1..])?;
    let k = test.card()[0];
    let right = |m: &usize| test.column(0).get(*m) == Some(argmax(&joint[m * k..(m + 1) * k]));
    Ok((0..test.n_rows()).filter(right).map(|m| test.weight(m)).sum())
}

/// The temperature T that gives posteriors `∝ exp(S_c / T)` the smallest log loss on inner validation rows;
/// the decisions do not depend on it. `fit` learns a network from training rows.
pub fn calibrate<M: Scores>(
    samples: &Samples,
    folds: usize,
    fit: &(dyn Fn(&Samples) -> Result<M> + Sync),
) -> Result<f64> {
    require("inner folds", folds, "at least 2", folds >= 2)?;
    let fold = inner_folds(samples, folds);
    let held_out = |f: usize| -> Result<(Samples, Vec<f64>)> {
        let rows = |inside: bool| -> Vec<usize> {
            (0..samples.n_rows()).filter(|&m| (fold[m] == f) == inside).collect()
        };
        let test = subset(samples, &rows(true))?;
        let joint = fit(&subset(samples, &rows(false))?)?.log_joint(&test.columns()[1..])?;
        Ok((test, joint))
    };
    let present: Vec<usize> = (0..folds).filter(|f| fold.contains(f)).collect();
    let parts: Vec<(Samples, Vec<f64>)> = present.into_par_iter().map(held_out).collect::<Result<_>>()?;
    Ok(best_temperature(&parts, samples.card()[0]))
}

/// The calibrating temperature by five inner folds; 1, with a warning, where the folds lack a class.
pub fn calibrated<M: Scores>(
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

/// Root of the derivative of the log loss in β = 1/T, which is monotone: bisection on ln β.
fn best_temperature(parts: &[(Samples, Vec<f64>)], k: usize) -> f64 {
    // d/dβ Σ s (β S_own − lse β S) = Σ s (S_own − E_β S), falling in β.
    let slope = |beta: f64| -> f64 {
        let mut total = 0.0;
        for (test, joint) in parts {
            for (m, scores) in joint.chunks_exact(k).enumerate() {
                let Some(own) = test.column(0).get(m) else { continue };
                let scaled: Vec<f64> = scores.iter().map(|s| beta * s).collect();
                let lse = log_sum_exp(&scaled);
                let p = scaled.iter().map(|s| (s - lse).exp());
                let mean: f64 = p.zip(scores).filter(|(p, _)| *p > 0.0).map(|(p, s)| p * s).sum();
                if scores[own].is_finite() {
                    total += test.weight(m) * (scores[own] - mean);
                }
            }
        }
        total
    };
    let (mut low, mut high) = (-7.0f64, 3.0f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slope(middle.exp()) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (-0.5 * (low + high)).exp()
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
    require("inner folds", folds, "at least 2", folds >= 2)?;
    let prepare = |rows: &Samples| Ok((rows.clone(), learn(rows)?));
    let parts = inner_parts(samples, &prepare, folds)?;
    if parts.is_empty() {
        return Ok(params.max_iterations);
    }
    let quiet = control.quiet();
    let curves: Vec<Vec<f64>> = parts
        .par_iter()
        .map(|part| {
            let mut curve = Vec::new();
            let (train, structure) = &part.ready;
            let normaliser = Normaliser::new(structure)?;
            fit_watched(train, structure, params, &quiet, |_, free| {
                let mut w = match params.form {
                    Form::Exact => free.to_vec(),
                    Form::Tables => table_softmax(structure, free),
                };
                normaliser.normalise(&mut w)?;
                curve.push(correct(&Network::new(structure.clone(), w)?, &part.test)?);
                Ok(())
            })?;
            Ok(curve)
        })
        .collect::<Result<_>>()?;
    let at = |curve: &[f64], t: usize| curve.get(t).or(curve.last()).copied().unwrap_or(0.0);
    let total = |t: usize| curves.iter().map(|c| at(c, t)).sum::<f64>();
    let mut best = (0, total(0));
    for t in 1..=params.max_iterations {
        let value = total(t);
        if value > best.1 {
            best = (t, value);
        }
    }
    Ok(best.0)
}
