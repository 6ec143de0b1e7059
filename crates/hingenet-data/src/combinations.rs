//! Categories of which likelihoods leave several states open, in families that know a row's cells only: the row is a mixture
//! over the combinations of these states.

use crate::table::{Codes, Column, Table};
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::log::log_sum_exp;
use std::borrow::Cow;

/// Most combinations of states that likelihoods leave open.
const MOST: usize = 4096;

/// What is known of a row.
#[derive(Debug, Clone)]
pub struct RowEvidence<'a> {
    /// Its known cells, as in training: a table of this row only.
    pub known: Cow<'a, Table>,
    /// Likelihoods over the states of categorical columns.
    pub likelihoods: Vec<(usize, Vec<f64>)>,
    /// Likelihood of each class.
    pub of_class: Vec<f64>,
}

impl<'a> RowEvidence<'a> {
    /// The known cells of the only row of a table, and nothing about its class, which is one of `k`.
    pub fn of_cells(known: &'a Table, k: usize) -> Self {
        RowEvidence { known: Cow::Borrowed(known), likelihoods: Vec::new(), of_class: vec![1.0; k] }
    }
}

/// The known cells with each combination of the states that likelihoods leave.
#[derive(Debug, Clone)]
pub struct Combinations {
    /// A row for each combination.
    pub rows: Table,
    /// `ln P(combination | class, known) + ln likelihood`, K values a combination.
    log_shares: Vec<f64>,
}

impl Combinations {
    /// `scores` are `ln p(row | class)` up to a constant a class, K values a row: the share of a combination in a class is
    /// its `exp` by the sum over all combinations, also those of likelihood 0.
    pub fn new(
        RowEvidence { known, likelihoods, of_class }: &RowEvidence<'_>,
        scores: impl Fn(&Table) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        let k = of_class.len();
        let (rows, log_likelihood) = combined(known, likelihoods)?;
        if likelihoods.is_empty() {
            return Ok(Combinations { rows, log_shares: vec![0.0; k] });
        }
        let all = scores(&combined(known, &without_preference(likelihoods))?.0)?;
        let total = |c: usize| log_sum_exp(&all.iter().skip(c).step_by(k).copied().collect::<Vec<f64>>());
        let totals: Vec<f64> = (0..k).map(total).collect();
        let share = |(at, score): (usize, f64)| score - totals[at % k] + log_likelihood[at / k];
        let log_shares = scores(&rows)?.into_iter().enumerate().map(share).collect();
        Ok(Combinations { rows, log_shares })
    }

    /// `ln P(class, combination | known)` from the logarithms of the classes and a likelihood over these, K values a
    /// combination, and the logarithm of their sum before they were normalised; what is impossible is an error.
    pub fn weights(&self, log_classes: &[f64], of_class: &[f64]) -> Result<(Vec<f64>, f64)> {
        let k = log_classes.len();
        let weight = |(at, share): (usize, &f64)| log_classes[at % k] + of_class[at % k].ln() + share;
        let mut weights: Vec<f64> = self.log_shares.iter().enumerate().map(weight).collect();
        let seen = log_sum_exp(&weights);
        if seen == f64::NEG_INFINITY || seen.is_nan() {
            return Err(Error::data("what is given is impossible in this model", "check the given values"));
        }
        weights.iter_mut().for_each(|w| *w -= seen);
        Ok((weights, seen))
    }
}

/// The same columns with every state open.
fn without_preference(likelihoods: &[(usize, Vec<f64>)]) -> Vec<(usize, Vec<f64>)> {
    likelihoods.iter().map(|(j, l)| (*j, vec![1.0; l.len()])).collect()
}

/// The row with each combination of the states of positive likelihood, and the logarithm of the product of these.
fn combined(known: &Table, likelihoods: &[(usize, Vec<f64>)]) -> Result<(Table, Vec<f64>)> {
    let open = |l: &[f64]| l.iter().filter(|l| **l > 0.0).count();
    let n = likelihoods.iter().map(|(_, l)| open(l) as f64).product::<f64>();
    if n > MOST as f64 {
        let what = "combining the states that likelihoods leave open";
        let hint = "give some of these columns a value";
        return Err(Error::too_large(what, n, MOST as f64, hint));
    }
    let n = n as usize;
    let mut columns: Vec<Column> = known.rows(&vec![0; n]).columns().to_vec();
    let mut logs = vec![0.0; n];
    let mut block = 1;
    for (j, likelihood) in likelihoods {
        let states: Vec<usize> = (0..likelihood.len()).filter(|s| likelihood[*s] > 0.0).collect();
        let state = |a: usize| states[a / block % states.len()];
        logs.iter_mut().enumerate().for_each(|(a, l)| *l += likelihood[state(a)].ln());
        columns[*j] = in_states(&columns[*j], (0..n).map(state));
        block *= states.len();
    }
    if columns.is_empty() {
        return Ok((Table::without_columns(n), logs));
    }
    Ok((Table::new(columns)?, logs))
}

/// The only row of a table once with each of the `r` states of column `j`.
pub fn with_states(row: &Table, j: usize, r: usize) -> Result<Table> {
    let mut columns: Vec<Column> = row.rows(&vec![0; r]).columns().to_vec();
    columns[j] = in_states(&columns[j], 0..r);
    Table::new(columns)
}

fn in_states(column: &Column, states: impl Iterator<Item = usize>) -> Column {
    let categories = column.as_categorical().map(|c| c.categories().to_vec()).unwrap_or_default();
    let codes = Codes::from_options(categories.len(), states.map(Some));
    Column::categorical(column.name(), categories, codes)
}
