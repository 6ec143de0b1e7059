//! Sparse Gaussian Bayesian networks, one per class, made discriminative (Zhou, Wang, Liu, Ogunbona, Shen:
//! Learning Discriminative Bayesian Networks from High-dimensional Continuous Neuroimaging Data, 2015).
//! [`features`] turns a table into nodes, [`structure`] learns graph and weights from [`moments`], [`network`] and
//! [`missing`] answer questions; [`fisher`] and [`discriminative`] make the networks discriminate.
//!
//! Letters: i, j nodes (`Θ_ij` is the arc i -> j), a, b rows, c classes, m nodes, n rows.

pub mod constraints;
pub mod discriminative;
pub mod expected;
pub mod features;
pub mod fisher;
pub mod missing;
pub mod moments;
pub mod network;
pub mod structure;
