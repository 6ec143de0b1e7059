//! The pool: four class posteriors multiplied, each with its own marginal for missing features, with
//! non-negative exponents that depend on the share of missing features.
//!
//! Internal to `hingenet`: the interface of this crate may change with every version.
//!
//! | term | model | missing features |
//! |---|---|---|
//! | P | kernel density with a mutual-information metric | drop out of the product kernel, exactly |
//! | A | averaged one-dependence networks | drop out of every star, exactly |
//! | G | shrunk class Gaussians | integrated out, exactly |
//! | K | margin kernel machine | averaged over completions drawn by P |
//!
//! [`fit`] makes a [`PoolClassifier`]. Letters: `n` total weight of the rows, `d` features, `K` classes,
//! `e` encoded row, `o` observed and `m` missing features, `λ` metric, `β` machine coefficients.

mod classifier;
mod fit;
mod gaps;
mod masks;
mod params;
mod parts;
mod pieces;
mod points;
mod rows;
mod summary;
mod terms;
#[cfg(test)]
mod tests;
mod weights;

pub use classifier::{PoolClassifier, PoolFacts, TermPosteriors};
pub use fit::fit;
pub use gaps::{Gain, Gaps, indicated};
pub use masks::MaskSampler;
pub use params::PoolParams;
pub use parts::{GapParts, PoolHeader, PoolParts, PrototypeHeader};
pub use pieces::{PoolSums, PoolTask};
pub use points::{Scale, Transform};
pub use rows::{CellsSeen, ColumnFacts, FeatureType, Labelled};
pub use summary::{GapSummary, PoolSummary, PrototypeSummary, TermSummary};
pub use terms::averaged::States;
pub use terms::density::search::DensityChoice;
pub use terms::gaussian::GaussianChoice;
pub use terms::machine::fit::MachineChoice;
pub use terms::{StandIns, TermModel, TermRecipe};
pub use weights::{KNOTS, LETTERS, PoolWeights, TERMS};
