//! Partially directed acyclic graphs: the Markov equivalence class of a DAG, by its v-structures and Meek's orientation
//! rules, and graphs whose directions are found one by one.

use super::Dag;

/// A graph with directed and undirected edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pdag {
    n: usize,
    /// `mark[i n + j]`: i -> j or i - j.
    mark: Vec<bool>,
}

impl Pdag {
    /// The graph without edges.
    pub fn empty(n: usize) -> Self {
        Pdag { n, mark: vec![false; n * n] }
    }

    /// The equivalence class of `dag`: an edge is directed iff every member directs it that way.
    pub fn of(dag: &Dag) -> Self {
        let mut graph = Pdag::empty(dag.len());
        for (i, j) in dag.arcs() {
            graph.mark[i * graph.n + j] = true;
            graph.mark[j * graph.n + i] = true;
        }
        graph.orient_v_structures(dag);
        graph.close_under_meek_rules(|graph, a, b| {
            graph.set_directed(a, b);
            true
        });
        graph
    }

    /// The undirected graph with these edges.
    pub fn undirected(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut graph = Pdag::empty(n);
        for (i, j) in edges {
            graph.mark[i * n + j] = true;
            graph.mark[j * n + i] = true;
        }
        graph
    }

    /// Every arc of `dag`, directed.
    pub fn directed(dag: &Dag) -> Self {
        let mut graph = Pdag::empty(dag.len());
        dag.arcs().for_each(|(i, j)| graph.mark[i * graph.n + j] = true);
        graph
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Whether the edge carries a mark from i to j: `i -> j` or `i - j`.
    pub fn has_mark(&self, i: usize, j: usize) -> bool {
        self.mark[i * self.n + j]
    }

    /// Whether `i -> j`.
    pub fn is_directed(&self, i: usize, j: usize) -> bool {
        self.has_mark(i, j) && !self.has_mark(j, i)
    }

    /// Whether `i - j`.
    pub fn is_undirected(&self, i: usize, j: usize) -> bool {
        self.has_mark(i, j) && self.has_mark(j, i)
    }

    /// Whether there is an edge of any kind.
    pub fn is_adjacent(&self, i: usize, j: usize) -> bool {
        self.has_mark(i, j) || self.has_mark(j, i)
    }

    /// All directed edges, by tail, then head.
    pub fn directed_edges(&self) -> Vec<(usize, usize)> {
        self.pairs().filter(|&(i, j)| self.is_directed(i, j)).collect()
    }

    /// All undirected edges `i - j`, `i < j`.
    pub fn undirected_edges(&self) -> Vec<(usize, usize)> {
        self.pairs().filter(|&(i, j)| i < j && self.is_undirected(i, j)).collect()
    }

    /// Gives an edge the direction `i -> j` and says whether it has it now: not if there is no edge, if it runs the other
    /// way, or if a directed cycle would close.
    pub fn direct(&mut self, i: usize, j: usize) -> bool {
        let is_open = self.is_undirected(i, j) && !self.has_directed_path(j, i);
        if is_open {
            self.set_directed(i, j);
        }
        is_open || self.is_directed(i, j)
    }

    /// Directs what the directions so far compel, by Meek's rules; never closes a directed cycle.
    pub fn propagate(&mut self) {
        self.close_under_meek_rules(Pdag::direct);
    }

    /// Arcs of a DAG with all edges of this graph and its directions, and whether it has no other v-structures (Dor, Tarsi
    /// 1992). Nodes are taken from the end of the DAG: of those that can be last, the one that stands last in `preference`.
    /// Where edges leave no such DAG, as in an undirected cycle without chords, an edge makes a new v-structure. The directed
    /// edges must have no cycle.
    pub fn extension(&self, preference: &[usize]) -> (Vec<(usize, usize)>, bool) {
        let mut left: Vec<usize> = preference.to_vec();
        let (mut arcs, mut is_exact) = (Vec::new(), true);
        while !left.is_empty() {
            let is_sink = |&v: &usize| !left.iter().any(|&u| self.is_directed(v, u));
            let is_shielded = |&v: &usize| {
                let around = |u: &&usize| self.is_adjacent(v, **u);
                let open = left.iter().filter(|&&u| self.is_undirected(v, u));
                open.clone().all(|&u| left.iter().filter(around).all(|&w| w == u || self.is_adjacent(u, w)))
            };
            let sinks: Vec<usize> = left.iter().copied().filter(is_sink).collect();
            let shielded = sinks.iter().rev().copied().find(is_shielded);
            is_exact &= shielded.is_some();
            let Some(last) = shielded.or(sinks.last().copied()) else { return (arcs, false) };
            left.retain(|&v| v != last);
            arcs.extend(left.iter().filter(|&&u| self.is_adjacent(u, last)).map(|&u| (u, last)));
        }
        (arcs, is_exact)
    }

    fn has_directed_path(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.n];
        let mut stack = vec![from];
        while let Some(v) = stack.pop() {
            if v == to {
                return true;
            }
            for u in (0..self.n).filter(|&u| self.is_directed(v, u)) {
                if !std::mem::replace(&mut seen[u], true) {
                    stack.push(u);
                }
            }
        }
        false
    }

