//! What network models can do beside predicting: be written, drawn, sampled, score rows.

use crate::error::to_python;
use crate::features::{Features, codes};
use crate::model::Model;
use crate::work;
use hingenet::model::exchange::{bif as bif_file, xmlbif as xmlbif_file};
use hingenet::report::NetworkPicture;
use hingenet::table::{Column, ColumnData, Table, UnseenPolicy};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A sampled column: name, numbers or codes, and the categories of codes.
type Drawn<'py> = (String, Bound<'py, PyAny>, Option<Vec<String>>);

/// The network in the Bayesian Interchange Format.
#[pyfunction]
pub fn bif(model: &Model) -> PyResult<String> {
    model.0.network().map(|net| bif_file::write(&net)).map_err(to_python)
}

/// The network in XMLBIF.
#[pyfunction]
pub fn xmlbif(model: &Model) -> PyResult<String> {
    model.0.network().map(|net| xmlbif_file::write(&net)).map_err(to_python)
}

/// Nodes, arcs with strengths, title and legend, as JSON.
#[pyfunction]
pub fn picture(model: &Model) -> PyResult<String> {
    serde_json::to_string(&drawing(model)?).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// The network drawn as SVG.
#[pyfunction]
pub fn svg(model: &Model) -> PyResult<String> {
    Ok(hingenet_view::network::network_svg(&drawing(model)?))
}

/// `n` rows drawn from the model given `column = value` pairs, column by column, the class last.
#[pyfunction]
pub fn sample<'py>(
    py: Python<'py>,
    model: &Model,
    n: usize,
    seed: u64,
    given: Vec<(String, String)>,
) -> PyResult<Vec<Drawn<'py>>> {
    let table = work::run(py, 1, None, |_| model.0.sample(n, &given, seed))?;
    let drawn = |column: &Column| -> Drawn<'py> {
        let name = column.name().to_string();
        match column.data() {
            ColumnData::Numeric(x) => (name, x.with_nan().to_vec().into_pyarray(py).into_any(), None),
            ColumnData::Categorical(c) => {
                let codes = c.codes().iter().map(|c| c.map_or(-1, |c| c as i64));
                (name, PyArray1::from_iter(py, codes).into_any(), Some(c.categories().to_vec()))
            }
        }
    };
    Ok(table.columns().iter().map(drawn).collect())
}

/// `log P(observed cells)` of each row, or `log P(class, observed cells)` when class codes are given
/// (in the order of `classes`).
#[pyfunction]
#[pyo3(signature = (model, features, y=None, threads=1))]
pub fn log_likelihood<'py>(
    py: Python<'py>,
    model: &Model,
    features: Features<'_>,
    y: Option<PyReadonlyArray1<'_, i64>>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let mut table = model.table(&features)?;
    if let Some(y) = y {
        let class = codes(&model.0.target, &y, model.0.classes.len())?;
        let class = Column::categorical(&model.0.target, model.0.classes.clone(), class);
        let columns = table.columns().iter().cloned().chain([class]).collect();
        table = Table::new(columns).map_err(to_python)?;
    }
    let rows = work::run(py, threads, None, |_| model.0.log_likelihood(&table, UnseenPolicy::Missing))?;
    Ok(PyArray1::from_iter(py, rows.iter().map(|row| row.joint.unwrap_or(row.features))))
}

fn drawing(model: &Model) -> PyResult<NetworkPicture> {
    let network = model.0.network().map_err(to_python)?;
    NetworkPicture::of_network(&network, format!("{} for {}", model.0.spec, model.0.target))
        .map_err(to_python)
}
