//! Sparse Gaussian Bayesian networks, one per class, made discriminative (Zhou, Wang, Liu, Ogunbona, Shen:
//! Learning Discriminative Bayesian Networks from High-dimensional Continuous Neuroimaging Data, 2015).
//! [`features`] turns a table into nodes, [`structure`] learns graph and weights from [`moments`], [`network`] and
//! [`missing`] answer questions; [`fisher`] and [`discriminative`] make the networks discriminate;
//! [`fit()`] does all of it for a table. [`study`] learns networks for their own sake and says how sure the arcs are and
//! how classes differ.
//!
//! Internal to `hingenet`: the interface of this crate may change with every version.
//!
//! Letters: i, j nodes (`Θ_ij` is the arc i -> j), a, b rows, c classes, m nodes, n rows.

mod beliefs;
pub mod discriminative;
mod exact;
pub mod features;
pub mod fisher;
mod fit;
pub mod generate;
pub mod missing;
pub mod moments;
pub mod network;
mod params;
mod predict;
pub mod structure;
pub mod study;

pub use beliefs::GaussianBeliefs;
pub use exact::{ExactMoments, NodeGrids};
pub use fisher::FisherMachine;
pub use fit::{MomentTable, fit, fit_moments, is_of_moments, needs_rows};
pub use params::{Decision, GaussianParams, Learning, Priors, SlackWeight, Tuning, Variance};
pub use predict::GaussianClassifier;
pub use structure::StructureMethod;
