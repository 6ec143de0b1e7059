//! Directed graphs and trees. Knows no probabilities.

mod components;
mod cpdag;
mod dag;
mod moral;
mod names;
mod potential;
mod recovery;
mod tree;

pub use cpdag::Pdag;
pub use dag::Dag;
pub use moral::UndirectedGraph;
pub use names::with_names;
pub use potential::{Potentials, WeightedArc, smallest_potentials};
pub use recovery::{ArcErrors, arc_errors, class_errors};
pub use tree::{Edge, components, maximum_spanning_tree, orient};
