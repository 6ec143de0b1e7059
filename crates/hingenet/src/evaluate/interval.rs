//! The 95 % intervals of all figures. A share near 0 or 1 has no symmetric interval: `share ± half` would leave [0, 1], or
//! shrink to nothing where nothing went wrong. Wilson's interval does neither; with folds it takes as many rows as the
//! spread of the folds is worth, as is done for samples drawn in clusters.
//!
//! Wilson: Probable inference, the law of succession, and statistical inference, Journal of the American Statistical
//! Association 22, 1927. Korn, Graubard: Confidence intervals for proportions with small expected number of positive counts
//! estimated from survey data, Survey Methodology 24, 1998 (effective number of rows). Dean, Pagano: Evaluating confidence
//! interval methods for binomial proportions in clustered surveys, Journal of Survey Statistics and Methodology 3, 2015.

use super::metrics::{mean, standard_deviation};
use crate::report::Interval;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Interval of a share of `rows` independent rows (a total weight); all of [0, 1] without rows.
pub(crate) fn of_rows(share: f64, rows: f64) -> Interval {
    wilson(share, Z * Z / rows)
}

/// Interval of a mean over the shares of `folds`, repeat by repeat `n_folds` of them, which test `rows` rows. The variance of the
/// mean is what the folds show or what independent rows would have, whichever gives the wider interval:
///
/// ```text
/// k = max( z² / rows,  t²_{K-1} V / (p (1 - p)) )        V = mean over repeats of s² / K
/// ```
///
/// Folds that happen to agree are no proof of certainty, so rows count too. Repeats test the same rows again: they steady
/// the mean and add no rows.
pub(crate) fn of_folds(folds: &[f64], n_folds: usize, rows: f64) -> Interval {
    let share = mean(folds);
    let of_rows = Z * Z / rows;
    let spread = share * (1.0 - share);
    let of_folds = half_width(folds, n_folds).filter(|_| spread > 0.0).map(|half| half * half / spread);
    wilson(share, of_folds.map_or(of_rows, |k| k.max(of_rows)))
}

/// Interval of a mean over the losses of `folds`, which are at least 0: Student's interval of its logarithm. None for a
/// single split.
pub(crate) fn of_losses(folds: &[f64], n_folds: usize) -> Option<Interval> {
    let (loss, half) = (mean(folds), half_width(folds, n_folds)?);
    let factor = if loss > 0.0 { (half / loss).exp() } else { 1.0 };
    Some(Interval { low: loss / factor, high: loss * factor })
}

/// Wilson's interval: all p' with `(p - p')² <= k p' (1 - p')`, where k is the squared quantile divided by the rows.
fn wilson(share: f64, k: f64) -> Interval {
    if !k.is_finite() {
        return Interval { low: 0.0, high: 1.0 };
    }
    let (centre, half) = (share + k / 2.0, (k * share * (1.0 - share) + k * k / 4.0).sqrt());
    // rounding aside, the interval holds the share and lies inside [0, 1]
    let end = |x: f64| (x / (1.0 + k)).clamp(0.0, 1.0);
    Interval { low: end(centre - half).min(share), high: end(centre + half).max(share) }
}

