//! Directed graphs and trees. Knows no probabilities.

mod dag;
mod tree;

pub use dag::Dag;
pub use tree::{Edge, maximum_spanning_tree, orient};
