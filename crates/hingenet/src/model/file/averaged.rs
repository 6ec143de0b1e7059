//! An average of one-dependence networks in a model file. The graphs follow from the number of features.

use super::discrete::{pack_coders, unpack_coders};
use super::store::{About, agree};
use super::{Container, Section};
use hingenet_base::error::{Error, Result};
use hingenet_data::encode::FeatureCoder;
use hingenet_discrete::Network;
use hingenet_discrete::averaged::{AveragedClassifier, Stars, one_dependence};
use serde_json::Value;

/// All numbers go into sections; the members' parameters stand behind each other.
pub fn pack(model: &AveragedClassifier, out: &mut Container) -> Result<Value> {
    pack_coders(model.coders(), out);
    out.put("temperature", Section::F64(vec![model.temperature()]));
    let mut w = Vec::new();
    for member in model.stars().networks()? {
        w.extend_from_slice(member.w());
    }
    out.put("w", Section::F64(w));
    Ok(Value::Null)
}

/// Rebuilds the members; sizes, cuts and probabilities are checked.
pub fn unpack(container: &mut Container, about: &About) -> Result<AveragedClassifier> {
    let coders = unpack_coders(container, about)?;
    let w = container.take_f64("w")?;
    let temperature = container.take_f64("temperature")?;
    agree("temperatures", 1, temperature.len())?;
    let states = coders.iter().map(FeatureCoder::n_states);
    let card: Vec<usize> = std::iter::once(about.classes.len()).chain(states).collect();
    let damaged = |e: Error| Error::model_file(e.to_string());
    let mut rest = w.as_slice();
    let mut members = Vec::with_capacity(coders.len());
    for s in 1..card.len() {
        let structure = one_dependence(&card, s).map_err(damaged)?;
        let own =
            rest.get(..structure.n_entries()).ok_or_else(|| Error::model_file("parameters are absent"))?;
        rest = &rest[own.len()..];
        members.push(Network::new(structure, own.to_vec()).map_err(damaged)?);
    }
    agree("parameters without a network", 0, rest.len())?;
    let stars = Stars::from_networks(&members).map_err(damaged)?;
    AveragedClassifier::new(coders, stars, temperature[0]).map_err(damaged)
}
