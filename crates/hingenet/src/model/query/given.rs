//! What is known of a model's columns, by position: likelihoods over states, or numbers.

use crate::model::Model;
use hingenet_base::error::Result;
use hingenet_data::combinations::RowEvidence;
use hingenet_data::table::{Codes, Column, FeatureKind, Table};
use hingenet_discrete::inference::Finding;
use std::borrow::Cow;

/// What is known. Variables are numbered as in the networks: 0 is the class, then the features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Given {
    /// A likelihood for every state of a variable.
    pub likelihood: Vec<Option<Finding>>,
    /// Numbers, in models that keep them as numbers.
    pub numbers: Vec<Option<f64>>,
}

impl Given {
    /// Nothing is known of `n` variables.
    pub fn nothing(n: usize) -> Self {
        Given { likelihood: vec![None; n], numbers: vec![None; n] }
    }

    /// What is known of variable `i` alone.
    pub fn alone(&self, i: usize) -> Self {
        let mut alone = Given::nothing(self.likelihood.len());
        (alone.likelihood[i], alone.numbers[i]) = (self.likelihood[i].clone(), self.numbers[i]);
        alone
    }

    pub fn is_known(&self, i: usize) -> bool {
        self.likelihood[i].is_some() || self.numbers[i].is_some()
    }

    /// Variables of which something is known.
    pub fn known(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.likelihood.len()).filter(|&i| self.is_known(i))
    }

    /// The only state that is left of a variable.
    pub fn settled(&self, i: usize) -> Option<usize> {
        let l = self.likelihood[i].as_ref()?;
        let first = l.iter().position(|l| *l > 0.0)?;
        l[first + 1..].iter().all(|l| *l == 0.0).then_some(first)
    }

    /// Whether the value of a variable is not settled.
    pub fn is_open(&self, i: usize) -> bool {
        self.numbers[i].is_none() && self.settled(i).is_none()
    }

    /// Likelihood over `k` classes, 1 where nothing is known.
    pub fn of_class(&self, k: usize) -> Finding {
        self.likelihood[0].clone().unwrap_or_else(|| vec![1.0; k])
    }

    /// Findings of all variables but the class.
    pub fn of_features(&self) -> Vec<Option<Finding>> {
        let class = std::iter::once(None);
        class.chain(self.likelihood.iter().skip(1).cloned()).collect()
    }

    /// Features of which a likelihood leaves several states.
    pub fn unsure(&self) -> Vec<(usize, Finding)> {
        let several =
            |(j, l): (usize, &Option<Finding>)| Some((j, l.clone().filter(|_| self.is_open(j + 1))?));
        self.likelihood.iter().skip(1).enumerate().filter_map(several).collect()
    }

    /// `Σ ln likelihood` of the settled features: a factor of the probability of everything known.
    pub fn log_factor(&self) -> f64 {
        let log = |i: usize| Some(self.likelihood[i].as_ref()?[self.settled(i)?].ln());
        (1..self.likelihood.len()).filter_map(log).sum()
    }
}

impl Model {
    /// What a set says of its row.
    pub(in crate::model) fn evidence(&self, given: &Given) -> Result<RowEvidence<'static>> {
        let (known, of_class) = (Cow::Owned(self.cells(&[given])?), given.of_class(self.classes.len()));
        Ok(RowEvidence { known, likelihoods: given.unsure(), of_class })
    }

    /// The settled features of each set as a row of the model's columns.
    pub(in crate::model) fn cells(&self, sets: &[&Given]) -> Result<Table> {
        let column = |(j, spec): (usize, &hingenet_data::table::FeatureSpec)| match &spec.kind {
            FeatureKind::Numeric => {
                let number = |given: &&Given| given.numbers[j + 1].unwrap_or(f64::NAN);
                Column::numeric(&spec.name, sets.iter().map(number).collect())
            }
            FeatureKind::Categorical { categories } => {
                let code = |given: &&Given| given.settled(j + 1);
                let codes = Codes::from_options(categories.len(), sets.iter().map(code));
                Column::categorical(&spec.name, categories.clone(), codes)
            }
        };
        let columns: Vec<Column> = self.schema.features.iter().enumerate().map(column).collect();
        if columns.is_empty() { Ok(Table::without_columns(sets.len())) } else { Table::new(columns) }
    }
}
