//! The order step: the smallest integer potentials that violate a weighted graph least, by a
//! primal-dual flow method. With potentials p an arc i -> j of weight w costs `w (1 + p_i - p_j)₊`, so the
//! cost is 0 exactly when the graph is acyclic, and then p is the longest-path level of each node.
//!
//! This is the linear program in (o, Υ) of Zhou et al. (2015), Eq. (4.2) with Θ fixed, `o = p Δ/m`.

use super::components::strong_components;

/// An arc with its weight `|Θ_ij|`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedArc {
    /// Tail i.
    pub from: usize,
    /// Head j.
    pub to: usize,
    /// Weight, positive and finite.
    pub weight: f64,
}

/// The componentwise smallest minimiser of `Σ w (1 + p_i - p_j)₊` over `p >= 0`, and the minimum.
#[derive(Debug, Clone, PartialEq)]
pub struct Potentials {
    /// Potential of each node.
    pub level: Vec<usize>,
    /// Cost at these potentials: 0 iff the graph is acyclic.
    pub violation: f64,
}

/// Solves the order step exactly.
///
/// The minimisers form a lattice, so there is one smallest; returning it makes the result independent
/// of the numbering of the nodes. Only arcs inside a strongly connected component can be violated:
/// each component is solved alone, above the lower bounds that the components before it set.
pub fn smallest_potentials(n: usize, arcs: &[WeightedArc]) -> Potentials {
    let mut children = vec![Vec::new(); n];
    for a in arcs {
        children[a.from].push(a.to);
    }
    let components = strong_components(&children);
    let mut component_of = vec![0; n];
    let mut local = vec![0; n];
    for (c, nodes) in components.iter().enumerate() {
        for (k, &v) in nodes.iter().enumerate() {
            component_of[v] = c;
            local[v] = k;
        }
    }
    let mut inside: Vec<Vec<WeightedArc>> = vec![Vec::new(); components.len()];
    let mut leaving: Vec<Vec<(usize, usize)>> = vec![Vec::new(); components.len()];
    for a in arcs {
        let c = component_of[a.from];
        if c == component_of[a.to] {
            inside[c].push(WeightedArc { from: local[a.from], to: local[a.to], weight: a.weight });
        } else {
            leaving[c].push((a.from, a.to));
        }
    }
    // Capacities below this share of the largest weight are rounding.
    let epsilon = 1e-11 * arcs.iter().map(|a| a.weight).fold(0.0, f64::max);
    let mut level = vec![0i64; n];
    for (c, nodes) in components.iter().enumerate() {
        if nodes.len() > 1 {
            let mut p: Vec<i64> = nodes.iter().map(|&v| level[v]).collect();
            Ascent::new(&mut p, &inside[c], epsilon).run();
            nodes.iter().zip(&p).for_each(|(&v, &x)| level[v] = x);
        }
        for &(from, to) in &leaving[c] {
            level[to] = level[to].max(level[from] + 1);
        }
    }
    let violation =
        arcs.iter().map(|a| a.weight * (1 + level[a.from] - level[a.to]).max(0) as f64).sum::<f64>();
    Potentials { level: level.into_iter().map(|x| x.max(0) as usize).collect(), violation }
}

/// Steepest ascent on one component. A violated arc carries its full weight as flow, a slack arc none,
/// a tight arc anything between: complementary slackness of the order LP and its circulation dual.
struct Ascent<'a> {
    p: &'a mut [i64],
    arcs: &'a [WeightedArc],
    epsilon: f64,
    flow: Vec<f64>,
    excess: Vec<f64>,
    /// Arcs at each node: `2 a` leaves it, `2 a + 1` enters it.
    at: Vec<Vec<usize>>,
    distance: Vec<usize>,
    next: Vec<usize>,
}

const FAR: usize = usize::MAX;

