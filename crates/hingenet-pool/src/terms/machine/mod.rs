//! Term K, the fitted side: one kernel machine per class against the rest (a single one for two classes),
//! its probabilities `softmax(b f)`, and its leave-one-out values at any point in closed form.

pub(crate) mod fit;
pub(crate) mod gram;
pub(crate) mod kernel;

use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::log::softmax;
use hingenet_base::numeric::sum::{add_into, ordered_chunks};
use hingenet_base::optimise::squared_hinge::SquaredHingeSolution;
use kernel::{Kernel, Side};

/// Points per kernel block with all support rows.
const BLOCK: usize = 32;
/// Points and support rows per panel: enough points to pay for preparing the support rows, 650 kB of kernel
/// values, which stay in the cache.
const PANEL: (usize, usize) = (320, 256);
/// Values of the softmax scale b: this many, log-spaced.
const SCALES: usize = 25;
const SCALE_RANGE: (f64, f64) = (0.5, 60.0);

/// Number of machines for K classes.
pub(crate) fn n_machines(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

/// Targets ±1 of machine `m`: its class against the rest; for two classes the one machine is class 1's.
pub(crate) fn targets(class: &[usize], n_classes: usize, m: usize) -> Vec<f64> {
    let own = if n_classes == 2 { 1 } else { m };
    class.iter().map(|&c| if c == own { 1.0 } else { -1.0 }).collect()
}

/// Kernel machines on their support rows.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) kernel: Kernel,
    /// Training rows with a coefficient other than 0 in any machine (empty in a model read from a file).
    pub(crate) support: Vec<usize>,
    pub(crate) points: Side,
    /// One row per support row, one column per machine.
    pub(crate) coefficients: Matrix,
    /// Scale b of the softmax.
    pub(crate) scale: f64,
}

/// Decision values at points, where a point may belong to a training row that must not have been used.
pub(crate) trait Decision: Sync {
    /// One row per point, one column per machine; `own[k]` is the training row point k comes from.
    fn values(&self, points: &Matrix, own: &[Option<usize>]) -> Matrix;
}

impl Machine {
    /// Keeps the support rows of all machines. `beta` holds the coefficients of each machine.
    pub(crate) fn new(kernel: Kernel, rows: &Matrix, beta: &[Vec<f64>], scale: f64) -> Self {
        let support: Vec<usize> = (0..rows.rows()).filter(|&i| beta.iter().any(|b| b[i] != 0.0)).collect();
        let coefficients = Matrix::from_fn(support.len(), beta.len(), |r, m| beta[m][support[r]]);
        let points = kernel.right(rows).select(&support);
        Machine { kernel, support, points, coefficients, scale }
    }

    /// `f` at the given rows of a matrix of points, in parallel.
    pub(crate) fn values_at(&self, points: &Matrix, rows: &[usize]) -> Matrix {
        let parts = ordered_chunks(rows.len(), 64, |range| {
            self.values(&points.select_rows(&rows[range]), &[]).data().to_vec()
        });
        let mut values = Matrix::zeros(rows.len(), self.coefficients.cols());
        values.data_mut().copy_from_slice(&parts.concat());
        values
    }

    /// `f` at points, block by block; `each` sees every block of kernel values with its first point.
    fn blocks(&self, points: &Matrix, mut each: impl FnMut(usize, &Matrix, &mut Matrix)) -> Matrix {
        let left = self.kernel.left(points);
        let mut values = Matrix::zeros(points.rows(), self.coefficients.cols());
        let mut kernel = Matrix::default();
        for start in (0..points.rows()).step_by(BLOCK) {
            let rows: Vec<usize> = (start..(start + BLOCK).min(points.rows())).collect();
            left.select(&rows).block_into(&self.points, &mut kernel);
            let mut part = kernel.mul(&self.coefficients);
            each(start, &kernel, &mut part);
            let m = values.cols();
            values.data_mut()[start * m..start * m + part.data().len()].copy_from_slice(part.data());
        }
        values
    }
}

