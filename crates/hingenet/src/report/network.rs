//! Sparse Gaussian networks as plain data: the arcs of each class with how sure they are, how the classes differ, arcs
//! between groups of nodes, and errors against a known graph. The JSON is what `hingenet network` writes.

use super::Origin;
use crate::model::NodeFacts;
use crate::model::exchange::quote;
use crate::model::{Fitted, Model};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::graph::{ArcErrors, Dag, Pdag, arc_errors};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::encode::is_moderate;
use hingenet_data::table::{Column, Table, UnseenPolicy};
use hingenet_gaussian::network::GaussianNetwork;
use hingenet_gaussian::structure::{ArcRule, Constraints};
use hingenet_gaussian::study::{
    ArcConfidence, ArcDifference, Chance, Change, ClassStudy, ContrastParams, Contrasts, GroupTable,
    NetworkStudy, degrees, difference_network, group_table, judge_classes,
};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Coverage of the intervals of differences.
const LEVEL: f64 = 0.95;
/// Networks of this many classes of a model are told.
const CLASSES: usize = 8;
/// Arcs of a model with smaller weights are not told.
const CUTOFF: f64 = 0.01;
/// Name of the node that is 1 in every row.
const CONSTANT: &str = "(constant)";

/// Networks over the same nodes, and how they differ.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NetworkReport {
    /// Where the rows came from.
    pub source: String,
    /// Column whose classes have networks of their own.
    pub target: Option<String>,
    /// How the graphs were learnt, in words.
    pub method: String,
    /// An arc is listed when its weight exceeds this.
    pub cutoff: f64,
    /// The nodes.
    pub nodes: Vec<NetworkNode>,
    /// Names of the groups of nodes, in the order of the blocks.
    pub groups: Vec<String>,
    /// One network a class.
    pub networks: Vec<ClassNetwork>,
    /// Weights in which another class differs from the first, the clearest first, with error control.
    pub differences: Vec<WeightDifference>,
    /// Number of them that chance gives: the mean with shuffled classes; `None` where classes were not compared so.
    pub expected_false: Option<f64>,
    /// The networks of the other classes, learnt apart, against that of the first.
    pub comparisons: Vec<NetworkDifference>,
    /// Parameters that discriminative learning moved, those that moved most first; empty where there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedWeight>,
    /// How they came about.
    #[serde(flatten)]
    pub origin: Origin,
}

/// A node and what the user knows about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkNode {
    /// Name.
    pub name: String,
    /// Group by position; `None` without groups.
    pub group: Option<usize>,
    /// Tier, where given.
    pub tier: Option<usize>,
    /// Coordinates, where given: x to the right, y upwards.
    pub place: Option<(f64, f64)>,
}

/// The network of one class.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClassNetwork {
    /// Name of the class; `None` for the only network.
    pub class: Option<String>,
    /// Number of rows behind it, where known.
    pub rows: Option<usize>,
    /// The arcs, by tail, then head.
    pub arcs: Vec<NetworkArc>,
    /// Number of parents and of children of each node.
    pub degrees: Vec<(usize, usize)>,
    /// Arcs between the groups.
    pub blocks: Option<GroupTable>,
    /// Constant of each node's regression, on standardised values.
    pub bias: Vec<f64>,
    /// Variance of each node given its parents, on standardised values.
    pub variance: Vec<f64>,
    /// BIC of the order search.
    pub score: Option<f64>,
    /// λ1 of the other methods.
    pub lambda1: Option<f64>,
    /// Log-likelihood of the rows on standardised values.
    pub log_likelihood: Option<f64>,
    /// Whether the solver converged.
    pub converged: Option<bool>,
    /// Threshold on the share of resampled data sets, arcs at or above it, bound on the expected number of wrong ones.
    pub thresholds: Vec<(f64, usize, f64)>,
    /// Errors against the known graph.
    pub errors: Option<ArcErrors>,
}

