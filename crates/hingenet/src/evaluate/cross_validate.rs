//! Fits and tests models: cross-validation or a pair of training and test rows. Everything that is learnt
//! is learnt on the training part of each split; splits run in parallel and are collected in order.

use super::metrics::{self, Predicted};
use super::{Plan, TestRows, TrainingPieces, classes, curve, folds, interval, missing};
use crate::model::{Dataset, FitOptions, Gaps, Model, ModelSpec, Predictions, RowLikelihood, fit};
use crate::report::{BalancedError, FoldAccuracy, MissingPoint, ModelResult, RowPrediction, TermResult};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_base::numeric::log::{argmax, log_normalise};
use hingenet_base::numeric::random::Random;
use hingenet_base::solver::SolverReport;
use hingenet_data::rows::{categories_of, check_weights, split_weights};
use hingenet_data::select::folds::split;
use hingenet_data::table::{Codes, Column, Table, UnseenPolicy};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

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
    /// Numbers of training rows of a learning curve, ascending; empty to fit on all rows of each training part. All other
    /// figures are those of the largest number.
    pub rows: Vec<usize>,
    /// Time of each fit ([`FitOptions::max_time`]).
    pub max_time: Option<Duration>,
    /// What missing cells of test rows mean. Where cells are blanked too, they mean nothing.
    pub gaps: Gaps,
}

impl Default for Protocol {
    fn default() -> Self {
        Protocol {
            folds: 5,
            repeats: 1,
            seed: 0,
            missing: Vec::new(),
            rows: Vec::new(),
            max_time: None,
            gaps: Gaps::default(),
        }
    }
}

impl Protocol {
    /// Refuses numbers outside their ranges.
    pub fn check(&self) -> Result<()> {
        require("folds", self.folds, "at least 2", self.folds >= 2)?;
        require("repeats", self.repeats, "at least 1", self.repeats >= 1)?;
        curve::check(&self.rows)?;
        self.missing.iter().try_for_each(|rate| missing::check_rate(*rate))
    }
}

/// The rows that are tested, and when: every model is tested on the same rows with the same cells blanked.
pub(super) struct Splits<'a> {
    train: Cow<'a, Dataset>,
    /// What to fit to instead, if not all training rows are at hand.
    pieces: Option<TrainingPieces<'a>>,
    /// Place of each tested row of a cross-validation among the rows to fit on; empty for rows from elsewhere.
    places: Vec<usize>,
    /// Rows to fit on that have no class: they join every training part.
    unlabelled: Vec<usize>,
    /// The tested rows. In a cross-validation they are the rows to fit on that have a class and a weight above zero.
    pub tested: Cow<'a, TestSet>,
    /// Fold of each tested row, repeat by repeat; all 0 for rows from elsewhere.
    pub folds: Vec<Vec<usize>>,
    /// Folds of a cross-validation; 1 for rows from elsewhere.
    n_folds: usize,
    protocol: &'a Protocol,
    /// Name of each row: its position in content order, or in the file.
    ids: Vec<usize>,
    /// Row of the file that each tested row is, from 0.
    pub rows: Vec<usize>,
    /// Rows to fit on, split by split, in the order in which a learning curve takes them; empty without one.
    taken: Vec<Vec<usize>>,
}

/// What one model achieved.
pub(super) struct Outcome {
    /// The figures.
    pub result: ModelResult,
    /// `log P(c | row)` of every row while it was a test row, K values a row, one list a repeat.
    pub log_proba: Vec<Vec<f64>>,
    /// The same before calibration, where a fit calibrated its probabilities.
    pub uncalibrated: Option<Vec<Vec<f64>>>,
    /// The figures of each split.
    pub parts: Vec<Part>,
    /// The model of the first split.
    pub first: Option<Model>,
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

/// How the fits of one run differ from those of another.
#[derive(Clone, Copy)]
struct Fitted<'a> {
    /// Rows that each fit is given; none for all of its training part.
    rows: Option<usize>,
    /// Shares of test cells to blank.
    rates: &'a [f64],
}

