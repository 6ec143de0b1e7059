//! What a user knows, by name, as likelihoods over the states of a model's columns or as cells of a row.

use super::{Known, Measurement, Model, Posterior, Query};
use crate::model::generative::variable_of;
use crate::model::{Fitted, Variable};
use hingenet_base::error::{Error, Result, require};
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::{Codes, Column, FeatureKind, Table, UnseenPolicy};
use hingenet_discrete::inference::Finding;
use std::collections::HashMap;

/// A question with its names found. Variables are numbered as in the networks: 0 is the class, then the features.
pub(in crate::model) struct Findings<'a> {
    model: &'a Model,
    /// Names and states; no states for a number.
    variables: Vec<Variable>,
    likelihood: Vec<Option<Finding>>,
    /// Numbers that are known, in models that keep them as numbers.
    numbers: Vec<Option<f64>>,
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
            likelihood: vec![None; n],
            numbers: vec![None; n],
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
        let all = match &self.likelihood[i] {
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
        self.likelihood[i] = Some(all);
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
        if self.numbers[i].is_some_and(|before| before != number) {
            return Err(Error::column(name, "has two values", "what is given about it contradicts itself"));
        }
        self.numbers[i] = Some(number);
        Ok(())
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.likelihood.iter().all(Option::is_none) && self.numbers.iter().all(Option::is_none)
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

    /// Number of states.
    pub fn n_states(&self, i: usize) -> usize {
        self.variables[i].states.len()
    }

    fn position(&self, column: &str) -> Result<usize> {
        variable_of(&self.variables, column)
    }

    fn state(&self, i: usize, value: &str) -> Result<usize> {
        self.model.state_of(&self.variables, i, value)
    }

    /// Whether the value of a variable is not settled.
    pub fn is_open(&self, i: usize) -> bool {
        let settled = |l: &Finding| l.iter().filter(|l| **l > 0.0).count() == 1;
        self.numbers[i].is_none() && !self.likelihood[i].as_ref().is_some_and(settled)
    }

    /// Whether the distribution of a variable is asked for.
    pub fn is_asked(&self, i: usize) -> bool {
        self.asked.as_ref().map_or(i == 0 || self.is_open(i), |asked| asked[i])
    }

    /// A column that was asked for by name, beside the class.
    pub fn asked_beside_class(&self) -> Option<usize> {
        self.asked.as_ref().and_then(|asked| (1..asked.len()).find(|&i| asked[i]))
    }

    /// Likelihood over the classes, 1 where nothing is known.
    pub fn of_class(&self) -> Vec<f64> {
        self.likelihood[0].clone().unwrap_or_else(|| vec![1.0; self.variables[0].states.len()])
    }

    /// Findings of all variables.
    pub fn all(&self) -> Vec<Option<Finding>> {
        self.likelihood.clone()
    }

    /// The settled features as a row of the model's columns, and the likelihoods over the states of the others.
    pub fn row(&self) -> Result<(Table, Vec<(usize, Finding)>)> {
        let (mut columns, mut likelihoods) = (Vec::new(), Vec::new());
        for (j, spec) in self.model.schema.features.iter().enumerate() {
            let i = j + 1;
            match (&spec.kind, &self.likelihood[i], self.numbers[i]) {
                (FeatureKind::Numeric, _, Some(x)) => columns.push(Column::numeric(&spec.name, vec![x])),
                (FeatureKind::Categorical { categories }, Some(l), _) if !self.is_open(i) => {
                    let seen = l.iter().position(|l| *l > 0.0);
                    let codes = Codes::from_options(categories.len(), [seen].into_iter());
                    columns.push(Column::categorical(&spec.name, categories.clone(), codes));
                }
                (FeatureKind::Categorical { .. }, Some(l), _) => likelihoods.push((j, l.clone())),
                _ => {}
            }
        }
        let row = if columns.is_empty() { Table::without_columns(1) } else { Table::new(columns)? };
        Ok((self.model.schema.align(&row, UnseenPolicy::Error)?.0, likelihoods))
    }

    /// `Σ ln P(each known alone) − ln P(all known)`; `None` if fewer than two columns are known.
    pub fn conflict(
        &self,
        log_evidence: f64,
        alone: impl Fn(&Findings<'_>) -> Result<f64>,
    ) -> Result<Option<f64>> {
        let known: Vec<usize> =
            (0..self.len()).filter(|&i| self.likelihood[i].is_some() || self.numbers[i].is_some()).collect();
        if known.len() < 2 {
            return Ok(None);
        }
        let one = |&i: &usize| {
            let mut likelihood = vec![None; self.len()];
            let mut numbers = vec![None; self.len()];
            (likelihood[i], numbers[i]) = (self.likelihood[i].clone(), self.numbers[i]);
            alone(&Findings {
                model: self.model,
                variables: self.variables.clone(),
                likelihood,
                numbers,
                asked: None,
                about: None,
                costs: HashMap::new(),
            })
        };
        let alone: Vec<f64> = known.iter().map(one).collect::<Result<_>>()?;
        Ok(Some(alone.iter().sum::<f64>() - log_evidence))
    }

    /// What measuring each open feature gives; the column it should tell about is no measurement.
    pub fn measurements(&self, gain: impl Fn(usize) -> Result<f64>) -> Result<Vec<Measurement>> {
        let open = (1..self.len()).filter(|&i| self.is_open(i) && Some(i) != self.about);
        let gains: Vec<(String, f64)> =
            open.map(|i| Ok((self.name(i).to_string(), gain(i)?))).collect::<Result<_>>()?;
        Ok(self.by_cost(gains.into_iter()))
    }

    /// Measurements, the most information for its cost first.
    pub fn by_cost(&self, gains: impl Iterator<Item = (String, f64)>) -> Vec<Measurement> {
        let cost = |column: &str| {
            let at = self.variables.iter().position(|v| v.name == column);
            at.and_then(|i| self.costs.get(&i)).copied().unwrap_or(1.0)
        };
        let measurement = |(column, nats): (String, f64)| Measurement { cost: cost(&column), column, nats };
        let mut next: Vec<Measurement> = gains.map(measurement).collect();
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
