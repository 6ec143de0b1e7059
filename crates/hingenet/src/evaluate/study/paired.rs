//! Models against each other and against the most frequent class, on the same rows, with p-values that hold
//! for all comparisons together.

use super::difference;
use super::signed_ranks::signed_ranks;
use super::verdict::{Against, class_shares};
use crate::evaluate::TestSet;
use crate::evaluate::compare::Ran;
use crate::evaluate::cross_validate::Outcome;
use crate::evaluate::metrics::mean;
use crate::report::{Difference, Evaluation, ModelResult, PairTest, Tested};
use hingenet_base::numeric::log::argmax;
use rayon::prelude::*;

/// Differences of accuracy on the same rows, tested fold by fold or row by row.
pub(in crate::evaluate) struct Tests<'a> {
    ran: &'a Ran<'a>,
    tested: &'a TestSet,
    evaluation: &'a Evaluation,
    /// Whether each row (of the first repeat) was answered correctly, model by model.
    right: Vec<Vec<bool>>,
    /// The most frequent class of the tested rows and its share.
    pub(super) majority: (usize, f64),
}

impl<'a> Tests<'a> {
    pub(in crate::evaluate) fn new(ran: &'a Ran<'a>, evaluation: &'a Evaluation) -> Self {
        let (tested, k) = (ran.splits.tested.as_ref(), ran.splits.n_classes());
        let right = |o: &Outcome| tested.predicted(&o.log_proba[0], k).correct();
        let shares = class_shares(&tested.class, tested.weights.as_deref(), k);
        let largest = argmax(&shares);
        let right = ran.outcomes.par_iter().map(right).collect();
        Tests { ran, tested, evaluation, right, majority: (largest, shares[largest]) }
    }

    /// All pairs of models, with p-values adjusted for their number.
    pub(super) fn pairs(&self) -> Vec<Difference> {
        let n = self.ran.outcomes.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let mut found: Vec<Difference> = pairs.map(|(i, j)| self.pair(i, j)).collect();
        let adjusted = difference::holm(&found.iter().map(|d| d.tested.p_value).collect::<Vec<_>>());
        found.iter_mut().zip(adjusted).for_each(|(d, p)| d.tested.p_adjusted = p);
        found
    }

    fn pair(&self, first: usize, second: usize) -> Difference {
        let folds = self.by_fold(first, second, |result| &result.accuracy.folds);
        let (ci95, p_value) = self.test(&folds, &self.right[first], &self.right[second]);
        let signed_ranks = signed_ranks(&folds, self.others());
        let tested = Tested { ci95, p_value, p_adjusted: None, signed_ranks };
        Difference { first, second, mean: mean(&folds), tested, folds }
    }

    /// What each fold has of one model less what it has of another.
    fn by_fold(&self, first: usize, second: usize, of: fn(&ModelResult) -> &Vec<f64>) -> Vec<f64> {
        let results = &self.evaluation.results;
        of(&results[first]).iter().zip(of(&results[second])).map(|(a, b)| a - b).collect()
    }

    /// Comparisons of one model with all others.
    fn others(&self) -> usize {
        self.ran.outcomes.len().saturating_sub(1)
    }

    /// The tests of all pairs, as the JSON has them.
    pub(in crate::evaluate) fn listed(&self) -> Vec<PairTest> {
        let name = |i: usize| self.evaluation.results[i].model.clone();
        let one = |d: Difference| {
            let balanced = self.by_fold(d.first, d.second, |result| &result.balanced_error.folds);
            PairTest {
                first: name(d.first),
                second: name(d.second),
                accuracy: d.mean,
                tested: d.tested,
                balanced_error: mean(&balanced),
                signed_ranks_balanced: signed_ranks(&balanced, self.others()),
            }
        };
        self.pairs().into_iter().map(one).collect()
    }

    /// Each model less always answering the most frequent class.
    pub(super) fn against_the_majority(&self) -> Vec<Against> {
        let always: Vec<bool> = self.tested.class.iter().map(|c| *c == self.majority.0).collect();
        let shares: Vec<f64> =
            self.ran.splits.folds.iter().flat_map(|fold| self.share_by_fold(fold)).collect();
        let one = |i: usize| {
            let accuracy = &self.evaluation.results[i].accuracy.folds;
            let folds: Vec<f64> = accuracy.iter().zip(&shares).map(|(a, b)| a - b).collect();
            (mean(&folds), self.test(&folds, &self.right[i], &always).1)
        };
        let found: Vec<(f64, Option<f64>)> = (0..self.right.len()).map(one).collect();
        let adjusted = difference::holm(&found.iter().map(|f| f.1).collect::<Vec<_>>());
        found.iter().zip(adjusted).map(|(f, p_adjusted)| Against { mean: f.0, p_adjusted }).collect()
    }

    /// Share of the most frequent class in each fold of one repeat.
    fn share_by_fold(&self, fold: &[usize]) -> Vec<f64> {
        let n = self.evaluation.protocol.folds;
        let (mut all, mut of_class) = (vec![0.0; n], vec![0.0; n]);
        for (m, &f) in fold.iter().enumerate() {
            all[f] += self.weight(m);
            of_class[f] += if self.tested.class[m] == self.majority.0 { self.weight(m) } else { 0.0 };
        }
        of_class.iter().zip(all).map(|(c, n)| if n > 0.0 { c / n } else { 0.0 }).collect()
    }

    fn weight(&self, m: usize) -> f64 {
        self.tested.weights.as_ref().map_or(1.0, |w| w[m])
    }

    /// Half-width of the interval and p-value: over folds, or over rows where folds cannot be tested.
    fn test(&self, folds: &[f64], first: &[bool], second: &[bool]) -> (Option<f64>, Option<f64>) {
        match difference::corrected_t_test(folds, self.ran.splits.test_to_train()) {
            Some(test) => (Some(test.ci95), Some(test.p_value)),
            None => {
                let only = |x: &[bool], y: &[bool]| {
                    (0..x.len()).filter(|&m| x[m] && !y[m]).map(|m| self.weight(m)).sum::<f64>()
                };
                (None, difference::mcnemar(only(first, second), only(second, first)))
            }
        }
    }
}
