//! The whole of an evaluation report as one call: runs the models, then looks at every single prediction
//! and at the rows. Only the report's page shows all of this; the figures themselves are those of
//! [`compare`](super::compare).

mod curves;
mod difference;
mod findings;
mod reliability;
mod verdict;

use super::compare::{Ran, evaluation_of, run};
use super::cross_validate::Outcome;
use super::metrics::Predicted;
use super::{Protocol, Sweep, TestRows};
use crate::control::Control;
use crate::error::Result;
use crate::model::{Dataset, ModelSpec};
use crate::report::{
    Curve, Difference, Evaluation, EvaluationReport, ModelResult, ModelStudy, Reproduction, TradeOff,
    TradeOffPoint,
};
use rayon::prelude::*;

/// Curves of this many classes and models together have all their points; more share them.
const FULL_CURVES: usize = 40;

/// Evaluates as [`compare`](super::compare) does and adds what the page of the evaluation shows.
pub fn study(
    specs: &[ModelSpec],
    sweep: Option<&Sweep>,
    data: &Dataset,
    tested: TestRows,
    protocol: &Protocol,
    control: &Control,
) -> Result<EvaluationReport> {
    let ran = run(specs, sweep, data, tested, protocol, control)?;
    let evaluation = evaluation_of(&ran, sweep, data, tested, protocol);
    let pooled = Pooled::new(&ran);
    let differences = differences(&ran, &pooled, &evaluation);
    let verdict = verdict::verdict(&evaluation, &pooled.truth, pooled.weights.as_deref(), &differences);
    let headlines = verdict::headlines(&ran.outcomes[verdict.best], &pooled.truth, pooled.weights.as_deref());
    let unseen = match tested {
        TestRows::Folds(_) => findings::unseen_in_folds(&ran.rows, &ran.fold),
        TestRows::Set(test) => findings::unseen_in_test(&data.features, &test.features),
    };
    let mut warnings: Vec<String> = ran.outcomes.iter().flat_map(|o| o.warnings.clone()).collect();
    warnings.sort();
    warnings.dedup();
    Ok(EvaluationReport {
        target: data.target.clone(),
        source: String::new(),
        models: models(&ran, &pooled),
        trade_offs: trade_offs(&evaluation),
        verdict,
        headlines,
        differences,
        findings: findings::findings(data, unseen),
        reproduction: Reproduction {
            command: None,
            seed: protocol.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            warnings,
        },
        evaluation,
    })
}

/// The swept models, each as one curve; empty when nothing was swept.
pub fn trade_offs(evaluation: &Evaluation) -> Vec<TradeOff> {
    let mut found: Vec<TradeOff> = Vec::new();
    for point in &evaluation.sweep {
        let option = format!(",{}={}", point.key, point.value);
        let model = point.model.replacen(&option, "", 1);
        let next = TradeOffPoint {
            value: point.value.clone(),
            log_likelihood: point.log_likelihood,
            accuracy: point.accuracy,
            ci95: point.ci95,
        };
        match found.iter_mut().find(|t| t.model == model && t.key == point.key) {
            Some(trade_off) => trade_off.points.push(next),
            None => found.push(TradeOff { model, key: point.key.clone(), points: vec![next] }),
        }
    }
    found
}

/// True classes and weights of all tested rows, repeat by repeat.
struct Pooled {
    truth: Vec<usize>,
    weights: Option<Vec<f64>>,
    n_classes: usize,
}

impl Pooled {
    fn new(ran: &Ran) -> Self {
        let repeats = ran.outcomes.first().map_or(0, |o| o.log_proba.len());
        Pooled {
            truth: ran.truth.repeat(repeats),
            weights: ran.weights.as_ref().map(|w| w.repeat(repeats)),
            n_classes: ran.n_classes,
        }
    }

    fn predicted<'a>(&'a self, log_proba: &'a [f64]) -> Predicted<'a> {
        Predicted {
            truth: &self.truth,
            weights: self.weights.as_deref(),
            log_proba,
            n_classes: self.n_classes,
        }
    }
}

fn models(ran: &Ran, pooled: &Pooled) -> Vec<ModelStudy> {
    let answers: Vec<Vec<f64>> = ran.outcomes.iter().map(|o| o.log_proba.concat()).collect();
    let margins: Vec<Vec<(f64, f64)>> =
        answers.par_iter().map(|a| reliability::margins(&pooled.predicted(a))).collect();
    let edges = reliability::margin_edges(&margins);
    let curves = (ran.outcomes.len() * pooled.n_classes).max(1);
    let points = (curves::MAX_POINTS * FULL_CURVES / curves).clamp(30, curves::MAX_POINTS);
    let model = |i: usize| {
        let (outcome, predicted) = (&ran.outcomes[i], pooled.predicted(&answers[i]));
        let uncalibrated = outcome.uncalibrated.as_ref().map(|u| u.concat());
        ModelStudy {
            model: outcome.result.model.clone(),
            rates: rates(&outcome.result.confusion),
            classes: (0..pooled.n_classes).map(|c| curves::class_curves(&predicted, c, points)).collect(),
            reliability: reliability::reliability(&predicted),
            uncalibrated: uncalibrated.map(|u| reliability::reliability(&pooled.predicted(&u))),
            margins: reliability::margin_histogram(&margins[i], &edges),
            missing: missing_curve(&outcome.result),
            solvers: outcome.solvers.clone(),
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
    let mut points: Vec<(f64, f64, f64)> =
        result.missing.iter().map(|p| (p.rate, p.accuracy, p.ci95)).collect();
    if points.is_empty() {
        return None;
    }
    if points.iter().all(|p| p.0 > 0.0) {
        points.push((0.0, result.accuracy.mean, result.accuracy.ci95));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(Curve {
        name: result.model.clone(),
        points: points.iter().map(|p| (p.0, p.1)).collect(),
        band: points.iter().map(|p| ((p.1 - p.2).max(0.0), (p.1 + p.2).min(1.0))).collect(),
    })
}

/// All pairs of models, on the same rows.
fn differences(ran: &Ran, pooled: &Pooled, evaluation: &Evaluation) -> Vec<Difference> {
    let n = ran.outcomes.len();
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
    pairs.into_iter().map(|(i, j)| pair(ran, pooled, evaluation, i, j)).collect()
}

fn pair(ran: &Ran, pooled: &Pooled, evaluation: &Evaluation, first: usize, second: usize) -> Difference {
    let folds_of = |i: usize| &evaluation.results[i].accuracy.folds;
    let folds: Vec<f64> = folds_of(first).iter().zip(folds_of(second)).map(|(a, b)| a - b).collect();
    let mean = super::metrics::mean(&folds);
    let (ci95, p_value) = match evaluation.protocol.test_rows {
        None => {
            let ratio = 1.0 / (evaluation.protocol.folds as f64 - 1.0).max(1.0);
            let test = difference::corrected_t_test(&folds, ratio);
            (test.map(|t| t.ci95), test.map(|t| t.p_value))
        }
        Some(_) => {
            let right = |o: &Outcome| pooled.predicted(&o.log_proba.concat()).correct();
            let (a, b) = (right(&ran.outcomes[first]), right(&ran.outcomes[second]));
            let weight = |m: usize| pooled.weights.as_ref().map_or(1.0, |w| w[m]);
            let only = |x: &[bool], y: &[bool]| (0..x.len()).filter(|&m| x[m] && !y[m]).map(weight).sum();
            (None, difference::mcnemar(only(&a, &b), only(&b, &a)))
        }
    };
    Difference { first, second, mean, ci95, p_value, folds }
}
