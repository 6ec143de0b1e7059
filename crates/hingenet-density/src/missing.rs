//! Missing features of the generative classifiers: sums over the missing nodes of each class's forest by
//! message passing on the tables, one integral for each missing node that has observed nodes behind it.

use crate::classifier::DensityClassifier;
use crate::compile::{Axis, Scratch};
use hingenet_base::numeric::log::log_sum_exp;

/// Most quadrature nodes of a missing feature.
const NODES: usize = 96;

/// The forest of one class as neighbours `(node, pair table)`.
struct Forest<'a> {
    model: &'a DensityClassifier,
    class: usize,
    neighbours: Vec<Vec<(usize, usize)>>,
    scratch: &'a Scratch,
}

/// `log p_y(observed cells)`: missing leaves and wholly missing subtrees drop out exactly, other missing nodes
/// are integrated numerically.
pub(crate) fn marginal_log_density(model: &DensityClassifier, class: usize, scratch: &Scratch) -> f64 {
    let d = model.lines.len();
    let mut neighbours = vec![Vec::new(); d];
    for &p in &model.class_pairs[class] {
        let (i, j) = model.pairs[p].pair;
        neighbours[i].push((j, p));
        neighbours[j].push((i, p));
    }
    let forest = Forest { model, class, neighbours, scratch };
    let mut visited = vec![false; d];
    let mut total = 0.0;
    for i in 0..d {
        if forest.is_seen(i) && !visited[i] {
            forest.mark(i, None, &mut visited);
            total += forest.below(i, None, &[scratch.row[i]])[0];
        }
    }
    total
}

impl Forest<'_> {
    fn is_seen(&self, i: usize) -> bool {
        !self.scratch.row[i].is_nan()
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

    /// Own term `(1 - deg) log p(x_i)` and all messages from behind, at the given positions of node i.
    fn below(&self, i: usize, from: Option<usize>, positions: &[f64]) -> Vec<f64> {
        let own = self.log_marginal(i, positions);
        let factor = 1.0 - self.neighbours[i].len() as f64;
        let mut total: Vec<f64> = own.iter().map(|t| factor * t).collect();
        for &(k, pair) in &self.neighbours[i] {
            if Some(k) != from {
                let message = self.message(k, i, pair, positions, &own);
                total.iter_mut().zip(message).for_each(|(t, m)| *t += m);
            }
        }
        total
    }

    /// Message of node c to its neighbour i at the positions of i, where `own` is i's log density.
    fn message(&self, c: usize, i: usize, pair: usize, positions: &[f64], own: &[f64]) -> Vec<f64> {
        if !self.any_seen_behind(c, i) {
            return own.to_vec();
        }
        if self.is_seen(c) {
            let x = self.scratch.row[c];
            let rest = self.below(c, Some(i), &[x])[0];
            return positions.iter().map(|&at| self.log_joint(pair, i, at, x) + rest).collect();
        }
        let (nodes, log_weights) = quadrature(&self.model.lines[c].axis);
        let behind = self.below(c, Some(i), &nodes);
        let integral = |at: f64| {
            let terms: Vec<f64> = (0..nodes.len())
                .map(|q| self.log_joint(pair, i, at, nodes[q]) + behind[q] + log_weights[q])
                .collect();
            log_sum_exp(&terms)
        };
        positions.iter().map(|&at| integral(at)).collect()
    }

    /// `log p(x_i, x_c)` of a pair, given the value of i and of its neighbour.
    fn log_joint(&self, pair: usize, i: usize, at: f64, other: f64) -> f64 {
        let table = &self.model.pairs[pair];
        let layer = table.layers.iter().position(|l| l.class == self.class).unwrap_or(0);
        let (x, y) = if table.pair.0 == i { (at, other) } else { (other, at) };
        table.log_density(layer, x, y)
    }

    fn log_marginal(&self, i: usize, positions: &[f64]) -> Vec<f64> {
        let mut t = vec![0.0; self.model.n_classes];
        let mut value = |x: &f64| {
            self.model.lines[i].log_densities(*x, &mut t);
            t[self.class]
        };
        positions.iter().map(&mut value).collect()
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
