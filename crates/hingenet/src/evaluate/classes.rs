//! One class against the rest, as those see it who act on an answer: how many rows of the class are found, how many answers are
//! right, and what acting on a probability is worth.
//!
//! Vickers, Elkin: Decision curve analysis: a novel method for evaluating prediction models, Medical Decision Making 26, 2006.

use super::interval;
use super::metrics::Predicted;
use crate::report::{ClassResult, Counts, Proportion, ThresholdPoint};

/// Thresholds 0.01 to 0.99.
const STEPS: usize = 99;

/// Each class against the rest, over the tested rows of all `repeats` together. Intervals count every row once.
pub(super) fn against_the_rest(
    classes: &[String],
    confusion: &[Vec<f64>],
    repeats: &[Predicted],
) -> Vec<ClassResult> {
    let one = |c: usize| {
        let counts = counts(confusion, c);
        let n = repeats.len() as f64;
        ClassResult {
            class: classes[c].clone(),
            sensitivity: proportion(counts.true_positives, counts.false_negatives, n),
            specificity: proportion(counts.true_negatives, counts.false_positives, n),
            ppv: proportion(counts.true_positives, counts.false_positives, n),
            npv: proportion(counts.true_negatives, counts.false_negatives, n),
            thresholds: thresholds(repeats, c),
            counts,
        }
    };
    (0..classes.len()).map(one).collect()
}

/// Weight of the rows by whether they are of class `c` and answered so.
fn counts(confusion: &[Vec<f64>], c: usize) -> Counts {
    let total: f64 = confusion.iter().flatten().sum();
    let (of_class, answered): (f64, f64) =
        (confusion[c].iter().sum(), confusion.iter().map(|row| row[c]).sum());
    let found = confusion[c][c];
    Counts {
        true_positives: found,
        false_positives: answered - found,
        false_negatives: of_class - found,
        true_negatives: total - answered - of_class + found,
    }
}

/// The share `right / (right + wrong)` with its interval; none without rows.
fn proportion(right: f64, wrong: f64, repeats: f64) -> Option<Proportion> {
    let (all, share) = (right + wrong, right / (right + wrong));
    (all > 0.0).then(|| Proportion { value: share, interval: interval::of_rows(share, all / repeats) })
}

