//! Term A: averaged one-dependence estimators. Every observed feature in turn is the parent of all the
//! others; each such network is a star, in which a missing leaf drops out exactly, and networks whose
//! parent is missing are left out of the average.
//!
//! Webb, Boughton, Wang: Not so naive Bayes: aggregating one-dependence estimators, Machine Learning 2005.

use super::{TermModel, TermRecipe};
use crate::rows::Labelled;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::sum::ordered_chunks;
use hingenet_data::encode::mdl;
use hingenet_data::table::{Column, ColumnData, Table};
use rayon::prelude::*;
use std::sync::Arc;

/// Most entries of the table of pairs; above it every feature depends on the class alone.
pub(crate) const MOST_PAIRS: usize = 25_000_000;

/// How a feature becomes states: cut points of numbers, or the levels as they are.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum States {
    /// The state is the number of cuts below the value.
    Cuts(Vec<f64>),
    /// So many levels.
    Levels(usize),
}

/// States of all features, numbered through: feature j owns the states from `first[j]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Coding {
    states: Vec<States>,
    first: Vec<usize>,
}

impl Coding {
    /// MDL cuts for numbers.
    pub(crate) fn learn(training: &Labelled, control: &Control) -> Result<Self> {
        control.check()?;
        let class = training.codes();
        let states = |column: &Column| match column.data() {
            ColumnData::Numeric(x) => {
                mdl::cuts(x.with_nan(), &class, training.n_classes(), Some(&training.weight))
                    .map(States::Cuts)
            }
            ColumnData::Categorical(c) => Ok(States::Levels(c.categories().len())),
        };
        let states = training.features.columns().par_iter().map(states).collect::<Result<Vec<_>>>()?;
        Ok(Self::from_states(states))
    }

    pub(crate) fn from_states(states: Vec<States>) -> Self {
        let mut first = vec![0];
        for s in &states {
            first.push(first[first.len() - 1] + n_states(s));
        }
        Coding { states, first }
    }

    pub(crate) fn states(&self) -> &[States] {
        &self.states
    }

    /// Number of states of feature `j`, at least 1.
    pub(crate) fn n_states(&self, j: usize) -> usize {
        self.first[j + 1] - self.first[j]
    }

    /// Number of states of all features together.
    pub(crate) fn total(&self) -> usize {
        self.first[self.states.len()]
    }

    /// The first state of feature `j`.
    pub(crate) fn first(&self, j: usize) -> usize {
        self.first[j]
    }

    /// States of the observed features of row `i`, in feature order: (feature, state).
    pub(crate) fn observed(&self, rows: &Table, i: usize) -> Vec<(usize, usize)> {
        let mut observed = Vec::with_capacity(self.states.len());
        for (j, (column, states)) in rows.columns().iter().zip(&self.states).enumerate() {
            let state = match (column.data(), states) {
                (ColumnData::Numeric(x), States::Cuts(cuts)) => {
                    x.get(i).map(|x| cuts.partition_point(|cut| *cut < x))
                }
                (ColumnData::Categorical(c), States::Levels(_)) => c.codes().get(i),
                _ => None,
            };
            observed.extend(state.map(|state| (j, self.first[j] + state)));
        }
        observed
    }

    /// Mutual information (nats) of each feature with the class, less its expected excess
    /// `(K−1)(r−1)/(2n)`, not below 0.
    pub(crate) fn information(&self, training: &Labelled) -> Vec<f64> {
        let counts = self.value_counts(training);
        let k = training.n_classes();
        (0..self.states.len())
            .map(|j| {
                let table = &counts[self.first[j] * k..self.first[j + 1] * k];
                let n: f64 = table.iter().sum();
                let bias = (k as f64 - 1.0) * (self.n_states(j) as f64 - 1.0) / (2.0 * n);
                if n > 0.0 { (mutual_information(table, k, n) - bias).max(0.0) } else { 0.0 }
            })
            .collect()
    }

    /// `N_c(a)`: weight of every state in every class, the class running fastest.
    pub(crate) fn value_counts(&self, training: &Labelled) -> Vec<f64> {
        let k = training.n_classes();
        let mut counts = vec![0.0; self.total() * k];
        for i in 0..training.len() {
            for (_, a) in self.observed(&training.features, i) {
                counts[a * k + training.class[i]] += training.weight[i];
            }
        }
        counts
    }
}

