//! Term K, the fitted side: one kernel machine per class against the rest (a single one for two classes),
//! its probabilities `softmax(b f)`, and its leave-one-out values at any point in closed form.

pub(crate) mod centres;
pub(crate) mod fit;
pub(crate) mod gram;
pub(crate) mod kernel;
pub(crate) mod projection;

use centres::{Centres, Correct, PANEL, Panel, PanelKernels, Unchanged};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::softmax;
use hingenet_base::numeric::sum::ordered_chunks;
use hingenet_base::optimise::squared_hinge::SquaredHingeSolution;
use kernel::{Kernel, Side};
use std::ops::Range;

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
    /// Support rows and coefficients again, made ready for panels of points.
    centres: Centres,
}

/// Decision values at points, where the points may belong to a training row that must not have been used.
pub(crate) trait Decision: Sync {
    /// One row per point of the panel, one column per machine.
    fn values(&self, panel: &Panel) -> Matrix;
}

impl Machine {
    /// Keeps the support rows of all machines. `beta` holds the coefficients of each machine, `groups` the columns of the
    /// features.
    pub(crate) fn new(
        kernel: Kernel,
        groups: &[Range<usize>],
        rows: &Matrix,
        beta: &[Vec<f64>],
        scale: f64,
    ) -> Self {
        let support: Vec<usize> = (0..rows.rows()).filter(|&i| beta.iter().any(|b| b[i] != 0.0)).collect();
        let coefficients = Matrix::from_fn(support.len(), beta.len(), |r, m| beta[m][support[r]]);
        let points = kernel.right(&rows.select_rows(&support));
        Machine { support, ..Self::from_points(kernel, groups, points, coefficients, scale) }
    }

    /// Support points as the kernel needs them on its right side, with their coefficients.
    pub(crate) fn from_points(
        kernel: Kernel,
        groups: &[Range<usize>],
        points: Side,
        coefficients: Matrix,
        scale: f64,
    ) -> Self {
        let centres = Centres::new(&points, groups, &coefficients);
        Machine { kernel, support: Vec::new(), points, coefficients, scale, centres }
    }

    /// `f` at the given rows of a matrix of points, in parallel.
    pub(crate) fn values_at(&self, points: &Matrix, rows: &[usize]) -> Matrix {
        let parts = ordered_chunks(rows.len(), PANEL, |range| {
            let points = points.select_rows(&rows[range]);
            let panel = Panel { points: points.data(), count: points.rows(), shared: None, own: None };
            self.values(&panel).data().to_vec()
        });
        let mut values = Matrix::zeros(rows.len(), self.coefficients.cols());
        values.data_mut().copy_from_slice(&parts.concat());
        values
    }
}

impl Decision for Machine {
    fn values(&self, panel: &Panel) -> Matrix {
        self.centres.values(&self.kernel, panel, &Unchanged)
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
    /// Training rows, ascending.
    rows: Vec<usize>,
    /// `C_{I,i} β_i / C_ii` of each of them, one below the other.
    coefficients: Matrix,
}

impl<'a> LeftOut<'a> {
    /// Prepares for leaving out the given training rows (ascending).
    pub(crate) fn new(machine: &'a Machine, solutions: &[SquaredHingeSolution], rows: &[usize]) -> Self {
        use rayon::prelude::*;
        let corrections = solutions
            .par_iter()
            .map(|solution| {
                let support = |i: &usize| machine.support.binary_search(i).unwrap_or_default();
                let found = |i: &usize| solution.active.binary_search(i).ok().map(|place| (*i, place));
                let (rows, places): (Vec<usize>, Vec<usize>) = rows.iter().filter_map(found).unzip();
                let mut coefficients = solution.inverse_columns(&places);
                for (r, (&i, &place)) in rows.iter().zip(&places).enumerate() {
                    let factor = solution.beta[i] / coefficients[(r, place)];
                    coefficients.row_mut(r).iter_mut().for_each(|c| *c *= factor);
                }
                Correction { active: solution.active.iter().map(support).collect(), rows, coefficients }
            })
            .collect();
        LeftOut { machine, corrections }
    }
}

impl Decision for LeftOut<'_> {
    fn values(&self, panel: &Panel) -> Matrix {
        self.machine.centres.values(&self.machine.kernel, panel, self)
    }
}

impl Correct for LeftOut<'_> {
    fn concerns(&self, own: usize) -> bool {
        self.corrections.iter().any(|c| c.rows.binary_search(&own).is_ok())
    }

    fn correct<const L: usize>(&self, own: usize, work: &mut PanelKernels<L>) {
        for (values, correction) in work.values.iter_mut().zip(&self.corrections) {
            let Ok(at) = correction.rows.binary_search(&own) else { continue };
            for (&s, c) in correction.active.iter().zip(correction.coefficients.row(at)) {
                // the kernel is 1 more
                (0..L).for_each(|l| values[l] -= c * (1.0 + work.kernels[s][l]));
            }
        }
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
