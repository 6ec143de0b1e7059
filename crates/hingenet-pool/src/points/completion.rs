//! Completions for term K: a query with missing features is completed many times, each time from a
//! training row drawn by the weights of term P, moved by the regression of the missing on the observed
//! columns.

use super::Encoding;
use super::moments::{ClassMoments, Sample};
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::{Cholesky, Matrix, dot};

/// Above this many columns there is no regression step: the missing part is that of the drawn row.
pub(crate) const MOST_COLUMNS: usize = 300;

/// Share of the covariances within classes that is taken off, and share of the total variances that is added to the
/// diagonal: the indicator columns of a category always sum to one constant, and columns may not vary within classes
/// or not at all, so W alone has no inverse. A tenth off makes every block of H regular, the other two keep the
/// diagonal above 0.
const SHRINKAGE: f64 = 0.1;
const RIDGE: (f64, f64) = (1e-3, 1e-6);

/// Completed training rows and the covariance of the kernels around them,
/// `H = 0.9 W + 0.1 diag(W) + 1e-3 diag(var + 1e-6)`, W pooled within classes.
#[derive(Debug, Clone)]
pub(crate) struct Completion {
    pub(crate) points: Matrix,
    pub(crate) covariance: Option<Matrix>,
    /// `Λ = H⁻¹`.
    precision: Option<Matrix>,
    encoding: Encoding,
}

/// What the missing columns follow from, for one pattern.
pub(crate) struct Conditional {
    pub(crate) pattern: Vec<bool>,
    observed: Vec<usize>,
    missing: Vec<usize>,
    regression: Regression,
}

/// The regression `H_mo H_oo⁻¹ = −Λ_mm⁻¹ Λ_mo` of missing on observed columns, from the smaller side.
enum Regression {
    /// Missing columns are those of the drawn row.
    None,
    /// Factor of `H_oo`, and `H_mo`.
    Observed(Cholesky, Matrix),
    /// Factor of `Λ_mm`, and `Λ_mo`.
    Missing(Cholesky, Matrix),
}

/// The covariance H of the kernels; `None` if there are too many columns.
pub(crate) fn covariance(sample: &Sample) -> Result<Option<Matrix>> {
    if sample.encoding.n_columns() > MOST_COLUMNS {
        return Ok(None);
    }
    let ClassMoments { pooled: w, .. } = sample.class_moments()?;
    let var = sample.variances();
    let mut h = Matrix::from_fn(w.rows(), w.cols(), |i, j| (1.0 - SHRINKAGE) * w[(i, j)]);
    (0..var.len()).for_each(|i| h[(i, i)] = w[(i, i)] + RIDGE.0 * (var[i] + RIDGE.1));
    Ok(Some(h))
}

impl Completion {
    pub(crate) fn new(encoding: Encoding, points: Matrix, covariance: Option<Matrix>) -> Result<Self> {
        let precision = covariance.as_ref().map(|h| Cholesky::new(h).map(|c| c.inverse())).transpose()?;
        Ok(Completion { points, covariance, precision, encoding })
    }

    /// Prepares for a pattern of observed features.
    pub(crate) fn conditional(&self, pattern: &[bool]) -> Result<Conditional> {
        let columns = |observed: bool| -> Vec<usize> { self.encoding.columns(pattern, observed).collect() };
        let (observed, missing) = (columns(true), columns(false));
        let factor = |m: &Matrix, columns: &[usize]| Cholesky::new(&m.select(columns, columns));
        let regression = match (&self.covariance, &self.precision) {
            _ if observed.is_empty() || missing.is_empty() => Regression::None,
            (Some(h), _) if observed.len() <= missing.len() => {
                Regression::Observed(factor(h, &observed)?, h.select(&missing, &observed))
            }
            (_, Some(lambda)) => {
                Regression::Missing(factor(lambda, &missing)?, lambda.select(&missing, &observed))
            }
            _ => Regression::None,
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
        let shift = || -> Vec<f64> { conditional.observed.iter().map(|&a| x[a] - row[a]).collect() };
        match &conditional.regression {
            Regression::None => {}
            Regression::Observed(factor, cross) => {
                let mut shift = shift();
                factor.solve(&mut shift);
                for (r, &a) in conditional.missing.iter().enumerate() {
                    z[a] += dot(cross.row(r), &shift);
                }
            }
            Regression::Missing(factor, cross) => {
                let mut moved = cross.mul_vec(&shift());
                factor.solve(&mut moved);
                conditional.missing.iter().zip(&moved).for_each(|(&a, v)| z[a] -= v);
            }
        }
    }
}
