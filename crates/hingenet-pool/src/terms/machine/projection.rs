//! The kernel machine on few centres in place of its support rows: the machine on the centres that comes nearest to it at
//! the training rows.

use super::Machine;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::{Cholesky, Matrix};
use std::ops::Range;

/// Training rows whose kernels are in memory together.
const ROWS: usize = 2048;
/// Added to the diagonal, relative to its mean: two centres may be one point.
const HAIR: f64 = 1e-10;

/// Minimises, machine by machine,
///
/// ```text
/// Σ_i s_i (f(x_i) − Σ_k α_k k(x_i, c_k))² + μ α' K_cc α
/// ```
///
/// over the coefficients α of the centres c, with the ridge μ that the machine was trained with.
pub(crate) fn projected(
    machine: &Machine,
    groups: &[Range<usize>],
    (points, weight): (&Matrix, &[f64]),
    centres: &Matrix,
    ridge: f64,
    control: &Control,
) -> Result<Machine> {
    let kernel = &machine.kernel;
    let right = kernel.right(centres);
    let among = kernel.left(centres).block(&right);
    let (m, machines) = (centres.rows(), machine.coefficients.cols());
    let mut left = Matrix::from_fn(m, m, |i, j| ridge * among[(i, j)]);
    let mut wanted = Matrix::zeros(m, machines);
    let all: Vec<usize> = (0..points.rows()).collect();
    for rows in all.chunks(ROWS) {
        control.check()?;
        let values = machine.values_at(points, rows);
        let block = kernel.left(&points.select_rows(rows)).block(&right);
        let weights: Vec<f64> = rows.iter().map(|&i| weight[i]).collect();
        let weighted = Matrix::from_fn(rows.len(), machines, |r, c| weights[r] * values[(r, c)]);
        add(&mut left, &block.weighted_gram_of_columns(&weights).mirrored());
        add(&mut wanted, &block.transpose_mul(&weighted));
    }
    let mean = (0..m).map(|k| left[(k, k)]).sum::<f64>() / m as f64;
    (0..m).for_each(|k| left[(k, k)] += HAIR * mean);
    let factor = Cholesky::of_symmetric(left)?;
    let mut coefficients = Matrix::zeros(m, machines);
    for c in 0..machines {
        let mut alpha = wanted.col(c);
        factor.solve(&mut alpha);
        alpha.iter().enumerate().for_each(|(k, a)| coefficients[(k, c)] = *a);
    }
    Ok(Machine::from_points(kernel.clone(), groups, right, coefficients, machine.scale))
}

fn add(total: &mut Matrix, part: &Matrix) {
    total.data_mut().iter_mut().zip(part.data()).for_each(|(t, v)| *t += v);
}
