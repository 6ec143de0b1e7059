//! Columns in an order of their own, so that what is learnt does not depend on how they are numbered.

use super::Constraints;
use crate::moments::Moments;
use hingenet_base::error::Result;
use hingenet_base::graph::{Dag, Pdag};
use hingenet_base::numeric::linalg::Matrix;

/// The columns by decreasing `Σ_i |R_ij|`; correlations and constraints in that order.
pub(super) struct Columns {
    /// Number of the k-th column in the table.
    pub order: Vec<usize>,
    pub correlation: Matrix,
    pub known: Constraints,
}

impl Columns {
    pub fn new(standard: &Moments, constraints: &Constraints) -> Self {
        let order = column_order(standard);
        let n1 = (standard.rows - 1.0).max(f64::MIN_POSITIVE);
        let correlation =
            Matrix::from_fn(order.len(), order.len(), |a, b| standard.gram[(order[a], order[b])] / n1);
        let known = constraints.reordered(&order);
        Columns { order, correlation, known }
    }

    /// The DAG with these arcs in the numbers of the table.
    pub fn dag(&self, arcs: impl IntoIterator<Item = (usize, usize)>) -> Result<Dag> {
        let mut parents = vec![Vec::new(); self.order.len()];
        arcs.into_iter().for_each(|(i, j)| parents[self.order[j]].push(self.order[i]));
        Dag::new(parents)
    }

    /// The same graph in the numbers of the table.
    pub fn pdag(&self, graph: &Pdag) -> Pdag {
        let original = |(i, j): (usize, usize)| (self.order[i], self.order[j]);
        let (directed, undirected) = (graph.directed_edges(), graph.undirected_edges());
        let edges = directed.iter().chain(&undirected).map(|&edge| original(edge));
        let mut renamed = Pdag::undirected(self.order.len(), edges);
        for (i, j) in directed.into_iter().map(original) {
            renamed.direct(i, j);
        }
        renamed
    }
}

fn column_order(standard: &Moments) -> Vec<usize> {
    let m = standard.nodes();
    let total: Vec<f64> = (0..m)
        .map(|j| {
            let mut sizes: Vec<f64> = standard.gram.row(j).iter().map(|g| g.abs()).collect();
            // Sorted, so that the rounding of the sum does not depend on the numbering either.
            sizes.sort_by(f64::total_cmp);
            sizes.iter().sum()
        })
        .collect();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| total[b].total_cmp(&total[a]).then(a.cmp(&b)));
    order
}
