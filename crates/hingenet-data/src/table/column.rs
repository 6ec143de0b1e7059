//! One named column: numbers or categories, each with missing cells.

use super::{Codes, Keyed};
use std::sync::OnceLock;

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: String,
    data: ColumnData,
    is_absent: bool,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnData {
    /// Finite numbers.
    Numeric(Numeric),
    /// Categories.
    Categorical(Categorical),
}

/// Finite numbers with missing cells (stored as NaN, which is never a value).
#[derive(Debug, Clone)]
pub struct Numeric {
    cells: Cells,
}

#[derive(Debug, Clone)]
enum Cells {
    LaidOut(Vec<f64>),
    /// Laid out when somebody asks for that.
    Keyed(Keyed, OnceLock<Vec<f64>>),
}

/// Fewer rows than this say nothing about names of rows.
pub const ID_ROWS: usize = 20;
/// Share of distinct categories from which a column names its rows.
const ID_SHARE: f64 = 0.95;

/// Category codes and the names of the categories, in their stated order.
#[derive(Debug, Clone, PartialEq)]
pub struct Categorical {
    categories: Vec<String>,
    codes: Codes,
}

/// Whether so many distinct categories name the rows in which one is observed.
pub fn names_rows(distinct: usize, observed: f64) -> bool {
    observed >= ID_ROWS as f64 && distinct as f64 >= ID_SHARE * observed
}

impl Column {
    /// A column of numbers; NaN is a missing cell. Infinities must have been refused before.
    pub fn numeric(name: impl Into<String>, values: Vec<f64>) -> Self {
        debug_assert!(values.iter().all(|v| !v.is_infinite()));
        Column { name: name.into(), data: ColumnData::Numeric(values.into()), is_absent: false }
    }

    /// A column of numbers that are kept as keys.
    pub(super) fn keyed(name: String, keyed: Keyed) -> Self {
        let cells = Cells::Keyed(keyed, OnceLock::new());
        Column { name, data: ColumnData::Numeric(Numeric { cells }), is_absent: false }
    }

    /// A column of categories; codes must lie below the number of categories.
    pub fn categorical(name: impl Into<String>, categories: Vec<String>, codes: Codes) -> Self {
        debug_assert!(codes.iter().flatten().all(|c| c < categories.len()));
        let data = ColumnData::Categorical(Categorical { categories, codes });
        Column { name: name.into(), data, is_absent: false }
    }

    /// The same column, standing for one that a table has not got: its cells are missing for that reason.
    pub fn absent(self) -> Self {
        Column { is_absent: true, ..self }
    }

    /// Whether this column stands for one that a table has not got.
    pub fn is_absent(&self) -> bool {
        self.is_absent
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cells.
    #[inline]
    pub fn data(&self) -> &ColumnData {
        &self.data
    }

    /// The numbers, if this is a numeric column.
    #[inline]
    pub fn as_numeric(&self) -> Option<&Numeric> {
        match &self.data {
            ColumnData::Numeric(n) => Some(n),
            ColumnData::Categorical(_) => None,
        }
    }

    /// The categories, if this is a categorical column.
    #[inline]
    pub fn as_categorical(&self) -> Option<&Categorical> {
        match &self.data {
            ColumnData::Numeric(_) => None,
            ColumnData::Categorical(c) => Some(c),
        }
    }

    /// Number of cells.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.data {
            ColumnData::Numeric(n) => n.len(),
            ColumnData::Categorical(c) => c.codes.len(),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of missing cells.
    pub fn n_missing(&self) -> usize {
        match &self.data {
            ColumnData::Numeric(n) => n.n_missing(),
            ColumnData::Categorical(c) => c.codes.n_missing(),
        }
    }

    /// Whether the cell of row `i` is missing.
    #[inline]
    pub fn is_missing(&self, i: usize) -> bool {
        match &self.data {
            ColumnData::Numeric(n) => n.with_nan()[i].is_nan(),
            ColumnData::Categorical(c) => c.codes.get(i).is_none(),
        }
    }

    /// The cell of row `i` as text, `None` when missing.
    pub fn text(&self, i: usize) -> Option<String> {
        match &self.data {
            ColumnData::Numeric(n) => n.get(i).map(|x| x.to_string()),
            ColumnData::Categorical(c) => c.get(i).map(str::to_string),
        }
    }

    /// The given rows, in the given order.
    pub fn rows(&self, rows: &[usize]) -> Column {
        let data = match &self.data {
            ColumnData::Numeric(n) => {
                let cells = n.with_nan();
                ColumnData::Numeric(rows.iter().map(|&i| cells[i]).collect::<Vec<f64>>().into())
            }
            ColumnData::Categorical(c) => ColumnData::Categorical(Categorical {
                categories: c.categories.clone(),
                codes: c.codes.rows(rows),
            }),
        };
        Column { name: self.name.clone(), data, is_absent: self.is_absent }
    }

    /// These cells, then those of another column of the same type and categories; `None` if it is of another.
    pub fn joined(&self, other: &Column) -> Option<Column> {
        let data = match (&self.data, &other.data) {
            (ColumnData::Numeric(a), ColumnData::Numeric(b)) => {
                ColumnData::Numeric([a.with_nan(), b.with_nan()].concat().into())
            }
            (ColumnData::Categorical(a), ColumnData::Categorical(b)) if a.categories == b.categories => {
                let codes = a.codes.joined(&b.codes);
                ColumnData::Categorical(Categorical { categories: a.categories.clone(), codes })
            }
            _ => return None,
        };
        Some(Column { name: self.name.clone(), data, is_absent: self.is_absent && other.is_absent })
    }

    /// Makes the cell of row `i` missing.
    pub fn blank(&mut self, i: usize) {
        match &mut self.data {
            ColumnData::Numeric(n) => n.blank(i),
            ColumnData::Categorical(c) => c.codes.blank(i),
        }
    }
}

impl From<Vec<f64>> for Numeric {
    /// Cells, NaN where one is missing.
    fn from(values: Vec<f64>) -> Self {
        Numeric { cells: Cells::LaidOut(values) }
    }
}

impl Default for Numeric {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl Numeric {
    /// The value of row `i`, `None` when missing.
    #[inline]
    pub fn get(&self, i: usize) -> Option<f64> {
        let v = self.with_nan()[i];
        (!v.is_nan()).then_some(v)
    }

