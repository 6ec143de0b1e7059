//! What the evaluation report shows beside the figures of an [`Evaluation`]: the verdict, differences
//! between models, curves, calibration, margins, findings about the data, and how to repeat it all.

use super::{Curve, Evaluation, Importance, Interval, SweepPoint, Tested};
use hingenet_base::solver::SolverReport;
use hingenet_data::table::Unseen;
use serde::{Deserialize, Serialize};

/// Everything on the page of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// The figures, as in the JSON.
    pub evaluation: Evaluation,
    /// What to make of them.
    pub verdict: Verdict,
    /// Headline figures of the best model.
    pub headlines: Vec<Headline>,
    /// Differences of accuracy between all pairs of models.
    pub differences: Vec<Difference>,
    /// More about each model, in the order of the results.
    pub models: Vec<ModelStudy>,
    /// How much each feature moves the decisions of the best model about rows of the first fold, which it was not fitted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// One curve for each model whose option was swept.
    pub trade_offs: Vec<TradeOff>,
    /// What is worth knowing about the rows.
    pub findings: DataFindings,
    /// How to repeat it.
    pub reproduction: Reproduction,
}

/// The parts of the verdict sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Position of the model with the largest mean accuracy (ties: smaller log-loss) in the results.
    pub best: usize,
    /// The most frequent class of the tested rows.
    pub majority_class: String,
    /// Its share: the accuracy of always saying it.
    pub majority_share: f64,
    /// Accuracy of the best model less that share.
    pub gain: f64,
    /// p-value of that difference: the test between models, adjusted over all models (Holm).
    pub gain_p: Option<f64>,
    /// Whether the best model is significantly more accurate than always saying the most frequent class.
    pub is_useful: bool,
    /// Level of the tests.
    pub level: f64,
    /// Models that the test, adjusted over all pairs, tells apart from the best one, by position.
    pub worse: Vec<usize>,
    /// Models that it does not, by position.
    pub similar: Vec<usize>,
}

/// One figure with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// What is measured.
    pub name: String,
    /// What it means, in a few words.
    pub about: String,
    /// Mean over folds.
    pub value: f64,
    /// Its 95 % interval, if there is one.
    pub interval: Option<Interval>,
    /// The same figure of the class frequencies alone.
    pub baseline: Option<f64>,
    /// Whether the figure is a share, to be shown in per cent.
    pub is_share: bool,
}

/// Accuracy of one model less that of another, on the same rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Position of the first model in the results.
    pub first: usize,
    /// Position of the second.
    pub second: usize,
    /// Mean of the differences.
    pub mean: f64,
    /// Whether that is more than chance.
    #[serde(flatten)]
    pub tested: Tested,
    /// Difference in each fold.
    pub folds: Vec<f64>,
}

/// Figures of one model that need every single prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelStudy {
    /// Name and options.
    pub model: String,
    /// Share of each true class (outer) given each answer (inner); rows without weight are all 0.
    pub rates: Vec<Vec<f64>>,
    /// Curves of each class against the rest.
    pub classes: Vec<ClassCurves>,
    /// How far its probabilities can be trusted.
    pub reliability: Reliability,
    /// The same before its probabilities were calibrated, where they were.
    pub uncalibrated: Option<Reliability>,
    /// How clear its decisions are.
    pub margins: MarginHistogram,
    /// Rows that were answered wrongly (in the first repeat), those first whose true class was given the least probability; not
    /// all, if there are many.
    pub mistakes: Vec<Mistake>,
    /// How many there are.
    pub n_mistakes: usize,
    /// Accuracy against the share of blanked cells, with its 95 % interval.
    pub missing: Option<Curve>,
    /// The same for the parts of a composed model, each alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_parts: Vec<Curve>,
    /// How the solver ended in each fold, where one ran.
    pub solvers: Vec<SolverReport>,
}

/// A row that was answered wrongly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// Row of the tested file, from 1.
    pub row: usize,
    /// Fold in which it was tested, from 1.
    pub fold: usize,
    /// Its class.
    pub class: String,
    /// Probability that its class was given.
    pub of_class: f64,
    /// The most probable class.
    pub answer: String,
    /// Its probability.
    pub of_answer: f64,
}

