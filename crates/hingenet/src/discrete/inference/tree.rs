//! Class scores when every feature has at most one feature parent (naive Bayes, TAN, trees): one upward
//! pass over the tree per row, all classes at once.
//!
//! Observed nodes cut the tree. An observed node with an observed parent adds a log parameter; only
//! runs of missing nodes exchange messages, as probabilities with the largest entry of each class
//! scaled to about one. A missing node without observed descendants sends nothing (its table sums to
//! one).

use crate::discrete::Network;

/// Stands for a missing cell in a row of states.
pub(super) const MISSING: u16 = u16::MAX;
/// Beliefs are rescaled when their largest entry falls below this; one more factor cannot underflow.
const SMALL: f64 = 1e-60;
/// Children after which a belief is looked at again.
const CHILDREN_BETWEEN_CHECKS: usize = 4;

/// The network's tables, laid out for rows: for each feature `[parent state][own state][class]`.
#[derive(Debug, Clone)]
pub(super) struct FeatureTree {
    k: usize,
    prior: Vec<f64>,
    nodes: Vec<Node>,
    /// Features (from 0), children before parents.
    order: Vec<usize>,
    belief_len: usize,
}

#[derive(Debug, Clone)]
struct Node {
    parent: Option<usize>,
    r: usize,
    log: Vec<f64>,
    proba: Vec<f64>,
    /// Start of the node's belief in the scratch space.
    belief: usize,
}

/// Scratch space of one thread.
pub(super) struct Scratch {
    belief: Vec<f64>,
    /// Factors multiplied into each belief so far.
    factors: Vec<usize>,
    message: Vec<f64>,
    product: Vec<f64>,
}

impl FeatureTree {
    /// `None` if the class has parents or a feature has two feature parents.
    pub fn new(network: &Network) -> Option<Self> {
        let s = network.structure();
        if !s.dag().parents(0).is_empty() {
            return None;
        }
        let mut belief_len = 0;
        let mut nodes = Vec::with_capacity(s.n_nodes() - 1);
        for i in 1..s.n_nodes() {
            let parent = match *s.dag().parents(i) {
                [] | [0] => None,
                [0, p] | [p] => Some(p - 1),
                _ => return None,
            };
            let log = class_last(network, i, parent);
            let proba = log.iter().map(|w| w.exp()).collect();
            nodes.push(Node { parent, r: s.card()[i], log, proba, belief: belief_len });
            belief_len += s.card()[i] * s.n_classes();
        }
        let order = s.dag().topological_order().iter().rev().filter(|&&i| i > 0).map(|i| i - 1).collect();
        Some(FeatureTree { k: s.n_classes(), prior: network.row(0, 0).to_vec(), nodes, order, belief_len })
    }

    pub fn scratch(&self) -> Scratch {
        Scratch {
            belief: vec![0.0; self.belief_len],
            factors: vec![0; self.nodes.len()],
            message: vec![0.0; self.k],
            product: vec![1.0; self.k],
        }
    }

    /// Writes `log P(c, observed)` of a row of states. False if a product vanished (a probability of
    /// zero, or numbers too far apart): then the caller must compute the row in log space.
    #[must_use]
    pub fn log_joint(&self, row: &[u16], scratch: &mut Scratch, out: &mut [f64]) -> bool {
        let k = self.k;
        out.copy_from_slice(&self.prior);
        scratch.factors.fill(0);
        scratch.product.fill(1.0);
        for &i in &self.order {
            let node = &self.nodes[i];
            let open_parent = node.parent.filter(|&p| row[p] == MISSING);
            let parent_state = node.parent.map_or(0, |p| row[p] as usize);
            match (row[i], open_parent) {
                (MISSING, _) if scratch.factors[i] == 0 => {}
                (MISSING, None) => {
                    self.rescale(i, scratch, out);
                    let at = parent_state * node.r * k;
                    message(&node.proba[at..], self.belief(i, &scratch.belief), &mut scratch.message);
                    scratch.product.iter_mut().zip(&scratch.message).for_each(|(p, m)| *p *= m);
                    if scratch.product.iter().any(|p| *p < SMALL) && !absorb(&mut scratch.product, out) {
                        return false;
                    }
                }
                (MISSING, Some(p)) => {
                    self.rescale(i, scratch, out);
                    self.send(i, p, scratch);
                    self.check(p, scratch, out);
                }
                (state, None) => {
                    let at = (parent_state * node.r + state as usize) * k;
                    out.iter_mut().zip(&node.log[at..at + k]).for_each(|(o, w)| *o += w);
                }
                (state, Some(p)) => {
                    self.send_observed(i, state as usize, p, scratch);
                    self.check(p, scratch, out);
                }
            }
        }
        absorb(&mut scratch.product, out)
    }

