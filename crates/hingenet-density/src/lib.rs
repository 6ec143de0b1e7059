//! Sparse pairwise log-density classifiers: SLB and its relatives (Tenzer, Moscovich, Dorn, Nadler,
//! Spiegelman: Beyond Trees: Classification with Sparse Pairwise Dependencies, JMLR 2020).
//!
//! Letters used throughout: `n` rows (a total weight), `m` rows of one class, `d` features, `h` and `H`
//! bandwidths (H is a squared scale), `p` a density, `t` a log-density feature, `w` its weight.

pub mod bandwidth;
pub mod calibration;
pub mod columns;
pub mod compile;
pub mod estimate;
mod explain;
pub mod features;
pub mod fit;
pub mod generate;
pub mod hsic;
pub mod information;
pub mod kernel;
mod kernel_grid;
mod marginalise;
mod mixed;
mod predict;
pub mod raw;
pub mod sample;
pub mod scores;
pub mod selection;
pub mod settings;
mod shape;
pub mod structure;
pub mod transform;

pub use predict::{DensityClassifier, Summary};
pub use settings::{Settings, Variant};
pub use shape::{Curve, Surface};
