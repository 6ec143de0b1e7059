//! Typed columns with missing cells. Readers (CSV, ARFF, Parquet, Arrow) make a [`Table`]; encoders and
//! families read it. A missing cell is `None` at the interface, whatever stands in memory.

mod category;
mod codes;
mod column;
mod keyed;
mod numbers;
pub mod read;
mod schema;
mod write;

pub use category::{category_order, parse_number};
pub use codes::Codes;
pub use column::{Categorical, Column, ColumnData, ID_ROWS, Numeric, names_rows};
#[cfg(feature = "parquet")]
pub(crate) use keyed::cells_of;
pub use keyed::{Keyed, KeyedPart, NO_KEY};
pub use numbers::NumberRows;
pub use read::{
    Batches, Format, Note, Places, ReadOptions, ReadResult, Record, Records, Source, would_match,
};
pub use read::{read, read_pieces, read_records};
pub use schema::{AlignReport, FeatureKind, FeatureSpec, Schema, Unseen, UnseenPolicy};
pub use write::{write_csv, write_csv_header, write_csv_rows};

use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::similar::did_you_mean;
use std::collections::BTreeMap;

/// Columns of equal length with distinct names.
///
/// ```
/// # use hingenet_data as hingenet;
/// use hingenet::table::{Codes, Column, Table};
/// let colour = Codes::from_options(2, [Some(0), None, Some(1)].into_iter());
/// let table = Table::new(vec![
///     Column::numeric("size", vec![1.0, 1.5, f64::NAN]),
///     Column::categorical("colour", vec!["red".into(), "blue".into()], colour),
/// ])?;
/// assert_eq!((table.n_rows(), table.n_columns(), table.n_missing()), (3, 2, 2));
/// # Ok::<(), hingenet_base::error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    columns: Vec<Column>,
    n_rows: usize,
}

impl Table {
    /// Checks that lengths agree and names are distinct.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let n_rows = columns.first().map_or(0, Column::len);
        let mut seen = std::collections::BTreeSet::new();
        for column in &columns {
            require_len(&format!("cells of column `{}`", column.name()), n_rows, column.len())?;
            if !seen.insert(column.name()) {
                return Err(Error::column(
                    column.name(),
                    "the name occurs twice",
                    "rename one of the columns",
                ));
            }
        }
        Ok(Table { columns, n_rows })
    }

    /// A table without columns that still has rows (every feature is missing).
    pub fn without_columns(n_rows: usize) -> Self {
        Table { columns: Vec::new(), n_rows }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// All columns in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Column number `i`.
    pub fn column(&self, i: usize) -> &Column {
        &self.columns[i]
    }

    /// Position of the column with this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name() == name)
    }

    /// The column with this name, or an error that lists the names there are.
    pub fn by_name(&self, name: &str) -> Result<&Column> {
        Ok(&self.columns[self.required(name)?])
    }

    fn required(&self, name: &str) -> Result<usize> {
        self.position(name).ok_or_else(|| {
            let names: Vec<&str> = self.columns.iter().map(Column::name).take(20).collect();
            let meant = did_you_mean(name, self.columns.iter().map(Column::name));
            let problem = format!("there is no such column{meant}");
            Error::column(name, problem, format!("the columns are: {}", names.join(", ")))
        })
    }

    /// Smallest and largest number of each column that has any.
    pub fn ranges(&self) -> BTreeMap<String, [f64; 2]> {
        let range = |column: &Column| {
            let mut values = column.as_numeric()?.iter().flatten().map(|x| x + 0.0); // −0 is 0
            let first = values.next()?;
            let [low, high] = values.fold([first, first], |[low, high], x| [low.min(x), high.max(x)]);
            Some((column.name().to_string(), [low, high]))
        };
        self.columns.iter().filter_map(range).collect()
    }

    /// Takes the named column out: (that column, the others).
    pub fn split_off(mut self, name: &str) -> Result<(Column, Table)> {
        let column = self.columns.remove(self.required(name)?);
        Ok((column, self))
    }

    /// The given rows, in the given order.
    pub fn rows(&self, rows: &[usize]) -> Table {
        let columns = self.columns.iter().map(|c| c.rows(rows)).collect();
        Table { columns, n_rows: rows.len() }
    }

    /// Row `row` alone; an error if there is no such row.
    pub fn one_row(&self, row: usize) -> Result<Table> {
        if row < self.n_rows {
            return Ok(self.rows(&[row]));
        }
        let problem = format!("there is no row {} in a table of {}", row.saturating_add(1), self.n_rows);
        Err(Error::data(problem, "rows are counted from 1"))
    }

    /// The given columns, in the given order.
    pub fn select(&self, columns: &[usize]) -> Table {
        let columns = columns.iter().map(|&i| self.columns[i].clone()).collect();
        Table { columns, n_rows: self.n_rows }
    }

    /// Makes the cell of row `i` in column `j` missing.
    pub fn blank(&mut self, i: usize, j: usize) {
        self.columns[j].blank(i);
    }

    /// Memory of the cells, about.
    pub fn bytes(&self) -> usize {
        let column = |column: &Column| match column.data() {
            ColumnData::Numeric(_) => size_of::<f64>() * column.len(),
            ColumnData::Categorical(c) if matches!(c.codes(), Codes::U8(_)) => column.len(),
            ColumnData::Categorical(_) => size_of::<u16>() * column.len(),
        };
        self.columns.iter().map(column).sum()
    }

    /// Number of missing cells.
    pub fn n_missing(&self) -> usize {
        self.columns.iter().map(Column::n_missing).sum()
    }

    /// Number of missing cells of each row.
    pub fn missing_in_rows(&self) -> Vec<usize> {
        let mut missing = vec![0; self.n_rows];
        for column in self.columns.iter().filter(|column| column.n_missing() > 0) {
            missing.iter_mut().enumerate().for_each(|(i, n)| *n += usize::from(column.is_missing(i)));
        }
        missing
    }

    /// Refuses infinite numbers.
    pub fn require_finite(&self) -> Result<()> {
        for column in &self.columns {
            let infinite = |n: &Numeric| n.with_nan().iter().position(|x| x.is_infinite());
            if let Some(row) = column.as_numeric().and_then(infinite) {
                let problem = format!("column `{}`: the value is not a finite number", column.name());
                return Err(Error::row(
                    row,
                    problem,
                    "correct the value, or leave the cell empty if it is unknown",
                ));
            }
        }
        Ok(())
    }
}