impl<'a> Ascent<'a> {
    fn new(p: &'a mut [i64], arcs: &'a [WeightedArc], epsilon: f64) -> Self {
        let n = p.len();
        let mut at = vec![Vec::new(); n];
        let mut excess = vec![0.0; n];
        let mut flow = vec![0.0; arcs.len()];
        for (k, a) in arcs.iter().enumerate() {
            at[a.from].push(2 * k);
            at[a.to].push(2 * k + 1);
            if p[a.from] - p[a.to] >= 0 {
                flow[k] = a.weight;
                excess[a.from] -= a.weight;
                excess[a.to] += a.weight;
            }
        }
        Ascent { p, arcs, epsilon, flow, excess, at, distance: vec![FAR; n], next: vec![0; n] }
    }

    /// Raises the minimal source side of the minimum cut until no flow is left over. The cut is found
    /// with the flow kept from the step before; the raise is as long as the slope stays the same.
    fn run(&mut self) {
        loop {
            while self.search() {
                self.push_all();
            }
            let Some(step) = self.longest_step() else { return };
            for v in 0..self.p.len() {
                if self.distance[v] != FAR {
                    self.p[v] += step;
                }
            }
            self.settle();
        }
    }

    fn slack(&self, arc: usize) -> i64 {
        1 + self.p[self.arcs[arc].from] - self.p[self.arcs[arc].to]
    }

    /// Other end and residual capacity of an entry of `at`; only tight arcs can carry more or less.
    fn residual(&self, entry: usize) -> (usize, f64) {
        let arc = &self.arcs[entry / 2];
        let (other, capacity) = if entry.is_multiple_of(2) {
            (arc.to, arc.weight - self.flow[entry / 2])
        } else {
            (arc.from, self.flow[entry / 2])
        };
        if self.slack(entry / 2) == 0 && capacity > self.epsilon { (other, capacity) } else { (other, 0.0) }
    }

    /// Breadth-first distances from the nodes with excess; whether one with a deficit was reached.
    fn search(&mut self) -> bool {
        self.distance.fill(FAR);
        let mut queue: Vec<usize> = (0..self.p.len()).filter(|&v| self.excess[v] > self.epsilon).collect();
        queue.iter().for_each(|&v| self.distance[v] = 0);
        let mut reached = false;
        let mut head = 0;
        while head < queue.len() {
            let v = queue[head];
            head += 1;
            reached |= self.excess[v] < -self.epsilon;
            for k in 0..self.at[v].len() {
                let (u, capacity) = self.residual(self.at[v][k]);
                if capacity > 0.0 && self.distance[u] == FAR {
                    self.distance[u] = self.distance[v] + 1;
                    queue.push(u);
                }
            }
        }
        reached
    }

    /// A blocking flow along increasing distances (Dinic).
    fn push_all(&mut self) {
        self.next.fill(0);
        for source in 0..self.p.len() {
            while self.distance[source] == 0 && self.excess[source] > self.epsilon {
                let Some(path) = self.path_from(source) else { break };
                self.push(source, &path);
            }
        }
    }

    fn path_from(&mut self, source: usize) -> Option<Vec<usize>> {
        let mut path: Vec<usize> = Vec::new();
        let mut v = source;
        loop {
            if self.excess[v] < -self.epsilon {
                return Some(path);
            }
            if let Some(&entry) = self.at[v].get(self.next[v]) {
                let (u, capacity) = self.residual(entry);
                if capacity > 0.0 && self.distance[u] == self.distance[v] + 1 {
                    path.push(entry);
                    v = u;
                } else {
                    self.next[v] += 1;
                }
            } else {
                // Dead end: step back and never try this arc again in this phase.
                let entry = path.pop()?;
                v = self.tail(entry);
                self.next[v] += 1;
            }
        }
    }

    fn tail(&self, entry: usize) -> usize {
        let arc = &self.arcs[entry / 2];
        if entry.is_multiple_of(2) { arc.from } else { arc.to }
    }

