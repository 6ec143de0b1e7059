//! Class means and covariances of encoded rows, weighted. Cells that are missing in training do not
//! count: every entry of a covariance uses the rows that have both features (available cases), and the
//! result is made positive semi-definite again.

use super::{Encoded, Encoding};
use crate::rows::Labelled;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::{Matrix, symmetric_eigen};

/// Means and covariances (divisor: total weight) of the classes.
#[derive(Debug, Clone)]
pub(crate) struct ClassMoments {
    /// One row per class.
    pub(crate) means: Matrix,
    pub(crate) covariances: Vec<Matrix>,
    /// `Σ_c (n_c/n) C_c`.
    pub(crate) pooled: Matrix,
    /// `n_c`.
    pub(crate) class_weight: Vec<f64>,
}

/// Labelled rows, encoded.
pub(crate) struct Sample<'a> {
    pub(crate) encoding: &'a Encoding,
    pub(crate) encoded: &'a Encoded,
    pub(crate) rows: &'a Labelled,
}

impl Sample<'_> {
    /// Means and covariances of every class. A class without rows gets the pooled ones.
    pub(crate) fn class_moments(&self) -> Result<ClassMoments> {
        let (p, k) = (self.encoding.n_columns(), self.rows.n_classes());
        let class_weight = self.rows.class_weight();
        let total: f64 = class_weight.iter().sum();
        let everywhere = self.overall_means();
        let mut means = Matrix::zeros(k, p);
        let mut covariances = Vec::with_capacity(k);
        let mut pooled = Matrix::zeros(p, p);
        for c in 0..k {
            let mean = self.means(|i| self.rows.class[i] == c, |_, x| x, &everywhere);
            let covariance = self.covariance(|i| self.rows.class[i] == c, &mean)?;
            let share = class_weight[c] / total;
            pooled.data_mut().iter_mut().zip(covariance.data()).for_each(|(t, v)| *t += share * v);
            means.row_mut(c).copy_from_slice(&mean);
            covariances.push(covariance);
        }
        for c in (0..k).filter(|&c| class_weight[c] == 0.0) {
            covariances[c] = pooled.clone();
        }
        Ok(ClassMoments { means, covariances, pooled, class_weight })
    }

    /// Variance of every column over all rows.
    pub(crate) fn variances(&self) -> Vec<f64> {
        let mean = self.overall_means();
        let zeros = vec![0.0; mean.len()];
        self.means(|_| true, |a, x| (x - mean[a]).powi(2), &zeros)
    }

    /// Mean of every column over all rows; 0 where no row has it.
    pub(crate) fn overall_means(&self) -> Vec<f64> {
        self.means(|_| true, |_, x| x, &vec![0.0; self.encoding.n_columns()])
    }

    /// Means of a function of columns and their values over some rows; `otherwise` where no row has the column.
    fn means(
        &self,
        belongs: impl Fn(usize) -> bool,
        of: impl Fn(usize, f64) -> f64,
        otherwise: &[f64],
    ) -> Vec<f64> {
        let p = self.encoding.n_columns();
        let (mut sums, mut totals) = (vec![0.0; p], vec![0.0; p]);
        for (i, s) in self.rows.weight.iter().enumerate().filter(|(i, _)| belongs(*i)) {
            for a in self.encoding.columns(self.encoded.pattern(i), true) {
                sums[a] += s * of(a, self.encoded.values[(i, a)]);
                totals[a] += s;
            }
        }
        (0..p).map(|a| if totals[a] > 0.0 { sums[a] / totals[a] } else { otherwise[a] }).collect()
    }

    fn covariance(&self, belongs: impl Fn(usize) -> bool, mean: &[f64]) -> Result<Matrix> {
        let rows: Vec<usize> = (0..self.rows.weight.len()).filter(|&i| belongs(i)).collect();
        let p = self.encoding.n_columns();
        let mut centred = Matrix::zeros(rows.len(), p);
        let mut mask = Matrix::zeros(rows.len(), p);
        for (r, &i) in rows.iter().enumerate() {
            let root = self.rows.weight[i].sqrt();
            for a in self.encoding.columns(self.encoded.pattern(i), true) {
                centred[(r, a)] = root * (self.encoded.values[(i, a)] - mean[a]);
                mask[(r, a)] = root;
            }
        }
        let mut sums = centred.transpose_mul(&centred);
        let complete = rows.iter().all(|&i| self.encoded.pattern(i).iter().all(|o| *o));
        if complete {
            let total: f64 = rows.iter().map(|&i| self.rows.weight[i]).sum();
            let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
            sums.data_mut().iter_mut().for_each(|v| *v *= scale);
            return Ok(sums);
        }
        let totals = mask.transpose_mul(&mask);
        sums.data_mut()
            .iter_mut()
            .zip(totals.data())
            .for_each(|(v, t)| *v = if *t > 0.0 { *v / t } else { 0.0 });
        nearest_semi_definite(&sums)
    }
}

/// The matrix with its negative eigenvalues set to 0.
fn nearest_semi_definite(a: &Matrix) -> Result<Matrix> {
    let (values, vectors) = symmetric_eigen(a)?;
    if values.first().is_none_or(|least| *least >= 0.0) {
        return Ok(a.clone());
    }
    let scaled = Matrix::from_fn(a.rows(), a.cols(), |i, j| vectors[(i, j)] * values[j].max(0.0));
    Ok(scaled.mul_transpose(&vectors))
}