    /// Directs the undirected edges without a new v-structure by maximum cardinality search: always
    /// the node with the most numbered undirected neighbours next; among equals the one that stands
    /// first in `preference`. The result is a member of the class.
    pub fn orient(&self, preference: &[usize]) -> Vec<(usize, usize)> {
        let mut neighbours = vec![Vec::new(); self.n];
        let mut arcs = Vec::new();
        for (i, j) in self.pairs() {
            if self.is_undirected(i, j) {
                neighbours[i].push(j);
            } else if self.has_mark(i, j) {
                arcs.push((i, j));
            }
        }
        let mut numbered = vec![false; self.n];
        let mut count = vec![0usize; self.n];
        for _ in 0..self.n {
            let mut best: Option<usize> = None;
            for &v in preference {
                if !numbered[v] && best.is_none_or(|b| count[v] > count[b]) {
                    best = Some(v);
                }
            }
            let Some(v) = best else { break };
            numbered[v] = true;
            for &u in &neighbours[v] {
                count[u] += 1;
                if numbered[u] {
                    arcs.push((u, v));
                }
            }
        }
        arcs
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let n = self.n.max(1);
        self.mark.iter().enumerate().filter(|(_, m)| **m).map(move |(k, _)| (k / n, k % n))
    }

    fn set_directed(&mut self, i: usize, j: usize) {
        self.mark[i * self.n + j] = true;
        self.mark[j * self.n + i] = false;
    }

    /// `a -> c <- b` with a, b not adjacent.
    fn orient_v_structures(&mut self, dag: &Dag) {
        for c in 0..self.n {
            let parents = dag.parents(c);
            for (k, &a) in parents.iter().enumerate() {
                for &b in &parents[k + 1..] {
                    if !dag.has_arc(a, b) && !dag.has_arc(b, a) {
                        self.set_directed(a, c);
                        self.set_directed(b, c);
                    }
                }
            }
        }
    }

    /// Meek's rules until nothing changes; `direct` gives an edge its direction, unless something speaks against it.
    fn close_under_meek_rules(&mut self, direct: impl Fn(&mut Pdag, usize, usize) -> bool) {
        let adjacent: Vec<Vec<usize>> =
            (0..self.n).map(|i| (0..self.n).filter(|&j| self.is_adjacent(i, j)).collect()).collect();
        let mut open: Vec<(usize, usize)> = self.undirected_edges();
        loop {
            let before = open.len();
            open.retain(|&(i, j)| {
                for (a, b) in [(i, j), (j, i)] {
                    if self.is_compelled(a, b, &adjacent) && direct(self, a, b) {
                        return false;
                    }
                }
                true
            });
            if open.len() == before {
                return;
            }
        }
    }