fn n_states(states: &States) -> usize {
    match states {
        States::Cuts(cuts) => cuts.len() + 1,
        States::Levels(count) => (*count).max(1),
    }
}

fn mutual_information(table: &[f64], k: usize, n: f64) -> f64 {
    let mut class = vec![0.0; k];
    table.chunks_exact(k).for_each(|row| class.iter_mut().zip(row).for_each(|(t, v)| *t += v));
    let mut information = 0.0;
    for row in table.chunks_exact(k) {
        let state: f64 = row.iter().sum();
        for (v, c) in row.iter().zip(&class).filter(|(v, _)| **v > 0.0) {
            information += v / n * (v * n / (state * c)).ln();
        }
    }
    information
}

/// Averaged one-dependence estimators:
///
/// ```text
/// S_c(x_o) = ln (1/|U|) Σ_{i∈U} π_c P(x_i|c) Π_{j∈o, j≠i} P(x_j|c,x_i),   U = {i ∈ o: x_i occurs in training}
/// π_c = (n_c + 1/K)/(n + 1),  P(a|c) = (N_c(a) + 1/r)/(n_c + 1),  P(b|c,a) = (N_c(a,b) + P(b|c))/(N_c(a) + 1)
/// ```
///
/// With missing training cells, `n_c` and `N_c(a)` count the rows in which the feature in question is
/// observed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Averaged {
    pub(crate) coding: Coding,
    n_classes: usize,
    pub(crate) counts: Counts,
    log_prior: Vec<f64>,
    /// `ln P(a|c)`, the class running fastest.
    log_value: Vec<f64>,
    /// `ln P(b|c,a)` at `(a · total + b) · K + c`; empty if there are too many pairs.
    log_pair: Vec<f64>,
    /// Whether a state occurs in the training rows.
    seen: Vec<bool>,
}

/// Weighted counts, from which everything else follows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Counts {
    pub(crate) class: Vec<f64>,
    pub(crate) value: Vec<f64>,
    /// `N_c(a,b)` at `(a · total + b) · K + c` for b of a later feature than a, else 0; empty if too many.
    pub(crate) pair: Vec<f64>,
}

impl Averaged {
    /// Counts the training rows.
    pub(crate) fn fit(coding: Coding, training: &Labelled) -> Self {
        let (total, k) = (coding.total(), training.n_classes());
        let with_pairs = total.saturating_mul(total).saturating_mul(k) <= MOST_PAIRS;
        let mut pair = vec![0.0; if with_pairs { total * total * k } else { 0 }];
        if with_pairs {
            for i in 0..training.len() {
                let observed = coding.observed(&training.features, i);
                let (c, s) = (training.class[i], training.weight[i]);
                for (x, (_, a)) in observed.iter().enumerate() {
                    for (_, b) in &observed[x + 1..] {
                        pair[(a * total + b) * k + c] += s;
                    }
                }
            }
        }
        let counts = Counts { class: training.class_weight(), value: coding.value_counts(training), pair };
        Self::from_counts(coding, counts)
    }

    pub(crate) fn from_counts(coding: Coding, counts: Counts) -> Self {
        let k = counts.class.len();
        let n: f64 = counts.class.iter().sum();
        let prior = |n_c: &f64| ((n_c + 1.0 / k as f64) / (n + 1.0)).ln();
        let mut averaged = Averaged {
            n_classes: k,
            log_prior: counts.class.iter().map(prior).collect(),
            log_value: log_values(&coding, &counts.value, k),
            log_pair: Vec::new(),
            seen: counts.value.chunks_exact(k).map(|row| row.iter().any(|v| *v > 0.0)).collect(),
            coding,
            counts,
        };
        if !averaged.counts.pair.is_empty() {
            averaged.log_pair = averaged.log_pairs();
        }
        averaged
    }

