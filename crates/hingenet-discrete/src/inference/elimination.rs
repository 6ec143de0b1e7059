//! Variable elimination in log space for any graph: evidence first, barren nodes pruned, each variable
//! summed out of the product of its factors. The products are kept as buckets, which backward sampling and
//! expected counts read in reverse order.

use super::factor::Factor;
use crate::Network;
use hingenet_base::error::{Error, Result};
use hingenet_base::graph::UndirectedGraph;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::random::Random;

/// What is known of each variable (the class is variable 0).
pub type Evidence = [Option<usize>];

/// The product of all factors with one variable (its last), at the moment it left.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    pub product: Factor,
    /// What is left without the variable.
    pub message: Factor,
    /// Nodes whose own tables went into the product.
    pub families: Vec<usize>,
    /// Buckets whose messages went into the product.
    pub inputs: Vec<usize>,
}

/// A finished elimination.
#[derive(Debug, Clone)]
pub(super) struct Elimination {
    pub buckets: Vec<Bucket>,
    /// Factor over the kept variables, ascending.
    pub kept: Factor,
}

/// Where a factor comes from: the own table of a node, or the message of a bucket.
enum Origin {
    Family(usize),
    Bucket(usize),
}

/// An order to eliminate all variables that suits every evidence: observed ones are skipped.
pub(super) fn order_of(network: &Network) -> Vec<usize> {
    let s = network.structure();
    let all: Vec<usize> = (0..s.n_nodes()).collect();
    // The class is kept by most queries, so it goes last.
    let mut order = UndirectedGraph::moral(s.dag()).elimination_order(&all[1..], &log_sizes(s.card()));
    order.push(0);
    order
}

fn log_sizes(card: &[usize]) -> Vec<f64> {
    card.iter().map(|&r| (r as f64).ln()).collect()
}

/// Nodes that matter for `keep` and the evidence: these and their ancestors. The others are barren: in a
/// normalised network they sum to one.
pub(super) fn relevant(network: &Network, keep: &[usize], evidence: &Evidence) -> Vec<bool> {
    let dag = network.structure().dag();
    let mut relevant: Vec<bool> = evidence.iter().map(Option::is_some).collect();
    keep.iter().for_each(|&v| relevant[v] = true);
    for &i in dag.topological_order().iter().rev() {
        if relevant[i] {
            dag.parents(i).iter().for_each(|&p| relevant[p] = true);
        }
    }
    relevant
}

/// Eliminates every unobserved variable of `nodes` that is not kept, in the order that suits every evidence, or, if that
/// needs too large a table, in an order made for this evidence. `reduce` says what is left of the entries of its states:
/// their sum, or the largest.
pub(super) fn eliminate(
    network: &Network,
    evidence: &Evidence,
    keep: &[usize],
    nodes: &[bool],
    order: &[usize],
    reduce: impl Fn(&[f64]) -> f64,
) -> Result<Elimination> {
    let run = |order: &[usize]| {
        let card = network.structure().card();
        let own = |i: usize| (Factor::of_node(network, i, evidence), Origin::Family(i));
        let mut pending: Vec<(Factor, Origin)> = (0..card.len()).filter(|&i| nodes[i]).map(own).collect();
        let mut buckets: Vec<Bucket> = Vec::new();
        let leaves = |v: &&usize| nodes[**v] && evidence[**v].is_none() && !keep.contains(v);
        for &v in order.iter().filter(leaves) {
            let (mut factors, mut families, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
            for (factor, origin) in pending.extract_if(.., |(factor, _)| factor.vars.contains(&v)) {
                factors.push(factor);
                match origin {
                    Origin::Family(i) => families.push(i),
                    Origin::Bucket(b) => inputs.push(b),
                }
            }
            let mut vars = union(&factors);
            vars.retain(|&u| u != v);
            vars.push(v);
            let product = Factor::product(&factors, vars, card)?;
            let message = product.without_last(card[v], &reduce);
            pending.push((message.clone(), Origin::Bucket(buckets.len())));
            buckets.push(Bucket { product, message, families, inputs });
        }
        let mut keep: Vec<usize> = keep.iter().copied().filter(|&v| evidence[v].is_none()).collect();
        keep.sort_unstable();
        keep.dedup();
        let left: Vec<Factor> = pending.into_iter().map(|(factor, _)| factor).collect();
        Ok(Elimination { buckets, kept: Factor::product(&left, keep, card)? })
    };
    match run(order) {
        Err(Error::TooLarge { .. }) => run(&order_given(network, evidence, nodes)),
        done => done,
    }
}

/// All variables of the factors, ascending.
fn union(factors: &[Factor]) -> Vec<usize> {
    let mut vars: Vec<usize> = factors.iter().flat_map(|f| f.vars.iter().copied()).collect();
    vars.sort_unstable();
    vars.dedup();
    vars
}

/// [`eliminate`] without the nodes that do not matter.
pub(super) fn sum_out(
    network: &Network,
    evidence: &Evidence,
    keep: &[usize],
    order: &[usize],
) -> Result<Elimination> {
    eliminate(network, evidence, keep, &relevant(network, keep, evidence), order, log_sum_exp)
}

/// An order made for the factors that are left after the evidence.
fn order_given(network: &Network, evidence: &Evidence, nodes: &[bool]) -> Vec<usize> {
    let s = network.structure();
    let mut graph = UndirectedGraph::new(s.n_nodes());
    for i in (0..s.n_nodes()).filter(|&i| nodes[i]) {
        let family = s.dag().parents(i).iter().copied().chain([i]);
        graph.connect(&family.filter(|&v| evidence[v].is_none()).collect::<Vec<_>>());
    }
    let open: Vec<usize> = (0..s.n_nodes()).filter(|&i| nodes[i] && evidence[i].is_none()).collect();
    graph.elimination_order(&open, &log_sizes(s.card()))
}

impl Elimination {
    /// Draws the eliminated variables given everything else, last eliminated first.
    pub fn draw(&self, card: &[usize], state: &mut [Option<usize>], random: &mut Random) {
        self.read_back(card, state, |row| {
            let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = row.iter().map(|w| (w - max).exp()).collect();
            random.weighted(&weights)
        });
    }

    /// Sets the eliminated variables, last eliminated first; `choose` takes one of the states by their log weights given
    /// the states of the others.
    pub fn read_back(
        &self,
        card: &[usize],
        state: &mut [Option<usize>],
        mut choose: impl FnMut(&[f64]) -> usize,
    ) {
        for bucket in self.buckets.iter().rev() {
            let (v, others) = (bucket.variable(), &bucket.message.vars);
            let h = others.iter().fold(0, |h, &u| h * card[u] + state[u].unwrap_or(0));
            state[v] = Some(choose(&bucket.product.table[h * card[v]..(h + 1) * card[v]]));
        }
    }
}

impl Bucket {
    pub fn variable(&self) -> usize {
        self.product.vars[self.product.vars.len() - 1]
    }
}