/// An arc.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkArc {
    /// Parent by name.
    pub from: String,
    /// Child by name.
    pub to: String,
    /// Parent by position.
    pub tail: usize,
    /// Child by position.
    pub head: usize,
    /// Weight on standardised values.
    pub weight: f64,
    /// Whether every graph that fits equally well and keeps to what is known has this direction.
    pub is_compelled: bool,
    /// How sure the arc is, with resampling.
    pub confidence: Option<ArcShare>,
}

/// Shares of resampled data sets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ArcShare {
    /// With this arc.
    pub arc: f64,
    /// With an arc in either direction.
    pub adjacency: f64,
    /// With this direction, among those with an arc in either direction.
    pub direction: Option<f64>,
}

/// A weight of the common graph of two classes that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeightDifference {
    /// The class compared with.
    pub first: String,
    /// The class that differs from it.
    pub second: String,
    /// Parent by name.
    pub from: String,
    /// Child by name.
    pub to: String,
    /// Parent by position.
    pub tail: usize,
    /// Child by position.
    pub head: usize,
    /// Weight in the first class, on standardised values.
    pub weight_first: f64,
    /// Weight in the second class.
    pub weight_second: f64,
    /// Second minus first, in standard errors.
    pub z: f64,
    /// Share of half samples that show the same.
    pub support: f64,
}

/// A parameter of a class network before and after discriminative learning, on standardised values (Zhou et al. 2015, Fig. 5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MovedWeight {
    /// The class.
    pub class: String,
    /// Parent by name; none for the constant of the node (its bias).
    pub from: Option<String>,
    /// Child by name.
    pub to: String,
    /// Parent by position; none for a constant.
    pub tail: Option<usize>,
    /// Child by position.
    pub head: usize,
    /// Value of the generative network.
    pub before: f64,
    /// Value of the model.
    pub after: f64,
}

impl MovedWeight {
    /// By how much it moved.
    pub fn change(&self) -> f64 {
        self.after - self.before
    }
}

/// How the network of one class differs from that of another when they are learnt apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkDifference {
    /// The class compared with.
    pub first: String,
    /// The class that differs from it.
    pub second: String,
    /// Arcs of either class.
    pub arcs: Vec<ArcChange>,
    /// What shuffled classes give, where that was asked.
    pub chance: Option<Chance>,
}

/// An arc in two classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArcChange {
    /// Parent by name, in the first class that has the arc.
    pub from: String,
    /// Child by name.
    pub to: String,
    /// The same by position, and what changes.
    #[serde(flatten)]
    pub arc: ArcDifference,
    /// Whether the direction of the arc is the same in all equally good graphs of both classes: a reversal says
    /// something only then.
    pub is_identified: bool,
}

impl NetworkDifference {
    /// Number of arcs with this kind of change.
    pub fn count(&self, change: Change) -> usize {
        self.arcs.iter().filter(|a| a.arc.change == change).count()
    }
}

/// One class as the report is built from it.
struct Source<'a> {
    name: Option<String>,
    network: &'a GaussianNetwork,
    theta: Matrix,
    class: Pdag,
    known: Option<&'a Constraints>,
    confidence: Option<&'a ArcConfidence>,
}

impl<'a> Source<'a> {
    fn of_class(c: &'a ClassStudy, known: &'a Constraints, cutoff: f64) -> Result<Self> {
        Ok(Source {
            name: c.class.clone(),
            network: &c.network,
            theta: c.structure.theta.clone(),
            class: c.structure.class_above(cutoff)?,
            known: Some(known),
            confidence: c.confidence.as_ref(),
        })
    }

    /// Whether the edge could as well run the other way: neither the fit nor what is known says no.
    fn is_open(&self, tail: usize, head: usize) -> bool {
        let forbidden = |i: usize, j: usize| self.known.is_some_and(|k| k.rule(i, j) == ArcRule::Forbidden);
        self.class.is_undirected(tail, head) && !forbidden(head, tail) && !forbidden(tail, head)
    }
}