    /// `ln P(b|c,a)` for all ordered pairs of states of different features.
    fn log_pairs(&self) -> Vec<f64> {
        let (total, k, d) = (self.coding.total(), self.n_classes, self.coding.states.len());
        let pair = &self.counts.pair;
        let count = |a: usize, b: usize, c: usize| pair[(a.min(b) * total + a.max(b)) * k + c];
        let rows = ordered_chunks(total, 1, |range| {
            let a = range.start;
            let mut row = vec![0.0; total * k];
            for j in 0..d {
                let states = self.coding.first(j)..self.coding.first(j + 1);
                if states.contains(&a) {
                    continue;
                }
                for c in 0..k {
                    let given: f64 = states.clone().map(|b| count(a, b, c)).sum();
                    for b in states.clone() {
                        let smooth = self.log_value[b * k + c].exp();
                        row[b * k + c] = ((count(a, b, c) + smooth) / (given + 1.0)).ln();
                    }
                }
            }
            row
        });
        rows.concat()
    }

    /// Whether features depend on each other at all (there were not too many pairs of states).
    pub(crate) fn has_pairs(&self) -> bool {
        !self.log_pair.is_empty()
    }

    /// `S_c` for the observed states of one row.
    pub(crate) fn score(&self, observed: &[(usize, usize)]) -> Vec<f64> {
        let (k, total) = (self.n_classes, self.coding.total());
        let parents: Vec<(usize, usize)> =
            observed.iter().copied().filter(|(_, a)| self.has_pairs() && self.seen[*a]).collect();
        if parents.is_empty() {
            let mut score = self.log_prior.clone();
            observed.iter().for_each(|(_, a)| add(&mut score, &self.log_value[a * k..(a + 1) * k]));
            return score;
        }
        let mut stars = vec![0.0; parents.len() * k];
        for (star, (i, a)) in stars.chunks_exact_mut(k).zip(&parents) {
            star.copy_from_slice(&self.log_prior);
            add(star, &self.log_value[a * k..(a + 1) * k]);
            let table = &self.log_pair[a * total * k..(a + 1) * total * k];
            for (_, b) in observed.iter().filter(|(j, _)| j != i) {
                add(star, &table[b * k..(b + 1) * k]);
            }
        }
        let mut column = vec![0.0; parents.len()];
        (0..k)
            .map(|c| {
                stars.chunks_exact(k).zip(&mut column).for_each(|(star, v)| *v = star[c]);
                log_sum_exp(&column) - (parents.len() as f64).ln()
            })
            .collect()
    }
}

impl TermModel for Averaged {
    fn name(&self) -> String {
        "averaged one-dependence networks".into()
    }

    /// `S_c` of every row, K values a row.
    fn scores(&self, rows: &Table) -> Result<Vec<f64>> {
        let parts = ordered_chunks(rows.n_rows(), 64, |range| {
            let mut out = Vec::with_capacity(range.len() * self.n_classes);
            range.for_each(|i| out.extend(self.score(&self.coding.observed(rows, i))));
            out
        });
        Ok(parts.concat())
    }

    fn equals(&self, other: &dyn TermModel) -> bool {
        (other as &dyn std::any::Any).downcast_ref() == Some(self)
    }
}

/// Learns the states, then counts.
pub(crate) struct AveragedRecipe;

impl TermRecipe for AveragedRecipe {
    fn fit(
        &self,
        rows: &Labelled,
        _: Option<&dyn TermModel>,
        control: &Control,
    ) -> Result<Arc<dyn TermModel>> {
        Ok(Arc::new(Averaged::fit(Coding::learn(rows, control)?, rows)))
    }
}

fn log_values(coding: &Coding, counts: &[f64], k: usize) -> Vec<f64> {
    let mut logs = vec![0.0; counts.len()];
    for j in 0..coding.states.len() {
        let states = coding.first(j)..coding.first(j + 1);
        let r = states.len() as f64;
        for c in 0..k {
            let n_c: f64 = states.clone().map(|a| counts[a * k + c]).sum();
            for a in states.clone() {
                logs[a * k + c] = ((counts[a * k + c] + 1.0 / r) / (n_c + 1.0)).ln();
            }
        }
    }
    logs
}

fn add(total: &mut [f64], x: &[f64]) {
    total.iter_mut().zip(x).for_each(|(t, v)| *t += v);
}
