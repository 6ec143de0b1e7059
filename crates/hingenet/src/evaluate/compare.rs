//! Several models on the same rows: the whole of `hingenet evaluate` as one call.

use super::cross_validate::{Outcome, Splits};
use super::study::paired::Tests;
use super::{Protocol, TestSet, curve};
use crate::model::{Dataset, ModelSpec, PieceTable};
use crate::report::{
    CurvePoint, DataFacts, Evaluation, FORMAT, FailedModel, ModelResult, ProtocolFacts, SweepPoint,
};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_data::pieces::Draw;
use hingenet_data::rows::categories_of;
use hingenet_data::table::Table;
use std::str::FromStr;

/// What to evaluate, on which rows, and how.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The models.
    pub models: &'a [ModelSpec],
    /// An option to try several values of, in the models that have it.
    pub sweep: Option<&'a Sweep>,
    /// The rows to fit on.
    pub data: &'a Dataset,
    /// The rows to test on.
    pub tested: TestRows<'a>,
    /// Folds, repeats, seed and blanked cells.
    pub protocol: &'a Protocol,
    /// Whether the results have the answer to every tested row.
    pub keep_answers: bool,
    /// Which row of its file, from 0, each row is that may be tested; none if they are all rows of it.
    pub row_numbers: Option<&'a [usize]>,
}

/// Which rows are tested.
#[derive(Debug, Clone, Copy)]
pub enum TestRows<'a> {
    /// Each fold of a cross-validation in turn; rows of one group stay together.
    Folds(Option<&'a Groups>),
    /// Rows from elsewhere.
    Set(&'a TestSet),
    /// Rows from elsewhere, or drawn from a table that is too large for the memory. The models are fitted to its pieces;
    /// the data of the plan are some of its rows.
    Pieces(&'a TestSet, TrainingPieces<'a>),
}

/// The rows of a table in pieces that models are fitted to.
#[derive(Debug, Clone, Copy)]
pub struct TrainingPieces<'a> {
    /// The table.
    pub table: &'a PieceTable<'a>,
    /// Rows that are not for fitting.
    pub without: Option<Draw>,
}

/// Rows that belong together, such as those of one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Name of the column that says so.
    pub column: String,
    /// Group number of each row.
    pub group: Vec<usize>,
}

/// An option and the values to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// Option name.
    pub key: String,
    /// Values as text.
    pub values: Vec<String>,
}

impl Groups {
    /// Takes the named column out of a table; every row needs a group.
    pub fn take(table: Table, column: &str) -> Result<(Groups, Table)> {
        let (groups, rest) = table.split_off(column)?;
        let (_, codes) = categories_of(&groups);
        let code = |(m, g): (usize, Option<usize>)| {
            let problem = || format!("column `{column}`: the group is missing");
            g.ok_or_else(|| Error::row(m, problem(), "give every row a group"))
        };
        let group = codes.iter().enumerate().map(code).collect::<Result<Vec<usize>>>()?;
        Ok((Groups { column: column.into(), group }, rest))
    }
}

impl FromStr for Sweep {
    type Err = Error;

    /// Reads `KEY=v1,v2,...`.
    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once('=').map(|(key, values)| {
            let values: Vec<String> = values.split(',').map(|v| v.trim().to_string()).collect();
            (key.trim().to_string(), values)
        });
        match parts {
            Some((key, values)) if !key.is_empty() && values.iter().all(|v| !v.is_empty()) => {
                Ok(Sweep { key, values })
            }
            _ => Err(Error::Parameter {
                name: "sweep".into(),
                value: text.into(),
                expected: "KEY=v1,v2,... such as lambda=0,1,4".into(),
            }),
        }
    }
}

