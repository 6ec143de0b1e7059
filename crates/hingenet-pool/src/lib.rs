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

mod averaged;
mod classifier;
mod completion;
mod density;
mod density_search;
mod encoding;
mod explain;
mod fit;
mod gaussian;
mod imputation;
mod kernel;
mod machine;
mod machine_fit;
mod masks;
mod moments;
mod newton;
mod params;
mod parts;
mod predict;
mod rows;
mod stand_in;
mod summary;
#[cfg(test)]
mod tests;
mod weights;

pub use averaged::States;
pub use classifier::{PoolClassifier, PoolFacts, PoolTerm, TermPosteriors};
pub use density_search::DensityChoice;
pub use encoding::{Scale, Transform};
pub use fit::{fit, fit_with};
pub use gaussian::GaussianChoice;
pub use machine_fit::MachineChoice;
pub use masks::MaskSampler;
pub use params::PoolParams;
pub use parts::{PoolHeader, PoolParts};
pub use rows::FeatureType;
pub use stand_in::{StandIns, TermModel, TermRecipe};
pub use summary::{PoolSummary, TermSummary};
pub use weights::{KNOTS, PoolWeights, TERMS};
