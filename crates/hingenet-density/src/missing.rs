//! Missing features of the generative classifiers: sums over the missing nodes of each class's forest by
//! message passing on the tables, one integral for each missing node that has observed nodes behind it.
//!
//! What does not depend on the row is made once for all rows: the quadrature of each node and, when two neighbours are
//! first missing together, the joint density of the pair at the nodes of both.

use crate::classifier::DensityClassifier;
use crate::compile::{Axis, Scratch};
use hingenet_base::numeric::log::{log_normalise, log_sum_exp};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Most quadrature nodes of a missing feature.
const NODES: usize = 96;
/// Most joint densities that are kept (74 kB each); of more, none is.
const KEPT: usize = 1000;
/// Sums of products below this may have lost terms and are taken in log space.
const SMALL: f64 = 1e-280;

/// The forests of all classes, ready for rows with missing cells.
pub(crate) struct Marginals<'a> {
    model: &'a DensityClassifier,
    /// Nodes and log weights of each feature.
    quadrature: Vec<(Vec<f64>, Vec<f64>)>,
    /// For each class its forest as neighbours `(node, pair table)`.
    neighbours: Vec<Vec<Vec<(usize, usize)>>>,
    /// Joint densities of the pairs of each class at the nodes of both features.
    joint: Vec<OnceLock<Joint>>,
}

/// `p(x, y) / exp(top)` for the nodes of both features of a pair, the second fastest.
struct Joint {
    top: f64,
    proba: Vec<f64>,
}

impl<'a> Marginals<'a> {
    pub fn new(model: &'a DensityClassifier) -> Self {
        let mut neighbours = vec![vec![Vec::new(); model.lines.len()]; model.n_classes];
        for (forest, pairs) in neighbours.iter_mut().zip(&model.class_pairs) {
            for &p in pairs {
                let (i, j) = model.pairs[p].pair;
                forest[i].push((j, p));
                forest[j].push((i, p));
            }
        }
        let tables = model.pairs.len() * model.n_classes;
        Marginals {
            model,
            quadrature: model.lines.iter().map(|line| quadrature(&line.axis)).collect(),
            neighbours,
            joint: (0..if tables <= KEPT { tables } else { 0 }).map(|_| OnceLock::new()).collect(),
        }
    }

    /// `log p_y(observed cells)`: missing leaves and wholly missing subtrees drop out exactly, other missing nodes
    /// are integrated numerically.
    pub fn log_density(&self, class: usize, scratch: &Scratch) -> f64 {
        let forest = self.forest(class, scratch, None);
        let mut visited = vec![false; self.model.lines.len()];
        let mut total = 0.0;
        for i in 0..visited.len() {
            if forest.is_seen(i) && !visited[i] {
                forest.mark(i, None, &mut visited);
                total += forest.below(i, None)[0];
            }
        }
        total
    }

    fn forest<'b>(&'b self, class: usize, scratch: &'b Scratch, memo: Option<Memo>) -> Forest<'b> {
        Forest { all: self, class, neighbours: &self.neighbours[class], scratch, memo }
    }

    /// The forests of all classes with the cells of a row, to be asked for several features.
    pub fn forests<'b>(&'b self, scratch: &'b Scratch) -> Vec<Forest<'b>> {
        (0..self.model.n_classes).map(|class| self.forest(class, scratch, Some(Memo::default()))).collect()
    }

    /// Nodes of a feature.
    pub fn nodes(&self, i: usize) -> &[f64] {
        &self.quadrature[i].0
    }
}

/// Messages by sender and receiver.
type Memo = RefCell<HashMap<(usize, usize), Vec<f64>>>;

/// The forest of one class and the cells of a row.
pub(crate) struct Forest<'a> {
    all: &'a Marginals<'a>,
    class: usize,
    neighbours: &'a [Vec<(usize, usize)>],
    scratch: &'a Scratch,
    /// Messages that were sent, where several features are asked for.
    memo: Option<Memo>,
}

