//! Gaps that tell: whether a cell is missing can be evidence itself, such as a test that was ordered for the ill only. A pool
//! then has a second one beside it, fitted on the training rows with an indicator column for every column whose gaps the class
//! explains, if its probabilities of training rows left out are better by more than noise. Where gaps do not tell, the pool is
//! the one it would be without this file.

use super::classifier::PoolClassifier;
use super::rows::Labelled;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::mutual_information;
use hingenet_data::table::{Codes, Column, Table};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// What a missing cell of a row to predict means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gaps {
    /// The cell is missing for the reasons for which cells of its column were missing in training. A column that a table has not
    /// got is not known, whatever its gaps meant.
    #[default]
    AsInTraining,
    /// The cell is not known, and nothing follows from that.
    Unknown,
}

/// How much better training rows were predicted with indicators, when they were left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Mean fall of the log-loss (nats a row).
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

/// Standard errors by which a gain must be above 0: the indicators were chosen on the same rows.
const MARGIN: f64 = 2.0;

impl Gain {
    /// From the log-losses of the same rows without and with indicators; `None` if there are no rows.
    pub(crate) fn new(without: &[f64], with: &[f64], weight: &[f64]) -> Option<Self> {
        let n: f64 = weight.iter().sum();
        let falls = || without.iter().zip(with).map(|(a, b)| a - b).zip(weight);
        let mean = falls().map(|(fall, s)| s * fall).sum::<f64>() / n;
        let variance = falls().map(|(fall, s)| s * (fall - mean).powi(2)).sum::<f64>() / n;
        (n > 0.0).then(|| Gain { mean, error: (variance / n).sqrt() })
    }

    /// Whether it is more than noise.
    pub(crate) fn is_clear(&self) -> bool {
        self.mean > MARGIN * self.error
    }
}

/// The pool that reads gaps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Telling {
    /// Columns with an indicator, ascending.
    pub(crate) columns: Vec<usize>,
    pub(crate) gain: Gain,
    /// Has the indicators behind the other columns.
    pub(crate) pool: PoolClassifier,
}

impl Telling {
    /// Whether a row has a column whose gaps tell.
    pub(crate) fn can_read(&self, rows: &Table) -> bool {
        self.columns.iter().any(|&j| !rows.column(j).is_absent())
    }

    /// The rows as its pool wants them.
    pub(crate) fn indicated(&self, rows: &Table) -> Result<Table> {
        indicated(rows, &self.columns)
    }

    /// Makes a feature unknown in a row that [`Self::indicated`] gave: its cell, and whether it was missing.
    pub(crate) fn hide(&self, rows: &mut Table, i: usize, feature: usize) {
        rows.blank(i, feature);
        if let Ok(at) = self.columns.binary_search(&feature) {
            rows.blank(i, self.pool.n_features() - self.columns.len() + at);
        }
    }
}

/// Columns whose gaps the class explains well enough to pay for saying how (two-part code of the gaps, in nats):
///
/// ```text
/// n I(gap; class) > (K−1)/2 ln n + ln(number of patterns of gaps)
/// ```
///
/// Of columns that are always missing together the first stands for all.
pub(crate) fn telling_columns(training: &Labelled) -> Vec<usize> {
    let (rows, k) = (&training.features, training.n_classes());
    let mut seen = HashSet::new();
    let gaps = |j: usize| (0..rows.n_rows()).map(|i| rows.column(j).is_missing(i)).collect::<Vec<bool>>();
    let patterns: Vec<(usize, Vec<bool>)> = (0..rows.n_columns())
        .map(|j| (j, gaps(j)))
        .filter(|(_, gaps)| gaps.contains(&true) && seen.insert(gaps.clone()))
        .collect();
    let n: f64 = training.weight.iter().sum();
    let price = 0.5 * (k as f64 - 1.0) * n.ln() + (patterns.len() as f64).ln();
    let tells = |gaps: &[bool]| {
        let mut table = vec![0.0; 2 * k];
        for (i, gap) in gaps.iter().enumerate() {
            table[usize::from(*gap) * k + training.class[i]] += training.weight[i];
        }
        n * mutual_information(&table, k) > price
    };
    patterns.into_iter().filter(|(_, gaps)| tells(gaps)).map(|(j, _)| j).collect()
}

/// The rows with an indicator of every given column behind the others.
pub fn indicated(rows: &Table, columns: &[usize]) -> Result<Table> {
    let gap = |j: usize| {
        let column = rows.column(j);
        let code = |i: usize| (!column.is_absent()).then(|| usize::from(column.is_missing(i)));
        Codes::from_options(2, (0..rows.n_rows()).map(code))
    };
    let mut all = rows.columns().to_vec();
    for &j in columns {
        let mut name = format!("{} (gap)", rows.column(j).name());
        while all.iter().any(|c| c.name() == name) {
            name += "'";
        }
        all.push(Column::categorical(name, vec!["known".into(), "missing".into()], gap(j)));
    }
    Table::new(all)
}

