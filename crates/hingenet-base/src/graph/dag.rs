//! Directed acyclic graphs as sorted parent lists, with the covering parents of Condition 1.

use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// A directed acyclic graph over nodes `0..n`; parents of each node in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dag {
    parents: Vec<Vec<usize>>,
    order: Vec<usize>,
}

impl Dag {
    /// Checks the parent lists: indices in range, no self-loop, no duplicate, no cycle (one is named).
    pub fn new(mut parents: Vec<Vec<usize>>) -> Result<Self> {
        let n = parents.len();
        for (i, list) in parents.iter_mut().enumerate() {
            list.sort_unstable();
            if let Some(p) = list.iter().find(|&&p| p >= n) {
                return Err(Error::graph(i, format!("parent {p} does not exist (there are {n} nodes)")));
            }
            if list.contains(&i) {
                return Err(Error::graph(i, "is its own parent"));
            }
            if let Some(w) = list.windows(2).find(|w| w[0] == w[1]) {
                return Err(Error::graph(i, format!("parent {} is listed twice", w[0])));
            }
        }
        let mut dag = Dag { parents, order: Vec::with_capacity(n) };
        dag.sort()?;
        Ok(dag)
    }

    /// Number of nodes.
    #[inline]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Parents of node `i`, ascending.
    #[inline]
    pub fn parents(&self, i: usize) -> &[usize] {
        &self.parents[i]
    }

    /// All parent lists.
    pub fn parent_lists(&self) -> &[Vec<usize>] {
        &self.parents
    }

    /// Nodes with every parent before its children; among free nodes the lowest number comes first.
    #[inline]
    pub fn topological_order(&self) -> &[usize] {
        &self.order
    }

    /// Whether there is an arc `from -> to`.
    #[inline]
    pub fn has_arc(&self, from: usize, to: usize) -> bool {
        self.parents[to].binary_search(&from).is_ok()
    }

    /// All arcs `(from, to)`, by child, then parent.
    pub fn arcs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.parents.iter().enumerate().flat_map(|(to, ps)| ps.iter().map(move |&from| (from, to)))
    }

    /// Children of each node, ascending.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.len()];
        for (from, to) in self.arcs() {
            children[from].push(to);
        }
        children
    }

    /// The covering parent of `i`: a parent Y with `Pa(i) ⊆ Pa(Y) ∪ {Y}`. There is at most one (two would
    /// cover each other, a cycle).
    pub fn covering_parent(&self, i: usize) -> Option<usize> {
        let pa = &self.parents[i];
        pa.iter().copied().find(|&y| pa.iter().all(|&p| p == y || self.has_arc(p, y)))
    }

    /// Condition 1 for class node `class`: the covering parent of every child of the class, ascending by
    /// child; or the lowest-numbered class child without one.
    pub fn covering_parents(&self, class: usize) -> std::result::Result<Vec<(usize, usize)>, usize> {
        (0..self.len())
            .filter(|&i| self.has_arc(class, i))
            .map(|i| self.covering_parent(i).map(|k| (i, k)).ok_or(i))
            .collect()
    }

    /// Kahn's algorithm, lowest free node first; an error names one cycle.
    fn sort(&mut self) -> Result<()> {
        let children = self.children();
        let mut waiting: Vec<usize> = self.parents.iter().map(Vec::len).collect();
        let mut free: BTreeSet<usize> = (0..waiting.len()).filter(|&i| waiting[i] == 0).collect();
        while let Some(i) = free.pop_first() {
            self.order.push(i);
            for &c in &children[i] {
                waiting[c] -= 1;
                if waiting[c] == 0 {
                    free.insert(c);
                }
            }
        }
        if self.order.len() == self.len() { Ok(()) } else { Err(find_cycle(&self.parents, &waiting)) }
    }
}

/// Walks from a node that was never freed to a parent that was never freed until a node repeats.
fn find_cycle(parents: &[Vec<usize>], waiting: &[usize]) -> Error {
    let mut at = waiting.iter().position(|&w| w > 0).unwrap_or(0);
    let mut path = Vec::new();
    while !path.contains(&at) {
        path.push(at);
        at = parents[at].iter().copied().find(|&p| waiting[p] > 0).unwrap_or(at);
    }
    let start = path.iter().position(|&v| v == at).unwrap_or(0);
    // The walk went from child to parent, so the arcs run backwards along it.
    let mut cycle: Vec<String> = path[start..].iter().rev().map(usize::to_string).collect();
    if let Some(first) = cycle.first().cloned() {
        cycle.push(first);
    }
    Error::Cycle { nodes: cycle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_named() {
        let err = Dag::new(vec![vec![2], vec![0], vec![1], vec![]]).unwrap_err();
        assert_eq!(err.to_string(), "the graph has a cycle: 1 -> 2 -> 0 -> 1");
    }

    #[test]
    fn bad_parents_are_named() {
        assert!(Dag::new(vec![vec![0]]).unwrap_err().to_string().contains("its own parent"));
        assert!(Dag::new(vec![vec![7]]).unwrap_err().to_string().contains("does not exist"));
        assert!(Dag::new(vec![vec![], vec![0, 0]]).unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn tan_is_c1_and_a_v_structure_is_not() {
        let tan = Dag::new(vec![vec![], vec![0], vec![0, 1], vec![0, 1]]).unwrap();
        assert_eq!(tan.covering_parents(0), Ok(vec![(1, 0), (2, 1), (3, 1)]));
        let v = Dag::new(vec![vec![], vec![0], vec![0], vec![0, 1, 2]]).unwrap();
        assert_eq!(v.covering_parents(0), Err(3));
    }
}
