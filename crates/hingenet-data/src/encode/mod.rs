//! What is learnt from training columns before any model, on training rows only, and applied to any rows. Knows no
//! models. The rules, the same in every family:
//!
//! | a cell that is | becomes |
//! |---|---|
//! | missing | missing: summed out, integrated out or left out by the family's stated rule |
//! | a category that training has not seen | missing, and counted in the report ([`crate::table::Schema::align`]) |
//! | a number outside the training range | the end interval of [`FeatureCoder`]; its score, at most [`FURTHEST`] deviations away, of [`Standard`] |
//! | infinite | refused by the readers |

mod coder;
mod grid;
pub mod mdl;
mod order;
mod standard;
mod values;

pub use coder::FeatureCoder;
pub use standard::{Divisor, FURTHEST, Standard, is_moderate};
pub use values::{BinCells, BinMoves, MOST_BINS, ValueArrays, ValueCounts};
