//! A matrix of numbers that stays with its owner: rows are read where they lie, and only those asked for
//! become columns of a table.

use super::{Column, Table};
use hingenet_base::error::{Error, Result, require_len};

/// Numbers in row-major order that belong to the caller; NaN is a missing cell.
#[derive(Debug, Clone, Copy)]
pub struct NumberRows<'a> {
    cells: &'a [f64],
    n_columns: usize,
}

impl<'a> NumberRows<'a> {
    /// Checks that the cells fill whole rows (of one column or more) and that none is infinite.
    pub fn new(cells: &'a [f64], n_columns: usize) -> Result<Self> {
        let n_rows = cells.len().checked_div(n_columns).unwrap_or(0);
        require_len("cells of the rows", n_rows * n_columns, cells.len())?;
        match cells.iter().position(|x| x.is_infinite()) {
            None => Ok(NumberRows { cells, n_columns }),
            Some(k) => Err(Error::data(
                format!("row {}, column {}: Input X contains infinity", k / n_columns + 1, k % n_columns + 1),
                "numbers must be finite; NaN is a missing cell",
            )),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.cells.len() / self.n_columns.max(1)
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The cells of row `m`; NaN stands for missing.
    #[inline]
    pub fn row(&self, m: usize) -> &'a [f64] {
        &self.cells[m * self.n_columns..(m + 1) * self.n_columns]
    }

    /// Number of missing cells.
    pub fn n_missing(&self) -> usize {
        self.cells.iter().filter(|x| x.is_nan()).count()
    }

    /// The given rows, in the given order, as a table with these column names.
    pub fn table<'n>(
        &self,
        names: impl ExactSizeIterator<Item = &'n str>,
        rows: impl Iterator<Item = usize> + Clone,
    ) -> Result<Table> {
        require_len("column names", self.n_columns, names.len())?;
        let column = |(j, name): (usize, &str)| {
            Column::numeric(name, rows.clone().map(|m| self.cells[m * self.n_columns + j]).collect())
        };
        Table::new(names.enumerate().map(column).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns_in_the_given_order() {
        let cells = [1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0];
        let rows = NumberRows::new(&cells, 2).unwrap();
        assert_eq!((rows.n_rows(), rows.n_missing()), (3, 1));
        let table = rows.table(["a", "b"].into_iter(), [2, 1].into_iter()).unwrap();
        let column = |j: usize| table.column(j).as_numeric().unwrap().iter().collect::<Vec<_>>();
        assert_eq!(column(0), [Some(5.0), None]);
        assert_eq!(column(1), [Some(6.0), Some(4.0)]);
    }

    #[test]
    fn broken_rows_and_infinities_are_refused() {
        assert!(NumberRows::new(&[1.0, 2.0, 3.0], 2).is_err());
        assert!(NumberRows::new(&[1.0], 0).is_err());
        let infinite = NumberRows::new(&[1.0, 2.0, 3.0, f64::INFINITY], 2).unwrap_err();
        assert!(infinite.to_string().contains("row 2, column 2"));
    }
}
