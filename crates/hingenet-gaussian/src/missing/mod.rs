//! Exact inference with missing cells (NaN): marginal density of the observed part, conditional means and
//! covariances. The work that depends only on which cells are missing is done once per pattern.
//!
//! Missing nodes without observed descendants integrate to one and are left out. For the other missing nodes H the
//! residuals are linear, `r = r0 + A x_H`, so with `Q = A'D A`, `D = diag(1/σ²)`, the conditional mean solves
//! `Q x_H = −A'D r0` and `log p(x_o) = Σ_j terms at x_H + |H|/2 log 2π − ½ log det Q`.

mod expected;

pub use expected::expected_moments;

use crate::network::GaussianNetwork;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::{Cholesky, Matrix};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Rows of one pattern that are looked at together.
const BLOCK: usize = 1024;

/// `work` on each of `n` rows with the networks prepared for its missing cells (NaN); results in the order of the rows.
/// Rows that miss the same cells share what is prepared; blocks of them run side by side.
pub fn by_pattern<'r, T: Send>(
    networks: &[GaussianNetwork],
    n: usize,
    row: impl Fn(usize) -> &'r [f64] + Sync,
    work: impl Fn(&[Conditional<'_>], &[f64]) -> T + Sync,
) -> Result<Vec<T>> {
    let groups = patterns(n, &row);
    let blocks: Vec<(&[bool], &[usize])> =
        groups.iter().flat_map(|(missing, rows)| rows.chunks(BLOCK).map(|b| (&missing[..], b))).collect();
    let done = blocks.par_iter().map(|(missing, rows)| {
        let prepared: Vec<Conditional<'_>> =
            networks.iter().map(|g| Conditional::new(g, missing)).collect::<Result<_>>()?;
        Ok(rows.iter().map(|&a| (a, work(&prepared, row(a)))).collect())
    });
    let done: Vec<Vec<(usize, T)>> = done.collect::<Result<_>>()?;
    let mut results: Vec<(usize, T)> = done.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(a, _)| *a);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// The rows of each pattern of missing cells, ascending.
fn patterns<'r>(n: usize, row: impl Fn(usize) -> &'r [f64]) -> BTreeMap<Vec<bool>, Vec<usize>> {
    let mut groups: BTreeMap<Vec<bool>, Vec<usize>> = BTreeMap::new();
    for a in 0..n {
        groups.entry(row(a).iter().map(|v| v.is_nan()).collect()).or_default().push(a);
    }
    groups
}

/// One network prepared for one pattern of missing cells.
#[derive(Debug)]
pub struct Conditional<'a> {
    network: &'a GaussianNetwork,
    missing: Vec<bool>,
    /// Nodes whose terms enter the marginal: observed nodes and their ancestors.
    relevant: Vec<bool>,
    hidden: Vec<usize>,
    /// Factor of Q; `None` when nothing relevant is hidden.
    factor: Option<Cholesky>,
}

impl<'a> Conditional<'a> {
    /// Prepares the network for rows that miss exactly these nodes.
    pub fn new(network: &'a GaussianNetwork, missing: &[bool]) -> Result<Self> {
        let relevant = observed_and_ancestors(network, missing);
        let hidden: Vec<usize> = (0..missing.len()).filter(|&j| missing[j] && relevant[j]).collect();
        let factor = if hidden.is_empty() {
            None
        } else {
            Some(Cholesky::new(&precision(network, &hidden, &relevant))?)
        };
        Ok(Conditional { network, missing: missing.to_vec(), relevant, hidden, factor })
    }

    /// Log density of the observed cells of a row.
    pub fn log_density(&self, row: &[f64]) -> f64 {
        if !self.missing.contains(&true) {
            return self.network.log_density(row);
        }
        let filled = self.complete(row);
        let terms: f64 =
            (0..filled.len()).filter(|&j| self.relevant[j]).map(|j| self.network.node_term(j, &filled)).sum();
        let log_det = self.factor.as_ref().map_or(0.0, Cholesky::log_det);
        terms + 0.5 * self.hidden.len() as f64 * std::f64::consts::TAU.ln() - 0.5 * log_det
    }

    /// The row with missing cells replaced by their means given the observed ones.
    pub fn complete(&self, row: &[f64]) -> Vec<f64> {
        let mut filled: Vec<f64> =
            row.iter().zip(&self.missing).map(|(v, missing)| if *missing { 0.0 } else { *v }).collect();
        if let Some(factor) = &self.factor {
            let mut x = self.right_side(&filled);
            factor.solve(&mut x);
            self.hidden.iter().zip(&x).for_each(|(&h, v)| filled[h] = *v);
        }
        // Below the observed nodes the mean just flows on.
        for &j in self.network.dag().topological_order() {
            if !self.relevant[j] {
                let parents = self.network.parents(j).map(|(i, w)| w * filled[i]).sum::<f64>();
                filled[j] = self.network.bias()[j] + parents;
            }
        }
        filled
    }

    /// Covariance of all missing nodes given the observed ones, with the list of those nodes.
    pub fn covariance(&self) -> Result<(Vec<usize>, Matrix)> {
        let nodes: Vec<usize> = (0..self.missing.len()).filter(|&j| self.missing[j]).collect();
        let all = vec![true; self.missing.len()];
        if nodes.is_empty() {
            return Ok((nodes, Matrix::zeros(0, 0)));
        }
        let inverse = Cholesky::new(&precision(self.network, &nodes, &all))?.inverse();
        Ok((nodes, inverse))
    }

    /// `−A'D r0` with hidden cells at zero.
    fn right_side(&self, filled: &[f64]) -> Vec<f64> {
        let place = places(&self.hidden, filled.len());
        let mut right = vec![0.0; self.hidden.len()];
        for j in (0..filled.len()).filter(|&j| self.relevant[j]) {
            let scaled = self.network.residual(j, filled) / self.network.variance()[j];
            if let Some(k) = place[j] {
                right[k] -= scaled;
            }
            for (i, w) in self.network.parents(j) {
                if let Some(k) = place[i] {
                    right[k] += w * scaled;
                }
            }
        }
        right
    }
}

fn observed_and_ancestors(network: &GaussianNetwork, missing: &[bool]) -> Vec<bool> {
    let mut relevant: Vec<bool> = missing.iter().map(|m| !m).collect();
    for &j in network.dag().topological_order().iter().rev() {
        if relevant[j] {
            network.dag().parents(j).iter().for_each(|&i| relevant[i] = true);
        }
    }
    relevant
}

fn places(nodes: &[usize], m: usize) -> Vec<Option<usize>> {
    let mut place = vec![None; m];
    nodes.iter().enumerate().for_each(|(k, &j)| place[j] = Some(k));
    place
}

/// `Q = A'D A` over the given nodes, summing the terms of the relevant nodes.
fn precision(network: &GaussianNetwork, nodes: &[usize], relevant: &[bool]) -> Matrix {
    let place = places(nodes, network.nodes());
    let mut q = Matrix::zeros(nodes.len(), nodes.len());
    for j in (0..network.nodes()).filter(|&j| relevant[j]) {
        let own = place[j].map(|k| (k, 1.0));
        let entries: Vec<(usize, f64)> = own
            .into_iter()
            .chain(network.parents(j).filter_map(|(i, w)| place[i].map(|k| (k, -w))))
            .collect();
        for &(a, x) in &entries {
            for &(b, y) in &entries {
                q[(a, b)] += x * y / network.variance()[j];
            }
        }
    }
    q
}
