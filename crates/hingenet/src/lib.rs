//! Bayesian-network classifiers trained with a margin that stay generative.
//!
//! The modules follow the data: [`table`] reads typed columns, [`model`] turns them into classifiers whose class
//! scores are sums of local terms over nodes and edges, [`evaluate`] measures them, [`report`] holds results as plain
//! data. Fitting sets the terms, predicting adds them, explaining lists them; a missing feature is marginalised.
//!
//! The families behind [`model`] live in crates of their own (`hingenet-discrete`, ...), which are internal: their
//! interfaces may change with every version.

pub mod evaluate;
pub mod explore;
pub mod model;
pub mod report;

/// Typed columns with missing cells, and the files they are read from and written to.
pub mod table {
    pub use hingenet_data::table::{
        AlignReport, Batches, Codes, Column, ColumnData, FeatureKind, FeatureSpec, Format, Places,
        ReadOptions, ReadResult, Schema, Source, Table, UnseenPolicy, read, write_csv,
    };
}

pub use model::{
    Aode, Dag, Dataset, FisherSvm, KTree, KernelDensity, LogDensity, Model, NaiveBayes, Pool, Sgbn, Tan,
};
pub use table::{Table, read};

pub use hingenet_base::control::{Control, Progress};
pub use hingenet_base::error::{Error, Result};
pub use hingenet_base::solver::SolverReport;
pub use hingenet_data::explain::{Explanation, ExplanationKind, Reasons, ShapleyParams, Term};

/// The example of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
