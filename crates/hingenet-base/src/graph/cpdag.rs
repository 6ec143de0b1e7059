//! Completed partially directed acyclic graphs: the Markov equivalence class of a DAG, by its
//! v-structures and Meek's orientation rules.

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
        graph.close_under_meek_rules();
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

    /// Meek's rules 1 to 3 until nothing changes (rule 4 is needed only with background knowledge).
    fn close_under_meek_rules(&mut self) {
        let adjacent: Vec<Vec<usize>> =
            (0..self.n).map(|i| (0..self.n).filter(|&j| self.is_adjacent(i, j)).collect()).collect();
        let mut open: Vec<(usize, usize)> = self.undirected_edges();
        loop {
            let before = open.len();
            open.retain(|&(i, j)| {
                for (a, b) in [(i, j), (j, i)] {
                    if self.is_compelled(a, b, &adjacent) {
                        self.set_directed(a, b);
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
        rule_1() || rule_2() || rule_3()
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
            prop_assert_eq!(Pdag::of(&member), class);
        }
    }

    #[test]
    fn a_chain_has_no_direction_and_a_collider_has() {
        let chain = Pdag::of(&dag_of(3, &[(0, 1), (1, 2)]));
        assert_eq!(chain.undirected_edges(), [(0, 1), (1, 2)]);
        let collider = Pdag::of(&dag_of(4, &[(0, 2), (1, 2), (2, 3)]));
        assert_eq!(collider.directed_edges(), [(0, 2), (1, 2), (2, 3)]);
    }
}
