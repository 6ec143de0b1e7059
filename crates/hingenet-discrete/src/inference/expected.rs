//! Expected counts of a row with missing features, the E-step of EM: the probability of every joint state
//! of every node and its parents, given the observed cells and the class.

use super::elimination::{self, Elimination, Evidence};
use super::expected_tree::{Scratch, TreeExpectation};
use super::factor::{open_family, walk};
use crate::Network;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::log_sum_exp;
use std::sync::OnceLock;

/// A network prepared for expected counts.
pub(crate) struct Expectation<'a> {
    network: &'a Network,
    tree: Option<TreeExpectation<'a>>,
    /// Made when a row is first eliminated.
    order: OnceLock<Vec<usize>>,
}

impl<'a> Expectation<'a> {
    pub fn new(network: &'a Network) -> Self {
        Expectation { network, tree: TreeExpectation::new(network), order: OnceLock::new() }
    }

    pub fn scratch(&self) -> Option<Scratch> {
        self.tree.as_ref().map(TreeExpectation::scratch)
    }

    /// Adds `weight` times the expected counts of a row whose class is known; returns `log P(evidence)`. Nothing is added
    /// for a row that is impossible.
    pub fn add(
        &self,
        evidence: &Evidence,
        weight: f64,
        scratch: &mut Option<Scratch>,
        counts: &mut [f64],
    ) -> Result<f64> {
        if let (Some(tree), Some(scratch)) = (&self.tree, scratch)
            && let Some(log_evidence) = tree.add(evidence, weight, scratch, counts)
        {
            return Ok(log_evidence);
        }
        let nodes = vec![true; evidence.len()];
        let order = self.order.get_or_init(|| elimination::order_of(self.network));
        let done = elimination::eliminate(self.network, evidence, &[], &nodes, order, log_sum_exp)?;
        if done.kept.table[0] > f64::NEG_INFINITY {
            self.add_eliminated(evidence, &done, weight, counts);
        }
        Ok(done.kept.table[0])
    }

    /// Goes through the buckets from the last to the first. With the probabilities `q` of a bucket's other
    /// variables known from a later bucket, `P(others, v) = q(others) product(others, v) / message(others)`.
    fn add_eliminated(&self, evidence: &Evidence, done: &Elimination, weight: f64, counts: &mut [f64]) {
        let s = self.network.structure();
        let observed = (0..s.n_nodes()).filter(|&i| self.is_observed(i, evidence));
        observed.for_each(|i| counts[s.entry_of(i, |v| evidence[v].unwrap_or_default())] += weight);
        let mut others: Vec<Vec<f64>> = vec![vec![1.0]; done.buckets.len()];
        for (b, bucket) in done.buckets.iter().enumerate().rev() {
            let r = s.card()[bucket.variable()];
            let share = others[b].iter().zip(&bucket.message.table);
            let rows = bucket.product.table.chunks_exact(r);
            let belief: Vec<f64> = share
                .zip(rows)
                .flat_map(|((q, m), row)| {
                    row.iter().map(move |w| if *q > 0.0 { q * (w - m).exp() } else { 0.0 })
                })
                .collect();
            for &input in &bucket.inputs {
                let message = &done.buckets[input].message;
                let mut sums = vec![0.0; message.table.len()];
                let strides = message.strides_along(&bucket.product.vars, s.card());
                self.scatter(&bucket.product.vars, &belief, strides, &mut sums);
                others[input] = sums;
            }
            for &i in &bucket.families {
                let (start, strides) = self.family(i, &bucket.product.vars, evidence);
                let expected: Vec<f64> = belief.iter().map(|p| weight * p).collect();
                self.scatter(&bucket.product.vars, &expected, strides, &mut counts[start..]);
            }
        }
    }

    fn is_observed(&self, i: usize, evidence: &Evidence) -> bool {
        let parents = self.network.structure().dag().parents(i);
        parents.iter().chain([&i]).all(|&v| evidence[v].is_some())
    }

    /// Where node `i`'s entries start under the evidence, and how they move with each of `vars`.
    fn family(&self, i: usize, vars: &[usize], evidence: &Evidence) -> (usize, Vec<usize>) {
        let (start, axes) = open_family(self.network.structure(), i, evidence);
        let stride = |v: &usize| axes.iter().find(|(u, _)| u == v).map_or(0, |(_, stride)| *stride);
        (start, vars.iter().map(stride).collect())
    }

    /// Adds each value of a table over `vars` to the entry its strides lead to.
    fn scatter(&self, vars: &[usize], values: &[f64], strides: Vec<usize>, out: &mut [f64]) {
        let mut values = values.iter();
        let add = |at: &[usize]| out[at[0]] += values.next().copied().unwrap_or(0.0);
        walk(vars, self.network.structure().card(), &[strides], add);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Structure;
    use hingenet_base::graph::Dag;

    /// The first half of the observed children speaks against state 1 of a hidden feature, the second half as
    /// much against state 0: both are equally likely in the end.
    #[test]
    fn hidden_states_get_their_shares_back_from_children_that_contradict_each_other() {
        let n = 60;
        let mut parents = vec![vec![], vec![0]];
        parents.extend((0..2 * n).map(|_| vec![0, 1]));
        let s = Structure::new(vec![2; 2 * n + 2], Dag::new(parents).unwrap()).unwrap();
        let mut w = vec![0.5_f64.ln(); s.n_entries()];
        for i in 2..2 * n + 2 {
            for (class, hidden) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let p = if (hidden == 1) == (i < 2 + n) { 1e-9 } else { 0.5 };
                let at = |x: usize| s.entry_of(i, |v| [class, hidden].get(v).copied().unwrap_or(x));
                (w[at(0)], w[at(1)]) = (f64::ln(p), f64::ln(1.0 - p));
            }
        }
        let network = Network::new(s, w).unwrap();
        let expectation = Expectation::new(&network);
        let mut evidence = vec![Some(0); 2 * n + 2];
        evidence[1] = None;
        let mut counts = vec![0.0; network.w().len()];
        let log_evidence = expectation.add(&evidence, 1.0, &mut expectation.scratch(), &mut counts).unwrap();
        let want = 0.5_f64.ln() + n as f64 * (0.5e-9_f64).ln();
        assert!((log_evidence - want).abs() < 1e-10 * want.abs(), "{log_evidence} and {want}");
        let hidden = network.structure().table(1);
        assert!(counts[hidden][..2].iter().all(|share| (share - 0.5).abs() < 1e-10));
    }
}
