//! Sparse Gaussian Bayesian networks, one per class (Zhou et al., 2015).
