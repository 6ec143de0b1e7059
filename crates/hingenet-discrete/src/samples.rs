//! Coded training or test rows of the discrete family: column 0 is the class, the others are features.

use hingenet_base::error::{Error, Result, require_len};
use hingenet_data::encode::FeatureCoder;
use hingenet_data::rows::check_weights;
use hingenet_data::table::{Codes, Column, Table};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Coded rows with weights. Cells may be missing; whether a fit accepts that is its own matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    card: Vec<usize>,
    columns: Vec<Codes>,
    /// Whether no cell of the column is missing.
    complete: Vec<bool>,
    /// Sample weights s_m; `None` means 1 for every row, which counting makes use of.
    weights: Option<Vec<f64>>,
}

impl Samples {
    /// Checks lengths, states below their numbers, and weights (finite, not negative, not all zero).
    pub fn new(card: Vec<usize>, columns: Vec<Codes>, weights: Option<Vec<f64>>) -> Result<Self> {
        let n = check_codes(&card, &columns)?;
        if n == 0 {
            return Err(Error::data("there are no rows", "give at least two rows of different classes"));
        }
        if let Some(weights) = &weights {
            check_weights(weights, n)?;
        }
        // Weights of one are no weights: counting whole numbers is exact and faster.
        let weights = weights.filter(|w| w.iter().any(|&s| s != 1.0));
        let complete = columns.iter().map(|c| !c.has_missing()).collect();
        Ok(Samples { card, columns, complete, weights })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns[0].len()
    }

    /// Numbers of states r_i.
    pub fn card(&self) -> &[usize] {
        &self.card
    }

    /// Coded column of variable `i`.
    pub fn column(&self, i: usize) -> &Codes {
        &self.columns[i]
    }

    /// All coded columns.
    pub fn columns(&self) -> &[Codes] {
        &self.columns
    }

    /// The weights, if any were given.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Weight s_m of row `m`.
    pub fn weight(&self, m: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[m])
    }

    /// Σ s_m.
    pub fn total_weight(&self) -> f64 {
        self.weights.as_ref().map_or(self.n_rows() as f64, |w| w.iter().sum())
    }

    /// Whether any cell (class included) is missing.
    pub fn has_missing(&self) -> bool {
        self.complete.iter().any(|c| !c)
    }

    /// Whether no cell of variable `i` is missing.
    pub fn is_complete(&self, i: usize) -> bool {
        self.complete[i]
    }

    /// Refuses rows without a class.
    pub(crate) fn require_labels(&self) -> Result<()> {
        match self.is_complete(0) {
            true => Ok(()),
            false => Err(Error::data(
                "a class label is missing",
                "remove unlabelled rows, or use a semi-supervised fit",
            )),
        }
    }

    /// The given rows.
    pub fn rows(&self, rows: &[usize]) -> Result<Self> {
        let columns = self.columns.iter().map(|c| c.rows(rows)).collect();
        let weights = self.weights().map(|w| rows.iter().map(|&m| w[m]).collect());
        Samples::new(self.card.clone(), columns, weights)
    }

    /// One row for all that are equal, with the sum of their weights, sorted by class, then features in order, missing cells
    /// last.
    pub fn merged(&self) -> Result<Self> {
        let compare = |&a: &usize, &b: &usize| {
            let cell = |c: &Codes, m: usize| c.get(m).unwrap_or(usize::MAX);
            let orders = self.columns.iter().map(|c| cell(c, a).cmp(&cell(c, b)));
            orders.fold(Ordering::Equal, Ordering::then)
        };
        let mut order: Vec<usize> = (0..self.n_rows()).collect();
        order.par_sort_by(compare);
        let (mut kept, mut weights): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        for m in order {
            match (kept.last(), weights.last_mut()) {
                (Some(last), Some(total)) if compare(last, &m).is_eq() => *total += self.weight(m),
                _ => {
                    kept.push(m);
                    weights.push(self.weight(m));
                }
            }
        }
        self.rows(&kept)?.with_weights(weights)
    }

    /// The same rows with other weights.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        Samples::new(self.card, self.columns, Some(weights))
    }

    /// These rows and then those of `other`, which has the same variables.
    pub fn joined(&self, other: &Samples) -> Result<Self> {
        let both = |(i, c): (usize, &Codes)| {
            Codes::from_options(self.card[i], c.iter().chain(other.column(i).iter()))
        };
        let all = |samples: &Samples| (0..samples.n_rows()).map(|m| samples.weight(m)).collect::<Vec<f64>>();
        let columns = self.columns.iter().enumerate().map(both).collect();
        Samples::new(self.card.clone(), columns, Some([all(self), all(other)].concat()))
    }
}

/// Refuses coded columns of different lengths or with states beyond their numbers; returns the number of rows.
pub(crate) fn check_codes(card: &[usize], columns: &[Codes]) -> Result<usize> {
    require_len("coded columns", card.len(), columns.len())?;
    let n = columns.first().map_or(0, Codes::len);
    for (i, (column, r)) in columns.iter().zip(card).enumerate() {
        require_len(&format!("rows of coded column {i}"), n, column.len())?;
        if let Some(j) = column.max().filter(|j| j >= r) {
            return Err(Error::data(
                format!("coded column {i} has state {j}, but only {r} states are known"),
                "code the rows with the coders of the model; states are numbered from 0",
            ));
        }
    }
    Ok(n)
}

/// The states of every column. A feature with one state is never in doubt, so it is never missing.
pub(crate) fn code_columns(coders: &[FeatureCoder], rows: &Table) -> Result<Vec<Codes>> {
    require_len("feature columns", coders.len(), rows.n_columns())?;
    let code = |(coder, column): (&FeatureCoder, &Column)| match coder.n_states() {
        1 => Ok(Codes::U8(vec![0; rows.n_rows()])),
        _ => coder.code_column(column),
    };
    coders.par_iter().zip(rows.columns()).map(code).collect()
}
