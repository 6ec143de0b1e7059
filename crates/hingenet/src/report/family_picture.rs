//! Pictures of the families beside the discrete one: a Gaussian network for each class and how two classes
//! differ, and the pairs of features that a density model uses.

use super::{NetworkPicture, PictureArc, PictureNode};
use crate::density::DensityClassifier;
use crate::gaussian::GaussianClassifier;
use crate::gaussian::network::GaussianNetwork;

/// Networks of this many classes are drawn.
const CLASSES: usize = 8;
/// Differences of weights below this are rounding.
const ROUNDING: f64 = 1e-9;

impl NetworkPicture {
    /// The network of each class (of the first eight) and, for two classes, what differs between them.
    pub fn of_gaussian(model: &GaussianClassifier, classes: &[String]) -> Vec<Self> {
        let nodes: Vec<PictureNode> =
            (0..model.features().nodes().len()).map(|k| node(model.features().node_name(k))).collect();
        let picture = |title: String, strength: &str, arcs: Vec<PictureArc>| NetworkPicture {
            title,
            nodes: nodes.clone(),
            arcs,
            strength: Some(strength.into()),
        };
        let of_class = |(network, class): (&GaussianNetwork, &String)| {
            picture(
                format!("class {class}"),
                "weight on standardised values; orange is negative",
                arcs(network),
            )
        };
        let mut pictures: Vec<NetworkPicture> =
            model.networks().iter().zip(classes).take(CLASSES).map(of_class).collect();
        if let ([first, second], [a, b]) = (model.networks(), classes) {
            let unit = "difference of weights; orange is negative";
            pictures.push(picture(format!("class {b} less class {a}"), unit, difference(first, second)));
        }
        pictures
    }

    /// Pairs of columns that a density model uses, as strong as the number of classes that use them.
    pub fn of_density(model: &DensityClassifier, columns: &[String], title: String) -> Self {
        let arc = |((from, to), users): ((usize, usize), Vec<usize>)| PictureArc {
            from,
            to,
            strength: users.len() as f64,
        };
        let arcs: Vec<PictureArc> = model.pairs().into_iter().map(arc).collect();
        NetworkPicture {
            title,
            nodes: columns.iter().cloned().map(node).collect(),
            strength: (!arcs.is_empty()).then(|| "classes that use the pair".into()),
            arcs,
        }
    }
}

fn node(name: String) -> PictureNode {
    PictureNode { name, is_class: false, note: String::new() }
}

fn arcs(network: &GaussianNetwork) -> Vec<PictureArc> {
    let of_node =
        |to: usize| network.parents(to).map(move |(from, strength)| PictureArc { from, to, strength });
    (0..network.nodes()).flat_map(of_node).collect()
}

/// Arcs whose weights differ, with the weight in `second` less that in `first`.
fn difference(first: &GaussianNetwork, second: &GaussianNetwork) -> Vec<PictureArc> {
    let (a, b) = (first.theta(), second.theta());
    let n = first.nodes().min(second.nodes());
    let pairs = (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
    pairs
        .map(|(from, to)| PictureArc { from, to, strength: b.row(from)[to] - a.row(from)[to] })
        .filter(|arc| arc.strength.abs() > ROUNDING)
        .collect()
}
