//! Encoders: Fayyad-Irani cuts and the order of categories.

use crate::error::to_python;
use crate::features::codes;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

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