impl NetworkReport {
    /// The networks of a study. `facts` are what the user knows about the nodes, `truth` the graph to compare with.
    pub fn of_study(
        study: &NetworkStudy,
        cutoff: f64,
        facts: &[NodeFacts],
        truth: Option<&Dag>,
    ) -> Result<Self> {
        let sources = study.classes.iter().map(|c| Source::of_class(c, &study.constraints, cutoff));
        let sources = sources.collect::<Result<Vec<_>>>()?;
        let mut report = NetworkReport::of_sources(study.features.node_names(), facts, &sources, cutoff)?;
        for (network, c) in report.networks.iter_mut().zip(&study.classes) {
            network.rows = Some(c.rows);
            network.score = c.score();
            network.lambda1 = c.lambda1;
            network.log_likelihood = Some(c.log_likelihood);
            network.converged = Some(c.structure.report.converged);
            if let Some(truth) = truth {
                let found = (c.structure.dag(cutoff)?, c.structure.class_above(cutoff)?);
                network.errors = Some(arc_errors(truth, &found.0, &found.1)?);
            }
        }
        report.add(&study.contrasts);
        Ok(report)
    }

    /// Judges on rows with their classes how the classes of a Gaussian model differ: which weights, and with which support.
    /// Rows that cannot tell, without the target or with a column that is missing throughout, leave the report as it is.
    pub fn judge(
        &mut self,
        model: &Model,
        table: &Table,
        params: ContrastParams,
        control: &Control,
    ) -> Result<()> {
        let Fitted::Gaussian(fitted) = &model.fitted else { return Ok(()) };
        let class = model.known_classes(table);
        if class.iter().all(Option::is_none) {
            return Ok(());
        }
        let (rows, _) = model.schema.align(table, UnseenPolicy::Missing)?;
        let is_blank = |c: &&Column| (0..rows.n_rows()).all(|m| c.is_missing(m));
        if let Some(column) = rows.columns().iter().find(is_blank) {
            control
                .warn(&format!("the classes are not compared: `{}` is missing in all rows", column.name()));
            return Ok(());
        }
        let networks = &fitted.networks[..self.networks.len().min(fitted.networks.len())];
        let seed = model.facts.seed;
        self.add(&judge_classes((&fitted.features, networks), &rows, &class, seed, params, control)?);
        Ok(())
    }

    /// Adds what was found to differ between classes.
    fn add(&mut self, found: &[Contrasts]) {
        for contrasts in found {
            let comparison = &mut self.comparisons[contrasts.class - 1];
            comparison.chance = Some(contrasts.chance);
            let differences = contrasts.reported.iter().map(|(c, support)| WeightDifference {
                first: comparison.first.clone(),
                second: comparison.second.clone(),
                from: self.nodes[c.tail].name.clone(),
                to: self.nodes[c.head].name.clone(),
                tail: c.tail,
                head: c.head,
                weight_first: c.first,
                weight_second: c.second,
                z: c.z,
                support: *support,
            });
            self.differences.extend(differences);
            *self.expected_false.get_or_insert(0.0) += contrasts.chance.expected_false;
        }
    }

