//! Best insertion: take a node out of the order and put it where the score is largest, for all places at
//! once, until no node moves. The walk of every node in the present order is kept, so a place is scored by
//! asking whether the moved node would be taken somewhere along it.

use super::grow::{GrowTrees, NONE, Step};
use crate::structure::{ArcRule, Constraints};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::random::Random;

/// Gains of a sweep, as a share of all scores, that are no more than rounding.
const ROUNDING: f64 = 1e-13;

/// An order of the nodes with the parents grown in it.
pub(super) struct Descent<'a> {
    trees: GrowTrees<'a>,
    order: Vec<usize>,
    position: Vec<usize>,
    /// Walk of each node given its predecessors.
    walk: Vec<Vec<Step>>,
    score: Vec<f64>,
    /// Nodes that must come before each node; empty when nothing is known.
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
    own: Vec<Step>,
    gain: Vec<f64>,
    with: Vec<f64>,
}

impl<'a> Descent<'a> {
    pub fn new(trees: GrowTrees<'a>, order: Vec<usize>, known: &Constraints) -> Self {
        let m = trees.nodes();
        let (before, after) = precedence(m, known);
        let mut descent = Descent {
            trees,
            order: Vec::new(),
            position: vec![0; m],
            walk: vec![Vec::new(); m],
            score: vec![0.0; m],
            before,
            after,
            own: Vec::new(),
            gain: Vec::new(),
            with: Vec::new(),
        };
        descent.set_order(order);
        descent
    }

    /// Score of the present order.
    pub fn score(&self) -> f64 {
        self.score.iter().sum()
    }

    /// Parents of each node in the present order.
    pub fn parents(&self) -> Vec<Vec<usize>> {
        let last = |j: usize| self.walk[j].last().map_or(0, |s| s.state);
        (0..self.order.len()).map(|j| self.trees.parents(j, last(j))).collect()
    }

    pub fn set_order(&mut self, order: Vec<usize>) {
        order.iter().enumerate().for_each(|(p, &v)| self.position[v] = p);
        self.order = order;
        for j in 0..self.order.len() {
            self.grow_again(j);
        }
    }

    /// Moves up to 20 nodes from a random to a random (allowed) place.
    pub fn shake(&mut self, random: &mut Random) {
        let m = self.order.len();
        let mut order = self.order.clone();
        for _ in 0..random.below(21) {
            let v = order.remove(random.below(m));
            let t = random.below(m);
            let (low, high) = allowed(&order, &self.before[v], &self.after[v]);
            order.insert(t.clamp(low, high), v);
        }
        self.set_order(order);
    }

    /// Sweeps over all nodes until a sweep moves nothing, or nothing is gained by what it moves: where rows weigh much, the
    /// rounding errors of the score are no smaller than the gains that a move takes for real ones, and moves would go round
    /// and round.
    pub fn run(&mut self, control: &Control) -> Result<()> {
        loop {
            let (before, mut moved) = (self.score(), false);
            for v in self.order.clone() {
                control.check()?;
                if self.trees.is_full() {
                    self.trees.clear();
                    self.set_order(self.order.clone());
                }
                moved |= self.insert_best(v);
            }
            let size: f64 = self.score.iter().map(|s| s.abs()).sum();
            if !moved || self.score() - before <= ROUNDING * size {
                return Ok(());
            }
        }
    }

    /// Puts `v` at its best place if the score rises.
    fn insert_best(&mut self, v: usize) -> bool {
        let from = self.position[v];
        self.score_places(v, from);
        let (mut low, mut high) = (0, self.order.len() - 1);
        if !(self.before[v].is_empty() && self.after[v].is_empty()) {
            let others: Vec<usize> = self.order.iter().copied().filter(|&w| w != v).collect();
            (low, high) = allowed(&others, &self.before[v], &self.after[v]);
        }
        let best = self.gain[low..=high].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if best <= self.gain[from] + 1e-7 {
            return false;
        }
        let to = (low..=high).find(|&t| self.gain[t] >= best - 1e-9).unwrap_or(from);
        self.relocate(v, from, to);
        true
    }

