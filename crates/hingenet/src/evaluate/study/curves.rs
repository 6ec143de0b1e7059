//! ROC and precision-recall curves of one class against the rest, over all tested rows together.

use crate::evaluate::metrics::Predicted;
use crate::report::ClassCurves;

/// Most points of a curve.
pub const MAX_POINTS: usize = 200;

/// Cumulated weight at one threshold.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    positive: f64,
    negative: f64,
}

/// The curves of class `c`. Rows are ranked by the log-odds of the class; tied rows make one step.
pub(super) fn class_curves(predicted: &Predicted, c: usize, max_points: usize) -> ClassCurves {
    let steps = steps(predicted, c);
    let Step { positive: p, negative: n } = steps.last().copied().unwrap_or_default();
    let prevalence = if p + n > 0.0 { p / (p + n) } else { 0.0 };
    if p <= 0.0 || n <= 0.0 {
        return ClassCurves { prevalence, ..ClassCurves::default() };
    }
    let roc: Vec<(f64, f64)> =
        std::iter::once((0.0, 0.0)).chain(steps.iter().map(|s| (s.negative / n, s.positive / p))).collect();
    let auc = roc.windows(2).map(|w| (w[1].0 - w[0].0) * (w[1].1 + w[0].1) / 2.0).sum();
    let precision_recall: Vec<(f64, f64)> =
        steps.iter().map(|s| (s.positive / p, s.positive / (s.positive + s.negative))).collect();
    let mut recall = 0.0;
    let area = |&(r, precision): &(f64, f64)| {
        let step = (r - recall) * precision;
        recall = r;
        step
    };
    let average_precision = precision_recall.iter().map(area).sum();
    ClassCurves {
        roc: thin(&roc, max_points),
        precision_recall: thin(&precision_recall, max_points),
        auc: Some(auc),
        average_precision: Some(average_precision),
        prevalence,
    }
}

/// Weight of the class and of the rest above each distinct score, highest score first.
fn steps(predicted: &Predicted, c: usize) -> Vec<Step> {
    let mut ranked: Vec<(f64, usize)> =
        (0..predicted.truth.len()).map(|m| (predicted.log_odds(m, c), m)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut at = Step::default();
    let mut steps = Vec::new();
    for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
        for &(_, m) in tied {
            let side = if predicted.truth[m] == c { &mut at.positive } else { &mut at.negative };
            *side += predicted.weight(m);
        }
        if at.positive + at.negative > 0.0 {
            steps.push(at);
        }
    }
    steps
}

/// At most `most` points of a curve, both ends among them, evenly spaced along its length (each axis
/// taken as one unit), so that steep and flat parts keep their shape.
pub(super) fn thin(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most || most < 2 {
        return points.to_vec();
    }
    let mut length = Vec::with_capacity(points.len());
    let mut sum = 0.0;
    length.push(0.0);
    for w in points.windows(2) {
        sum += (w[1].0 - w[0].0).abs() + (w[1].1 - w[0].1).abs();
        length.push(sum);
    }
    let mut kept: Vec<usize> =
        (0..most).map(|k| length.partition_point(|l| *l < sum * k as f64 / (most - 1) as f64)).collect();
    kept[most - 1] = points.len() - 1;
    kept.dedup();
    kept.iter().map(|&i| points[i.min(points.len() - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn logs(p: &[f64]) -> Vec<f64> {
        p.iter().flat_map(|p| [(1.0 - p).ln(), p.ln()]).collect()
    }

    #[test]
    fn a_small_curve_by_hand() {
        let log_proba = logs(&[0.9, 0.8, 0.7, 0.7, 0.1]);
        let predicted =
            Predicted { truth: &[1, 0, 1, 0, 0], weights: None, log_proba: &log_proba, n_classes: 2 };
        let curves = class_curves(&predicted, 1, 200);
        let third = 1.0 / 3.0;
        let expected = [(0.0, 0.0), (0.0, 0.5), (third, 0.5), (2.0 * third, 1.0), (1.0, 1.0)];
        assert_eq!(curves.roc, expected);
        assert_eq!(curves.precision_recall, [(0.5, 1.0), (0.5, 0.5), (1.0, 0.5), (1.0, 0.4)]);
        assert!((curves.average_precision.unwrap() - 0.75).abs() < 1e-12);
        assert!((curves.auc.unwrap() - predicted.auc().unwrap()).abs() < 1e-12);
    }

    #[test]
    fn an_absent_class_has_no_curve() {
        let log_proba = logs(&[0.9, 0.8]);
        let predicted = Predicted { truth: &[0, 0], weights: None, log_proba: &log_proba, n_classes: 2 };
        let curves = class_curves(&predicted, 1, 200);
        assert!(curves.roc.is_empty() && curves.auc.is_none());
    }

    proptest! {
        /// Curves never fall below the truth: ends are kept, points are few, the area is that of the metric.
        #[test]
        fn thinned_curves_keep_ends_and_area(rows in prop::collection::vec((0.001f64..0.999, 0usize..2), 300..900)) {
            let p: Vec<f64> = rows.iter().map(|r| r.0).collect();
            let truth: Vec<usize> = rows.iter().map(|r| r.1).collect();
            let log_proba = logs(&p);
            let predicted = Predicted { truth: &truth, weights: None, log_proba: &log_proba, n_classes: 2 };
            let curves = class_curves(&predicted, 1, 50);
            prop_assert!(curves.roc.len() <= 50 && curves.precision_recall.len() <= 50);
            prop_assert_eq!(curves.roc.first(), Some(&(0.0, 0.0)));
            prop_assert_eq!(curves.roc.last(), Some(&(1.0, 1.0)));
            prop_assert!(curves.roc.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1));
            let full = class_curves(&predicted, 1, usize::MAX);
            prop_assert_eq!(full.auc, curves.auc);
        }
    }
}
