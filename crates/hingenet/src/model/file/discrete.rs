//! The discrete family in a model file. Categories are those of the schema; cut points, parameters and
//! temperature stand in sections.

use super::store::{About, agree, parse};
use super::{Container, Section};
use hingenet_base::error::{Error, Result};
use hingenet_base::graph::Dag;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::FeatureKind;
use hingenet_discrete::{DiscreteClassifier, Network, Structure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Parents of each node; node 0 is the class.
    parents: Vec<Vec<usize>>,
}

/// The graph goes into the header, the numbers into sections.
pub fn pack(model: &DiscreteClassifier, out: &mut Container) -> Result<Value> {
    pack_coders(model.coders(), out);
    out.put("temperature", Section::F64(vec![model.temperature()]));
    out.put("w", Section::F64(model.network().w().to_vec()));
    let parents = model.network().structure().dag().parent_lists().to_vec();
    serde_json::to_value(Parameters { parents }).map_err(|e| Error::model_file(e.to_string()))
}

/// Rebuilds the network; graph, sizes, cuts and probabilities are checked.
pub fn unpack(container: &mut Container, about: &About) -> Result<DiscreteClassifier> {
    let parameters: Parameters = parse(about.parameters.clone(), "parameters")?;
    let coders = unpack_coders(container, about)?;
    let w = container.take_f64("w")?;
    let temperature = container.take_f64("temperature")?;
    agree("temperatures", 1, temperature.len())?;
    agree("nodes of the network", coders.len() + 1, parameters.parents.len())?;
    let card =
        std::iter::once(about.classes.len()).chain(coders.iter().map(FeatureCoder::n_states)).collect();
    let damaged = |e: Error| Error::model_file(e.to_string());
    let structure = Structure::new(card, Dag::new(parameters.parents).map_err(damaged)?).map_err(damaged)?;
    let network = Network::new(structure, w).map_err(damaged)?;
    DiscreteClassifier::new(coders, network, temperature[0]).map_err(damaged)
}

/// Cut points of the numeric features; categories are those of the schema.
pub fn pack_coders(coders: &[FeatureCoder], out: &mut Container) {
    let (mut cuts, mut cut_counts) = (Vec::new(), Vec::new());
    for coder in coders {
        if let FeatureCoder::Cuts { cuts: own } = coder {
            cut_counts.push(own.len() as u32);
            cuts.extend_from_slice(own);
        }
    }
    out.put("cuts", Section::F64(cuts));
    out.put("cut_counts", Section::U32(cut_counts));
}

/// The states of every feature.
pub fn unpack_coders(container: &mut Container, about: &About) -> Result<Vec<FeatureCoder>> {
    let cuts = container.take_f64("cuts")?;
    let counts = container.take_u32("cut_counts")?;
    let (mut rest, mut counts) = (cuts.as_slice(), counts.into_iter());
    let mut coders = Vec::with_capacity(about.schema.features.len());
    for feature in &about.schema.features {
        coders.push(match &feature.kind {
            FeatureKind::Categorical { categories } => FeatureCoder::Categories { names: categories.clone() },
            FeatureKind::Numeric => {
                let count = counts.next().ok_or_else(|| Error::model_file("cut points are absent"))? as usize;
                let own = rest.get(..count).ok_or_else(|| Error::model_file("cut points are absent"))?;
                rest = &rest[count..];
                FeatureCoder::Cuts { cuts: own.to_vec() }
            }
        });
    }
    agree("cut points without a column", 0, rest.len() + counts.len())?;
    Ok(coders)
}
