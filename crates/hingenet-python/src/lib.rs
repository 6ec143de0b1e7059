//! The Python extension module `hingenet._engine`: arrays in, arrays out, errors mapped. No mathematics.
//!
//! The estimators are Python classes (`python/hingenet`); each makes a model name with options and calls
//! `model::fit`. Work runs without the interpreter lock and stops on Ctrl-C (`work`).

mod encode;
mod error;
mod explore;
mod features;
mod gaussian;
mod model;
mod network;
mod pieces;
mod program;
mod transform;
mod work;

use pyo3::prelude::*;

/// The engine of Hingenet.
#[pymodule]
fn _engine(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("HingenetError", m.py().get_type::<error::HingenetError>())?;
    m.add_class::<model::Model>()?;
    m.add_function(wrap_pyfunction!(model::fit, m)?)?;
    m.add_function(wrap_pyfunction!(model::doubts, m)?)?;
    m.add_function(wrap_pyfunction!(model::models, m)?)?;
    m.add_function(wrap_pyfunction!(model::read_header, m)?)?;
    m.add_class::<pieces::PieceFit>()?;
    m.add_function(wrap_pyfunction!(pieces::gather, m)?)?;
    m.add_function(wrap_pyfunction!(pieces::merge, m)?)?;
    m.add_function(wrap_pyfunction!(encode::mdl_cuts, m)?)?;
    m.add_function(wrap_pyfunction!(encode::distinct_rows, m)?)?;
    m.add_function(wrap_pyfunction!(network::bif, m)?)?;
    m.add_function(wrap_pyfunction!(network::xmlbif, m)?)?;
    m.add_function(wrap_pyfunction!(network::write_text, m)?)?;
    m.add_function(wrap_pyfunction!(network::pictures, m)?)?;
    m.add_function(wrap_pyfunction!(network::svg, m)?)?;
    m.add_function(wrap_pyfunction!(network::sample, m)?)?;
    m.add_function(wrap_pyfunction!(network::query, m)?)?;
    m.add_function(wrap_pyfunction!(network::impute, m)?)?;
    m.add_function(wrap_pyfunction!(network::log_likelihood, m)?)?;
    m.add_class::<explore::ExplorerPage>()?;
    m.add_function(wrap_pyfunction!(program::run_program, m)?)?;
    m.add_class::<explore::PageServer>()?;
    m.add_class::<transform::LogDensities>()?;
    m.add_function(wrap_pyfunction!(transform::curves, m)?)?;
    m.add_function(wrap_pyfunction!(transform::fisher_vectors, m)?)?;
    m.add_function(wrap_pyfunction!(transform::fisher_names, m)?)?;
    m.add_class::<gaussian::GaussianNetwork>()?;
    m.add_function(wrap_pyfunction!(gaussian::fit_network, m)?)?;
    Ok(())
}
