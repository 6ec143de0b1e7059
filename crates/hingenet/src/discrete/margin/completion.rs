//! ML-BN-SVM from rows with missing features (completion-EM) and from rows without class label
//! (semi-supervised). Both alternate between weights of completed rows under the present network and a fit
//! of problem (11) on the weighted rows: expected counts are consistent (Eq. 7) and positive, so every
//! step is convex with a unique normalised solution.

use super::fit::{MarginFit, MarginParams, finish, margin_problem, require_two_classes, weighted};
use super::problem::Problem;
use super::solve::solve;
use crate::control::Control;
use crate::discrete::em::{EmParams, fit_em};
use crate::discrete::inference::{Inference, log_joint_rows};
use crate::discrete::{Network, Samples, Structure, counts};
use crate::error::{Error, Result, require};
use crate::numeric::log::{log_sum_exp, softmax};
use crate::numeric::random::Random;
use crate::table::Codes;
use rayon::prelude::*;

/// Settings of completion-EM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompletionParams {
    /// Rounds of completing and fitting.
    pub max_rounds: usize,
    /// Stops when the monitored objective falls by less than this share of its size.
    pub tolerance: f64,
    /// Rows with at most this many completions are completed exactly, the others by draws.
    pub exact_up_to: usize,
    /// Draws of a row completed by sampling.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for CompletionParams {
    fn default() -> Self {
        CompletionParams { max_rounds: 30, tolerance: 1e-6, exact_up_to: 64, draws: 16, seed: 0 }
    }
}

/// A fit with missing values, and the objective after each round.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionFit {
    /// The fit of the last useful round.
    pub fit: MarginFit,
    /// `J(w) = −Σ s log P(c, x_o) − Σ α/(r H) w + λ Σ E_q h_R`; it never rises along the list.
    pub trace: Vec<f64>,
}

/// Learns from labelled rows with missing features. For λ = 0 this is EM.
pub fn fit_incomplete(
    samples: &Samples,
    structure: &Structure,
    params: &MarginParams,
    completion: &CompletionParams,
    control: &Control,
) -> Result<CompletionFit> {
    params.check(structure.n_classes())?;
    require("alpha", params.alpha, "above 0 with missing cells", params.alpha > 0.0)?;
    if samples.column(0).n_missing() > 0 {
        return Err(Error::data("a class label is missing", "use a semi-supervised fit"));
    }
    let samples = weighted(samples, params.class_weights.as_deref())?;
    require_two_classes(&samples)?;
    let mut network =
        fit_em(structure, &samples, params.alpha, EmParams::default(), &control.quiet())?.network;
    let mut trace: Vec<f64> = Vec::new();
    let mut kept: Option<MarginFit> = None;
    let mut latest: Option<MarginFit> = None;
    for round in 0..=completion.max_rounds {
        control.progress("completion-EM", round, completion.max_rounds)?;
        let (rows, log_likelihood) = complete(&samples, &network, completion)?;
        let n = counts::smoothed_counts(structure, &rows, params.alpha)?;
        let problem = margin_problem(&rows, structure, n, params)?;
        if let Some(fit) = latest.take() {
            let value = monitored(&problem, &network, structure, params.alpha, log_likelihood);
            let last = trace.last().copied();
            if last.is_some_and(|last| value > last) {
                break;
            }
            trace.push(value);
            kept = Some(fit);
            if last.is_some_and(|last| last - value <= completion.tolerance * value.abs()) {
                break;
            }
        }
        let start = (round > 0).then(|| network.w());
        let solution = solve(&problem, start, &params.settings(), &control.quiet())?;
        let fit = finish(structure, &problem, solution)?;
        network = fit.network.clone();
        latest = Some(fit);
    }
    match kept.or(latest) {
        Some(fit) => Ok(CompletionFit { fit, trace }),
        None => Err(Error::Numeric { method: "completion-EM".into(), problem: "no round was run".into() }),
    }
}

/// The objective that the rounds must not raise.
fn monitored(
    problem: &Problem,
    network: &Network,
    structure: &Structure,
    alpha: f64,
    log_likelihood: f64,
) -> f64 {
    let mut share = vec![0.0; structure.n_entries()];
    counts::smooth(structure, &mut share, alpha);
    let prior: f64 = share.iter().zip(network.w()).map(|(a, w)| a * w).sum();
    problem.rows.loss(&problem.rows.gather(network.w()), &problem.loss) - log_likelihood - prior
}

/// A completed row and its weight.
type Completed = (Vec<usize>, f64);

