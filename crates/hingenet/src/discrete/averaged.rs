//! Averaged one-dependence networks as a classifier (`aode`): codes a table, averages the members' joint
//! probabilities, and is exact with missing features because every member is.

use super::aode::{AveragedNetworks, fit_aode_ml, one_dependence};
use super::em::{EmParams, fit_em};
use super::fit::{DiscreteParams, StructureKind, code_columns, prepare};
use super::margin::completion::{CompletionParams, fit_incomplete};
use super::margin::select::{inner_folds, subset};
use super::margin::{MarginParams, fit_margin};
use super::{Network, Samples};
use crate::classifier::{Classifier, Explanation, ExplanationKind, SolverReport, Term, Training};
use crate::control::Control;
use crate::encode::FeatureCoder;
use crate::error::{Error, Result, require, require_len};
use crate::numeric::log::{argmax, log_normalise};
use crate::table::{Codes, Table};
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
    /// ML-BN-SVM, each member alone; what is absent is chosen by inner cross-validation of the average.
    MlBnSvm {
        /// Weight of the slacks.
        lambda: Option<f64>,
        /// Required log margin.
        gamma: Option<f64>,
    },
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
        let observed: Vec<usize> = (0..state.len()).filter(|&i| state[i].is_some()).collect();
        // The row itself, the row without each observed feature, and the row without any.
        let hidden = |i: usize| {
            let keep = |m: usize| m == 0 || (m <= observed.len() && observed[m - 1] != i);
            Codes::from_options(
                self.coders[i].n_states(),
                (0..observed.len() + 2).map(|m| state[i].filter(|_| keep(m))),
            )
        };
        let all = self.posterior(&(0..state.len()).map(hidden).collect::<Vec<_>>())?;
        let k = self.n_classes();
        let scores = |m: usize| &all[m * k..(m + 1) * k];
        let term = |(m, &feature): (usize, &usize)| Term {
            feature,
            given: Vec::new(),
            scores: scores(0)
                .iter()
                .zip(scores(m + 1))
                .map(|(a, b)| if a == b { 0.0 } else { a - b })
                .collect(),
        };
        let mut terms: Vec<Term> = observed.iter().enumerate().map(term).collect();
        let winner = argmax(scores(0));
        terms.sort_by(|a, b| {
            b.against_mean(winner)
                .abs()
                .total_cmp(&a.against_mean(winner).abs())
                .then(a.feature.cmp(&b.feature))
        });
        Ok(Explanation {
            kind: ExplanationKind::LeaveOneOut,
            base: scores(observed.len() + 1).to_vec(),
            terms,
            scores: scores(0).to_vec(),
        })
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
    let (networks, report) = match rule {
        MemberRule::MaximumLikelihood if samples.has_missing() => {
            em_members(samples, alpha, params.em, control)?
        }
        MemberRule::MaximumLikelihood => (fit_aode_ml(samples, alpha, control)?, None),
        MemberRule::MlBnSvm { lambda, gamma } => {
            let (lambda, gamma) = match (lambda, gamma) {
                (Some(lambda), Some(gamma)) => (lambda, gamma),
                _ => {
                    let best = choose(samples, alpha, lambda, gamma, control)?;
                    chosen.insert("lambda".into(), best.0);
                    chosen.insert("gamma".into(), best.1);
                    best
                }
            };
            margin_members(samples, &member_params(lambda, gamma, alpha), control)?
        }
    };
    Ok((AveragedClassifier::new(prepared.coders, networks, 1.0, report)?, chosen))
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

fn margin_members(samples: &Samples, params: &MarginParams, control: &Control) -> Result<Members> {
    let quiet = control.quiet();
    let member = |s: usize| -> Result<(Network, SolverReport)> {
        let structure = one_dependence(samples.card(), s)?;
        let fit = if samples.has_missing() {
            fit_incomplete(samples, &structure, params, &CompletionParams::default(), &quiet)?.fit
        } else {
            fit_margin(samples, &structure, params, &quiet)?
        };
        Ok((fit.network, fit.report))
    };
    let fits: Vec<_> = (1..samples.card().len()).into_par_iter().map(member).collect::<Result<_>>()?;
    let worst = worst(fits.iter().map(|f| f.1.clone()));
    Ok((AveragedNetworks::new(fits.into_iter().map(|f| f.0).collect())?, worst))
}

/// The report of the member that is furthest from its optimum.
fn worst(reports: impl Iterator<Item = SolverReport>) -> Option<SolverReport> {
    reports.max_by(|a, b| a.gap.unwrap_or(0.0).total_cmp(&b.gap.unwrap_or(0.0)))
}

/// λ and γ with the most correct validation rows of the average; ties to the smaller λ, then γ.
fn choose(
    samples: &Samples,
    alpha: f64,
    lambda: Option<f64>,
    gamma: Option<f64>,
    control: &Control,
) -> Result<(f64, f64)> {
    let lambdas = lambda.map_or(LAMBDA.to_vec(), |l| vec![l]);
    let gammas = gamma.map_or(GAMMA.to_vec(), |g| vec![g]);
    // λ = 0 is maximum likelihood whatever γ: tried once.
    let points: Vec<(f64, f64)> = lambdas
        .iter()
        .flat_map(|&l| gammas.iter().take(if l == 0.0 { 1 } else { gammas.len() }).map(move |&g| (l, g)))
        .collect();
    let fold = inner_folds(samples, FOLDS);
    let mut scores = vec![0.0; points.len()];
    for f in (0..FOLDS).filter(|f| fold.contains(f)) {
        let rows = |inside: bool| (0..fold.len()).filter(|&m| (fold[m] == f) == inside).collect::<Vec<_>>();
        let (train, test) = (subset(samples, &rows(false))?, subset(samples, &rows(true))?);
        for (score, &(lambda, gamma)) in scores.iter_mut().zip(&points) {
            control.check()?;
            let (networks, _) = margin_members(&train, &member_params(lambda, gamma, alpha), control)?;
            let joint = networks.log_joint_rows(&test.columns()[1..])?;
            let k = samples.card()[0];
            let right = |m: &usize| test.column(0).get(*m) == Some(argmax(&joint[m * k..(m + 1) * k]));
            *score += (0..test.n_rows()).filter(right).map(|m| test.weight(m)).sum::<f64>();
        }
    }
    Ok(points[argmax(&scores)])
}
