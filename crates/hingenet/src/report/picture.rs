//! A network as a picture needs it: names, arcs and how strong they are. Drawn by the view.

use crate::model::exchange::{NamedNetwork, Variable};
use crate::model::{Fitted, Model};
use hingenet_base::error::{Error, Result};
use hingenet_data::information;
use hingenet_discrete::inference::Inference;
use hingenet_gaussian::GaussianClassifier;
use hingenet_gaussian::network::GaussianNetwork;
use serde::{Deserialize, Serialize};

/// A graph to draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkPicture {
    /// What is drawn, for the caption and for screen readers.
    pub title: String,
    /// The nodes.
    pub nodes: Vec<PictureNode>,
    /// The arcs.
    pub arcs: Vec<PictureArc>,
    /// What the strength of an arc measures, for the legend; `None` if all arcs are alike.
    pub strength: Option<String>,
    /// Whether arcs have a direction; otherwise they are pairs.
    #[serde(default = "directed")]
    pub is_directed: bool,
}

fn directed() -> bool {
    true
}

/// A node to draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PictureNode {
    /// Label.
    pub name: String,
    /// Whether it is the class.
    pub is_class: bool,
    /// Further facts shown on demand.
    pub note: String,
}

/// An arc to draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PictureArc {
    /// Tail, by position.
    pub from: usize,
    /// Head, by position.
    pub to: usize,
    /// Strength in the unit of the legend; its size sets the width, its sign the colour.
    pub strength: f64,
}

impl NetworkPicture {
    /// Reads a picture that was written as JSON; arcs must join nodes that are there.
    pub fn from_json(text: &str) -> Result<Self> {
        let bad = |problem: String| Error::data(problem, "give a picture as `pictures` returns it");
        let picture: Self =
            serde_json::from_str(text).map_err(|e| bad(format!("this is no picture of a network: {e}")))?;
        match picture.arcs.iter().find(|arc| arc.from.max(arc.to) >= picture.nodes.len()) {
            None => Ok(picture),
            Some(PictureArc { from, to, .. }) => {
                let n = picture.nodes.len();
                Err(bad(format!(
                    "an arc of the picture goes from node {from} to node {to}, but there are {n}"
                )))
            }
        }
    }

    /// The network of a model: its graph, or the pairs of features that a density model uses. A model
    /// without either is refused.
    pub fn of_model(model: &Model) -> Result<Self> {
        let picture = match &model.fitted {
            Fitted::Density(fitted) => Ok(super::density::pairs(model, fitted)),
            _ => Self::of_network(&model.network()?, format!("{} for {}", model.spec, model.target)),
        };
        model.answered(picture, Self::is_finite)
    }

    /// Whether every strength is a number.
    pub(super) fn is_finite(&self) -> bool {
        self.arcs.iter().all(|arc| arc.strength.is_finite())
    }

    /// The network of a model, or those of all its classes where each class has its own.
    pub fn all_of_model(model: &Model) -> Result<Vec<Self>> {
        match &model.fitted {
            Fitted::Gaussian(fitted) => Ok(class_networks(fitted, &model.classes)),
            _ => Ok(vec![Self::of_model(model)?]),
        }
    }

    /// A discrete network; arcs between features are as strong as `I(X_i; X_p | C)` in nats, as the model
    /// itself has it.
    pub fn of_network(net: &NamedNetwork, title: String) -> Result<Self> {
        let inference = Inference::new(&net.network);
        let card = net.network.structure().card();
        let arcs: Vec<(usize, usize)> = net.network.structure().dag().arcs().collect();
        let arc = |&(from, to): &(usize, usize)| {
            let strength = match from.min(to) {
                0 => 0.0,
                _ => conditional_information(&inference, card, from, to)?,
            };
            Ok(PictureArc { from, to, strength })
        };
        let node = |(i, v): (usize, &Variable)| PictureNode {
            name: v.name.clone(),
            is_class: i == 0,
            note: format!("{} state{}", v.states.len(), if v.states.len() == 1 { "" } else { "s" }),
        };
        let between_features = arcs.iter().any(|&(from, to)| from > 0 && to > 0);
        Ok(NetworkPicture {
            title,
            nodes: net.variables.iter().enumerate().map(node).collect(),
            arcs: arcs.iter().map(arc).collect::<Result<_>>()?,
            strength: between_features.then(|| "mutual information given the class, nats".to_string()),
            is_directed: true,
        })
    }
}

/// The network of every class; a page of a model shows the first ones only.
fn class_networks(model: &GaussianClassifier, classes: &[String]) -> Vec<NetworkPicture> {
    let node = |name: String| PictureNode { name, is_class: false, note: String::new() };
    let nodes: Vec<PictureNode> = model.features.node_names().into_iter().map(node).collect();
    let arcs = |network: &GaussianNetwork| {
        let into =
            |to: usize| network.parents(to).map(move |(from, strength)| PictureArc { from, to, strength });
        (0..network.nodes()).flat_map(into).collect()
    };
    let picture = |(network, class): (&GaussianNetwork, &String)| NetworkPicture {
        title: format!("class {class}"),
        nodes: nodes.clone(),
        arcs: arcs(network),
        strength: Some("weight on standardised values; orange is negative".into()),
        is_directed: true,
    };
    model.networks.iter().zip(classes).map(picture).collect()
}

/// `I(X_a; X_b | C)` of the model's own joint distribution, in nats.
fn conditional_information(inference: &Inference<'_>, card: &[usize], a: usize, b: usize) -> Result<f64> {
    let (a, b) = (a.min(b), a.max(b));
    // `conditional` lists variables in ascending order, the last one fastest.
    let joint = inference.conditional(&[0, a, b], &vec![None; card.len()])?;
    let p: Vec<f64> = joint.table.iter().map(|l| l.exp()).collect();
    Ok(information::conditional(&p, card[a], card[b]))
}
