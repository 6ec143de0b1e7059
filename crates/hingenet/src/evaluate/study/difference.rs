//! Is one model better than another, or was it luck? Folds share training rows, so the plain t-test over
//! folds is too sure; the corrected resampled t-test widens its variance.
//!
//! Nadeau, Bengio: Inference for the generalization error, Machine Learning 52, 2003, section 3.

use crate::evaluate::metrics::{mean, standard_deviation};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

/// Mean of paired differences with its interval and p-value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Test {
    /// Half-width of the 95 % interval.
    pub ci95: f64,
    /// Two-sided p-value.
    pub p_value: f64,
}

/// The corrected resampled t-test of `folds` paired differences:
///
/// ```text
/// t = mean / sqrt((1/n + n_test/n_train) s²)      with n - 1 degrees of freedom
/// ```
///
/// `None` for fewer than two folds, and for folds that all differ by the same amount: without any spread the
/// test would be certain for no good reason. Folds that do not differ at all have p = 1.
pub(super) fn corrected_t_test(folds: &[f64], test_to_train: f64) -> Option<Test> {
    let n = folds.len() as f64;
    let spread = standard_deviation(folds)? * (1.0 / n + test_to_train).sqrt();
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let centre = mean(folds);
    if centre == 0.0 && spread == 0.0 {
        return Some(Test { ci95: 0.0, p_value: 1.0 });
    }
    // rounding in the folds is no spread
    if spread <= 1e-12 * centre.abs() {
        return None;
    }
    let p_value = 2.0 * student.cdf(-(centre / spread).abs());
    Some(Test { ci95: student.inverse_cdf(0.975) * spread, p_value })
}

/// McNemar's exact test: `only_first` and `only_second` are the weights of rows that one model alone got
/// right; two-sided binomial p-value, `None` if there are no such rows.
pub(super) fn mcnemar(only_first: f64, only_second: f64) -> Option<f64> {
    let (low, high) = (only_first.min(only_second), only_first.max(only_second));
    // P(X <= low) of a fair coin, as a regularised incomplete beta function
    (high > 0.0).then(|| (2.0 * beta_reg(high, low + 1.0, 0.5)).min(1.0))
}

/// Holm's adjustment: p-values that may be compared with one level for all of them together, whichever
/// comparison one looks at afterwards. A comparison without a p-value counts as one that found nothing.
///
/// Holm: A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.
pub(super) fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let p = |i: usize| p_values[i].unwrap_or(1.0);
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p(a).total_cmp(&p(b)));
    let mut adjusted = vec![None; p_values.len()];
    let mut largest = 0.0f64;
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max(((p_values.len() - rank) as f64 * p(i)).min(1.0));
        adjusted[i] = p_values[i].map(|_| largest);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_corrected_variance_has_the_test_to_train_ratio_added() {
        // differences 1..5 (mean 3, sd sqrt 2.5), 5 folds: se = sqrt(2.5 (1/5 + 1/4)) = 1.06066,
        // t = 2.828427 with 4 degrees of freedom: p = 0.047421 (two-sided, from tables of t)
        let test = corrected_t_test(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.25).unwrap();
        assert!((test.ci95 - 2.776_445_105 * (2.5f64 * 0.45).sqrt()).abs() < 1e-8);
        // with 4 degrees of freedom the distribution function is closed: F(t) = 1/2 + x (3 - x²) / 4, x = t / sqrt(t² + 4)
        let x = 8f64.sqrt() / 12f64.sqrt();
        let p = 2.0 * (0.5 - x * (3.0 - x * x) / 4.0);
        assert!((test.p_value - p).abs() < 1e-9, "{} {p}", test.p_value);
    }

    #[test]
    fn equal_models_are_not_told_apart() {
        assert_eq!(corrected_t_test(&[0.0; 5], 0.25), Some(Test { ci95: 0.0, p_value: 1.0 }));
        assert_eq!(corrected_t_test(&[0.1], 0.25), None);
        assert_eq!(mcnemar(0.0, 0.0), None);
    }

    #[test]
    fn folds_that_all_differ_alike_are_not_tested() {
        assert_eq!(corrected_t_test(&[0.5; 5], 0.25), None);
        assert_eq!(corrected_t_test(&[0.1 + 0.2, 0.3, 0.3], 0.25), None);
    }

    #[test]
    fn holm_by_hand() {
        // sorted 0.01 0.02 0.03 0.04 (and the one without): times 5, 4, 3, 2, then never falling
        let adjusted = holm(&[Some(0.04), Some(0.01), None, Some(0.02), Some(0.03)]);
        let expected = [Some(0.09), Some(0.05), None, Some(0.08), Some(0.09)];
        for (a, b) in adjusted.iter().zip(expected) {
            match (a, b) {
                (Some(a), Some(b)) => assert!((a - b).abs() < 1e-12, "{adjusted:?}"),
                (a, b) => assert_eq!(*a, b),
            }
        }
    }

    proptest! {
        /// Adjusted values keep the order, are no smaller than the plain ones and no larger than Bonferroni's.
        #[test]
        fn holm_lies_between_the_plain_values_and_bonferroni(p in prop::collection::vec(0.0f64..1.0, 1..20)) {
            let adjusted: Vec<f64> = holm(&p.iter().map(|p| Some(*p)).collect::<Vec<_>>()).into_iter().flatten().collect();
            prop_assert_eq!(adjusted.len(), p.len());
            for (i, a) in adjusted.iter().enumerate() {
                prop_assert!(*a >= p[i] && *a <= (p.len() as f64 * p[i]).min(1.0) + 1e-12);
                prop_assert!((0..p.len()).all(|j| p[j] > p[i] || adjusted[j] <= *a));
            }
        }
    }

    #[test]
    fn mcnemar_is_a_sign_test() {
        // 1 against 7: 2 (1 + 8) / 256
        assert!((mcnemar(1.0, 7.0).unwrap() - 18.0 / 256.0).abs() < 1e-12);
        assert!((mcnemar(7.0, 1.0).unwrap() - 18.0 / 256.0).abs() < 1e-12);
        assert_eq!(mcnemar(4.0, 4.0), Some(1.0));
    }
}