/// What a fitted model is tested on.
struct Tested<'a> {
    rows: &'a TestSet,
    /// Names of the rows.
    ids: &'a [usize],
    repeat: usize,
    /// Shares of cells to blank.
    rates: &'a [f64],
}

impl<'a> Splits<'a> {
    /// Draws stratified folds (all rows of a group in one fold, when groups are given), or takes the rows from elsewhere.
    /// The order of the rows does not matter.
    pub fn new(data: &'a Dataset, tested: TestRows<'a>, protocol: &'a Protocol) -> Result<Self> {
        protocol.check()?;
        let mut splits = match tested {
            TestRows::Folds(groups) => Self::of_folds(data, groups.map(|g| &g.group[..]), protocol)?,
            TestRows::Set(test) | TestRows::Pieces(test, _) => Splits {
                train: Cow::Borrowed(data),
                pieces: match tested {
                    TestRows::Pieces(_, pieces) => Some(pieces),
                    _ => None,
                },
                places: Vec::new(),
                unlabelled: without_class(data),
                tested: Cow::Borrowed(test),
                folds: vec![vec![0; test.class.len()]],
                n_folds: 1,
                protocol,
                ids: (0..test.class.len()).collect(),
                rows: (0..test.class.len()).collect(),
                taken: Vec::new(),
            },
        };
        if !protocol.rows.is_empty() {
            splits.draw()?;
        }
        Ok(splits)
    }

    /// Draws the rows of a learning curve in every split.
    fn draw(&mut self) -> Result<()> {
        if self.pieces.is_some() {
            let problem = "a learning curve needs its training rows at hand, and these come in pieces";
            return Err(Error::data(problem, "leave out the numbers of rows, or allow more memory"));
        }
        let (train, content) = (&self.train, self.train.content_order());
        let counts = |m: &usize| train.weights.as_ref().is_none_or(|w| w[*m] > 0.0);
        let class = |m: usize| train.class.get(m).unwrap_or_default();
        let labelled = |m: &usize| train.class.get(*m).is_some();
        let one = |s: usize| {
            let (repeat, fold) = (s / self.n_folds, s % self.n_folds);
            let mut is_tested = vec![false; train.n_rows()];
            let folds = self.places.iter().zip(&self.folds[repeat]);
            folds.for_each(|(&m, f)| is_tested[m] = *f == fold);
            let may_be_drawn = |m: &usize| labelled(m) && counts(m) && !is_tested[*m];
            let rows: Vec<usize> = content.iter().copied().filter(may_be_drawn).collect();
            // the rows of a draw have nothing to do with the cells that are blanked
            let seed = !repeat_seed(self.protocol.seed, repeat);
            let order = curve::order(&rows, class, Random::stream(seed, fold as u64).bits());
            curve::check_part(&self.protocol.rows, &order, class, &train.classes)?;
            Ok(order)
        };
        self.taken = (0..self.n_splits()).map(one).collect::<Result<_>>()?;
        Ok(())
    }

    /// Splits of all repeats together.
    fn n_splits(&self) -> usize {
        self.n_folds * self.folds.len()
    }