/// Every row with its completions, weighted by `s_m P(x_u | c_m, x_o)`, and `Σ s_m log P(c_m, x_o)`.
pub fn complete(samples: &Samples, network: &Network, params: &CompletionParams) -> Result<(Samples, f64)> {
    let inference = Inference::new(network);
    let parts: Vec<(Vec<Completed>, f64)> = (0..samples.n_rows())
        .into_par_iter()
        .map(|m| {
            let evidence: Vec<Option<usize>> = samples.columns().iter().map(|c| c.get(m)).collect();
            complete_row(network, &inference, &evidence, samples.weight(m), m, params)
        })
        .collect::<Result<_>>()?;
    let log_likelihood = parts.iter().map(|(_, l)| l).sum();
    let rows: Vec<&Completed> = parts.iter().flat_map(|(rows, _)| rows).collect();
    Ok((to_samples(samples.card(), &rows)?, log_likelihood))
}

fn to_samples(card: &[usize], rows: &[&Completed]) -> Result<Samples> {
    let column = |i: usize| Codes::from_options(card[i], rows.iter().map(|(row, _)| Some(row[i])));
    let weights = rows.iter().map(|(_, weight)| *weight).collect();
    Samples::new(card.to_vec(), (0..card.len()).map(column).collect(), Some(weights))
}

fn complete_row(
    network: &Network,
    inference: &Inference<'_>,
    evidence: &[Option<usize>],
    weight: f64,
    m: usize,
    params: &CompletionParams,
) -> Result<(Vec<Completed>, f64)> {
    let missing: Vec<usize> = (0..evidence.len()).filter(|&i| evidence[i].is_none()).collect();
    let card = network.structure().card();
    let count = missing.iter().fold(1.0, |p, &i| p * card[i] as f64);
    let mut row: Vec<usize> = evidence.iter().map(|s| s.unwrap_or(0)).collect();
    if count > params.exact_up_to as f64 {
        let log_evidence = inference.log_evidence(evidence)?;
        let sampler = inference.sampler(evidence)?;
        // The same stream in every round: the objective then changes with the parameters only.
        let mut random = Random::stream(params.seed, m as u64);
        let share = weight / params.draws as f64;
        let drawn = (0..params.draws).map(|_| (sampler.draw(&mut random), share)).collect();
        return Ok((drawn, weight * log_evidence));
    }
    let mut rows = Vec::with_capacity(count as usize);
    let mut logs = Vec::with_capacity(count as usize);
    for _ in 0..count as usize {
        logs.push(network.log_joint(|i| row[i]));
        rows.push(row.clone());
        // Next combination of the missing states.
        for &i in &missing {
            row[i] += 1;
            if row[i] < card[i] {
                break;
            }
            row[i] = 0;
        }
    }
    let log_evidence = softmax(&mut logs);
    Ok((rows.into_iter().zip(logs.into_iter().map(|p| weight * p)).collect(), weight * log_evidence))
}

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

/// Learns from labelled rows and rows without class label; features must be complete.
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
    let rows: (Vec<usize>, Vec<usize>) =
        (0..samples.n_rows()).partition(|&m| samples.column(0).get(m).is_some());
    if rows.0.is_empty() {
        return Err(Error::data("no row has a class label", "label some rows of each class"));
    }
    let labelled = weighted(&super::select::subset(samples, &rows.0)?, params.class_weights.as_deref())?;
    require_two_classes(&labelled)?;
    let supervised = super::fit::fit_margin(
        &labelled,
        structure,
        &MarginParams { class_weights: None, ..params.clone() },
        &control.quiet(),
    )?;
    if rows.1.is_empty() || semi.tau == 0.0 {
        return Ok(supervised);
    }
    let unlabelled = super::select::subset(samples, &rows.1)?;
    let own = counts::raw_counts(structure, &labelled)?;
    let mut fit = supervised;
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
        let guessed = expand(&unlabelled, &responsibility, semi.tau * annealed)?;
        let mut n = counts::raw_counts(structure, &guessed)?;
        n.iter_mut().zip(&own).for_each(|(n, own)| *n += own);
        counts::smooth(structure, &mut n, params.alpha);
        let margins = if semi.margin_tau > 0.0 {
            joined(&labelled, &expand(&unlabelled, &responsibility, semi.margin_tau * annealed)?)?
        } else {
            labelled.clone()
        };
        let problem = margin_problem(&margins, structure, n, params)?;
        let solution = solve(&problem, Some(fit.network.w()), &params.settings(), &control.quiet())?;
        fit = finish(structure, &problem, solution)?;
        last = Some(responsibility);
    }
    Ok(fit)
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

fn joined(a: &Samples, b: &Samples) -> Result<Samples> {
    let card = a.card();
    let column = |i: usize| Codes::from_options(card[i], a.column(i).iter().chain(b.column(i).iter()));
    let weights = (0..a.n_rows()).map(|m| a.weight(m)).chain((0..b.n_rows()).map(|m| b.weight(m)));
    Samples::new(card.to_vec(), (0..card.len()).map(column).collect(), Some(weights.collect()))
}