impl Forest<'_> {
    /// `ln P(x_i at each of its nodes | class, cells of the row)`; feature i is missing in the row.
    pub fn log_shares(&self, i: usize) -> Vec<f64> {
        let generative = self.all.model.variant.is_generative();
        let mut shares = if generative { self.below(i, None) } else { self.pooled(i) };
        shares.iter_mut().zip(&self.all.quadrature[i].1).for_each(|(s, w)| *s += w);
        log_normalise(&mut shares);
        shares
    }

    /// The mean of `log p(x_i, x_k)` over the observed features k that have a pair with i, at the nodes of i; `log p(x_i)`
    /// where there is none.
    fn pooled(&self, i: usize) -> Vec<f64> {
        let has_density = |p: usize| self.all.model.pairs[p].layers.iter().any(|l| l.class == self.class);
        let is_partner = |&(k, p): &(usize, usize)| self.is_seen(k) && has_density(p);
        let partners: Vec<(usize, usize)> = self.neighbours[i].iter().copied().filter(is_partner).collect();
        if partners.is_empty() {
            return self.log_marginal(i);
        }
        let pooled = |x: &f64| {
            let each = partners.iter().map(|&(k, p)| self.log_joint(p, i, *x, self.scratch.row[k]));
            each.sum::<f64>() / partners.len() as f64
        };
        self.all.nodes(i).iter().map(pooled).collect()
    }

    fn is_seen(&self, i: usize) -> bool {
        !self.scratch.row[i].is_nan()
    }

    /// The value of node i, or its quadrature nodes.
    fn positions(&self, i: usize) -> &[f64] {
        if self.is_seen(i) { &self.scratch.row[i..=i] } else { &self.all.quadrature[i].0 }
    }

    fn mark(&self, i: usize, from: Option<usize>, visited: &mut [bool]) {
        visited[i] = true;
        for &(k, _) in &self.neighbours[i] {
            if Some(k) != from {
                self.mark(k, Some(i), visited);
            }
        }
    }

    fn any_seen_behind(&self, i: usize, from: usize) -> bool {
        let behind = |&(k, _): &(usize, usize)| k != from && self.any_seen_behind(k, i);
        self.is_seen(i) || self.neighbours[i].iter().any(behind)
    }

    /// Own term `(1 - deg) log p(x_i)` and all messages from behind, at the positions of node i.
    fn below(&self, i: usize, from: Option<usize>) -> Vec<f64> {
        let own = self.log_marginal(i);
        let factor = 1.0 - self.neighbours[i].len() as f64;
        let mut total: Vec<f64> = own.iter().map(|t| factor * t).collect();
        for &(k, pair) in &self.neighbours[i] {
            if Some(k) != from {
                let message = self.message(k, i, pair, &own);
                total.iter_mut().zip(message).for_each(|(t, m)| *t += m);
            }
        }
        total
    }

    /// Message of node c to its neighbour i at the positions of i, where `own` is i's log density.
    fn message(&self, c: usize, i: usize, pair: usize, own: &[f64]) -> Vec<f64> {
        if !self.any_seen_behind(c, i) {
            return own.to_vec();
        }
        let Some(memo) = &self.memo else { return self.new_message(c, i, pair) };
        let before = memo.borrow().get(&(c, i)).cloned();
        before.unwrap_or_else(|| {
            let message = self.new_message(c, i, pair);
            memo.borrow_mut().insert((c, i), message.clone());
            message
        })
    }

    fn new_message(&self, c: usize, i: usize, pair: usize) -> Vec<f64> {
        let mut behind = self.below(c, Some(i));
        if self.is_seen(c) {
            let x = self.scratch.row[c];
            return self.positions(i).iter().map(|&at| self.log_joint(pair, i, at, x) + behind[0]).collect();
        }
        let (nodes, log_weights) = &self.all.quadrature[c];
        behind.iter_mut().zip(log_weights).for_each(|(b, w)| *b += w);
        let integral = |at: f64| {
            let terms: Vec<f64> =
                nodes.iter().zip(&behind).map(|(x, b)| self.log_joint(pair, i, at, *x) + b).collect();
            log_sum_exp(&terms)
        };
        match self.all.joint.get(pair * self.all.model.n_classes + self.class) {
            Some(joint) if !self.is_seen(i) => {
                let joint = joint.get_or_init(|| self.joint(pair));
                let sums = joint.summed(self.all.model.pairs[pair].pair.0 == i, &behind);
                let or_exact = |(sum, at): (Option<f64>, &f64)| sum.unwrap_or_else(|| integral(*at));
                sums.into_iter().zip(self.positions(i)).map(or_exact).collect()
            }
            _ => self.positions(i).iter().map(|&at| integral(at)).collect(),
        }
    }

    /// The joint density of a pair at the nodes of both features.
    fn joint(&self, pair: usize) -> Joint {
        let (i, j) = self.all.model.pairs[pair].pair;
        let nodes = |k: usize| self.all.quadrature[k].0.iter();
        let log: Vec<f64> =
            nodes(i).flat_map(|x| nodes(j).map(|y| self.log_joint(pair, i, *x, *y))).collect();
        let top = log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Joint { top, proba: log.iter().map(|l| (l - top).exp()).collect() }
    }

    /// `log p(x_i, x_c)` of a pair, given the value of i and of its neighbour.
    fn log_joint(&self, pair: usize, i: usize, at: f64, other: f64) -> f64 {
        let table = &self.all.model.pairs[pair];
        let layer = table.layers.iter().position(|l| l.class == self.class).unwrap_or(0);
        let (x, y) = if table.pair.0 == i { (at, other) } else { (other, at) };
        table.log_density(layer, x, y)
    }

    fn log_marginal(&self, i: usize) -> Vec<f64> {
        let mut t = vec![0.0; self.all.model.n_classes];
        let mut value = |x: &f64| {
            self.all.model.lines[i].log_densities(*x, &mut t);
            t[self.class]
        };
        self.positions(i).iter().map(&mut value).collect()
    }
}

