//! How good is a model: splits, metrics, robustness to missing features, and generated data to try it on.
//!
//! A [`Protocol`] says which rows are tested when; [`compare`] and [`study`] fit and test the models of a [`Plan`];
//! [`generate`] makes data with known answers. Results are plain data in [`crate::report`].

mod classes;
mod compare;
mod cross_validate;
mod curve;
mod folds;
mod generate;
mod interval;
pub(crate) mod metrics;
mod missing;
mod study;

pub use compare::{Groups, Plan, Sweep, TestRows, TrainingPieces, compare};
pub use cross_validate::{Protocol, TestSet};
pub use generate::{GENERATORS, Generator, generate};
// for the program
#[doc(hidden)]
pub use generate::{TrueArc, generate_within, true_arcs};
pub use study::study;
