//! The terms of a score: for a complete row of the network classifier those of the nodes, which add up; otherwise what
//! each observed feature changes.

use crate::predict::GaussianClassifier;
use hingenet_base::error::Result;
use hingenet_data::explain::{ScoreTerms, Term, leave_one_out};
use hingenet_data::table::Table;

/// One term per node where they add up; indicator nodes of one column have a term each.
pub(super) fn terms(model: &GaussianClassifier, row: &Table) -> Result<ScoreTerms> {
    let x = model.features.encode(row)?;
    let nodes = model.features.nodes();
    if model.machine.is_some() || x.data().iter().any(|v| v.is_nan()) {
        let has_node = |column: &usize| nodes.iter().any(|node| node.column == *column);
        return leave_one_out(model, row, (0..model.features.columns()).filter(has_node));
    }
    let term = |j: usize| {
        let parents = model.networks.iter().flat_map(|g| g.dag().parents(j));
        let mut given: Vec<usize> = parents.map(|&i| nodes[i].column).collect();
        given.sort_unstable();
        given.dedup();
        let scores = model.networks.iter().map(|g| g.node_term(j, x.row(0))).collect();
        Term { feature: nodes[j].column, given, scores }
    };
    Ok(ScoreTerms::additive(model.log_prior(), (0..nodes.len()).map(term).collect()))
}