/// `t_{0.975, K-1} sqrt(V)` of a mean over folds, see [`of_folds`]; none for a single fold.
fn half_width(folds: &[f64], n_folds: usize) -> Option<f64> {
    let k = n_folds as f64;
    let variances: Option<Vec<f64>> =
        folds.chunks(n_folds.max(1)).map(|repeat| Some(standard_deviation(repeat)?.powi(2) / k)).collect();
    let t = StudentsT::new(0.0, 1.0, k - 1.0).ok()?.inverse_cdf(0.975);
    Some(t * mean(&variances?).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    /// `prop.test(8, 10, correct = FALSE)` of R, and the closed form where all are right: n / (n + z²).
    #[test]
    fn intervals_agree_with_tables() {
        let found = of_rows(0.8, 10.0);
        assert!(close(found.low, 0.490_162_5) && close(found.high, 0.943_317_8), "{found:?}");
        let all = of_rows(1.0, 10.0);
        assert!(close(all.low, 10.0 / (10.0 + Z * Z)) && all.high == 1.0, "{all:?}");
        let none = of_rows(0.0, 10.0);
        assert!(none.low == 0.0 && close(none.high, 1.0 - all.low), "{none:?}");
        assert_eq!(of_rows(0.0, 0.0), Interval { low: 0.0, high: 1.0 });
    }

    /// The quantile of t is 2.776445 with 4 degrees of freedom.
    #[test]
    fn folds_that_differ_more_than_rows_would_decide() {
        let folds = [0.80, 0.85, 0.82, 0.90, 0.83];
        let half = 2.776_445_105 * standard_deviation(&folds).unwrap() / 5f64.sqrt();
        assert!(close(half_width(&folds, 5).unwrap(), half));
        let found = of_folds(&folds, 5, 1e9);
        // Wilson's interval solves (p - p')² = k p' (1 - p')
        let k = half * half / (0.84 * 0.16);
        for end in [found.low, found.high] {
            assert!(close((0.84 - end).powi(2), k * end * (1.0 - end)), "{found:?}");
        }
        let same = |a: Interval, b: Interval| close(a.low, b.low) && close(a.high, b.high);
        assert!(same(of_folds(&[0.84; 5], 5, 100.0), of_rows(0.84, 100.0)));
        assert!(same(of_folds(&[0.84], 1, 100.0), of_rows(0.84, 100.0)));
        // the same folds again say nothing new
        assert!(same(of_folds(&folds.repeat(3), 5, 1e9), found));
    }

    #[test]
    fn losses_stay_above_zero() {
        let found = of_losses(&[0.01, 0.02, 0.30], 3).unwrap();
        assert!(found.low > 0.0 && found.low < 0.11 && found.high > 0.11, "{found:?}");
        assert_eq!(of_losses(&[0.0, 0.0], 2), Some(Interval { low: 0.0, high: 0.0 }));
        assert_eq!(of_losses(&[0.5], 1), None);
    }

    /// Share of simulated evaluations whose interval holds the truth: 5 folds, each with an accuracy of its own around
    /// `truth` (standard deviation `between`), `rows` rows together.
    fn coverage(truth: f64, between: f64, rows: usize) -> f64 {
        let mut random = Random::stream(11, (1e6 * truth) as u64 + rows as u64);
        let (draws, size) = (4000, rows / 5);
        let holds = |_| {
            let fold = |_: usize| {
                let p = truth + between * random.normal();
                (0..size).filter(|_| random.uniform() < p).count() as f64 / size as f64
            };
            let folds: Vec<f64> = (0..5).map(fold).collect();
            let found = of_folds(&folds, 5, rows as f64);
            f64::from(found.low <= truth && truth <= found.high)
        };
        (0..draws).map(holds).sum::<f64>() / draws as f64
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        for (truth, rows) in [(0.5, 100), (0.8, 200), (0.95, 200), (0.95, 1000), (0.99, 500), (0.99, 2000)] {
            let independent = coverage(truth, 0.0, rows);
            assert!((0.94..=0.99).contains(&independent), "{truth}, {rows} rows: {independent}");
        }
        for (truth, between, rows) in [(0.7, 0.05, 1000), (0.9, 0.03, 2000)] {
            let clustered = coverage(truth, between, rows);
            assert!((0.935..=0.975).contains(&clustered), "{truth} ± {between}, {rows} rows: {clustered}");
        }
    }

    proptest! {
        /// However few the rows and however the folds differ.
        #[test]
        fn intervals_of_shares_lie_inside_0_and_1_and_hold_the_share(
            folds in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0f64], 1..12), rows in 0.0..1e6f64
        ) {
            for n_folds in (1..=folds.len()).filter(|k| folds.len() % k == 0) {
                let (found, share) = (of_folds(&folds, n_folds, rows), mean(&folds));
                prop_assert!(0.0 <= found.low && found.low <= share && share <= found.high && found.high <= 1.0);
                prop_assert!(found.low < found.high);
            }
        }
    }
}
