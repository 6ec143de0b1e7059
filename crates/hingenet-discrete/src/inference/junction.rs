//! Class scores on any graph: a junction tree made once for all rows and collected towards the class.
//!
//! The features are eliminated in one order that suits every row. Each gives a clique (itself and its
//! neighbours at that time) whose potential, the product of the tables that fit into it first, is stored
//! for all classes. A row takes the slice of each potential that its observed cells leave, multiplies the
//! messages of the cliques below, and sums the clique's own feature out if it is missing. The class
//! belongs to every clique and is never summed out.

use super::elimination::order_of;
use super::lanes::{self, Lanes, Range, absorb, add, in_lanes, multiply, smallest_positive};
use super::tree::MISSING;
use crate::Network;
use crate::structure::strides;
use hingenet_base::graph::UndirectedGraph;
use hingenet_base::numeric::simd::vectorised;

/// Most entries (of four classes each) of all potentials together; beyond, rows are eliminated one by one,
/// where the observed cells leave smaller tables.
const MAX_ENTRIES: f64 = (1 << 20) as f64;

/// Which features and tables meet in which clique, and where its message goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Cliques {
    /// In the order of elimination: the features (from 1) that stay, ascending, and last the one that is summed out.
    pub scopes: Vec<Vec<usize>>,
    /// Nodes whose tables belong to each clique.
    pub tables: Vec<Vec<usize>>,
    /// Nodes whose tables have no feature.
    pub prior: Vec<usize>,
    /// The clique, a later one, that takes the message; `None` where nothing stays.
    pub above: Vec<Option<usize>>,
}

impl Cliques {
    /// The cliques of an order that suits every row.
    pub fn of(network: &Network) -> Self {
        Cliques::new(network, &order_of(network))
    }

    fn new(network: &Network, order: &[usize]) -> Self {
        let s = network.structure();
        let order: Vec<usize> = order.iter().copied().filter(|&v| v > 0).collect();
        let around = UndirectedGraph::moral(s.dag()).eliminated(&order);
        let scopes: Vec<Vec<usize>> = around.into_iter().zip(&order).map(|(a, &v)| scope(a, v)).collect();
        let mut place = vec![0; s.n_nodes()];
        order.iter().enumerate().for_each(|(k, &v)| place[v] = k);
        let (prior, tables) = assign(network, &place);
        // What stays after the elimination lies together in the clique of the next one to go.
        let above = |scope: &Vec<usize>| scope[..scope.len() - 1].iter().map(|&v| place[v]).min();
        Cliques { above: scopes.iter().map(above).collect(), scopes, tables, prior }
    }

    /// Entries of all cliques together, for one class.
    pub fn entries(&self, card: &[usize]) -> f64 {
        let size = |scope: &Vec<usize>| scope.iter().map(|&v| card[v] as f64).product::<f64>();
        self.scopes.iter().map(size).sum()
    }
}

/// A network compiled for rows with missing cells.
#[derive(Debug, Clone)]
pub(super) struct JunctionTree {
    /// Lanes that hold all classes.
    lanes: usize,
    /// Tables without features: the class prior.
    prior: Vec<Lanes>,
    card: Vec<usize>,
    /// In the order of elimination: every clique before the one that takes its message.
    cliques: Vec<Clique>,
    messages_len: usize,
    belief_len: usize,
    range: Range,
}

#[derive(Debug, Clone)]
struct Clique {
    /// Features (from 0): those that stay, ascending, and last the one that is summed out here.
    features: Vec<usize>,
    /// Entries between two states of each feature.
    strides: Vec<usize>,
    log: Vec<Lanes>,
    proba: Vec<Lanes>,
    /// Cliques whose messages come here.
    children: Vec<usize>,
    /// The potential is the table of the clique's own feature alone, which sums to one.
    own_table_only: bool,
    /// Start of the message in the scratch space.
    message: usize,
}

/// Scratch space of one thread.
struct Scratch {
    belief: Vec<Lanes>,
    messages: Vec<Lanes>,
    /// Whether a clique's message waits for the clique above.
    waiting: Vec<bool>,
    /// Features of the clique at hand that are missing.
    open: Vec<usize>,
    /// Positions in a table for all joint states of the open features.
    at: Vec<usize>,
    /// Entries between two states of a feature in the message at hand.
    step: Vec<usize>,
    top: Vec<Lanes>,
    product: Vec<Lanes>,
    score: Vec<Lanes>,
}