/// What comes of answering class `c` where its probability is at least t. The net benefit weighs a false alarm by the odds
/// of the threshold, at which one is indifferent:
///
/// ```text
/// net benefit(t) = (true positives - false positives t / (1 - t)) / n
/// ```
fn thresholds(repeats: &[Predicted], c: usize) -> Vec<ThresholdPoint> {
    let levels: Vec<f64> = (1..=STEPS).map(|k| k as f64 / (STEPS + 1) as f64).collect();
    // weight of the class and of the rest that reaches exactly so many levels
    let mut reached = vec![[0.0; 2]; STEPS + 1];
    for (predicted, m) in repeats.iter().flat_map(|p| (0..p.truth.len()).map(move |m| (p, m))) {
        let probability = predicted.row(m)[c].exp();
        let level = levels.partition_point(|t| *t <= probability);
        reached[level][usize::from(predicted.truth[m] != c)] += predicted.weight(m);
    }
    let [positive, negative] = [0, 1].map(|side| reached.iter().map(|r| r[side]).sum::<f64>());
    let total = positive + negative;
    let worth = |gain: f64, harm: f64, t: f64| {
        if total > 0.0 { (gain - harm * t / (1.0 - t)) / total } else { 0.0 }
    };
    let mut at = [0.0; 2];
    let mut points: Vec<ThresholdPoint> = Vec::with_capacity(STEPS);
    for (k, &threshold) in levels.iter().enumerate().rev() {
        (0..2).for_each(|side| at[side] += reached[k + 1][side]);
        points.push(ThresholdPoint {
            threshold,
            true_positives: at[0],
            false_positives: at[1],
            net_benefit: worth(at[0], at[1], threshold),
            treat_all: worth(positive, negative, threshold),
        });
    }
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names() -> Vec<String> {
        ["a", "b"].map(String::from).to_vec()
    }

    /// Four rows of class b with 90, 60, 40 and 10 %, two of class a with 70 and 5 %.
    #[test]
    fn figures_of_a_small_example_by_hand() {
        let p: [f64; 6] = [0.9, 0.6, 0.4, 0.1, 0.7, 0.05];
        let log_proba: Vec<f64> = p.iter().flat_map(|p| [(1.0 - p).ln(), p.ln()]).collect();
        let predicted =
            Predicted { truth: &[1, 1, 1, 1, 0, 0], weights: None, log_proba: &log_proba, n_classes: 2 };
        let found = against_the_rest(&names(), &predicted.confusion(), &[predicted]);
        let b = &found[1];
        let counts =
            Counts { true_positives: 2.0, false_positives: 1.0, false_negatives: 2.0, true_negatives: 1.0 };
        assert_eq!(b.counts, counts);
        let shares = [&b.sensitivity, &b.specificity, &b.ppv, &b.npv].map(|p| p.as_ref().unwrap().value);
        assert_eq!(shares, [0.5, 0.5, 2.0 / 3.0, 1.0 / 3.0]);
        // of 25 % or more there are three of b and one of a
        let quarter = &b.thresholds[24];
        assert_eq!((quarter.true_positives, quarter.false_positives), (3.0, 1.0));
        assert!((quarter.net_benefit - (3.0 - 1.0 / 3.0) / 6.0).abs() < 1e-12, "{quarter:?}");
        assert!((quarter.treat_all - (4.0 - 2.0 / 3.0) / 6.0).abs() < 1e-12, "{quarter:?}");
        // a class is found where the other is not missed
        assert_eq!(found[0].sensitivity, b.specificity);
        assert_eq!(found[0].ppv, b.npv);
    }

    #[test]
    fn without_rows_there_is_no_share() {
        let predicted =
            Predicted { truth: &[0], weights: None, log_proba: &[0.0, f64::NEG_INFINITY], n_classes: 2 };
        let found = against_the_rest(&names(), &predicted.confusion(), &[predicted]);
        assert_eq!((&found[1].sensitivity, &found[1].ppv), (&None, &None));
        assert_eq!(found[1].npv.as_ref().map(|p| p.value), Some(1.0));
    }

    proptest! {
        /// Counts fall as the threshold rises; at 50 % of two classes they are those of the answers; rows tested twice
        /// give the same shares and intervals as once.
        #[test]
        fn thresholds_agree_with_the_answers(rows in prop::collection::vec((0.001f64..0.999, 0usize..2), 1..60)) {
            let log_proba: Vec<f64> = rows.iter().flat_map(|r| [(1.0 - r.0).ln(), r.0.ln()]).collect();
            let truth: Vec<usize> = rows.iter().map(|r| r.1).collect();
            let predicted = Predicted { truth: &truth, weights: None, log_proba: &log_proba, n_classes: 2 };
            let confusion = predicted.confusion();
            let found = against_the_rest(&names(), &confusion, &[predicted]);
            let points = &found[1].thresholds;
            let falls = |a: f64, b: f64| a >= b;
            prop_assert!(points.windows(2).all(|w| falls(w[0].true_positives, w[1].true_positives)
                && falls(w[0].false_positives, w[1].false_positives)));
            let half = &points[49];
            prop_assert_eq!((half.true_positives, half.false_positives), (confusion[1][1], confusion[0][1]));
            let twice: Vec<Vec<f64>> = confusion.iter().map(|row| row.iter().map(|n| 2.0 * n).collect()).collect();
            let again = against_the_rest(&names(), &twice, &[predicted, predicted]);
            prop_assert_eq!(&again[0].sensitivity, &found[0].sensitivity);
            prop_assert_eq!(again[1].thresholds[9].net_benefit, found[1].thresholds[9].net_benefit);
        }
    }
}
