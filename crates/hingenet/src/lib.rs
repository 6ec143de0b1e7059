//! Bayesian-network classifiers trained with a margin that stay generative.
//!
//! The folders follow the data: [`table`] reads typed columns, [`encode`] learns categories and cuts,
//! the families ([`discrete`], [`density`], [`gaussian`]) turn them into class scores that are sums of
//! local terms over nodes and edges. Fitting sets the terms, predicting adds them, explaining lists
//! them; a missing feature is marginalised.

pub mod evaluate;
pub mod model;
pub mod report;

pub use hingenet_base::{control, error, graph, numeric, optimise, solver};
pub use hingenet_data::{classifier, encode, table};
pub use {
    hingenet_density as density, hingenet_discrete as discrete, hingenet_gaussian as gaussian,
    hingenet_pool as pool,
};

pub use hingenet_base::control::{Control, Progress};
pub use hingenet_base::error::{Error, Result};
pub use hingenet_base::solver::SolverReport;
pub use hingenet_data::classifier::{Classifier, Explanation, ExplanationKind, Term, Training};
