//! Small dense linear algebra on row-major `f64` matrices. `faer` does the work, sequentially, so the
//! bits do not depend on the number of threads; parallel loops stand outside. Nothing of `faer` is
//! visible in our types.

use crate::error::{Error, Result};
use crate::numeric::simd::vectorised;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::reborrow::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par, Side};

/// Rows and columns of a tile that is turned over in the cache.
const TILE: usize = 32;
/// Columns of an inverse that are worked on together.
const INVERSE_COLUMNS: usize = 128;

/// A dense matrix, row by row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// Entry by entry.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            for j in 0..cols {
                data.push(f(i, j));
            }
        }
        Matrix { rows, cols, data }
    }

    /// Takes over row-major data.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<f64>) -> Result<Self> {
        // sizes from a file may overflow, and no data are so many
        let size = rows.saturating_mul(cols);
        crate::error::require_len("entries of a matrix", size, data.len())?;
        Ok(Matrix { rows, cols, data })
    }

    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, to write.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Column `j`, copied.
    pub fn col(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    /// All entries, row by row.
    #[inline]
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row by row, to write.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The transpose.
    pub fn transpose(&self) -> Matrix {
        Matrix::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// `self · other`.
    pub fn mul(&self, other: &Matrix) -> Matrix {
        product(self.view(), other.view())
    }

    /// `selfᵀ · other`.
    pub fn transpose_mul(&self, other: &Matrix) -> Matrix {
        product(self.view().transpose(), other.view())
    }

    /// `self · otherᵀ`.
    pub fn mul_transpose(&self, other: &Matrix) -> Matrix {
        product(self.view(), other.view().transpose())
    }

    /// `self · otherᵀ` into a matrix that is kept between calls, so that large products do not allocate.
    pub fn mul_transpose_into(&self, other: &Matrix, out: &mut Matrix) {
        out.rows = self.rows;
        out.cols = other.rows;
        out.data.resize(self.rows * other.rows, 0.0);
        matmul(out.view_mut(), Accum::Replace, self.view(), other.view().transpose(), 1.0, Par::Seq);
    }

    /// `self · selfᵀ`.
    pub fn gram_of_rows(&self) -> Matrix {
        lower_product(self.view(), self.view().transpose()).mirrored()
    }

    /// Lower triangle of `selfᵀ · self`; zeros above it.
    pub fn gram_of_columns(&self) -> Matrix {
        lower_product(self.view().transpose(), self.view())
    }

    /// Lower triangle of `selfᵀ · diag(weights) · self` for weights >= 0; zeros above it.
    pub fn weighted_gram_of_columns(&self, weights: &[f64]) -> Matrix {
        let mut scaled = self.clone();
        for (i, w) in weights.iter().enumerate() {
            let root = w.sqrt();
            scaled.row_mut(i).iter_mut().for_each(|x| *x *= root);
        }
        scaled.gram_of_columns()
    }

    /// `self · v`.
    #[inline]
    pub fn mul_vec(&self, v: &[f64]) -> Vec<f64> {
        (0..self.rows).map(|i| dot(self.row(i), v)).collect()
    }

    /// `self · v` of a symmetric matrix and a vector that is 0 outside `places`: the rows there are added up.
    pub fn symmetric_mul_sparse(&self, places: &[usize], v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows];
        vectorised(
            #[inline(always)]
            || {
                // two rows at a time halve the way through the sums
                let (pairs, last) = places.as_chunks::<2>();
                for &[i, j] in pairs {
                    let rows = self.row(i).iter().zip(self.row(j));
                    let (a, b) = (v[i], v[j]);
                    out.iter_mut().zip(rows).for_each(|(o, (x, y))| *o += a * x + b * y);
                }
                for &i in last {
                    let a = v[i];
                    out.iter_mut().zip(self.row(i)).for_each(|(o, x)| *o += a * x);
                }
            },
        );
        out
    }

    /// The sub-matrix of the given rows and columns.
    pub fn select(&self, rows: &[usize], cols: &[usize]) -> Matrix {
        let mut data = Vec::with_capacity(rows.len() * cols.len());
        for &i in rows {
            let row = self.row(i);
            data.extend(cols.iter().map(|&j| row[j]));
        }
        Matrix { rows: rows.len(), cols: cols.len(), data }
    }

    /// The given rows.
    pub fn select_rows(&self, rows: &[usize]) -> Matrix {
        let mut data = Vec::with_capacity(rows.len() * self.cols);
        rows.iter().for_each(|&i| data.extend_from_slice(self.row(i)));
        Matrix { rows: rows.len(), cols: self.cols, data }
    }

    fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }

    fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_row_major_slice_mut(&mut self.data, self.rows, self.cols)
    }

    /// A square matrix with its lower triangle copied to the upper one.
    pub fn mirrored(mut self) -> Matrix {
        self.below_diagonal(|m, i, j| m[(j, i)] = m[(i, j)]);
        self
    }

    /// Visits all (i, j) below the diagonal of a square matrix, tile by tile: a walk along the columns of a large one
    /// would miss the cache at every step.
    fn below_diagonal(&mut self, mut visit: impl FnMut(&mut Self, usize, usize)) {
        let n = self.rows;
        for top in (0..n).step_by(TILE) {
            for left in (0..=top).step_by(TILE) {
                for i in top..(top + TILE).min(n) {
                    (left..(left + TILE).min(i)).for_each(|j| visit(self, i, j));
                }
            }
        }
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.cols + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.cols + j]
    }
}

