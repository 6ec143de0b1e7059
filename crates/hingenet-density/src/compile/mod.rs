//! Compilation of a fit to lookup tables, so that a model keeps no training rows: for every feature the
//! log densities of all classes on a line, for every kept pair those of the classes that keep it on a grid,
//! with their weights in the class scores. Tables are refined until the class scores agree with exact evaluation.

mod axis;
mod build;
mod line_table;
mod pair_table;
mod row;

pub use axis::{Axis, Group};
pub use build::{Compiled, compile};
pub use line_table::LineTable;
pub use pair_table::{Layer, PairTable};
pub(crate) use row::Scratch;
