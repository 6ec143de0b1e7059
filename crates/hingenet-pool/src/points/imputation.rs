//! Training rows with missing cells, completed once for term K. No class label is used, so a completed
//! row tells the machine nothing about its class that the observed cells do not.

use super::Encoded;
use super::completion::Completion;
use super::moments::Sample;
use crate::rows::put_rows;
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
    sample: &Sample,
    sampled: &[usize],
    covariance: Option<&Matrix>,
) -> Result<Matrix> {
    let encoded = sample.encoded;
    let incomplete: Vec<usize> =
        encoded.by_pattern().into_iter().filter(|&i| encoded.n_observed(i) < encoded.n_features).collect();
    if incomplete.is_empty() {
        return Ok(encoded.values.clone());
    }
    let means = Matrix::from_vec(1, encoded.values.cols(), sample.overall_means())?;
    let centre = Completion::new(density.encoding.clone(), means, covariance.cloned())?;
    let mut first = encoded.values.clone();
    fill(&mut first, &incomplete, |block| {
        let mut out = Vec::new();
        for &i in block {
            let conditional = centre.conditional(encoded.pattern(i))?;
            centre.complete(&conditional, encoded.values.row(i), 0, &mut out);
        }
        Ok(out)
    })?;
    let source = Completion::new(density.encoding.clone(), first.select_rows(sampled), covariance.cloned())?;
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
    let parts = rows.par_chunks(BLOCK).map(&rows_of).collect::<Result<Vec<_>>>()?;
    put_rows(points.data_mut(), rows, &parts.concat());
    Ok(())
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
