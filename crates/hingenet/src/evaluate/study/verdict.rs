//! What to make of a comparison: the best model, what it is better than, and by how much.

use crate::evaluate::cross_validate::{Outcome, Part};
use crate::evaluate::{TestSet, interval};
use crate::report::{Difference, Evaluation, Headline, Interval, ProtocolFacts, Verdict};

/// Level of the test between models.
const LEVEL: f64 = 0.05;

/// The best model against the others (differences adjusted over all pairs, because it was picked after
/// looking at all) and against always answering the most frequent class (`constant`, adjusted over all models).
pub(super) fn verdict(
    evaluation: &Evaluation,
    majority: (usize, f64),
    differences: &[Difference],
    constant: &[Against],
) -> Verdict {
    let results = &evaluation.results;
    let key = |i: &usize| (results[*i].accuracy.mean, -results[*i].log_loss);
    let better = |a: usize, b: usize| if key(&b) > key(&a) { b } else { a };
    let best = (0..results.len()).reduce(better).unwrap_or_default();
    let told_apart = |i: usize| {
        let pair = (i.min(best), i.max(best));
        let found = differences.iter().find(|d| (d.first, d.second) == pair);
        found.and_then(|d| d.tested.p_adjusted).is_some_and(|p| p < LEVEL)
    };
    let (worse, similar) = (0..results.len()).filter(|&i| i != best).partition(|&i| told_apart(i));
    let gain = constant.get(best).copied().unwrap_or_default();
    Verdict {
        best,
        majority_class: evaluation.data.classes.get(majority.0).cloned().unwrap_or_default(),
        majority_share: majority.1,
        gain: results[best].accuracy.mean - majority.1,
        gain_p: gain.p_adjusted,
        is_useful: gain.mean > 0.0 && gain.p_adjusted.is_some_and(|p| p < LEVEL),
        level: LEVEL,
        worse,
        similar,
    }
}

/// A model against always answering the most frequent class.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Against {
    /// Mean difference of accuracy over folds.
    pub mean: f64,
    /// Two-sided p-value, adjusted over all models.
    pub p_adjusted: Option<f64>,
}

/// Figures of one model with their intervals, beside those of the class frequencies alone.
pub(super) fn headlines(outcome: &Outcome, protocol: &ProtocolFacts, tested: &TestSet) -> Vec<Headline> {
    let result = &outcome.result;
    let shares = class_shares(&tested.class, tested.weights.as_deref(), result.confusion.len());
    let present = shares.iter().filter(|p| **p > 0.0);
    let entropy: f64 = -present.clone().map(|p| p * p.ln()).sum::<f64>();
    let of_parts = |f: fn(&Part) -> f64| {
        interval::of_losses(&outcome.parts.iter().map(f).collect::<Vec<_>>(), protocol.folds)
    };
    let headline =
        |name: &str, about: &str, value, interval: Option<Interval>, baseline, is_share| Headline {
            name: name.into(),
            about: about.into(),
            value,
            interval,
            baseline: Some(baseline),
            is_share,
        };
    let mut found = vec![
        headline(
            "accuracy",
            "share of rows classified correctly",
            result.accuracy.mean,
            Some(result.accuracy.interval),
            shares.iter().copied().fold(0.0, f64::max),
            true,
        ),
        headline(
            "balanced error",
            "error rate, every class counting the same",
            result.balanced_error.mean,
            Some(result.balanced_error.interval),
            1.0 - 1.0 / present.clone().count().max(1) as f64,
            true,
        ),
        headline(
            "log-loss",
            "surprise at the true class; 0 is perfect",
            result.log_loss,
            of_parts(|p| p.log_loss),
            entropy,
            false,
        ),
        headline(
            "Brier score",
            "squared error of the probabilities; 0 is perfect",
            result.brier,
            of_parts(|p| p.brier),
            1.0 - shares.iter().map(|p| p * p).sum::<f64>(),
            false,
        ),
    ];
    if let Some(auc) = result.auc {
        let about = "chance that a row of a class ranks above another row";
        // never surer than a share of all rows; a fold that lacks a class has no area
        let areas: Option<Vec<f64>> = outcome.parts.iter().map(|p| p.auc).collect();
        let rows = result.confusion.iter().flatten().sum::<f64>() / protocol.repeats as f64;
        let over = |areas: Vec<f64>| interval::of_folds(&areas, protocol.folds, rows);
        let interval = areas.filter(|a| a.len() > 1).map(over);
        found.push(headline("AUC", about, auc, interval, 0.5, false));
    }
    found
}

pub(super) fn class_shares(truth: &[usize], weights: Option<&[f64]>, n_classes: usize) -> Vec<f64> {
    let mut shares = vec![0.0; n_classes];
    truth.iter().enumerate().for_each(|(m, &c)| shares[c] += weights.map_or(1.0, |w| w[m]));
    let total: f64 = shares.iter().sum();
    shares.iter().map(|s| if total > 0.0 { s / total } else { 0.0 }).collect()
}