    fn of_folds(data: &'a Dataset, groups: Option<&[usize]>, protocol: &'a Protocol) -> Result<Self> {
        let kept: Vec<usize> =
            (0..data.n_rows()).filter(|&m| data.weights.as_ref().is_none_or(|w| w[m] > 0.0)).collect();
        let train =
            if kept.len() == data.n_rows() { Cow::Borrowed(data) } else { Cow::Owned(data.rows(&kept)) };
        let unlabelled = without_class(&train);
        if groups.is_some() && !unlabelled.is_empty() {
            return Err(Error::data(
                "rows without a class cannot be learnt from where groups stay together",
                "such a row may belong to a group that is tested: leave out the groups, or rows without a class",
            ));
        }
        // place among the rows to fit on, and class, of each tested row
        let (places, class): (Vec<usize>, Vec<usize>) =
            train.class.iter().enumerate().filter_map(|(m, c)| Some((m, c?))).unzip();
        let groups: Option<Vec<usize>> = groups.map(|g| places.iter().map(|&m| g[kept[m]]).collect());
        let mut index = vec![None; train.n_rows()];
        places.iter().enumerate().for_each(|(i, &m)| index[m] = Some(i));
        let order: Vec<usize> = train.content_order().into_iter().filter_map(|m| index[m]).collect();
        let folds_of = |repeat: usize| {
            let seed = repeat_seed(protocol.seed, repeat);
            let fold = match &groups {
                None => folds::stratified(&class, &order, protocol.folds, seed)?,
                Some(group) => folds::grouped(&class, group, protocol.folds, seed)?,
            };
            check_training_classes(&train, &class, &fold, protocol.folds)?;
            Ok(fold)
        };
        let folds = (0..protocol.repeats).map(folds_of).collect::<Result<Vec<_>>>()?;
        let mut ids = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &m)| ids[m] = rank);
        let rows = places.iter().map(|&m| kept[m]).collect();
        let tested = TestSet {
            features: if unlabelled.is_empty() {
                train.features.clone()
            } else {
                train.features.rows(&places)
            },
            class,
            weights: train.weights.as_ref().map(|w| places.iter().map(|&m| w[m]).collect()),
        };
        let (tested, n_folds, taken) = (Cow::Owned(tested), protocol.folds, Vec::new());
        Ok(Splits {
            train,
            pieces: None,
            places,
            unlabelled,
            tested,
            folds,
            n_folds,
            protocol,
            ids,
            rows,
            taken,
        })
    }

    /// Tells which rows of their file the rows are that may be tested.
    pub fn name_rows(&mut self, plan: &Plan, numbers: &[usize]) -> Result<()> {
        let n_rows = match plan.tested {
            TestRows::Folds(_) => plan.data.n_rows(),
            TestRows::Set(test) | TestRows::Pieces(test, _) => test.class.len(),
        };
        require_len("row_numbers", n_rows, numbers.len())?;
        self.rows.iter_mut().for_each(|row| *row = numbers[*row]);
        Ok(())
    }

    /// Number of classes K.
    pub fn n_classes(&self) -> usize {
        self.train.classes.len()
    }

    /// Their names.
    pub fn classes(&self) -> &[String] {
        &self.train.classes
    }

    /// Test rows for each training row of a split, as the test between models wants it.
    pub fn test_to_train(&self) -> f64 {
        match self.protocol.rows.last() {
            Some(&rows) => self.tested.class.len() as f64 / self.n_folds as f64 / rows as f64,
            None => 1.0 / (self.n_folds as f64 - 1.0).max(1.0),
        }
    }

    /// Fits and tests one model on every split, with all rows of the training parts or the largest number of a learning
    /// curve.
    pub fn run(&self, spec: &ModelSpec, control: &Control) -> Result<Outcome> {
        let rows = self.protocol.rows.last().copied();
        self.run_with(spec, Fitted { rows, rates: &self.protocol.missing }, control)
    }

    /// What one model achieves with a smaller number of rows; no cells are blanked.
    pub fn run_at(&self, spec: &ModelSpec, rows: usize, control: &Control) -> Result<ModelResult> {
        Ok(self.run_with(spec, Fitted { rows: Some(rows), rates: &[] }, control)?.result)
    }

    fn run_with(&self, spec: &ModelSpec, fitted: Fitted, control: &Control) -> Result<Outcome> {
        let name = spec.to_string();
        let (parts, first) = match self.n_folds {
            1 => {
                let train = match fitted.rows {
                    None => Cow::Borrowed(self.train.as_ref()),
                    Some(rows) => Cow::Owned(self.train.rows(&self.first_rows(0, rows))),
                };
                let tested = Tested { rows: &self.tested, ids: &self.ids, repeat: 0, rates: fitted.rates };
                let (part, model) = self.fit_and_test(spec, &train, &tested, control)?;
                (vec![part], Some(model))
            }
            _ => self.run_folds(spec, fitted, control)?,
        };
        let uncalibrated: Option<Vec<&[f64]>> = parts.iter().map(|p| p.uncalibrated.as_deref()).collect();
        let log_proba = self.in_row_order(parts.iter().map(|p| p.log_proba.as_slice()));
        let mut result = summarise(name, fitted.rates, &parts, self.n_folds);
        let repeats: Vec<Predicted> =
            log_proba.iter().map(|l| self.tested.predicted(l, self.n_classes())).collect();
        result.classes = classes::against_the_rest(&self.train.classes, &result.confusion, &repeats);
        Ok(Outcome {
            result,
            log_proba,
            uncalibrated: uncalibrated.map(|lists| self.in_row_order(lists.into_iter())),
            parts,
            first,
        })
    }

    /// The answer to every tested row, repeat by repeat.
    pub fn predictions(&self, outcome: &Outcome, classes: &[String]) -> Vec<RowPrediction> {
        let several = self.folds.len() > 1;
        let one = |repeat: usize, m: usize, row: &[f64]| RowPrediction {
            row: self.rows[m] + 1,
            repeat: several.then_some(repeat + 1),
            fold: self.folds[repeat][m] + 1,
            class: classes[self.tested.class[m]].clone(),
            answer: classes[argmax(row)].clone(),
            probabilities: row.iter().map(|l| l.exp()).collect(),
        };
        let rows = |(repeat, list): (usize, &'_ Vec<f64>)| {
            list.chunks(classes.len()).enumerate().map(|(m, row)| one(repeat, m, row)).collect::<Vec<_>>()
        };
        outcome.log_proba.iter().enumerate().flat_map(rows).collect()
    }

    /// The rows that the first split tests.
    pub fn first_tested(&self) -> Table {
        let rows: Vec<usize> = (0..self.tested.class.len()).filter(|&m| self.folds[0][m] == 0).collect();
        self.tested.features.rows(&rows)
    }

    fn run_folds(
        &self,
        spec: &ModelSpec,
        fitted: Fitted,
        control: &Control,
    ) -> Result<(Vec<Part>, Option<Model>)> {
        let name = &match fitted.rows {
            None => spec.to_string(),
            Some(rows) => format!("{spec} of {rows} rows"),
        };
        let (done, total) = (Arc::new(AtomicUsize::new(0)), self.n_splits());
        control.progress(name, 0, total)?;
        let inside = nested(control, name, &done, total);
        let split = |s: usize| {
            let repeat = s / self.n_folds;
            let (train, test) = split(&self.folds[repeat], s % self.n_folds);
            let all = || self.with_unlabelled(train.iter().map(|&m| self.places[m]).collect());
            let train = fitted.rows.map_or_else(all, |rows| self.first_rows(s, rows));
            let rows = TestSet {
                features: self.tested.features.rows(&test),
                class: test.iter().map(|&m| self.tested.class[m]).collect(),
                weights: self.tested.weights.as_ref().map(|w| test.iter().map(|&m| w[m]).collect()),
            };
            let ids: Vec<usize> = test.iter().map(|&m| self.ids[m]).collect();
            let tested = Tested { rows: &rows, ids: &ids, repeat, rates: fitted.rates };
            let found = self.fit_and_test(spec, &self.train.rows(&train), &tested, &inside)?;
            control.progress(name, done.fetch_add(1, Ordering::Relaxed) + 1, total)?;
            Ok((found.0, (s == 0).then_some(found.1)))
        };
        let found = (0..total).into_par_iter().map(split).collect::<Result<Vec<(Part, Option<Model>)>>>()?;
        let (parts, models): (Vec<Part>, Vec<Option<Model>>) = found.into_iter().unzip();
        Ok((parts, models.into_iter().flatten().next()))
    }

    /// The rows of split `s` that a fit with so many rows of known class is given, ascending.
    fn first_rows(&self, s: usize, rows: usize) -> Vec<usize> {
        self.with_unlabelled(self.taken[s][..rows].to_vec())
    }

    /// The rows and those without a class, ascending.
    fn with_unlabelled(&self, mut rows: Vec<usize>) -> Vec<usize> {
        rows.extend(&self.unlabelled);
        rows.sort_unstable();
        rows
    }

    /// Puts the probabilities of the test parts back to the rows they belong to.
    fn in_row_order<'p>(&self, parts: impl Iterator<Item = &'p [f64]>) -> Vec<Vec<f64>> {
        let (n, k) = (self.tested.class.len(), self.n_classes());
        let mut repeats = vec![vec![0.0; n * k]; self.folds.len()];
        for (s, part) in parts.enumerate() {
            let (repeat, fold) = (s / self.n_folds, s % self.n_folds);
            let tested = (0..n).filter(|&m| self.folds[repeat][m] == fold);
            for (m, values) in tested.zip(part.chunks(k)) {
                repeats[repeat][m * k..(m + 1) * k].copy_from_slice(values);
            }
        }
        repeats
    }

    /// Fits on one part and tests on another; the cells that are blanked belong to the names of the rows and the repeat.
    fn fit_and_test(
        &self,
        spec: &ModelSpec,
        train: &Dataset,
        tested: &Tested,
        control: &Control,
    ) -> Result<(Part, Model)> {
        let (n_classes, test) = (self.n_classes(), tested.rows);
        let (rates, seed) = (tested.rates, repeat_seed(self.protocol.seed, tested.repeat));
        let start = Instant::now();
        let max_time = self.protocol.max_time;
        let options = FitOptions { seed: self.protocol.seed, max_time, ..FitOptions::default() };
        let mut model = match self.pieces {
            Some(pieces) => pieces.table.fit(spec, options, pieces.without, control)?,
            None => fit(spec, train, options, control)?,
        };
        let fit_seconds = start.elapsed().as_secs_f64();
        model.read_gaps(self.protocol.gaps);
        let start = Instant::now();
        let log_proba = model.predict_watched(&test.features, UnseenPolicy::Missing, control)?.log_proba;
        let predict_seconds = start.elapsed().as_secs_f64();
        let mut accuracy_at = Vec::with_capacity(rates.len());
        let mut terms_at: Vec<(&'static str, Vec<f64>)> = Vec::new();
        for &rate in rates {
            let blanked = missing::blank(&test.features, tested.ids, rate, seed)?;
            // what is blanked is missing for no reason of the table's own
            model.read_gaps(if rate > 0.0 { Gaps::Unknown } else { self.protocol.gaps });
            let (whole, terms) = model.predict_terms(&blanked, UnseenPolicy::Missing, control)?;
            let accuracy =
                |p: &Predictions| metrics::accuracy(&test.predicted(&p.log_proba, n_classes).confusion());
            accuracy_at.push(accuracy(&whole));
            terms_at.resize_with(terms.len(), Default::default);
            for (slot, (name, predictions)) in terms_at.iter_mut().zip(&terms) {
                slot.0 = name;
                slot.1.push(accuracy(predictions));
            }
        }
        model.read_gaps(self.protocol.gaps);
        let predicted = test.predicted(&log_proba, n_classes);
        let part = Part {
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
            chosen: model.facts.chosen.clone(),
            warnings: model.facts.warnings.clone(),
            solver: model.facts.solver.clone(),
        };
        Ok((part, model))
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
        weights.as_ref().map_or(Ok(()), |w| check_weights(w, n_rows))?;
        Ok(TestSet { features, class, weights })
    }

    pub(super) fn predicted<'a>(&'a self, log_proba: &'a [f64], n_classes: usize) -> Predicted<'a> {
        Predicted { truth: &self.class, weights: self.weights.as_deref(), log_proba, n_classes }
    }
}

