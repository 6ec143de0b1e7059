//! ML-BN-SVM from rows with missing features (completion-EM): weights of completed rows under the present
//! network and a fit of problem (11) on the weighted rows alternate. Expected counts are consistent (Eq. 7)
//! and positive, so every step is convex with a unique normalised solution.

use super::ml_bn_svm::{MarginFit, MarginParams, finish, fit_margin, margin_problem, require_two_classes};
use super::problem::Problem;
use super::solve::{SolveSettings, solve};
use crate::em::{EM, fit_em};
use crate::inference::Inference;
use crate::{Network, Samples, Structure, counts};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::log::softmax;
use hingenet_base::numeric::random::Random;
use hingenet_data::table::Codes;
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

impl CompletionParams {
    /// Fewer completions, for fits inside a search.
    pub fn for_search() -> Self {
        CompletionParams { exact_up_to: 16, draws: 8, ..Self::default() }
    }
}

/// Gap to which the rounds are solved at least: their counts are expectations under the last network anyway.
const ROUND_TOLERANCE: f64 = 1e-5;
/// The same for the first rounds, whose counts are far from the last ones.
const FIRST_TOLERANCE: f64 = 1e-2;
/// Fall of the objective, as a share of its size, below which rounds are no longer first ones.
const SETTLED: f64 = 1e-2;

/// A fit with missing values, and the objective after each round.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionFit {
    /// The fit of the last useful round.
    pub fit: MarginFit,
    /// `J(w) = −Σ s log P(c, x_o) − Σ α/(r H) w + λ Σ E_q h_R`; it never rises along the list.
    pub trace: Vec<f64>,
}

/// Learns from labelled rows with missing features. For λ = 0 this is EM.
///
/// Every round starts from the solution of the last. The first rounds are solved roughly, until the objective has
/// settled; those that follow never raise it.
pub fn fit_incomplete(
    samples: &Samples,
    structure: &Structure,
    params: &MarginParams,
    completion: &CompletionParams,
    control: &Control,
) -> Result<CompletionFit> {
    params.check()?;
    if samples.column(0).n_missing() > 0 {
        return Err(Error::data("a class label is missing", "use a semi-supervised fit"));
    }
    if !samples.has_missing() {
        let fit = fit_margin(samples, structure, params, control)?;
        return Ok(CompletionFit { trace: vec![fit.report.objective], fit });
    }
    require("alpha", params.alpha, "above 0 with missing cells", params.alpha > 0.0)?;
    require_two_classes(samples)?;
    let last_rounds = SolveSettings { tolerance: params.tolerance.max(ROUND_TOLERANCE), ..params.settings() };
    let first_rounds =
        SolveSettings { tolerance: params.tolerance.max(FIRST_TOLERANCE), persistent: false, ..last_rounds };
    let mut network = fit_em(structure, samples, params.alpha, EM, &control.quiet())?.network;
    let mut first = true;
    let mut last = f64::INFINITY;
    let mut trace: Vec<f64> = Vec::new();
    let mut kept: Option<MarginFit> = None;
    let mut latest: Option<MarginFit> = None;
    for round in 0..=completion.max_rounds {
        control.progress("completion-EM", round, completion.max_rounds)?;
        let (rows, log_likelihood) = complete(samples, &network, completion)?;
        let n = counts::smoothed_counts(structure, &rows, params.alpha)?;
        let problem = margin_problem(&rows, structure, n, params)?;
        if let Some(fit) = latest.take() {
            let value = monitored(&problem, &network, structure, params.alpha, log_likelihood);
            let fall = (last - value) / value.abs();
            last = value;
            if first {
                // Rough fits only lead to where the others start.
                first = fall > SETTLED && 2 * round < completion.max_rounds;
                last = if first { value } else { f64::INFINITY };
            } else {
                if fall < 0.0 {
                    break;
                }
                trace.push(value);
                kept = Some(fit);
                if fall <= completion.tolerance {
                    break;
                }
            }
        }
        let settings = if first { &first_rounds } else { &last_rounds };
        let start = (round > 0).then(|| network.w().into());
        let solution = solve(&problem, start, settings, &control.quiet())?;
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

/// The rows themselves if complete, else their weighted completions under the maximum-likelihood network.
pub(crate) fn completed(
    samples: &Samples,
    structure: &Structure,
    alpha: f64,
    control: &Control,
) -> Result<Samples> {
    if !samples.has_missing() {
        return Ok(samples.clone());
    }
    let em = fit_em(structure, samples, alpha, EM, &control.quiet())?;
    Ok(complete(samples, &em.network, &CompletionParams::for_search())?.0)
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