impl Sweep {
    /// Each model that has the option, with every value of it; the other models as they are. Refuses an
    /// option that no model has.
    pub fn expand(&self, models: &[ModelSpec]) -> Result<Vec<Swept>> {
        let has = |spec: &ModelSpec| spec.info().option(&self.key).is_some();
        let refuse_all = !models.iter().any(has);
        let mut found = Vec::new();
        for spec in models {
            if !refuse_all && !has(spec) {
                found.push(Swept { spec: spec.clone(), value: None });
                continue;
            }
            for value in &self.values {
                let spec = format!("{spec},{}={value}", self.key).parse()?;
                found.push(Swept { spec, value: Some(value.clone()) });
            }
        }
        Ok(found)
    }
}

/// A model to evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// Name and options.
    pub spec: ModelSpec,
    /// Value of the swept option, where the model has it.
    pub value: Option<String>,
}

impl<'a> Plan<'a> {
    /// Models on folds of the rows.
    pub fn new(models: &'a [ModelSpec], data: &'a Dataset, protocol: &'a Protocol) -> Self {
        Plan {
            models,
            sweep: None,
            data,
            tested: TestRows::Folds(None),
            protocol,
            keep_answers: false,
            row_numbers: None,
        }
    }

    fn swept(&self) -> Result<Vec<Swept>> {
        match self.sweep {
            None => Ok(self.models.iter().map(|s| Swept { spec: s.clone(), value: None }).collect()),
            Some(sweep) => sweep.expand(self.models),
        }
    }
}

/// Evaluates every model, with every value of the sweep where it has that option, on the same rows.
///
/// ```
/// use hingenet::evaluate::{Plan, Protocol, compare, generate};
/// use hingenet::{Control, Dataset, NaiveBayes, Tan};
/// let data = Dataset::new(generate("corral", Some(200), 1)?, "class", None)?;
/// let models = [NaiveBayes::ml().spec()?, Tan::ml().spec()?];
/// let found = compare(&Plan::new(&models, &data, &Protocol::default()), &Control::default())?;
/// assert!(found.results.iter().all(|r| r.accuracy.mean > 0.7));
/// # Ok::<(), hingenet::Error>(())
/// ```
pub fn compare(plan: &Plan, control: &Control) -> Result<Evaluation> {
    Ok(run(plan, control)?.evaluation(plan))
}

/// What the models answered, and to which rows.
pub(super) struct Ran<'a> {
    pub models: Vec<Swept>,
    pub outcomes: Vec<Outcome>,
    pub failed: Vec<FailedModel>,
    pub curve: Vec<CurvePoint>,
    pub splits: Splits<'a>,
}

/// Fits and tests every model, cheap ones first, and tells each as it is done; the fits tell their warnings to `control`. A
/// model that fails does not stop the others, unless all do.
pub(super) fn run<'a>(plan: &Plan<'a>, control: &Control) -> Result<Ran<'a>> {
    require("models", plan.models.len(), "at least one model", !plan.models.is_empty())?;
    let models = plan.swept()?;
    let mut splits = Splits::new(plan.data, plan.tested, plan.protocol)?;
    plan.row_numbers.map_or(Ok(()), |numbers| splits.name_rows(plan, numbers))?;
    let mut order: Vec<usize> = (0..models.len()).collect();
    order.sort_by_key(|&k| models[k].spec.info().cost());
    let (mut ran, mut failed, mut curves) = (Vec::new(), Vec::new(), Vec::new());
    // the largest number of rows is the one of the results
    let (most, fewer) =
        plan.protocol.rows.split_last().map_or((None, &[][..]), |(n, fewer)| (Some(*n), fewer));
    for (done, k) in order.into_iter().enumerate() {
        let spec = &models[k].spec;
        for &rows in fewer {
            match splits.run_at(spec, rows, control) {
                Ok(result) => curves.push((k, curve::point(rows, &result))),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => failed.push((k, Some(rows), error)),
            }
        }
        match splits.run(spec, control) {
            Ok(outcome) => {
                if models.len() > 1 {
                    control.tell(&news(&outcome.result, done + 1, models.len()));
                }
                curves.extend(most.map(|rows| (k, curve::point(rows, &outcome.result))));
                ran.push((k, outcome));
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => failed.push((k, most, error)),
        }
    }
    ran.sort_by_key(|(k, _)| *k);
    curves.sort_by_key(|(k, point)| (*k, point.rows));
    failed.sort_by_key(|(k, rows, _)| (*k, *rows));
    if ran.is_empty() {
        return Err(failed.swap_remove(0).2);
    }
    let failed = failed.into_iter().map(|(k, rows, error)| {
        let at = rows.map_or(String::new(), |rows| format!(" with {rows} rows"));
        control.warn(&format!("{}{at} failed: {error}", models[k].spec));
        FailedModel { model: models[k].spec.to_string(), rows, problem: error.to_string() }
    });
    Ok(Ran {
        failed: failed.collect(),
        models: ran.iter().map(|(k, _)| models[*k].clone()).collect(),
        outcomes: ran.into_iter().map(|(_, outcome)| outcome).collect(),
        curve: curves.into_iter().map(|(_, point)| point).collect(),
        splits,
    })
}

