//! What network models can do beside predicting: be written, drawn, sampled, score rows.

use crate::error::to_python;
use crate::features::{Features, Floats1};
use crate::model::Model;
use crate::work;
use hingenet::model::{Known, Query};
use hingenet::report::NetworkPicture;
use hingenet::table::{Column, ColumnData, Table, UnseenPolicy};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A column: name, numbers or codes, and the categories of codes.
type Drawn<'py> = (String, Bound<'py, PyAny>, Option<Vec<String>>);

/// The network in the Bayesian Interchange Format.
#[pyfunction]
pub fn bif(model: &Model) -> PyResult<String> {
    model.0.network().map(|net| net.to_bif()).map_err(to_python)
}

/// The network in XMLBIF.
#[pyfunction]
pub fn xmlbif(model: &Model) -> PyResult<String> {
    model.0.network().map(|net| net.to_xmlbif()).map_err(to_python)
}

/// Writes a text file as model files are written.
#[pyfunction]
pub fn write_text(path: PathBuf, text: &str) -> PyResult<()> {
    hingenet_data::file::write(&path, text.as_bytes()).map_err(to_python)
}

/// The networks of a model as JSON, each with nodes, arcs with strengths, title and legend: the network of a
/// discrete model, those of all classes of a Gaussian one, the pairs that a density model uses.
#[pyfunction]
pub fn pictures(model: &Model) -> PyResult<String> {
    let pictures = NetworkPicture::all_of_model(&model.0).map_err(to_python)?;
    serde_json::to_string(&pictures).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// A network (one of `pictures`) drawn as SVG.
#[pyfunction]
pub fn svg(picture: &str) -> PyResult<String> {
    let picture = NetworkPicture::from_json(picture).map_err(to_python)?;
    Ok(hingenet_view::network::network_svg(&picture))
}

/// What is known of a column: its name, `value`, `not` or `likelihood`, and values with weights.
type Fact = (String, String, Vec<(String, f64)>);

/// Each fact as the model takes it.
fn known(facts: Vec<Fact>) -> Vec<(String, Known)> {
    let fact = |(column, kind, values): Fact| -> Vec<(String, Known)> {
        let one = |as_known: fn(String) -> Known| {
            values.iter().map(|(value, _)| (column.clone(), as_known(value.clone()))).collect()
        };
        match kind.as_str() {
            "value" => one(Known::Value),
            "not" => one(Known::Not),
            _ => vec![(column, Known::Likelihood(values))],
        }
    };
    facts.into_iter().flat_map(fact).collect()
}

/// `n` rows drawn from the model given what is known, column by column, the class last.
#[pyfunction]
pub fn sample<'py>(
    py: Python<'py>,
    model: &Model,
    n: usize,
    seed: u64,
    facts: Vec<Fact>,
) -> PyResult<Vec<Drawn<'py>>> {
    let given = known(facts);
    let table = work::run(py, 1, None, |control| model.0.sample(n, &given, seed, control))?;
    Ok(columns_of(py, &table))
}

/// Numbers, or codes with their categories, column by column.
fn columns_of<'py>(py: Python<'py>, table: &Table) -> Vec<Drawn<'py>> {
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
    table.columns().iter().map(drawn).collect()
}

/// The rows with their missing cells completed, and how sure each completion is.
#[pyfunction]
pub fn impute<'py>(
    py: Python<'py>,
    model: &Model,
    features: Features<'_>,
    threads: usize,
) -> PyResult<(Vec<Drawn<'py>>, Vec<Drawn<'py>>)> {
    let table = model.table(&features)?;
    let impute = |control: &hingenet::Control| model.0.impute(&table, UnseenPolicy::Missing, control);
    let (full, spread) = work::run(py, threads, None, impute)?;
    Ok((columns_of(py, &full), columns_of(py, &spread)))
}

/// What follows from what is known, as JSON.
#[pyfunction]
pub fn query(
    py: Python<'_>,
    model: &Model,
    facts: Vec<Fact>,
    targets: Vec<String>,
    about: Option<String>,
    costs: Vec<(String, f64)>,
) -> PyResult<String> {
    let known = self::known(facts);
    let query = Query { known, targets, about, costs };
    let answer = work::run(py, 1, None, |_| model.0.query(&query))?;
    serde_json::to_string(&answer).map_err(|e| PyValueError::new_err(e.to_string()))
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
) -> PyResult<Floats1<'py>> {
    let log_likelihood = |table: &Table| {
        let rows = model.0.log_likelihood(table, UnseenPolicy::Missing)?;
        Ok(rows.iter().map(|row| row.joint.unwrap_or(row.features)).collect())
    };
    let Some(y) = y else {
        return Ok(model.row_by_row(py, &features, threads, log_likelihood)?.into_pyarray(py));
    };
    let table = model.table_with_class(&features, &y)?;
    Ok(work::run(py, threads, None, |_| log_likelihood(&table))?.into_pyarray(py))
}