impl Decision for Machine {
    /// Panel by panel of the support rows, so that the kernel values of a block stay near the processor.
    fn values(&self, points: &Matrix, _: &[Option<usize>]) -> Matrix {
        let left = self.kernel.left(points);
        let rows: Vec<usize> = (0..points.rows()).collect();
        let blocks: Vec<Side> = rows.chunks(PANEL.0).map(|block| left.select(block)).collect();
        let support: Vec<usize> = (0..self.points.len()).collect();
        let machines = self.coefficients.cols();
        let mut values = Matrix::zeros(points.rows(), machines);
        let mut kernel = Matrix::default();
        for panel in support.chunks(PANEL.1) {
            let (near, coefficients) = (self.points.select(panel), self.coefficients.select_rows(panel));
            let values = values.data_mut().chunks_mut(PANEL.0 * machines.max(1));
            for (block, out) in blocks.iter().zip(values) {
                block.block_into(&near, &mut kernel);
                add_into(out, kernel.mul(&coefficients).data());
            }
        }
        values
    }
}

/// A machine with what is needed to leave out one of its training rows:
/// `f⁻ⁱ(z) = f(z) − (k(z, I) C_{I,i} / C_ii) β_i` for active rows i, nothing changes for others.
pub(crate) struct LeftOut<'a> {
    machine: &'a Machine,
    /// For every machine: what to take off, per left-out row.
    corrections: Vec<Correction>,
}

/// Corrections of one machine.
struct Correction {
    /// Positions of the active rows among the support rows.
    active: Vec<usize>,
    /// Training row and `C_{I,i} β_i / C_ii`, ascending in the row.
    rows: Vec<(usize, Vec<f64>)>,
}

impl<'a> LeftOut<'a> {
    /// Prepares for leaving out the given training rows (ascending).
    pub(crate) fn new(machine: &'a Machine, solutions: &[SquaredHingeSolution], rows: &[usize]) -> Self {
        use rayon::prelude::*;
        let corrections = solutions
            .par_iter()
            .map(|solution| {
                let inverse = solution.inverse();
                let position = |i: &usize| machine.support.binary_search(i).unwrap_or_default();
                let correction = |&i: &usize| {
                    let r = solution.active.binary_search(&i).ok()?;
                    let factor = solution.beta[i] / inverse[(r, r)];
                    Some((i, inverse.row(r).iter().map(|c| c * factor).collect()))
                };
                Correction {
                    active: solution.active.iter().map(position).collect(),
                    rows: rows.iter().filter_map(correction).collect(),
                }
            })
            .collect();
        LeftOut { machine, corrections }
    }
}

impl Decision for LeftOut<'_> {
    fn values(&self, points: &Matrix, own: &[Option<usize>]) -> Matrix {
        let mut near: Vec<f64> = Vec::new();
        self.machine.blocks(points, |start, kernel, values| {
            for (m, correction) in self.corrections.iter().enumerate() {
                for r in 0..kernel.rows() {
                    let found = own[start + r]
                        .and_then(|i| correction.rows.binary_search_by_key(&i, |(row, _)| *row).ok());
                    if let Some(at) = found {
                        let k = kernel.row(r);
                        near.clear();
                        near.extend(correction.active.iter().map(|&a| k[a]));
                        values[(r, m)] -= dot(&near, &correction.rows[at].1);
                    }
                }
            }
        })
    }
}

/// `softmax(b f)` of one row of decision values; the one machine of two classes gives `f_0 = −f_1`.
pub(crate) fn probabilities(values: &[f64], scale: f64, out: &mut [f64]) {
    if values.len() == 1 {
        out[0] = -scale * values[0];
        out[1] = scale * values[0];
    } else {
        out.iter_mut().zip(values).for_each(|(o, f)| *o = scale * f);
    }
    softmax(out);
}

/// The scale b of least log-loss of `softmax(b f)` on left-out values, and the loss: one of 25 log-spaced
/// values, the first of equal ones.
pub(crate) fn choose_scale(values: &Matrix, class: &[usize], weight: &[f64], n_classes: usize) -> (f64, f64) {
    let (low, high) = SCALE_RANGE;
    let mut best = (low, f64::INFINITY);
    let mut p = vec![0.0; n_classes];
    for k in 0..SCALES {
        let scale = low * (high / low).powf(k as f64 / (SCALES - 1) as f64);
        let mut loss = 0.0;
        for i in 0..values.rows() {
            probabilities(values.row(i), scale, &mut p);
            loss -= weight[i] * p[class[i]].max(1e-300).ln();
        }
        if loss < best.1 {
            best = (scale, loss);
        }
    }
    best
}
