//! ML-BN-SVM from labelled rows and rows without class label. Responsibilities `r_{uc} = P(c | z_u; w)` of the
//! unlabelled rows and a fit of problem (11) with `τ r_{uc} φ_c(z_u)` added to the counts alternate; such
//! counts are consistent (Eq. 7), so every step is convex with a unique normalised solution. Missing
//! features are completed in the same rounds.

use super::completion::{CompletionParams, complete, fit_incomplete};
use super::ml_bn_svm::{MarginFit, MarginParams, finish, margin_problem, require_two_classes};
use super::solve::solve;
use crate::inference::log_joint_rows;
use crate::{Network, Samples, Structure, counts};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_data::table::Codes;

/// Settings of a semi-supervised fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SemiParams {
    /// Weight τ in [0, 1] of unlabelled rows in the counts; 0 is the supervised fit.
    pub tau: f64,
    /// Rounds.
    pub max_rounds: usize,
    /// Stops when no responsibility changes by more.
    pub tolerance: f64,
}

impl Default for SemiParams {
    fn default() -> Self {
        SemiParams { tau: 0.5, max_rounds: 100, tolerance: 1e-6 }
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
    params.check()?;
    require("tau", semi.tau, "a number in [0, 1]", (0.0..=1.0).contains(&semi.tau))?;
    let (known, unknown) = split(samples.column(0));
    if known.is_empty() {
        return Err(Error::data("no row has a class label", "label some rows of each class"));
    }
    let labelled = samples.rows(&known)?;
    require_two_classes(&labelled)?;
    let completion = CompletionParams::default();
    let mut fit = fit_incomplete(&labelled, structure, params, &completion, &control.quiet())?.fit;
    if unknown.is_empty() || semi.tau == 0.0 {
        return Ok(fit);
    }
    let unlabelled = samples.rows(&unknown)?;
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
        let guessed = without_gaps(expand(&unlabelled, &responsibility)?, &fit.network)?;
        let mut n = counts::raw_counts(structure, &guessed)?;
        let seen = counts::raw_counts(structure, &own)?;
        n.iter_mut().zip(&seen).for_each(|(n, seen)| *n = semi.tau * annealed * *n + seen);
        counts::smooth(structure, &mut n, params.alpha);
        let problem = margin_problem(&own, structure, n, params)?;
        let solution = solve(&problem, Some(fit.network.w().into()), &params.settings(), &control.quiet())?;
        fit = finish(structure, &problem, solution)?;
        last = Some(responsibility);
    }
    Ok(fit)
}

/// The rows themselves if complete, else their completions under the network.
fn without_gaps(rows: Samples, network: &Network) -> Result<Samples> {
    if rows.has_missing() { Ok(complete(&rows, network, &CompletionParams::default())?.0) } else { Ok(rows) }
}

/// Numbers of the rows with and without a label.
pub(crate) fn split(class: &Codes) -> (Vec<usize>, Vec<usize>) {
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
fn expand(rows: &Samples, responsibility: &[f64]) -> Result<Samples> {
    let k = rows.card()[0];
    let n = rows.n_rows();
    let source: Vec<usize> = (0..n).flat_map(|m| std::iter::repeat_n(m, k)).collect();
    let mut columns = vec![Codes::from_options(k, (0..n * k).map(|i| Some(i % k)))];
    columns.extend(rows.columns()[1..].iter().map(|c| c.rows(&source)));
    let weights = (0..n * k).map(|i| rows.weight(i / k) * responsibility[i]).collect();
    Samples::new(rows.card().to_vec(), columns, Some(weights))
}
