//! The criterion of all pairs of variables from low-rank factors of their kernel matrices: pivoted
//! incomplete Cholesky for each variable, columns centred, then one symmetric product.

use super::significance::{GammaTest, gamma_test};
use super::width::DependenceKernel;
use crate::estimate::sample::Sample;
use crate::structure::{pair_index, pairs};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::simd::vectorised;
use rayon::prelude::*;

/// Mean residual diagonal at which a factorisation stops. The error of the criterion is at most the sum of
/// the two residuals and was 100 to 1000 times smaller in every measurement.
pub const DEFAULT_RESIDUAL: f64 = 1e-9;

/// Factor columns that go into one matrix product.
const PANEL: usize = 192;

/// Centred low-rank factor G of a kernel matrix: `HKH/n ≈ G G'`, stored column by column.
#[derive(Debug, Clone, PartialEq)]
struct Factor {
    /// One row per column of G: `√(w_i/n) (F_i - mean)`.
    columns: Matrix,
    /// Mean entry of the kernel matrix.
    mean_entry: f64,
}

impl Factor {
    /// Factorises the kernel matrix of a sample until the mean residual diagonal is at most `tolerance`.
    ///
    /// Equal values share a row of the factor, so discrete variables have at most as many columns as values
    /// and an exact factor.
    fn new(sample: &Sample, kernel: DependenceKernel, tolerance: f64) -> Factor {
        let (values, counts, place) = distinct(sample);
        let n = sample.total;
        let rows = vectorised(
            #[inline(always)]
            || incomplete_cholesky(&values, &counts, kernel, tolerance * n),
        );
        let means: Vec<f64> = rows.iter().map(|f| dot(f, &counts) / n).collect();
        let share: Vec<f64> = sample.weights.iter().map(|w| (w / n).sqrt()).collect();
        let mut columns = Matrix::zeros(rows.len(), sample.len());
        for (r, f) in rows.iter().enumerate() {
            for (i, out) in columns.row_mut(r).iter_mut().enumerate() {
                *out = share[i] * (f[place[i]] - means[r]);
            }
        }
        let mean_entry = means.iter().map(|m| m * m).sum();
        Factor { columns, mean_entry }
    }

    /// Number of columns.
    fn rank(&self) -> usize {
        self.columns.rows()
    }
}

/// Distinct values, their total weights, and the place of every row among them.
fn distinct(sample: &Sample) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..sample.len()).collect();
    order.sort_by(|&a, &b| sample.values[a].total_cmp(&sample.values[b]));
    let (mut values, mut counts, mut place) = (Vec::new(), Vec::new(), vec![0; sample.len()]);
    for i in order {
        let x = sample.values[i];
        if values.last() != Some(&x) {
            values.push(x);
            counts.push(0.0);
        }
        place[i] = values.len() - 1;
        if let Some(count) = counts.last_mut() {
            *count += sample.weights[i];
        }
    }
    (values, counts, place)
}

/// Columns F of `K ≈ F F'`: the pivot is the largest residual; stops when the weighted residual trace is at
/// most `limit`. The residual is positive semidefinite, so the criterion is approximated from below.
#[inline(always)]
fn incomplete_cholesky(x: &[f64], counts: &[f64], kernel: DependenceKernel, limit: f64) -> Vec<Vec<f64>> {
    let mut residual = vec![1.0; x.len()];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    loop {
        let trace = dot(&residual, counts);
        let pivot = hingenet_base::numeric::log::argmax(&residual);
        if trace <= limit || columns.len() == x.len() || residual[pivot] <= 1e-14 {
            return columns;
        }
        // Plain loops: what is called through iterators is not compiled for the wide instructions.
        let mut column = vec![0.0; x.len()];
        for (c, v) in column.iter_mut().zip(x) {
            *c = kernel.value(*v, x[pivot]);
        }
        for f in &columns {
            let factor = f[pivot];
            for (c, v) in column.iter_mut().zip(f) {
                *c -= factor * v;
            }
        }
        let scale = 1.0 / residual[pivot].sqrt();
        for (c, r) in column.iter_mut().zip(&mut residual) {
            *c *= scale;
            *r = (*r - *c * *c).max(0.0);
        }
        residual[pivot] = 0.0;
        columns.push(column);
    }
}

