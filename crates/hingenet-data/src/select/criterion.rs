//! How good class scores are on rows whose class is known: the criteria of the searches.

use hingenet_base::numeric::log::{argmax, log_sum_exp};

/// One judged row: its class scores, its class and its weight.
pub type Judged<'a> = (&'a [f64], usize, f64);

/// A row loses at most this much log loss: one impossible row must not outweigh all others.
const LARGEST_LOSS: f64 = 50.0;
/// What a unit of log loss counts against a right decision.
const TIE: f64 = 1e-6;

/// Weight of the rows whose largest score is that of their class; ties to the smallest code.
pub fn correct<'a>(rows: impl Iterator<Item = Judged<'a>>) -> f64 {
    rows.filter(|(scores, class, _)| argmax(scores) == *class).map(|(_, _, weight)| weight).sum()
}

/// The mark of a row that counts right decisions and breaks ties by log loss: its weight if it is decided rightly, else
/// 0, less a millionth of its weighted log loss (at most 50).
pub fn right_then_likely((scores, class, weight): Judged<'_>) -> f64 {
    let right = f64::from(argmax(scores) == class);
    let loss = log_sum_exp(scores) - scores[class];
    // Scores that are no numbers lose the most.
    let loss = if loss < LARGEST_LOSS { loss.max(0.0) } else { LARGEST_LOSS };
    weight * (right - TIE * loss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_count_weights() {
        let scores = [[0.0, 1.0], [2.0, 1.0], [0.0, 0.0]];
        let rows = || scores.iter().zip([1, 1, 0]).zip([1.0, 2.0, 3.0]).map(|((s, c), w)| (&s[..], c, w));
        assert_eq!(correct(rows()), 4.0);
        let loss = 1.0 * (-1f64).exp().ln_1p() + 2.0 * 1f64.exp().ln_1p() + 3.0 * 2f64.ln();
        let marks: f64 = rows().map(right_then_likely).sum();
        assert!((marks - (4.0 - 1e-6 * loss)).abs() < 1e-14);
        assert_eq!(right_then_likely((&[f64::NEG_INFINITY, 0.0], 0, 1.0)), -TIE * 50.0);
        assert!(right_then_likely((&[f64::NAN, 0.0], 1, 1.0)).is_finite());
    }
}