/// Copies of rows that have indicators behind the other columns, with cells blanked as in `pattern`, which has the other
/// columns: of a blanked cell nothing is known, nor whether it was missing before.
pub(crate) fn blanked_like(mut copies: Table, pattern: &Table, columns: &[usize]) -> Table {
    let d = pattern.n_columns();
    let indicators: Vec<(usize, usize)> = columns.iter().copied().zip(d..).collect();
    for i in 0..copies.n_rows() {
        (0..d).filter(|&j| pattern.column(j).is_missing(i)).for_each(|j| copies.blank(i, j));
        let hidden = indicators.iter().filter(|(j, _)| pattern.column(*j).is_missing(i));
        hidden.for_each(|(_, at)| copies.blank(i, *at));
    }
    copies
}

/// Rows without any missing cell, to draw patterns of blanks on.
pub(crate) fn without_gaps(n_rows: usize, n_columns: usize) -> Result<Table> {
    let column = |j: usize| Column::numeric(j.to_string(), vec![0.0; n_rows]);
    Table::new((0..n_columns).map(column).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column of which class 1 lacks every second cell, the same once more, one with gaps everywhere, one without.
    fn rows(n: usize) -> Labelled {
        let class: Vec<usize> = (0..2 * n).map(|i| i / n).collect();
        let column = |name: &str, gap: &dyn Fn(usize) -> bool| {
            Column::numeric(name, (0..2 * n).map(|i| if gap(i) { f64::NAN } else { i as f64 }).collect())
        };
        let tells = |i: usize| i >= n && i.is_multiple_of(2);
        let columns = vec![
            column("whole", &|_| false),
            column("tells", &tells),
            column("again", &tells),
            column("anywhere", &|i| i.is_multiple_of(3)),
        ];
        Labelled {
            features: Table::new(columns).unwrap(),
            class,
            weight: vec![1.0; 2 * n],
            classes: vec!["r".into(), "s".into()],
        }
    }

    #[test]
    fn gaps_tell_where_the_class_pays_for_them() {
        assert_eq!(telling_columns(&rows(30)), [1]);
        assert!(telling_columns(&rows(4)).is_empty());
    }

    #[test]
    fn an_indicator_says_known_or_missing_and_nothing_of_an_absent_column() {
        let mut table = rows(2).features;
        let found = indicated(&table, &[1, 3]).unwrap();
        let codes = |t: &Table, j: usize| -> Vec<Option<usize>> {
            t.column(j).as_categorical().unwrap().codes().iter().collect()
        };
        assert_eq!(codes(&found, 4), [Some(0), Some(0), Some(1), Some(0)]);
        assert_eq!(codes(&found, 5), [Some(1), Some(0), Some(0), Some(1)]);
        let columns = table.columns().iter().enumerate();
        table =
            Table::new(columns.map(|(j, c)| if j == 1 { c.clone().absent() } else { c.clone() }).collect())
                .unwrap();
        assert_eq!(codes(&indicated(&table, &[1, 3]).unwrap(), 4), [None; 4]);
        // a name that is taken
        let twice = vec![Column::numeric("x", vec![1.0]), Column::numeric("x (gap)", vec![1.0])];
        let named = indicated(&Table::new(twice).unwrap(), &[0]).unwrap();
        assert_eq!(named.column(2).name(), "x (gap)'");
    }

    #[test]
    fn a_gain_within_noise_is_none() {
        let without = [1.0, 1.0, 1.0, 1.0];
        let clear = Gain::new(&without, &[0.5, 0.6, 0.4, 0.5], &[1.0; 4]).unwrap();
        assert!(clear.is_clear() && (clear.mean - 0.5).abs() < 1e-15);
        assert!(!Gain::new(&without, &[0.0, 1.5, 0.2, 1.4], &[1.0; 4]).unwrap().is_clear());
        assert!(!Gain::new(&without, &without, &[1.0; 4]).unwrap().is_clear());
        assert_eq!(Gain::new(&[], &[], &[]), None);
        // a weight of 2 is a row given twice
        let weighed = Gain::new(&[1.0, 1.0], &[0.5, 0.8], &[2.0, 1.0]);
        assert_eq!(weighed, Gain::new(&[1.0; 3], &[0.5, 0.5, 0.8], &[1.0; 3]));
    }
}
