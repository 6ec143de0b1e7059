//! Wilcoxon's signed-rank test of paired differences, as papers print it over the folds of a cross-validation. It takes
//! the differences for independent, and those of folds are not: they share training rows, and repeats share all rows. So
//! its p-values are too small, and more repeats make them smaller without telling anything new. It stands beside the
//! corrected test of [`difference`](super::difference) for comparison with printed tables, and no verdict rests on it.
//!
//! Wilcoxon: Individual comparisons by ranking methods, Biometrics Bulletin 1, 1945. Pratt: Remarks on zeros and ties in
//! the Wilcoxon signed rank procedures, Journal of the American Statistical Association 54, 1959.

use crate::report::SignedRanks;
use statrs::distribution::{ContinuousCDF, Normal};

/// Up to so many differences without zeros and ties the distribution is counted out: all counts are below 2^53, so exact.
const EXACT: usize = 50;
/// Differences are compared in this unit. Those of accuracies are ratios of small whole numbers: ties are real, and only
/// rounding hides them.
const UNIT: f64 = 1e-12;

/// The two-sided test that the differences lie symmetrically around 0, with p-values times `comparisons` (Bonferroni).
/// `None` for fewer than two differences.
///
/// With `r_i` the rank of `|d_i|` among all n (ties share the mean of their ranks, z zeros have the lowest and are left
/// out of the sums; Pratt), `W+ = Σ r_i` over `d_i > 0` and `W-` over `d_i < 0`:
///
/// ```text
/// without ties and zeros, n <= 50:   p = 2 P(W <= min(W+, W-)),  every set of signs equally probable
/// else:  p = 2 Φ((min(W+, W-) - μ) / σ),    μ  = (n (n + 1) - z (z + 1)) / 4
///                                           σ² = (n (n + 1) (2n + 1) - z (z + 1) (2z + 1) - Σ (t³ - t) / 2) / 24
/// ```
///
/// where t are the numbers of equal `|d_i| > 0`. There is no correction for continuity.
pub(super) fn signed_ranks(differences: &[f64], comparisons: usize) -> Option<SignedRanks> {
    if differences.len() < 2 {
        return None;
    }
    let ranked = Ranked::of(differences);
    let statistic = ranked.above.min(ranked.below);
    let n = differences.len();
    let is_exact = n <= EXACT && ranked.zeros == 0 && ranked.tied == 0.0;
    let p_value = match is_exact {
        true => (2.0 * share_up_to(statistic as usize, n)).min(1.0),
        false => ranked.normal_p(statistic, n)?,
    };
    Some(SignedRanks {
        pairs: n,
        zeros: ranked.zeros,
        statistic,
        p_value,
        p_bonferroni: (p_value * comparisons as f64).min(1.0),
        is_exact,
    })
}

/// Sums of ranks.
struct Ranked {
    /// W+.
    above: f64,
    /// W-.
    below: f64,
    /// z.
    zeros: usize,
    /// `Σ (t³ - t)`.
    tied: f64,
}

impl Ranked {
    fn of(differences: &[f64]) -> Self {
        let mut values: Vec<f64> = differences.iter().map(|d| (d / UNIT).round()).collect();
        values.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let mut found = Ranked { above: 0.0, below: 0.0, zeros: 0, tied: 0.0 };
        let mut before = 0;
        for equal in values.chunk_by(|a, b| a.abs() == b.abs()) {
            let t = equal.len() as f64;
            let rank = before as f64 + (t + 1.0) / 2.0;
            before += equal.len();
            if equal[0] == 0.0 {
                found.zeros = equal.len();
                continue;
            }
            let positive = equal.iter().filter(|d| **d > 0.0).count() as f64;
            found.above += rank * positive;
            found.below += rank * (t - positive);
            found.tied += t * t * t - t;
        }
        found
    }

    /// The normal approximation; 1 where nothing differs.
    fn normal_p(&self, statistic: f64, n: usize) -> Option<f64> {
        let (n, z) = (n as f64, self.zeros as f64);
        let mean = (n * (n + 1.0) - z * (z + 1.0)) / 4.0;
        let cubes = n * (n + 1.0) * (2.0 * n + 1.0) - z * (z + 1.0) * (2.0 * z + 1.0);
        let variance = (cubes - self.tied / 2.0) / 24.0;
        if variance <= 0.0 {
            return Some(1.0);
        }
        let normal = Normal::new(0.0, 1.0).ok()?;
        Some((2.0 * normal.cdf((statistic - mean) / variance.sqrt())).min(1.0))
    }
}