/// Curves of one class against the rest, thinned to at most 200 points.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClassCurves {
    /// (false positive rate, true positive rate).
    pub roc: Vec<(f64, f64)>,
    /// (recall, precision).
    pub precision_recall: Vec<(f64, f64)>,
    /// Area under the ROC curve over all tested rows together; none if the class or the rest is absent.
    pub auc: Option<f64>,
    /// Mean precision over recall (average precision).
    pub average_precision: Option<f64>,
    /// Share of the class: the precision of a guess.
    pub prevalence: f64,
}

/// Stated probability of the answer against how often it was right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Bins of equal width that hold rows.
    pub bins: Vec<ReliabilityBin>,
    /// Mean distance of stated probability and share correct, weighted by rows (expected calibration error).
    pub error: f64,
}

/// Rows whose answer was given with a probability between `from` and `to`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Lower end.
    pub from: f64,
    /// Upper end.
    pub to: f64,
    /// Total weight of the rows.
    pub weight: f64,
    /// Mean stated probability.
    pub stated: f64,
    /// Share answered correctly.
    pub correct: f64,
    /// 95 % interval of that share.
    #[serde(flatten)]
    pub interval: Interval,
}

/// Histogram of `log P(true class) - max log P(other class)`: above 0 the answer is right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarginHistogram {
    /// Ends of the bins, one more than bins, the same for all models; the outer bins also hold what lies
    /// beyond them.
    pub edges: Vec<f64>,
    /// Share of the weight in each bin.
    pub shares: Vec<f64>,
    /// Median margin, limited to the outer ends.
    pub median: f64,
}

/// What becomes of a model as one option grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeOff {
    /// Model without the option.
    pub model: String,
    /// Option that was swept.
    pub key: String,
    /// One point a value, in the order asked for.
    pub points: Vec<SweepPoint>,
}

/// What is worth knowing about the rows before trusting a model of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DataFindings {
    /// Class names with the number of rows and their share of the weight.
    pub classes: Vec<Share>,
    /// Columns with a single value.
    pub constant: Vec<String>,
    /// Columns that repeat another: (column, the first one with the same cells).
    pub duplicates: Vec<(String, String)>,
    /// Columns that look like names or numbers of rows, with the number of distinct values.
    pub id_like: Vec<(String, usize)>,
    /// Columns with missing cells and how many, most first.
    pub missing: Vec<Share>,
    /// Rows without missing cells.
    pub complete_rows: usize,
    /// The most frequent sets of columns that are missing together, with their number of rows.
    pub patterns: Vec<(Vec<String>, usize)>,
    /// Categories that occur in test rows but not in the rows fitted on, over all folds.
    pub unseen: Vec<Unseen>,
    /// Rows whose features repeat those of another row.
    pub repeated_rows: usize,
    /// Rows whose features also occur with another class.
    pub contradicting_rows: usize,
    /// What looks wrong, with what mends it, a sentence each.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// Every feature column.
    pub columns: Vec<ColumnFacts>,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnFacts {
    /// Its name.
    pub name: String,
    /// Smallest and largest number; none for categories, and without any number.
    pub range: Option<(f64, f64)>,
    /// Whether it holds numbers.
    pub is_numeric: bool,
    /// Different values.
    pub distinct: usize,
    /// Missing cells.
    pub missing: usize,
    /// Its rows by value: intervals of equal width, or categories (the most frequent, then all others together).
    pub bins: Vec<ColumnBin>,
}

/// Rows with values in one interval or of one category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnBin {
    /// The interval or category.
    pub name: String,
    /// Weight of the rows of each class.
    pub classes: Vec<f64>,
}

/// How often a class occurs, or how many cells of a column are missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Name of the class or column.
    pub name: String,
    /// Rows or cells.
    pub count: usize,
    /// Share of the total weight, or of the cells.
    pub share: f64,
}

/// How to get the same numbers again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reproduction {
    /// The command, where there was one.
    pub command: Option<String>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Version of this library.
    pub version: String,
    /// Warnings of the fits, each once.
    pub warnings: Vec<String>,
}
