//! Class-conditional densities: samples and their bandwidths, kernel estimates, and the densities of one feature and of
//! pairs of features behind the log-density features of the classifiers.

pub mod bandwidth;
mod counts;
pub mod features;
mod joint;
pub mod kernel;
mod kernel_grid;
mod marginal;
mod mixed;
pub mod sample;

pub(crate) use joint::FINE_COLUMNS;
pub use joint::Joint;
pub use marginal::Marginal;
pub(crate) use marginal::narrowed;
