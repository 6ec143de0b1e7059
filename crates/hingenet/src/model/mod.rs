//! One enum over the families, the model file, and the exchange formats. Alone knows all families.
//!
//! A [`Dataset`] (features, class, weights) and a [`ModelSpec`] (name and options) go into [`fit`]; a
//! [`Model`] comes out: it knows its columns by name, so any table can be given to it.

mod answer;
mod builders;
mod density;
mod discrete;
pub(crate) mod doubts;
pub(crate) mod exchange;
#[doc(hidden)]
pub mod file;
mod fit;
mod gaussian;
mod generative;
mod impute;
mod knowledge;
mod majority;
mod numbers;
mod options;
mod pieces;
mod pool;
pub(crate) mod query;
mod registry;
mod sets;
mod spec;
mod steps;
mod unlike;

pub use builders::{Aode, Dag, FisherSvm, KTree, KernelDensity, LogDensity, NaiveBayes, Pool, Sgbn, Tan};
pub use doubts::{Doubt, doubts};
pub use exchange::{NamedNetwork, Variable};
pub use fit::{FitOptions, fit};
// for the Python package
#[doc(hidden)]
pub use density::fit_log_densities;
#[doc(hidden)]
pub use fit::fit_numbers;
pub use gaussian::{NetworkFit, fit_network};
pub use generative::RowLikelihood;
pub use hingenet_data::rows::{ClassWeight, Dataset, NumberData};
pub use knowledge::{Knowledge, NodeFacts};
use majority::Majority;
pub use options::{OptionDefault, OptionInfo, OptionKind};
pub use pieces::{Gathered, PieceFit, PieceTable};
pub use query::{Answer, Known, Posterior, Query};
pub use registry::{DEFAULT_MODEL, ModelInfo, models};
pub use spec::ModelSpec;
use unlike::Ranges;
// for the program
#[doc(hidden)]
pub use unlike::doubts_of_test_rows;

use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::Classifier;
use hingenet_data::explain::{Explanation, Reasons};
use hingenet_data::table::{AlignReport, Schema, Table, UnseenPolicy};
use hingenet_density::DensityClassifier;
use hingenet_discrete::{AveragedClassifier, DiscreteClassifier};
use hingenet_gaussian::GaussianClassifier;
pub use hingenet_pool::Gaps;
use hingenet_pool::{PoolClassifier, PoolSummary};

/// A fitted classifier with the names it needs to read any table.
///
/// ```
/// use hingenet::evaluate::generate;
/// use hingenet::model::{Dataset, FitOptions, Model, fit};
/// use hingenet::{Control, Table, table::UnseenPolicy};
/// let data = Dataset::new(generate("corral", Some(200), 1)?, "class", None)?;
/// let model = fit(&"tan:ml,alpha=2".parse()?, &data, FitOptions::default(), &Control::default())?;
/// // A table without the columns of the model is a table of missing features: the class priors are left.
/// let nothing = model.predict(&Table::without_columns(1), UnseenPolicy::Missing)?;
/// assert_eq!(nothing.report.absent.len(), model.schema.features.len());
/// assert_eq!(Model::from_bytes(&model.to_bytes()?)?, model);
/// # Ok::<(), hingenet::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name and options as asked for.
    pub spec: ModelSpec,
    /// Name of the target column.
    pub target: String,
    /// Class names in code order.
    pub classes: Vec<String>,
    /// Feature columns as in training.
    pub schema: Schema,
    /// Facts of the fit, for people: rows, total weight, options chosen by inner search.
    pub facts: Facts,
    /// The fitted family.
    pub fitted: Fitted,
    /// How strange rows outside the fit are, where it was asked to calibrate prediction sets.
    pub(crate) sets: Option<sets::SetScores>,
    /// The statistics it was made of, where it was asked to keep them.
    pub(crate) kept: Option<Box<pieces::Kept>>,
}

/// What is worth knowing about how a model came about.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Facts {
    /// Training rows.
    pub rows: usize,
    /// Cells that were missing in them.
    pub missing_cells: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// Options chosen by inner cross-validation, as `key = value`.
    pub chosen: std::collections::BTreeMap<String, f64>,
    /// Smallest and largest number of each column of numbers; empty in files of earlier versions.
    #[serde(default)]
    pub ranges: Ranges,
    /// How the solver ended, where one ran.
    pub solver: Option<SolverReport>,
    /// Warnings of the fit (a stated rule was applied to unusual data).
    pub warnings: Vec<String>,
}

/// The families. Closed: a model file can hold nothing else.
#[derive(Debug, Clone, PartialEq)]
pub enum Fitted {
    /// The class frequencies, whatever the features say.
    Majority(Majority),
    /// A discrete Bayesian network.
    Discrete(DiscreteClassifier),
    /// An average of discrete networks.
    Averaged(AveragedClassifier),
    /// Log densities of features and pairs.
    Density(DensityClassifier),
    /// A sparse Gaussian network for each class.
    Gaussian(GaussianClassifier),
    /// The pool of kernel density, averaged network, Gaussian and kernel machine.
    Pool(Box<PoolClassifier>),
}

impl Fitted {
    /// The family behind the common interface.
    pub fn classifier(&self) -> &dyn Classifier {
        match self {
            Fitted::Majority(m) => m,
            Fitted::Discrete(m) => m,
            Fitted::Averaged(m) => m,
            Fitted::Density(m) => m,
            Fitted::Gaussian(m) => m,
            Fitted::Pool(m) => m.as_ref(),
        }
    }
}

