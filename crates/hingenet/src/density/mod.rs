//! Sparse pairwise log-density classifiers: SLB and its relatives (Tenzer, Moscovich, Dorn, Nadler,
//! Spiegelman: Beyond Trees: Classification with Sparse Pairwise Dependencies, JMLR 2020).
//!
//! Letters used throughout: `n` rows (a total weight), `m` rows of one class, `d` features, `h` and `H`
//! bandwidths (H is a squared scale), `p` a density, `t` a log-density feature, `w` its weight.

pub mod bandwidth;
pub mod hsic;
pub mod kernel;
pub mod sample;
