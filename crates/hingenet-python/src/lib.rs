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

/// The engine of Hingenet.
#[pyo3::pymodule]
mod _engine {
    #[pymodule_export]
    use super::encode::{distinct_rows, mdl_cuts};
    #[pymodule_export]
    use super::error::HingenetError;
    #[pymodule_export]
    use super::explore::{ExplorerPage, PageServer};
    #[pymodule_export]
    use super::gaussian::{GaussianNetwork, fit_network};
    #[pymodule_export]
    use super::model::{Model, doubts, fit, models, read_header};
    #[pymodule_export]
    use super::network::{bif, impute, log_likelihood, pictures, query, sample, svg, write_text, xmlbif};
    #[pymodule_export]
    use super::pieces::{PieceFit, gather, merge};
    #[pymodule_export]
    use super::program::run_program;
    #[pymodule_export]
    use super::transform::{LogDensities, curves, fisher_names, fisher_vectors};

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // the name that Python has for it
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