/// `a · b` of two vectors.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    // Four running sums let the processor overlap the additions; the order is fixed.
    let mut sums = [0.0f64; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let tail: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a4.zip(b4) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

/// Lower Cholesky factor `L` of a symmetric positive definite matrix, `A = L Lᵀ`.
#[derive(Debug, Clone)]
pub struct Cholesky {
    factor: Matrix,
}

impl Cholesky {
    /// Factorises; only the lower triangle of `a` is read.
    pub fn new(a: &Matrix) -> Result<Self> {
        Self::of_symmetric(a.clone().mirrored())
    }

    /// Factorises in the memory of a matrix that has both its triangles.
    pub fn of_symmetric(mut a: Matrix) -> Result<Self> {
        let n = a.rows;
        let failed = |problem: String| Error::numeric("Cholesky", problem);
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        // our rows are the columns of the solver: its lower factor is the transpose of ours
        let view = MatMut::from_column_major_slice_mut(&mut a.data, n, n);
        let stack = MemStack::new(&mut memory);
        llt::factor::cholesky_in_place(view, Default::default(), Par::Seq, stack, Default::default())
            .map_err(|_| failed(format!("the {n} x {n} matrix is not positive definite")))?;
        a.below_diagonal(|m, i, j| {
            m[(i, j)] = m[(j, i)];
            m[(j, i)] = 0.0;
        });
        let finite = a.data.iter().all(|x| x.is_finite());
        if finite { Ok(Cholesky { factor: a }) } else { Err(failed("the matrix is not finite".into())) }
    }

    /// The factor `L`.
    pub fn factor(&self) -> &Matrix {
        &self.factor
    }

    /// `ln det A`.
    pub fn log_det(&self) -> f64 {
        2.0 * (0..self.factor.rows).map(|i| self.factor[(i, i)].ln()).sum::<f64>()
    }

    /// Solves `L z = v` in place.
    pub fn forward(&self, v: &mut [f64]) {
        for i in 0..v.len() {
            let row = self.factor.row(i);
            v[i] = (v[i] - dot(&row[..i], &v[..i])) / row[i];
        }
    }

    /// Solves `A x = v` in place.
    pub fn solve(&self, v: &mut [f64]) {
        self.forward(v);
        self.backward(v);
    }

    /// Solves `Lᵀ z = v` in place.
    pub fn backward(&self, v: &mut [f64]) {
        for i in (0..v.len()).rev() {
            v[i] /= self.factor[(i, i)];
            let x = v[i];
            let row = self.factor.row(i);
            for k in 0..i {
                v[k] -= row[k] * x;
            }
        }
    }

    /// `A⁻¹`.
    pub fn inverse(&self) -> Matrix {
        let n = self.factor.rows;
        let mut out = Matrix::zeros(n, n);
        let scratch = faer::linalg::cholesky::llt::inverse::inverse_scratch::<f64>(n, Par::Seq);
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        faer::linalg::cholesky::llt::inverse::inverse(out.view_mut(), self.factor.view(), Par::Seq, stack);
        out.mirrored()
    }

    /// The given columns of `A⁻¹`, one below the other.
    pub fn inverse_columns(&self, columns: &[usize]) -> Matrix {
        let n = self.factor.rows;
        let mut out = Matrix::zeros(columns.len(), n);
        columns.iter().enumerate().for_each(|(r, &j)| out[(r, j)] = 1.0);
        let mut right = MatMut::from_column_major_slice_mut(&mut out.data, n, columns.len());
        solve_lower_triangular_in_place(self.factor.view(), right.rb_mut(), Par::Seq);
        solve_upper_triangular_in_place(self.factor.view().transpose(), right, Par::Seq);
        out
    }

    /// The diagonal of `A⁻¹`, at a third of the cost of the whole inverse: the squared lengths of the columns of `L⁻¹`,
    /// which are 0 above the diagonal. Few columns at a time need little memory.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let n = self.factor.rows;
        let mut diagonal = Vec::with_capacity(n);
        for first in (0..n).step_by(INVERSE_COLUMNS) {
            let (rest, count) = (n - first, INVERSE_COLUMNS.min(n - first));
            let mut columns = Matrix::zeros(count, rest);
            (0..count).for_each(|r| columns[(r, r)] = 1.0);
            let below = self.factor.view().submatrix(first, first, rest, rest);
            let right = MatMut::from_column_major_slice_mut(&mut columns.data, rest, count);
            solve_lower_triangular_in_place(below, right, Par::Seq);
            diagonal.extend((0..count).map(|r| dot(columns.row(r), columns.row(r))));
        }
        diagonal
    }
}

/// Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix; the lower triangle is read.
pub fn symmetric_eigen(a: &Matrix) -> Result<(Vec<f64>, Matrix)> {
    let found = eigen_of(a).or_else(|| shifted_eigen_of(a));
    found.ok_or_else(|| Error::numeric("symmetric eigenvalues", "no convergence"))
}

/// The same by way of `A + ‖A‖ I`. The solver ends when what is left beside the diagonal is small against its neighbours
/// on it, and where the rank is low rounding errors are all there is on both; against the norm they are small.
fn shifted_eigen_of(a: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let lower = |i: usize, j: usize| a[(i.max(j), i.min(j))];
    let row = |i: usize| (0..a.rows).map(|j| lower(i, j).abs()).sum::<f64>();
    let norm = (0..a.rows).map(row).fold(0.0, f64::max);
    let shifted = Matrix::from_fn(a.rows, a.rows, |i, j| lower(i, j) + if i == j { norm } else { 0.0 });
    let (values, vectors) = eigen_of(&shifted)?;
    Some((values.iter().map(|v| v - norm).collect(), vectors))
}

/// `None` where the solver does not converge.
fn eigen_of(a: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let eigen = a.view().self_adjoint_eigen(Side::Lower).ok()?;
    let values: Vec<f64> = (0..a.rows).map(|i| eigen.S()[i]).collect();
    let vectors = Matrix::from_fn(a.rows, a.rows, |i, j| eigen.U()[(i, j)]);
    values.iter().all(|v| v.is_finite()).then_some((values, vectors))
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Matrix {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    matmul(out.view_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// The lower triangle of `a · b`, at half the cost of the whole product.
fn lower_product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Matrix {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(out.view_mut(), lower, Accum::Replace, a, full, b, full, 1.0, Par::Seq);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spd() -> Matrix {
        Matrix::from_vec(3, 3, vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0]).unwrap()
    }

    #[test]
    fn sizes_whose_product_overflows_are_not_those_of_any_data() {
        assert!(Matrix::from_vec(1 << (usize::BITS - 1), 2, Vec::new()).is_err());
        assert_eq!(Matrix::from_vec(2, 1, vec![3.0, 4.0]).unwrap().row(1), [4.0]);
    }

    #[test]
    fn cholesky_solves_and_gives_the_determinant() {
        let a = spd();
        let c = Cholesky::new(&a).unwrap();
        let mut x = vec![1.0, -2.0, 0.3];
        c.solve(&mut x);
        for (y, want) in a.mul_vec(&x).iter().zip([1.0, -2.0, 0.3]) {
            assert!((y - want).abs() < 1e-12);
        }
        let det = 4.0 * (6.0 - 0.04) - 1.0 * (2.0 + 0.1) + 0.5 * (-0.2 - 1.5);
        assert!((c.log_det() - f64::ln(det)).abs() < 1e-12);
        let product = a.mul(&c.inverse());
        for i in 0..3 {
            for j in 0..3 {
                assert!((product[(i, j)] - if i == j { 1.0 } else { 0.0 }).abs() < 1e-12);
            }
        }
        assert!(Cholesky::new(&Matrix::from_vec(2, 2, vec![1.0, 2.0, 2.0, 1.0]).unwrap()).is_err());
    }

    /// Large enough for several tiles and several blocks of columns.
    #[test]
    fn large_matrices_are_factorised_and_inverted_in_parts() {
        let n = 3 * INVERSE_COLUMNS + 5;
        let a = Matrix::from_fn(n, n, |i, j| {
            (-0.01 * (i as f64 - j as f64).powi(2)).exp() + if i == j { 0.5 } else { 0.0 }
        });
        let c = Cholesky::new(&a).unwrap();
        let product = c.factor().mul_transpose(c.factor());
        assert!(product.data.iter().zip(&a.data).all(|(x, y)| (x - y).abs() < 1e-13));
        assert!((0..n).all(|i| (i + 1..n).all(|j| c.factor()[(i, j)] == 0.0)));
        let (inverse, diagonal) = (c.inverse(), c.inverse_diagonal());
        assert!((0..n).all(|i| (inverse[(i, i)] - diagonal[i]).abs() < 1e-12));
        let wanted = [0, 7, n - 1];
        let columns = c.inverse_columns(&wanted);
        for (r, &j) in wanted.iter().enumerate() {
            assert!(columns.row(r).iter().zip(inverse.row(j)).all(|(x, y)| (x - y).abs() < 1e-12));
        }
    }

    #[test]
    fn eigenvectors_rebuild_the_matrix() {
        let a = spd();
        let (values, u) = symmetric_eigen(&a).unwrap();
        let scaled = Matrix::from_fn(3, 3, |i, j| u[(i, j)] * values[j]);
        let back = scaled.mul_transpose(&u);
        for (x, y) in back.data().iter().zip(a.data()) {
            assert!((x - y).abs() < 1e-12);
        }
    }

    #[test]
    fn products_agree_with_the_definition() {
        let a = Matrix::from_fn(3, 5, |i, j| (i * 5 + j) as f64);
        let b = Matrix::from_fn(5, 2, |i, j| (i as f64) - (j as f64) * 0.5);
        let c = a.mul(&b);
        for i in 0..3 {
            for j in 0..2 {
                let want: f64 = (0..5).map(|k| a[(i, k)] * b[(k, j)]).sum();
                assert!((c[(i, j)] - want).abs() < 1e-12);
            }
        }
        assert_eq!(a.transpose().transpose_mul(&b), c);
        assert_eq!(a.mul_transpose(&b.transpose()), c);
        let weights = [0.5, 2.0, 0.0];
        let (by_rows, by_columns) = (a.gram_of_rows(), a.weighted_gram_of_columns(&weights));
        for i in 0..3 {
            for j in 0..3 {
                assert_eq!(by_rows[(i, j)], dot(a.row(i), a.row(j)));
            }
        }
        for i in 0..5 {
            for j in 0..=i {
                let want: f64 = (0..3).map(|k| weights[k] * a[(k, i)] * a[(k, j)]).sum();
                assert!((by_columns[(i, j)] - want).abs() < 1e-12 * (1.0 + want));
            }
        }
        let mut kept = Matrix::zeros(1, 9);
        a.mul_transpose_into(&b.transpose(), &mut kept);
        assert_eq!(kept, c);
    }

    /// A covariance as columns that hardly ever vary give it: one direction, and nothing else.
    #[test]
    fn eigenvalues_of_a_matrix_of_rank_one() {
        let signs =
            [(2, 1.0), (3, -1.0), (10, 1.0), (11, -1.0), (43, -1.0), (46, 1.0), (108, -1.0), (112, 1.0)];
        let mut direction = vec![0.0; 188];
        signs.into_iter().chain([(167, 1.0), (168, -1.0)]).for_each(|(i, sign)| direction[i] = sign);
        let a = Matrix::from_fn(188, 188, |i, j| 0.125_000_000_000_000_03 * direction[i] * direction[j]);
        // whether the plain way ends depends on the processor: the other one is tried in any case
        for (values, u) in [symmetric_eigen(&a).unwrap(), shifted_eigen_of(&a).unwrap()] {
            assert!((values[187] - 1.25).abs() < 1e-14 && values[..187].iter().all(|v| v.abs() < 1e-14));
            let product = Matrix::from_fn(188, 188, |i, j| values[j] * u[(i, j)]).mul_transpose(&u);
            assert!(product.data.iter().zip(&a.data).all(|(x, y)| (x - y).abs() < 1e-14));
        }
    }
}
