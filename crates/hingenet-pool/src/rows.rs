//! The labelled rows the terms learn from, parts of them, and blanked copies.

use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::random::Random;
use hingenet_data::rows::{Dataset, Rows};
use hingenet_data::table::{Codes, Column, ColumnData, Table};
use std::ops::Range;

/// When a column names rows, see [`identifiers`].
const FEWEST_NAMED: usize = 20;
const SHARED_NAMES: f64 = 0.05;

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

    /// The type in words.
    pub(crate) fn described(self) -> String {
        match self {
            FeatureType::Number => "numbers".into(),
            FeatureType::Levels(count) => format!("{count} categories"),
        }
    }
}

/// A cell as a number, the code of a category; `None` if missing.
pub(crate) fn number(column: &Column, i: usize) -> Option<f64> {
    match column.data() {
        ColumnData::Numeric(n) => n.get(i),
        ColumnData::Categorical(c) => c.codes().get(i).map(|code| code as f64),
    }
}

/// What is known of a training column where its rows are not kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ColumnFacts {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: FeatureType,
    /// Its cells.
    pub cells: CellsSeen,
}

/// Which cells training has seen in a column; codes for categories.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellsSeen {
    /// All were missing.
    None,
    /// All were this one.
    One(f64),
    /// At least two different ones.
    Several,
}

impl ColumnFacts {
    /// Of every column of a table.
    pub(crate) fn of(table: &Table) -> Vec<Self> {
        let facts = |column: &Column| {
            let mut cells = (0..table.n_rows()).filter_map(|i| number(column, i));
            let cells = match cells.next() {
                None => CellsSeen::None,
                Some(first) if cells.all(|cell| cell == first) => CellsSeen::One(first),
                Some(_) => CellsSeen::Several,
            };
            ColumnFacts { name: column.name().into(), kind: FeatureType::of(column), cells }
        };
        table.columns().iter().map(facts).collect()
    }

    /// Whether some training cell differs from this one.
    pub(crate) fn differs_from(&self, own: Option<f64>) -> bool {
        match self.cells {
            CellsSeen::None => false,
            CellsSeen::One(cell) => Some(cell) != own,
            CellsSeen::Several => true,
        }
    }
}

/// Labelled rows of the classes that have training rows, or a part of them: what a term learns from.
#[derive(Debug, Clone)]
pub struct Labelled {
    pub(crate) features: Table,
    /// Class of each row, a position in `classes`; ascending.
    pub(crate) class: Vec<usize>,
    pub(crate) weight: Vec<f64>,
    pub(crate) classes: Vec<String>,
}

impl Labelled {
    /// The rows without the classes that have none; the class code of a class that is left is its position in
    /// [`Rows::present`].
    pub(crate) fn new(rows: &Rows) -> Result<Self> {
        rows.features().require_finite()?;
        let present = rows.present();
        let position = |c: usize| present.binary_search(&c).unwrap_or_default();
        Ok(Labelled {
            features: rows.features().clone(),
            class: rows.class_codes().into_iter().map(position).collect(),
            weight: rows.all_weights(),
            classes: present.iter().map(|&c| rows.classes()[c].clone()).collect(),
        })
    }

    /// The rows without the cells of [`identifiers`].
    pub(crate) fn without_identifiers(mut self, control: &Control) -> Self {
        for j in identifiers(&self.features) {
            let name = self.features.column(j).name();
            control.warn(&format!(
                "column `{name}` is not used: hardly a category of it has two rows, so it names them"
            ));
            (0..self.class.len()).for_each(|i| self.features.blank(i, j));
        }
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.class.len()
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// The given rows, ascending; classes keep their codes.
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

    /// Rows of each class, which stand together.
    pub(crate) fn class_ranges(&self) -> Vec<Range<usize>> {
        let first = |c: usize| self.class.partition_point(|y| *y < c);
        (0..self.n_classes()).map(|c| first(c)..first(c + 1)).collect()
    }

    /// Class codes of the rows.
    pub(crate) fn codes(&self) -> Codes {
        Codes::from_options(self.n_classes(), self.class.iter().map(|c| Some(*c)))
    }

    /// The rows as a data set; columns, categories and classes have their names.
    pub fn dataset(&self, target: &str) -> Result<Dataset> {
        let (features, classes) = (self.features.clone(), self.classes.clone());
        Dataset::from_parts(target, features, classes, self.codes(), Some(self.weight.clone()))
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

/// Categorical columns that name rows rather than describe them: of at least [`FEWEST_NAMED`] known cells at most
/// [`SHARED_NAMES`] have their category in common with another row. The category of a new row is then another one, and in
/// training it would tell every row from all others.
pub(crate) fn identifiers(rows: &Table) -> Vec<usize> {
    let names = |column: &Column| {
        let Some(categories) = column.as_categorical() else { return false };
        let mut count = vec![0_usize; categories.categories().len()];
        categories.codes().iter().flatten().for_each(|code| count[code] += 1);
        let (known, shared) =
            count.iter().fold((0, 0), |(known, shared), &n| (known + n, shared + if n > 1 { n } else { 0 }));
        known >= FEWEST_NAMED && shared as f64 <= SHARED_NAMES * known as f64
    };
    (0..rows.n_columns()).filter(|&j| names(rows.column(j))).collect()
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

/// Puts rows of numbers, as many as each place has, at the given places.
pub(crate) fn put_rows(all: &mut [f64], rows: &[usize], values: &[f64]) {
    let width = values.len().checked_div(rows.len()).unwrap_or(0);
    for (row, &i) in values.chunks_exact(width.max(1)).zip(rows) {
        all[i * width..(i + 1) * width].copy_from_slice(row);
    }
}

/// The candidate of least loss, the first of equal ones.
pub(crate) fn least<T>(method: &str, tried: impl IntoIterator<Item = (f64, T)>) -> Result<T> {
    let smaller = |best: (f64, T), next: (f64, T)| if next.0 < best.0 { next } else { best };
    let finite = tried.into_iter().filter(|(loss, _)| !loss.is_nan());
    let best = finite.reduce(smaller).map(|(_, candidate)| candidate);
    let problem = "no candidate gives a finite loss".into();
    best.ok_or_else(|| Error::Numeric { method: method.into(), problem })
}
