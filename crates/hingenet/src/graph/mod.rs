//! Directed graphs and trees. Knows no probabilities.

mod dag;

pub use dag::Dag;