    /// The differences that one comparison reports.
    pub fn reported<'a>(
        &'a self,
        of: &'a NetworkDifference,
    ) -> impl Iterator<Item = &'a WeightDifference> + 'a {
        self.differences.iter().filter(|d| (&d.first, &d.second) == (&of.first, &of.second))
    }

    /// A comparison with the differences that it reports in place of the arcs of networks learnt apart.
    pub fn as_drawn(&self, of: &NetworkDifference) -> NetworkDifference {
        let arc = |d: &WeightDifference| ArcChange {
            from: d.from.clone(),
            to: d.to.clone(),
            arc: ArcDifference {
                tail: d.tail,
                head: d.head,
                change: Change::Changed,
                first: d.weight_first,
                second: d.weight_second,
                interval: None,
            },
            is_identified: true,
        };
        NetworkDifference { arcs: self.reported(of).map(arc).collect(), ..of.clone() }
    }

    /// The report with a node more, behind all others: the constant 1, a parent of every node whose bias moved (the bias node of
    /// Fig. 5). It stands below the places of the others; as it is where no bias moved.
    pub fn with_constant(&self) -> Self {
        let mut report = self.clone();
        if self.moved.iter().all(|w| w.tail.is_some()) {
            return report;
        }
        let places: Option<Vec<(f64, f64)>> = self.nodes.iter().map(|node| node.place).collect();
        report.nodes.push(NetworkNode {
            name: CONSTANT.into(),
            group: None,
            tier: None,
            place: places.and_then(|places| below(&places)),
        });
        report
    }

    /// The parameters of a class that discriminative learning moved, as arcs that changed; biases come from the node that
    /// [`Self::with_constant`] adds.
    pub fn moved_arcs(&self, class: &str) -> NetworkDifference {
        let arc = |w: &MovedWeight| ArcChange {
            from: w.from.clone().unwrap_or_else(|| CONSTANT.into()),
            to: w.to.clone(),
            arc: ArcDifference {
                tail: w.tail.unwrap_or(self.nodes.len()),
                head: w.head,
                change: Change::Changed,
                first: w.before,
                second: w.after,
                interval: None,
            },
            is_identified: true,
        };
        let arcs = self.moved.iter().filter(|w| w.class == class).map(arc).collect();
        let (first, second) = (format!("{class} before"), format!("{class} after"));
        NetworkDifference { first, second, arcs, chance: None }
    }

    /// The networks of the classes (the first eight) of a Gaussian model; `None` for other models.
    pub fn of_model(model: &Model) -> Result<Option<Self>> {
        let Fitted::Gaussian(fitted) = &model.fitted else { return Ok(None) };
        let pairs = fitted.networks.iter().zip(&model.classes).take(CLASSES);
        let sources: Vec<Source<'_>> = pairs
            .map(|(network, name)| Source {
                name: Some(name.clone()),
                network,
                theta: network.theta(),
                class: Pdag::of(network.dag()),
                known: None,
                confidence: None,
            })
            .collect();
        let names = fitted.features.node_names();
        let moved =
            fitted.start.iter().flatten().zip(&sources).flat_map(|(start, s)| moved(start, s, &names));
        let mut moved: Vec<MovedWeight> = moved.collect();
        moved.sort_by(|a, b| b.change().abs().total_cmp(&a.change().abs()));
        let report = NetworkReport::of_sources(names, &[], &sources, CUTOFF)?;
        Ok(Some(NetworkReport { moved, ..report }))
    }

    /// Reads what `network -o NET.json` wrote, or the networks of a model as its page has them; arcs must join nodes that are there.
    pub fn from_json(text: &str) -> Result<Self> {
        let bad = |problem: String| Error::data(problem, "give what `hingenet network -o NET.json` writes");
        let report: Self =
            serde_json::from_str(text).map_err(|e| bad(format!("these are no networks: {e}")))?;
        let n = report.nodes.len();
        let drawn = report.networks.iter().flat_map(|network| &network.arcs).map(|a| (a.tail, a.head));
        let compared = report.comparisons.iter().flat_map(|d| &d.arcs).map(|a| (a.arc.tail, a.arc.head));
        let differing = report.differences.iter().map(|d| (d.tail, d.head));
        let moved = report.moved.iter().map(|w| (w.tail.unwrap_or(w.head), w.head));
        let mut arcs = drawn.chain(compared).chain(differing).chain(moved);
        if let Some((tail, head)) = arcs.find(|&(tail, head)| tail.max(head) >= n) {
            return Err(bad(format!("an arc goes from node {tail} to node {head}, but there are {n}")));
        }
        let weights = report.networks.iter().flat_map(|network| &network.arcs).map(|a| a.weight);
        let both = report.comparisons.iter().flat_map(|d| &d.arcs).flat_map(|a| [a.arc.first, a.arc.second]);
        let changed = report.moved.iter().flat_map(|w| [w.before, w.after]);
        let places = report.nodes.iter().filter_map(|node| node.place).flat_map(|(x, y)| [x, y]);
        if let Some(x) = weights.chain(both).chain(changed).chain(places).find(|x| !is_moderate(*x)) {
            return Err(bad(format!("{x:e} is too large for a weight or a place")));
        }
        match report.nodes.iter().filter_map(|node| node.group).max() {
            Some(group) if group >= report.groups.len() => {
                Err(bad(format!("a node is of group {group}, but there are {}", report.groups.len())))
            }
            _ => Ok(report),
        }
    }

    /// The networks in DOT, the language of Graphviz, one cluster a class: negative weights are dashed, arcs whose direction is
    /// open have an empty head, the width grows with the weight.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph hingenet {\n  node [shape=ellipse, fontname=\"sans-serif\"];\n");
        let arcs = self.networks.iter().flat_map(|n| &n.arcs);
        let largest = arcs.map(|a| a.weight.abs()).fold(f64::MIN_POSITIVE, f64::max);
        for (g, network) in self.networks.iter().enumerate() {
            let label = network.class.as_ref().map(|c| format!("class {c}")).unwrap_or_default();
            // Writing to a string cannot fail; the results are dropped on purpose.
            let _ = writeln!(out, "  subgraph cluster_{g} {{\n    label=\"{}\";", quote(&label));
            for (i, node) in self.nodes.iter().enumerate() {
                let _ = writeln!(out, "    g{g}n{i} [label=\"{}\"];", quote(&node.name));
            }
            for NetworkArc { tail, head, weight, is_compelled, .. } in &network.arcs {
                let style =
                    if *weight < 0.0 { ", style=dashed, color=\"#d55e00\"" } else { ", color=\"#0072b2\"" };
                let open = if *is_compelled { "" } else { ", arrowhead=empty" };
                let share = weight.abs() / largest;
                let _ = writeln!(
                    out,
                    "    g{g}n{tail} -> g{g}n{head} [weight={:.0}, penwidth={:.2}, tooltip=\"{weight:.4}\"{style}{open}];",
                    1.0 + 9.0 * share,
                    0.6 + 3.0 * share
                );
            }
            out.push_str("  }\n");
        }
        out + "}\n"
    }

    fn of_sources(
        names: Vec<String>,
        facts: &[NodeFacts],
        sources: &[Source<'_>],
        cutoff: f64,
    ) -> Result<Self> {
        let groups = group_names(facts);
        let node = |(k, name): (usize, &String)| {
            let fact = facts.get(k).cloned().unwrap_or_default();
            NetworkNode {
                name: name.clone(),
                group: group_of(&fact, &groups),
                tier: fact.tier,
                place: fact.place,
            }
        };
        let nodes: Vec<NetworkNode> = names.iter().enumerate().map(node).collect();
        let networks = sources.iter().map(|s| network(s, &nodes, groups.len(), cutoff));
        let networks = networks.collect::<Result<Vec<_>>>()?;
        let mut comparisons = Vec::new();
        if let Some((first, others)) = sources.split_first() {
            for other in others {
                comparisons.push(difference(first, other, &names, cutoff)?);
            }
        }
        Ok(NetworkReport { cutoff, nodes, groups, networks, comparisons, ..NetworkReport::default() })
    }
}

