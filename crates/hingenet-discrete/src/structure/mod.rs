//! A graph over variables with known numbers of states, and where each table stands in the parameter
//! vector. The graph is given by the user or learnt from coded rows: tree-augmented naive Bayes and k-trees from
//! pairwise statistics given the class. Every learnt graph satisfies Condition 1.

mod ktree;
mod pairs;
mod tan;
mod user;

pub use ktree::k_tree;
pub use pairs::PairStatistics;
pub(crate) use pairs::{PairTable, count, is_wide, pair_number};
pub use tan::{Root, tan};
pub use user::dag_from_names;

use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::Dag;

/// Largest number of entries of all tables together; checked before anything is allocated.
pub const MAX_ENTRIES: usize = 1 << 28;

/// The shape of a discrete network: graph, numbers of states, table layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    dag: Dag,
    card: Vec<usize>,
    /// Start of node i's table in the parameter vector; one more entry at the end, D.
    offsets: Vec<usize>,
    /// For each node and each of its parents: the factor of the parent's state in the row number h.
    strides: Vec<Vec<usize>>,
}

impl Structure {
    /// Lays the tables out; refuses empty domains and tables beyond 2^28 entries.
    pub fn new(card: Vec<usize>, dag: Dag) -> Result<Self> {
        require_len("numbers of states", dag.len(), card.len())?;
        if let Some(i) = card.iter().position(|&r| r == 0) {
            return Err(Error::graph(i, "has no states"));
        }
        let mut offsets = vec![0usize];
        let mut all_strides = Vec::with_capacity(card.len());
        for i in 0..card.len() {
            let size = dag.parents(i).iter().fold(card[i] as f64, |s, &p| s * card[p] as f64);
            let total = offsets[i] as f64 + size;
            if total > MAX_ENTRIES as f64 {
                return Err(Error::TooLarge {
                    what: format!("the probability table of node {i} (entries)"),
                    size: total,
                    limit: MAX_ENTRIES as f64,
                    hint: "use fewer parents, or columns with fewer categories".into(),
                });
            }
            offsets.push(total as usize);
            all_strides.push(strides(&card, dag.parents(i)));
        }
        Ok(Structure { dag, card, offsets, strides: all_strides })
    }

    /// Naive Bayes: the class is the only parent of every feature.
    pub fn naive_bayes(card: Vec<usize>) -> Result<Self> {
        let parents = (0..card.len()).map(|i| if i == 0 { vec![] } else { vec![0] }).collect();
        Self::new(card, Dag::new(parents)?)
    }

    /// The graph.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// Number of variables, the class included (N + 1).
    pub fn n_nodes(&self) -> usize {
        self.card.len()
    }

    /// Numbers of states r_i.
    pub fn card(&self) -> &[usize] {
        &self.card
    }

    /// Number of classes K.
    pub fn n_classes(&self) -> usize {
        self.card[0]
    }

    /// Number of parameters D.
    pub fn n_entries(&self) -> usize {
        self.offsets[self.card.len()]
    }

    /// Where node `i`'s table stands in the parameter vector.
    pub fn table(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// Number of rows H_i of node `i`'s table.
    pub fn n_rows(&self, i: usize) -> usize {
        (self.offsets[i + 1] - self.offsets[i]) / self.card[i]
    }

    /// Factor of each parent's state (same order as the parents) in the row number h of node `i`.
    pub fn strides(&self, i: usize) -> &[usize] {
        &self.strides[i]
    }

    /// Row number h of node `i` under the complete assignment `state`.
    #[inline]
    pub fn row_of(&self, i: usize, state: impl Fn(usize) -> usize) -> usize {
        self.dag.parents(i).iter().zip(&self.strides[i]).map(|(&p, s)| state(p) * s).sum()
    }

    /// Index in the parameter vector of node `i`'s entry under the complete assignment `state`.
    #[inline]
    pub fn entry_of(&self, i: usize, state: impl Fn(usize) -> usize) -> usize {
        let j = state(i);
        self.offsets[i] + self.row_of(i, state) * self.card[i] + j
    }

    /// Whether node `i` is a child of the class.
    pub fn is_class_child(&self, i: usize) -> bool {
        self.dag.has_arc(0, i)
    }

    /// The feature parent of each node, where the class has no parents and no feature has two feature parents.
    pub(crate) fn feature_parents(&self) -> Option<Vec<Option<usize>>> {
        let parent = |i: usize| match *self.dag.parents(i) {
            [] | [0] => Some(None),
            [0, p] | [p] if i > 0 => Some(Some(p)),
            _ => None,
        };
        (0..self.n_nodes()).map(parent).collect()
    }

    /// Condition 1: the covering parent of every class child, or an error that names the first without.
    pub fn require_c1(&self) -> Result<Vec<(usize, usize)>> {
        let problem = "is a child of the class without a covering parent (a parent that, with its own parents, holds all its \
                       others), so free weights cannot be made probabilities without changing decisions; of the rules, \
                       :ml, and :mcl and :mm with form=tables, need no such parent";
        self.dag.covering_parents(0).map_err(|i| Error::graph(i, problem))
    }
}

/// Mixed radix: how far a position moves with the state of each of `variables`, the last one fastest.
pub(crate) fn strides(card: &[usize], variables: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; variables.len()];
    for k in (0..variables.len().saturating_sub(1)).rev() {
        strides[k] = strides[k + 1] * card[variables[k + 1]];
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_numbered_parent_is_most_significant() {
        let dag = Dag::new(vec![vec![], vec![0], vec![0, 1]]).unwrap();
        let s = Structure::new(vec![3, 2, 4], dag).unwrap();
        assert_eq!(s.strides(2), [2, 1]);
        assert_eq!(s.n_entries(), 3 + 6 + 24);
        let state = [2usize, 1, 3];
        assert_eq!(s.entry_of(2, |i| state[i]), 9 + (2 * 2 + 1) * 4 + 3);
    }

    #[test]
    fn a_table_too_large_is_refused_before_it_is_allocated() {
        let dag = Dag::new(vec![vec![], vec![0], vec![0, 1]]).unwrap();
        let err = Structure::new(vec![60_000, 60_000, 60_000], dag).unwrap_err();
        assert!(matches!(err, Error::TooLarge { .. }), "{err}");
    }
}