    /// Fills `gain[t]`: score of the order with `v` at place t, for every t.
    fn score_places(&mut self, v: usize, from: usize) {
        let m = self.order.len();
        self.gain.clear();
        self.with.clear();
        let mut own = std::mem::take(&mut self.own);
        own.clear();
        let root = Step { state: 0, rank: NONE };
        own.push(root);
        // Running sum of the others without v, plus v itself given the nodes passed so far.
        let mut without = 0.0;
        for t in 0..m {
            let last = own.last().map_or(0, |s| s.state);
            self.gain.push(without + self.trees.score(v, last));
            if t + 1 == m {
                break;
            }
            let w = self.order[t + usize::from(t >= from)];
            let (score_without, score_with) = if t < from {
                (self.score[w], self.score_if_added(w, v))
            } else {
                (self.score_if_removed(w, v), self.score[w])
            };
            without += score_without;
            self.with.push(score_with);
            self.extend_own(v, w, &mut own);
        }
        self.own = own;
        // Running sum of the others with v before them, from the end.
        let mut with = 0.0;
        for t in (0..m).rev() {
            self.gain[t] += with;
            if t > 0 {
                with += self.with[t - 1];
            }
        }
    }

    /// Where the walk of `w` would turn to `v` if v came before it.
    fn turn(&self, w: usize, v: usize, walk: &[Step]) -> Option<(usize, u16)> {
        walk.iter().enumerate().find_map(|(k, step)| {
            let rank = self.trees.rank(w, step.state, v);
            (rank < step.rank).then_some((k, rank))
        })
    }

    /// Score of `w` with `v` added to its predecessors.
    fn score_if_added(&mut self, w: usize, v: usize) -> f64 {
        let Some((k, rank)) = self.turn(w, v, &self.walk[w]) else { return self.score[w] };
        let state = self.walk[w][k].state;
        let next = self.trees.child(w, state, rank);
        let (position, place) = (&self.position, self.position[w]);
        let last = self.trees.walk(w, next, |i| position[i] < place, |_| ());
        self.trees.score(w, last)
    }

    /// Score of `w` with `v` taken from its predecessors.
    fn score_if_removed(&mut self, w: usize, v: usize) -> f64 {
        let Some(k) = self.use_of(w, v) else { return self.score[w] };
        let state = self.walk[w][k].state;
        let (position, place) = (&self.position, self.position[w]);
        let last = self.trees.walk(w, state, |i| position[i] < place && i != v, |_| ());
        self.trees.score(w, last)
    }

    /// The step at which the walk of `w` takes `v`.
    fn use_of(&self, w: usize, v: usize) -> Option<usize> {
        self.walk[w].iter().position(|&step| self.trees.candidate(w, step) == Some(v))
    }

    /// The walk of `v` when `w` joins the nodes before it (those that stand before w in the order).
    fn extend_own(&mut self, v: usize, w: usize, own: &mut Vec<Step>) {
        let Some((k, rank)) = self.turn(v, w, own) else { return };
        let state = own[k].state;
        own.truncate(k);
        own.push(Step { state, rank });
        let next = self.trees.child(v, state, rank);
        let (position, place) = (&self.position, self.position[w]);
        self.trees.walk(v, next, |i| position[i] <= place, |step| own.push(step));
    }

    fn relocate(&mut self, v: usize, from: usize, to: usize) {
        self.order.remove(from);
        self.order.insert(to, v);
        let (low, high) = (from.min(to), from.max(to));
        for p in low..=high {
            self.position[self.order[p]] = p;
        }
        for p in low..=high {
            let j = self.order[p];
            let changed = j == v
                || if to < from {
                    self.turn(j, v, &self.walk[j]).is_some()
                } else {
                    self.use_of(j, v).is_some()
                };
            if changed {
                self.grow_again(j);
            }
        }
    }

    fn grow_again(&mut self, j: usize) {
        let mut walk = std::mem::take(&mut self.walk[j]);
        walk.clear();
        let (position, place) = (&self.position, self.position[j]);
        let last = self.trees.walk(j, 0, |i| position[i] < place, |step| walk.push(step));
        self.walk[j] = walk;
        self.score[j] = self.trees.score(j, last);
    }
}

/// Smallest and largest place allowed for a node among the others.
fn allowed(others: &[usize], before: &[usize], after: &[usize]) -> (usize, usize) {
    let low = others.iter().rposition(|w| before.contains(w)).map_or(0, |p| p + 1);
    let high = others.iter().position(|w| after.contains(w)).unwrap_or(others.len());
    (low, high.max(low))
}

/// For each node those that must come before and after it: lower and higher tiers, required arcs.
fn precedence(m: usize, known: &Constraints) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let (mut before, mut after) = (vec![Vec::new(); m], vec![Vec::new(); m]);
    if known.is_none() {
        return (before, after);
    }
    for i in 0..m {
        for j in 0..m {
            if known.tier(i) < known.tier(j) || (i != j && known.rule(i, j) == ArcRule::Required) {
                before[j].push(i);
                after[i].push(j);
            }
        }
    }
    (before, after)
}
