//! Gaussian class networks: bias, weights and variances of every node, and how columns become nodes. `engine/gaussian.js`
//! conditions them as `hingenet-gaussian` does.

use super::{counted, floats, wholes};
use hingenet_gaussian::GaussianClassifier;
use hingenet_gaussian::network::GaussianNetwork;
use serde_json::{Value, json};

/// Most nodes: a click solves systems of this size for each class.
const MOST_NODES: usize = 300;

/// `cards` are the numbers of states of the columns, the class first, 0 for a number. `None` where a machine decides, or if
/// networks are too large.
pub(super) fn program(model: &GaussianClassifier, cards: &[usize]) -> Option<Value> {
    let nodes = model.features.nodes();
    if model.machine.is_some() || nodes.len() > MOST_NODES {
        return None;
    }
    let network = |network: &GaussianNetwork| {
        let weights: Vec<f64> = (0..nodes.len()).flat_map(|j| network.parents(j).map(|(_, w)| w)).collect();
        json!({
            "parents": wholes(network.dag().parent_lists().iter().flat_map(|list| counted(list))),
            "order": wholes(network.dag().topological_order().iter().copied()),
            "weights": floats(&weights),
            "bias": floats(network.bias()),
            "variance": floats(network.variance()),
        })
    };
    Some(json!({
        "kind": "gaussian",
        "cards": cards,
        "prior": floats(&model.prior),
        "columns": wholes(nodes.iter().map(|node| node.column + 1)),
        "means": floats(&nodes.iter().map(|node| node.mean).collect::<Vec<_>>()),
        "scales": floats(&nodes.iter().map(|node| node.scale).collect::<Vec<_>>()),
        "networks": model.networks.iter().map(network).collect::<Vec<_>>(),
    }))
}
