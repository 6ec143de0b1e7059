//! A Gaussian network without classes.

use crate::error::to_python;
use crate::features::{Floats1, Floats2};
use crate::work;
use hingenet::model;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::table::NumberRows;
use hingenet_gaussian::StructureMethod;
use hingenet_gaussian::network::GaussianNetwork as Network;
use hingenet_gaussian::structure::{METHODS, SearchParams, Start};
use hingenet_gaussian::study::StudyParams;
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Rows of numbers; NaN is a missing cell.
type Rows<'py> = PyReadonlyArray2<'py, f64>;

/// Mean and covariance.
type Joint<'py> = (Floats1<'py>, Floats2<'py>);

/// A Gaussian network in the units of its columns.
#[pyclass(frozen, module = "hingenet._engine")]
pub struct GaussianNetwork(Network);

/// Learns a network (`method` as in `hingenet network`) from rows of numbers; also how it came about: `weights` on
/// standardised columns, `undirected` edges, `score`, and `solver` as JSON.
#[pyfunction]
#[pyo3(signature = (x, names, method, weights=None, lambda1=None, start="lasso", alpha=None, penalty=None, rounds=None, seed=0, threads=1, progress=None))]
#[allow(clippy::too_many_arguments)] // keyword arguments in Python
pub fn fit_network<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    names: Vec<String>,
    method: &str,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    lambda1: Option<f64>,
    start: &str,
    alpha: Option<f64>,
    penalty: Option<f64>,
    rounds: Option<usize>,
    seed: u64,
    threads: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(GaussianNetwork, Bound<'py, PyDict>)> {
    let default = SearchParams::default();
    let structure = StructureMethod::named(method).ok_or_else(|| {
        let names = METHODS.map(|m| m.0).join(", ");
        PyValueError::new_err(format!("method = {method}: expected one of {names}"))
    })?;
    let start = match start {
        "lasso" => Start::Lasso,
        "l1mb" => Start::L1mb,
        other => return Err(PyValueError::new_err(format!("start = {other}: expected one of lasso, l1mb"))),
    };
    let params = StudyParams {
        method: structure,
        lambda1,
        start,
        alpha,
        search: SearchParams {
            penalty: penalty.unwrap_or(default.penalty),
            rounds: rounds.unwrap_or(default.rounds),
            seed,
        },
        ..StudyParams::default()
    };
    let rows = number_rows(&x)?;
    let weights = weights.map(|w| w.as_array().to_vec());
    let fit = work::run(py, threads, progress.as_ref(), |control| {
        model::fit_network(rows, names, weights, &params, control)
    })?;
    let facts = PyDict::new(py);
    facts.set_item("weights", square(py, &fit.study.network.theta())?)?;
    facts.set_item("undirected", fit.study.structure.class.undirected_edges())?;
    facts.set_item("score", fit.study.score())?;
    let solver = serde_json::to_string(&fit.study.structure.report)
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    facts.set_item("solver", solver)?;
    Ok((GaussianNetwork(fit.network), facts))
}

#[pymethods]
impl GaussianNetwork {
    /// A network of the weights (`[from, to]`), intercepts and noise variances of its nodes.
    #[new]
    fn new(
        weights: PyReadonlyArray2<'_, f64>,
        intercept: PyReadonlyArray1<'_, f64>,
        variance: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let w = weights.as_array();
        let theta = Matrix::from_vec(w.nrows(), w.ncols(), w.iter().copied().collect()).map_err(to_python)?;
        Network::new(&theta, intercept.as_array().to_vec(), variance.as_array().to_vec())
            .map(GaussianNetwork)
            .map_err(to_python)
    }

    /// Weight of each arc, `[from, to]`.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Floats2<'py>> {
        square(py, &self.0.theta())
    }

    /// Intercept of each node.
    #[getter]
    fn intercept<'py>(&self, py: Python<'py>) -> Floats1<'py> {
        self.0.bias().to_vec().into_pyarray(py)
    }

    /// Noise variance of each node.
    #[getter]
    fn variance<'py>(&self, py: Python<'py>) -> Floats1<'py> {
        self.0.variance().to_vec().into_pyarray(py)
    }

    /// Mean and covariance of the joint normal distribution.
    fn joint<'py>(&self, py: Python<'py>) -> PyResult<Joint<'py>> {
        let (mean, covariance) = self.0.joint();
        Ok((mean.into_pyarray(py), square(py, &covariance)?))
    }

    /// Inverse of the joint covariance.
    fn precision<'py>(&self, py: Python<'py>) -> PyResult<Floats2<'py>> {
        square(py, &self.0.precision())
    }

    /// Log density of the observed cells of each row.
    #[pyo3(signature = (x, threads=1))]
    fn log_densities<'py>(&self, py: Python<'py>, x: Rows<'_>, threads: usize) -> PyResult<Floats1<'py>> {
        let rows = number_rows(&x)?;
        Ok(work::run(py, threads, None, |_| self.0.log_densities(&rows))?.into_pyarray(py))
    }

    /// The rows with missing cells replaced by their means given the observed ones.
    #[pyo3(signature = (x, threads=1))]
    fn completed<'py>(&self, py: Python<'py>, x: Rows<'_>, threads: usize) -> PyResult<Floats2<'py>> {
        let rows = number_rows(&x)?;
        let filled = work::run(py, threads, None, |_| self.0.completed(&rows))?;
        filled.into_pyarray(py).reshape([rows.n_rows(), rows.n_columns()])
    }

    /// Rows drawn from the network.
    fn sample<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> PyResult<Floats2<'py>> {
        let rows = work::run(py, 1, None, |_| Ok(self.0.samples(n, seed)))?;
        rows.into_pyarray(py).reshape([n, self.0.nodes()])
    }
}

fn number_rows<'a>(x: &'a Rows<'_>) -> PyResult<NumberRows<'a>> {
    if !x.is_c_contiguous() {
        return Err(PyTypeError::new_err("the matrix is not C-ordered"));
    }
    let cells = x.as_slice().map_err(|e| PyTypeError::new_err(e.to_string()))?;
    NumberRows::new(cells, x.shape()[1]).map_err(to_python)
}

fn square<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Floats2<'py>> {
    matrix.data().to_vec().into_pyarray(py).reshape([matrix.rows(), matrix.cols()])
}
