//! What users know about the nodes and arcs of a network, from small files: arcs (`from,to`), forbidden and required arcs
//! (`from,to,rule`), and groups, tiers and coordinates of nodes (`node,group,tier,x,y,z`). Errors name file, line, column.

use hingenet_base::error::{Error, Result};
use hingenet_base::graph::{Dag, with_names};
use hingenet_data::table::{Record, Records, read_records};
use hingenet_gaussian::structure::Constraints;
use std::collections::HashMap;
use std::path::Path;

/// Arcs as pairs of node numbers.
type Arcs = Vec<(usize, usize)>;

/// What is known about one node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeFacts {
    /// Group, for example a brain region or a panel of laboratory values.
    pub group: Option<String>,
    /// No arc runs from a higher to a lower tier.
    pub tier: Option<usize>,
    /// Where to draw the node: x to the right, y upwards.
    pub place: Option<(f64, f64)>,
    /// The third coordinate, for views from other sides.
    pub height: Option<f64>,
}

/// What is known about a network before it is learnt, and the graph to compare it with.
#[derive(Debug, Clone)]
pub struct Knowledge {
    /// Facts about each node.
    pub facts: Vec<NodeFacts>,
    /// What rules and tiers say about the arcs.
    pub constraints: Constraints,
    /// The true graph, where given.
    pub truth: Option<Dag>,
}

impl Knowledge {
    /// Reads what is known about the named nodes: facts from a file with the columns `node` and any of `group,tier,x,y,z`
    /// (nodes that it leaves out have none), rules from one with `from,to,rule`, the true arcs from one with `from,to`.
    pub fn read(
        names: &[String],
        nodes: Option<&Path>,
        rules: Option<&Path>,
        truth: Option<&Path>,
    ) -> Result<Self> {
        let facts = nodes.map(|path| read_nodes(path, names)).transpose()?;
        let facts = facts.unwrap_or_else(|| vec![NodeFacts::default(); names.len()]);
        let rules = rules.map(|path| read_rules(path, names)).transpose()?.unwrap_or_default();
        let constraints = constraints(names, &rules, &facts)?;
        let truth = truth.map(|path| read_graph(path, names)).transpose()?;
        Ok(Knowledge { facts, constraints, truth })
    }
}

/// The arcs of a file with the columns `from,to` over the named nodes, each once.
pub(super) fn read_arcs(path: &Path, names: &[String]) -> Result<Arcs> {
    // Weights, as `generate --truth` writes them, are not needed here.
    let records = read_records(path, &["from", "to"], &["weight_first", "weight_second"])?;
    let positions = positions(names);
    let mut arcs = Arcs::new();
    for record in records.iter() {
        let arc = ends(&records, record, &positions)?;
        if arcs.contains(&arc) {
            return Err(records.error(record, "to", "has this arc already", "list every arc once"));
        }
        arcs.push(arc);
    }
    Ok(arcs)
}

fn read_graph(path: &Path, names: &[String]) -> Result<Dag> {
    let mut parents = vec![Vec::new(); names.len()];
    read_arcs(path, names)?.into_iter().for_each(|(from, to)| parents[to].push(from));
    Dag::new(parents).map_err(|e| with_names(e, names))
}

/// Forbidden and required arcs.
fn read_rules(path: &Path, names: &[String]) -> Result<(Arcs, Arcs)> {
    let records = read_records(path, &["from", "to", "rule"], &[])?;
    let positions = positions(names);
    let (mut forbidden, mut required) = (Arcs::new(), Arcs::new());
    for record in records.iter() {
        let arc = ends(&records, record, &positions)?;
        let refuse = |problem, hint| Err(records.error(record, "rule", problem, hint));
        let (own, other) = match records.required(record, "rule")? {
            "forbidden" => (&mut forbidden, &required),
            "required" => (&mut required, &forbidden),
            _ => return refuse("is no rule for an arc", "write `forbidden` or `required`"),
        };
        if other.contains(&arc) {
            return refuse("contradicts an earlier line", "keep one of the two");
        }
        own.push(arc);
    }
    Ok((forbidden, required))
}

