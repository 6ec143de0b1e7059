//! How good is a model: splits, metrics, robustness to missing features, and generated data to try it on.
//!
//! [`CrossValidation`] says which rows are tested when, fits and predicts; [`compare`] and [`study`] do so for several
//! models; [`generate`] makes data with known answers. Results are plain data in [`crate::report`].

mod compare;
mod cross_validate;
mod folds;
mod generate;
mod metrics;
mod missing;
mod study;

pub use compare::{Groups, Plan, Sweep, TestRows, compare};
pub use cross_validate::{CrossValidation, Outcome, Protocol, TestSet, train_test};
pub use generate::{GENERATORS, Generator, generate, true_arcs};
pub use study::study;
