//! From labelled rows to a classifier: class networks from the moments of each class, then discriminative learning,
//! then, where asked for, the machine on Fisher vectors. Options left open are chosen by inner cross-validation first.

mod rows;
mod select;

use crate::discriminative::{KlParams, Labelled, MmParams, fit_kl, fit_mm};
use crate::fisher::{FisherMachine, FisherRows, Information, fisher_kernel, plain_weight};
use crate::missing::{Conditional, expected_moments, patterns};
use crate::moments::Moments;
use crate::network::{GaussianNetwork, VARIANCE_FLOOR};
use crate::params::{Decision, GaussianParams, Learning, Priors, SlackWeight, StructureMethod, Variance};
use crate::predict::GaussianClassifier;
use crate::structure::{Constraints, HParams, Method, OrParams, SearchParams, StructureFit, fit_fused};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::softmax;
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::Training;
use rows::Rows;
use std::collections::BTreeMap;

/// A fitted classifier with how it came about.
#[derive(Debug, Clone)]
pub struct GaussianFit {
    /// The classifier.
    pub classifier: GaussianClassifier,
    /// Options chosen by inner cross-validation.
    pub chosen: BTreeMap<String, f64>,
    /// How the structure solver of each class, the discriminative solver and the machine ended, in this order.
    pub reports: Vec<SolverReport>,
}

/// Fits a Gaussian classifier.
pub fn fit(training: &Training<'_>, params: &GaussianParams, control: &Control) -> Result<GaussianFit> {
    params.check()?;
    let (features, rows) = Rows::new(training)?;
    if !params.tiny_classes {
        require_two_rows(training)?;
    }
    if let Some(known) = &params.constraints {
        require_len("nodes of the constraints", rows.x.cols(), known.nodes())?;
    }
    let choice = select::choose(&rows, params, control)?;
    let mut fitted = fit_rows(&rows, &choice.settings, control)?;
    if let (Some(machine), Some(unseen)) = (&mut fitted.machine, &choice.unseen) {
        machine.calibrate(unseen, &rows.class, &rows.weights);
    }
    let classifier = GaussianClassifier::new(features, fitted.networks, fitted.prior, fitted.machine)?;
    Ok(GaussianFit { classifier, chosen: choice.chosen, reports: fitted.reports })
}

/// Refuses a class of one row; one without rows is no class of these rows.
fn require_two_rows(training: &Training<'_>) -> Result<()> {
    let rows = training.class_rows();
    match rows.iter().position(|n| *n == 1.0) {
        Some(c) => Err(training.too_few_rows(c, rows[c], "its network needs 2")),
        None => Ok(()),
    }
}

/// Settings with nothing left to choose.
#[derive(Debug, Clone)]
struct Settings {
    pub params: GaussianParams,
    pub lambda1: f64,
    pub free: usize,
    pub nu: f64,
    pub c: SlackWeight,
}

/// What is fitted to encoded rows.
struct FittedRows {
    pub networks: Vec<GaussianNetwork>,
    /// Prior of each class; 0 for a class without rows.
    pub prior: Vec<f64>,
    pub machine: Option<FisherMachine>,
    pub reports: Vec<SolverReport>,
}

impl FittedRows {
    /// Scores of a row: log joint, or the decision values of the machine (not calibrated).
    pub fn scores(&self, row: &[f64]) -> Result<Vec<f64>> {
        match &self.machine {
            Some(machine) => machine.decision(&self.networks, row),
            None => {
                let missing: Vec<bool> = row.iter().map(|v| v.is_nan()).collect();
                let score = |(g, p): (&GaussianNetwork, &f64)| {
                    let density = if missing.contains(&true) {
                        Conditional::new(g, &missing)?.log_density(row)
                    } else {
                        g.log_density(row)
                    };
                    Ok(density + p.ln())
                };
                self.networks.iter().zip(&self.prior).map(score).collect()
            }
        }
    }
}

fn fit_rows(rows: &Rows, settings: &Settings, control: &Control) -> Result<FittedRows> {
    let class = ClassModels::learn(rows, settings, control)?;
    let moved = class.discriminate(rows, settings, control)?;
    moved.decide(rows, &class, settings)
}

/// The networks of the classes before discriminative learning: what λ1 decides.
struct ClassModels {
    networks: Vec<GaussianNetwork>,
    prior: Vec<f64>,
    /// The rows without missing cells, where something is learnt from them after the networks.
    complete: Option<Matrix>,
    reports: Vec<SolverReport>,
}

impl ClassModels {
    pub fn learn(rows: &Rows, settings: &Settings, control: &Control) -> Result<Self> {
        let params = &settings.params;
        let prior = priors(rows, params.priors);
        let (networks, reports) = class_networks(rows, settings, control)?;
        let needs_rows = params.learning != Learning::Generative || params.decision != Decision::Network;
        let complete = needs_rows.then(|| completed(rows, &networks, &prior)).transpose()?;
        Ok(ClassModels { networks, prior, complete, reports })
    }

