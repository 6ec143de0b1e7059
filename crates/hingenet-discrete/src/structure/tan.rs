//! Tree-augmented naive Bayes: the tree of features with the largest conditional mutual information,
//! and the class as a parent of every feature. Friedman, Geiger, Goldszmidt: Bayesian Network
//! Classifiers, Machine Learning 1997.

use super::{PairStatistics, Structure};
use hingenet_base::error::Result;
use hingenet_base::graph::{Dag, Edge, maximum_spanning_tree, orient};

/// Where the edges of the tree point away from. The distribution does not depend on it, because the
/// counts are consistent; the number of parameters does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Root {
    /// The lowest-numbered feature.
    #[default]
    First,
    /// The feature with which the tables are smallest, the first one on ties.
    MinParams,
}

/// The TAN structure: maximum spanning tree over `I(X_i; X_j | C)`, directed away from the root.
pub fn tan(pairs: &PairStatistics, root: Root) -> Result<Structure> {
    let n = pairs.n_features();
    let card = pairs.card();
    let edge = |a: usize, b: usize| Edge { a, b, weight: pairs.conditional_information(a + 1, b + 1) };
    let edges = (0..n).flat_map(|a| (a + 1..n).map(move |b| edge(a, b))).collect();
    let tree = maximum_spanning_tree(n, edges);
    // Every edge costs K r_i r_j whatever its direction, so only the root's own table K r differs.
    let root = match root {
        Root::First => 0,
        Root::MinParams => (0..n).min_by_key(|&i| card[i + 1]).unwrap_or(0),
    };
    let parents = if n == 0 { Vec::new() } else { orient(n, &tree, root) };
    let with_class = |p: Option<usize>| std::iter::once(0).chain(p.map(|p| p + 1)).collect();
    let lists = std::iter::once(Vec::new()).chain(parents.into_iter().map(with_class));
    Structure::new(card.to_vec(), Dag::new(lists.collect())?)
}
