//! Grow-shrink with memory. For node j every set S met while growing is a state of a tree; it keeps the
//! candidates that would pass the test, best gain first. Growing among any predecessors Z is then a walk:
//! at each state take the first candidate that lies in Z. States are computed once for all rounds.

use crate::structure::{ArcRule, Constraints};
use hingenet_base::numeric::linalg::Matrix;
use std::cell::OnceCell;

/// No state, no rank.
pub(super) const NONE: u16 = u16::MAX;
const NO_STATE: u32 = u32::MAX;
/// Memory for states before they are forgotten.
const BUDGET: usize = 1 << 28;
/// Candidates with less variance given S than this are constant or duplicated.
const MIN_VARIANCE: f64 = 1e-9;
const MIN_ERROR: f64 = 1e-12;

/// One step of a walk: a state and the rank of the candidate taken there (`NONE` at the end).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    pub state: u32,
    pub rank: u16,
}

struct State {
    set: Vec<u16>,
    /// Candidates that pass, by decreasing gain, and the state each leads to.
    ranked: Vec<(u16, u32)>,
    /// Shrunk set and its score, once asked for.
    end: OnceCell<(Vec<u16>, f64)>,
}

/// All states of one node.
#[derive(Default)]
struct Tree {
    states: Vec<State>,
    /// Rank of every node at every state, m a state; `NONE` when it does not pass.
    ranks: Vec<u16>,
}

/// The trees of all nodes.
pub(super) struct GrowTrees<'a> {
    correlation: &'a Matrix,
    known: &'a Constraints,
    rows: f64,
    /// `c log n`.
    arc_cost: f64,
    /// A candidate passes when `v_new < v · shrink`, i.e. `n log(v / v_new) > c log n`.
    shrink: f64,
    max_parents: usize,
    trees: Vec<Tree>,
    bytes: usize,
    loadings: Vec<Vec<f64>>,
    variance: Vec<f64>,
    covariance: Vec<f64>,
}

impl<'a> GrowTrees<'a> {
    pub fn new(correlation: &'a Matrix, rows: f64, penalty: f64, known: &'a Constraints) -> Self {
        let arc_cost = penalty * rows.ln();
        let mut trees = GrowTrees {
            correlation,
            known,
            rows,
            arc_cost,
            shrink: (-arc_cost / rows).exp(),
            max_parents: 24.min((rows / 4.0) as usize),
            trees: (0..correlation.rows()).map(|_| Tree::default()).collect(),
            bytes: 0,
            loadings: Vec::new(),
            variance: Vec::new(),
            covariance: Vec::new(),
        };
        trees.clear();
        trees
    }

    pub fn nodes(&self) -> usize {
        self.trees.len()
    }

    /// Forgets all states but the roots (the required parents).
    pub fn clear(&mut self) {
        self.bytes = 0;
        for j in 0..self.trees.len() {
            self.trees[j] = Tree::default();
            let required: Vec<u16> = (0..self.trees.len())
                .filter(|&i| i != j && self.known.rule(i, j) == ArcRule::Required)
                .map(|i| i as u16)
                .collect();
            self.add_state(j, required);
        }
    }

    pub fn is_full(&self) -> bool {
        self.bytes > BUDGET
    }

    /// Rank of candidate `v` at a state of node j.
    #[inline]
    pub fn rank(&self, j: usize, state: u32, v: usize) -> u16 {
        self.trees[j].ranks[state as usize * self.trees.len() + v]
    }

    /// The candidate with this rank.
    #[inline]
    pub fn candidate(&self, j: usize, step: Step) -> Option<usize> {
        self.trees[j].states[step.state as usize].ranked.get(step.rank as usize).map(|c| c.0 as usize)
    }

    /// Walks from `state` to the end, calling `visit` at every step; returns the last state.
    #[inline]
    pub fn walk(
        &mut self,
        j: usize,
        mut state: u32,
        is_before: impl Fn(usize) -> bool,
        mut visit: impl FnMut(Step),
    ) -> u32 {
        loop {
            let ranked = &self.trees[j].states[state as usize].ranked;
            let Some(rank) = ranked.iter().position(|c| is_before(c.0 as usize)) else {
                visit(Step { state, rank: NONE });
                return state;
            };
            visit(Step { state, rank: rank as u16 });
            state = self.child(j, state, rank as u16);
        }
    }

    /// The state after taking the candidate of this rank.
    #[inline]
    pub fn child(&mut self, j: usize, state: u32, rank: u16) -> u32 {
        let (node, next) = self.trees[j].states[state as usize].ranked[rank as usize];
        if next != NO_STATE {
            return next;
        }
        let mut set = self.trees[j].states[state as usize].set.clone();
        set.push(node);
        let made = self.add_state(j, set);
        self.trees[j].states[state as usize].ranked[rank as usize].1 = made;
        made
    }

    /// `s_j` of the shrunk set of a state where growing ended.
    #[inline]
    pub fn score(&self, j: usize, state: u32) -> f64 {
        self.end(j, state).1
    }

    /// The shrunk set of a state where growing ended.
    pub fn parents(&self, j: usize, state: u32) -> Vec<usize> {
        self.end(j, state).0.iter().map(|&i| i as usize).collect()
    }

    #[inline]
    fn end(&self, j: usize, state: u32) -> &(Vec<u16>, f64) {
        let state = &self.trees[j].states[state as usize];
        state.end.get_or_init(|| self.shrink(j, state.set.clone()))
    }