    /// The classifier by the likelihoods of these networks.
    pub fn as_they_are(&self) -> FittedRows {
        let (networks, prior) = (self.networks.clone(), self.prior.clone());
        FittedRows { networks, prior, machine: None, reports: self.reports.clone() }
    }

    /// Makes the networks discriminate, where asked for, and prepares the Fisher vectors of the machine.
    pub fn discriminate(&self, rows: &Rows, settings: &Settings, control: &Control) -> Result<MovedModels> {
        let Some(x) = &self.complete else {
            return Ok(MovedModels { networks: self.networks.clone(), fisher: None, report: None });
        };
        let (networks, report) = discriminate(rows, x, &self.networks, settings, control)?;
        let data = Labelled { x, class: &rows.class, weights: &rows.weights, networks: &networks };
        let fisher = match settings.params.decision {
            Decision::Network => None,
            Decision::FisherSvm(components) => {
                Some(FisherRows::new(&data, components, settings.params.information)?)
            }
        };
        Ok(MovedModels { networks, fisher, report })
    }
}

/// The networks after discriminative learning: what k, ν and, for KL, C decide.
struct MovedModels {
    networks: Vec<GaussianNetwork>,
    fisher: Option<FisherRows>,
    report: Option<SolverReport>,
}

impl MovedModels {
    /// Trains the machine, where there is one.
    pub fn decide(&self, rows: &Rows, class: &ClassModels, settings: &Settings) -> Result<FittedRows> {
        let mut reports = class.reports.clone();
        reports.extend(self.report.clone());
        let mut machine = None;
        if let (Some(x), Some(fisher)) = (&class.complete, &self.fisher) {
            let networks = &self.networks;
            let data = Labelled { x, class: &rows.class, weights: &rows.weights, networks };
            let (trained, report) = FisherMachine::train(&data, fisher, settings.c)?;
            reports.push(report);
            machine = Some(trained);
        }
        Ok(FittedRows { networks: self.networks.clone(), prior: class.prior.clone(), machine, reports })
    }
}

fn priors(rows: &Rows, priors: Priors) -> Vec<f64> {
    let weight: Vec<f64> = (0..rows.classes).map(|c| rows.class_weight(c)).collect();
    let share: Vec<f64> = match priors {
        Priors::Empirical => weight,
        Priors::Equal => weight.iter().map(|w| if *w > 0.0 { 1.0 } else { 0.0 }).collect(),
    };
    let total: f64 = share.iter().sum();
    share.iter().map(|s| s / total).collect()
}

/// One network per class. A class with less than two rows, where allowed or left by inner folds, gets independent nodes
/// around its row with variance 1.
fn class_networks(
    rows: &Rows,
    settings: &Settings,
    control: &Control,
) -> Result<(Vec<GaussianNetwork>, Vec<SolverReport>)> {
    let m = rows.x.cols();
    let mut found: Vec<Option<(Moments, StructureFit)>> = Vec::new();
    for c in 0..rows.classes {
        let (x, weights) = rows.of_class(c);
        if weights.iter().sum::<f64>() < 2.0 {
            found.push(None);
            continue;
        }
        let learn = |moments: &Moments| {
            let fit = learn_structure(moments, settings, control)?;
            GaussianNetwork::from_structure(&fit, moments.rows(), &moments.variance())
        };
        let (moments, settled) = expected_moments(&x, &weights, control, learn)?;
        let mut fit = learn_structure(&moments, settings, control)?;
        fit.report.converged &= settled;
        found.push(Some((moments, fit)));
    }
    fuse(&mut found, settings, control)?;
    let network = |(c, class): (usize, &Option<(Moments, StructureFit)>)| match class {
        Some((moments, fit)) => GaussianNetwork::from_structure(fit, moments.rows(), &moments.variance()),
        None => GaussianNetwork::new(&Matrix::zeros(m, m), first_row(&rows.of_class(c).0), vec![1.0; m]),
    };
    let networks = found.iter().enumerate().map(network).collect::<Result<Vec<_>>>()?;
    let fits = || found.iter().map(|f| f.as_ref().map(|(_, fit)| fit));
    let errors: Vec<Option<Vec<f64>>> = fits().map(|f| f.map(|f| f.squared_error.clone())).collect();
    let networks = set_variances(rows, networks, &errors, settings.params.variance)?;
    Ok((networks, fits().flatten().map(|f| f.report.clone()).collect()))
}