/// Groups in the order in which the nodes name them; nodes without one follow as `(other)` when some have one.
fn group_names(facts: &[NodeFacts]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for group in facts.iter().filter_map(|f| f.group.as_ref()) {
        if !names.contains(group) {
            names.push(group.clone());
        }
    }
    if !names.is_empty() && facts.iter().any(|f| f.group.is_none()) {
        names.push("(other)".into());
    }
    names
}

fn group_of(fact: &NodeFacts, groups: &[String]) -> Option<usize> {
    match &fact.group {
        Some(group) => groups.iter().position(|g| g == group),
        None => groups.len().checked_sub(1),
    }
}

fn network(source: &Source<'_>, nodes: &[NetworkNode], groups: usize, cutoff: f64) -> Result<ClassNetwork> {
    let theta = &source.theta;
    let mut arcs = Vec::new();
    for tail in 0..nodes.len() {
        for head in (0..nodes.len()).filter(|&head| theta[(tail, head)].abs() > cutoff) {
            let share = |c: &ArcConfidence| ArcShare {
                arc: c.arc[(tail, head)],
                adjacency: c.adjacency(tail, head),
                direction: c.direction(tail, head),
            };
            arcs.push(NetworkArc {
                from: nodes[tail].name.clone(),
                to: nodes[head].name.clone(),
                tail,
                head,
                weight: theta[(tail, head)],
                is_compelled: !source.is_open(tail, head),
                confidence: source.confidence.map(share),
            });
        }
    }
    let group: Option<Vec<usize>> = nodes.iter().map(|n| n.group).collect();
    let blocks = match group {
        Some(group) if groups > 0 => Some(group_table(theta, &group, groups, cutoff)?),
        _ => None,
    };
    Ok(ClassNetwork {
        class: source.name.clone(),
        arcs,
        degrees: degrees(theta, cutoff),
        blocks,
        bias: source.network.bias().to_vec(),
        variance: source.network.variance().to_vec(),
        thresholds: source.confidence.map(ArcConfidence::threshold_curve).unwrap_or_default(),
        ..ClassNetwork::default()
    })
}

