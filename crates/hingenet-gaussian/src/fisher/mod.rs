//! Fisher vectors: the gradient of the log-likelihood of a row in all parameters of all class networks,
//!
//! ```text
//! ∂L/∂Θ_ij = r_j x_i / σ²_j  (i ≠ j),     ∂L/∂b_j = r_j / σ²_j                     (3.2, sign put right)
//! ```
//!
//! for arcs present or not: m² components a class. Layout: class by class, node j by node, inside a node the other
//! nodes in index order, then the bias. The kernel needs no such vectors.

mod machine;

pub use machine::FisherMachine;
pub(crate) use machine::{FisherRows, plain_weight};

use crate::discriminative::Labelled;
use crate::missing::Conditional;
use crate::network::GaussianNetwork;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::{Matrix, dot};
use rayon::prelude::*;

/// Place of the component of the arc i -> j (the bias of j for `i = m`) of class c.
pub fn component(m: usize, c: usize, i: usize, j: usize) -> usize {
    let inside = if i < j { i } else { i - 1 };
    c * m * m + j * m + inside
}

/// Class c, parent i (m for the bias) and node j of a component.
pub(crate) fn parameter(m: usize, component: usize) -> (usize, usize, usize) {
    let (j, inside) = (component / m % m, component % m);
    (component / (m * m), inside + usize::from(inside >= j), j)
}

/// What stands for the Fisher information by which the vectors of the kernel machine are whitened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Information {
    /// The identity, as in the paper: the vectors are the gradients.
    #[default]
    Identity,
    /// `1/σ²_j`, the information of the parameters of node j on standardised columns: components `r_j x_i / σ_j`. Nodes that
    /// are nearly determined by their parents then count no more than others.
    Diagonal,
}

impl Information {
    /// Factor of a residual with variance σ²: `1/σ²` for the gradient, `1/σ` for the whitened one.
    fn scale(self, variance: f64) -> f64 {
        match self {
            Information::Identity => 1.0 / variance,
            Information::Diagonal => 1.0 / variance.sqrt(),
        }
    }
}

/// Fisher vector of a row. Missing cells (NaN) give the gradient of the marginal likelihood of the observed cells,
/// which is the expectation of the complete one given them.
pub fn fisher_vector(
    networks: &[GaussianNetwork],
    row: &[f64],
    information: Information,
) -> Result<Vec<f64>> {
    let m = row.len();
    let mut vector = Vec::with_capacity(networks.len() * m * m);
    let missing: Vec<bool> = row.iter().map(|v| v.is_nan()).collect();
    for network in networks {
        if !missing.contains(&true) {
            push_class(network, row, None, information, &mut vector);
            continue;
        }
        let conditional = Conditional::new(network, &missing)?;
        let (nodes, covariance) = conditional.covariance()?;
        let mut spread = Matrix::zeros(m, m);
        for (k, &i) in nodes.iter().enumerate() {
            for (l, &j) in nodes.iter().enumerate() {
                spread[(i, j)] = covariance[(k, l)];
            }
        }
        push_class(network, &conditional.complete(row), Some(&spread), information, &mut vector);
    }
    Ok(vector)
}

/// The components of one class; `spread` is the covariance of the row where it is uncertain.
fn push_class(
    network: &GaussianNetwork,
    row: &[f64],
    spread: Option<&Matrix>,
    information: Information,
    vector: &mut Vec<f64>,
) {
    for j in 0..row.len() {
        let scale = information.scale(network.variance()[j]);
        let u = network.residual(j, row) * scale;
        let first = vector.len();
        vector.extend(row[..j].iter().chain(&row[j + 1..]).map(|x| u * x));
        vector.push(u);
        if let Some(s) = spread {
            for (k, i) in (0..row.len()).filter(|&i| i != j).enumerate() {
                // Cov(x_i, r_j), zero for observed x_i
                let covariance = s[(i, j)] - network.parents(j).map(|(p, w)| w * s[(i, p)]).sum::<f64>();
                vector[first + k] += covariance * scale;
            }
        }
    }
}

/// Scaled residuals of node j on all rows: `u_aj = r_j(x_a) / σ²_j`, whitened `r_j(x_a) / σ_j`.
pub(crate) fn scaled_residuals(
    network: &GaussianNetwork,
    j: usize,
    x: &Matrix,
    information: Information,
) -> Vec<f64> {
    let scale = information.scale(network.variance()[j]);
    (0..x.rows()).map(|a| network.residual(j, x.row(a)) * scale).collect()
}

