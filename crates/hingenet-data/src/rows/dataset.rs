//! A table split into features, class and weights, ready to learn from.

use super::weights::{check_sample_weights, check_weights};
use crate::table::{Codes, Column, ColumnData, NumberRows, Table};
use hingenet_base::error::{Error, Result, require_len};

/// Features, class and weights of the same rows.
///
/// ```
/// # use hingenet_data::{rows::Dataset, table};
/// # use hingenet_base::error::Error;
/// use table::{Codes, Column, Table};
/// let names = vec!["no".to_string(), "yes".to_string()];
/// let table = Table::new(vec![
///     Column::numeric("size", vec![1.0, 1.5, 7.0]),
///     Column::numeric("n", vec![2.0, 1.0, 1.0]),
///     Column::categorical("class", names, Codes::from_options(2, [0, 0, 1].into_iter().map(Some))),
/// ])?;
/// let data = Dataset::new(table, "class", Some("n"))?;
/// assert_eq!((data.features.n_columns(), data.classes.len()), (1, 2));
/// assert_eq!(data.weights, Some(vec![2.0, 1.0, 1.0]));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Name of the target column.
    pub target: String,
    /// Feature columns.
    pub features: Table,
    /// Class names in code order.
    pub classes: Vec<String>,
    /// Class code of each row.
    pub class: Codes,
    /// Sample weights, if any.
    pub weights: Option<Vec<f64>>,
}

impl Dataset {
    /// Takes the target (and the weights column, if named) out of a table. Every row must have a class.
    pub fn new(table: Table, target: &str, weights: Option<&str>) -> Result<Self> {
        let dataset = Self::partly_labelled(table, target, weights)?;
        dataset.require_labels()?;
        Ok(dataset)
    }

    /// The same for a semi-supervised fit: rows without a class stay.
    pub fn partly_labelled(table: Table, target: &str, weights: Option<&str>) -> Result<Self> {
        let dataset = Self::unchecked(table, target, weights)?;
        dataset.check()?;
        dataset.check_weights()?;
        Ok(dataset)
    }

    /// What may be a piece of a table that can be learnt from, although it cannot itself.
    pub(crate) fn unchecked(table: Table, target: &str, weights: Option<&str>) -> Result<Self> {
        let (target_column, rest) = table.split_off(target)?;
        let (weights, features) = split_weights(rest, weights)?;
        let (classes, class) = categories_of(&target_column);
        Ok(Dataset { target: target.into(), features, classes, class, weights })
    }

    /// Features, class codes with their names, and weights that are already apart.
    pub fn from_parts(
        target: impl Into<String>,
        features: Table,
        classes: Vec<String>,
        class: Codes,
        weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        require_len("class labels", features.n_rows(), class.len())?;
        let dataset = Dataset { target: target.into(), features, classes, class, weights };
        dataset.check()?;
        dataset.check_weights()?;
        dataset.require_labels()?;
        Ok(dataset)
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.class.len()
    }

    /// The given rows, in the given order. Classes keep their codes, also those without rows.
    pub fn rows(&self, rows: &[usize]) -> Dataset {
        Dataset {
            target: self.target.clone(),
            features: self.features.rows(rows),
            classes: self.classes.clone(),
            class: self.class.rows(rows),
            weights: self.weights.as_ref().map(|w| rows.iter().map(|&m| w[m]).collect()),
        }
    }

    /// Refuses rows without a class.
    pub fn require_labels(&self) -> Result<()> {
        let Some(m) = self.class.iter().position(|c| c.is_none()) else { return Ok(()) };
        Err(Error::row(
            m,
            format!("column `{}`: the class is missing", self.target),
            "leave such rows out with `--drop-unlabelled`, fill them in, or learn from them with `--semi-supervised` (nb, tan, kdb and dag)",
        ))
    }

    /// Rows, features, classes and weights that can be learnt from.
    pub fn check(&self) -> Result<()> {
        let n = self.n_rows();
        let needed = self.class.max().map_or(0, |c| c + 1);
        require_len("class names", needed.max(self.classes.len()), self.classes.len())?;
        if n == 0 {
            return Err(Error::data("there are no rows", "give at least two rows of different classes"));
        }
        if self.features.n_columns() == 0 {
            return Err(Error::data(
                "there are no feature columns beside the target",
                "give at least one feature column",
            ));
        }
        if let Some(weights) = &self.weights {
            check_weights(weights, n)?;
        }
        self.check_classes()
    }

