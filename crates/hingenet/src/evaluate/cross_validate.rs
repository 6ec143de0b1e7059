//! Fits and tests models: cross-validation or a pair of training and test rows. Everything that is learnt
//! is learnt on the training part of each split; splits run in parallel and are collected in order.

use super::folds;
use super::metrics::{self, Predicted};
use super::missing;
use crate::model::{Dataset, FitOptions, Model, ModelSpec, Predictions, RowLikelihood, fit};
use crate::report::{BalancedError, DataFacts, FoldAccuracy, MissingPoint, ModelResult, TermResult};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::log::log_normalise;
use hingenet_base::numeric::random::Random;
use hingenet_base::solver::SolverReport;
use hingenet_data::rows::{categories_of, split_weights};
use hingenet_data::table::{Codes, Column, Table, UnseenPolicy};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// How to evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct Protocol {
    /// Folds of the cross-validation, at least 2.
    pub folds: usize,
    /// How often to repeat it with other folds, at least 1.
    pub repeats: usize,
    /// Seed of folds, blanked cells and fits.
    pub seed: u64,
    /// Shares of test cells to blank, each from 0 to 1.
    pub missing: Vec<f64>,
}

impl Default for Protocol {
    fn default() -> Self {
        Protocol { folds: 5, repeats: 1, seed: 0, missing: Vec::new() }
    }
}

impl Protocol {
    /// Refuses numbers outside their ranges.
    pub fn check(&self) -> Result<()> {
        require("folds", self.folds, "at least 2", self.folds >= 2)?;
        require("repeats", self.repeats, "at least 1", self.repeats >= 1)?;
        self.missing.iter().try_for_each(|rate| missing::check_rate(*rate))
    }
}

/// A data set with its splits: every model is tested on the same rows with the same cells blanked.
#[derive(Debug, Clone)]
pub struct CrossValidation {
    data: Dataset,
    protocol: Protocol,
    /// Fold of each row, repeat by repeat.
    folds: Vec<Vec<usize>>,
    class: Vec<usize>,
    /// Name of each row: its position in content order.
    ids: Vec<usize>,
}

/// What one model achieved.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The figures.
    pub result: ModelResult,
    /// `log P(c | row)` of every row while it was a test row, K values a row, one list a repeat.
    pub log_proba: Vec<Vec<f64>>,
    /// The same before calibration, where a fit calibrated its probabilities.
    pub uncalibrated: Option<Vec<Vec<f64>>>,
    /// Log-loss of each split.
    pub log_loss: Vec<f64>,
    /// Brier score of each split.
    pub brier: Vec<f64>,
    /// Area under the ROC curve of each split that has one.
    pub auc: Vec<f64>,
    /// How the solver ended in each split, where one ran.
    pub solvers: Vec<SolverReport>,
    /// Warnings of the fits, each once.
    pub warnings: Vec<String>,
}

/// Rows of known class that take no part in fitting.
#[derive(Debug, Clone, PartialEq)]
pub struct TestSet {
    /// Feature columns, found by name.
    pub features: Table,
    /// Class of each row, coded as in training.
    pub class: Vec<usize>,
    /// Sample weights, if any.
    pub weights: Option<Vec<f64>>,
}

