//! Training rows with missing cells, completed once for term K. No class label is used, so a completed
//! row tells the machine nothing about its class that the observed cells do not.

use super::Encoded;
use super::completion::Completion;
use crate::terms::density::Density;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use rayon::prelude::*;

/// Draws whose mean completes a training row.
const DRAWS: usize = 10;
/// Rows per block.
const BLOCK: usize = 32;

/// Encoded training rows with every missing column filled in: first by the regression on the observed
/// columns from the mean, then by the mean of completions from rows drawn by the weights of the density,
/// the row itself left out. `sampled` are the rows of the density.
pub(crate) fn complete(
    density: &Density,
    encoded: &Encoded,
    weight: &[f64],
    sampled: &[usize],
    covariance: Option<&Matrix>,
) -> Result<Matrix> {
    let incomplete: Vec<usize> =
        encoded.by_pattern().into_iter().filter(|&i| encoded.n_observed(i) < encoded.n_features).collect();
    if incomplete.is_empty() {
        return Ok(encoded.values.clone());
    }
    let means = column_means(density, encoded, weight);
    let centre = Completion::new(density.encoding.clone(), means, covariance.cloned())?;
    let mut first = encoded.values.clone();
    fill(&mut first, &incomplete, |block| from_centre(&centre, encoded, block))?;
    let columns: Vec<usize> = (0..first.cols()).collect();
    let source =
        Completion::new(density.encoding.clone(), first.select(sampled, &columns), covariance.cloned())?;
    let mut points = first;
    fill(&mut points, &incomplete, |block| from_draws(density, &source, encoded, sampled, block))?;
    Ok(points)
}

/// Replaces the given rows by what `rows_of` makes of them, block by block.
fn fill(
    points: &mut Matrix,
    rows: &[usize],
    rows_of: impl Fn(&[usize]) -> Result<Vec<f64>> + Sync,
) -> Result<()> {
    let p = points.cols();
    let parts: Vec<Result<Vec<f64>>> = rows.par_chunks(BLOCK).map(&rows_of).collect();
    for (block, part) in rows.chunks(BLOCK).zip(parts) {
        let part = part?;
        for (r, &i) in block.iter().enumerate() {
            points.row_mut(i).copy_from_slice(&part[r * p..(r + 1) * p]);
        }
    }
    Ok(())
}

fn from_centre(centre: &Completion, encoded: &Encoded, block: &[usize]) -> Result<Vec<f64>> {
    let mut out = Vec::new();
    for &i in block {
        let conditional = centre.conditional(encoded.pattern(i))?;
        centre.complete(&conditional, encoded.values.row(i), 0, &mut out);
    }
    Ok(out)
}

fn from_draws(
    density: &Density,
    source: &Completion,
    encoded: &Encoded,
    sampled: &[usize],
    block: &[usize],
) -> Result<Vec<f64>> {
    let p = encoded.values.cols();
    let mut out = Vec::with_capacity(block.len() * p);
    let mut distances = density.distances(encoded, block);
    for (r, &i) in block.iter().enumerate() {
        let kernels = distances.row_mut(r);
        let sums = density.kernel_sums(kernels, sampled.binary_search(&i).ok());
        let conditional = source.conditional(encoded.pattern(i))?;
        let mut mean = vec![0.0; p];
        let mut one = Vec::with_capacity(p);
        for (row, times) in density.draws(kernels, &sums, DRAWS) {
            one.clear();
            source.complete(&conditional, encoded.values.row(i), row, &mut one);
            let share = times as f64 / DRAWS as f64;
            mean.iter_mut().zip(&one).for_each(|(m, v)| *m += share * v);
        }
        // observed cells stay exactly as they are
        for a in density.encoding.columns(encoded.pattern(i), true) {
            mean[a] = encoded.values[(i, a)];
        }
        out.extend(mean);
    }
    Ok(out)
}

/// One row with the mean of the observed cells of every column.
fn column_means(density: &Density, encoded: &Encoded, weight: &[f64]) -> Matrix {
    let mut means = Matrix::zeros(1, encoded.values.cols());
    for (j, group) in density.encoding.groups().iter().enumerate() {
        let rows: Vec<usize> = (0..encoded.len()).filter(|&i| encoded.pattern(i)[j]).collect();
        let total: f64 = rows.iter().map(|&i| weight[i]).sum();
        for a in group.clone() {
            let sum: f64 = rows.iter().map(|&i| weight[i] * encoded.values[(i, a)]).sum();
            means[(0, a)] = if total > 0.0 { sum / total } else { 0.0 };
        }
    }
    means
}
