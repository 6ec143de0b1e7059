//! What the page asks and what it gets, as JSON: beliefs about all columns given what is known, or the class for many
//! sets of what is known. Columns are numbers here: 0 is the class, feature j is column j + 1. Nothing in a request is
//! believed: every number is checked before it is used.

use super::Explorer;
use crate::model::query::{Believed, BelievedClass, Given};
use hingenet_base::error::{Error, Result};
use hingenet_data::belief::Belief;
use serde::{Deserialize, Serialize};

/// Most bytes of a request.
const MOST_BYTES: usize = 16 << 20;
/// Most sets of findings in one request.
const MOST_SETS: usize = 20_000;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Request {
    /// What follows for every column, and what tells about column `about`.
    Beliefs {
        known: Vec<Finding>,
        #[serde(default)]
        about: usize,
    },
    /// What follows for the class, set by set.
    Classes { sets: Vec<Vec<Finding>> },
}

/// What is known of a column: a likelihood for each of its states, or its value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    column: usize,
    states: Option<Vec<f64>>,
    value: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Beliefs {
    classes: Vec<f64>,
    log_evidence: Option<f64>,
    conflict: Option<f64>,
    columns: Vec<Option<Column>>,
    next: Vec<Option<f64>>,
}

/// What is believed of a column, together with the class.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Column {
    /// `P(state, class)`, a value for each class, state by state.
    States { joint: Vec<f64> },
    /// Class, weight, mean and deviation of each normal distribution.
    Number { normals: Vec<(usize, f64, f64, f64)> },
    /// Points, and the mass at each of them, a value for each class, point by point.
    Grid { at: Vec<f64>, joint: Vec<f64> },
}

impl Explorer<'_> {
    /// Answers a request of the page, JSON for JSON.
    pub fn answer(&self, request: &str) -> Result<String> {
        if request.len() > MOST_BYTES {
            let hint = "ask for fewer sets at a time";
            return Err(Error::too_large("a request (bytes)", request.len() as f64, MOST_BYTES as f64, hint));
        }
        let request = serde_json::from_str(request)
            .map_err(|e| wrong(format!("the request is not understood: {e}")))?;
        let reply = match request {
            Request::Beliefs { known, about } => {
                let given = self.given(known)?;
                if about >= self.cards.len() {
                    return Err(wrong(format!("there is no column {about}")));
                }
                serde_json::to_string(&Beliefs::from(self.model.believe(&given, about)?))
            }
            Request::Classes { sets } => {
                if sets.len() > MOST_SETS {
                    let hint = "ask for fewer sets at a time";
                    return Err(Error::too_large(
                        "sets of a request",
                        sets.len() as f64,
                        MOST_SETS as f64,
                        hint,
                    ));
                }
                let sets: Vec<Given> = sets.into_iter().map(|set| self.given(set)).collect::<Result<_>>()?;
                let classes: Vec<BelievedClass> = self.model.believe_classes(&sets)?;
                serde_json::to_string(&classes)
            }
        };
        reply.map_err(|e| Error::data(format!("the answer cannot be written: {e}"), ""))
    }

    fn given(&self, findings: Vec<Finding>) -> Result<Given> {
        let mut given = Given::nothing(self.cards.len());
        for Finding { column, states, value } in findings {
            let Some(&r) = self.cards.get(column) else {
                return Err(wrong(format!("there is no column {column}")));
            };
            if given.is_known(column) {
                return Err(wrong(format!("column {column} is given twice")));
            }
            match (states, value) {
                (Some(states), None) if r > 0 => {
                    given.likelihood[column] = Some(likelihood(column, r, states)?)
                }
                (None, Some(value)) if r == 0 && value.is_finite() => given.numbers[column] = Some(value),
                _ => {
                    let wanted =
                        if r > 0 { "a likelihood for each of its states" } else { "a finite number" };
                    return Err(wrong(format!("column {column} takes {wanted}")));
                }
            }
        }
        Ok(given)
    }
}

/// Numbers from 0 on, one for each of `r` states, one above 0.
fn likelihood(column: usize, r: usize, states: Vec<f64>) -> Result<Vec<f64>> {
    if states.len() != r {
        return Err(wrong(format!("column {column} has {r} states, not {}", states.len())));
    }
    if !states.iter().all(|l| *l >= 0.0 && l.is_finite()) || states.iter().all(|l| *l == 0.0) {
        return Err(wrong(format!("column {column}: likelihoods are numbers from 0 on, one above 0")));
    }
    Ok(states)
}

fn wrong(problem: String) -> Error {
    Error::data(problem, "ask as the page does")
}

impl From<Believed> for Beliefs {
    fn from(believed: Believed) -> Self {
        Beliefs {
            classes: believed.classes,
            log_evidence: believed.log_evidence,
            conflict: believed.conflict,
            columns: believed.columns.into_iter().map(|belief| belief.map(Column::from)).collect(),
            next: believed.next,
        }
    }
}

impl From<Belief> for Column {
    fn from(belief: Belief) -> Self {
        match belief {
            Belief::States(joint) => Column::States { joint },
            Belief::Grid { at, joint } => Column::Grid { at, joint },
            Belief::Number(normals) => Column::Number {
                normals: normals.iter().map(|n| (n.class, n.weight, n.mean, n.sd)).collect(),
            },
        }
    }
}