impl CrossValidation {
    /// Draws stratified folds (all rows of a group in one fold, when groups are given). Rows of weight
    /// zero are left out. The order of the rows does not matter.
    pub fn new(data: &Dataset, groups: Option<&[usize]>, protocol: Protocol) -> Result<Self> {
        protocol.check()?;
        let kept: Vec<usize> =
            (0..data.n_rows()).filter(|&m| data.weights.as_ref().is_none_or(|w| w[m] > 0.0)).collect();
        let groups: Option<Vec<usize>> = groups.map(|g| kept.iter().map(|&m| g[m]).collect());
        let data = if kept.len() == data.n_rows() { data.clone() } else { data.rows(&kept) };
        let order = data.content_order();
        let class = class_codes(&data);
        let folds_of = |repeat: usize| {
            let seed = repeat_seed(protocol.seed, repeat);
            let fold = match &groups {
                None => folds::stratified(&class, &order, protocol.folds, seed)?,
                Some(group) => folds::grouped(&class, group, protocol.folds, seed)?,
            };
            check_training_classes(&data, &class, &fold, protocol.folds)?;
            Ok(fold)
        };
        let folds = (0..protocol.repeats).map(folds_of).collect::<Result<Vec<_>>>()?;
        let mut ids = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &m)| ids[m] = rank);
        Ok(CrossValidation { data, protocol, folds, class, ids })
    }

    /// Fits and tests one model on every split.
    pub fn run(&self, spec: &ModelSpec, control: &Control) -> Result<Outcome> {
        let name = spec.to_string();
        let (done, total) = (AtomicUsize::new(0), self.protocol.folds * self.protocol.repeats);
        control.progress(&name, 0, total)?;
        let inside = control.quiet();
        let parts = (0..total)
            .into_par_iter()
            .map(|s| {
                let part = self.run_split(spec, s / self.protocol.folds, s % self.protocol.folds, &inside)?;
                control.progress(&name, done.fetch_add(1, Ordering::Relaxed) + 1, total)?;
                Ok(part)
            })
            .collect::<Result<Vec<Part>>>()?;
        let ci95 = metrics::fold_interval(&accuracies(&parts));
        let result = summarise(name, &self.protocol.missing, &parts, ci95);
        Ok(outcome(result, &parts, |values| self.in_row_order(&values)))
    }

    /// The rows that are tested: those of positive weight.
    pub(super) fn data(&self) -> &Dataset {
        &self.data
    }

    /// Fold of each row, repeat by repeat.
    pub(super) fn folds_of_rows(&self) -> &[Vec<usize>] {
        &self.folds
    }

    fn run_split(&self, spec: &ModelSpec, repeat: usize, fold: usize, control: &Control) -> Result<Part> {
        let split = folds::split_of(&self.folds[repeat], fold);
        let train = self.data.rows(&split.train);
        let test = TestSet {
            features: self.data.features.rows(&split.test),
            class: split.test.iter().map(|&m| self.class[m]).collect(),
            weights: self.data.weights.as_ref().map(|w| split.test.iter().map(|&m| w[m]).collect()),
        };
        let ids: Vec<usize> = split.test.iter().map(|&m| self.ids[m]).collect();
        let seed = repeat_seed(self.protocol.seed, repeat);
        let masks = Masks { ids: &ids, rates: &self.protocol.missing, seed };
        fit_and_test(spec, &train, &test, masks, self.protocol.seed, control)
    }

    /// Puts the probabilities of the test parts back to the rows they belong to.
    fn in_row_order(&self, parts: &[&[f64]]) -> Vec<Vec<f64>> {
        let k = self.data.classes.len();
        let mut repeats = vec![vec![0.0; self.data.n_rows() * k]; self.protocol.repeats];
        for (s, part) in parts.iter().enumerate() {
            let (repeat, fold) = (s / self.protocol.folds, s % self.protocol.folds);
            let tested = (0..self.data.n_rows()).filter(|&m| self.folds[repeat][m] == fold);
            for (m, values) in tested.zip(part.chunks(k)) {
                repeats[repeat][m * k..(m + 1) * k].copy_from_slice(values);
            }
        }
        repeats
    }
}

impl TestSet {
    /// Takes the target (and weights) out of a table; a class that training does not know is an error.
    pub fn new(table: Table, target: &str, weights: Option<&str>, classes: &[String]) -> Result<Self> {
        let n_rows = table.n_rows();
        let (target_column, rest) = table.split_off(target)?;
        let (weights, features) = split_weights(rest, weights)?;
        let (names, codes) = categories_of(&target_column);
        let code = |m: usize| -> Result<usize> {
            let name = codes.get(m).map(|c| &names[c]);
            let name = name.ok_or_else(|| class_error(target, m, "has no class"))?;
            classes
                .iter()
                .position(|c| c == name)
                .ok_or_else(|| class_error(target, m, &format!("has class `{name}`, which training has not")))
        };
        let class = (0..n_rows).map(code).collect::<Result<Vec<usize>>>()?;
        if class.is_empty() {
            return Err(Error::data("the test file has no rows", "give at least one test row"));
        }
        Ok(TestSet { features, class, weights })
    }

