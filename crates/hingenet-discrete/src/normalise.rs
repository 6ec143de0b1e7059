//! Algorithm 1: turns arbitrary log weights of a C1 structure into a proper network with the same class
//! posterior for every complete row. The index maps are built once per structure, so a run costs one
//! pass over the tables; the margin solvers use the same maps for their gradients.
//!
//! Wettig, Grünwald, Roos, Myllymäki, Tirri: When discriminative learning of Bayesian network parameters
//! is easy, IJCAI 2003; Algorithm 1 of the ICML 2013 paper.

use super::Structure;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::log::log_normalise;

/// The plan of Algorithm 1 for one C1 structure.
#[derive(Debug, Clone, PartialEq)]
pub struct Normaliser {
    /// Nodes in reverse topological order: children before parents.
    steps: Vec<Step>,
    n_entries: usize,
    n_rows: usize,
}

/// What happens to one node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// The node.
    pub node: usize,
    /// Start of its table in w.
    pub start: usize,
    /// Number of its states.
    pub card: usize,
    /// Number of rows of its table.
    pub rows: usize,
    /// Position of its first row among the rows of all tables (nodes in order).
    pub first_row: usize,
    /// Where the row sums of a class child go; `None` for the others.
    pub cover: Option<Cover>,
}

/// Step 12 as a gather: each entry of the covering parent's table fixes the states of Pa_i.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cover {
    /// Start of the covering parent's table in w.
    pub start: usize,
    /// For each entry of that table the row h of the child it belongs to.
    pub row: Vec<u32>,
}

impl Normaliser {
    /// Builds the maps; an error names the first class child without a covering parent.
    pub fn new(structure: &Structure) -> Result<Self> {
        let covering = structure.require_c1()?;
        let mut first_row = vec![0usize];
        for i in 0..structure.n_nodes() {
            first_row.push(first_row[i] + structure.n_rows(i));
        }
        let step = |&node: &usize| Step {
            node,
            start: structure.table(node).start,
            card: structure.card()[node],
            rows: structure.n_rows(node),
            first_row: first_row[node],
            cover: covering.iter().find(|(i, _)| *i == node).map(|&(i, k)| cover(structure, i, k)),
        };
        let steps = structure.dag().topological_order().iter().rev().map(step).collect();
        Ok(Normaliser { steps, n_entries: structure.n_entries(), n_rows: first_row[structure.n_nodes()] })
    }

    /// Algorithm 1 in place. Entries of -inf are legal; a row that is all -inf (or has a NaN or +inf) has
    /// no posterior and is refused.
    ///
    /// The posterior is kept for complete rows only: marginalise features after normalising, never before.
    pub fn normalise(&self, w: &mut [f64]) -> Result<()> {
        require_len("network parameters", self.n_entries, w.len())?;
        let mut beta = vec![0.0; self.n_rows];
        self.sweep(w, &mut beta);
        match self.steps.iter().find(|s| beta[s.rows()].iter().any(|b| !b.is_finite())) {
            None => Ok(()),
            Some(step) => Err(Error::numeric(
                "normalisation (Algorithm 1)",
                format!("a table row of node {} has no finite sum", step.node),
            )),
        }
    }

    /// Algorithm 1 in place; writes the log-normaliser β_i(h) of every row.
    pub(super) fn sweep(&self, w: &mut [f64], beta: &mut [f64]) {
        for step in &self.steps {
            let table = &mut w[step.entries()];
            let sums = &mut beta[step.rows()];
            for (row, b) in table.chunks_exact_mut(step.card).zip(sums.iter_mut()) {
                *b = log_normalise(row);
            }
            if let Some(cover) = &step.cover {
                let parent = &mut w[cover.start..cover.start + cover.row.len()];
                for (x, &h) in parent.iter_mut().zip(&cover.row) {
                    *x += sums[h as usize];
                }
            }
        }
    }

    /// The nodes, children before parents.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Number of rows of all tables together.
    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }
}

impl Step {
    /// Entries of the table in w.
    pub fn entries(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.rows * self.card
    }

    /// Rows of the table among all rows.
    pub fn rows(&self) -> std::ops::Range<usize> {
        self.first_row..self.first_row + self.rows
    }
}

/// The map from the entries of `k`'s table to the rows of its child `i`, whose parents are `k` and some of
/// `k`'s parents.
fn cover(structure: &Structure, i: usize, k: usize) -> Cover {
    let stride = |parent: usize| {
        let at = structure.dag().parents(i).iter().position(|&p| p == parent);
        at.map_or(0, |at| structure.strides(i)[at])
    };
    let card = structure.card();
    let parents: Vec<(usize, usize, usize)> = structure
        .dag()
        .parents(k)
        .iter()
        .zip(structure.strides(k))
        .map(|(&q, &s)| (s, card[q], stride(q)))
        .collect();
    let own = stride(k);
    let mut row = Vec::with_capacity(structure.table(k).len());
    for h in 0..structure.n_rows(k) {
        let from_parents: usize = parents.iter().map(|&(s, r, to)| (h / s) % r * to).sum();
        row.extend((0..card[k]).map(|l| (from_parents + l * own) as u32));
    }
    Cover { start: structure.table(k).start, row }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::graph::Dag;

    #[test]
    fn a_row_without_mass_is_refused() {
        let structure = Structure::naive_bayes(vec![2, 2]).unwrap();
        let mut w = vec![0.0, 0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0, 0.0];
        assert!(Normaliser::new(&structure).unwrap().normalise(&mut w).is_err());
        w[2] = -1.0;
        Normaliser::new(&structure).unwrap().normalise(&mut w).unwrap();
        assert_eq!(w[3], f64::NEG_INFINITY);
    }

    #[test]
    fn a_structure_without_covering_parent_is_refused() {
        let dag = Dag::new(vec![vec![], vec![0], vec![0], vec![0, 1, 2]]).unwrap();
        let structure = Structure::new(vec![2; 4], dag).unwrap();
        let err = Normaliser::new(&structure).unwrap_err();
        assert!(err.to_string().contains("node `3`"), "{err}");
    }
}
