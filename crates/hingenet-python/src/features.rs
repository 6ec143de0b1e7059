//! Arrays of Python as a table: a matrix of numbers, or a list of columns.

use crate::error::{HingenetError, to_python};
use hingenet::table::{Codes, Column, Table};
use hingenet_data::table::NumberRows;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A C- or Fortran-ordered float64 matrix, or a list with one entry per column.
#[derive(FromPyObject)]
pub enum Features<'py> {
    /// One row per sample; NaN is a missing cell.
    Matrix(PyReadonlyArray2<'py, f64>),
    /// Columns of their own types.
    Columns(Vec<ColumnInput<'py>>),
}

/// Numbers (NaN missing), or codes (negative missing) with the names of the categories.
#[derive(FromPyObject)]
pub enum ColumnInput<'py> {
    /// Numbers.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Categories.
    Categories(PyReadonlyArray1<'py, i64>, Vec<String>),
}

impl Features<'_> {
    /// Number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Features::Matrix(x) => (x.shape()[0], x.shape()[1]),
            Features::Columns(columns) => (columns.first().map_or(0, ColumnInput::len), columns.len()),
        }
    }

    /// The numbers where they lie, if this is a C-ordered matrix: nothing is copied.
    pub fn in_place(&self) -> PyResult<Option<NumberRows<'_>>> {
        match self {
            Features::Matrix(x) if x.is_c_contiguous() && x.shape()[1] > 0 => {
                let cells = x.as_slice().map_err(|e| PyTypeError::new_err(e.to_string()))?;
                NumberRows::new(cells, x.shape()[1]).map(Some).map_err(to_python)
            }
            _ => Ok(None),
        }
    }

    /// The table with these column names: a copy.
    pub fn table<'a>(&self, names: impl ExactSizeIterator<Item = &'a str>) -> PyResult<Table> {
        let (n_rows, n_columns) = self.shape();
        if names.len() != n_columns {
            return Err(PyValueError::new_err(format!(
                "X has {n_columns} features, but {} were expected as input",
                names.len()
            )));
        }
        if n_columns == 0 {
            return Ok(Table::without_columns(n_rows));
        }
        let columns: Vec<Column> = match self {
            Features::Matrix(x) => {
                let x = x.as_array();
                let column = |(j, name): (usize, &str)| numbers(name, x.column(j).to_vec());
                names.enumerate().map(column).collect::<PyResult<_>>()?
            }
            Features::Columns(columns) => {
                columns.iter().zip(names).map(|(c, name)| c.column(name)).collect::<PyResult<_>>()?
            }
        };
        Table::new(columns).map_err(to_python)
    }
}

impl ColumnInput<'_> {
    fn len(&self) -> usize {
        match self {
            ColumnInput::Numbers(x) => x.len(),
            ColumnInput::Categories(codes, _) => codes.len(),
        }
    }

    fn column(&self, name: &str) -> PyResult<Column> {
        match self {
            ColumnInput::Numbers(x) => numbers(name, x.as_array().to_vec()),
            ColumnInput::Categories(c, categories) => {
                let codes = codes(name, c, categories.len())?;
                Ok(Column::categorical(name, categories.clone(), codes))
            }
        }
    }
}

fn numbers(name: &str, values: Vec<f64>) -> PyResult<Column> {
    if values.iter().any(|x| x.is_infinite()) {
        return Err(HingenetError::new_err(format!(
            "column `{name}`: Input X contains infinity\nhint: numbers must be finite; NaN is a missing cell"
        )));
    }
    Ok(Column::numeric(name, values))
}

/// Category codes; negative ones are missing.
pub fn codes(name: &str, codes: &PyReadonlyArray1<'_, i64>, n_categories: usize) -> PyResult<Codes> {
    if n_categories > Codes::MAX_CATEGORIES {
        return Err(HingenetError::new_err(format!(
            "column `{name}`: {n_categories} categories are more than {}\nhint: leave the column out, or join rare categories",
            Codes::MAX_CATEGORIES
        )));
    }
    let codes = codes.as_array();
    if codes.iter().any(|&c| c >= 0 && c as usize >= n_categories) {
        return Err(PyTypeError::new_err(format!("column `{name}`: a code is not below {n_categories}")));
    }
    Ok(Codes::from_options(n_categories, codes.iter().map(|&c| usize::try_from(c).ok())))
}