    /// Weights that leave every fit finite; parts of checked rows need no second look.
    pub(super) fn check_weights(&self) -> Result<()> {
        self.weights.as_ref().map_or(Ok(()), |w| check_sample_weights(w, &self.class))
    }

    /// At least two classes with rows that count.
    fn check_classes(&self) -> Result<()> {
        let mut present = vec![false; self.classes.len()];
        for (m, c) in self.class.iter().enumerate() {
            if let Some(c) = c.filter(|_| self.weights.as_ref().is_none_or(|w| w[m] > 0.0)) {
                present[c] = true;
            }
        }
        let n_present = present.iter().filter(|p| **p).count();
        if n_present == 0 {
            let problem = "no row that counts has a class";
            let hint = "is this the right target column? A missing class is an empty cell, `?`, `NA`, `NaN` or `null`";
            return Err(Error::column(&self.target, problem, hint));
        }
        if n_present == 1 {
            let only = present.iter().position(|p| *p).map_or("", |c| self.classes[c].as_str());
            return Err(Error::column(
                &self.target,
                format!("there is one class only (`{only}`)"),
                "a classifier needs rows of at least two classes; is this the right target column?",
            ));
        }
        Ok(())
    }
}

/// Numeric features that stay with the caller, with class and weights: what a fit learns
/// from without a copy of the matrix.
#[derive(Debug, Clone)]
pub struct NumberData<'a> {
    /// Name of the target.
    pub target: String,
    /// The features.
    pub rows: NumberRows<'a>,
    /// Their names.
    pub names: Vec<String>,
    /// Class names in code order.
    pub classes: Vec<String>,
    /// Class code of each row.
    pub class: Codes,
    /// Sample weights, if any.
    pub weights: Option<Vec<f64>>,
}

impl NumberData<'_> {
    /// A copy as a data set, with all its checks.
    pub fn dataset(&self) -> Result<Dataset> {
        let names = self.names.iter().map(String::as_str);
        let features = self.rows.table(names, 0..self.rows.n_rows())?;
        Dataset::from_parts(
            self.target.clone(),
            features,
            self.classes.clone(),
            self.class.clone(),
            self.weights.clone(),
        )
    }

    /// Lengths and weights that fit the rows.
    pub(super) fn check(&self) -> Result<()> {
        require_len("class labels", self.rows.n_rows(), self.class.len())?;
        self.weights.as_ref().map_or(Ok(()), |w| check_sample_weights(w, &self.class))
    }
}

/// Takes the weights column, if one is named, out of a table.
pub fn split_weights(table: Table, weights: Option<&str>) -> Result<(Option<Vec<f64>>, Table)> {
    match weights {
        None => Ok((None, table)),
        Some(name) => {
            let (column, rest) = table.split_off(name)?;
            Ok((Some(weights_of(&column)?), rest))
        }
    }
}

/// Categories and codes of a target column; numbers become categories in numeric order.
pub fn categories_of(column: &Column) -> (Vec<String>, Codes) {
    match column.data() {
        ColumnData::Categorical(c) => (c.categories().to_vec(), c.codes().clone()),
        ColumnData::Numeric(n) => {
            let mut values: Vec<f64> = n.iter().flatten().collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            let code = |v: f64| values.binary_search_by(|x| x.total_cmp(&v)).ok();
            let codes = Codes::from_options(values.len(), n.iter().map(|v| v.and_then(code)));
            (values.iter().map(f64::to_string).collect(), codes)
        }
    }
}

fn weights_of(column: &Column) -> Result<Vec<f64>> {
    const HINT: &str = "weights are finite and not negative";
    let text = || Error::column(column.name(), "weights must be numbers", HINT);
    let numeric = column.as_numeric().ok_or_else(text)?;
    numeric
        .iter()
        .enumerate()
        .map(|(m, w)| {
            w.ok_or_else(|| Error::row(m, format!("column `{}`: the weight is missing", column.name()), HINT))
        })
        .collect()
}