impl Joint {
    /// `ln Σ_q p(a, q) exp(behind_q)` for the nodes a of the first feature (q those of the second) or the other way
    /// round; `None` where products get too small.
    fn summed(&self, over_second: bool, behind: &[f64]) -> Vec<Option<f64>> {
        let top = behind.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scaled: Vec<f64> = behind.iter().map(|b| (b - top).exp()).collect();
        let sums: Vec<f64> = if over_second {
            let row = |row: &[f64]| row.iter().zip(&scaled).map(|(p, b)| p * b).sum();
            self.proba.chunks_exact(behind.len()).map(row).collect()
        } else {
            let mut sums = vec![0.0; self.proba.len() / behind.len()];
            for (row, b) in self.proba.chunks_exact(sums.len()).zip(&scaled) {
                sums.iter_mut().zip(row).for_each(|(s, p)| *s += p * b);
            }
            sums
        };
        sums.into_iter().map(|s| (s > SMALL).then(|| s.ln() + self.top + top)).collect()
    }
}

/// Nodes and logarithms of trapezoid weights along an axis; the levels of a discrete one.
fn quadrature(axis: &Axis) -> (Vec<f64>, Vec<f64>) {
    let all = axis.nodes();
    if matches!(axis, Axis::Levels(_)) {
        let weights = vec![0.0; all.len()];
        return (all, weights);
    }
    let stride = all.len().div_ceil(NODES).max(1);
    let mut nodes: Vec<f64> = all.iter().copied().step_by(stride).collect();
    if let (Some(&last), Some(&end)) = (nodes.last(), all.last())
        && last != end
    {
        nodes.push(end);
    }
    let n = nodes.len();
    let width = |q: usize| 0.5 * (nodes[(q + 1).min(n - 1)] - nodes[q.saturating_sub(1)]);
    let weights = (0..n).map(|q| width(q).max(f64::MIN_POSITIVE).ln()).collect();
    (nodes, weights)
}
