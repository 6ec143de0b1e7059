//! Training rows with missing cells: expectation-maximisation on the second moments. The expected Gram matrix under the
//! present network replaces the Gram matrix of complete rows, and the structure is learnt from it again.

use super::{Conditional, patterns};
use crate::moments::{Moments, check_size};
use crate::network::GaussianNetwork;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use rayon::prelude::*;

/// Largest number of expectation steps.
const MAX_STEPS: usize = 25;
/// Change of the second moments per row, relative to the column deviations, that ends the iteration.
const TOLERANCE: f64 = 1e-4;

/// Moments of rows with missing cells (NaN), with `learn` as the maximisation step; the second value says whether
/// the moments settled. Complete rows give their moments at once.
pub fn expected_moments(
    x: &Matrix,
    weights: &[f64],
    control: &Control,
    mut learn: impl FnMut(&Moments) -> Result<GaussianNetwork>,
) -> Result<(Moments, bool)> {
    if x.data().iter().all(|v| !v.is_nan()) {
        return Ok((Moments::of_rows(x, Some(weights))?, true));
    }
    let mut moments = available_cases(x, weights)?;
    for _ in 0..MAX_STEPS {
        control.check()?;
        let network = learn(&moments)?;
        let next = expectation(x, weights, &network)?;
        let change = largest_change(&moments, &next);
        moments = next;
        if change <= TOLERANCE {
            return Ok((moments, true));
        }
    }
    Ok((moments, false))
}

/// Where the iteration starts: a missing cell has the mean and the variance of the observed cells of its column.
fn available_cases(x: &Matrix, weights: &[f64]) -> Result<Moments> {
    let (n, m) = (x.rows(), x.cols());
    let rows: f64 = weights.iter().sum();
    check_size(rows, m)?;
    let mut mean = vec![0.0; m];
    let mut share = vec![0.0; m];
    for a in 0..n {
        for (j, v) in x.row(a).iter().enumerate().filter(|(_, v)| !v.is_nan()) {
            mean[j] += weights[a] * v;
            share[j] += weights[a];
        }
    }
    (0..m).filter(|&j| share[j] > 0.0).for_each(|j| mean[j] /= share[j]);
    let mut filled = Matrix::zeros(n, m);
    for a in 0..n {
        for j in 0..m {
            let v = x[(a, j)];
            filled[(a, j)] = if v.is_nan() { 0.0 } else { weights[a].sqrt() * (v - mean[j]) };
        }
    }
    let mut gram = filled.transpose_mul(&filled);
    for j in 0..m {
        if share[j] > 0.0 {
            gram[(j, j)] *= rows / share[j];
        }
    }
    Moments::given(rows, mean, gram)
}

/// Completed rows of one pattern, its missing nodes and their covariance.
type Completed = (Vec<Vec<f64>>, Vec<usize>, Matrix);

/// Expected moments under `network`.
fn expectation(x: &Matrix, weights: &[f64], network: &GaussianNetwork) -> Result<Moments> {
    let (n, m) = (x.rows(), x.cols());
    let rows: f64 = weights.iter().sum();
    let groups = patterns(n, |a| x.row(a));
    let parts: Vec<Result<Completed>> = groups
        .par_iter()
        .map(|(missing, rows)| {
            let conditional = Conditional::new(network, missing)?;
            let filled = rows.iter().map(|&a| conditional.complete(x.row(a))).collect();
            let (nodes, covariance) = conditional.covariance()?;
            Ok((filled, nodes, covariance))
        })
        .collect();
    let mut complete = Matrix::zeros(n, m);
    let mut spread = Matrix::zeros(m, m);
    for (own, part) in groups.values().zip(parts) {
        let (filled, nodes, covariance) = part?;
        let weight: f64 = own.iter().map(|&a| weights[a]).sum();
        own.iter().zip(&filled).for_each(|(&a, row)| complete.row_mut(a).copy_from_slice(row));
        for (k, &i) in nodes.iter().enumerate() {
            for (l, &j) in nodes.iter().enumerate() {
                spread[(i, j)] += weight * covariance[(k, l)];
            }
        }
    }
    let of_means = Moments::of_rows(&complete, Some(weights))?;
    let gram = Matrix::from_fn(m, m, |i, j| of_means.gram[(i, j)] + spread[(i, j)]);
    Moments::given(rows, of_means.mean, gram)
}

fn largest_change(a: &Moments, b: &Moments) -> f64 {
    let m = a.nodes();
    let deviation: Vec<f64> = (0..m).map(|j| b.gram[(j, j)].sqrt().max(f64::MIN_POSITIVE)).collect();
    let mut worst = 0.0f64;
    for i in 0..m {
        for j in 0..m {
            let change = (a.gram[(i, j)] - b.gram[(i, j)]).abs();
            if change > 0.0 {
                worst = worst.max(change / (deviation[i] * deviation[j]));
            }
        }
    }
    worst
}
