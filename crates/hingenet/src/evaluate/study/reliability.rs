//! Do stated probabilities come true, and how clear are the decisions?

use crate::evaluate::interval;
use crate::evaluate::metrics::{Predicted, quantile};
use crate::report::{MarginHistogram, Reliability, ReliabilityBin};
use hingenet_base::numeric::log::argmax;

const BINS: usize = 10;
const MARGIN_BINS: usize = 40;

/// Bins of equal width over the probability of the answer; the error is the mean distance of stated
/// probability and share correct, weighted by the rows, each of which was tested `repeats` times.
pub(super) fn reliability(predicted: &Predicted, repeats: usize) -> Reliability {
    let (mut weight, mut stated, mut correct) = ([0.0; BINS], [0.0; BINS], [0.0; BINS]);
    for (m, &truth) in predicted.truth.iter().enumerate() {
        let row = predicted.row(m);
        let answer = argmax(row);
        let p = row[answer].exp();
        let bin = ((p * BINS as f64) as usize).min(BINS - 1);
        let w = predicted.weight(m);
        weight[bin] += w;
        stated[bin] += w * p;
        correct[bin] += if answer == truth { w } else { 0.0 };
    }
    let total: f64 = weight.iter().sum();
    let bin = |b: usize| ReliabilityBin {
        from: b as f64 / BINS as f64,
        to: (b + 1) as f64 / BINS as f64,
        weight: weight[b],
        stated: stated[b] / weight[b],
        correct: correct[b] / weight[b],
        interval: interval::of_rows(correct[b] / weight[b], weight[b] / repeats as f64),
    };
    let bins: Vec<ReliabilityBin> = (0..BINS).filter(|&b| weight[b] > 0.0).map(bin).collect();
    let error = bins.iter().map(|b| b.weight / total * (b.stated - b.correct).abs()).sum();
    Reliability { bins, error }
}

/// `log P(true class) - max log P(other class)` of each row, with its weight.
pub(super) fn margins(predicted: &Predicted) -> Vec<(f64, f64)> {
    let margin = |(m, &truth): (usize, &usize)| {
        let row = predicted.row(m);
        let other = (0..row.len()).filter(|&c| c != truth).map(|c| row[c]).fold(f64::NEG_INFINITY, f64::max);
        let margin = if row[truth] == other { 0.0 } else { row[truth] - other };
        (margin, predicted.weight(m))
    };
    predicted.truth.iter().enumerate().map(margin).collect()
}

/// Ends of the bins for the margins of all models: symmetric, wide enough for 98 % of the weight of the
/// widest model, 0 at an edge.
pub(super) fn margin_edges(models: &[Vec<(f64, f64)>]) -> Vec<f64> {
    let wide = |margins: &Vec<(f64, f64)>| {
        let sizes: Vec<(f64, f64)> = margins.iter().map(|(m, w)| (m.abs(), *w)).collect();
        Some(quantile(sizes, 0.98)).filter(|q| q.is_finite()).unwrap_or(0.0)
    };
    // one and a half units tell classes apart by a factor of 4.5; a narrower picture would show noise
    let limit = models.iter().map(wide).fold(1.5, f64::max).min(50.0);
    let half = (MARGIN_BINS / 2) as f64;
    (0..=MARGIN_BINS).map(|k| (k as f64 - half) / half * limit).collect()
}

/// Shares of the weight in the bins; what lies beyond counts in the outer bins.
pub(super) fn margin_histogram(margins: &[(f64, f64)], edges: &[f64]) -> MarginHistogram {
    let bins = edges.len() - 1;
    let mut shares = vec![0.0; bins];
    for &(margin, weight) in margins {
        let above = edges[1..bins].partition_point(|e| *e <= margin);
        shares[above] += weight;
    }
    let total: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|s| *s = if total > 0.0 { *s / total } else { 0.0 });
    let median = quantile(margins.to_vec(), 0.5).clamp(edges[0], edges[bins]);
    MarginHistogram { edges: edges.to_vec(), shares, median }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn predicted<'a>(truth: &'a [usize], log_proba: &'a [f64]) -> Predicted<'a> {
        Predicted { truth, weights: None, log_proba, n_classes: 2 }
    }

    #[test]
    fn reliability_by_hand() {
        let p: Vec<f64> = [0.15, 0.85, 0.19, 0.81, 0.35, 0.65].iter().map(|p: &f64| p.ln()).collect();
        let found = reliability(&predicted(&[1, 0, 1], &p), 1);
        assert_eq!(found.bins.len(), 2);
        assert!((found.bins[0].stated - 0.65).abs() < 1e-12 && found.bins[0].correct == 1.0);
        assert!((found.bins[1].stated - 0.83).abs() < 1e-12 && found.bins[1].correct == 0.5);
        assert!((found.error - (0.35 + 2.0 * 0.33) / 3.0).abs() < 1e-12);
        assert!(found.bins.iter().all(|b| b.interval.low <= b.correct && b.correct <= b.interval.high));
    }

    #[test]
    fn certain_answers_fall_into_the_outer_bins() {
        let p = [0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0];
        let found = margins(&predicted(&[0, 0], &p));
        assert_eq!(found, [(f64::INFINITY, 1.0), (f64::NEG_INFINITY, 1.0)]);
        let histogram = margin_histogram(&found, &margin_edges(std::slice::from_ref(&found)));
        assert_eq!((histogram.shares[0], histogram.shares[MARGIN_BINS - 1]), (0.5, 0.5));
        assert!(histogram.median.is_finite());
    }

    proptest! {
        /// The share of margins above 0 is the accuracy, up to ties, which lie above the middle edge.
        #[test]
        fn the_right_half_of_the_histogram_is_the_accuracy(rows in prop::collection::vec((0.01f64..0.99, 0usize..2), 1..200)) {
            let p: Vec<f64> = rows.iter().flat_map(|r| [(1.0 - r.0).ln(), r.0.ln()]).collect();
            let truth: Vec<usize> = rows.iter().map(|r| r.1).collect();
            let predicted = predicted(&truth, &p);
            let found = margins(&predicted);
            let histogram = margin_histogram(&found, &margin_edges(std::slice::from_ref(&found)));
            let right: f64 = histogram.shares[MARGIN_BINS / 2..].iter().sum();
            let accuracy = crate::evaluate::metrics::accuracy(&predicted.confusion());
            prop_assert!((right - accuracy).abs() < 1e-9);
            prop_assert!((histogram.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}
