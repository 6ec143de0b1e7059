//! What a page has to know of a model before it asks: columns, the network between them, rows to pick from.

use super::Explorer;
use crate::model::{Fitted, Model, Variable};
use crate::report::{NetworkDifference, NetworkPicture, NetworkReport, PictureArc, PictureNode};
use hingenet_base::error::Result;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::read::MISSING_TOKENS;
use hingenet_data::table::{Codes, Table, UnseenPolicy};
use hingenet_gaussian::GaussianClassifier;
use hingenet_gaussian::network::GaussianNetwork;
use serde::Serialize;
use serde_json::{Value, json};

/// The class or a feature.
#[derive(Debug, Serialize)]
struct ColumnFacts {
    name: String,
    /// Names of the states; none for a number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    states: Vec<String>,
    /// Where numbers are cut into these states.
    #[serde(skip_serializing_if = "Option::is_none")]
    cuts: Option<Vec<f64>>,
    /// Smallest and largest number of the training rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    /// What its table rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    support: Option<Support>,
}

/// What the table of a column rests on.
#[derive(Debug, Serialize)]
struct Support {
    /// Weight of the training rows behind the line of the table that has the fewest and behind the one that has most.
    fewest: f64,
    most: f64,
    /// Cells without a training row, and all cells.
    unseen: usize,
    cells: usize,
}

impl Explorer<'_> {
    /// Names, columns and what can be asked, as JSON.
    pub fn facts(&self) -> Result<Value> {
        let model = self.model;
        let variables = model.query_variables();
        let column = |(i, v): (usize, Variable)| ColumnFacts {
            cuts: i.checked_sub(1).and_then(|j| cuts(model, j)),
            range: model.facts.ranges.get(&v.name).copied().filter(|_| i > 0),
            support: support(model, i),
            name: v.name,
            states: v.states,
        };
        let columns: Vec<ColumnFacts> = variables.into_iter().enumerate().map(column).collect();
        Ok(json!({
            "model": model.spec.to_string(),
            "target": model.target,
            "columns": columns,
            "tells_columns": tells_columns(model),
            "margin": model.asked_margin(),
            "rows": model.facts.rows,
            "seed": model.facts.seed,
            "warnings": model.facts.warnings,
            "missing": MISSING_TOKENS,
        }))
    }

    /// The networks between class and features, one of each class where the classes differ; all have the same nodes, the
    /// class first. A model without a network has no arcs.
    pub fn pictures(&self) -> Result<Vec<NetworkPicture>> {
        let model = self.model;
        match &model.fitted {
            Fitted::Discrete(_) => Ok(vec![NetworkPicture::of_model(model)?]),
            Fitted::Density(_) => {
                let pairs = NetworkPicture::of_model(model)?;
                Ok(vec![self.picture(pairs.title, from_first(&pairs.arcs), pairs.strength, false)])
            }
            Fitted::Gaussian(fitted) => {
                let picture = |(network, class): (&GaussianNetwork, &String)| {
                    let unit = "largest weight on standardised values; orange is negative".to_string();
                    self.picture(format!("class {class}"), between_columns(fitted, network), Some(unit), true)
                };
                Ok(fitted.networks.iter().zip(&model.classes).map(picture).collect())
            }
            Fitted::Averaged(_) => {
                let arcs =
                    (1..=model.schema.features.len()).map(|to| PictureArc { from: 0, to, strength: 0.0 });
                Ok(vec![self.picture(model.spec.to_string(), arcs.collect(), None, true)])
            }
            Fitted::Pool(_) | Fitted::Majority(_) => {
                Ok(vec![self.picture(model.spec.to_string(), Vec::new(), None, true)])
            }
        }
    }

    /// Where the networks of the classes of a Gaussian model were found to differ: a picture for each comparison.
    pub fn differences(&self, networks: &NetworkReport) -> Vec<NetworkPicture> {
        let Fitted::Gaussian(fitted) = &self.model.fitted else { return Vec::new() };
        let column = |node: usize| fitted.features.nodes()[node].column;
        let picture = |d: &NetworkDifference| {
            let arcs = networks.reported(d).map(|w| PictureArc {
                from: column(w.tail),
                to: column(w.head),
                strength: w.weight_second - w.weight_first,
            });
            let title = format!("class {} minus class {}", d.second, d.first);
            let unit = "difference of weights on standardised values; orange is negative".to_string();
            self.picture(title, from_first(&strongest(arcs.collect())), Some(unit), true)
        };
        networks.comparisons.iter().filter(|d| d.chance.is_some()).map(picture).collect()
    }

    fn picture(
        &self,
        title: String,
        arcs: Vec<PictureArc>,
        strength: Option<String>,
        is_directed: bool,
    ) -> NetworkPicture {
        let node = |(i, name): (usize, &String)| PictureNode {
            name: name.clone(),
            is_class: i == 0,
            note: String::new(),
        };
        let names =
            std::iter::once(&self.model.target).chain(self.model.schema.features.iter().map(|f| &f.name));
        let nodes = names.enumerate().map(node).collect();
        let strength = strength.filter(|_| arcs.iter().any(|a| a.from > 0));
        NetworkPicture { title, nodes, arcs, strength, is_directed }
    }

    /// The first `most` rows of a table as the page picks them: for each column the code of its state, or its number, or
    /// null; the class first. `total` is the number of all rows.
    pub fn rows(&self, table: &Table, most: usize) -> Result<Value> {
        let model = self.model;
        let first: Vec<usize> = (0..table.n_rows().min(most)).collect();
        let part = table.rows(&first);
        let (rows, _) = model.schema.align(&part, UnseenPolicy::Missing)?;
        let truth = model.known_classes(&part);
        let truth: Vec<Value> = first.iter().map(|&m| truth.get(m).copied().flatten().into()).collect();
        let cells = |codes: &Codes| -> Vec<Value> { first.iter().map(|&m| codes.get(m).into()).collect() };
        let columns: Vec<Vec<Value>> = match model.coded(&rows)? {
            Some(coded) => coded.iter().map(cells).collect(),
            None => (rows.columns().iter())
                .map(|c| match (c.as_numeric(), c.as_categorical()) {
                    (Some(numbers), _) => numbers.iter().map(Value::from).collect(),
                    (_, Some(states)) => cells(states.codes()),
                    _ => vec![Value::Null; first.len()],
                })
                .collect(),
        };
        let columns: Vec<Vec<Value>> = std::iter::once(truth).chain(columns).collect();
        Ok(json!({ "columns": columns, "total": table.n_rows() }))
    }
}