impl JunctionTree {
    /// `None` where the potentials would be too large or their numbers too small.
    pub fn new(network: &Network, order: &[usize]) -> Option<Self> {
        let s = network.structure();
        let cliques = Cliques::new(network, order);
        let lanes = s.n_classes().div_ceil(4);
        if cliques.entries(s.card()) * lanes as f64 > MAX_ENTRIES {
            return None;
        }
        let Cliques { scopes, tables, prior, above } = cliques;
        let size = |scope: &Vec<usize>| scope.iter().map(|&v| s.card()[v]).product::<usize>();
        let mut tree = JunctionTree {
            lanes,
            prior: in_lanes(s.n_classes(), 0.0, |c| prior.iter().map(|&i| network.row(i, 0)[c]).sum())
                .collect(),
            card: s.card()[1..].to_vec(),
            cliques: Vec::with_capacity(order.len()),
            messages_len: 0,
            belief_len: scopes.iter().map(|scope| size(scope) * lanes).max().unwrap_or(0),
            range: Range::Safe,
        };
        scopes.iter().zip(tables).for_each(|(scope, tables)| tree.push(network, scope, &tables));
        let entries = |clique: &Clique| smallest_positive(clique.log.as_flattened());
        tree.range = Range::of(tree.cliques.iter().map(entries));
        let below = above.into_iter().enumerate().filter_map(|(k, above)| Some((k, above?)));
        below.for_each(|(k, above)| tree.cliques[above].children.push(k));
        (tree.range != Range::LogOnly).then_some(tree)
    }

    fn push(&mut self, network: &Network, scope: &[usize], tables: &[usize]) {
        let s = network.structure();
        let strides = strides(s.card(), scope);
        let log = potential(network, scope, &strides, tables);
        let proba = log.iter().map(|w| w.map(f64::exp)).collect();
        self.cliques.push(Clique {
            features: scope.iter().map(|v| v - 1).collect(),
            own_table_only: tables == &scope[scope.len() - 1..],
            message: self.messages_len,
            children: Vec::new(),
            strides,
            log,
            proba,
        });
        let stay = &scope[..scope.len() - 1];
        self.messages_len += stay.iter().map(|&v| s.card()[v]).product::<usize>() * self.lanes;
    }

    /// Writes `log P(c, observed)` of the chosen rows. Returns those in which numbers got too far apart:
    /// the caller must compute them in log space.
    pub fn log_joint_rows(&self, rows: &[u16], chosen: &[usize], k: usize, out: &mut [f64]) -> Vec<usize> {
        let d = self.card.len();
        let (mut scratch, mut left) = (self.scratch(), Vec::new());
        vectorised(
            #[inline(always)]
            || {
                for &m in chosen {
                    let row = &rows[m * d..(m + 1) * d];
                    if !self.log_joint(row, &mut scratch, &mut out[m * k..(m + 1) * k]) {
                        left.push(m);
                    }
                }
            },
        );
        left
    }

    fn scratch(&self) -> Scratch {
        let lanes = || vec![[0.0; 4]; self.lanes];
        Scratch {
            belief: vec![[0.0; 4]; self.belief_len],
            messages: vec![[0.0; 4]; self.messages_len],
            waiting: vec![false; self.cliques.len()],
            open: Vec::new(),
            at: Vec::new(),
            step: vec![0; self.card.len()],
            top: lanes(),
            product: lanes(),
            score: lanes(),
        }
    }

    /// One row; false if numbers got too far apart.
    #[inline(always)]
    fn log_joint(&self, row: &[u16], scratch: &mut Scratch, out: &mut [f64]) -> bool {
        scratch.score.copy_from_slice(&self.prior);
        scratch.product.fill([1.0; 4]);
        for k in 0..self.cliques.len() {
            if !self.collect(k, row, scratch) {
                return false;
            }
        }
        let done = absorb(&mut scratch.product, &mut scratch.score);
        out.copy_from_slice(&scratch.score.as_flattened()[..out.len()]);
        done
    }

    /// Sends the message of clique `k`, or adds it to the score if nothing in it is open any more.
    #[inline(always)]
    fn collect(&self, k: usize, row: &[u16], scratch: &mut Scratch) -> bool {
        let clique = &self.cliques[k];
        scratch.waiting[k] = false;
        let mut start = 0;
        scratch.open.clear();
        for (&v, stride) in clique.features.iter().zip(&clique.strides) {
            match row[v] {
                MISSING => scratch.open.push(v),
                state => start += state as usize * stride,
            }
        }
        if scratch.open.is_empty() {
            add(&mut scratch.score, &clique.log[start * self.lanes..(start + 1) * self.lanes]);
            return true;
        }
        let own = clique.features[clique.features.len() - 1];
        let summed = row[own] == MISSING;
        if summed && clique.own_table_only && clique.children.iter().all(|&c| !scratch.waiting[c]) {
            return true;
        }
        if !self.believe(clique, start, row, scratch) {
            return false;
        }
        self.send(k, if summed { self.card[own] } else { 1 }, scratch)
    }

