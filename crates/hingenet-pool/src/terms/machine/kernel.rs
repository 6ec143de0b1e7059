//! The kernel of term K, `k(z, z') = 1 + exp(−γ Σ_j ω_j D_j(z, z'))`, computed in blocks: squared
//! distances as one matrix product of points with two extra columns for the squared lengths.

use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::simd::{fused_exp, vectorised};

/// Gaussian kernel plus one, with a weight per column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kernel {
    /// `√(γ ω)` per column.
    pub(crate) roots: Vec<f64>,
}

/// Points made ready for the left or the right side of a kernel block.
#[derive(Debug, Clone)]
pub(crate) struct Side(pub(crate) Matrix);

impl Kernel {
    /// `ω_j = ν_j / Σ ν var`, `nu` and `variances` per column. Without any variance the kernel is constant.
    pub(crate) fn new(gamma: f64, nu: &[f64], variances: &[f64]) -> Self {
        let spread: f64 = nu.iter().zip(variances).map(|(n, v)| n * v).sum();
        let unit = if spread > 1e-12 { gamma / spread } else { 0.0 };
        Kernel { roots: nu.iter().map(|n| (unit * n).sqrt()).collect() }
    }

    /// Points `(√2 z̃, −|z̃|², 1)`.
    pub(crate) fn left(&self, points: &Matrix) -> Side {
        self.side(points, |square| [-square, 1.0])
    }

    /// Points `(√2 z̃, 1, −|z̃|²)`.
    pub(crate) fn right(&self, points: &Matrix) -> Side {
        self.side(points, |square| [1.0, -square])
    }

    fn side(&self, points: &Matrix, last: impl Fn(f64) -> [f64; 2]) -> Side {
        let p = self.roots.len();
        let mut side = Matrix::zeros(points.rows(), p + 2);
        for i in 0..points.rows() {
            let row = side.row_mut(i);
            for (a, (x, root)) in points.row(i).iter().zip(&self.roots).enumerate() {
                row[a] = std::f64::consts::SQRT_2 * root * x;
            }
            let square = 0.5 * dot(&row[..p], &row[..p]);
            row[p..].copy_from_slice(&last(square));
        }
        Side(side)
    }
}

impl Side {
    /// The given points.
    pub(crate) fn select(&self, rows: &[usize]) -> Side {
        Side(self.0.select_rows(rows))
    }

    /// Number of points.
    pub(crate) fn len(&self) -> usize {
        self.0.rows()
    }

    /// Kernel values of these (left) points with the right points, one row per left point.
    pub(crate) fn block(&self, right: &Side) -> Matrix {
        let mut block = Matrix::default();
        self.block_into(right, &mut block);
        block
    }

    /// [`Self::block`] into a matrix that is kept between calls.
    pub(crate) fn block_into(&self, right: &Side, block: &mut Matrix) {
        self.0.mul_transpose_into(&right.0, block);
        let values = block.data_mut();
        vectorised(
            #[inline(always)]
            || values.iter_mut().for_each(|v| *v = 1.0 + fused_exp(*v)),
        );
    }
}
