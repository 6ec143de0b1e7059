//! The discrete family in a model file: the graph in the header; cut points, parameters and temperature in sections.
//! Categories are those of the schema, and the graphs of an average follow from the number of features.

use super::Container;
use super::store::{About, Stored, require_none};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::Dag;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::FeatureKind;
use hingenet_discrete::averaged::{AveragedClassifier, Stars, one_dependence};
use hingenet_discrete::{DiscreteClassifier, Network, Structure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Parents of each node; node 0 is the class.
    parents: Vec<Vec<usize>>,
}

impl Stored for DiscreteClassifier {
    fn store(&self, out: &mut Container) -> Result<Value> {
        put_networks(out, self.coders(), std::slice::from_ref(self.network()), self.temperature());
        if let Some(support) = self.support() {
            out.put("support", support);
        }
        let parents = self.network().structure().dag().parent_lists().to_vec();
        out.put_plain(&Parameters { parents })
    }

    fn restore(header: Value, from: &mut Container, about: &About) -> Result<Self> {
        let Parameters { parents } = from.take_plain(header)?;
        require_len("nodes of the network", about.schema.features.len() + 1, parents.len())?;
        let dag = Dag::new(parents)?;
        let graph = |card: &[usize], _| Structure::new(card.to_vec(), dag.clone());
        let (coders, mut networks, temperature) = take_networks(from, about, 1, graph)?;
        let network = networks.pop().ok_or_else(|| Error::model_file("there is no network"))?;
        let model = DiscreteClassifier::new(coders, network, temperature)?;
        if from.has("support") { model.with_support(from.take("support")?) } else { Ok(model) }
    }
}

impl Stored for AveragedClassifier {
    fn store(&self, out: &mut Container) -> Result<Value> {
        put_networks(out, self.coders(), &self.network().networks()?, self.temperature());
        Ok(Value::Null)
    }

    fn restore(header: Value, from: &mut Container, about: &About) -> Result<Self> {
        require_none(&header)?;
        let (coders, networks, temperature) =
            take_networks(from, about, about.schema.features.len(), |card, s| one_dependence(card, s + 1))?;
        let stars = Stars::from_networks(&networks)?;
        AveragedClassifier::new(coders, stars, temperature)
    }
}

/// Coders of the features, networks over the same variables (the class first), and the temperature.
type Networks = (Vec<FeatureCoder>, Vec<Network>, f64);

/// The parameters of the networks stand behind each other, and so do the cut points of the numeric features.
fn put_networks(out: &mut Container, coders: &[FeatureCoder], networks: &[Network], temperature: f64) {
    let cuts = coders.iter().filter_map(|coder| match coder {
        FeatureCoder::Cuts { cuts } => Some(cuts.as_slice()),
        FeatureCoder::Categories { .. } => None,
    });
    let left_out = |(i, coder): (usize, &FeatureCoder)| {
        matches!(coder, FeatureCoder::Categories { names } if names.is_empty()).then_some(i as u32)
    };
    let left_out: Vec<u32> = coders.iter().enumerate().filter_map(left_out).collect();
    if !left_out.is_empty() {
        out.put("left_out", &left_out);
    }
    out.put("cut_counts", &cuts.clone().map(|own| own.len() as u32).collect::<Vec<_>>());
    out.put("cuts", &cuts.collect::<Vec<_>>().concat());
    out.put("temperature", &[temperature]);
    out.put("w", &networks.iter().map(Network::w).collect::<Vec<_>>().concat());
}

/// Rebuilds coders and `n` networks; `graph` makes each structure from the numbers of states, the class first. One
/// after the other: the first whose parameters are absent ends it.
fn take_networks(
    from: &mut Container,
    about: &About,
    n: usize,
    graph: impl Fn(&[usize], usize) -> Result<Structure>,
) -> Result<Networks> {
    let left_out: Vec<u32> = if from.has("left_out") { from.take("left_out")? } else { Vec::new() };
    let is_categorical = |&i: &u32| {
        let feature = about.schema.features.get(i as usize);
        feature.is_some_and(|f| matches!(f.kind, FeatureKind::Categorical { .. }))
    };
    if !(left_out.iter().all(is_categorical) && left_out.is_sorted_by(|a, b| a < b)) {
        return Err(Error::model_file("columns that take no part are not columns of categories"));
    }
    let (counts, cuts): (Vec<u32>, Vec<f64>) = (from.take("cut_counts")?, from.take("cuts")?);
    let (mut counts, mut cuts) = (counts.into_iter(), cuts.as_slice());
    let mut coders = Vec::with_capacity(about.schema.features.len());
    for (i, feature) in about.schema.features.iter().enumerate() {
        coders.push(match &feature.kind {
            FeatureKind::Categorical { .. } if left_out.binary_search(&(i as u32)).is_ok() => {
                FeatureCoder::Categories { names: Vec::new() }
            }
            FeatureKind::Categorical { categories } => FeatureCoder::Categories { names: categories.clone() },
            FeatureKind::Numeric => {
                let count = counts.next().ok_or_else(|| Error::model_file("cut points are absent"))?;
                FeatureCoder::Cuts { cuts: front(&mut cuts, count as usize)?.to_vec() }
            }
        });
    }
    require_len("cut points without a column", 0, cuts.len() + counts.len())?;
    let states = coders.iter().map(FeatureCoder::n_states);
    let card: Vec<usize> = std::iter::once(about.classes.len()).chain(states).collect();
    let (w, temperature): (Vec<f64>, Vec<f64>) = (from.take("w")?, from.take("temperature")?);
    let mut w = w.as_slice();
    let mut networks = Vec::new();
    for k in 0..n {
        let structure = graph(&card, k)?;
        let own = front(&mut w, structure.n_entries())?.to_vec();
        networks.push(Network::new(structure, own)?);
    }
    require_len("parameters without a network", 0, w.len())?;
    require_len("temperatures", 1, temperature.len())?;
    Ok((coders, networks, temperature[0]))
}

/// Takes the first `count` numbers off `rest`.
fn front<'a>(rest: &mut &'a [f64], count: usize) -> Result<&'a [f64]> {
    let (own, after) = rest.split_at_checked(count).ok_or_else(|| Error::model_file("numbers are absent"))?;
    *rest = after;
    Ok(own)
}
