//! Parameters trained with a margin: ML-BN-SVM, BN-SVM, maximum margin and maximum conditional likelihood.
//!
//! The rows of a fit are merged and reduced to the entries that depend on the class; a loss of their class scores
//! and the likelihood make the `problem`, whose certificate says how far from the optimum a point is; `solve` has
//! the solvers. One file for each program on top of them: `ml_bn_svm`, with `completion` for missing features and
//! `semi_supervised` for missing classes, `bn_svm` and `conditional`.
//!
//! `gamma` is the required log margin γ, `lambda` the weight λ of the loss, `R` and `eta` the smoothing of
//! problem (11); `a_{mc}` the multiplier of row m against class c, `q` the tilted counts.

pub mod bn_svm;
pub mod completion;
pub mod conditional;
mod ml_bn_svm;
mod problem;
pub mod semi_supervised;
mod solve;

pub use ml_bn_svm::{MarginFit, MarginParams, fit_margin, fit_margin_streamed};
pub(crate) use ml_bn_svm::{margin_problem, require_two_classes};
pub(crate) use problem::ANY;
pub use problem::{
    Certificate, CodedPieces, DualPoint, Expansion, Layout, Likelihood, LossRows, MarginLoss, MarginRows,
    Point, Problem, RowLoss, ScoreBlock, Smoothing, SoftHinge, StreamedRows,
};
pub use solve::{Solution, SolveSettings, Solver, Start, default_smoothing, solve};
