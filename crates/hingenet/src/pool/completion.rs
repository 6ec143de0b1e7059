//! Completions for term K: a query with missing features is completed many times, each time from a
//! training row drawn by the weights of term P, moved by the regression of the missing on the observed
//! columns.

use super::encoding::Encoding;
use super::moments::{ClassMoments, Sample};
use crate::error::Result;
use crate::numeric::linalg::{Cholesky, Matrix, dot};

/// Above this many columns there is no regression step: the missing part is that of the drawn row.
pub(crate) const MOST_COLUMNS: usize = 300;

/// Completed training rows and the covariance of the kernels around them,
/// `H = 0.9 W + 0.1 diag(W) + 1e-3 diag(var + 1e-6)`, W pooled within classes.
#[derive(Debug, Clone)]
pub(crate) struct Completion {
    pub(crate) points: Matrix,
    pub(crate) covariance: Option<Matrix>,
    encoding: Encoding,
}

/// What the missing columns follow from, for one pattern.
pub(crate) struct Conditional {
    pub(crate) pattern: Vec<bool>,
    observed: Vec<usize>,
    missing: Vec<usize>,
    /// Factor of `H_oo` and `H_mo`.
    regression: Option<(Cholesky, Matrix)>,
}

/// The covariance H of the kernels; `None` if there are too many columns.
pub(crate) fn covariance(sample: &Sample) -> Result<Option<Matrix>> {
    if sample.encoding.n_columns() > MOST_COLUMNS {
        return Ok(None);
    }
    let ClassMoments { pooled: w, .. } = sample.class_moments()?;
    let var = sample.variances();
    let mut h = Matrix::from_fn(w.rows(), w.cols(), |i, j| 0.9 * w[(i, j)]);
    (0..var.len()).for_each(|i| h[(i, i)] = w[(i, i)] + 1e-3 * (var[i] + 1e-6));
    Ok(Some(h))
}

impl Completion {
    pub(crate) fn new(encoding: Encoding, points: Matrix, covariance: Option<Matrix>) -> Self {
        Completion { points, covariance, encoding }
    }

    /// Prepares for a pattern of observed features.
    pub(crate) fn conditional(&self, pattern: &[bool]) -> Result<Conditional> {
        let columns = |wanted: bool| -> Vec<usize> {
            let groups = self.encoding.groups().iter().zip(pattern);
            groups.filter(|(_, o)| **o == wanted).flat_map(|(g, _)| g.clone()).collect()
        };
        let (observed, missing) = (columns(true), columns(false));
        let regression = match &self.covariance {
            Some(h) if !observed.is_empty() && !missing.is_empty() => {
                Some((Cholesky::new(&h.select(&observed, &observed))?, h.select(&missing, &observed)))
            }
            _ => None,
        };
        Ok(Conditional { pattern: pattern.to_vec(), observed, missing, regression })
    }

    /// Adds to `out` the query `x` (zeros where missing) completed from training row `i`:
    /// `z_m = e_m(x_i) + H_mo H_oo⁻¹ (x_o − e_o(x_i))`.
    pub(crate) fn complete(&self, conditional: &Conditional, x: &[f64], i: usize, out: &mut Vec<f64>) {
        let start = out.len();
        out.extend_from_slice(x);
        let (z, row) = (&mut out[start..], self.points.row(i));
        conditional.missing.iter().for_each(|&a| z[a] = row[a]);
        if let Some((factor, cross)) = &conditional.regression {
            let mut shift: Vec<f64> = conditional.observed.iter().map(|&a| x[a] - row[a]).collect();
            factor.solve(&mut shift);
            for (r, &a) in conditional.missing.iter().enumerate() {
                z[a] += dot(cross.row(r), &shift);
            }
        }
    }
}
