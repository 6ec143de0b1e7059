//! Rows to learn from. A [`Dataset`] is a table split into features, class and weights; [`Rows`] is the proof that
//! every family can learn from it, made once: checked, merged, sorted. Families take `Rows` and never check again.

mod class_weight;
mod dataset;
mod order;
mod weights;

pub use class_weight::ClassWeight;
pub use dataset::{Dataset, NumberData, categories_of, split_weights};
pub use weights::check_weights;

use crate::table::{Codes, Table};
use hingenet_base::error::{Error, Result};
use std::borrow::Cow;

/// Rows that can be learnt from: features, class and weight of each, the same number of all three.
///
/// There is at least one feature column, every class code has a name, at least two classes have rows, and every
/// weight is finite and above 0. Equal rows are merged into one with the sum of their weights, and the rows are
/// sorted by class, then by the features in column order (missing cells last, −0 is 0), so that neither the order of
/// the rows nor repetition in place of weights can change a fit. Every row has a class, unless the rows were asked
/// for as [`Rows::partly_labelled`].
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    data: Cow<'a, Dataset>,
}

impl<'a> Rows<'a> {
    /// Checks, merges and sorts the rows of a data set, all of which must have a class.
    pub fn of(data: &Dataset) -> Result<Rows<'static>> {
        data.check()?;
        data.require_labels()?;
        Ok(Rows { data: Cow::Owned(data.canonical()) })
    }

    /// The same from parts: features, class codes with their names, weights (`None`: 1 for every row).
    pub fn new(
        features: &Table,
        class: &Codes,
        classes: &[String],
        weights: Option<&[f64]>,
    ) -> Result<Rows<'static>> {
        let weights = weights.map(<[f64]>::to_vec);
        Rows::of(&Dataset::from_parts("class", features.clone(), classes.to_vec(), class.clone(), weights)?)
    }

    /// Rows for a semi-supervised fit: some may lack a class.
    pub fn partly_labelled(data: &Dataset) -> Result<Rows<'static>> {
        data.check()?;
        Ok(Rows { data: Cow::Owned(data.canonical()) })
    }

    /// Rows as they stand, neither merged nor sorted: for fits that add whole numbers only, so that order and
    /// repetition cannot matter. `None` where the data set has weights or missing cells.
    pub fn counted(data: &'a Dataset) -> Result<Option<Self>> {
        data.check()?;
        let whole = data.weights.is_none() && data.features.n_missing() == 0 && !data.class.has_missing();
        Ok(whole.then_some(Rows { data: Cow::Borrowed(data) }))
    }

    /// Rows read from the memory of the caller: the sorted rows are the only copy.
    pub fn of_numbers(numbers: &NumberData<'_>) -> Result<Rows<'static>> {
        let data = numbers.canonical()?;
        data.check()?;
        data.require_labels()?;
        Ok(Rows { data: Cow::Owned(data) })
    }

    /// Some of the rows, in ascending order so that they stay sorted. An error if they are of one class only.
    pub fn part(&self, rows: &[usize]) -> Result<Rows<'static>> {
        let data = self.data.rows(rows);
        data.check()?;
        Ok(Rows { data: Cow::Owned(data) })
    }

    /// The rows as a data set.
    pub fn dataset(&self) -> &Dataset {
        &self.data
    }

    /// Feature columns.
    pub fn features(&self) -> &Table {
        &self.data.features
    }

    /// Class codes; missing only in [`Rows::partly_labelled`].
    pub fn class(&self) -> &Codes {
        &self.data.class
    }

    /// Class code of each row; rows without a class (see [`Rows::partly_labelled`]) are left out.
    pub fn class_codes(&self) -> Vec<usize> {
        self.data.class.iter().flatten().collect()
    }

    /// Class names in code order, also those without rows.
    pub fn classes(&self) -> &[String] {
        &self.data.classes
    }

    /// Name of the target column.
    pub fn target(&self) -> &str {
        &self.data.target
    }

    /// Number of rows after merging.
    pub fn n_rows(&self) -> usize {
        self.data.n_rows()
    }

    /// Number of classes K, also those without rows.
    pub fn n_classes(&self) -> usize {
        self.data.classes.len()
    }

    /// The weights; `None` when all are 1.
    pub fn weights(&self) -> Option<&[f64]> {
        self.data.weights.as_deref()
    }

    /// Weight of row `m`.
    pub fn weight(&self, m: usize) -> f64 {
        self.data.weights.as_ref().map_or(1.0, |w| w[m])
    }

    /// The weight of every row.
    pub fn all_weights(&self) -> Vec<f64> {
        self.data.weights.clone().unwrap_or_else(|| vec![1.0; self.n_rows()])
    }

    /// Number of merged rows of each class.
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_classes()];
        self.data.class.iter().flatten().for_each(|c| counts[c] += 1);
        counts
    }

    /// Total weight n_c of each class.
    pub fn class_totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.n_classes()];
        for (m, c) in self.data.class.iter().enumerate() {
            if let Some(c) = c {
                totals[c] += self.weight(m);
            }
        }
        totals
    }

    /// Codes of the classes that have rows, ascending; at least two.
    pub fn present(&self) -> Vec<usize> {
        let counts = self.class_counts();
        (0..counts.len()).filter(|&c| counts[c] > 0).collect()
    }

    /// The same rows without the classes that have none, for fits in which every class takes part; `None` if all have.
    pub fn without_empty_classes(&self) -> Option<Rows<'static>> {
        let present = self.present();
        if present.len() == self.n_classes() {
            return None;
        }
        let classes: Vec<String> = present.iter().map(|&c| self.classes()[c].clone()).collect();
        let class = self.class().recode(self.classes(), &classes);
        Some(Rows { data: Cow::Owned(Dataset { classes, class, ..self.dataset().clone() }) })
    }

    /// Refuses a class with fewer than `needed` rows (a weight of 2 is a row given twice); `why` says what needs them.
    pub fn require_class_rows(&self, c: usize, needed: f64, why: &str) -> Result<()> {
        let rows = (self.class_counts()[c] as f64).max(self.class_totals()[c].floor());
        require_class_rows(&self.classes()[c], rows, needed, why)
    }
}

/// Refuses a class of so many rows where `needed` are.
pub fn require_class_rows(class: &str, rows: f64, needed: f64, why: &str) -> Result<()> {
    if rows >= needed {
        return Ok(());
    }
    let word = if rows == 1.0 { "row" } else { "rows" };
    Err(Error::data(
        format!("class `{class}` has {rows} {word}; {why} of every class"),
        "add rows, leave the class out or join it with another; small_classes=allow fits it all the same",
    ))
}