/// Whether the model has beliefs about columns, not only about the class.
fn tells_columns(model: &Model) -> bool {
    match &model.fitted {
        Fitted::Discrete(_) | Fitted::Averaged(_) | Fitted::Density(_) => true,
        Fitted::Gaussian(fitted) => fitted.machine.is_none(),
        Fitted::Pool(_) | Fitted::Majority(_) => false,
    }
}

fn support(model: &Model, i: usize) -> Option<Support> {
    let Fitted::Discrete(fitted) = &model.fitted else { return None };
    let structure = fitted.network().structure();
    let cells = &fitted.support()?[structure.table(i)];
    let lines = cells.chunks_exact(structure.card()[i]).map(|line| line.iter().sum::<f64>());
    Some(Support {
        fewest: lines.clone().fold(f64::INFINITY, f64::min),
        most: lines.fold(0.0, f64::max),
        unseen: cells.iter().filter(|n| **n == 0.0).count(),
        cells: cells.len(),
    })
}

fn cuts(model: &Model, j: usize) -> Option<Vec<f64>> {
    match model.coders()?.get(j)? {
        FeatureCoder::Cuts { cuts } => Some(cuts.clone()),
        FeatureCoder::Categories { .. } => None,
    }
}

/// Arcs between features numbered from 0 as arcs between columns, where the class is 0.
fn from_first(arcs: &[PictureArc]) -> Vec<PictureArc> {
    arcs.iter().map(|a| PictureArc { from: a.from + 1, to: a.to + 1, strength: a.strength }).collect()
}

/// The arcs of a network between indicators as arcs between their columns: the strongest of each pair.
fn between_columns(model: &GaussianClassifier, network: &GaussianNetwork) -> Vec<PictureArc> {
    let column = |node: usize| model.features.nodes()[node].column;
    let arcs = (0..network.nodes()).flat_map(|to| {
        network.parents(to).map(move |(from, strength)| PictureArc {
            from: column(from),
            to: column(to),
            strength,
        })
    });
    from_first(&strongest(arcs.collect()))
}

/// The strongest arc between each two columns.
fn strongest(mut arcs: Vec<PictureArc>) -> Vec<PictureArc> {
    arcs.retain(|a| a.from != a.to);
    arcs.sort_by(|a, b| {
        (a.from, a.to).cmp(&(b.from, b.to)).then(b.strength.abs().total_cmp(&a.strength.abs()))
    });
    arcs.dedup_by_key(|a| (a.from, a.to));
    arcs
}
