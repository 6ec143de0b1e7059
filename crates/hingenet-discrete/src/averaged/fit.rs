//! Fits averaged one-dependence networks: maximum likelihood, or margins with λ and γ chosen by inner folds of
//! the average.

use super::AveragedClassifier;
use super::shared::fit_shared_tables;
use super::stars::{Stars, one_dependence};
use crate::classifier::CodedScores;
use crate::em::{EM, fit_em};
use crate::fit::select::{ClassScores, calibrated, select_point};
use crate::fit::{Prepared, prepare};
use crate::margin::MarginParams;
use crate::margin::completion::{CompletionParams, completed, fit_incomplete};
use crate::params::{DiscreteParams, MemberRule, MemberTables, StructureKind};
use crate::{Network, Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::solver::SolverReport;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use hingenet_data::table::Codes;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Values tried for λ and γ, ascending, and inner folds: the average is less sensitive than one network.
const LAMBDA: [f64; 4] = [0.0, 0.25, 1.0, 4.0];
const GAMMA: [f64; 2] = [1.0, 5.0];
const FOLDS: usize = 3;

/// Fits the average; missing cells by EM or completion-EM inside every member.
pub fn fit_averaged(
    rows: &Rows<'_>,
    alpha: f64,
    rule: MemberRule,
    control: &Control,
) -> Result<Fit<AveragedClassifier>> {
    let params = DiscreteParams::new(StructureKind::NaiveBayes).alpha(alpha);
    let Prepared { coders, samples, .. } = prepare(rows, &params, control)?;
    fit_averaged_rows(coders, &samples, alpha, rule, control)
}

/// The same for coded rows.
pub(crate) fn fit_averaged_rows(
    coders: Vec<FeatureCoder>,
    samples: &Samples,
    alpha: f64,
    rule: MemberRule,
    control: &Control,
) -> Result<Fit<AveragedClassifier>> {
    reserve_tables(samples.card(), rule, control)?;
    let mut chosen = BTreeMap::new();
    let mut temperature = 1.0;
    let (stars, reports) = match rule {
        MemberRule::MaximumLikelihood if samples.has_missing() => {
            let merged = samples.merged()?;
            each_alone(&merged, control, |structure, quiet| {
                let em = fit_em(structure, &merged, alpha, EM, quiet)?;
                Ok((em.network, em.report))
            })?
        }
        MemberRule::MaximumLikelihood => (Stars::from_rows(samples, alpha)?, vec![]),
        MemberRule::MlBnSvm { tables, lambda, gamma } => {
            let train: Train = match tables {
                MemberTables::Shared if !samples.has_missing() => shared,
                _ => own,
            };
            let (lambda, gamma) = match (lambda, gamma) {
                (Some(lambda), Some(gamma)) => (lambda, gamma),
                _ => {
                    let best = choose(samples, alpha, (lambda, gamma), train, control)?;
                    chosen.insert("lambda".into(), best.0);
                    chosen.insert("gamma".into(), best.1);
                    best
                }
            };
            let params = member_params(lambda, gamma, alpha);
            if lambda > 0.0 && control.time_is_up() {
                control.warn("the time limit left no time to calibrate the probabilities");
            } else if lambda > 0.0 {
                let rough = params.for_calibration();
                let fit = |rows: &Samples| Ok(train(&filled(rows, alpha, control)?, &rough, control)?.0);
                temperature = calibrated(samples, &fit, control)?;
            }
            train(samples, &params, control)?
        }
    };
    let model = AveragedClassifier::new(coders, stars, temperature)?;
    Ok(Fit { model, reports, chosen })
}

/// Numbers for each entry of a table of two features: of counts, their logarithms and their support for maximum likelihood;
/// for a margin the steps that L-BFGS remembers, twice 20, with its point, gradient and scale, logarithms and slopes.
const LIKELY_NUMBERS: f64 = 3.0;
const MARGIN_NUMBERS: f64 = 26.0;

/// Asks for the memory of the tables of all pairs of features, each in both directions.
fn reserve_tables(card: &[usize], rule: MemberRule, control: &Control) -> Result<()> {
    let (total, squares) = card[1..].iter().fold((0.0, 0.0), |(s, q), &r| (s + r as f64, q + (r * r) as f64));
    let entries = card[0] as f64 * (total * total - squares);
    let numbers = match rule {
        MemberRule::MaximumLikelihood => LIKELY_NUMBERS,
        MemberRule::MlBnSvm { .. } => MARGIN_NUMBERS,
    };
    let what = format!("averaging networks of {} columns", card.len() - 1);
    let hint = "leave columns out (`--ignore`), use tan:ml or nb:ml, or allow more (`--max-memory`)";
    control.reserve(8.0 * numbers * entries, what, hint)
}

fn member_params(lambda: f64, gamma: f64, alpha: f64) -> MarginParams {
    MarginParams { lambda, gamma, alpha, tolerance: 1e-4, ..MarginParams::default() }
}

type Members = (Stars, Vec<SolverReport>);

type Train = fn(&Samples, &MarginParams, &Control) -> Result<Members>;

fn shared(samples: &Samples, params: &MarginParams, control: &Control) -> Result<Members> {
    if params.lambda == 0.0 {
        return Ok((Stars::from_rows(samples, params.alpha)?, vec![]));
    }
    fit_shared_tables(samples, params, &control.quiet()).map(|(stars, report)| (stars, vec![report]))
}

fn own(samples: &Samples, params: &MarginParams, control: &Control) -> Result<Members> {
    let completion = CompletionParams::default();
    each_alone(samples, control, |structure, quiet| {
        let fit = fit_incomplete(samples, structure, params, &completion, quiet)?.fit;
        Ok((fit.network, fit.report))
    })
}

/// Fits the members one by one.
fn each_alone(
    samples: &Samples,
    control: &Control,
    fit: impl Fn(&Structure, &Control) -> Result<(Network, SolverReport)> + Sync,
) -> Result<Members> {
    let (card, quiet) = (samples.card(), control.quiet());
    let member = |s: usize| fit(&one_dependence(card, s)?, &quiet);
    let fits: Vec<_> = (1..card.len()).into_par_iter().map(member).collect::<Result<_>>()?;
    let (networks, reports): (Vec<Network>, Vec<SolverReport>) = fits.into_iter().unzip();
    Ok((Stars::from_networks(&networks)?, reports))
}

impl ClassScores for Stars {
    fn log_joint(&self, features: &[Codes]) -> Result<Vec<f64>> {
        self.log_joint_rows(features)
    }
}

impl CodedScores for Stars {
    fn card(&self) -> Vec<usize> {
        self.card()
    }

    fn require_proper(&self) -> Result<()> {
        (0..self.states().n_features()).try_for_each(|s| self.network(s)?.require_proper())
    }

    /// The scores of a row without any cell.
    fn log_prior(&self) -> Result<Vec<f64>> {
        let missing = |&r: &usize| Codes::from_options(r, std::iter::once(None));
        self.log_joint_rows(&self.card()[1..].iter().map(missing).collect::<Vec<_>>())
    }
}

/// Completions under naive Bayes, for the many fits of a search; the members of the final fit complete the
/// rows themselves.
fn filled(rows: &Samples, alpha: f64, control: &Control) -> Result<Samples> {
    completed(rows, &Structure::naive_bayes(rows.card().to_vec())?, alpha, control)
}

/// λ and γ with the most correct validation rows of the average; ties to the smaller λ, then γ.
fn choose(
    samples: &Samples,
    alpha: f64,
    (lambda, gamma): (Option<f64>, Option<f64>),
    train: Train,
    control: &Control,
) -> Result<(f64, f64)> {
    let lambdas = lambda.map_or(LAMBDA.to_vec(), |l| vec![l]);
    let gammas = gamma.map_or(GAMMA.to_vec(), |g| vec![g]);
    // λ = 0 is maximum likelihood whatever γ: tried once.
    let points: Vec<(f64, f64)> = lambdas
        .iter()
        .flat_map(|&l| gammas.iter().take(if l == 0.0 { 1 } else { gammas.len() }).map(move |&g| (l, g)))
        .collect();
    let prepare = |rows: &Samples| filled(rows, alpha, control);
    let fit = |rows: &Samples, &(lambda, gamma): &(f64, f64)| {
        Ok(train(rows, &member_params(lambda, gamma, alpha).for_calibration(), control)?.0)
    };
    select_point(samples, &prepare, &points, FOLDS, &fit, control)
}