fn read_nodes(path: &Path, names: &[String]) -> Result<Vec<NodeFacts>> {
    let records = read_records(path, &["node"], &["group", "tier", "x", "y", "z"])?;
    let positions = positions(names);
    let mut facts = vec![None; names.len()];
    for record in records.iter() {
        let node = position(&records, record, "node", &positions)?;
        if facts[node].is_some() {
            return Err(records.error(record, "node", "is there twice", "give every node one line"));
        }
        facts[node] = Some(NodeFacts {
            group: records.text(record, "group").map(str::to_string),
            tier: tier(&records, record)?,
            place: place(&records, record)?,
            height: records.number(record, "z")?,
        });
    }
    Ok(facts.into_iter().map(Option::unwrap_or_default).collect())
}

/// The constraints of rules and tiers together. Tiers must be given for all nodes or for none.
fn constraints(
    names: &[String],
    (forbidden, required): &(Arcs, Arcs),
    facts: &[NodeFacts],
) -> Result<Constraints> {
    let tiers: Vec<usize> = facts.iter().filter_map(|f| f.tier).collect();
    if !tiers.is_empty() && tiers.len() < names.len() {
        let node = facts.iter().position(|f| f.tier.is_none()).unwrap_or(0);
        return Err(Error::column(
            &names[node],
            "has no tier, but other nodes have one",
            "give every node a tier, or none",
        ));
    }
    let tiers = (!tiers.is_empty()).then_some(tiers);
    if let Some(t) = &tiers
        && let Some(&(i, j)) = required.iter().find(|(i, j)| t[*i] > t[*j])
    {
        return Err(Error::Graph {
            node: names[j].clone(),
            problem: format!("the required arc from `{}` runs from a higher to a lower tier", names[i]),
        });
    }
    if tiers.is_none() && forbidden.is_empty() && required.is_empty() {
        return Ok(Constraints::none(names.len()));
    }
    Constraints::new(names.len(), forbidden, required, tiers.as_deref()).map_err(|e| with_names(e, names))
}

fn positions(names: &[String]) -> HashMap<&str, usize> {
    names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect()
}

fn position(
    records: &Records,
    record: &Record,
    column: &str,
    positions: &HashMap<&str, usize>,
) -> Result<usize> {
    let name = records.required(record, column)?;
    positions.get(name).copied().ok_or_else(|| {
        let mut known: Vec<&str> = positions.keys().copied().collect();
        known.sort_unstable();
        let more = if known.len() > 12 { ", ..." } else { "" };
        known.truncate(12);
        records.error(record, column, "is no node", format!("nodes are {}{more}", known.join(", ")))
    })
}

fn ends(records: &Records, record: &Record, positions: &HashMap<&str, usize>) -> Result<(usize, usize)> {
    let from = position(records, record, "from", positions)?;
    let to = position(records, record, "to", positions)?;
    if from == to {
        return Err(records.error(record, "to", "is where the arc starts", "an arc joins two nodes"));
    }
    Ok((from, to))
}

fn tier(records: &Records, record: &Record) -> Result<Option<usize>> {
    match records.number(record, "tier")? {
        None => Ok(None),
        Some(t) if t >= 0.0 && t.fract() == 0.0 && t < 1e9 => Ok(Some(t as usize)),
        Some(_) => {
            Err(records.error(record, "tier", "is no tier", "tiers are whole numbers from 0, causes first"))
        }
    }
}

fn place(records: &Records, record: &Record) -> Result<Option<(f64, f64)>> {
    let half = |empty, given| {
        records.error(record, empty, format!("is empty, but {given} is given"), "give both or none")
    };
    match (records.number(record, "x")?, records.number(record, "y")?) {
        (Some(x), Some(y)) => Ok(Some((x, y))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(half("y", "x")),
        (None, Some(_)) => Err(half("x", "y")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_given_for_all_nodes_and_agree_with_required_arcs() {
        let names: Vec<String> = ["a", "b"].map(String::from).to_vec();
        let tier = |t: Option<usize>| NodeFacts { tier: t, ..NodeFacts::default() };
        assert!(constraints(&names, &Default::default(), &[tier(Some(0)), tier(None)]).is_err());
        let against = (Vec::new(), vec![(0, 1)]);
        let message = constraints(&names, &against, &[tier(Some(1)), tier(Some(0))]).unwrap_err().to_string();
        assert!(message.contains("`a`") && message.contains("lower tier"), "{message}");
        assert!(Knowledge::read(&names, Some(Path::new("no such file")), None, None).is_err());
    }
}
