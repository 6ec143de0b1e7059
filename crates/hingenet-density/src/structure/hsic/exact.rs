//! The criterion of one pair of variables, all O(n²) kernel values.

use super::width::DependenceKernel;
use super::{Estimator, GammaTest, gamma_test};
use hingenet_base::error::{Result, require_len};
use hingenet_base::numeric::simd::vectorised;
use hingenet_base::numeric::sum::ordered_chunks;

/// Estimates of the criterion for two variables, and the moments of its null distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Hsic {
    /// n: the total weight.
    pub n: f64,
    /// The V-statistic `n⁻² Tr(KHLH)`; 0 below four rows.
    pub v_statistic: f64,
    /// `(n-1)⁻² Tr(KHLH)`.
    pub biased: f64,
    /// The unbiased estimate; 0 below four rows.
    pub unbiased: f64,
    /// Test of independence by the gamma approximation; `None` below six rows.
    pub gamma: Option<GammaTest>,
}

impl Hsic {
    /// One of the estimates.
    pub fn value(&self, estimator: Estimator) -> f64 {
        match estimator {
            Estimator::VStatistic => self.v_statistic,
            Estimator::Biased => self.biased,
            Estimator::Unbiased => self.unbiased,
        }
    }
}

/// Weighted sums over all pairs of rows that every estimate is made of.
#[derive(Default, Clone, Copy)]
struct Sums {
    k: f64,
    l: f64,
    kl: f64,
    k_squared: f64,
    l_squared: f64,
    rows: f64,
    rows_reduced: f64,
    k_rows_squared: f64,
    l_rows_squared: f64,
}

/// The criterion of `x` and `y` with the given kernels; weights count as repetitions.
pub fn exact_hsic(
    x: &[f64],
    y: &[f64],
    weights: &[f64],
    kernel_x: DependenceKernel,
    kernel_y: DependenceKernel,
) -> Result<Hsic> {
    require_len("values of the second variable", x.len(), y.len())?;
    require_len("weights", x.len(), weights.len())?;
    let n: f64 = weights.iter().sum();
    let parts = ordered_chunks(x.len(), 64, |rows| {
        vectorised(
            #[inline(always)]
            || rows.fold(Sums::default(), |sums, i| row_sums(sums, i, x, y, weights, kernel_x, kernel_y)),
        )
    });
    let s = parts.into_iter().fold(Sums::default(), Sums::plus);
    Ok(s.estimates(n))
}

#[inline(always)]
fn row_sums(
    mut sums: Sums,
    i: usize,
    x: &[f64],
    y: &[f64],
    w: &[f64],
    kernel_x: DependenceKernel,
    kernel_y: DependenceKernel,
) -> Sums {
    let (mut k_row, mut l_row, mut kl, mut kk, mut ll) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for j in 0..x.len() {
        let (k, l) = (kernel_x.value(x[i], x[j]), kernel_y.value(y[i], y[j]));
        k_row += w[j] * k;
        l_row += w[j] * l;
        kl += w[j] * k * l;
        kk += w[j] * k * k;
        ll += w[j] * l * l;
    }
    sums.k += w[i] * k_row;
    sums.l += w[i] * l_row;
    sums.kl += w[i] * kl;
    sums.k_squared += w[i] * kk;
    sums.l_squared += w[i] * ll;
    sums.rows += w[i] * k_row * l_row;
    // Row sums without the own entry, for the unbiased estimate.
    sums.rows_reduced += w[i] * (k_row - 1.0) * (l_row - 1.0);
    sums.k_rows_squared += w[i] * k_row * k_row;
    sums.l_rows_squared += w[i] * l_row * l_row;
    sums
}

impl Sums {
    fn plus(self, o: Sums) -> Sums {
        Sums {
            k: self.k + o.k,
            l: self.l + o.l,
            kl: self.kl + o.kl,
            k_squared: self.k_squared + o.k_squared,
            l_squared: self.l_squared + o.l_squared,
            rows: self.rows + o.rows,
            rows_reduced: self.rows_reduced + o.rows_reduced,
            k_rows_squared: self.k_rows_squared + o.k_rows_squared,
            l_rows_squared: self.l_rows_squared + o.l_rows_squared,
        }
    }

    fn estimates(self, n: f64) -> Hsic {
        if n < 4.0 {
            return Hsic { n, v_statistic: 0.0, biased: 0.0, unbiased: 0.0, gamma: None };
        }
        let v = self.kl / (n * n) + self.k * self.l / n.powi(4) - 2.0 * self.rows / n.powi(3);
        let v_statistic = v.max(0.0);
        // Zeroed diagonals: every repetition of a row loses its own entry 1.
        let trace = self.kl - n;
        let product = (self.k - n) * (self.l - n) / ((n - 1.0) * (n - 2.0));
        let unbiased = (trace + product - 2.0 / (n - 2.0) * self.rows_reduced) / (n * (n - 3.0));
        let spread = |squared: f64, sum: f64, rows: f64| {
            let a = sum / (n * n);
            squared / (n * n) + a * a - 2.0 * rows / n.powi(3)
        };
        let gamma = gamma_test(
            n,
            v_statistic,
            (self.k / (n * n), spread(self.k_squared, self.k, self.k_rows_squared)),
            (self.l / (n * n), spread(self.l_squared, self.l, self.l_rows_squared)),
        );
        Hsic { n, v_statistic, biased: v_statistic * n * n / ((n - 1.0) * (n - 1.0)), unbiased, gamma }
    }
}
