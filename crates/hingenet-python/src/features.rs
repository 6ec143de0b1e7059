//! Arrays of Python as a table: a matrix of numbers, or a list of columns.

use crate::error::{HingenetError, to_python};
use hingenet::table::{Codes, Column, Table};
use hingenet_data::table::{NumberRows, category_order};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::collections::HashMap;

/// Numbers for Python.
pub type Floats1<'py> = Bound<'py, PyArray1<f64>>;
/// Rows of numbers for Python.
pub type Floats2<'py> = Bound<'py, PyArray2<f64>>;

/// A C- or Fortran-ordered float64 matrix, or a list with one entry per column.
#[derive(FromPyObject)]
pub enum Features<'py> {
    /// One row per sample; NaN is a missing cell.
    Matrix(PyReadonlyArray2<'py, f64>),
    /// Columns of their own types.
    Columns(Vec<ColumnInput<'py>>),
}

/// Numbers (NaN missing), or codes (negative missing) with the texts of their values.
#[derive(FromPyObject)]
pub enum ColumnInput<'py> {
    /// Numbers.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Codes, the text of each code, and whether these are all categories in their declared order; else the categories
    /// are the texts that occur, in the order every reader gives them.
    Categories(CodeArray<'py>, Vec<String>, bool),
    /// So many rows of a column that a frame has not got.
    Absent(usize),
}

/// Codes in whichever whole numbers a frame has them: they are read where they lie.
#[derive(FromPyObject)]
pub enum CodeArray<'py> {
    /// As most categories of pandas have them.
    I8(PyReadonlyArray1<'py, i8>),
    /// More than 127 categories.
    I16(PyReadonlyArray1<'py, i16>),
    /// More than 32767 categories.
    I32(PyReadonlyArray1<'py, i32>),
    /// As they are found by looking for distinct values.
    I64(PyReadonlyArray1<'py, i64>),
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

    /// The table with these column names, without those that are absent: a copy.
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
                columns.iter().zip(names).filter_map(|(c, name)| c.column(name)).collect::<PyResult<_>>()?
            }
        };
        if columns.is_empty() {
            return Ok(Table::without_columns(n_rows));
        }
        Table::new(columns).map_err(to_python)
    }
}

impl ColumnInput<'_> {
    fn len(&self) -> usize {
        match self {
            ColumnInput::Numbers(x) => x.len(),
            ColumnInput::Absent(n_rows) => *n_rows,
            ColumnInput::Categories(codes, ..) => match codes {
                CodeArray::I8(codes) => codes.len(),
                CodeArray::I16(codes) => codes.len(),
                CodeArray::I32(codes) => codes.len(),
                CodeArray::I64(codes) => codes.len(),
            },
        }
    }

    /// The column; `None` if it is absent.
    fn column(&self, name: &str) -> Option<PyResult<Column>> {
        Some(match self {
            ColumnInput::Absent(_) => return None,
            ColumnInput::Numbers(x) => numbers(name, x.as_array().to_vec()),
            ColumnInput::Categories(codes, texts, declared) => match codes {
                CodeArray::I8(codes) => match codes.as_slice() {
                    // Without their signs negative codes lie behind the texts.
                    Ok(codes) if texts.len() <= SIGNED => {
                        byte_categories(name, codes.iter().map(|&code| code as u8), texts, *declared)
                    }
                    _ => categories(name, codes, texts, *declared),
                },
                CodeArray::I16(codes) => categories(name, codes, texts, *declared),
                CodeArray::I32(codes) => categories(name, codes, texts, *declared),
                CodeArray::I64(codes) => categories(name, codes, texts, *declared),
            },
        })
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

/// A column of categories from codes of any values, negative ones missing.
fn categories<T: Copy + Ord + Into<i64> + numpy::Element>(
    name: &str,
    codes: &PyReadonlyArray1<'_, T>,
    texts: &[String],
    declared: bool,
) -> PyResult<Column> {
    let end = texts.len();
    let codes = codes.as_slice().map_err(|e| PyTypeError::new_err(e.to_string()))?;
    let largest = codes.iter().max().map_or(-1, |&code| code.into());
    if largest >= end as i64 {
        return Err(code_too_large(name, end));
    }
    if end < 256 {
        // A negative code is a large number without a sign: it ends behind the texts.
        let bytes: Vec<u8> = codes.iter().map(|&code| (code.into() as usize).min(255) as u8).collect();
        return byte_categories(name, bytes.iter().copied(), texts, declared);
    }
    let mut occurs = vec![false; end];
    let places = codes.iter().map(|&code| usize::try_from(code.into()).ok());
    places.clone().flatten().for_each(|place| occurs[place] = true);
    let (categories, new) = ordered(name, texts, |code| occurs[code], declared)?;
    let cells = Codes::from_options(categories.len(), places.map(|place| place.and_then(|place| new[place])));
    Ok(Column::categorical(name, categories, cells))
}

/// Bytes that are no negative numbers.
const SIGNED: usize = 128;

/// The same for codes of one byte by tables of all bytes; those that have no text are missing.
fn byte_categories(
    name: &str,
    codes: impl Iterator<Item = u8> + Clone,
    texts: &[String],
    declared: bool,
) -> PyResult<Column> {
    let mut occurs = [false; 256];
    codes.clone().for_each(|code| occurs[usize::from(code)] = true);
    if (texts.len()..SIGNED).any(|code| occurs[code]) {
        return Err(code_too_large(name, texts.len()));
    }
    let (categories, new) = ordered(name, texts, |code| occurs[code], declared)?;
    let mut table = [Codes::MISSING_U8; 256];
    table.iter_mut().zip(&new).for_each(|(cell, new)| *cell = new.map_or(Codes::MISSING_U8, |c| c as u8));
    let cells = codes.map(|code| table[usize::from(code)]).collect();
    Ok(Column::categorical(name, categories, Codes::U8(cells)))
}

/// The categories of a column, and the engine's code for each of the frame's.
fn ordered(
    name: &str,
    texts: &[String],
    occurs: impl Fn(usize) -> bool,
    declared: bool,
) -> PyResult<(Vec<String>, Vec<Option<usize>>)> {
    let present = texts.iter().enumerate().filter(|(code, _)| declared || occurs(*code));
    let mut categories: Vec<String> = present.map(|(_, text)| text.clone()).collect();
    if !declared {
        categories.sort();
        categories.dedup();
        category_order(&mut categories);
    }
    require_few(name, categories.len())?;
    let place: HashMap<&str, usize> = categories.iter().enumerate().map(|(i, c)| (c.as_str(), i)).collect();
    let new = texts.iter().map(|text| place.get(text.as_str()).copied()).collect();
    Ok((categories, new))
}

fn code_too_large(name: &str, n_categories: usize) -> PyErr {
    PyTypeError::new_err(format!("column `{name}`: a code is not below {n_categories}"))
}

fn require_few(name: &str, n_categories: usize) -> PyResult<()> {
    if n_categories <= Codes::MAX_CATEGORIES {
        return Ok(());
    }
    Err(HingenetError::new_err(format!(
        "column `{name}`: {n_categories} categories are more than {}\nhint: leave the column out, or join rare categories",
        Codes::MAX_CATEGORIES
    )))
}

/// Class codes; negative ones are missing.
pub fn codes(name: &str, codes: &PyReadonlyArray1<'_, i64>, n_categories: usize) -> PyResult<Codes> {
    require_few(name, n_categories)?;
    let codes = codes.as_array();
    if codes.iter().any(|&c| c >= 0 && c as usize >= n_categories) {
        return Err(code_too_large(name, n_categories));
    }
    Ok(Codes::from_options(n_categories, codes.iter().map(|&c| usize::try_from(c).ok())))
}