    fn predicted<'a>(&'a self, log_proba: &'a [f64], n_classes: usize) -> Predicted<'a> {
        Predicted { truth: &self.class, weights: self.weights.as_deref(), log_proba, n_classes }
    }
}

/// Fits on all rows of `data` and tests on `test`; the interval is that of a binomial proportion.
pub fn train_test(
    spec: &ModelSpec,
    data: &Dataset,
    test: &TestSet,
    protocol: &Protocol,
    control: &Control,
) -> Result<Outcome> {
    protocol.check()?;
    let ids: Vec<usize> = (0..test.class.len()).collect();
    let masks = Masks { ids: &ids, rates: &protocol.missing, seed: repeat_seed(protocol.seed, 0) };
    let part = fit_and_test(spec, data, test, masks, protocol.seed, control)?;
    let correct: f64 = (0..part.confusion.len()).map(|c| part.confusion[c][c]).sum();
    let total: f64 = part.confusion.iter().flatten().sum();
    let ci95 = metrics::clopper_pearson_half_width(correct, total);
    let parts = [part];
    let result = summarise(spec.to_string(), &protocol.missing, &parts, ci95);
    Ok(outcome(result, &parts, |values| values.iter().map(|v| v.to_vec()).collect()))
}

/// The figures with what else the splits gave; `in_row_order` puts lists of the splits in row order.
fn outcome(
    result: ModelResult,
    parts: &[Part],
    in_row_order: impl Fn(Vec<&[f64]>) -> Vec<Vec<f64>>,
) -> Outcome {
    let uncalibrated: Option<Vec<&[f64]>> = parts.iter().map(|p| p.uncalibrated.as_deref()).collect();
    Outcome {
        result,
        log_proba: in_row_order(parts.iter().map(|p| p.log_proba.as_slice()).collect()),
        uncalibrated: uncalibrated.map(in_row_order),
        log_loss: parts.iter().map(|p| p.log_loss).collect(),
        brier: parts.iter().map(|p| p.brier).collect(),
        auc: parts.iter().filter_map(|p| p.auc).collect(),
        solvers: parts.iter().filter_map(|p| p.solver.clone()).collect(),
        warnings: warnings_of(parts),
    }
}

/// Size and classes of a data set.
pub fn data_facts(data: &Dataset) -> DataFacts {
    DataFacts {
        rows: data.n_rows(),
        features: data.features.n_columns(),
        classes: data.classes.clone(),
        missing_cells: data.features.n_missing(),
    }
}

/// Which cells of the test rows are blanked.
#[derive(Clone, Copy)]
struct Masks<'a> {
    ids: &'a [usize],
    rates: &'a [f64],
    seed: u64,
}

