//! Several models on the same rows: the whole of `hingenet evaluate` as one call.

use super::{CrossValidation, Outcome, Protocol, TestSet, data_facts, train_test};
use crate::control::Control;
use crate::error::{Error, Result, require};
use crate::model::dataset::categories_of;
use crate::model::{Dataset, ModelSpec};
use crate::report::{Evaluation, ProtocolFacts, SweepPoint};
use crate::table::Table;
use std::str::FromStr;

/// Which rows are tested.
#[derive(Debug, Clone, Copy)]
pub enum TestRows<'a> {
    /// Each fold of a cross-validation in turn; rows of one group stay together.
    Folds(Option<&'a Groups>),
    /// Rows from elsewhere.
    Set(&'a TestSet),
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
            let problem = || format!("the group of row {} is missing", m + 1);
            g.ok_or_else(|| Error::column(column, problem(), "give every row a group"))
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
    /// The model with the option set to each value; refuses a model that has no such option.
    pub fn specs(&self, spec: &ModelSpec) -> Result<Vec<ModelSpec>> {
        self.values.iter().map(|value| format!("{spec},{}={value}", self.key).parse()).collect()
    }
}

/// Evaluates every model, or every model with every value of the sweep, on the same rows.
pub fn compare(
    specs: &[ModelSpec],
    sweep: Option<&Sweep>,
    data: &Dataset,
    tested: TestRows,
    protocol: &Protocol,
    control: &Control,
) -> Result<Evaluation> {
    let ran = run(specs, sweep, data, tested, protocol, control)?;
    Ok(evaluation_of(&ran, sweep, data, tested, protocol))
}

/// What the models answered, and to which rows.
pub(super) struct Ran {
    pub outcomes: Vec<Outcome>,
    /// The tested rows, without those of weight zero.
    pub rows: Table,
    pub truth: Vec<usize>,
    pub weights: Option<Vec<f64>>,
    /// Fold of each row in the first repeat; all 0 for a test set.
    pub fold: Vec<usize>,
    pub n_classes: usize,
}

/// Fits and tests every model; tells the warnings.
pub(super) fn run(
    specs: &[ModelSpec],
    sweep: Option<&Sweep>,
    data: &Dataset,
    tested: TestRows,
    protocol: &Protocol,
    control: &Control,
) -> Result<Ran> {
    require("models", specs.len(), "at least one model", !specs.is_empty())?;
    let swept: Vec<ModelSpec> = match sweep {
        None => specs.to_vec(),
        Some(sweep) => specs.iter().map(|s| sweep.specs(s)).collect::<Result<Vec<_>>>()?.concat(),
    };
    let n_classes = data.classes.len();
    let ran = match tested {
        TestRows::Set(test) => {
            let one = |s: &ModelSpec| train_test(s, data, test, protocol, control);
            Ran {
                outcomes: swept.iter().map(one).collect::<Result<Vec<_>>>()?,
                rows: test.features.clone(),
                truth: test.class.clone(),
                weights: test.weights.clone(),
                fold: vec![0; test.class.len()],
                n_classes,
            }
        }
        TestRows::Folds(groups) => {
            let groups = groups.map(|g| g.group.as_slice());
            let folds = CrossValidation::new(data, groups, protocol.clone())?;
            Ran {
                outcomes: swept.iter().map(|s| folds.run(s, control)).collect::<Result<Vec<_>>>()?,
                rows: folds.data().features.clone(),
                truth: folds.data().class.iter().map(Option::unwrap_or_default).collect(),
                weights: folds.data().weights.clone(),
                fold: folds.fold_of_rows(),
                n_classes,
            }
        }
    };
    ran.outcomes.iter().flat_map(|o| &o.warnings).for_each(|w| control.warn(w));
    Ok(ran)
}

/// The figures.
pub(super) fn evaluation_of(
    ran: &Ran,
    sweep: Option<&Sweep>,
    data: &Dataset,
    tested: TestRows,
    protocol: &Protocol,
) -> Evaluation {
    Evaluation {
        data: data_facts(data),
        protocol: protocol_facts(tested, protocol),
        results: ran.outcomes.iter().map(|o| o.result.clone()).collect(),
        sweep: sweep.map_or(Vec::new(), |sweep| sweep_points(sweep, &ran.outcomes)),
    }
}

fn protocol_facts(tested: TestRows, protocol: &Protocol) -> ProtocolFacts {
    let (folds, repeats, groups, test_rows) = match tested {
        TestRows::Folds(g) => (protocol.folds, protocol.repeats, g.map(|g| g.column.clone()), None),
        TestRows::Set(test) => (1, 1, None, Some(test.class.len())),
    };
    ProtocolFacts { folds, repeats, seed: protocol.seed, groups, test_rows }
}

fn sweep_points(sweep: &Sweep, outcomes: &[Outcome]) -> Vec<SweepPoint> {
    let values = sweep.values.iter().cycle();
    let point = |(outcome, value): (&Outcome, &String)| SweepPoint {
        model: outcome.result.model.clone(),
        key: sweep.key.clone(),
        value: value.clone(),
        accuracy: outcome.result.accuracy.mean,
        ci95: outcome.result.accuracy.ci95,
        balanced_error: outcome.result.balanced_error.mean,
        log_loss: outcome.result.log_loss,
        log_likelihood: outcome.result.log_likelihood,
    };
    outcomes.iter().zip(values).map(point).collect()
}