    fn belief<'a>(&self, i: usize, beliefs: &'a [f64]) -> &'a [f64] {
        let node = &self.nodes[i];
        &beliefs[node.belief..node.belief + node.r * self.k]
    }

    /// Multiplies the message of missing node `i` into the belief of its missing parent `p`.
    fn send(&self, i: usize, p: usize, scratch: &mut Scratch) {
        let (node, parent, k) = (&self.nodes[i], &self.nodes[p], self.k);
        let first = scratch.factors[p] == 0;
        scratch.factors[p] += 1;
        for (state, table) in node.proba.chunks_exact(node.r * k).enumerate() {
            message(table, self.belief(i, &scratch.belief), &mut scratch.message);
            let at = parent.belief + state * k;
            let belief = &mut scratch.belief[at..at + k];
            if first {
                belief.copy_from_slice(&scratch.message);
            } else {
                belief.iter_mut().zip(&scratch.message).for_each(|(b, m)| *b *= m);
            }
        }
    }

    /// Multiplies the probability of observed node `i` into the belief of its missing parent `p`.
    fn send_observed(&self, i: usize, state: usize, p: usize, scratch: &mut Scratch) {
        let (node, parent, k) = (&self.nodes[i], &self.nodes[p], self.k);
        let first = scratch.factors[p] == 0;
        scratch.factors[p] += 1;
        let beliefs = &mut scratch.belief[parent.belief..parent.belief + parent.r * k];
        let tables = node.proba.chunks_exact(node.r * k).map(|t| &t[state * k..(state + 1) * k]);
        for (belief, table) in beliefs.chunks_exact_mut(k).zip(tables) {
            if first {
                belief.copy_from_slice(table);
            } else {
                belief.iter_mut().zip(table).for_each(|(b, t)| *b *= t);
            }
        }
    }

    /// Looks at a belief with many factors before it can underflow.
    fn check(&self, p: usize, scratch: &mut Scratch, out: &mut [f64]) {
        if scratch.factors[p].is_multiple_of(CHILDREN_BETWEEN_CHECKS) {
            self.rescale(p, scratch, out);
        }
    }

    /// Divides the belief of `i` by its largest entry in each class where that is small, and adds the
    /// logarithm to the score.
    fn rescale(&self, i: usize, scratch: &mut Scratch, out: &mut [f64]) {
        let (node, k) = (&self.nodes[i], self.k);
        let belief = &mut scratch.belief[node.belief..node.belief + node.r * k];
        let largest = &mut scratch.message;
        largest.fill(0.0);
        for states in belief.chunks_exact(k) {
            largest.iter_mut().zip(states).for_each(|(l, b)| *l = if *b > *l { *b } else { *l });
        }
        for (c, l) in largest.iter().enumerate() {
            if *l < SMALL && *l > 0.0 {
                out[c] += l.ln();
                belief.iter_mut().skip(c).step_by(k).for_each(|b| *b /= l);
            }
        }
    }
}

/// `Σ_x P(x | parent, c) b(x, c)` for each class.
fn message(table: &[f64], belief: &[f64], out: &mut [f64]) {
    let k = out.len();
    out.fill(0.0);
    for (states, belief) in table.chunks_exact(k).zip(belief.chunks_exact(k)) {
        out.iter_mut().zip(states).zip(belief).for_each(|((o, p), b)| *o += p * b);
    }
}

/// Moves the product into the log scores. False if it vanished for some class.
fn absorb(product: &mut [f64], out: &mut [f64]) -> bool {
    let normal = product.iter().all(|p| *p > f64::MIN_POSITIVE);
    for (p, o) in product.iter_mut().zip(out) {
        *o += p.ln();
        *p = 1.0;
    }
    normal
}

/// Node `i`'s table as `[parent state][own state][class]`; a table without the class is repeated.
fn class_last(network: &Network, i: usize, parent: Option<usize>) -> Vec<f64> {
    let s = network.structure();
    let r_p = parent.map_or(1, |p| s.card()[p + 1]);
    let given_class = s.is_class_child(i);
    let mut table = Vec::with_capacity(s.n_classes() * r_p * s.card()[i]);
    for state in 0..r_p {
        for j in 0..s.card()[i] {
            // The class is the lowest-numbered parent, so it counts for most in the row number.
            let entry = |c: usize| network.row(i, if given_class { c * r_p + state } else { state })[j];
            table.extend((0..s.n_classes()).map(entry));
        }
    }
    table
}
