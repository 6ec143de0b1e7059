//! Draws what Hingenet found. Plain data (`hingenet::report`) goes in, SVG text comes out; no mathematics
//! of the models lives here, and nothing is read from or sent anywhere.

mod escape;
pub mod network;

pub use escape::escape;
