//! The rows the pool works on: feature cells column by column, in their own small form, and labelled
//! rows with weights. Training rows are merged and sorted here, so that neither the order of the rows
//! nor repetition in place of weights can change anything that follows.

use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::{Training, check_weights};
use hingenet_data::table::{Codes, Column, ColumnData, Table};
use std::cmp::Ordering;

/// Code of a missing category.
pub(crate) const NO_LEVEL: u32 = u32::MAX;

/// The cells of one feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cells {
    /// Numbers; NaN is a missing cell.
    Numbers(Vec<f64>),
    /// Category codes; [`NO_LEVEL`] is a missing cell.
    Levels { count: usize, codes: Vec<u32> },
}

/// Feature cells of rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    features: Vec<Cells>,
    n: usize,
}

/// Type of a feature: a number, or a category with so many levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureType {
    /// A number.
    Number,
    /// A category with this many levels.
    Levels(usize),
}

impl Rows {
    /// The cells of a table. Infinite numbers are refused.
    pub(crate) fn of(table: &Table) -> Result<Self> {
        let features = table.columns().iter().map(cells_of).collect::<Result<_>>()?;
        Ok(Rows { features, n: table.n_rows() })
    }

    pub(crate) fn from_cells(features: Vec<Cells>, n: usize) -> Self {
        Rows { features, n }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Number of features d.
    pub(crate) fn n_features(&self) -> usize {
        self.features.len()
    }

    pub(crate) fn features(&self) -> &[Cells] {
        &self.features
    }

    pub(crate) fn types(&self) -> Vec<FeatureType> {
        let kind = |cells: &Cells| match cells {
            Cells::Numbers(_) => FeatureType::Number,
            Cells::Levels { count, .. } => FeatureType::Levels(*count),
        };
        self.features.iter().map(kind).collect()
    }

    pub(crate) fn is_missing(&self, i: usize, j: usize) -> bool {
        match &self.features[j] {
            Cells::Numbers(x) => x[i].is_nan(),
            Cells::Levels { codes, .. } => codes[i] == NO_LEVEL,
        }
    }

    /// Whether any cell is missing.
    pub(crate) fn has_missing(&self) -> bool {
        (0..self.n_features()).any(|j| (0..self.n).any(|i| self.is_missing(i, j)))
    }

    /// The given rows, in the given order.
    pub(crate) fn select(&self, rows: &[usize]) -> Rows {
        let pick = |cells: &Cells| match cells {
            Cells::Numbers(x) => Cells::Numbers(rows.iter().map(|&i| x[i]).collect()),
            Cells::Levels { count, codes } => {
                Cells::Levels { count: *count, codes: rows.iter().map(|&i| codes[i]).collect() }
            }
        };
        Rows { features: self.features.iter().map(pick).collect(), n: rows.len() }
    }

    /// Makes one cell missing.
    pub(crate) fn blank(&mut self, i: usize, j: usize) {
        match &mut self.features[j] {
            Cells::Numbers(x) => x[i] = f64::NAN,
            Cells::Levels { codes, .. } => codes[i] = NO_LEVEL,
        }
    }

    /// A copy with each cell blanked independently; `rate(i)` is the probability for row i.
    pub(crate) fn blanked(&self, random: &mut Random, mut rate: impl FnMut(&mut Random) -> f64) -> Rows {
        let mut copy = self.clone();
        for i in 0..self.n {
            let probability = rate(random);
            for j in 0..self.n_features() {
                if random.uniform() < probability {
                    copy.blank(i, j);
                }
            }
        }
        copy
    }

    /// The rows of all parts, one after the other; all parts have the same features.
    pub(crate) fn concat(parts: &[Rows]) -> Rows {
        let mut all = parts[0].clone();
        for part in &parts[1..] {
            for (cells, more) in all.features.iter_mut().zip(&part.features) {
                match (cells, more) {
                    (Cells::Numbers(x), Cells::Numbers(y)) => x.extend_from_slice(y),
                    (Cells::Levels { codes, .. }, Cells::Levels { codes: y, .. }) => {
                        codes.extend_from_slice(y);
                    }
                    _ => debug_assert!(false, "parts differ in type"),
                }
            }
            all.n += part.n;
        }
        all
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        for cells in &self.features {
            let order = match cells {
                Cells::Numbers(x) => x[a].total_cmp(&x[b]),
                Cells::Levels { codes, .. } => codes[a].cmp(&codes[b]),
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}

fn cells_of(column: &Column) -> Result<Cells> {
    match column.data() {
        ColumnData::Numeric(n) => {
            if let Some(i) = n.with_nan().iter().position(|x| x.is_infinite()) {
                return Err(Error::column(
                    column.name(),
                    format!("the value of row {} is infinite", i + 1),
                    "numbers must be finite; leave the cell empty if the value is unknown",
                ));
            }
            // one NaN and one zero, so that equal cells have equal bits
            let clean = |x: &f64| if x.is_nan() { f64::NAN } else { x + 0.0 };
            Ok(Cells::Numbers(n.with_nan().iter().map(clean).collect()))
        }
        ColumnData::Categorical(c) => Ok(Cells::Levels {
            count: c.categories().len(),
            codes: c.codes().iter().map(|code| code.map_or(NO_LEVEL, |l| l as u32)).collect(),
        }),
    }
}

/// Merged and sorted training rows: no two are equal in features and class, weights are positive.
#[derive(Debug, Clone)]
pub(crate) struct Labelled {
    pub(crate) rows: Rows,
    /// Class of each row, below `n_classes`; every class occurs.
    pub(crate) class: Vec<usize>,
    pub(crate) weight: Vec<f64>,
    pub(crate) n_classes: usize,
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
        let rows = Rows::of(table)?;
        let weight = |i: usize| training.weights.map_or(1.0, |w| w[i]);
        let class = class_codes(training)?;
        let mut order: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0).collect();
        order.sort_by(|&a, &b| {
            let same = class[a].cmp(&class[b]).then_with(|| rows.compare(a, b));
            same.then_with(|| weight(a).total_cmp(&weight(b)))
        });
        let mut kept: Vec<usize> = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        for &i in &order {
            match (kept.last(), weights.last_mut()) {
                (Some(&last), Some(sum)) if class[last] == class[i] && rows.compare(last, i).is_eq() => {
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
            rows: rows.select(&kept),
            class: kept_class.iter().map(position).collect(),
            weight: weights,
            n_classes: present.len(),
        };
        Ok((labelled, present))
    }

    pub(crate) fn len(&self) -> usize {
        self.class.len()
    }

    /// The given rows, in the given order; classes keep their codes.
    pub(crate) fn select(&self, rows: &[usize]) -> Labelled {
        Labelled {
            rows: self.rows.select(rows),
            class: rows.iter().map(|&i| self.class[i]).collect(),
            weight: rows.iter().map(|&i| self.weight[i]).collect(),
            n_classes: self.n_classes,
        }
    }

    /// Total weight `n_c` of each class.
    pub(crate) fn class_weight(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.n_classes];
        for (c, s) in self.class.iter().zip(&self.weight) {
            total[*c] += s;
        }
        total
    }

    /// Number of (merged) rows of each class.
    pub(crate) fn class_rows(&self) -> Vec<usize> {
        let mut count = vec![0; self.n_classes];
        self.class.iter().for_each(|c| count[*c] += 1);
        count
    }

    pub(crate) fn codes(&self) -> Codes {
        Codes::from_options(self.n_classes, self.class.iter().map(|c| Some(*c)))
    }

    /// Fold of each row: `0..folds`, the classes spread evenly, in a seeded random order.
    pub(crate) fn folds(&self, folds: usize, random: &mut Random) -> Vec<usize> {
        let mut fold = vec![0; self.len()];
        let mut next = vec![0; self.n_classes];
        for i in random.permutation(self.len()) {
            let c = self.class[i];
            fold[i] = (next[c] + c) % folds;
            next[c] += 1;
        }
        fold
    }
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

/// The first `most` rows of a seeded random order of `0..n`, sorted; all rows if there are no more.
pub(crate) fn random_subset(n: usize, most: usize, random: &mut Random) -> Vec<usize> {
    let mut subset = random.permutation(n);
    subset.truncate(most);
    subset.sort_unstable();
    subset
}
