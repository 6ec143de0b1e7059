//! The labelled rows the terms learn from, and parts of them. Training rows are merged and sorted here, so
//! that neither the order of the rows nor repetition in place of weights can change anything that follows.

use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::{Training, check_weights};
use hingenet_data::table::{Codes, Column, ColumnData, Table};
use std::cmp::Ordering;
use std::ops::Range;

/// Type of a feature: a number, or a category with so many levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureType {
    /// A number.
    Number,
    /// A category with this many levels.
    Levels(usize),
}

impl FeatureType {
    /// Type of a column.
    pub fn of(column: &Column) -> Self {
        match column.data() {
            ColumnData::Numeric(_) => FeatureType::Number,
            ColumnData::Categorical(c) => FeatureType::Levels(c.categories().len()),
        }
    }
}

/// Labelled rows of the classes that have training rows, or a part of them: what a term learns from.
#[derive(Debug, Clone)]
pub struct Labelled {
    pub(crate) features: Table,
    /// Class of each row, a position in `classes`.
    pub(crate) class: Vec<usize>,
    pub(crate) weight: Vec<f64>,
    pub(crate) classes: Vec<String>,
}

impl Labelled {
    /// Checks the training rows, drops rows of weight zero, merges equal rows and sorts them. Classes
    /// without rows are left out: the second value gives the class code of each class that is left.
    pub(crate) fn new(training: &Training) -> Result<(Self, Vec<usize>)> {
        let table = training.features;
        let n = table.n_rows();
        require_len("class codes", n, training.class.len())?;
        if n == 0 || table.n_columns() == 0 {
            return Err(Error::data("there is nothing to learn from", "give rows and feature columns"));
        }
        if let Some(weights) = training.weights {
            check_weights(weights, n)?;
        }
        check_finite(table)?;
        let weight = |i: usize| training.weights.map_or(1.0, |w| w[i]);
        let class = class_codes(training)?;
        let mut order: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0).collect();
        order.sort_by(|&a, &b| {
            let same = class[a].cmp(&class[b]).then_with(|| compare(table, a, b));
            same.then_with(|| weight(a).total_cmp(&weight(b)))
        });
        let mut kept: Vec<usize> = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        for &i in &order {
            match (kept.last(), weights.last_mut()) {
                (Some(&last), Some(sum)) if class[last] == class[i] && compare(table, last, i).is_eq() => {
                    *sum += weight(i);
                }
                _ => {
                    kept.push(i);
                    weights.push(weight(i));
                }
            }
        }
        let kept_class: Vec<usize> = kept.iter().map(|&i| class[i]).collect();
        let present: Vec<usize> =
            (0..training.classes.len()).filter(|c| kept_class.binary_search(c).is_ok()).collect();
        if present.len() < 2 {
            return Err(Error::data(
                "there is one class only",
                "a classifier needs rows of at least two classes; is this the right target column?",
            ));
        }
        let position = |c: &usize| present.binary_search(c).unwrap_or_default();
        let labelled = Labelled {
            features: table.rows(&kept),
            class: kept_class.iter().map(position).collect(),
            weight: weights,
            classes: present.iter().map(|&c| training.classes[c].clone()).collect(),
        };
        Ok((labelled, present))
    }

    pub(crate) fn len(&self) -> usize {
        self.class.len()
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// The given rows, in the given order; classes keep their codes.
    pub(crate) fn select(&self, rows: &[usize]) -> Labelled {
        Labelled {
            features: self.features.rows(rows),
            class: rows.iter().map(|&i| self.class[i]).collect(),
            weight: rows.iter().map(|&i| self.weight[i]).collect(),
            classes: self.classes.clone(),
        }
    }

    /// Total weight `n_c` of each class.
    pub(crate) fn class_weight(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.n_classes()];
        for (c, s) in self.class.iter().zip(&self.weight) {
            total[*c] += s;
        }
        total
    }

    /// Number of (merged) rows of each class.
    pub(crate) fn class_rows(&self) -> Vec<usize> {
        let mut count = vec![0; self.n_classes()];
        self.class.iter().for_each(|c| count[*c] += 1);
        count
    }

    /// Feature columns, with the names and categories of the training table.
    pub fn features(&self) -> &Table {
        &self.features
    }

    /// Names of the classes; each has training rows.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Weights of the rows, above 0.
    pub fn weights(&self) -> &[f64] {
        &self.weight
    }

    /// Class codes of the rows.
    pub fn codes(&self) -> Codes {
        Codes::from_options(self.n_classes(), self.class.iter().map(|c| Some(*c)))
    }

    /// Fold of each row: `0..folds`, the classes spread evenly, in a seeded random order.
    pub(crate) fn folds(&self, folds: usize, random: &mut Random) -> Vec<usize> {
        let mut fold = vec![0; self.len()];
        let mut next = vec![0; self.n_classes()];
        for i in random.permutation(self.len()) {
            let c = self.class[i];
            fold[i] = (next[c] + c) % folds;
            next[c] += 1;
        }
        fold
    }
}

fn compare(table: &Table, a: usize, b: usize) -> Ordering {
    // + 0.0 makes −0 and 0 equal; missing cells come last
    let order = |column: &Column| match column.data() {
        ColumnData::Numeric(n) => (n.with_nan()[a] + 0.0).total_cmp(&(n.with_nan()[b] + 0.0)),
        ColumnData::Categorical(c) => {
            let code = |i: usize| c.codes().get(i).unwrap_or(usize::MAX);
            code(a).cmp(&code(b))
        }
    };
    table.columns().iter().map(order).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

fn class_codes(training: &Training) -> Result<Vec<usize>> {
    let k = training.classes.len();
    let code = |(i, c): (usize, Option<usize>)| match c {
        Some(c) if c < k => Ok(c),
        Some(c) => Err(Error::data(format!("row {}: class code {c} of {k} classes", i + 1), "")),
        None => Err(Error::data(
            format!("the class of row {} is missing", i + 1),
            "remove rows without a class, or fill them in",
        )),
    };
    training.class.iter().enumerate().map(code).collect()
}

/// Refuses infinite numbers.
pub(crate) fn check_finite(table: &Table) -> Result<()> {
    for column in table.columns() {
        let infinite = |n: &hingenet_data::table::Numeric| n.with_nan().iter().position(|x| x.is_infinite());
        if let Some(i) = column.as_numeric().and_then(infinite) {
            return Err(Error::column(
                column.name(),
                format!("the value of row {} is infinite", i + 1),
                "numbers must be finite; leave the cell empty if the value is unknown",
            ));
        }
    }
    Ok(())
}

/// The rows of a table, `times` times below each other.
pub(crate) fn repeated(table: &Table, times: usize) -> Table {
    let rows: Vec<usize> = (0..times).flat_map(|_| 0..table.n_rows()).collect();
    table.rows(&rows)
}

/// Blanks the cells of some rows independently, each with the probability that `rate` gives for its row.
pub(crate) fn blank_cells(
    table: &mut Table,
    rows: Range<usize>,
    random: &mut Random,
    mut rate: impl FnMut(&mut Random) -> f64,
) {
    for i in rows {
        let probability = rate(random);
        for j in 0..table.n_columns() {
            if random.uniform() < probability {
                table.blank(i, j);
            }
        }
    }
}

/// The first `most` rows of a seeded random order of `0..n`, sorted; all rows if there are no more.
pub(crate) fn random_subset(n: usize, most: usize, random: &mut Random) -> Vec<usize> {
    let mut subset = random.permutation(n);
    subset.truncate(most);
    subset.sort_unstable();
    subset
}
