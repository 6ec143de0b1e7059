//! Undirected graphs for exact inference: the moral graph of a directed one, and an order in which its
//! nodes can be eliminated with few new edges.

use super::Dag;
use std::collections::BTreeSet;

/// Nodes with more neighbours than this are costly to look at.
const MANY_NEIGHBOURS: usize = 64;

/// An undirected graph over nodes `0..n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndirectedGraph {
    neighbours: Vec<BTreeSet<usize>>,
}

impl UndirectedGraph {
    /// No edges.
    pub fn new(n: usize) -> Self {
        UndirectedGraph { neighbours: vec![BTreeSet::new(); n] }
    }

    /// The moral graph: the arcs without direction, and an edge between any two parents of one node.
    pub fn moral(dag: &Dag) -> Self {
        let mut graph = Self::new(dag.len());
        for i in 0..dag.len() {
            let family: Vec<usize> = dag.parents(i).iter().copied().chain([i]).collect();
            graph.connect(&family);
        }
        graph
    }

    /// Joins every two of the nodes.
    pub fn connect(&mut self, nodes: &[usize]) {
        for (k, &a) in nodes.iter().enumerate() {
            for &b in &nodes[k + 1..] {
                self.neighbours[a].insert(b);
                self.neighbours[b].insert(a);
            }
        }
    }

    /// An order to eliminate `nodes`: each time the node whose neighbours need the fewest new edges;
    /// ties go to the smallest clique (by `log_size` of its nodes), then to the lowest number. Nodes with
    /// many neighbours are looked at only when every other choice needs new edges, which keeps hubs cheap.
    pub fn elimination_order(mut self, nodes: &[usize], log_size: &[f64]) -> Vec<usize> {
        let mut left: BTreeSet<usize> = nodes.iter().copied().collect();
        let mut order = Vec::with_capacity(nodes.len());
        let mut cost: Vec<Option<(usize, f64)>> = vec![None; self.neighbours.len()];
        while !left.is_empty() {
            for &i in &left {
                if cost[i].is_none() && self.neighbours[i].len() <= MANY_NEIGHBOURS {
                    cost[i] = Some(self.cost(i, log_size));
                }
            }
            let mut next = cheapest(&left, &cost);
            if next.is_none_or(|(_, new_edges)| new_edges > 0) {
                for &i in &left {
                    cost[i] = cost[i].or_else(|| Some(self.cost(i, log_size)));
                }
                next = cheapest(&left, &cost);
            }
            let Some((i, _)) = next else { break };
            left.remove(&i);
            order.push(i);
            self.eliminate(i, &mut cost);
        }
        order
    }

    /// Eliminates nodes in the given order and returns the neighbours each has when it goes: with the
    /// node itself the cliques of the triangulated graph.
    pub fn eliminated(mut self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut out = |&i: &usize| {
            let around: Vec<usize> = self.neighbours[i].iter().copied().collect();
            self.remove(i);
            self.connect(&around);
            around
        };
        order.iter().map(&mut out).collect()
    }

    /// Takes `i` out, joins its neighbours, and forgets the costs that may have changed.
    fn eliminate(&mut self, i: usize, cost: &mut [Option<(usize, f64)>]) {
        let around: Vec<usize> = self.neighbours[i].iter().copied().collect();
        let joins = cost[i].is_none_or(|(new_edges, _)| new_edges > 0);
        self.remove(i);
        if joins {
            self.connect(&around);
            let near = around.iter().flat_map(|&a| self.neighbours[a].iter());
            near.for_each(|&b| cost[b] = None);
        }
        around.iter().for_each(|&a| cost[a] = None);
    }

    /// New edges and clique size of eliminating `i`.
    fn cost(&self, i: usize, log_size: &[f64]) -> (usize, f64) {
        let around: Vec<usize> = self.neighbours[i].iter().copied().collect();
        let missing = |(k, a): (usize, &usize)| {
            around[k + 1..].iter().filter(|b| !self.neighbours[*a].contains(b)).count()
        };
        let new_edges = around.iter().enumerate().map(missing).sum();
        (new_edges, log_size[i] + around.iter().map(|&a| log_size[a]).sum::<f64>())
    }

    fn remove(&mut self, i: usize) {
        for a in std::mem::take(&mut self.neighbours[i]) {
            self.neighbours[a].remove(&i);
        }
    }
}

/// The cheapest of the nodes whose cost is known, and the number of its new edges.
fn cheapest(nodes: &BTreeSet<usize>, cost: &[Option<(usize, f64)>]) -> Option<(usize, usize)> {
    let known = nodes.iter().filter_map(|&i| cost[i].map(|(new_edges, size)| (i, new_edges, size)));
    let best = known.min_by(|a, b| a.1.cmp(&b.1).then(a.2.total_cmp(&b.2)).then(a.0.cmp(&b.0)));
    best.map(|(i, new_edges, _)| (i, new_edges))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_of_a_node_are_married() {
        let dag = Dag::new(vec![vec![], vec![], vec![0, 1], vec![2]]).unwrap();
        let graph = UndirectedGraph::moral(&dag);
        assert!(graph.neighbours[0].iter().eq(&[1, 2]));
        assert!(graph.neighbours[2].iter().eq(&[0, 1, 3]));
    }

    #[test]
    fn eliminating_a_square_joins_its_opposite_corners() {
        let mut square = UndirectedGraph::new(4);
        (0..4).for_each(|i| square.connect(&[i, (i + 1) % 4]));
        let cliques = square.eliminated(&[0, 1, 2, 3]);
        assert_eq!(cliques, [vec![1, 3], vec![2, 3], vec![3], vec![]]);
    }

    #[test]
    fn a_tree_is_eliminated_from_its_leaves() {
        let mut star = UndirectedGraph::new(4);
        (1..4).for_each(|i| star.connect(&[0, i]));
        assert_eq!(star.elimination_order(&[0, 1, 2, 3], &[1.0; 4]), [1, 2, 0, 3]);
    }
}
