//! What is learnt from training columns before any model: category dictionaries, Fayyad-Irani cuts,
//! standardisation. Learnt on training rows only, applied to any rows. Knows no models.

mod coder;
pub mod mdl;
mod standardise;

pub use coder::FeatureCoder;
pub use standardise::Standardiser;
