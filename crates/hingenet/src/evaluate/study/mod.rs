//! The whole of an evaluation report as one call: runs the models, then looks at every single prediction
//! and at the rows. Only the report's page shows all of this; the figures themselves are those of
//! [`compare`](super::compare).

mod columns;
mod curves;
mod difference;
mod findings;
mod mistakes;
pub(super) mod paired;
mod reliability;
mod signed_ranks;
mod verdict;

use super::TestSet;
use super::compare::{Plan, Ran, TestRows, run};
use super::cross_validate::Splits;
use crate::model::Model;
use crate::report::{
    Curve, Evaluation, EvaluationReport, Importance, MissingPoint, ModelResult, ModelStudy, Reproduction,
    TradeOff,
};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_data::table::Table;
use paired::Tests;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Curves of this many classes and models together have all their points; more share them.
const FULL_CURVES: usize = 40;

/// Evaluates as [`compare`](super::compare) does and adds what the page of the evaluation shows.
pub fn study(plan: &Plan, control: &Control) -> Result<EvaluationReport> {
    let ran = run(plan, control)?;
    let evaluation = ran.evaluation(plan);
    let pooled = pooled(&ran.splits);
    let tests = Tests::new(&ran, &evaluation);
    let differences = tests.pairs();
    let verdict = verdict::verdict(&evaluation, tests.majority, &differences, &tests.against_the_majority());
    let headlines = verdict::headlines(&ran.outcomes[verdict.best], &evaluation.protocol, &pooled);
    let unseen = match plan.tested {
        TestRows::Folds(_) => findings::unseen_in_folds(&ran.splits.tested.features, &ran.splits.folds[0]),
        TestRows::Set(test) | TestRows::Pieces(test, _) => {
            findings::unseen_in_test(&plan.data.features, &test.features)
        }
    };
    let parts = ran.outcomes.iter().flat_map(|o| &o.parts);
    let warnings: BTreeSet<String> = parts.flat_map(|p| p.warnings.clone()).collect();
    let tested = ran.splits.first_tested();
    let importance = |model: &Model| Importance::of(model, &tested, plan.protocol.seed, control);
    let importance = ran.outcomes[verdict.best].first.as_ref().map(importance).transpose()?;
    Ok(EvaluationReport {
        importance,
        models: models(&ran, &pooled),
        trade_offs: trade_offs(&evaluation),
        verdict,
        headlines,
        differences,
        findings: findings::findings(plan.data, unseen),
        reproduction: Reproduction {
            command: None,
            seed: plan.protocol.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            warnings: warnings.into_iter().collect(),
        },
        evaluation,
    })
}

/// The swept models, each as one curve; empty when nothing was swept.
fn trade_offs(evaluation: &Evaluation) -> Vec<TradeOff> {
    let mut found: Vec<TradeOff> = Vec::new();
    for point in &evaluation.sweep {
        let option = format!(",{}={}", point.key, point.value);
        let model = point.model.replacen(&option, "", 1);
        match found.iter_mut().find(|t| t.model == model && t.key == point.key) {
            Some(trade_off) => trade_off.points.push(point.clone()),
            None => found.push(TradeOff { model, key: point.key.clone(), points: vec![point.clone()] }),
        }
    }
    found
}

impl EvaluationReport {
    /// Adds the curve of an option that was swept on the same rows.
    pub fn add_trade_off(&mut self, swept: &Evaluation) {
        self.evaluation.sweep.extend(swept.sweep.iter().cloned());
        self.trade_offs = trade_offs(&self.evaluation);
    }
}

/// True classes and weights of all tested rows, repeat by repeat.
fn pooled(splits: &Splits) -> TestSet {
    let (tested, repeats) = (&splits.tested, splits.folds.len());
    TestSet {
        features: Table::without_columns(0),
        class: tested.class.repeat(repeats),
        weights: tested.weights.as_ref().map(|w| w.repeat(repeats)),
    }
}

fn models(ran: &Ran, pooled: &TestSet) -> Vec<ModelStudy> {
    let (n_classes, repeats) = (ran.splits.n_classes(), ran.splits.folds.len());
    let predicted = |log_proba| pooled.predicted(log_proba, n_classes);
    let answers: Vec<Vec<f64>> = ran.outcomes.iter().map(|o| o.log_proba.concat()).collect();
    let margins: Vec<Vec<(f64, f64)>> =
        answers.par_iter().map(|a| reliability::margins(&predicted(a))).collect();
    let edges = reliability::margin_edges(&margins);
    let curves = (ran.outcomes.len() * n_classes).max(1);
    let points = (curves::MAX_POINTS * FULL_CURVES / curves).clamp(30, curves::MAX_POINTS);
    let mistakes: Vec<Vec<usize>> = (0..ran.outcomes.len()).map(|i| mistakes::wrong(ran, i)).collect();
    let listed = (mistakes::MOST / ran.outcomes.len().max(1)).clamp(20, 100);
    let model = |i: usize| {
        let (outcome, predicted) = (&ran.outcomes[i], predicted(&answers[i]));
        let uncalibrated = outcome.uncalibrated.as_ref().map(|u| u.concat());
        ModelStudy {
            model: outcome.result.model.clone(),
            rates: rates(&outcome.result.confusion),
            classes: (0..n_classes).map(|c| curves::class_curves(&predicted, c, points)).collect(),
            reliability: reliability::reliability(&predicted, repeats),
            uncalibrated: uncalibrated
                .map(|u| reliability::reliability(&pooled.predicted(&u, n_classes), repeats)),
            margins: reliability::margin_histogram(&margins[i], &edges),
            n_mistakes: mistakes[i].len(),
            mistakes: mistakes::worst(ran, i, &mistakes[i], listed),
            missing: missing_curve(&outcome.result),
            missing_parts: missing_parts(&outcome.result),
            solvers: outcome.parts.iter().filter_map(|p| p.solver.clone()).collect(),
        }
    };
    (0..ran.outcomes.len()).into_par_iter().map(model).collect()
}

/// Each row of a confusion table divided by its sum.
fn rates(confusion: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let row = |row: &Vec<f64>| {
        let total: f64 = row.iter().sum();
        row.iter().map(|n| if total > 0.0 { n / total } else { 0.0 }).collect()
    };
    confusion.iter().map(row).collect()
}

/// Accuracy by share of blanked cells, from none on.
fn missing_curve(result: &ModelResult) -> Option<Curve> {
    let mut points = result.missing.clone();
    if points.is_empty() {
        return None;
    }
    if points.iter().all(|p| p.rate > 0.0) {
        let accuracy = &result.accuracy;
        points.push(MissingPoint {
            rate: 0.0,
            accuracy: accuracy.mean,
            ci95: accuracy.ci95,
            interval: accuracy.interval,
        });
    }
    Some(curve_of(result.model.clone(), points))
}

fn missing_parts(result: &ModelResult) -> Vec<Curve> {
    result.terms.iter().map(|term| curve_of(format!("term {}", term.name), term.missing.clone())).collect()
}

fn curve_of(name: String, mut points: Vec<MissingPoint>) -> Curve {
    points.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    Curve {
        name,
        points: points.iter().map(|p| (p.rate, p.accuracy)).collect(),
        band: points.iter().map(|p| (p.interval.low, p.interval.high)).collect(),
    }
}
