//! How good class scores are on rows whose class is known: the criteria of the searches.

use hingenet_base::numeric::log::{argmax, log_sum_exp};

/// One judged row: its class scores, its class and its weight.
pub type Judged<'a> = (&'a [f64], usize, f64);

/// A row loses at most this much log loss: one impossible row must not outweigh all others.
const LARGEST_LOSS: f64 = 50.0;

/// Weight of the rows whose largest score is that of their class; ties to the smallest code.
pub fn correct<'a>(rows: impl Iterator<Item = Judged<'a>>) -> f64 {
    rows.filter(|(scores, class, _)| argmax(scores) == *class).map(|(_, _, weight)| weight).sum()
}

/// Share of the weight that is decided rightly, and mean log loss (at most 50 a row).
pub fn accuracy_and_log_loss<'a>(rows: impl Iterator<Item = Judged<'a>>) -> (f64, f64) {
    let (mut right, mut loss, mut total) = (0.0, 0.0, 0.0);
    for (scores, class, weight) in rows {
        right += if argmax(scores) == class { weight } else { 0.0 };
        loss += weight * (log_sum_exp(scores) - scores[class]).clamp(0.0, LARGEST_LOSS);
        total += weight;
    }
    (right / total, loss / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_count_weights() {
        let scores = [[0.0, 1.0], [2.0, 1.0], [0.0, 0.0]];
        let rows = || scores.iter().zip([1, 1, 0]).zip([1.0, 2.0, 3.0]).map(|((s, c), w)| (&s[..], c, w));
        assert_eq!(correct(rows()), 4.0);
        let (accuracy, loss) = accuracy_and_log_loss(rows());
        assert_eq!(accuracy, 4.0 / 6.0);
        let expected = (1.0 * (-1f64).exp().ln_1p() + 2.0 * 1f64.exp().ln_1p() + 3.0 * 2f64.ln()) / 6.0;
        assert!((loss - expected).abs() < 1e-15);
        assert_eq!(accuracy_and_log_loss([(&[f64::NEG_INFINITY, 0.0][..], 0, 1.0)].into_iter()).1, 50.0);
    }
}
