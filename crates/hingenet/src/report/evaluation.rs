//! What an evaluation found. Made by `evaluate`, written as JSON or drawn as a table by others.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON of an [`Evaluation`]: it rises when a field changes its meaning or goes, not when one is added.
pub(crate) const FORMAT: u32 = 1;

/// The comparison of models on one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// What was evaluated on.
    pub data: DataFacts,
    /// Version of this form: 1.
    pub format: u32,
    /// How.
    pub protocol: ProtocolFacts,
    /// One entry a model, in the order asked for.
    pub results: Vec<ModelResult>,
    /// Tests of the differences between all pairs of models; empty for a single model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<PairTest>,
    /// Models that could not be fitted or tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedModel>,
    /// One entry for each value of a swept option; empty when none was swept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<SweepPoint>,
    /// The learning curves, model by model and in the order of the rows; empty when none was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<CurvePoint>,
}

/// Is one model better than another? On the same rows, fold by fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairTest {
    /// Name and options of the first model.
    pub first: String,
    /// Of the second.
    pub second: String,
    /// Mean accuracy of the first less that of the second.
    pub accuracy: f64,
    /// Whether it is more than chance.
    #[serde(flatten)]
    pub tested: Tested,
    /// Mean balanced error of the first less that of the second.
    pub balanced_error: f64,
    /// Wilcoxon's test of the balanced errors; none for a single split.
    pub signed_ranks_balanced: Option<SignedRanks>,
}

/// What tests say of a mean difference of accuracies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// Half-width of its 95 % interval with the corrected variance; none for a single split.
    pub ci95: Option<f64>,
    /// Two-sided p-value: corrected resampled t-test over folds (Nadeau and Bengio); exact McNemar test over
    /// rows for a single split, and where all folds differ by the same amount. None when nothing differs.
    pub p_value: Option<f64>,
    /// The same, adjusted for the number of pairs (Holm).
    pub p_adjusted: Option<f64>,
    /// Wilcoxon's test, which takes folds for independent; none for a single split.
    pub signed_ranks: Option<SignedRanks>,
}

/// Wilcoxon's signed-rank test over folds and repeats. It takes them for independent, which they are not: its p-values are too
/// small, and more repeats make them smaller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignedRanks {
    /// Differences: folds times repeats.
    pub pairs: usize,
    /// Those that are 0.
    pub zeros: usize,
    /// The smaller one of the rank sums of both signs.
    pub statistic: f64,
    /// Two-sided p-value.
    pub p_value: f64,
    /// The same times the number of other models (Bonferroni), at most 1: for comparisons of one model with all others.
    pub p_bonferroni: f64,
    /// Whether the distribution was counted out (no ties, no zeros, at most 50 differences); else it is a normal approximation
    /// corrected for them.
    pub is_exact: bool,
}

/// A model that could not be fitted or tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedModel {
    /// Name and options.
    pub model: String,
    /// Number of training rows with which it could not, where a curve has other points of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// Why.
    pub problem: String,
}

/// Size and classes of a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataFacts {
    /// Rows (of the training file, when a test file is given).
    pub rows: usize,
    /// Feature columns.
    pub features: usize,
    /// Class names in code order.
    pub classes: Vec<String>,
    /// Feature cells that are missing.
    pub missing_cells: usize,
    /// Name of the column that is predicted.
    pub target: String,
    /// Rows without a class, of those above: every training part has them, and none is tested.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlabelled: usize,
    /// Name of the file that was read, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// How models were evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProtocolFacts {
    /// Folds of the cross-validation; 1 for a train/test pair.
    pub folds: usize,
    /// How often the cross-validation was repeated with other folds.
    pub repeats: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// Column whose equal values were kept in one fold, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    /// Rows of the test file, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_rows: Option<usize>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_file: Option<String>,
    /// Numbers of training rows of a learning curve; the results are those of the last. Empty where fits had all rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<usize>,
    /// Seconds that each fit of a rule with margins was given, if there was a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<f64>,
}

/// What one model achieved. Figures are means over folds unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelResult {
    /// Name and options.
    pub model: String,
    /// Share of rows classified correctly.
    pub accuracy: FoldAccuracy,
    /// Mean over classes of the error rate within the class.
    pub balanced_error: BalancedError,
    /// Mean of `-log P(true class)`, natural logarithm.
    pub log_loss: f64,
    /// Mean squared distance of the probability vector from the true class (0 to 2).
    pub brier: f64,
    /// Area under the ROC curve, one class against the rest, weighted by class size; none if a single
    /// class occurs in every test part.
    pub auc: Option<f64>,
    /// Mean `log P(class, observed features)` of a test row, natural logarithm, where the model gives one
    /// and no row is impossible.
    pub log_likelihood: Option<f64>,
    /// Mean slack `max(0, γ − log margin)` of a training row, for models trained with a margin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<f64>,
    /// Mean wall-clock seconds of one fit. Folds run side by side, so this is not pure work.
    pub fit_seconds: f64,
    /// Mean wall-clock seconds to predict one test part.
    pub predict_seconds: f64,
    /// Options chosen by inner cross-validation, one entry a fold; empty when nothing was chosen.
    pub chosen: Vec<BTreeMap<String, f64>>,
    /// Accuracy when feature cells of the test rows are blanked at random.
    pub missing: Vec<MissingPoint>,
    /// The same for each term of a pool alone; empty for other models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<TermResult>,
    /// Total weight of test rows by true class (outer) and predicted class (inner), all folds.
    pub confusion: Vec<Vec<f64>>,
    /// Each class against the rest, over all tested rows.
    pub classes: Vec<ClassResult>,
    /// The answer to every tested row, where it was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predictions: Vec<RowPrediction>,
}