    /// All cells in row order.
    pub fn iter(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.with_nan().iter().map(|v| (!v.is_nan()).then_some(*v))
    }

    /// The cells as stored: NaN stands for missing.
    #[inline]
    pub fn with_nan(&self) -> &[f64] {
        match &self.cells {
            Cells::LaidOut(values) => values,
            Cells::Keyed(keyed, values) => values.get_or_init(|| keyed.cells().collect()),
        }
    }

    /// The cells as keys, where the file kept them so and the reader was asked to leave them (`ReadOptions::keyed`).
    pub fn as_keyed(&self) -> Option<&Keyed> {
        match &self.cells {
            Cells::LaidOut(_) => None,
            Cells::Keyed(keyed, _) => Some(keyed),
        }
    }

    fn len(&self) -> usize {
        match &self.cells {
            Cells::LaidOut(values) => values.len(),
            Cells::Keyed(keyed, _) => keyed.len(),
        }
    }

    fn n_missing(&self) -> usize {
        match &self.cells {
            Cells::LaidOut(values) => values.iter().filter(|v| v.is_nan()).count(),
            Cells::Keyed(keyed, _) => keyed.n_missing(),
        }
    }

    fn blank(&mut self, i: usize) {
        if let Cells::Keyed(..) = self.cells {
            self.cells = Cells::LaidOut(self.with_nan().to_vec());
        }
        if let Cells::LaidOut(values) = &mut self.cells {
            values[i] = f64::NAN;
        }
    }
}

impl PartialEq for Numeric {
    /// Equal values, and missing in the same rows.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Categorical {
    /// Names of the categories; the code is the position.
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// The codes.
    #[inline]
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// The category of row `i`, `None` when missing.
    pub fn get(&self, i: usize) -> Option<&str> {
        self.codes.get(i).map(|c| self.categories[c].as_str())
    }

    /// The codes in another dictionary; categories it lacks become missing.
    pub fn recode(&self, to: &[String]) -> Codes {
        self.codes.recode(&self.categories, to)
    }

    /// Number of categories that occur.
    pub fn n_distinct(&self) -> usize {
        let mut seen = vec![false; self.categories.len()];
        self.codes.iter().flatten().for_each(|code| seen[code] = true);
        seen.iter().filter(|s| **s).count()
    }

    /// Whether the categories name the rows: nearly every observed one has its own, so that they tell nothing of others.
    pub fn names_rows(&self) -> bool {
        names_rows(self.n_distinct(), self.codes.iter().flatten().count() as f64)
    }

    /// The same where a weight of 2 is a row given twice.
    pub fn names_weighted_rows(&self, weights: Option<&[f64]>) -> bool {
        let Some(weights) = weights else { return self.names_rows() };
        let observed = || self.codes.iter().zip(weights).filter(|(code, _)| code.is_some());
        names_rows(self.n_distinct(), (observed().count() as f64).max(observed().map(|(_, w)| w).sum()))
    }
}