/// A place in the middle below all others.
fn below(places: &[(f64, f64)]) -> Option<(f64, f64)> {
    let ends = |of: fn(&(f64, f64)) -> f64| {
        places
            .iter()
            .map(of)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let ((left, right), (low, high)) = (ends(|p| p.0), ends(|p| p.1));
    (!places.is_empty()).then_some(((left + right) / 2.0, low - 0.15 * (high - low).max(right - left)))
}

/// What differs between a class network and the one that it was before.
fn moved(start: &GaussianNetwork, source: &Source<'_>, names: &[String]) -> Vec<MovedWeight> {
    let (theta, m) = (start.theta(), names.len());
    let weights =
        (0..m * m).map(|e| (e / m, e % m)).map(|(i, j)| (Some(i), j, theta[(i, j)], source.theta[(i, j)]));
    let constants = (0..m).map(|j| (None, j, start.bias()[j], source.network.bias()[j]));
    let one = |(tail, head, before, after): (Option<usize>, usize, f64, f64)| MovedWeight {
        class: source.name.clone().unwrap_or_default(),
        from: tail.map(|i| names[i].clone()),
        to: names[head].clone(),
        tail,
        head,
        before,
        after,
    };
    weights.chain(constants).filter(|(_, _, before, after)| before != after).map(one).collect()
}

fn difference(
    first: &Source<'_>,
    second: &Source<'_>,
    names: &[String],
    cutoff: f64,
) -> Result<NetworkDifference> {
    let runs = first.confidence.zip(second.confidence);
    let arcs = difference_network(&first.theta, &second.theta, cutoff, runs, LEVEL)?;
    let arc = |arc: ArcDifference| ArcChange {
        from: names[arc.tail].clone(),
        to: names[arc.head].clone(),
        is_identified: !first.is_open(arc.tail, arc.head) && !second.is_open(arc.tail, arc.head),
        arc,
    };
    let name = |s: &Source<'_>| s.name.clone().unwrap_or_default();
    Ok(NetworkDifference {
        first: name(first),
        second: name(second),
        arcs: arcs.into_iter().map(arc).collect(),
        chance: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighted_graphs_show_sign_and_open_direction() {
        let arc = |(tail, head, weight, is_compelled)| NetworkArc {
            from: String::new(),
            to: String::new(),
            tail,
            head,
            weight,
            is_compelled,
            confidence: None,
        };
        let network = ClassNetwork {
            class: Some("\"a\"".into()),
            arcs: [(0, 1, -0.5, true), (1, 2, 1.0, false)].map(arc).to_vec(),
            ..ClassNetwork::default()
        };
        let node = |name: &str| NetworkNode { name: name.into(), group: None, tier: None, place: None };
        let report = NetworkReport {
            nodes: ["x", "y", "z"].map(node).to_vec(),
            networks: vec![network.clone(), network],
            ..NetworkReport::default()
        };
        let text = report.to_dot();
        assert!(
            text.contains("label=\"class \\\"a\\\"\"") && text.matches("style=dashed").count() == 2,
            "{text}"
        );
        assert!(text.matches("arrowhead=empty").count() == 2 && text.contains("g1n1 -> g1n2"), "{text}");
    }
}
