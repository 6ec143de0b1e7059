//! How good is a model: splits, metrics, robustness to missing features, and generated data to try it on.
//!
//! [`folds`] says which rows are tested when, [`CrossValidation`] fits and predicts, [`metrics`] scores,
//! [`missing`] blanks cells. Results are plain data in [`crate::report`].

mod compare;
mod cross_validate;
pub mod folds;
pub mod generate;
pub mod metrics;
pub mod missing;
mod study;

pub use compare::{Groups, Plan, Sweep, Swept, TestRows, compare};
pub use cross_validate::{CrossValidation, Outcome, Protocol, TestSet, data_facts, train_test};
pub use study::study;