/// Scaled residuals of all nodes, one row a node.
pub(crate) fn all_scaled_residuals(
    network: &GaussianNetwork,
    x: &Matrix,
    information: Information,
) -> Matrix {
    let mut u = Matrix::zeros(x.cols(), x.rows());
    (0..x.cols()).for_each(|j| u.row_mut(j).copy_from_slice(&scaled_residuals(network, j, x, information)));
    u
}

/// `x_a · x_b + 1` for all pairs of rows.
pub fn products(x: &Matrix) -> Matrix {
    let mut t = x.mul_transpose(x);
    t.data_mut().iter_mut().for_each(|v| *v += 1.0);
    t
}

/// Fisher kernel of complete rows without forming the vectors, in O(n² m):
/// `K_ab = Σ_c Σ_j u_aj u_bj (x_a·x_b + 1 − x_aj x_bj)`.
pub fn fisher_kernel(
    networks: &[GaussianNetwork],
    x: &Matrix,
    information: Information,
    control: &Control,
) -> Result<Matrix> {
    let (t, inputs) = (products(x), x.transpose());
    let mut kernel = Matrix::zeros(x.rows(), x.rows());
    for network in networks {
        control.check()?;
        add_node_kernel(&mut kernel, &t, &all_scaled_residuals(network, x, information), &inputs);
    }
    Ok(kernel)
}

/// Adds the kernel of some nodes, `Σ_j u_aj u_bj (t_ab − x_aj x_bj)`; u and x have one row a node.
pub(crate) fn add_node_kernel(kernel: &mut Matrix, t: &Matrix, u: &Matrix, x: &Matrix) {
    let mut z = u.clone();
    z.data_mut().iter_mut().zip(x.data()).for_each(|(u, x)| *u *= x);
    let (uu, zz) = (u.gram_of_columns(), z.gram_of_columns());
    for a in 0..kernel.rows() {
        for b in 0..=a {
            let value = kernel[(a, b)] + uu[(a, b)] * t[(a, b)] - zz[(a, b)];
            kernel[(a, b)] = value;
            kernel[(b, a)] = value;
        }
    }
}

/// The `count` components (those that `counts` lets through, by class, parent, node) whose |correlation| with the labels
/// of any one-against-rest problem is largest; ties to the smaller one; ascending.
pub(crate) fn most_correlated(
    data: &Labelled<'_>,
    count: usize,
    counts: impl Fn(usize, usize, usize) -> bool + Sync,
) -> Vec<usize> {
    let (m, classes) = (data.x.cols(), data.networks.len());
    let labels = one_against_rest(data.class, classes);
    let inputs = data.x.transpose();
    let of_node = |node: usize| {
        let (c, j) = (node / m, node % m);
        let u = scaled_residuals(&data.networks[c], j, data.x, Information::Identity);
        let parents = (0..=m).filter(|&i| i != j && counts(c, i, j));
        let sized = parents.map(|i| {
            let values: Vec<f64> = match i {
                bias if bias == m => u.clone(),
                _ => u.iter().zip(inputs.row(i)).map(|(u, x)| u * x).collect(),
            };
            let sizes = labels.iter().map(|y| correlation(&values, y, data.weights).abs());
            (sizes.fold(0.0, f64::max), component(m, c, i, j))
        });
        sized.collect::<Vec<(f64, usize)>>()
    };
    let mut ranked: Vec<(f64, usize)> = (0..classes * m).into_par_iter().flat_map_iter(of_node).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen: Vec<usize> = ranked.iter().take(count).map(|r| r.1).collect();
    chosen.sort_unstable();
    chosen
}

/// Weighted Pearson correlation of a component with labels; 0 for a constant component.
fn correlation(values: &[f64], labels: &[f64], weights: &[f64]) -> f64 {
    let n: f64 = weights.iter().sum();
    let mean = |v: &[f64]| dot(v, weights) / n;
    let (mv, ml) = (mean(values), mean(labels));
    let (mut vv, mut ll, mut vl) = (0.0, 0.0, 0.0);
    for a in 0..values.len() {
        let (v, l) = (values[a] - mv, labels[a] - ml);
        vv += weights[a] * v * v;
        ll += weights[a] * l * l;
        vl += weights[a] * v * l;
    }
    let scale = (vv * ll).sqrt();
    if scale > 0.0 && scale.is_finite() { vl / scale } else { 0.0 }
}

/// Labels of the one-against-rest problems: one for two classes (first class +1), else one per class.
pub(crate) fn one_against_rest(class: &[usize], classes: usize) -> Vec<Vec<f64>> {
    let problems = if classes == 2 { 1 } else { classes };
    let label = |c: usize, k: usize| if c == k { 1.0 } else { -1.0 };
    (0..problems).map(|k| class.iter().map(|&c| label(c, k)).collect()).collect()
}
