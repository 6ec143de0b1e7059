//! What is known about the arcs before learning: forbidden arcs, required arcs, tiers.

use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::Dag;
use std::collections::BTreeSet;

/// What is known about one ordered pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArcRule {
    /// The data decide.
    Free,
    /// The arc never appears (infinite weight).
    Forbidden,
    /// The arc is always there (weight zero, order respected).
    Required,
}

/// Knowledge about arcs. [`Constraints::none`] leaves everything to the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraints {
    nodes: usize,
    /// Row by row, `i m + j` for i -> j; empty when nothing is known.
    rules: Vec<ArcRule>,
    required: Vec<(usize, usize)>,
    tiers: Option<Vec<usize>>,
}

impl Constraints {
    /// Nothing is known.
    pub fn none(nodes: usize) -> Self {
        Constraints { nodes, rules: Vec::new(), required: Vec::new(), tiers: None }
    }

    /// Forbidden arcs, required arcs (both `(from, to)`), and optionally the tier of each node: no arc runs
    /// from a higher to a lower tier. Required arcs must be acyclic and agree with the rest; the reverse
    /// of a required arc is forbidden.
    pub fn new(
        nodes: usize,
        forbidden: &[(usize, usize)],
        required: &[(usize, usize)],
        tiers: Option<&[usize]>,
    ) -> Result<Self> {
        let mut rules = vec![ArcRule::Free; nodes * nodes];
        if let Some(tiers) = tiers {
            require_len("tiers", nodes, tiers.len())?;
            let against = (0..nodes * nodes).filter(|e| tiers[e / nodes] > tiers[e % nodes]);
            against.for_each(|e| rules[e] = ArcRule::Forbidden);
        }
        for &(i, j) in forbidden {
            check_pair(nodes, i, j)?;
            rules[i * nodes + j] = ArcRule::Forbidden;
        }
        let mut parents = vec![Vec::new(); nodes];
        let required: BTreeSet<(usize, usize)> = required.iter().copied().collect();
        for &(i, j) in &required {
            check_pair(nodes, i, j)?;
            if rules[i * nodes + j] == ArcRule::Forbidden {
                return Err(Error::Graph {
                    node: j.to_string(),
                    problem: format!(
                        "the arc {i} -> {j} is both required and forbidden (or against the tiers)"
                    ),
                });
            }
            parents[j].push(i);
        }
        Dag::new(parents)?;
        for &(i, j) in &required {
            rules[i * nodes + j] = ArcRule::Required;
            rules[j * nodes + i] = ArcRule::Forbidden;
        }
        let required = required.into_iter().collect();
        Ok(Constraints { nodes, rules, required, tiers: tiers.map(<[usize]>::to_vec) })
    }

    /// The same knowledge, and no arc between two nodes that say the same thing, `are_one`, unless it is required.
    pub fn apart(&self, are_one: impl Fn(usize, usize) -> bool) -> Self {
        let m = self.nodes;
        let inside: Vec<usize> = (0..m * m).filter(|e| e / m != e % m && are_one(e / m, e % m)).collect();
        let mut known = self.clone();
        if !inside.is_empty() {
            known.rules.resize(m * m, ArcRule::Free);
        }
        for e in inside {
            if known.rules[e] == ArcRule::Free {
                known.rules[e] = ArcRule::Forbidden;
            }
        }
        known
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// What is known about the arc `from -> to`.
    #[inline]
    pub fn rule(&self, from: usize, to: usize) -> ArcRule {
        if self.rules.is_empty() { ArcRule::Free } else { self.rules[from * self.nodes + to] }
    }

    /// What is known about an edge between two nodes: required if an arc either way is, forbidden if both are.
    pub fn edge_rule(&self, i: usize, j: usize) -> ArcRule {
        match (self.rule(i, j), self.rule(j, i)) {
            (ArcRule::Required, _) | (_, ArcRule::Required) => ArcRule::Required,
            (ArcRule::Forbidden, ArcRule::Forbidden) => ArcRule::Forbidden,
            _ => ArcRule::Free,
        }
    }

    /// The required arcs, sorted.
    pub fn required(&self) -> &[(usize, usize)] {
        &self.required
    }

    /// Tier of a node; 0 where none is given.
    pub fn tier(&self, node: usize) -> usize {
        self.tiers.as_ref().map_or(0, |t| t[node])
    }

    /// Penalty of an arc in the regressions: λ1, +∞ for a forbidden arc, 0 for a required one.
    pub fn penalty(&self, lambda1: f64, from: usize, to: usize) -> f64 {
        match self.rule(from, to) {
            ArcRule::Free => lambda1,
            ArcRule::Forbidden => f64::INFINITY,
            ArcRule::Required => 0.0,
        }
    }

    /// Whether nothing is known.
    pub fn is_none(&self) -> bool {
        self.rules.is_empty()
    }

    /// The same knowledge with node `order[k]` renamed to `k`.
    pub fn reordered(&self, order: &[usize]) -> Self {
        if self.is_none() {
            return self.clone();
        }
        let m = self.nodes;
        let mut place = vec![0; m];
        order.iter().enumerate().for_each(|(k, &v)| place[v] = k);
        let rules = (0..m * m).map(|e| self.rules[order[e / m] * m + order[e % m]]).collect();
        let mut required: Vec<_> = self.required.iter().map(|&(i, j)| (place[i], place[j])).collect();
        required.sort_unstable();
        let tiers = self.tiers.as_ref().map(|t| order.iter().map(|&v| t[v]).collect());
        Constraints { nodes: m, rules, required, tiers }
    }
}

fn check_pair(nodes: usize, i: usize, j: usize) -> Result<()> {
    if i >= nodes || j >= nodes {
        let problem = format!("the arc {i} -> {j} names a node that does not exist (there are {nodes})");
        return Err(Error::Graph { node: i.max(j).to_string(), problem });
    }
    if i == j {
        return Err(Error::Graph { node: i.to_string(), problem: "an arc from a node to itself".into() });
    }
    Ok(())
}
