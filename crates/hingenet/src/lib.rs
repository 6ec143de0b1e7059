//! Bayesian-network classifiers trained with a margin that stay generative.
//!
//! The folders follow the data: [`table`] reads typed columns, [`encode`] learns categories and cuts,
//! the families ([`discrete`], [`density`], [`gaussian`]) turn them into class scores that are sums of
//! local terms over nodes and edges. Fitting sets the terms, predicting adds them, explaining lists
//! them; a missing feature is marginalised.

pub mod classifier;
pub mod control;
pub mod density;
pub mod discrete;
pub mod encode;
pub mod error;
pub mod evaluate;
pub mod gaussian;
pub mod graph;
pub mod model;
pub mod numeric;
pub mod optimise;
pub mod pool;
pub mod report;
pub mod table;

pub use classifier::{Classifier, Explanation, ExplanationKind, SolverReport, Term, Training};
pub use control::{Control, Progress};
pub use error::{Error, Result};