    /// Whether a rule directs the undirected edge a - b as `a -> b`.
    fn is_compelled(&self, a: usize, b: usize, adjacent: &[Vec<usize>]) -> bool {
        let rule_1 =
            || adjacent[a].iter().any(|&c| c != b && self.is_directed(c, a) && !self.is_adjacent(c, b));
        let rule_2 = || adjacent[a].iter().any(|&c| self.is_directed(a, c) && self.is_directed(c, b));
        let rule_3 = || {
            let between = |c: usize| self.is_undirected(a, c) && self.is_directed(c, b);
            let via: Vec<usize> = adjacent[a].iter().copied().filter(|&c| between(c)).collect();
            via.iter().enumerate().any(|(k, &c)| via[k + 1..].iter().any(|&d| !self.is_adjacent(c, d)))
        };
        // Applies only where directions are known that v-structures do not tell.
        let rule_4 = || {
            let via = |c: usize, d: usize| self.is_directed(c, d) && self.is_directed(d, b);
            let open = |c: usize| c != b && self.is_undirected(a, c) && !self.is_adjacent(c, b);
            adjacent[a].iter().any(|&c| open(c) && adjacent[a].iter().any(|&d| via(c, d)))
        };
        rule_1() || rule_2() || rule_3() || rule_4()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn random_dag(n: usize) -> impl Strategy<Value = Dag> {
        (Just(n), proptest::collection::vec(any::<bool>(), n * n)).prop_map(|(n, cells)| {
            Dag::new((0..n).map(|j| (0..j).filter(|i| cells[i * n + j]).collect()).collect()).unwrap()
        })
    }

    fn dag_of(n: usize, arcs: &[(usize, usize)]) -> Dag {
        let mut parents = vec![Vec::new(); n];
        arcs.iter().for_each(|&(i, j)| parents[j].push(i));
        Dag::new(parents).unwrap()
    }

    proptest! {
        #[test]
        fn every_orientation_of_a_class_is_a_member_of_it(dag in random_dag(7), seed in any::<u64>()) {
            let class = Pdag::of(&dag);
            let preference = crate::numeric::random::Random::new(seed).permutation(7);
            let member = dag_of(7, &class.orient(&preference));
            prop_assert_eq!(Pdag::of(&member), class.clone());
            let (arcs, is_exact) = class.extension(&preference);
            prop_assert!(is_exact);
            prop_assert_eq!(Pdag::of(&dag_of(7, &arcs)), class);
        }

        #[test]
        fn directions_that_are_known_spread_without_cycles_and_without_new_v_structures(
            dag in random_dag(7), known in proptest::collection::vec(any::<bool>(), 49),
        ) {
            let class = Pdag::of(&dag);
            let mut graph = class.clone();
            for (i, j) in dag.arcs().filter(|(i, j)| known[i * 7 + j]) {
                prop_assert!(graph.direct(i, j));
            }
            graph.propagate();
            // the DAG itself is among the graphs that have these directions
            prop_assert!(graph.directed_edges().iter().all(|&(i, j)| dag.has_arc(i, j)));
            let (arcs, is_exact) = graph.extension(&(0..7).collect::<Vec<_>>());
            prop_assert!(is_exact);
            prop_assert_eq!(Pdag::of(&dag_of(7, &arcs)), class);
        }

        #[test]
        fn any_directions_end_acyclic(
            edges in proptest::collection::vec((0usize..8, 0usize..8), 1..20),
            directed in proptest::collection::vec((0usize..8, 0usize..8), 0..20),
        ) {
            let edges = edges.into_iter().filter(|(i, j)| i != j);
            let mut graph = Pdag::undirected(8, edges);
            let n_edges = graph.undirected_edges().len();
            for (i, j) in directed {
                graph.direct(i, j);
            }
            graph.propagate();
            let (arcs, _) = graph.extension(&(0..8).collect::<Vec<_>>());
            prop_assert_eq!(arcs.len(), n_edges);
            prop_assert!(graph.directed_edges().iter().all(|edge| arcs.contains(edge)));
            // an error names a cycle
            dag_of(8, &arcs);
        }
    }

    #[test]
    fn an_undirected_square_has_no_member_without_a_v_structure() {
        let square = Pdag::undirected(4, [(0, 1), (1, 2), (2, 3), (3, 0)]);
        let (arcs, is_exact) = square.extension(&[0, 1, 2, 3]);
        assert!(arcs.len() == 4 && !is_exact);
    }

    #[test]
    fn an_edge_takes_no_direction_that_closes_a_cycle() {
        let mut graph = Pdag::undirected(3, [(0, 1), (1, 2), (2, 0)]);
        assert!(graph.direct(0, 1) && graph.direct(1, 2) && !graph.direct(2, 0));
        assert!(!graph.direct(1, 0) && graph.direct(0, 1) && graph.is_undirected(0, 2));
        graph.propagate();
        assert!(graph.is_directed(0, 2));
    }

    #[test]
    fn a_chain_has_no_direction_and_a_collider_has() {
        let chain = Pdag::of(&dag_of(3, &[(0, 1), (1, 2)]));
        assert_eq!(chain.undirected_edges(), [(0, 1), (1, 2)]);
        let collider = Pdag::of(&dag_of(4, &[(0, 2), (1, 2), (2, 3)]));
        assert_eq!(collider.directed_edges(), [(0, 2), (1, 2), (2, 3)]);
    }
}