/// Class probabilities of rows, and what had to be done to read the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// `log P(c | observed)`, K values a row.
    pub log_proba: Vec<f64>,
    /// Number of classes K.
    pub n_classes: usize,
    /// Missing cells of each row, unseen categories among them.
    pub missing: Vec<usize>,
    /// Columns absent, ignored or with unseen categories.
    pub report: AlignReport,
}

impl Predictions {
    /// Most probable class of row `i`, ties to the smallest code.
    pub fn class(&self, i: usize) -> usize {
        hingenet_base::numeric::log::argmax(self.row(i))
    }

    /// Log probabilities of row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.log_proba[i * self.n_classes..(i + 1) * self.n_classes]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.log_proba.len() / self.n_classes
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.log_proba.is_empty()
    }
}

impl Model {
    /// Class probabilities of any table: columns are found by name, absent ones are missing features.
    pub fn predict(&self, table: &Table, unseen: UnseenPolicy) -> Result<Predictions> {
        self.predict_watched(table, unseen, &Control::default())
    }

    /// [`Self::predict`] that tells how far it is and can be stopped.
    pub fn predict_watched(
        &self,
        table: &Table,
        unseen: UnseenPolicy,
        control: &Control,
    ) -> Result<Predictions> {
        let (rows, report) = self.schema.align(table, unseen)?;
        let log_proba = steps::in_steps(&rows, control, |part| {
            Ok(vec![self.posteriors(self.fitted.classifier().log_proba(part))?])
        })?;
        let missing = rows.missing_in_rows();
        Ok(Predictions { log_proba: log_proba.concat(), n_classes: self.classes.len(), missing, report })
    }

    /// Says what missing cells of the rows to come mean, [`Gaps::AsInTraining`] if nothing is said. It matters to a pool that has
    /// learnt that gaps tell the class ([`Self::pool_summary`]); other models read every missing cell as not known.
    pub fn read_gaps(&mut self, gaps: Gaps) {
        if let Fitted::Pool(pool) = &mut self.fitted {
            pool.read_gaps(gaps);
        }
    }

    /// Class probabilities of the model and, for a pool, of each of its terms alone, by the term's name.
    pub fn predict_terms(
        &self,
        table: &Table,
        unseen: UnseenPolicy,
        control: &Control,
    ) -> Result<(Predictions, Vec<(&'static str, Predictions)>)> {
        let Fitted::Pool(pool) = &self.fitted else {
            return Ok((self.predict_watched(table, unseen, control)?, Vec::new()));
        };
        let (rows, report) = self.schema.align(table, unseen)?;
        let mut names = Vec::new();
        let all = steps::in_steps(&rows, control, |part| {
            let (log_proba, terms) = self.answered(pool.log_proba_and_terms(part), |_| true)?;
            names = terms.iter().map(|(name, _)| *name).collect();
            let all = std::iter::once(log_proba).chain(terms.into_iter().map(|(_, l)| l));
            all.map(|l| self.posteriors(Ok(l))).collect()
        })?;
        let (n_classes, missing) = (self.classes.len(), rows.missing_in_rows());
        let mut all = all.into_iter().map(|log_proba| Predictions {
            log_proba,
            n_classes,
            missing: missing.clone(),
            report: report.clone(),
        });
        let whole = all.next().ok_or_else(|| Error::data("there are no predictions", ""))?;
        Ok((whole, names.into_iter().zip(all).collect()))
    }

    /// The error of what this model cannot do; `hint` says what to use instead.
    fn unsupported(&self, problem: impl Into<String>, hint: &str) -> Error {
        Error::Unsupported { model: self.spec.to_string(), problem: problem.into(), hint: hint.into() }
    }

    /// A pool in a few numbers; `None` for other models.
    pub fn pool_summary(&self) -> Option<PoolSummary> {
        match &self.fitted {
            Fitted::Pool(pool) => Some(pool.summary()),
            _ => None,
        }
    }

    /// Why row `row` of a table got its class: Shapley values of its known features.
    pub fn explain(&self, table: &Table, row: usize, unseen: UnseenPolicy) -> Result<Explanation> {
        let (one, _) = self.schema.align(&table.one_row(row)?, unseen)?;
        let explain = self.fitted.classifier().explain(&one, 0, &Reasons::default(), &Control::default());
        self.explained(explain)
    }

    /// Why every row of a table got its class, row by row as asked for; the table is aligned once.
    pub fn explanations(
        &self,
        table: &Table,
        unseen: UnseenPolicy,
        reasons: Reasons,
        control: &Control,
    ) -> Result<impl ExactSizeIterator<Item = Result<Explanation>>> {
        let (rows, _) = self.schema.align(table, unseen)?;
        let n_rows = rows.n_rows();
        let explain = move |m: usize| self.fitted.classifier().explain(&rows, m, &reasons, control);
        Ok((0..n_rows).map(move |m| self.explained(explain(m))))
    }

    /// What to measure next for row `row`: every missing feature with the information (nats) that its value
    /// is expected to give about the class, largest first; `None` if the model cannot say.
    pub fn next_measurements(
        &self,
        table: &Table,
        row: usize,
        unseen: UnseenPolicy,
    ) -> Result<Option<Vec<(usize, f64)>>> {
        let (one, _) = self.schema.align(&table.one_row(row)?, unseen)?;
        let gains = self.fitted.classifier().next_measurements(&one);
        self.answered(gains, |gains| gains.iter().flatten().all(|(_, nats)| nats.is_finite()))
    }
}
