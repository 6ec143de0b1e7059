//! How well class probabilities fit the true classes. Every figure takes sample weights: a row of weight
//! two counts as two equal rows.

use hingenet_base::numeric::log::{argmax, log_sum_exp};

/// Rows with their true class, weight and predicted class log-probabilities.
#[derive(Debug, Clone, Copy)]
pub struct Predicted<'a> {
    /// True class of each row, below `n_classes`.
    pub truth: &'a [usize],
    /// Weight of each row; `None` means 1.
    pub weights: Option<&'a [f64]>,
    /// `log P(c | row)`, `n_classes` values a row.
    pub log_proba: &'a [f64],
    /// Number of classes K.
    pub n_classes: usize,
}

/// A probability below this is scored as this in the log-loss, so that the loss stays finite (at most
/// about 708): the smallest normal double.
pub const SMALLEST_PROBABILITY: f64 = f64::MIN_POSITIVE;

impl Predicted<'_> {
    /// Weight of row `m`.
    pub(crate) fn weight(&self, m: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[m])
    }

    /// Log-probabilities of row `m`.
    pub(crate) fn row(&self, m: usize) -> &[f64] {
        &self.log_proba[m * self.n_classes..(m + 1) * self.n_classes]
    }

    /// Weight of the rows by true class (outer) and most probable class (inner).
    pub fn confusion(&self) -> Vec<Vec<f64>> {
        let mut table = vec![vec![0.0; self.n_classes]; self.n_classes];
        for (m, &c) in self.truth.iter().enumerate() {
            table[c][argmax(self.row(m))] += self.weight(m);
        }
        table
    }

    /// Whether the most probable class of each row is the true one.
    pub(crate) fn correct(&self) -> Vec<bool> {
        self.truth.iter().enumerate().map(|(m, &c)| argmax(self.row(m)) == c).collect()
    }

    /// Mean of `-log P(true class)`; see [`SMALLEST_PROBABILITY`].
    pub fn log_loss(&self) -> f64 {
        self.mean(|m, c| -self.row(m)[c].max(SMALLEST_PROBABILITY.ln()))
    }

    /// Brier score `mean_m Σ_c (P(c | row m) - [c is true])²`, between 0 and 2.
    pub fn brier(&self) -> f64 {
        self.mean(|m, c| {
            let miss = |(k, l): (usize, &f64)| (l.exp() - f64::from(k == c)).powi(2);
            self.row(m).iter().enumerate().map(miss).sum()
        })
    }

    /// Area under the ROC curve of each class against the rest, averaged with the class weights; `None`
    /// if a single class occurs. Rows are ranked by the log-odds of the class, ties count half.
    pub fn auc(&self) -> Option<f64> {
        let (mut sum, mut total) = (0.0, 0.0);
        for c in 0..self.n_classes {
            if let Some((auc, weight)) = self.class_auc(c) {
                sum += weight * auc;
                total += weight;
            }
        }
        (total > 0.0).then(|| sum / total)
    }

    /// AUC of class `c` against the rest and the weight of its rows.
    fn class_auc(&self, c: usize) -> Option<(f64, f64)> {
        let mut ranked: Vec<(f64, usize)> = (0..self.truth.len()).map(|m| (self.log_odds(m, c), m)).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut positive, mut negative, mut area) = (0.0, 0.0, 0.0);
        for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
            let of_class = |is: bool| -> f64 {
                tied.iter().filter(|(_, m)| (self.truth[*m] == c) == is).map(|(_, m)| self.weight(*m)).sum()
            };
            let (p, n) = (of_class(true), of_class(false));
            area += p * (negative + n / 2.0);
            positive += p;
            negative += n;
        }
        (positive > 0.0 && negative > 0.0).then(|| (area / (positive * negative), positive))
    }

    /// `log P(c | row m) / P(not c | row m)`: what ranks the rows for class `c`.
    pub(crate) fn log_odds(&self, m: usize, c: usize) -> f64 {
        let row = self.row(m);
        let others: Vec<f64> = (0..row.len()).filter(|&k| k != c).map(|k| row[k]).collect();
        let odds = row[c] - log_sum_exp(&others);
        if odds.is_nan() { 0.0 } else { odds }
    }

    fn mean(&self, f: impl Fn(usize, usize) -> f64) -> f64 {
        let sum: f64 = self.truth.iter().enumerate().map(|(m, &c)| self.weight(m) * f(m, c)).sum();
        let total: f64 = (0..self.truth.len()).map(|m| self.weight(m)).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    }
}

/// Share of the weight on the diagonal of a confusion table; 0 for an empty table.
pub fn accuracy(confusion: &[Vec<f64>]) -> f64 {
    let total: f64 = confusion.iter().flatten().sum();
    let correct: f64 = (0..confusion.len()).map(|c| confusion[c][c]).sum();
    if total > 0.0 { correct / total } else { 0.0 }
}

