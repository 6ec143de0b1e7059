//! Where OR-SGBN starts: the plain lasso, or L1MB (a lasso path with a least-squares refit, chosen by BIC).

use super::weights::ArcWeights;
use crate::moments::Moments;
use crate::structure::{ArcRule, Constraints};
use hingenet_base::numeric::linalg::{Cholesky, dot};
use hingenet_base::optimise::lasso::{LassoStop, weighted_lasso};
use rayon::prelude::*;

/// The graph from which alternation starts (it may have cycles).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// Lasso of every node on all others with λ1.
    #[default]
    Lasso,
    /// L1MB, the start of the paper's second experiment: 60 lasso values, refit, BIC.
    L1mb,
}

pub(super) fn start(start: Start, moments: &Moments, lambda1: f64, constraints: &Constraints) -> ArcWeights {
    let mut weights = ArcWeights::zeros(moments);
    match start {
        Start::Lasso => weights.solve(moments, |i, j| base_weight(constraints, lambda1, i, j)),
        Start::L1mb => {
            let m = moments.nodes();
            let columns: Vec<Vec<f64>> =
                (0..m).into_par_iter().map(|j| l1mb_column(moments, j, constraints)).collect();
            for (j, column) in columns.iter().enumerate() {
                weights.incoming.row_mut(j).copy_from_slice(column);
            }
        }
    }
    weights
}

/// λ1, +∞ for a forbidden arc, 0 for a required one.
pub(super) fn base_weight(constraints: &Constraints, lambda1: f64, i: usize, j: usize) -> f64 {
    match constraints.rule(i, j) {
        ArcRule::Free => lambda1,
        ArcRule::Forbidden => f64::INFINITY,
        ArcRule::Required => 0.0,
    }
}

/// Values of the lasso path.
const PATH: usize = 60;

/// The support on the path with least `n log(RSS/n) + |S| log n`, refitted by least squares.
fn l1mb_column(moments: &Moments, j: usize, constraints: &Constraints) -> Vec<f64> {
    let (m, n, gram) = (moments.nodes(), moments.rows(), moments.gram());
    let largest = (0..m).filter(|&i| i != j).map(|i| gram[(i, j)].abs()).fold(0.0, f64::max);
    let score = |rss: f64, k: usize| n * (rss / n).max(1e-300).ln() + k as f64 * n.ln();
    let mut best = (score(gram[(j, j)], 0), vec![0.0; m]);
    let mut theta = vec![0.0; m];
    let mut last: Vec<usize> = Vec::new();
    for k in 1..=PATH {
        let lambda = 2.0 * largest * 0.001f64.powf(k as f64 / PATH as f64);
        let weights: Vec<f64> = (0..m).map(|i| base_weight(constraints, lambda, i, j)).collect();
        weighted_lasso(gram, j, &weights, LassoStop { tolerance: 1e-12, max_sweeps: 10_000 }, &mut theta);
        let support: Vec<usize> = (0..m).filter(|&i| theta[i] != 0.0).collect();
        if support == last || support.len() as f64 + 1.0 >= n {
            continue;
        }
        if let Some((refit, rss)) = least_squares(moments, j, &support) {
            let s = score(rss, support.len());
            if s < best.0 {
                best = (s, refit);
            }
        }
        last = support;
    }
    best.1
}

/// Least squares of node j on `support`: all m coefficients and the squared error; `None` when the
/// support is linearly dependent.
pub(super) fn least_squares(moments: &Moments, j: usize, support: &[usize]) -> Option<(Vec<f64>, f64)> {
    let gram = moments.gram();
    let factor = Cholesky::new(&gram.select(support, support)).ok()?;
    let right: Vec<f64> = support.iter().map(|&i| gram[(i, j)]).collect();
    let mut beta = right.clone();
    factor.solve(&mut beta);
    let mut theta = vec![0.0; moments.nodes()];
    support.iter().zip(&beta).for_each(|(&i, b)| theta[i] = *b);
    let rss = (gram[(j, j)] - dot(&beta, &right)).max(0.0);
    theta.iter().all(|t| t.is_finite()).then(|| {
        let rss = moments.squared_error(j, &theta, rss);
        (theta, rss)
    })
}
