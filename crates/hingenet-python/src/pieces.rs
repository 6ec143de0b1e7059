//! Fits to frames that come in pieces, for `hingenet.dask`: tasks and statistics are bytes, so any scheduler can carry
//! them.

use crate::error::to_python;
use crate::model::{Labelled, Model};
use crate::work;
use hingenet::model::{self, FitOptions, Gathered};
use hingenet::table::{Column, Table};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A fit that asks for one round of statistics after the other.
#[pyclass(module = "hingenet._engine")]
pub struct PieceFit(model::PieceFit);

#[pymethods]
impl PieceFit {
    /// A fit of the named model; `target` and `weights` are the names of class and weights in the pieces.
    #[new]
    #[pyo3(signature = (spec, target, weights=None, seed=0))]
    fn new(spec: &str, target: &str, weights: Option<&str>, seed: u64) -> PyResult<Self> {
        let options = FitOptions { seed, ..FitOptions::default() };
        let spec = spec.parse().map_err(to_python)?;
        model::PieceFit::new(&spec, target, weights, options).map(PieceFit).map_err(to_python)
    }

    /// What is to be gathered from every piece now.
    fn task<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.task().map_err(to_python)?))
    }

    /// Goes on from the statistics of all pieces: the model, or `None` if there is another round.
    #[pyo3(signature = (gathered, threads=1, progress=None))]
    fn advance(
        &mut self,
        py: Python<'_>,
        gathered: &[u8],
        threads: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<Model>> {
        let fit = &mut self.0;
        let made = work::run(py, threads, progress.as_ref(), |control| {
            fit.advance(Gathered::from_bytes(gathered)?, control)
        })?;
        Ok(made.map(Model))
    }
}

/// Carries a task out on a piece, whose weights have a name there.
#[pyfunction]
#[pyo3(signature = (task, rows, weights=None, threads=1))]
pub fn gather<'py>(
    py: Python<'py>,
    task: &[u8],
    rows: Labelled<'_>,
    weights: Option<&str>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut columns = rows.features.table(rows.names.iter().map(String::as_str))?.columns().to_vec();
    let (classes, class) = rows.class()?;
    columns.push(Column::categorical(&rows.target, classes, class));
    if let (Some(name), Some(weights)) = (weights, &rows.weights) {
        let weights = weights.as_array().to_vec();
        if weights.iter().any(|w| !w.is_finite()) {
            return Err(PyValueError::new_err("sample_weight must be finite"));
        }
        columns.push(Column::numeric(name, weights));
    }
    let piece = Table::new(columns).map_err(to_python)?;
    let bytes = work::run(py, threads, None, |control| Gathered::of(task, piece, control)?.to_bytes())?;
    Ok(PyBytes::new(py, &bytes))
}

/// The statistics of several pieces as one.
#[pyfunction]
pub fn merge<'py>(py: Python<'py>, gathered: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let merged = py.detach(|| {
        let mut parts = gathered.iter().map(|bytes| Gathered::from_bytes(bytes));
        let mut all = parts.next().unwrap_or_else(|| {
            Err(hingenet::Error::data("there are no pieces", "give at least one partition"))
        })?;
        parts.try_for_each(|part| all.merge(part?))?;
        all.to_bytes()
    });
    Ok(PyBytes::new(py, &merged.map_err(to_python)?))
}