/// One class against the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassResult {
    /// Name of the class.
    pub class: String,
    /// Rows of the class and of the rest by the answer: the class, or another.
    pub counts: Counts,
    /// Share of the rows of the class that are answered so; none where there are no such rows, as below.
    pub sensitivity: Option<Proportion>,
    /// Share of the rows of other classes that are answered otherwise.
    pub specificity: Option<Proportion>,
    /// Positive predictive value: share of the answers of the class that are right.
    pub ppv: Option<Proportion>,
    /// Negative predictive value: share of the other answers whose rows are of another class.
    pub npv: Option<Proportion>,
    /// The same counts if the class is answered where its probability reaches a threshold, 0.01 to 0.99.
    pub thresholds: Vec<ThresholdPoint>,
}

/// Weight of tested rows, all repeats together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Of the class, answered so.
    pub true_positives: f64,
    /// Of another class, answered as the class.
    pub false_positives: f64,
    /// Of the class, answered otherwise.
    pub false_negatives: f64,
    /// Of another class, answered otherwise.
    pub true_negatives: f64,
}

/// A share of rows with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Proportion {
    /// The share.
    pub value: f64,
    /// Its interval.
    #[serde(flatten)]
    pub interval: Interval,
}

/// What comes of answering a class where its probability is at least the threshold t.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThresholdPoint {
    /// t.
    pub threshold: f64,
    /// Weight of rows of the class that reach it.
    pub true_positives: f64,
    /// Weight of rows of other classes that reach it.
    pub false_positives: f64,
    /// Net benefit (true positives − false positives t / (1 − t)) / rows: the point of the decision curve.
    pub net_benefit: f64,
    /// The same if every row is answered with the class; never answering it has 0.
    pub treat_all: f64,
}

/// The answer to one tested row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowPrediction {
    /// Row of the tested file, from 1.
    pub row: usize,
    /// Repeat of the cross-validation, from 1, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<usize>,
    /// Fold in which the row was tested, from 1.
    pub fold: usize,
    /// Its class.
    pub class: String,
    /// The most probable class.
    pub answer: String,
    /// Probability of each class.
    pub probabilities: Vec<f64>,
}

/// What one term of a pool would achieve alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TermResult {
    /// Its letter.
    pub name: String,
    /// Accuracy when feature cells of the test rows are blanked at random.
    pub missing: Vec<MissingPoint>,
}

/// Ends of a 95 % interval. That of a share is Wilson's and lies inside [0, 1]; it need not be symmetric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Half of its width.
    pub(crate) fn half(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// Accuracy with its 95 % interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoldAccuracy {
    /// Mean over folds.
    pub mean: f64,
    /// Half the width of its interval.
    pub ci95: f64,
    /// The interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// Each fold.
    pub folds: Vec<f64>,
}

/// Balanced error over folds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BalancedError {
    /// Mean over folds.
    pub mean: f64,
    /// Its 95 % interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// Standard deviation over folds (n - 1); none for a single split.
    pub sd: Option<f64>,
    /// Each fold.
    pub folds: Vec<f64>,
}

/// Accuracy at one share of blanked cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingPoint {
    /// Probability with which each feature cell was blanked.
    pub rate: f64,
    /// Mean accuracy over folds.
    pub accuracy: f64,
    /// Half the width of its interval.
    pub ci95: f64,
    /// Its 95 % interval.
    #[serde(flatten)]
    pub interval: Interval,
}

/// What one model achieved with one number of training rows: the figures of [`ModelResult`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Name and options.
    pub model: String,
    /// Training rows of each fit.
    pub rows: usize,
    /// Share of rows classified correctly.
    pub accuracy: FoldAccuracy,
    /// Mean over classes of the error rate within the class.
    pub balanced_error: BalancedError,
    /// Mean log-loss.
    pub log_loss: f64,
    /// Mean Brier score.
    pub brier: f64,
    /// Area under the ROC curve.
    pub auc: Option<f64>,
    /// Mean `log P(class, observed features)` of a test row, where the model gives one.
    pub log_likelihood: Option<f64>,
    /// Mean wall-clock seconds of one fit.
    pub fit_seconds: f64,
}

/// One value of a swept option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// Model with the option set.
    pub model: String,
    /// Option that was swept.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Mean accuracy.
    pub accuracy: f64,
    /// Half the width of its interval.
    pub ci95: f64,
    /// Its 95 % interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// Mean balanced error.
    pub balanced_error: f64,
    /// Mean log-loss.
    pub log_loss: f64,
    /// Mean `log P(class, observed features)` of a test row, where the model gives one.
    pub log_likelihood: Option<f64>,
    /// Mean slack `max(0, γ − log margin)` of a training row, for models trained with a margin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<f64>,
}
