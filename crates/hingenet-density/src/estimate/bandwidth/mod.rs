//! Bandwidths of Gaussian kernel density estimates in one and two dimensions: rules of thumb,
//! least-squares cross-validation and direct plug-in (Wand & Jones 1994; Duong & Hazelton 2003; Chacón &
//! Duong 2010). Sums over pairs of rows are taken term by term for small samples, from the
//! characteristic function or from bins for large ones.

mod cross_validation;
mod functionals;
mod line;
mod plane;
mod plane_functionals;
mod plane_spectrum;

pub use cross_validation::{least_squares, least_squares_criterion};
pub use line::{LineBandwidth, PlugIn, normal_scale, plug_in};
pub use plane::{
    PilotStages, PlaneBandwidth, PlanePlugIn, Symmetric, diagonal_plane, normal_scale_plane,
    plug_in_criterion, plug_in_plane,
};

/// Largest number of rows whose pairwise sums are computed term by term.
pub(crate) const EXACT_ROWS: usize = 1000;
