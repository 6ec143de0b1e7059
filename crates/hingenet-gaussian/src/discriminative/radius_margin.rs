//! The radius-margin objective of the Fisher kernel machine and its exact gradient (envelope theorem),
//!
//! ```text
//! J(Θ) = J0 · tr(S_T)                                                              (3.8)
//! tr(S_T) = Σ w_a K_aa − w'K w / n + (n − 1)/C        scatter of the augmented Fisher vectors
//! ```
//!
//! With `β = α y` and `M = −½ tr(S_T) ββ' + J0 (diag w − ww'/n)` the gradient in the parameters of node j of a class is
//! `−(2/σ²_j) Σ_a z_a s_aj`, `s_aj = Σ_b M_ab u_bj (z_a·z_b − x_aj x_bj)`. Kernel and gradient are sums over nodes, so
//! only nodes with free parameters are computed again from one evaluation to the next.

use super::Labelled;
use crate::fisher::{Information, add_node_kernel, one_against_rest, products, scaled_residuals};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require};
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::optimise::squared_hinge::{SquaredHinge, SquaredHingeSolution};

/// Evaluates J at the networks of `data` with slack weight C > 0; the slopes have one row a node, class by class.
pub fn radius_margin(data: &Labelled<'_>, c: f64) -> Result<RadiusMargin> {
    data.check()?;
    require("C", c, "a finite number > 0", c.is_finite() && c > 0.0)?;
    let m = data.x.cols();
    let nodes: Vec<Node> =
        (0..data.networks.len() * m).map(|k| Node { class: k / m, column: k % m }).collect();
    Evaluator::new(data, c, &nodes).evaluate(&scaled_rows(data, &nodes))
}

/// A node of a class network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    pub class: usize,
    pub column: usize,
}

/// Scaled residuals `u_aj` of the nodes, one row a node.
fn scaled_rows(data: &Labelled<'_>, nodes: &[Node]) -> Matrix {
    let mut u = Matrix::zeros(nodes.len(), data.x.rows());
    for (k, node) in nodes.iter().enumerate() {
        let network = &data.networks[node.class];
        let residuals = scaled_residuals(network, node.column, data.x, Information::Identity);
        u.row_mut(k).copy_from_slice(&residuals);
    }
    u
}

/// J with its parts and what its gradient needs.
#[derive(Debug, Clone)]
pub struct RadiusMargin {
    /// Optimum of the dual, summed over the one-against-rest problems.
    pub dual: f64,
    /// tr(S_T) of the augmented kernel.
    pub trace: f64,
    /// `J = dual · trace`.
    pub value: f64,
    /// The machines, one for two classes, else one per class.
    pub machines: Vec<SquaredHingeSolution>,
    /// `s_aj`, one row a node.
    pub slopes: Matrix,
}

/// What stays the same from one evaluation to the next.
pub(super) struct Evaluator<'a> {
    weights: &'a [f64],
    c: f64,
    labels: Vec<Vec<f64>>,
    products: Matrix,
    /// Kernel of the nodes that do not change.
    fixed: Matrix,
    /// `x_aj` of the nodes that change, one row a node.
    inputs: Matrix,
    /// Active sets of the last machines.
    active: Vec<Option<Vec<usize>>>,
}

impl<'a> Evaluator<'a> {
    /// Prepares evaluations in which only the residuals of `nodes` change.
    pub fn new(data: &Labelled<'a>, c: f64, nodes: &[Node]) -> Self {
        let (n, m) = (data.x.rows(), data.x.cols());
        let inputs = |nodes: &[Node]| Matrix::from_fn(nodes.len(), n, |k, a| data.x[(a, nodes[k].column)]);
        let products = products(data.x);
        let all = (0..data.networks.len() * m).map(|k| Node { class: k / m, column: k % m });
        let others: Vec<Node> = all.filter(|node| !nodes.contains(node)).collect();
        let mut fixed = Matrix::zeros(n, n);
        add_node_kernel(&mut fixed, &products, &scaled_rows(data, &others), &inputs(&others));
        let labels = one_against_rest(data.class, data.networks.len());
        let active = vec![None; labels.len()];
        Evaluator { weights: data.weights, c, labels, products, fixed, inputs: inputs(nodes), active }
    }

    /// J and its slopes at scaled residuals u, one row a node; the dual starts from the last solution.
    pub fn evaluate(&mut self, u: &Matrix) -> Result<RadiusMargin> {
        let mut kernel = self.fixed.clone();
        add_node_kernel(&mut kernel, &self.products, u, &self.inputs);
        let trace = self.scatter(&kernel);
        let ridges: Vec<f64> = self.weights.iter().map(|w| 1.0 / (self.c * w)).collect();
        let machines: Vec<SquaredHingeSolution> = (0..self.labels.len())
            .map(|k| {
                let labels = &self.labels[k];
                let svm = SquaredHinge { kernel: &kernel, labels, ridges: &ridges, intercept: true };
                let found = svm.solve(self.active[k].as_deref(), &Control::default())?;
                self.active[k] = Some(found.active.clone());
                Ok(found)
            })
            .collect::<Result<_>>()?;
        let dual: f64 = machines.iter().map(|s| s.report.objective).sum();
        let slopes = self.slopes(u, &machines, trace, dual);
        Ok(RadiusMargin { dual, trace, value: dual * trace, machines, slopes })
    }

    /// `Σ w K_aa − w'Kw/n + (n − 1)/C`.
    fn scatter(&self, kernel: &Matrix) -> f64 {
        let n: f64 = self.weights.iter().sum();
        let diagonal: f64 = (0..self.weights.len()).map(|a| self.weights[a] * kernel[(a, a)]).sum();
        diagonal - dot(self.weights, &kernel.mul_vec(self.weights)) / n + (n - 1.0) / self.c
    }

    /// `s_aj = Σ_b M_ab (z_a·z_b) u_bj − x_aj Σ_b M_ab x_bj u_bj`; M is a diagonal and a few products of vectors.
    fn slopes(&self, u: &Matrix, machines: &[SquaredHingeSolution], trace: f64, dual: f64) -> Matrix {
        let (w, n) = (self.weights, self.weights.iter().sum::<f64>());
        let mut ranks: Vec<(f64, Vec<f64>)> =
            machines.iter().map(|s| (-0.5 * trace, s.beta.clone())).collect();
        ranks.push((-dual / n, w.to_vec()));
        let mut m = Matrix::zeros(w.len(), w.len());
        for a in 0..w.len() {
            let row = m.row_mut(a);
            for (scale, v) in ranks.iter().filter(|(_, v)| v[a] != 0.0) {
                row.iter_mut().zip(v).for_each(|(m, b)| *m += scale * v[a] * b);
            }
            row[a] += dual * w[a];
            row.iter_mut().zip(self.products.row(a)).for_each(|(m, t)| *m *= t);
        }
        let mut slopes = u.mul(&m);
        for k in 0..u.rows() {
            let x = self.inputs.row(k);
            let z: Vec<f64> = u.row(k).iter().zip(x).map(|(u, x)| u * x).collect();
            let mut mz: Vec<f64> = z.iter().zip(w).map(|(z, w)| dual * w * z).collect();
            for (scale, v) in &ranks {
                let share = scale * dot(v, &z);
                mz.iter_mut().zip(v).for_each(|(s, v)| *s += share * v);
            }
            slopes.row_mut(k).iter_mut().zip(x.iter().zip(&mz)).for_each(|(s, (x, v))| *s -= x * v);
        }
        slopes
    }
}
