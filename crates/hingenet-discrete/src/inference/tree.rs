//! Class scores when every feature has at most one feature parent (naive Bayes, TAN, trees): one upward
//! pass over the tree per row, all classes at once.
//!
//! Observed nodes cut the tree. An observed node with an observed parent adds a log parameter; only
//! runs of missing nodes exchange messages, as probabilities with the largest entry of each class
//! scaled to about one. A missing node without observed descendants sends nothing (its table sums to
//! one).

use super::lanes::{self, Lanes, Range, absorb, add, in_lanes, multiply, smallest_positive};
use crate::Network;
use hingenet_base::numeric::simd::vectorised;

/// Stands for a missing cell in a row of states.
pub(super) const MISSING: u16 = u16::MAX;

/// The network's tables, laid out for rows: for each feature `[parent state][own state][class]`, classes in
/// lanes of four. The lanes beyond the last class hold a uniform distribution and are dropped at the end.
#[derive(Debug, Clone)]
pub(super) struct FeatureTree {
    /// Lanes that hold all classes.
    lanes: usize,
    prior: Vec<Lanes>,
    nodes: Vec<Node>,
    /// Features (from 0), children before parents.
    order: Vec<usize>,
    belief_len: usize,
    range: Range,
}

#[derive(Debug, Clone)]
struct Node {
    parent: Option<usize>,
    r: usize,
    log: Vec<Lanes>,
    proba: Vec<Lanes>,
    /// Start of the node's belief in the scratch space.
    belief: usize,
}

/// Scratch space of one thread.
struct Scratch {
    belief: Vec<Lanes>,
    /// Factors multiplied into each belief so far.
    factors: Vec<usize>,
    message: Vec<Lanes>,
    product: Vec<Lanes>,
    score: Vec<Lanes>,
}

impl FeatureTree {
    /// `None` if the class has parents or a feature has two feature parents.
    pub fn new(network: &Network) -> Option<Self> {
        let s = network.structure();
        let parents = s.feature_parents()?;
        let lanes = s.n_classes().div_ceil(4);
        let mut belief_len = 0;
        let mut nodes = Vec::with_capacity(s.n_nodes() - 1);
        for i in 1..s.n_nodes() {
            let parent = parents[i].map(|p| p - 1);
            let log = class_last(network, i, parent);
            let proba = log.iter().map(|w| w.map(f64::exp)).collect();
            nodes.push(Node { parent, r: s.card()[i], log, proba, belief: belief_len });
            belief_len += s.card()[i] * lanes;
        }
        let order = s.dag().topological_order().iter().rev().filter(|&&i| i > 0).map(|i| i - 1).collect();
        let prior = in_lanes(s.n_classes(), 0.0, |c| network.row(0, 0)[c]).collect();
        let smallest = (0..s.n_nodes()).map(|i| smallest_positive(&network.w()[s.table(i)]));
        let range = Range::of(smallest);
        Some(FeatureTree { lanes, prior, nodes, order, belief_len, range })
    }