    /// Computes the candidates of a new state by incremental Cholesky: with V = var(x_i|S), C = cov(x_i, x_j|S)
    /// the gain of i is C²/V.
    fn add_state(&mut self, j: usize, set: Vec<u16>) -> u32 {
        let m = self.trees.len();
        let mut variance = std::mem::take(&mut self.variance);
        let mut covariance = std::mem::take(&mut self.covariance);
        variance.clear();
        variance.extend((0..m).map(|i| self.correlation[(i, i)]));
        covariance.clear();
        covariance.extend_from_slice(self.correlation.row(j));
        let mut error = covariance[j];
        self.loadings.resize(self.loadings.len().max(set.len()), Vec::new());
        for k in 0..set.len() {
            let s = set[k] as usize;
            let mut load = std::mem::take(&mut self.loadings[k]);
            load.clear();
            load.extend_from_slice(self.correlation.row(s));
            for earlier in &self.loadings[..k] {
                let at = earlier[s];
                load.iter_mut().zip(earlier).for_each(|(l, e)| *l -= at * e);
            }
            let root = variance[s].max(MIN_VARIANCE).sqrt();
            let step = covariance[s] / root;
            for i in 0..m {
                load[i] /= root;
                variance[i] -= load[i] * load[i];
                covariance[i] -= load[i] * step;
            }
            error -= step * step;
            self.loadings[k] = load;
        }
        let error = error.max(MIN_ERROR);
        let ranked = if set.len() < self.max_parents {
            self.passing(j, &set, &variance, &covariance, error)
        } else {
            Vec::new()
        };
        (self.variance, self.covariance) = (variance, covariance);
        self.bytes += 96 + 2 * m + 8 * ranked.len() + 4 * set.len();
        let tree = &mut self.trees[j];
        let first = tree.ranks.len();
        tree.ranks.resize(first + m, NONE);
        ranked.iter().enumerate().for_each(|(r, c)| tree.ranks[first + c.0 as usize] = r as u16);
        tree.states.push(State { set, ranked, end: OnceCell::new() });
        (tree.states.len() - 1) as u32
    }

    fn passing(
        &self,
        j: usize,
        set: &[u16],
        variance: &[f64],
        covariance: &[f64],
        error: f64,
    ) -> Vec<(u16, u32)> {
        let mut found: Vec<(f64, u16)> = Vec::new();
        for i in 0..variance.len() {
            if i == j || variance[i] < MIN_VARIANCE {
                continue;
            }
            let gain = covariance[i] * covariance[i] / variance[i];
            if (error - gain).max(MIN_ERROR) < error * self.shrink
                && self.known.rule(i, j) != ArcRule::Forbidden
                && !set.contains(&(i as u16))
            {
                found.push((gain, i as u16));
            }
        }
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, i)| (i, NO_STATE)).collect()
    }

    /// Drops the parent whose loss is smallest while it costs less than an arc.
    fn shrink(&self, j: usize, mut set: Vec<u16>) -> (Vec<u16>, f64) {
        loop {
            let (error, losses) = errors_without(self.correlation, j, &set);
            let weakest = (0..set.len())
                .filter(|&k| self.known.rule(set[k] as usize, j) != ArcRule::Required)
                .min_by(|&a, &b| losses[a].total_cmp(&losses[b]).then(set[a].cmp(&set[b])));
            match weakest {
                Some(k) if self.rows * ((error + losses[k]) / error).ln() < self.arc_cost => {
                    set.remove(k);
                }
                _ => {
                    let score = -self.rows * error.ln() - self.arc_cost * set.len() as f64;
                    return (set, score);
                }
            }
        }
    }
}

/// `v_j(S)` and `v_j(S − i) − v_j(S) = β_i² / (R_SS⁻¹)_ii` for every i of S, by a Cholesky factor of `R_SS` and its inverse
/// (sets are small: no library call).
fn errors_without(r: &Matrix, j: usize, set: &[u16]) -> (f64, Vec<f64>) {
    let k = set.len();
    let mut factor = vec![0.0; k * k];
    let mut inverse = vec![0.0; k * k];
    let mut error = r[(j, j)];
    let mut beta = vec![0.0; k];
    for a in 0..k {
        let node = set[a] as usize;
        for b in 0..=a {
            let sum: f64 = (0..b).map(|c| factor[a * k + c] * factor[b * k + c]).sum();
            let rest = r[(node, set[b] as usize)] - sum;
            factor[a * k + b] = if a == b { rest.max(MIN_VARIANCE).sqrt() } else { rest / factor[b * k + b] };
        }
        // Row a of L⁻¹, and y_a = (L⁻¹ R_Sj)_a.
        let pivot = factor[a * k + a];
        inverse[a * k + a] = 1.0 / pivot;
        for c in 0..a {
            let sum: f64 = (c..a).map(|b| factor[a * k + b] * inverse[b * k + c]).sum();
            inverse[a * k + c] = -sum / pivot;
        }
        let y: f64 = (0..=a).map(|c| inverse[a * k + c] * r[(set[c] as usize, j)]).sum();
        error -= y * y;
        (0..=a).for_each(|c| beta[c] += inverse[a * k + c] * y);
    }
    let diagonal = |c: usize| (c..k).map(|a| inverse[a * k + c] * inverse[a * k + c]).sum::<f64>();
    let losses = (0..k).map(|c| beta[c] * beta[c] / diagonal(c)).collect();
    (error.max(MIN_ERROR), losses)
}