/// The figures of one split.
pub(super) struct Part {
    confusion: Vec<Vec<f64>>,
    pub log_loss: f64,
    pub brier: f64,
    pub auc: Option<f64>,
    fit_seconds: f64,
    predict_seconds: f64,
    chosen: BTreeMap<String, f64>,
    pub warnings: Vec<String>,
    accuracy_at: Vec<f64>,
    /// Accuracies of the terms of a pool, by name.
    terms_at: Vec<(&'static str, Vec<f64>)>,
    log_likelihood: Option<f64>,
    log_proba: Vec<f64>,
    uncalibrated: Option<Vec<f64>>,
    /// How the solver ended, where one ran.
    pub solver: Option<SolverReport>,
}

impl Part {
    fn term_at(&self, name: &str) -> Option<&Vec<f64>> {
        self.terms_at.iter().find(|(n, _)| *n == name).map(|(_, accuracy)| accuracy)
    }
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

fn summarise(model: String, rates: &[f64], parts: &[Part], n_folds: usize) -> ModelResult {
    let over_parts = |f: &dyn Fn(&Part) -> f64| parts.iter().map(f).collect::<Vec<f64>>();
    let accuracies = over_parts(&|p| metrics::accuracy(&p.confusion));
    let balanced = over_parts(&|p| metrics::balanced_error(&p.confusion));
    let auc: Vec<f64> = parts.iter().filter_map(|p| p.auc).collect();
    let mut confusion = parts[0].confusion.clone();
    for part in &parts[1..] {
        let cells = confusion.iter_mut().flatten().zip(part.confusion.iter().flatten());
        cells.for_each(|(sum, n)| *sum += n);
    }
    let repeats = (parts.len() / n_folds) as f64;
    let rows = confusion.iter().flatten().sum::<f64>() / repeats;
    let share = |folds: &[f64]| interval::of_folds(folds, n_folds, rows);
    let curve = |of: &dyn Fn(&Part, usize) -> f64| -> Vec<MissingPoint> {
        let point = |(r, rate): (usize, &f64)| {
            let folds = over_parts(&|p| of(p, r));
            let interval = share(&folds);
            MissingPoint { rate: *rate, accuracy: metrics::mean(&folds), ci95: interval.half(), interval }
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
        accuracy: FoldAccuracy {
            mean: metrics::mean(&accuracies),
            ci95: share(&accuracies).half(),
            interval: share(&accuracies),
            folds: accuracies,
        },
        balanced_error: BalancedError {
            mean: metrics::mean(&balanced),
            interval: interval::of_folds(&balanced, n_folds, metrics::balanced_rows(&confusion) / repeats),
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
        classes: Vec::new(),
        predictions: Vec::new(),
    }
}

/// What a step inside a fold says, told as news of the folds: which are done, and what the others are at.
fn nested(control: &Control, name: &str, done: &Arc<AtomicUsize>, total: usize) -> Control {
    let (outer, name, done) = (control.clone(), name.to_string(), done.clone());
    control.clone().on_progress(move |inner| {
        let steps = if inner.total > 0 { format!(" {}/{}", inner.done, inner.total) } else { String::new() };
        // whether to stop is asked where the step is
        let _ =
            outer.progress(&format!("{name}: {}{steps}", inner.stage), done.load(Ordering::Relaxed), total);
    })
}

/// The rows that have no class.
fn without_class(data: &Dataset) -> Vec<usize> {
    data.class.iter().enumerate().filter(|(_, class)| class.is_none()).map(|(m, _)| m).collect()
}

fn repeat_seed(seed: u64, repeat: usize) -> u64 {
    Random::stream(seed, repeat as u64).bits()
}

fn class_error(target: &str, m: usize, problem: &str) -> Error {
    let hint = "test rows need one of the classes of the training file";
    Error::row(m, format!("column `{target}`: the test row {problem}"), hint)
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
