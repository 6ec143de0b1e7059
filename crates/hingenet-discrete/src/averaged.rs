//! Averaged one-dependence networks as a classifier (`aode`): codes a table, averages the members' joint
//! probabilities, and is exact with missing features because every member is.

use super::aode::{AveragedNetworks, fit_aode_margin, fit_aode_ml, one_dependence};
use super::em::{EmParams, fit_em};
use super::explain::{largest_first, leave_one_out};
use super::fit::{DiscreteParams, StructureKind, code_columns, prepare};
use super::margin::completion::{CompletionParams, fit_incomplete};
use super::margin::select::{calibrated, select_point};
use super::margin::{MarginParams, completed};
use super::shared_tables::fit_shared_tables;
use super::{Network, Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_base::numeric::log::log_normalise;
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::{Classifier, Explanation, Training};
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::{Codes, Table};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Feature states, member networks and temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct AveragedClassifier {
    coders: Vec<FeatureCoder>,
    networks: AveragedNetworks,
    temperature: f64,
    report: Option<SolverReport>,
}

/// How the members learn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MemberRule {
    /// Maximum likelihood.
    MaximumLikelihood,
    /// With margins; what is absent is chosen by inner cross-validation of the average.
    MlBnSvm {
        /// Who has the tables.
        tables: MemberTables,
        /// Weight of the slacks.
        lambda: Option<f64>,
        /// Required log margin.
        gamma: Option<f64>,
    },
}

/// Who has the tables that the margin trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberTables {
    /// Pairs of features, for all members together, by the margin of the average; where training cells are missing as
    /// [`MemberTables::Own`].
    Shared,
    /// Each member, by its own margin: convex, with a certificate.
    Own,
}

/// Values tried for λ and γ, ascending, and inner folds: the average is less sensitive than one network.
const LAMBDA: [f64; 4] = [0.0, 0.25, 1.0, 4.0];
const GAMMA: [f64; 2] = [1.0, 5.0];
const FOLDS: usize = 3;

impl AveragedClassifier {
    /// Joins the parts; refuses coders that do not fit the networks and parameters that are not normalised.
    pub fn new(
        coders: Vec<FeatureCoder>,
        networks: AveragedNetworks,
        temperature: f64,
        report: Option<SolverReport>,
    ) -> Result<Self> {
        let positive = temperature.is_finite() && temperature > 0.0;
        require("temperature", temperature, "a finite number > 0", positive)?;
        let first = networks.members()[0].structure().n_classes();
        for network in networks.members() {
            let card = network.structure().card();
            require_len("feature coders", card.len() - 1, coders.len())?;
            require_len("classes of a member", first, card[0])?;
            for (i, coder) in coders.iter().enumerate() {
                coder.check()?;
                require_len(&format!("states of feature {i}"), card[i + 1], coder.n_states())?;
            }
            let finite = network.w().iter().all(|w| !w.is_nan() && *w < f64::INFINITY);
            let error = if finite { network.normalisation_error() } else { f64::INFINITY };
            require("sum of a probability table row (log)", error, "0", error < 1e-6)?;
        }
        Ok(AveragedClassifier { coders, networks, temperature, report })
    }

    /// States of the features.
    pub fn coders(&self) -> &[FeatureCoder] {
        &self.coders
    }

    /// The member networks.
    pub fn networks(&self) -> &AveragedNetworks {
        &self.networks
    }

    /// Temperature of the posterior.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// How the solvers ended: the worst of the members.
    pub fn report(&self) -> Option<&SolverReport> {
        self.report.as_ref()
    }

    /// `log P(c, observed cells)`, K values a row.
    pub fn log_joint(&self, rows: &Table) -> Result<Vec<f64>> {
        self.networks.log_joint_rows(&code_columns(&self.coders, rows)?)
    }

    fn posterior(&self, columns: &[Codes]) -> Result<Vec<f64>> {
        let mut scores = self.networks.log_joint_rows(columns)?;
        for row in scores.chunks_exact_mut(self.n_classes()) {
            row.iter_mut().for_each(|s| *s /= self.temperature);
            if log_normalise(row) == f64::NEG_INFINITY {
                // A row that every class makes impossible says nothing: all classes alike.
                row.fill(-(row.len() as f64).ln());
            }
        }
        Ok(scores)
    }
}

impl Classifier for AveragedClassifier {
    fn n_classes(&self) -> usize {
        self.networks.members()[0].structure().n_classes()
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        self.posterior(&code_columns(&self.coders, rows)?)
    }

