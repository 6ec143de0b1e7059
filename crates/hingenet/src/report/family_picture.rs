//! Picture of a density model: the pairs of features that it uses.

use super::{NetworkPicture, PictureArc, PictureNode};
use crate::density::DensityClassifier;

impl NetworkPicture {
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