    fn push(&mut self, source: usize, path: &[usize]) {
        let Some(&last) = path.last() else { return };
        let sink = self.residual(last).0;
        let mut amount = self.excess[source].min(-self.excess[sink]);
        for &entry in path {
            amount = amount.min(self.residual(entry).1);
        }
        for &entry in path {
            self.flow[entry / 2] += if entry.is_multiple_of(2) { amount } else { -amount };
        }
        self.excess[source] -= amount;
        self.excess[sink] += amount;
    }

    /// How far the reached nodes can rise before an arc at their border becomes tight; `None` when no
    /// excess is left, which proves optimality.
    fn longest_step(&self) -> Option<i64> {
        let reached = |v: usize| self.distance[v] != FAR;
        let mut step: Option<i64> = None;
        for (k, a) in self.arcs.iter().enumerate() {
            let s = self.slack(k);
            let limit = match (reached(a.from), reached(a.to)) {
                (false, true) if s >= 1 => s,
                (true, false) if s < 0 => -s,
                _ => continue,
            };
            step = Some(step.map_or(limit, |x| x.min(limit)));
        }
        if self.distance.contains(&0) { step } else { None }
    }

    /// Sets the flow of arcs that are no longer tight to the end of their range (a rounding change).
    fn settle(&mut self) {
        for (k, a) in self.arcs.iter().enumerate() {
            let s = 1 + self.p[a.from] - self.p[a.to];
            let want = match s {
                0 => continue,
                s if s > 0 => a.weight,
                _ => 0.0,
            };
            let change = want - self.flow[k];
            if change != 0.0 {
                self.flow[k] = want;
                self.excess[a.from] -= change;
                self.excess[a.to] += change;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cost(arcs: &[WeightedArc], p: &[usize]) -> f64 {
        arcs.iter().map(|a| a.weight * (1.0 + p[a.from] as f64 - p[a.to] as f64).max(0.0)).sum()
    }

    /// All potentials with values below n, by counting.
    fn brute_force(n: usize, arcs: &[WeightedArc]) -> (f64, Vec<usize>) {
        let mut best = f64::INFINITY;
        let mut smallest = vec![usize::MAX; n];
        for code in 0..n.pow(n as u32) {
            let p: Vec<usize> = (0..n).map(|v| code / n.pow(v as u32) % n).collect();
            let c = cost(arcs, &p);
            if c < best - 1e-9 {
                best = c;
                smallest = p;
            } else if c <= best + 1e-9 {
                smallest.iter_mut().zip(&p).for_each(|(s, x)| *s = (*s).min(*x));
            }
        }
        (best, smallest)
    }

    fn graph(n: usize) -> impl Strategy<Value = Vec<WeightedArc>> {
        proptest::collection::vec(proptest::option::of(1u32..6), n * n).prop_map(move |cells| {
            let arc = |(k, w): (usize, Option<u32>)| {
                let (from, to) = (k / n, k % n);
                w.filter(|_| from != to).map(|w| WeightedArc { from, to, weight: f64::from(w) })
            };
            cells.into_iter().enumerate().filter_map(arc).collect()
        })
    }

    proptest! {
        #[test]
        fn the_smallest_minimiser_is_found_also_with_ties(arcs in graph(5)) {
            let got = smallest_potentials(5, &arcs);
            let (best, smallest) = brute_force(5, &arcs);
            prop_assert!((got.violation - best).abs() < 1e-9, "{} {}", got.violation, best);
            prop_assert_eq!(got.level, smallest);
        }
    }

    #[test]
    fn a_component_below_a_long_chain_keeps_the_smallest_potentials() {
        // Chain 0 -> 1 -> 2 -> 3, then an equal two-cycle {3', 4}: node 4 may float one below node 3.
        let arc = |from, to| WeightedArc { from, to, weight: 1.0 };
        let got = smallest_potentials(5, &[arc(0, 1), arc(1, 2), arc(2, 3), arc(3, 4), arc(4, 3)]);
        assert_eq!(got.level, [0, 1, 2, 3, 2]);
        assert_eq!(got.violation, 2.0);
    }
}