    /// For each observed feature what the log posterior gains by it.
    fn explain(&self, rows: &Table, row: usize) -> Result<Explanation> {
        if row >= rows.n_rows() {
            return Err(Error::Shape { what: "rows".into(), expected: row + 1, found: rows.n_rows() });
        }
        let coded = code_columns(&self.coders, &rows.rows(&[row]))?;
        let state: Vec<Option<usize>> = coded.iter().map(|c| c.get(0)).collect();
        let n_states = |i: usize| self.coders[i].n_states();
        leave_one_out(&state, n_states, self.n_classes(), |columns| self.posterior(columns))
            .map(largest_first)
    }
}

/// Fits the average; missing cells by EM or completion-EM inside every member.
pub fn fit_averaged(
    training: &Training<'_>,
    alpha: f64,
    rule: MemberRule,
    control: &Control,
) -> Result<(AveragedClassifier, BTreeMap<String, f64>)> {
    let params = DiscreteParams::new(StructureKind::NaiveBayes).alpha(alpha);
    let prepared = prepare(training, &params, control)?;
    let samples = &prepared.samples;
    let mut chosen = BTreeMap::new();
    let mut temperature = 1.0;
    let (networks, report) = match rule {
        MemberRule::MaximumLikelihood if samples.has_missing() => {
            em_members(samples, alpha, params.em, control)?
        }
        MemberRule::MaximumLikelihood => (fit_aode_ml(samples, alpha, control)?, None),
        MemberRule::MlBnSvm { tables, lambda, gamma } => {
            let train: Train = match tables {
                MemberTables::Shared if !samples.has_missing() => shared,
                _ => each_alone,
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
            if lambda > 0.0 {
                let rough = params.for_search();
                let fit = |rows: &Samples| Ok(train(&filled(rows, alpha, control)?, &rough, control)?.0);
                temperature = calibrated(samples, &fit, control)?;
            }
            train(samples, &params, control)?
        }
    };
    Ok((AveragedClassifier::new(prepared.coders, networks, temperature, report)?, chosen))
}

fn member_params(lambda: f64, gamma: f64, alpha: f64) -> MarginParams {
    MarginParams { lambda, gamma, alpha, tolerance: 1e-4, ..MarginParams::default() }
}

type Members = (AveragedNetworks, Option<SolverReport>);

fn em_members(samples: &Samples, alpha: f64, em: EmParams, control: &Control) -> Result<Members> {
    let quiet = control.quiet();
    let member = |s: usize| fit_em(&one_dependence(samples.card(), s)?, samples, alpha, em, &quiet);
    let fits: Vec<_> = (1..samples.card().len()).into_par_iter().map(member).collect::<Result<_>>()?;
    let worst = worst(fits.iter().map(|f| f.report.clone()));
    Ok((AveragedNetworks::new(fits.into_iter().map(|f| f.network).collect())?, worst))
}

type Train = fn(&Samples, &MarginParams, &Control) -> Result<Members>;

fn shared(samples: &Samples, params: &MarginParams, control: &Control) -> Result<Members> {
    if params.lambda == 0.0 {
        return Ok((fit_aode_ml(samples, params.alpha, control)?, None));
    }
    fit_shared_tables(samples, params, &control.quiet()).map(|(networks, report)| (networks, Some(report)))
}

fn each_alone(samples: &Samples, params: &MarginParams, control: &Control) -> Result<Members> {
    let quiet = control.quiet();
    let member = |s: usize| {
        let structure = one_dependence(samples.card(), s)?;
        let fit = fit_incomplete(samples, &structure, params, &CompletionParams::default(), &quiet)?.fit;
        Ok((fit.network, fit.report))
    };
    let fits: Vec<(Network, SolverReport)> = if samples.has_missing() {
        (1..samples.card().len()).into_par_iter().map(member).collect::<Result<_>>()?
    } else {
        fit_aode_margin(samples, params, control)?.into_iter().map(|fit| (fit.network, fit.report)).collect()
    };
    let worst = worst(fits.iter().map(|f| f.1.clone()));
    Ok((AveragedNetworks::new(fits.into_iter().map(|f| f.0).collect())?, worst))
}

/// The report of the member that is furthest from its optimum.
fn worst(reports: impl Iterator<Item = SolverReport>) -> Option<SolverReport> {
    reports.max_by(|a, b| a.gap.unwrap_or(0.0).total_cmp(&b.gap.unwrap_or(0.0)))
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
        Ok(train(rows, &member_params(lambda, gamma, alpha).for_search(), control)?.0)
    };
    select_point(samples, &prepare, &points, FOLDS, &fit, control)
}
