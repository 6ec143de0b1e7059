//! Expected counts when every feature has at most one feature parent and the class is known: one pass up
//! and one pass down the tree of features, as probabilities with scaling.

use super::elimination::Evidence;
use super::lanes::{FAR, smallest_positive};
use crate::Network;

/// Beliefs are rescaled when their largest entry falls below this.
const SMALL: f64 = 1e-60;

pub(crate) struct TreeExpectation<'a> {
    network: &'a Network,
    proba: Vec<f64>,
    nodes: Vec<Node>,
    /// Features, parents before children.
    order: Vec<usize>,
}

/// A feature; entry 0, the class, is unused.
struct Node {
    parent: Option<usize>,
    r: usize,
    /// Entries of one class, or 0 if the class is no parent.
    class_stride: usize,
    start: usize,
    /// Where its belief and its message to the parent stand in the scratch space.
    belief: usize,
    message: usize,
}

pub(crate) struct Scratch {
    /// Product of the messages of the children.
    belief: Vec<f64>,
    message: Vec<f64>,
    /// Probability of each state given everything observed.
    posterior: Vec<f64>,
}

impl<'a> TreeExpectation<'a> {
    /// `None` if the class has parents, a feature has two feature parents, or probabilities are too small for
    /// products.
    pub fn new(network: &'a Network) -> Option<Self> {
        let s = network.structure();
        let parents = s.feature_parents().filter(|_| smallest_positive(network.w()) >= FAR.ln())?;
        let mut nodes = Vec::with_capacity(s.n_nodes());
        let (mut belief, mut message) = (0, 0);
        for (i, parent) in parents.into_iter().enumerate() {
            let (r, r_p) = (s.card()[i], parent.map_or(1, |p| s.card()[p]));
            let class_stride = if s.is_class_child(i) { r * r_p } else { 0 };
            nodes.push(Node { parent, r, class_stride, start: s.table(i).start, belief, message });
            belief += r;
            message += r_p;
        }
        let order = s.dag().topological_order().iter().copied().filter(|&i| i > 0).collect();
        let proba = network.w().iter().map(|w| w.exp()).collect();
        Some(TreeExpectation { network, proba, nodes, order })
    }

    pub fn scratch(&self) -> Scratch {
        let last = &self.nodes[self.nodes.len() - 1];
        let r_p = last.parent.map_or(1, |p| self.nodes[p].r);
        let n = last.belief + last.r;
        Scratch { belief: vec![0.0; n], message: vec![0.0; last.message + r_p], posterior: vec![0.0; n] }
    }

    /// Adds the expected counts and returns `log P(evidence)`. `None`, with nothing added, if a product
    /// vanished or its entries drifted so far apart that later factors could want lost ones back.
    pub fn add(
        &self,
        evidence: &Evidence,
        weight: f64,
        scratch: &mut Scratch,
        counts: &mut [f64],
    ) -> Option<f64> {
        let class = evidence[0]?;
        let log_evidence = self.network.row(0, 0)[class] + self.upward(evidence, class, scratch)?;
        counts[class] += weight;
        self.downward(evidence, class, weight, scratch, counts);
        Some(log_evidence)
    }

    /// Start of the entries of feature `i` for this class and a known parent state (0 if there is none).
    fn row(&self, i: usize, class: usize, parent_state: usize) -> usize {
        let node = &self.nodes[i];
        node.start + class * node.class_stride + parent_state * node.r
    }

    fn upward(&self, evidence: &Evidence, class: usize, scratch: &mut Scratch) -> Option<f64> {
        scratch.belief.fill(1.0);
        let mut log_evidence = 0.0;
        for &i in self.order.iter().rev() {
            let node = &self.nodes[i];
            let open_parent = node.parent.filter(|&p| evidence[p].is_none());
            let known = node.parent.and_then(|p| evidence[p]).unwrap_or(0);
            let belief = node.belief..node.belief + node.r;
            let Some(p) = open_parent else {
                let row = self.row(i, class, known);
                if let Some(state) = evidence[i] {
                    log_evidence += self.network.w()[row + state];
                    continue;
                }
                let total = dot(&self.proba[row..row + node.r], &scratch.belief[belief]);
                scratch.message[node.message] = total;
                log_evidence += positive(total)?.ln();
                continue;
            };
            let parent = &self.nodes[p];
            for x_p in 0..parent.r {
                let row = self.row(i, class, x_p);
                let m = match evidence[i] {
                    Some(state) => self.proba[row + state],
                    None => dot(&self.proba[row..row + node.r], &scratch.belief[belief.clone()]),
                };
                scratch.message[node.message + x_p] = m;
                scratch.belief[parent.belief + x_p] *= m;
            }
            let belief = &mut scratch.belief[parent.belief..parent.belief + parent.r];
            let largest = belief.iter().copied().fold(0.0, f64::max);
            if largest < SMALL {
                log_evidence += positive(largest)?.ln();
                belief.iter_mut().for_each(|b| *b /= largest);
            }
            if belief.iter().any(|b| (*b > 0.0) & (*b < FAR)) {
                return None;
            }
        }
        log_evidence.is_finite().then_some(log_evidence)
    }

    fn downward(
        &self,
        evidence: &Evidence,
        class: usize,
        weight: f64,
        scratch: &mut Scratch,
        counts: &mut [f64],
    ) {
        for &i in &self.order {
            let node = &self.nodes[i];
            let open_parent = node.parent.filter(|&p| evidence[p].is_none());
            let known = node.parent.and_then(|p| evidence[p]).unwrap_or(0);
            let parent_states = open_parent.map_or(known..known + 1, |p| 0..self.nodes[p].r);
            if evidence[i].is_none() {
                scratch.posterior[node.belief..node.belief + node.r].fill(0.0);
            }
            for x_p in parent_states {
                let row = self.row(i, class, x_p);
                let q = open_parent.map_or(1.0, |p| scratch.posterior[self.nodes[p].belief + x_p]);
                if let Some(state) = evidence[i] {
                    counts[row + state] += weight * q;
                } else if q > 0.0 {
                    let m = scratch.message[node.message + if open_parent.is_some() { x_p } else { 0 }];
                    let share = q / m;
                    for x in 0..node.r {
                        let joint = share * self.proba[row + x] * scratch.belief[node.belief + x];
                        scratch.posterior[node.belief + x] += joint;
                        counts[row + x] += weight * joint;
                    }
                }
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The number, unless it vanished.
fn positive(x: f64) -> Option<f64> {
    (x > f64::MIN_POSITIVE).then_some(x)
}