/// Learns two classes again with the fused penalty, where it is asked for.
fn fuse(found: &mut [Option<(Moments, StructureFit)>], settings: &Settings, control: &Control) -> Result<()> {
    let Some(gamma) = settings.params.fused else { return Ok(()) };
    require("fused", gamma, "two classes with at least 2 rows each", found.iter().flatten().count() == 2)?;
    let both: Vec<&Moments> = found.iter().flatten().map(|(moments, _)| moments).collect();
    let known = known_arcs(settings, both[0].nodes());
    let fits = fit_fused([both[0], both[1]], settings.lambda1, gamma, &known, control)?;
    found.iter_mut().flatten().zip(fits).for_each(|((_, old), new)| *old = new);
    Ok(())
}

fn known_arcs(settings: &Settings, nodes: usize) -> Constraints {
    settings.params.constraints.clone().unwrap_or_else(|| Constraints::none(nodes))
}

fn first_row(x: &Matrix) -> Vec<f64> {
    let value = |j: usize| if x.rows() > 0 && !x[(0, j)].is_nan() { x[(0, j)] } else { 0.0 };
    (0..x.cols()).map(value).collect()
}

fn learn_structure(moments: &Moments, settings: &Settings, control: &Control) -> Result<StructureFit> {
    let params = &settings.params;
    let lambda1 = settings.lambda1;
    let method = match params.structure {
        StructureMethod::Or => Method::Or(OrParams::new(lambda1)),
        StructureMethod::H => Method::H(HParams { lambda1, column_order: None }),
        StructureMethod::Search => {
            Method::Search(SearchParams { penalty: params.penalty, rounds: params.rounds, seed: params.seed })
        }
    };
    Ok(method.learn(moments, &known_arcs(settings, moments.nodes()), &control.quiet())?.structure)
}

fn set_variances(
    rows: &Rows,
    networks: Vec<GaussianNetwork>,
    errors: &[Option<Vec<f64>>],
    variance: Variance,
) -> Result<Vec<GaussianNetwork>> {
    let m = rows.x.cols();
    let common = match variance {
        Variance::Ml => return Ok(networks),
        Variance::Fixed => vec![1.0; m],
        Variance::Pooled => {
            let counted = |c: &usize| errors[*c].is_some();
            let n: f64 = (0..rows.classes).filter(counted).map(|c| rows.class_weight(c)).sum();
            let total = |j: usize| errors.iter().flatten().map(|e| e[j]).sum::<f64>();
            // Columns have variance 1 over all rows.
            (0..m).map(|j| if n > 0.0 { (total(j) / n).max(VARIANCE_FLOOR) } else { 1.0 }).collect()
        }
    };
    networks.iter().map(|g| g.with_variance(common.clone())).collect()
}

/// Missing cells replaced by their means given the observed ones, averaged over the classes with the posterior: the
/// label is not used, so training rows are completed as new rows would be.
fn completed(rows: &Rows, networks: &[GaussianNetwork], prior: &[f64]) -> Result<Matrix> {
    let mut x = rows.x.clone();
    for group in patterns(&rows.x).iter().filter(|g| g.missing.contains(&true)) {
        let conditionals: Vec<Conditional<'_>> =
            networks.iter().map(|g| Conditional::new(g, &group.missing)).collect::<Result<_>>()?;
        for &a in &group.rows {
            let row = rows.x.row(a);
            let mut share: Vec<f64> =
                conditionals.iter().zip(prior).map(|(c, p)| c.log_density(row) + p.ln()).collect();
            softmax(&mut share);
            let mut filled = vec![0.0; row.len()];
            for (conditional, s) in conditionals.iter().zip(&share).filter(|(_, s)| **s > 0.0) {
                filled.iter_mut().zip(conditional.complete(row)).for_each(|(f, v)| *f += s * v);
            }
            for j in (0..row.len()).filter(|&j| group.missing[j]) {
                x[(a, j)] = filled[j];
            }
        }
    }
    Ok(x)
}

/// KL-SGBN or MM-SGBN on complete rows x, with how the solver ended.
fn discriminate(
    rows: &Rows,
    x: &Matrix,
    networks: &[GaussianNetwork],
    settings: &Settings,
    control: &Control,
) -> Result<(Vec<GaussianNetwork>, Option<SolverReport>)> {
    let data = Labelled { x, class: &rows.class, weights: &rows.weights, networks };
    let slack = settings.params.slack;
    let end = match settings.params.learning {
        Learning::Generative => return Ok((networks.to_vec(), None)),
        Learning::Mm => {
            let mm = MmParams { free: settings.free, slack, nu: settings.nu, solver: settings.params.solver };
            fit_mm(&data, &mm, &control.quiet())?
        }
        Learning::Kl => {
            let c = match settings.c {
                SlackWeight::Plain(c) => c,
                scaled => {
                    plain_weight(scaled, &fisher_kernel(networks, x, Information::Identity), &rows.weights)
                }
            };
            fit_kl(&data, &KlParams { free: settings.free, slack, c }, &control.quiet())?
        }
    };
    Ok((end.networks, Some(end.report)))
}
