//! Results as plain data; other crates draw them. The JSON of an [`Evaluation`] is what
//! `hingenet evaluate --json` writes.

mod evaluation;
mod picture;

pub use evaluation::{
    BalancedError, DataFacts, Evaluation, FoldAccuracy, MissingPoint, ModelResult, ProtocolFacts, SweepPoint,
};
pub use picture::{NetworkPicture, PictureArc, PictureNode};