/// The figures of one split.
struct Part {
    confusion: Vec<Vec<f64>>,
    log_loss: f64,
    brier: f64,
    auc: Option<f64>,
    fit_seconds: f64,
    predict_seconds: f64,
    chosen: BTreeMap<String, f64>,
    warnings: Vec<String>,
    accuracy_at: Vec<f64>,
    /// Accuracies of the terms of a pool, by name.
    terms_at: Vec<(&'static str, Vec<f64>)>,
    log_likelihood: Option<f64>,
    log_proba: Vec<f64>,
    uncalibrated: Option<Vec<f64>>,
    solver: Option<SolverReport>,
}

impl Part {
    fn term_at(&self, name: &str) -> Option<&Vec<f64>> {
        self.terms_at.iter().find(|(n, _)| *n == name).map(|(_, accuracy)| accuracy)
    }
}

fn fit_and_test(
    spec: &ModelSpec,
    train: &Dataset,
    test: &TestSet,
    masks: Masks,
    seed: u64,
    control: &Control,
) -> Result<Part> {
    let n_classes = train.classes.len();
    let start = Instant::now();
    let model = fit(spec, train, FitOptions { seed }, control)?;
    let fit_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let log_proba = model.predict(&test.features, UnseenPolicy::Missing)?.log_proba;
    let predict_seconds = start.elapsed().as_secs_f64();
    let mut accuracy_at = Vec::with_capacity(masks.rates.len());
    let mut terms_at: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for &rate in masks.rates {
        control.check()?;
        let blanked = missing::blank(&test.features, masks.ids, rate, masks.seed)?;
        let (whole, terms) = model.predict_terms(&blanked, UnseenPolicy::Missing)?;
        let accuracy =
            |p: &Predictions| metrics::accuracy(&test.predicted(&p.log_proba, n_classes).confusion());
        accuracy_at.push(accuracy(&whole));
        terms_at.resize_with(terms.len(), Default::default);
        for (slot, (name, predictions)) in terms_at.iter_mut().zip(&terms) {
            slot.0 = name;
            slot.1.push(accuracy(predictions));
        }
    }
    let predicted = test.predicted(&log_proba, n_classes);
    Ok(Part {
        confusion: predicted.confusion(),
        log_loss: predicted.log_loss(),
        brier: predicted.brier(),
        auc: predicted.auc(),
        fit_seconds,
        predict_seconds,
        accuracy_at,
        terms_at,
        log_likelihood: mean_log_likelihood(&model, test)?,
        uncalibrated: uncalibrated(&model, &log_proba),
        log_proba,
        chosen: model.facts.chosen,
        warnings: model.facts.warnings,
        solver: model.facts.solver,
    })
}

/// Mean of `log P(class, observed features)`; none if the model is not generative or a row is impossible.
fn mean_log_likelihood(model: &Model, test: &TestSet) -> Result<Option<f64>> {
    if !model.is_generative() {
        return Ok(None);
    }
    let codes = Codes::from_options(model.classes.len(), test.class.iter().map(|c| Some(*c)));
    let class = Column::categorical(model.target.clone(), model.classes.clone(), codes);
    let columns = test.features.columns().iter().cloned().chain([class]).collect();
    let rows = model.log_likelihood(&Table::new(columns)?, UnseenPolicy::Missing)?;
    let weight = |m: usize| test.weights.as_ref().map_or(1.0, |w| w[m]);
    let total: f64 = (0..rows.len()).map(weight).sum();
    let term = |(m, row): (usize, &RowLikelihood)| weight(m) * row.joint.unwrap_or(row.features);
    let sum: f64 = rows.iter().enumerate().filter(|(m, _)| weight(*m) > 0.0).map(term).sum();
    Ok(Some(sum / total).filter(|mean| mean.is_finite()))
}

/// The probabilities before the temperature was applied, where it is not 1: `P(c | x)^T`, normalised.
fn uncalibrated(model: &Model, log_proba: &[f64]) -> Option<Vec<f64>> {
    let temperature = model.temperature().filter(|t| *t != 1.0)?;
    let mut raw: Vec<f64> = log_proba.iter().map(|l| l * temperature).collect();
    raw.chunks_mut(model.classes.len()).for_each(|row| {
        log_normalise(row);
    });
    Some(raw)
}

fn summarise(model: String, rates: &[f64], parts: &[Part], ci95: f64) -> ModelResult {
    let over_parts = |f: &dyn Fn(&Part) -> f64| parts.iter().map(f).collect::<Vec<f64>>();
    let accuracy = accuracies(parts);
    let balanced = over_parts(&|p| metrics::balanced_error(&p.confusion));
    let auc: Vec<f64> = parts.iter().filter_map(|p| p.auc).collect();
    let mut confusion = parts[0].confusion.clone();
    for part in &parts[1..] {
        let cells = confusion.iter_mut().flatten().zip(part.confusion.iter().flatten());
        cells.for_each(|(sum, n)| *sum += n);
    }
    let curve = |of: &dyn Fn(&Part, usize) -> f64| -> Vec<MissingPoint> {
        let point = |(r, rate): (usize, &f64)| {
            let folds = over_parts(&|p| of(p, r));
            MissingPoint {
                rate: *rate,
                accuracy: metrics::mean(&folds),
                ci95: metrics::fold_interval(&folds),
            }
        };
        rates.iter().enumerate().map(point).collect()
    };
    let everywhere = |name: &&'static str| parts.iter().all(|p| p.term_at(name).is_some());
    let names = parts[0].terms_at.iter().map(|(name, _)| *name).filter(everywhere);
    let accuracy_of = |p: &Part, name: &str, r: usize| p.term_at(name).map_or(0.0, |a| a[r]);
    let term = |name: &'static str| TermResult {
        name: name.to_string(),
        missing: curve(&|p, r| accuracy_of(p, name, r)),
    };
    let likelihoods: Option<Vec<f64>> = parts.iter().map(|p| p.log_likelihood).collect();
    let slacks: Option<Vec<f64>> = parts.iter().map(|p| p.solver.as_ref()?.slack).collect();
    let chosen: Vec<BTreeMap<String, f64>> = parts.iter().map(|p| p.chosen.clone()).collect();
    ModelResult {
        model,
        accuracy: FoldAccuracy { mean: metrics::mean(&accuracy), ci95, folds: accuracy },
        balanced_error: BalancedError {
            mean: metrics::mean(&balanced),
            sd: metrics::standard_deviation(&balanced),
            folds: balanced,
        },
        log_loss: metrics::mean(&over_parts(&|p| p.log_loss)),
        brier: metrics::mean(&over_parts(&|p| p.brier)),
        auc: (!auc.is_empty()).then(|| metrics::mean(&auc)),
        log_likelihood: likelihoods.map(|l| metrics::mean(&l)),
        slack: slacks.map(|s| metrics::mean(&s)),
        fit_seconds: metrics::mean(&over_parts(&|p| p.fit_seconds)),
        predict_seconds: metrics::mean(&over_parts(&|p| p.predict_seconds)),
        chosen: if chosen.iter().all(BTreeMap::is_empty) { Vec::new() } else { chosen },
        missing: curve(&|p, r| p.accuracy_at[r]),
        terms: names.map(term).collect(),
        confusion,
    }
}