    /// Writes `log P(c, observed)` of rows of states, with the widest instructions of the processor.
    /// Returns the rows in which a product vanished (a probability of zero, or numbers too far apart):
    /// the caller must compute them in log space.
    pub fn log_joint_rows(&self, rows: &[u16], n_classes: usize, out: &mut [f64]) -> Vec<usize> {
        let (mut scratch, mut open) = (self.scratch(), Vec::new());
        let rows = rows.chunks_exact(self.nodes.len()).zip(out.chunks_exact_mut(n_classes));
        vectorised(
            #[inline(always)]
            || {
                for (m, (row, out)) in rows.enumerate() {
                    if !self.log_joint(row, &mut scratch, out) {
                        open.push(m);
                    }
                }
            },
        );
        open
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            belief: vec![[0.0; 4]; self.belief_len],
            factors: vec![0; self.nodes.len()],
            message: vec![[0.0; 4]; self.lanes],
            product: vec![[1.0; 4]; self.lanes],
            score: vec![[0.0; 4]; self.lanes],
        }
    }

    /// One row; false if a product vanished.
    #[inline(always)]
    fn log_joint(&self, row: &[u16], scratch: &mut Scratch, out: &mut [f64]) -> bool {
        if self.range == Range::LogOnly && row.contains(&MISSING) {
            return false;
        }
        let k = self.lanes;
        scratch.score.copy_from_slice(&self.prior);
        scratch.factors.fill(0);
        scratch.product.fill([1.0; 4]);
        for &i in &self.order {
            let node = &self.nodes[i];
            let open_parent = node.parent.filter(|&p| row[p] == MISSING);
            let parent_state = node.parent.map_or(0, |p| row[p] as usize);
            match (row[i], open_parent) {
                (MISSING, _) if scratch.factors[i] == 0 => {}
                (MISSING, None) => {
                    let table = &node.proba[parent_state * node.r * k..][..node.r * k];
                    message(table, self.belief(i, &scratch.belief), &mut scratch.message);
                    if !lanes::close(&scratch.message, &mut scratch.product, &mut scratch.score) {
                        return false;
                    }
                }
                (state, None) => {
                    let at = (parent_state * node.r + state as usize) * k;
                    add(&mut scratch.score, &node.log[at..at + k]);
                }
                (state, Some(p)) => {
                    if !self.send(i, state, p, scratch) {
                        return false;
                    }
                }
            }
        }
        let done = absorb(&mut scratch.product, &mut scratch.score);
        out.copy_from_slice(&scratch.score.as_flattened()[..out.len()]);
        done
    }

    #[inline(always)]
    fn belief<'a>(&self, i: usize, beliefs: &'a [Lanes]) -> &'a [Lanes] {
        let node = &self.nodes[i];
        &beliefs[node.belief..node.belief + node.r * self.lanes]
    }

    /// Multiplies the message of node `i`, or the probability of its state, into the belief of its missing parent `p`.
    #[inline(always)]
    fn send(&self, i: usize, state: u16, p: usize, scratch: &mut Scratch) -> bool {
        let (node, parent, k) = (&self.nodes[i], &self.nodes[p], self.lanes);
        let first = scratch.factors[p] == 0;
        scratch.factors[p] += 1;
        for parent_state in 0..parent.r {
            let table = &node.proba[parent_state * node.r * k..][..node.r * k];
            let factor = if state == MISSING {
                message(table, self.belief(i, &scratch.belief), &mut scratch.message);
                &scratch.message[..]
            } else {
                &table[state as usize * k..][..k]
            };
            let belief = &mut scratch.belief[parent.belief + parent_state * k..][..k];
            if first {
                belief.copy_from_slice(factor);
            } else {
                multiply(belief, factor);
            }
        }
        let belief = &mut scratch.belief[parent.belief..parent.belief + parent.r * k];
        lanes::rescale(belief, &mut scratch.message, &mut scratch.score, self.range)
    }
}

/// `Σ_x P(x | parent, c) b(x, c)` for each class.
#[inline(always)]
fn message(table: &[Lanes], belief: &[Lanes], out: &mut [Lanes]) {
    let k = out.len();
    for (lane, out) in out.iter_mut().enumerate() {
        let mut sum = [0.0; 4];
        // Plain indices: iterators with a step divide, which costs more than the sums.
        let mut at = lane;
        while at < table.len() {
            let (p, b) = (table[at], belief[at]);
            sum = std::array::from_fn(|q| sum[q] + p[q] * b[q]);
            at += k;
        }
        *out = sum;
    }
}

/// Node `i`'s table as `[parent state][own state][class]`; a table without the class is repeated.
fn class_last(network: &Network, i: usize, parent: Option<usize>) -> Vec<Lanes> {
    let s = network.structure();
    let r_p = parent.map_or(1, |p| s.card()[p + 1]);
    let given_class = s.is_class_child(i);
    let uniform = -(s.card()[i] as f64).ln();
    let mut table = Vec::with_capacity(s.n_classes().div_ceil(4) * r_p * s.card()[i]);
    for state in 0..r_p {
        for j in 0..s.card()[i] {
            // The class is the lowest-numbered parent, so it counts for most in the row number.
            let entry = |c: usize| network.row(i, if given_class { c * r_p + state } else { state })[j];
            table.extend(in_lanes(s.n_classes(), uniform, entry));
        }
    }
    table
}
