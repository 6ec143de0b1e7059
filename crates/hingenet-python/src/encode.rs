//! Encoders: Fayyad-Irani cuts and distinct texts.

use crate::error::to_python;
use crate::features::codes;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::collections::HashMap;

/// Cut points of every column of `x` (NaN missing), ascending.
#[pyfunction]
#[pyo3(signature = (x, y, n_classes, weights=None))]
pub fn mdl_cuts(
    py: Python<'_>,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray1<'_, i64>,
    n_classes: usize,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Vec<Vec<f64>>> {
    let class = codes("y", &y, n_classes)?;
    let weights = weights.map(|w| w.as_array().to_vec());
    let columns: Vec<Vec<f64>> = x.as_array().columns().into_iter().map(|c| c.to_vec()).collect();
    py.detach(|| {
        let cuts = |x: &Vec<f64>| hingenet_data::encode::mdl::cuts(x, &class, n_classes, weights.as_deref());
        columns.iter().map(cuts).collect::<hingenet::Result<_>>()
    })
    .map_err(to_python)
}

/// Where each distinct row of a C-ordered matrix is first seen, and for each row its place in that list: texts of fixed
/// width are hashed once instead of sorted.
#[pyfunction]
pub fn distinct_rows<'py>(
    py: Python<'py>,
    words: PyReadonlyArray2<'py, u32>,
) -> PyResult<(Vec<usize>, Bound<'py, PyArray1<i64>>)> {
    let width = words.shape()[1].max(1);
    let cells = words.as_slice().map_err(|e| PyTypeError::new_err(e.to_string()))?;
    let mut place: HashMap<&[u32], i64> = HashMap::new();
    let mut first = Vec::new();
    let mut code = |(m, row)| {
        *place.entry(row).or_insert_with(|| {
            first.push(m);
            first.len() as i64 - 1
        })
    };
    let codes: Vec<i64> = cells.chunks_exact(width).enumerate().map(&mut code).collect();
    Ok((first, codes.into_pyarray(py)))
}
