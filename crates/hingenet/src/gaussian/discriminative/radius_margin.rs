//! The radius-margin objective of the Fisher kernel machine and its exact gradient (envelope theorem),
//!
//! ```text
//! J(Θ) = J0 · tr(S_T)                                                              (3.8)
//! tr(S_T) = Σ w_a K_aa − w'K w / n + (n − 1)/C        scatter of the augmented Fisher vectors
//! ```
//!
//! With `β = α y` and `M = −½ tr(S_T) ββ' + J0 (diag w − ww'/n)` the gradient in the parameters of node j of a class is
//! `−(2/σ²_j) Σ_a z_a s_aj`, `s_aj = Σ_b M_ab u_bj (z_a·z_b − x_aj x_bj)`.

use super::Labelled;
use crate::error::Result;
use crate::gaussian::fisher::{add_class_kernel, hadamard, one_against_rest, products, scaled_residuals};
use crate::gaussian::network::GaussianNetwork;
use crate::numeric::linalg::{Matrix, dot};
use crate::optimise::l2_svm::{L2Svm, l2_svm};

/// J with its parts and gradient.
#[derive(Debug, Clone)]
pub struct RadiusMargin {
    /// Optimum of the dual, summed over the one-against-rest problems.
    pub dual: f64,
    /// tr(S_T) of the augmented kernel.
    pub trace: f64,
    /// `J = dual · trace`.
    pub value: f64,
    /// The machines, one for two classes, else one per class.
    pub machines: Vec<L2Svm>,
    /// Per class: m + 1 rows (the last is the bias), m columns, diagonal 0.
    pub gradient: Vec<Matrix>,
}

/// Tolerance of the dual while J is minimised.
const DUAL_TOLERANCE: f64 = 1e-10;
const DUAL_ITERATIONS: usize = 2_000_000;

/// Evaluates J at the networks of `data` with slack weight C > 0.
pub fn radius_margin(data: &Labelled<'_>, c: f64) -> Result<RadiusMargin> {
    data.check()?;
    crate::error::require("C", c, "a finite number > 0", c.is_finite() && c > 0.0)?;
    let mut evaluator = Evaluator::new(data, c);
    Ok(evaluator.evaluate(data.networks))
}

/// What stays the same from one evaluation to the next.
pub(super) struct Evaluator<'a> {
    x: &'a Matrix,
    weights: &'a [f64],
    c: f64,
    labels: Vec<Vec<f64>>,
    products: Matrix,
    alpha: Vec<Option<Vec<f64>>>,
}

impl<'a> Evaluator<'a> {
    pub fn new(data: &Labelled<'a>, c: f64) -> Self {
        let labels = one_against_rest(data.class, data.networks.len());
        let alpha = vec![None; labels.len()];
        Evaluator { x: data.x, weights: data.weights, c, labels, products: products(data.x), alpha }
    }

    /// J and its gradient; the dual starts from the last solution.
    pub fn evaluate(&mut self, networks: &[GaussianNetwork]) -> RadiusMargin {
        let n = self.x.rows();
        let scaled: Vec<Matrix> = networks.iter().map(|g| scaled_residuals(g, self.x)).collect();
        let mut kernel = Matrix::zeros(n, n);
        for u in &scaled {
            add_class_kernel(&mut kernel, &self.products, u, self.x);
        }
        let trace = self.scatter(&kernel);
        for a in 0..n {
            kernel[(a, a)] += 1.0 / (self.c * self.weights[a]);
        }
        let machines: Vec<L2Svm> = (0..self.labels.len())
            .map(|k| {
                let start = self.alpha[k].as_deref();
                let svm = l2_svm(&kernel, &self.labels[k], start, DUAL_TOLERANCE, DUAL_ITERATIONS);
                self.alpha[k] = Some(svm.alpha.clone());
                svm
            })
            .collect();
        let dual: f64 = machines.iter().map(|s| s.objective).sum();
        let m = self.weight_matrix(&machines, trace, dual);
        let gradient = networks.iter().zip(&scaled).map(|(g, u)| self.gradient(g, u, &m)).collect();
        RadiusMargin { dual, trace, value: dual * trace, machines, gradient }
    }

    /// `Σ w K_aa − w'Kw/n + (n − 1)/C`.
    fn scatter(&self, kernel: &Matrix) -> f64 {
        let n: f64 = self.weights.iter().sum();
        let diagonal: f64 = (0..self.weights.len()).map(|a| self.weights[a] * kernel[(a, a)]).sum();
        diagonal - dot(self.weights, &kernel.mul_vec(self.weights)) / n + (n - 1.0) / self.c
    }

    fn weight_matrix(&self, machines: &[L2Svm], trace: f64, dual: f64) -> Matrix {
        let n: f64 = self.weights.iter().sum();
        let w = self.weights;
        let mut m = Matrix::from_fn(w.len(), w.len(), |a, b| {
            dual * (if a == b { w[a] } else { 0.0 } - w[a] * w[b] / n)
        });
        for (machine, y) in machines.iter().zip(&self.labels) {
            let beta: Vec<f64> = machine.alpha.iter().zip(y).map(|(a, y)| a * y).collect();
            for a in (0..beta.len()).filter(|&a| beta[a] != 0.0) {
                let scale = -0.5 * trace * beta[a];
                m.row_mut(a).iter_mut().zip(&beta).for_each(|(v, b)| *v += scale * b);
            }
        }
        m
    }

    fn gradient(&self, network: &GaussianNetwork, u: &Matrix, m: &Matrix) -> Matrix {
        let nodes = self.x.cols();
        let mut s = hadamard(m, &self.products).mul(u);
        let inner = m.mul(&hadamard(u, self.x));
        s.data_mut()
            .iter_mut()
            .zip(self.x.data().iter().zip(inner.data()))
            .for_each(|(s, (x, v))| *s -= x * v);
        let arcs = self.x.transpose_mul(&s);
        Matrix::from_fn(nodes + 1, nodes, |i, j| {
            let sum = if i == nodes { (0..s.rows()).map(|a| s[(a, j)]).sum() } else { arcs[(i, j)] };
            if i == j { 0.0 } else { -2.0 / network.variance()[j] * sum }
        })
    }
}
