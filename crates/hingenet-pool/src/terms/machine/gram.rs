//! Kernel values between the training rows of term K, as its machines ask for them.

use super::kernel::{Kernel, Side};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::sum::ordered_chunks;
use hingenet_base::optimise::squared_hinge::KernelRows;
use rayon::prelude::*;

/// Kernel values between the training rows.
pub(crate) enum Gram {
    /// All of them, kept.
    Stored(Matrix),
    /// Computed when needed, for many rows with small active sets.
    Computed { left: Side, right: Side },
}

impl Gram {
    /// Keeps the whole kernel matrix.
    pub(crate) fn stored(kernel: &Kernel, points: &Matrix) -> Self {
        let n = points.rows();
        let (left, right) = (kernel.left(points), kernel.right(points));
        let mut matrix = Matrix::zeros(n, n);
        matrix.data_mut().par_chunks_mut(64 * n.max(1)).enumerate().for_each(|(k, out)| {
            let rows: Vec<usize> = (k * 64..((k + 1) * 64).min(n)).collect();
            out.copy_from_slice(left.select(&rows).block(&right).data());
        });
        Gram::Stored(matrix)
    }

    /// Keeps the points only.
    pub(crate) fn computed(kernel: &Kernel, points: &Matrix) -> Self {
        Gram::Computed { left: kernel.left(points), right: kernel.right(points) }
    }
}

impl KernelRows for Gram {
    fn among(&self, rows: &[usize]) -> Matrix {
        match self {
            Gram::Stored(matrix) => matrix.select(rows, rows),
            Gram::Computed { left, right } => left.select(rows).block(&right.select(rows)),
        }
    }

    fn times(&self, active: &[usize], beta: &[f64]) -> Vec<f64> {
        match self {
            Gram::Stored(matrix) => matrix.symmetric_mul_sparse(active, beta),
            Gram::Computed { left, right } => {
                let on_active: Vec<f64> = active.iter().map(|&i| beta[i]).collect();
                let right = right.select(active);
                let parts = ordered_chunks(left.len(), 128, |range| {
                    left.select(&range.collect::<Vec<_>>()).block(&right).mul_vec(&on_active)
                });
                parts.concat()
            }
        }
    }
}
