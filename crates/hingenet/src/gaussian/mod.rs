//! Sparse Gaussian Bayesian networks, one per class, made discriminative (Zhou, Wang, Liu, Ogunbona, Shen:
//! Learning Discriminative Bayesian Networks from High-dimensional Continuous Neuroimaging Data, 2015).
//! [`structure`] learns graph and weights from [`moments`].
//!
//! Letters: i, j nodes (`Θ_ij` is the arc i -> j), a, b rows, c classes, m nodes, n rows.

pub mod constraints;
pub mod moments;
pub mod structure;