/// Mean over the classes that occur of the share of their weight that is off the diagonal.
pub fn balanced_error(confusion: &[Vec<f64>]) -> f64 {
    let class_error = |(c, row): (usize, &Vec<f64>)| {
        let total: f64 = row.iter().sum();
        (total > 0.0).then(|| 1.0 - row[c] / total)
    };
    let errors: Vec<f64> = confusion.iter().enumerate().filter_map(class_error).collect();
    mean(&errors)
}

/// Rows of a share whose variance is that of the balanced error, if all classes that occur err alike: `C² / Σ_c 1/n_c`.
pub fn balanced_rows(confusion: &[Vec<f64>]) -> f64 {
    let sizes: Vec<f64> = confusion.iter().map(|row| row.iter().sum()).filter(|n| *n > 0.0).collect();
    if sizes.is_empty() {
        0.0
    } else {
        (sizes.len() as f64).powi(2) / sizes.iter().map(|n| 1.0 / n).sum::<f64>()
    }
}

/// Arithmetic mean; 0 for an empty list.
pub fn mean(x: &[f64]) -> f64 {
    if x.is_empty() { 0.0 } else { x.iter().sum::<f64>() / x.len() as f64 }
}

/// Smallest value with at least the share `q` of the weight at or below it, of (value, weight); 0 without weight.
pub(crate) fn quantile(mut values: Vec<(f64, f64)>, q: f64) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|v| v.1).sum();
    let mut sum = 0.0;
    let reached = |v: &&(f64, f64)| {
        sum += v.1;
        sum >= q * total
    };
    values.iter().find(reached).map_or(0.0, |v| v.0)
}

/// Standard deviation with n - 1; `None` for fewer than two values.
pub fn standard_deviation(x: &[f64]) -> Option<f64> {
    let centre = mean(x);
    let squares: f64 = x.iter().map(|v| (v - centre) * (v - centre)).sum();
    (x.len() >= 2).then(|| (squares / (x.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figures_of_a_small_example_by_hand() {
        let p: Vec<f64> = [0.9, 0.1, 0.4, 0.6, 0.8, 0.2, 0.3, 0.7].iter().map(|p: &f64| p.ln()).collect();
        let predicted = Predicted { truth: &[0, 0, 1, 1], weights: None, log_proba: &p, n_classes: 2 };
        assert_eq!(predicted.confusion(), [[1.0, 1.0], [1.0, 1.0]]);
        let loss = -(0.9f64.ln() + 0.4f64.ln() + 0.2f64.ln() + 0.7f64.ln()) / 4.0;
        assert!((predicted.log_loss() - loss).abs() < 1e-12);
        let brier = 2.0 * (0.01 + 0.36 + 0.64 + 0.09) / 4.0;
        assert!((predicted.brier() - brier).abs() < 1e-12);
        // class 1 against class 0: scores .2 .7 against .1 .6, three of four pairs in order
        assert!((predicted.auc().unwrap() - 0.75).abs() < 1e-12);
    }

    #[test]
    fn a_certain_wrong_answer_has_a_finite_loss() {
        let p = [0.0, f64::NEG_INFINITY];
        let predicted = Predicted { truth: &[1], weights: None, log_proba: &p, n_classes: 2 };
        assert!(predicted.log_loss().is_finite() && predicted.log_loss() > 700.0);
        assert_eq!(predicted.auc(), None);
    }

    #[test]
    fn balanced_error_leaves_out_absent_classes() {
        assert_eq!(balanced_error(&[vec![3.0, 1.0, 0.0], vec![0.0, 2.0, 2.0], vec![0.0; 3]]), 0.375);
    }

    proptest! {
        #[test]
        fn a_weight_of_two_equals_a_repeated_row(
            rows in prop::collection::vec((0usize..3, prop::array::uniform3(0.01f64..1.0), 0usize..3), 2..20)
        ) {
            let log = |p: &[f64; 3]| { let s: f64 = p.iter().sum(); p.map(|x| (x / s).ln()).to_vec() };
            let truth: Vec<usize> = rows.iter().map(|r| r.0).collect();
            let weights: Vec<f64> = rows.iter().map(|r| r.2 as f64).collect();
            let flat: Vec<f64> = rows.iter().flat_map(|r| log(&r.1)).collect();
            let repeated: Vec<&(usize, [f64; 3], usize)> =
                rows.iter().flat_map(|r| std::iter::repeat_n(r, r.2)).collect();
            let truth2: Vec<usize> = repeated.iter().map(|r| r.0).collect();
            let flat2: Vec<f64> = repeated.iter().flat_map(|r| log(&r.1)).collect();
            let a = Predicted { truth: &truth, weights: Some(&weights), log_proba: &flat, n_classes: 3 };
            let b = Predicted { truth: &truth2, weights: None, log_proba: &flat2, n_classes: 3 };
            prop_assert_eq!(a.confusion(), b.confusion());
            prop_assert!((a.log_loss() - b.log_loss()).abs() < 1e-12);
            prop_assert!((a.brier() - b.brier()).abs() < 1e-12);
            prop_assert_eq!(a.auc().is_some(), b.auc().is_some());
            if let (Some(x), Some(y)) = (a.auc(), b.auc()) {
                prop_assert!((x - y).abs() < 1e-12);
            }
        }
    }
}
