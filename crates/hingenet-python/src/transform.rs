//! Rows as features of other estimators: log densities and Fisher vectors; and the curves of density models.

use crate::error::to_python;
use crate::features::{Features, Floats1, Floats2};
use crate::model::{Data, Labelled, Model};
use crate::work;
use hingenet::model::{self, FitOptions, ModelSpec};
use hingenet::table::UnseenPolicy;
use hingenet_density::transform::OwnDensities;
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A feature along its values: its number, the values, and the contribution to each class score.
type Curve<'py> = (usize, Floats1<'py>, Floats2<'py>);

/// The parts a [`LogDensities`] is made of: model file, cells and values of the training rows, their number.
type Parts<'py> = (Bound<'py, PyBytes>, Floats1<'py>, Floats1<'py>, usize);

/// Log densities of features and pairs; those of training rows without the rows themselves.
#[pyclass(frozen, module = "hingenet._engine")]
pub struct LogDensities {
    model: Model,
    own: OwnDensities,
}

#[pymethods]
impl LogDensities {
    /// Fits the density model named `spec` and the log densities of its training rows.
    #[staticmethod]
    #[pyo3(signature = (spec, rows, seed=0, threads=1, progress=None))]
    fn fit(
        py: Python<'_>,
        spec: &str,
        rows: Labelled<'_>,
        seed: u64,
        threads: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let spec: ModelSpec = spec.parse().map_err(to_python)?;
        let data = rows.data()?;
        let options = FitOptions { seed, ..FitOptions::default() };
        let (model, own) = work::run(py, threads, progress.as_ref(), |control| match &data {
            Data::InPlace(data) => model::fit_log_densities(&spec, &data.dataset()?, options, control),
            Data::Table(data) => model::fit_log_densities(&spec, data, options, control),
        })?;
        Ok(LogDensities { model: Model(model), own })
    }

    /// Puts the parts together again.
    #[staticmethod]
    fn from_parts(
        bytes: &[u8],
        cells: PyReadonlyArray1<'_, f64>,
        values: PyReadonlyArray1<'_, f64>,
        n_rows: usize,
    ) -> PyResult<Self> {
        let model = model::Model::from_bytes(bytes).map(Model).map_err(to_python)?;
        let (cells, values) = (cells.as_array().to_vec(), values.as_array().to_vec());
        let own = OwnDensities::new(cells, values, n_rows).map_err(to_python)?;
        Ok(LogDensities { model, own })
    }

    /// Pickles and copies by the bytes of the model file and the log densities of the training rows.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let (py, this) = (slf.py(), slf.get());
        let bytes = this.model.0.to_bytes().map_err(to_python)?;
        let cells = this.own.cells.clone().into_pyarray(py);
        let values = this.own.values.clone().into_pyarray(py);
        let parts = (PyBytes::new(py, &bytes), cells, values, this.own.n_rows);
        Ok((slf.get_type().getattr("from_parts")?, parts))
    }

    /// The model file of the densities, as a model.
    #[getter]
    fn model(&self) -> Model {
        Model(self.model.0.clone())
    }

    /// Class, column and, of a pair, other column of each log density.
    fn columns(&self) -> PyResult<Vec<(usize, usize, Option<usize>)>> {
        let list = self.model.0.log_density_list().map_err(to_python)?;
        Ok(list.iter().map(|d| (d.class, d.first, d.second)).collect())
    }

    /// Log densities of every row.
    #[pyo3(signature = (features, threads=1))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        features: Features<'_>,
        threads: usize,
    ) -> PyResult<Floats2<'py>> {
        let values = self.model.row_by_row(py, &features, threads, |table| {
            self.model.0.log_densities(table, &self.own, UnseenPolicy::Missing)
        })?;
        matrix(py, values, features.shape().0)
    }
}

/// What each feature contributes to the class scores along its values, by a density model.
#[pyfunction]
pub fn curves<'py>(py: Python<'py>, model: &Model) -> PyResult<Vec<Curve<'py>>> {
    let curves = model.0.densities().map_err(to_python)?.curves();
    let curve = |c: hingenet_density::Curve| {
        let n = c.positions.len();
        Ok((c.column, c.positions.into_pyarray(py), matrix(py, c.scores.concat(), n)?))
    };
    curves.into_iter().map(curve).collect()
}

/// Fisher vectors of the rows under the Gaussian networks of a model.
#[pyfunction]
#[pyo3(signature = (model, features, threads=1))]
pub fn fisher_vectors<'py>(
    py: Python<'py>,
    model: &Model,
    features: Features<'_>,
    threads: usize,
) -> PyResult<Floats2<'py>> {
    let values = model
        .row_by_row(py, &features, threads, |table| model.0.fisher_vectors(table, UnseenPolicy::Missing))?;
    matrix(py, values, features.shape().0)
}

/// Class and parameter (`from->to`, or the node of a bias) of each component of the Fisher vectors.
#[pyfunction]
pub fn fisher_names(model: &Model) -> PyResult<Vec<(usize, String)>> {
    model.0.class_networks().map(|networks| networks.fisher_names()).map_err(to_python)
}

fn matrix(py: Python<'_>, values: Vec<f64>, n_rows: usize) -> PyResult<Floats2<'_>> {
    let n_columns =
        values.len().checked_div(n_rows).ok_or_else(|| PyValueError::new_err("there are no rows"))?;
    values.into_pyarray(py).reshape([n_rows, n_columns])
}
