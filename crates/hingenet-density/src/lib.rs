//! Sparse pairwise log-density classifiers: SLB and its relatives (Tenzer, Moscovich, Dorn, Nadler,
//! Spiegelman: Beyond Trees: Classification with Sparse Pairwise Dependencies, JMLR 2020).
//!
//! Internal to `hingenet`: the interface of this crate may change with every version.
//!
//! Letters used throughout: `n` rows (a total weight), `m` rows of one class, `d` features, `h` and `H`
//! bandwidths (H is a squared scale), `p` a density, `t` a log-density feature, `w` its weight.

mod beliefs;
mod calibration;
mod check;
mod classifier;
pub mod columns;
mod compile;
mod describe;
pub mod estimate;
mod explain;
pub mod fit;
pub mod generate;
mod missing;
pub mod params;
mod pieces;
pub mod structure;
pub mod terms;
pub mod transform;

pub use beliefs::DensityBeliefs;
pub use classifier::{DensityClassifier, Summary};
pub use describe::{Curve, Surface};
pub use fit::fit;
pub use params::{Params, Variant};
pub use pieces::{BinCounts, DensityPlan, DensitySums, DensityTask};
