//! Class means and covariances of encoded rows, weighted. Cells that are missing in training do not
//! count: every entry of a covariance uses the rows that have both features (available cases), and the
//! result is made positive semi-definite again.

use super::{Encoded, Encoding};
use crate::rows::Labelled;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::exact::{ExactSums, MOST_ROWS};
use hingenet_base::numeric::linalg::{Matrix, symmetric_eigen};
use hingenet_data::table::Table;
use rayon::prelude::*;

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
        let everywhere = self.overall_means();
        let (means, pooled) = (Matrix::zeros(k, p), Matrix::zeros(p, p));
        let mut moments = ClassMoments { means, covariances: Vec::with_capacity(k), pooled, class_weight };
        for c in 0..k {
            let mean = self.means(|i| self.rows.class[i] == c, |_, x| x, &everywhere);
            moments.covariances.push(self.covariance(|i| self.rows.class[i] == c, &mean)?);
            moments.means.row_mut(c).copy_from_slice(&mean);
        }
        moments.pool();
        Ok(moments)
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

/// Steps of an encoded column from 0 to 1: no column is further from 0 than 10⁶, and so no sum is too large.
const STEPS: f64 = (1u64 << 27) as f64;

/// How rows become columns of whole numbers whose sums give the moments: the encoded columns in steps and, where cells are
/// missing, an indicator of each feature, 1 where it is observed. Products of the two are sums over available cases.
pub(crate) struct SumLayout {
    pub(crate) encoding: Encoding,
    pub(crate) has_gaps: bool,
}

impl SumLayout {
    /// Number of columns.
    pub(crate) fn n_columns(&self) -> usize {
        self.encoding.n_columns() + if self.has_gaps { self.encoding.groups.len() } else { 0 }
    }

    /// Sums of each class.
    pub(crate) fn sums(
        &self,
        rows: &Table,
        class: &[usize],
        k: usize,
        weights: &[u64],
    ) -> Result<Vec<ExactSums>> {
        let encoded = self.encoding.encode(rows);
        let p = self.encoding.n_columns();
        let cell = |a: usize, i: usize| match a < p {
            true => (encoded.values[(i, a)] * STEPS).round() as i64,
            false => i64::from(encoded.pattern(i)[a - p]),
        };
        let of_class = |c: usize| {
            let own: Vec<usize> = (0..class.len()).filter(|&i| class[i] == c).collect();
            let column = |a: usize| own.iter().map(|&i| cell(a, i)).collect::<Vec<i64>>();
            let columns: Vec<Vec<i64>> = (0..self.n_columns()).into_par_iter().map(column).collect();
            ExactSums::of(&columns, &own.iter().map(|&i| weights[i]).collect::<Vec<_>>())
        };
        (0..k).map(of_class).collect()
    }
}

/// What the sums of one class say about its columns.
struct Available<'a> {
    layout: &'a SumLayout,
    sums: &'a ExactSums,
    /// Feature of each column.
    feature: Vec<usize>,
}

impl<'a> Available<'a> {
    fn new(layout: &'a SumLayout, sums: &'a ExactSums) -> Self {
        let groups = layout.encoding.groups.iter().enumerate();
        let feature = groups.flat_map(|(j, group)| std::iter::repeat_n(j, group.len())).collect();
        Available { layout, sums, feature }
    }

    /// Place of the indicator of a column's feature.
    fn indicator(&self, a: usize) -> usize {
        self.feature.len() + self.feature[a]
    }

    /// Total weight of the rows that have both columns.
    fn rows(&self, a: usize, b: usize) -> f64 {
        match self.layout.has_gaps {
            true => self.sums.product(self.indicator(a), self.indicator(b)) as f64,
            false => self.sums.rows as f64,
        }
    }

    /// `Σ x_a` over the rows that have both columns.
    fn sum(&self, a: usize, b: usize) -> f64 {
        let steps = match self.layout.has_gaps {
            true => self.sums.product(a, self.indicator(b)),
            false => self.sums.sums[a],
        };
        steps as f64 / STEPS
    }

    /// `Σ (x_a − m_a)(x_b − m_b)` over the rows that have both columns, by their total weight.
    fn covariance(&self, a: usize, b: usize, mean: &[f64]) -> f64 {
        let n = self.rows(a, b);
        if n == 0.0 {
            return 0.0;
        }
        let product = self.sums.product(a, b) as f64 / (STEPS * STEPS);
        (product - mean[a] * self.sum(b, a) - mean[b] * self.sum(a, b) + mean[a] * mean[b] * n) / n
    }
}

impl ClassMoments {
    /// The moments of rows whose sums were gathered, class by class: those of [`Sample::class_moments`] to the precision of
    /// the steps.
    pub(crate) fn from_sums(layout: &SumLayout, classes: &[ExactSums]) -> Result<Self> {
        let (m, p, k) = (layout.n_columns(), layout.encoding.n_columns(), classes.len());
        let rows: u64 = classes.iter().map(|c| c.rows).fold(0, u64::saturating_add);
        if rows > MOST_ROWS || !classes.iter().all(|c| c.is_possible(m)) {
            return Err(Error::model_file("the sums of the classes are damaged, or of more than 2^31 rows"));
        }
        let mut all = ExactSums::empty(m);
        classes.iter().try_for_each(|c| all.merge(c))?;
        let mean_of = |of: &Available<'_>, a: usize, otherwise: f64| {
            let n = of.rows(a, a);
            if n > 0.0 { of.sum(a, a) / n } else { otherwise }
        };
        let everywhere: Vec<f64> = (0..p).map(|a| mean_of(&Available::new(layout, &all), a, 0.0)).collect();
        let mut moments = ClassMoments {
            means: Matrix::zeros(k, p),
            covariances: Vec::with_capacity(k),
            pooled: Matrix::zeros(p, p),
            class_weight: classes.iter().map(|c| c.rows as f64).collect(),
        };
        for (c, sums) in classes.iter().enumerate() {
            let of = Available::new(layout, sums);
            let mean: Vec<f64> = (0..p).map(|a| mean_of(&of, a, everywhere[a])).collect();
            let covariance = Matrix::from_fn(p, p, |a, b| of.covariance(a.max(b), a.min(b), &mean));
            moments.means.row_mut(c).copy_from_slice(&mean);
            moments.covariances.push(match layout.has_gaps {
                true => nearest_semi_definite(&covariance)?,
                false => covariance,
            });
        }
        moments.pool();
        Ok(moments)
    }

    /// Pools the covariances; a class without rows gets the pooled one.
    fn pool(&mut self) {
        let total: f64 = self.class_weight.iter().sum();
        for (covariance, n) in self.covariances.iter().zip(&self.class_weight) {
            let share = n / total;
            self.pooled.data_mut().iter_mut().zip(covariance.data()).for_each(|(t, v)| *t += share * v);
        }
        for (covariance, n) in self.covariances.iter_mut().zip(&self.class_weight) {
            if *n == 0.0 {
                *covariance = self.pooled.clone();
            }
        }
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
