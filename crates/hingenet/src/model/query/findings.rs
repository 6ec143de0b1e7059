//! What a user knows, by name, as likelihoods over the states of a model's columns or as cells of a row.

use super::{Given, Known, Measurement, Model, Posterior, Query};
use crate::model::generative::variable_of;
use crate::model::{Fitted, Variable};
use hingenet_base::error::{Error, Result, require};
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::{Codes, Table};
use hingenet_discrete::inference::Finding;
use std::collections::HashMap;

/// A question with its names found.
pub(in crate::model) struct Findings<'a> {
    model: &'a Model,
    /// Names and states; no states for a number.
    variables: Vec<Variable>,
    pub given: Given,
    asked: Option<Vec<bool>>,
    pub about: Option<usize>,
    costs: HashMap<usize, f64>,
}

impl<'a> Findings<'a> {
    pub fn new(model: &'a Model, query: &Query) -> Result<Self> {
        let variables = model.query_variables();
        let n = variables.len();
        let mut findings = Findings {
            model,
            variables,
            given: Given::nothing(n),
            asked: None,
            about: None,
            costs: HashMap::new(),
        };
        for (column, known) in &query.known {
            findings.learn(column, known)?;
        }
        if !query.targets.is_empty() {
            let mut asked = vec![false; n];
            for column in &query.targets {
                asked[findings.position(column)?] = true;
            }
            findings.asked = Some(asked);
        }
        findings.about = query.about.as_ref().map(|column| findings.position(column)).transpose()?;
        for (column, cost) in &query.costs {
            let at = findings.position(column)?;
            require(
                &format!("cost of `{column}`"),
                *cost,
                "a number above 0",
                *cost > 0.0 && cost.is_finite(),
            )?;
            findings.costs.insert(at, *cost);
        }
        Ok(findings)
    }

    fn learn(&mut self, column: &str, known: &Known) -> Result<()> {
        let i = self.position(column)?;
        if self.variables[i].states.is_empty() {
            return self.learn_number(i, known);
        }
        let r = self.variables[i].states.len();
        let fact: Finding = match known {
            Known::Value(value) => one(r, self.state(i, value)?),
            Known::Not(value) => one(r, self.state(i, value)?).into_iter().map(|l| 1.0 - l).collect(),
            Known::Likelihood(values) => {
                let mut fact = vec![0.0; r];
                for (value, likelihood) in values {
                    let what = format!("likelihood of `{column}` = `{value}`");
                    let is_likelihood = *likelihood >= 0.0 && likelihood.is_finite();
                    require(&what, *likelihood, "a number from 0 on", is_likelihood)?;
                    fact[self.state(i, value)?] = *likelihood;
                }
                fact
            }
        };
        let all = match &self.given.likelihood[i] {
            Some(before) => before.iter().zip(&fact).map(|(a, b)| a * b).collect(),
            None => fact,
        };
        if all.iter().all(|l| *l == 0.0) {
            return Err(Error::column(
                column,
                "no value is left",
                "what is given about it contradicts itself",
            ));
        }
        self.given.likelihood[i] = Some(all);
        Ok(())
    }

    fn learn_number(&mut self, i: usize, known: &Known) -> Result<()> {
        let name = self.name(i).to_string();
        let Known::Value(value) = known else {
            return Err(Error::column(
                name,
                "a number can be given in this model, but not excluded or weighed",
                "give its value, or fit a discrete model such as tan:ml",
            ));
        };
        let number = value.trim().parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(|| {
            Error::column(
                &name,
                format!("`{value}` is no number"),
                "give a number, with a point for decimals",
            )
        })?;
        if self.given.numbers[i].is_some_and(|before| before != number) {
            return Err(Error::column(name, "has two values", "what is given about it contradicts itself"));
        }
        self.given.numbers[i] = Some(number);
        Ok(())
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    pub fn name(&self, i: usize) -> &str {
        &self.variables[i].name
    }

    pub fn state_name(&self, i: usize, state: usize) -> String {
        self.variables[i].states[state].clone()
    }

    fn position(&self, column: &str) -> Result<usize> {
        variable_of(&self.variables, column)
    }

    fn state(&self, i: usize, value: &str) -> Result<usize> {
        self.model.state_of(&self.variables, i, value)
    }

    /// Whether the distribution of a variable is asked for.
    pub fn is_asked(&self, i: usize) -> bool {
        self.asked.as_ref().map_or(i == 0 || self.given.is_open(i), |asked| asked[i])
    }

    /// Columns that were asked for by name.
    pub fn asked_by_name(&self) -> impl Iterator<Item = usize> + '_ {
        self.asked.iter().flat_map(|asked| (0..asked.len()).filter(|&i| asked[i]))
    }

    /// Measurements, the most information for its cost first.
    pub fn by_cost(&self, gains: &[Option<f64>]) -> Vec<Measurement> {
        let cost = |i: usize| self.costs.get(&i).copied().unwrap_or(1.0);
        let measurement = |(i, nats): (usize, &Option<f64>)| {
            Some(Measurement { cost: cost(i), column: self.name(i).to_string(), nats: (*nats)? })
        };
        let mut next: Vec<Measurement> = gains.iter().enumerate().filter_map(measurement).collect();
        next.sort_by(|a, b| (b.nats / b.cost).total_cmp(&(a.nats / a.cost)));
        next
    }

    /// Probabilities with the names of their states.
    pub fn named(&self, i: usize, probabilities: Vec<f64>) -> Posterior {
        Posterior::States(self.variables[i].states.iter().cloned().zip(probabilities).collect())
    }
}

fn one(r: usize, state: usize) -> Finding {
    (0..r).map(|j| f64::from(u8::from(j == state))).collect()
}

impl Model {
    /// The class and the features as they can be asked for: discrete models have intervals for numbers, the others keep
    /// them as numbers, without states.
    pub(crate) fn query_variables(&self) -> Vec<Variable> {
        if let Some(coders) = self.coders() {
            return self.variables(coders);
        }
        let class = Variable { name: self.target.clone(), states: self.classes.clone() };
        let feature = |spec: &hingenet_data::table::FeatureSpec| Variable {
            name: spec.name.clone(),
            states: spec.kind.categories().map(<[String]>::to_vec).unwrap_or_default(),
        };
        std::iter::once(class).chain(self.schema.features.iter().map(feature)).collect()
    }

    /// The states of the features of discrete models.
    pub(crate) fn coders(&self) -> Option<&[FeatureCoder]> {
        match &self.fitted {
            Fitted::Discrete(m) => Some(m.coders()),
            Fitted::Averaged(m) => Some(m.coders()),
            _ => None,
        }
    }
    /// The states of the cells of rows as in training, by column, where numbers are cut into intervals.
    pub(crate) fn coded(&self, rows: &Table) -> Result<Option<Vec<Codes>>> {
        match &self.fitted {
            Fitted::Discrete(m) => m.code(rows).map(Some),
            Fitted::Averaged(m) => m.code(rows).map(Some),
            _ => Ok(None),
        }
    }
}