/// The criterion of every pair of variables of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct AllPairs {
    n: f64,
    d: usize,
    /// The V-statistics of all pairs (0,1), (0,2), ....
    pub v_statistics: Vec<f64>,
    /// Mean entry and `|HKH|²_F/n²` of each kernel matrix.
    variables: Vec<(f64, f64)>,
}

impl AllPairs {
    /// The V-statistic of the pair i < j; 0 below four rows.
    pub fn v_statistic(&self, i: usize, j: usize) -> f64 {
        self.v_statistics[pair_index(self.d, i, j)]
    }

    /// The gamma-approximation test of a pair; `None` below six rows or for a constant variable.
    pub fn gamma(&self, i: usize, j: usize) -> Option<GammaTest> {
        gamma_test(self.n, self.v_statistic(i, j), self.variables[i], self.variables[j])
    }
}

/// All pairs at once: G = [G_1 ... G_d], one symmetric product G'G, then block norms. Variables that are
/// constant give 0.
pub fn all_pairs(
    samples: &[Sample],
    kernels: &[DependenceKernel],
    tolerance: f64,
    control: &Control,
) -> Result<AllPairs> {
    let d = samples.len();
    let steps = control.steps("kernels of the features", d)?;
    let factors: Vec<Factor> = samples
        .par_iter()
        .zip(kernels)
        .map(|(sample, kernel)| {
            let factor = Factor::new(sample, *kernel, tolerance);
            steps.done().map(|()| factor)
        })
        .collect::<Result<_>>()?;
    let n = samples.first().map_or(0.0, |s| s.total);
    let panels = panels(&factors);
    let stacked =
        panels.iter().map(|panel| stack(&factors[panel.clone()])).collect::<Result<Vec<Matrix>>>()?;
    let tasks: Vec<(usize, usize)> =
        (0..panels.len()).flat_map(|a| (a..panels.len()).map(move |b| (a, b))).collect();
    let steps = control.steps("dependence of pairs", tasks.len())?;
    let norms_of = |(a, b): (usize, usize)| {
        let block = stacked[a].mul_transpose(&stacked[b]);
        let (mut norms, mut row) = (Vec::new(), 0);
        for i in panels[a].clone() {
            let mut col = 0;
            for j in panels[b].clone() {
                norms.push(((i, j), block_norm(&block, (row, factors[i].rank()), (col, factors[j].rank()))));
                col += factors[j].rank();
            }
            row += factors[i].rank();
        }
        steps.done().map(|()| norms)
    };
    let found = tasks.into_par_iter().map(norms_of).collect::<Result<Vec<_>>>()?;
    let mut norms = Matrix::zeros(d, d);
    found.into_iter().flatten().for_each(|(pair, norm)| norms[pair] = norm);
    let v_statistics = pairs(d).map(|(i, j)| if n < 4.0 { 0.0 } else { norms[(i, j)] }).collect();
    let variables = (0..d).map(|j| (factors[j].mean_entry, norms[(j, j)])).collect();
    Ok(AllPairs { n, d, v_statistics, variables })
}

/// Consecutive variables whose factors together have about [`PANEL`] columns.
fn panels(factors: &[Factor]) -> Vec<std::ops::Range<usize>> {
    let (mut panels, mut first, mut width) = (Vec::new(), 0, 0);
    for (j, factor) in factors.iter().enumerate() {
        width += factor.rank();
        if width >= PANEL || j + 1 == factors.len() {
            panels.push(first..j + 1);
            (first, width) = (j + 1, 0);
        }
    }
    panels
}

fn stack(factors: &[Factor]) -> Result<Matrix> {
    let rows = factors.iter().map(Factor::rank).sum();
    let cols = factors.first().map_or(0, |f| f.columns.cols());
    Matrix::from_vec(rows, cols, factors.iter().flat_map(|f| f.columns.data()).copied().collect())
}

fn block_norm(m: &Matrix, (row, rows): (usize, usize), (col, cols): (usize, usize)) -> f64 {
    (row..row + rows).map(|r| m.row(r)[col..col + cols].iter().map(|v| v * v).sum::<f64>()).sum()
}