/// A line about a model that is done.
fn news(result: &ModelResult, done: usize, total: usize) -> String {
    let (accuracy, seconds) = (100.0 * result.accuracy.mean, result.fit_seconds);
    format!(
        "{}: accuracy {accuracy:.2} %, a fit takes {seconds:.2} s ({done} of {total} models)",
        result.model
    )
}

impl Ran<'_> {
    /// The figures.
    pub(super) fn evaluation(&self, plan: &Plan) -> Evaluation {
        let (rows, missing_cells) = match plan.tested {
            TestRows::Pieces(_, pieces) => (pieces.table.rows, pieces.table.missing_cells),
            _ => (plan.data.n_rows(), plan.data.features.n_missing()),
        };
        let mut evaluation = Evaluation {
            data: DataFacts {
                rows,
                features: plan.data.features.n_columns(),
                classes: plan.data.classes.clone(),
                missing_cells,
                target: plan.data.target.clone(),
                unlabelled: plan.data.class.iter().filter(|class| class.is_none()).count(),
                file: None,
            },
            format: FORMAT,
            protocol: protocol_facts(plan),
            results: self.outcomes.iter().map(|o| self.result(o, plan)).collect(),
            failed: self.failed.clone(),
            sweep: plan.sweep.map_or(Vec::new(), |sweep| self.sweep_points(&sweep.key)),
            curve: self.curve.clone(),
            tests: Vec::new(),
        };
        evaluation.tests = Tests::new(self, &evaluation).listed();
        evaluation
    }

    fn result(&self, outcome: &Outcome, plan: &Plan) -> ModelResult {
        let predictions =
            if plan.keep_answers { self.splits.predictions(outcome, &plan.data.classes) } else { Vec::new() };
        ModelResult { predictions, ..outcome.result.clone() }
    }

    fn sweep_points(&self, key: &str) -> Vec<SweepPoint> {
        let point = |(outcome, model): (&Outcome, &Swept)| {
            Some(SweepPoint {
                model: outcome.result.model.clone(),
                key: key.to_string(),
                value: model.value.clone()?,
                accuracy: outcome.result.accuracy.mean,
                ci95: outcome.result.accuracy.ci95,
                interval: outcome.result.accuracy.interval,
                balanced_error: outcome.result.balanced_error.mean,
                log_loss: outcome.result.log_loss,
                log_likelihood: outcome.result.log_likelihood,
                slack: outcome.result.slack,
            })
        };
        self.outcomes.iter().zip(&self.models).filter_map(point).collect()
    }
}

fn protocol_facts(plan: &Plan) -> ProtocolFacts {
    let protocol = plan.protocol;
    let (folds, repeats, groups, test_rows) = match plan.tested {
        TestRows::Folds(g) => (protocol.folds, protocol.repeats, g.map(|g| g.column.clone()), None),
        TestRows::Set(test) | TestRows::Pieces(test, _) => (1, 1, None, Some(test.class.len())),
    };
    let max_time = protocol.max_time.map(|time| time.as_secs_f64());
    let rows = protocol.rows.clone();
    ProtocolFacts { folds, repeats, seed: protocol.seed, groups, test_rows, test_file: None, rows, max_time }
}
