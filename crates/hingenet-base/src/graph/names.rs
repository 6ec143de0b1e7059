//! Graph errors speak of node numbers; users know names.

use crate::error::Error;

/// Replaces node numbers in a graph error by names.
pub fn with_names(error: Error, names: &[String]) -> Error {
    let name = |number: String| {
        let found = number.parse().ok().and_then(|i: usize| names.get(i).cloned());
        found.unwrap_or(number)
    };
    match error {
        Error::Cycle { nodes } => Error::Cycle { nodes: nodes.into_iter().map(name).collect() },
        Error::Graph { node, problem } => Error::Graph { node: name(node), problem },
        other => other,
    }
}
