//! Parameters trained with a margin: ML-BN-SVM, BN-SVM, maximum margin and maximum conditional likelihood.
//!
//! The rows of a fit are merged and reduced to the entries that depend on the class (`rows`); a loss of
//! their class scores (`loss`) and the likelihood (`likelihood`) make the `problem`; solvers minimise
//! it, and the `certificate` says how far from the optimum they ended.
//!
//! `gamma` is the required log margin γ, `lambda` the weight λ of the loss, `R` and `eta` the smoothing of
//! problem (11); `a_{mc}` the multiplier of row m against class c, `q` the tilted counts.

mod block;
pub mod bn_svm;
mod certificate;
pub mod completion;
pub mod conditional;
pub mod conic;
mod fit;
pub mod hinge;
pub mod interior;
mod interior_rows;
mod interior_system;
mod likelihood;
mod loss;
mod newton;
mod problem;
pub mod projected;
mod rows;
pub mod select;
pub mod semi_supervised;
mod solve;
mod train;

pub use block::ScoreBlock;
pub use certificate::{Certificate, DualPoint};
pub use fit::{MarginFit, MarginParams, fit_margin};
pub use likelihood::{Expansion, Likelihood};
pub use loss::{MarginLoss, Smoothing};
pub use problem::{Point, Problem};
pub(super) use rows::ANY;
pub use rows::{RowLoss, Rows};
pub use solve::{Solution, SolveSettings, Solver, Start, default_smoothing, solve};
pub use train::{Learning, Trained, completed, fit_discriminative};
