//! Term A: averaged one-dependence estimators. Every observed feature in turn is the parent of all the
//! others; each such network is a star, in which a missing leaf drops out exactly, and networks whose
//! parent is missing are left out of the average.
//!
//! Webb, Boughton, Wang: Not so naive Bayes: aggregating one-dependence estimators, Machine Learning 2005.

use super::TermModel;
use crate::fit::LESS_MEMORY;
use crate::rows::{FeatureType, Labelled};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::mutual_information;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::{Codes, Column, ColumnData, Table};
use hingenet_discrete::Samples;
use hingenet_discrete::averaged::{Counts, Smoothing, Stars};
use rayon::prelude::*;
use std::any::Any;

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

impl States {
    /// Number of states, at least 1.
    pub(crate) fn count(&self) -> usize {
        match self {
            States::Cuts(cuts) => cuts.len() + 1,
            States::Levels(count) => (*count).max(1),
        }
    }

    /// Whether these can be the states of a feature of a type.
    pub(crate) fn fit(&self, kind: FeatureType) -> bool {
        match (kind, self) {
            (FeatureType::Number, States::Cuts(cuts)) => {
                cuts.iter().all(|c| c.is_finite()) && cuts.windows(2).all(|w| w[0] < w[1])
            }
            (FeatureType::Levels(a), States::Levels(b)) => a == *b,
            _ => false,
        }
    }

    /// The states of a column of the training type.
    fn code(&self, column: &Column) -> Codes {
        match (self, column.data()) {
            (States::Cuts(cuts), ColumnData::Numeric(x)) => {
                let state = |x: f64| cuts.partition_point(|cut| *cut < x);
                Codes::from_options(self.count(), x.iter().map(|x| x.map(state)))
            }
            (_, ColumnData::Categorical(c)) => c.codes().clone(),
            (States::Levels(_), ColumnData::Numeric(x)) => {
                debug_assert!(false, "the type of a feature differs from training");
                Codes::from_options(self.count(), x.iter().map(|_| None))
            }
        }
    }
}

/// Averaged one-dependence estimators, with `U = {i ∈ o: x_i occurs in training}`:
///
/// ```text
/// S_c(x_o) = ln (1/|U|) Σ_{i∈U} π_c P(x_i|c) Π_{j∈o, j≠i} P(x_j|c,x_i)
/// π_c = (n_c + 1/K)/(n + 1),  P(a|c) = (N_c(a) + 1/r)/(n_c + 1),  P(b|c,a) = (N_c(a,b) + P(b|c))/(N_c(a) + 1)
/// ```
///
/// With missing training cells, `n_c` and `N_c(a)` count the rows in which the feature in question is
/// observed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Averaged {
    pub(crate) states: Vec<States>,
    pub(crate) counts: Counts,
    pub(crate) stars: Stars,
}

impl Averaged {
    /// Cuts numbers by MDL, then counts.
    pub(crate) fn fit(rows: &Labelled, control: &Control) -> Result<Self> {
        control.check()?;
        let class = rows.codes();
        let learn = |column: &Column| {
            let coder = FeatureCoder::learn(column, &class, rows.n_classes(), Some(&rows.weight))?;
            Ok(match coder {
                FeatureCoder::Cuts { cuts } => States::Cuts(cuts),
                FeatureCoder::Categories { names } => States::Levels(names.len()),
            })
        };
        let states = rows.features.columns().par_iter().map(learn).collect::<Result<Vec<_>>>()?;
        Self::reserve(&states, rows.n_classes(), control)?;
        let weight = rows.weight.clone();
        let counts = Self::count(&states, (rows.n_classes(), class), &rows.features, weight)?;
        Ok(Self::from_counts(states, counts))
    }

    /// Asks for the memory of the tables of states of different features: the counts of each pair, and the logarithms made of
    /// them in both directions.
    fn reserve(states: &[States], n_classes: usize, control: &Control) -> Result<()> {
        let total: usize = states.iter().map(States::count).sum();
        if (total as f64).powi(2) * n_classes as f64 > MOST_PAIRS as f64 {
            return Ok(());
        }
        let directed: usize = states.iter().map(|of| of.count() * (total - of.count())).sum();
        let what = format!("counting the pairs of {total} states in {n_classes} classes");
        control.reserve(12.0 * directed as f64 * n_classes as f64, what, LESS_MEMORY)
    }

    /// Counts rows with their classes, of which there are so many, and weights.
    pub(crate) fn count(
        states: &[States],
        (n_classes, class): (usize, Codes),
        rows: &Table,
        weight: Vec<f64>,
    ) -> Result<Counts> {
        let card = std::iter::once(n_classes).chain(states.iter().map(States::count)).collect();
        let columns = std::iter::once(class).chain(coded(states, rows)).collect();
        Ok(Counts::new(&Samples::new(card, columns, Some(weight))?, MOST_PAIRS))
    }

    pub(crate) fn from_counts(states: Vec<States>, counts: Counts) -> Self {
        Averaged { states, stars: Stars::from_counts(&counts, Smoothing::Backed), counts }
    }

    /// States of the observed features of row `i`, in feature order: (feature, state numbered through).
    pub(crate) fn observed(&self, rows: &Table, i: usize) -> Vec<(usize, usize)> {
        let state = |(j, codes): (usize, Codes)| codes.get(0).map(|a| (j, self.counts.states.first(j) + a));
        coded(&self.states, &rows.rows(&[i])).enumerate().filter_map(state).collect()
    }

    /// Mutual information (nats) of each feature with the class, less its expected excess
    /// `(K−1)(r−1)/(2n)`, not below 0.
    pub(crate) fn information(&self) -> Vec<f64> {
        let k = self.counts.class.len();
        let of_feature = |j: usize| {
            let states = self.counts.states.of(j);
            let table = &self.counts.value[states.start * k..states.end * k];
            let n: f64 = table.iter().sum();
            let bias = (k as f64 - 1.0) * (states.len() as f64 - 1.0) / (2.0 * n);
            if n > 0.0 { (mutual_information(table, k) - bias).max(0.0) } else { 0.0 }
        };
        (0..self.states.len()).map(of_feature).collect()
    }
}

fn coded<'a>(states: &'a [States], table: &'a Table) -> impl Iterator<Item = Codes> + 'a {
    states.iter().zip(table.columns()).map(|(states, column)| states.code(column))
}

impl TermModel for Averaged {
    fn name(&self) -> String {
        "averaged one-dependence networks".into()
    }

    fn scores(&self, rows: &Table) -> Result<Vec<f64>> {
        self.stars.log_joint_rows(&coded(&self.states, rows).collect::<Vec<_>>())
    }

    fn equals(&self, other: &dyn TermModel) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}