fn accuracies(parts: &[Part]) -> Vec<f64> {
    parts.iter().map(|p| metrics::accuracy(&p.confusion)).collect()
}

fn warnings_of(parts: &[Part]) -> Vec<String> {
    let mut all: Vec<String> = parts.iter().flat_map(|p| p.warnings.clone()).collect();
    all.sort();
    all.dedup();
    all
}

fn class_codes(data: &Dataset) -> Vec<usize> {
    data.class.iter().map(Option::unwrap_or_default).collect()
}

fn repeat_seed(seed: u64, repeat: usize) -> u64 {
    Random::stream(seed, repeat as u64).bits()
}

fn class_error(target: &str, m: usize, problem: &str) -> Error {
    Error::column(
        target,
        format!("row {} of the test file {problem}", m + 1),
        "test rows need one of the classes of the training file",
    )
}

/// Every training part needs two classes: no fold may hold all rows outside a single class.
fn check_training_classes(data: &Dataset, class: &[usize], fold: &[usize], n_folds: usize) -> Result<()> {
    for f in 0..n_folds {
        let mut left = (0..class.len()).filter(|&m| fold[m] != f).map(|m| class[m]);
        let first = left.next();
        if left.all(|c| Some(c) == first) {
            let only = first.map_or("", |c| data.classes[c].as_str());
            return Err(Error::column(
                &data.target,
                format!("the training part of a fold has one class only (`{only}`)"),
                "give the other classes at least two rows (or two groups) each",
            ));
        }
    }
    Ok(())
}