    /// The slice of the potential that starts at entry `start`, times the messages from below.
    #[inline(always)]
    fn believe(&self, clique: &Clique, start: usize, row: &[u16], scratch: &mut Scratch) -> bool {
        let lanes = self.lanes;
        for (v, stride) in clique.features.iter().zip(&clique.strides) {
            scratch.step[*v] = *stride;
        }
        let n = self.positions(start, scratch);
        for (b, &at) in scratch.belief.chunks_exact_mut(lanes).zip(&scratch.at) {
            b.copy_from_slice(&clique.proba[at * lanes..(at + 1) * lanes]);
        }
        for &child in &clique.children {
            if !scratch.waiting[child] {
                continue;
            }
            self.steps_of_message(&self.cliques[child], row, scratch);
            self.positions(0, scratch);
            let message = &scratch.messages[self.cliques[child].message..];
            for (b, &at) in scratch.belief.chunks_exact_mut(lanes).zip(&scratch.at) {
                multiply(b, &message[at * lanes..(at + 1) * lanes]);
            }
            let belief = &mut scratch.belief[..n * lanes];
            if !lanes::rescale(belief, &mut scratch.top, &mut scratch.score, self.range) {
                return false;
            }
        }
        true
    }

    /// Steps of the open features in the message of `child`, which has them in ascending order.
    #[inline(always)]
    fn steps_of_message(&self, child: &Clique, row: &[u16], scratch: &mut Scratch) {
        scratch.open.iter().for_each(|&v| scratch.step[v] = 0);
        let mut step = 1;
        for &v in child.features[..child.features.len() - 1].iter().rev() {
            if row[v] == MISSING {
                scratch.step[v] = step;
                step *= self.card[v];
            }
        }
    }

    /// Fills `at` with the positions of all joint states of the open features, the last one fastest, and
    /// returns their number.
    #[inline(always)]
    fn positions(&self, start: usize, scratch: &mut Scratch) -> usize {
        let at = &mut scratch.at;
        at.clear();
        at.push(start);
        for &v in &scratch.open {
            let (r, step, n) = (self.card[v], scratch.step[v], at.len());
            at.resize(n * r, 0);
            for i in (0..n).rev() {
                let first = at[i];
                (0..r).for_each(|state| at[i * r + state] = first + state * step);
            }
        }
        at.len()
    }

    /// Sums the belief over runs of `r` entries and passes the sums on.
    #[inline(always)]
    fn send(&self, k: usize, r: usize, scratch: &mut Scratch) -> bool {
        let (lanes, n) = (self.lanes, scratch.at.len() / r);
        let start = self.cliques[k].message;
        let message = &mut scratch.messages[start..start + n * lanes];
        for (sum, run) in message.chunks_exact_mut(lanes).zip(scratch.belief.chunks_exact(r * lanes)) {
            sum.copy_from_slice(&run[..lanes]);
            run.chunks_exact(lanes).skip(1).for_each(|b| add(sum, b));
        }
        if n == 1 {
            return lanes::close(message, &mut scratch.product, &mut scratch.score);
        }
        scratch.waiting[k] = true;
        lanes::rescale(message, &mut scratch.top, &mut scratch.score, self.range)
    }
}

/// The features around `v`, ascending, and `v` itself last.
fn scope(around: Vec<usize>, v: usize) -> Vec<usize> {
    around.into_iter().filter(|&a| a > 0).chain([v]).collect()
}

/// Which tables go into which clique: each into the clique of the first of its features to be eliminated.
/// Tables over the class alone are returned apart.
fn assign(network: &Network, place: &[usize]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let dag = network.structure().dag();
    let mut prior = Vec::new();
    let mut tables = vec![Vec::new(); place.len() - 1];
    for i in 0..place.len() {
        let family = dag.parents(i).iter().copied().chain([i]).filter(|&v| v > 0);
        match family.map(|v| place[v]).min() {
            Some(clique) => tables[clique].push(i),
            None => prior.push(i),
        }
    }
    (prior, tables)
}

/// The sum of the log tables for all joint states of `scope` and all classes. The lanes beyond the last
/// class hold uniform distributions and are dropped at the end.
fn potential(network: &Network, scope: &[usize], strides: &[usize], tables: &[usize]) -> Vec<Lanes> {
    let s = network.structure();
    let fill: f64 = tables.iter().map(|&i| -(s.card()[i] as f64).ln()).sum();
    let size: usize = scope.iter().map(|&v| s.card()[v]).product();
    let mut state = vec![0; s.n_nodes()];
    let mut log = Vec::with_capacity(size * s.n_classes().div_ceil(4));
    for entry in 0..size {
        for (&v, stride) in scope.iter().zip(strides) {
            state[v] = entry / stride % s.card()[v];
        }
        let value = |c: usize| -> f64 {
            let at = |i: usize| s.entry_of(i, |v| if v == 0 { c } else { state[v] });
            tables.iter().map(|&i| network.w()[at(i)]).sum()
        };
        log.extend(in_lanes(s.n_classes(), fill, value));
    }
    log
}