/// Share of the `2^n` sets of signs whose ranks 1..n sum to `w` or less: subsets counted by their sum, rank by rank.
fn share_up_to(w: usize, n: usize) -> f64 {
    let mut sets = vec![0.0; w + 1];
    sets[0] = 1.0;
    for rank in 1..=n.min(w) {
        for sum in (rank..=w).rev() {
            sets[sum] += sets[sum - rank];
        }
    }
    sets.iter().sum::<f64>() / 2f64.powi(n as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `scipy.stats.wilcoxon` 1.17.1: `method="exact"` for the first three, else `method="approx", zero_method="pratt"`, and
    /// `correction=False`.
    #[test]
    fn p_values_are_those_of_scipy() {
        let long = |n: usize| {
            (1..=n).map(|k| if k % 3 == 0 { -1.0 } else { 1.0 } * (k as f64 + 0.25)).collect::<Vec<f64>>()
        };
        let twelve = [1.5, -0.5, 2.5, 3.5, -4.5, 5.5, 6.5, -7.5, 8.5, 9.5, 10.5, 11.5];
        for (differences, statistic, p, is_exact) in [
            (vec![0.3, -0.1, 0.4, 0.5, 0.2], 1.0, 0.125, true),
            (twelve.to_vec(), 14.0, 0.05224609375, true),
            (long(50), 408.0, 0.02616696817119646, true),
            (long(60), 630.0, 0.03590012321587811, false),
            (vec![1.0, -1.0, 2.0, 2.0, -3.0, 4.0, 4.0, 5.0], 6.5, 0.10603481579165039, false),
            (vec![0.0, 0.0, 1.0, -1.0, 2.0, 2.0, -3.0, 4.0, 4.0, 5.0], 10.5, 0.11106724566704057, false),
            (vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0], 8.0, 0.1823551262273918, false),
        ] {
            let found = signed_ranks(&differences, 3).unwrap();
            assert_eq!((found.statistic, found.is_exact), (statistic, is_exact), "{differences:?}");
            assert!((found.p_value - p).abs() < 1e-10, "{differences:?}: {found:?}");
            assert_eq!(found.p_bonferroni, (3.0 * found.p_value).min(1.0));
        }
    }

    #[test]
    fn rounding_hides_no_tie_and_no_zero() {
        // 0.85 - 0.8 and 0.9 - 0.85 differ in their last bits
        let found = signed_ranks(&[0.85 - 0.8, 0.9 - 0.85, 0.1 + 0.2 - 0.3, -0.2], 1).unwrap();
        assert_eq!((found.zeros, found.is_exact, found.statistic), (1, false, 4.0));
    }

    #[test]
    fn five_folds_cannot_reject_and_equal_models_do_not() {
        let all = signed_ranks(&[0.1, 0.2, 0.3, 0.4, 0.5], 1).unwrap();
        assert_eq!(all.p_value, 0.0625);
        let none = signed_ranks(&[0.0; 5], 2).unwrap();
        assert_eq!((none.p_value, none.p_bonferroni, none.zeros), (1.0, 1.0, 5));
        assert_eq!(signed_ranks(&[0.1], 1), None);
    }

    proptest! {
        /// The counted distribution is that of all sets of signs, one by one.
        #[test]
        fn exact_p_values_are_those_of_all_sets_of_signs(
            order in Just((1..=11).map(f64::from).collect::<Vec<f64>>()).prop_shuffle(), n in 2usize..=11,
            signs in 0u32..2048
        ) {
            let ranks = |list: &[f64]| -> Vec<f64> {
                list.iter().map(|d| list.iter().filter(|e| e.abs() <= d.abs()).count() as f64).collect()
            };
            let sign = |signs: u32, k: usize| if signs >> k & 1 == 1 { -1.0 } else { 1.0 };
            let d: Vec<f64> = (0..n).map(|k| sign(signs, k) * order[k] * 0.37).collect();
            let ranks = ranks(&d);
            let lower = |signs: u32| {
                let below: f64 = (0..n).filter(|k| sign(signs, *k) < 0.0).map(|k| ranks[k]).sum();
                below.min(ranks.iter().sum::<f64>() - below)
            };
            let as_low = (0..1u32 << n).filter(|other| lower(*other) <= lower(signs)).count();
            let found = signed_ranks(&d, 1).unwrap();
            prop_assert!(found.is_exact);
            prop_assert!((found.p_value - as_low as f64 / f64::from(1u32 << n)).abs() < 1e-12, "{:?}", found);
        }

        /// Turning all signs, or the order, changes nothing; p lies in (0, 1].
        #[test]
        fn the_test_has_two_equal_sides(mut d in prop::collection::vec(-5i32..=5, 2..70)) {
            let test = |d: &[i32]| signed_ranks(&d.iter().map(|x| f64::from(*x) / 7.0).collect::<Vec<_>>(), 1).unwrap();
            let found = test(&d);
            prop_assert!(found.p_value > 0.0 && found.p_value <= 1.0);
            d.reverse();
            prop_assert_eq!(test(&d), found.clone());
            d.iter_mut().for_each(|x| *x = -*x);
            prop_assert_eq!(test(&d), found);
        }
    }
}
