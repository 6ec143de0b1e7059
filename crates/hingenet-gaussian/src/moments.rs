//! What structure learning needs of the rows of one class: weighted means and the Gram matrix of the
//! centred columns. Without a penalty on the bias, centring removes it from every regression.

use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::sum::ordered_chunks;

/// First and second moments of the rows of one class.
#[derive(Debug, Clone)]
pub struct Moments {
    /// Total weight n of the rows.
    pub rows: f64,
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// `G = Xc'Xc`.
    pub gram: Matrix,
    /// Centred columns (node by node), each row scaled by the root of its weight; absent for expected moments.
    centred: Option<Matrix>,
}

impl Moments {
    /// Moments of complete rows; a row of weight 2 counts as two rows. At least two rows and two columns.
    pub fn of_rows(x: &Matrix, weights: Option<&[f64]>) -> Result<Self> {
        let (n, m) = (x.rows(), x.cols());
        require_len("sample weights", n, weights.map_or(n, <[f64]>::len))?;
        let weight = |a: usize| weights.map_or(1.0, |w| w[a]);
        let rows: f64 = (0..n).map(weight).sum();
        check_size(rows, m)?;
        if let Some(k) = x.data().iter().position(|v| !v.is_finite()) {
            return Err(Error::data(
                format!("row {}, column {}: the value is missing or infinite", k / m + 1, k % m + 1),
                "use the fit that accepts missing cells, or drop the row",
            ));
        }
        let mut mean = vec![0.0; m];
        for a in 0..n {
            x.row(a).iter().zip(&mut mean).for_each(|(v, s)| *s += weight(a) * v);
        }
        mean.iter_mut().for_each(|s| *s /= rows);
        let mut centred = Matrix::zeros(m, n);
        for a in 0..n {
            let root = weight(a).sqrt();
            for (j, v) in x.row(a).iter().enumerate() {
                centred[(j, a)] = root * (v - mean[j]);
            }
        }
        flatten_constants(&mut centred, &mean);
        Ok(Moments { rows, mean, gram: gram_of(&centred), centred: Some(centred) })
    }

    /// Moments given as such (expected second moments of incomplete rows): total weight, means, and
    /// `Σ (x − mean)(x − mean)'`.
    pub fn given(rows: f64, mean: Vec<f64>, gram: Matrix) -> Result<Self> {
        require_len("rows of the second moments", mean.len(), gram.rows())?;
        require_len("columns of the second moments", mean.len(), gram.cols())?;
        if !gram.data().iter().chain(&mean).all(|v| v.is_finite()) {
            return Err(Error::data("the second moments are not finite", "check the input for huge values"));
        }
        Ok(Moments { rows, mean, gram, centred: None })
    }

    /// Number of nodes m.
    pub fn nodes(&self) -> usize {
        self.mean.len()
    }

    /// Variance of each column, divisor n.
    pub fn variance(&self) -> Vec<f64> {
        (0..self.nodes()).map(|j| self.gram[(j, j)] / self.rows).collect()
    }

    /// The same moments with every column divided by its deviation (divisor n − 1), so that `G_jj = n − 1`;
    /// constant columns stay 0.
    pub fn standardised(&self) -> Moments {
        let m = self.nodes();
        let scale: Vec<f64> = (0..m)
            .map(|j| {
                let g = self.gram[(j, j)];
                if g > 0.0 { ((self.rows - 1.0) / g).sqrt() } else { 0.0 }
            })
            .collect();
        let gram = Matrix::from_fn(m, m, |i, j| match i == j && scale[j] > 0.0 {
            true => self.rows - 1.0,
            false => self.gram[(i, j)] * scale[i] * scale[j],
        });
        let centred =
            self.centred.as_ref().map(|c| Matrix::from_fn(m, c.cols(), |j, a| c[(j, a)] * scale[j]));
        Moments { rows: self.rows, mean: vec![0.0; m], gram, centred }
    }

    /// Squared error of node j with incoming weights `theta` when the Gram form gave `from_gram`: near
    /// perfect fits cancel there and are summed from the residuals.
    pub fn squared_error(&self, j: usize, theta: &[f64], from_gram: f64) -> f64 {
        match &self.centred {
            Some(centred) if from_gram < 1e-8 * self.gram[(j, j)] => {
                let mut residual = centred.row(j).to_vec();
                for (i, &t) in theta.iter().enumerate() {
                    if t != 0.0 {
                        residual.iter_mut().zip(centred.row(i)).for_each(|(r, x)| *r -= t * x);
                    }
                }
                dot(&residual, &residual)
            }
            _ => from_gram,
        }
    }

    /// `b_j = mean_j − Σ_i mean_i Θ_ij` for incoming weights of node j.
    pub fn bias(&self, j: usize, theta: &[f64]) -> f64 {
        self.mean[j] - dot(theta, &self.mean)
    }
}

/// Refuses rows that no network can be learnt from.
pub(crate) fn check_size(rows: f64, columns: usize) -> Result<()> {
    if rows < 2.0 || columns < 2 {
        return Err(Error::data(
            format!("a network needs at least 2 rows per class and 2 columns, found {rows} and {columns}"),
            "add rows or columns, or merge rare classes",
        ));
    }
    Ok(())
}

/// A column whose deviations are rounding of its mean is constant: its deviations become exact zeros.
fn flatten_constants(centred: &mut Matrix, mean: &[f64]) {
    for (j, mean) in mean.iter().enumerate() {
        let row = centred.row_mut(j);
        let largest = row.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        if largest <= 1e-13 * mean.abs() {
            row.fill(0.0);
        }
    }
}

/// Columns per block of the Gram matrix; blocks are computed in parallel.
const BLOCK: usize = 128;

fn gram_of(columns: &Matrix) -> Matrix {
    let (m, n) = (columns.rows(), columns.cols());
    let all: Vec<usize> = (0..n).collect();
    let blocks = ordered_chunks(m, BLOCK, |range| {
        let nodes: Vec<usize> = range.collect();
        columns.select(&nodes, &all).mul_transpose(columns)
    });
    let mut gram = Matrix::zeros(m, m);
    for (b, block) in blocks.iter().enumerate() {
        for i in 0..block.rows() {
            gram.row_mut(b * BLOCK + i).copy_from_slice(block.row(i));
        }
    }
    // The two halves may differ in the last bit.
    gram.mirrored()
}
