//! A Gaussian Bayesian network: `x_j = b_j + Σ_i Θ_ij x_i + e_j`, `e_j ~ N(0, σ²_j)`. Its log-likelihood is the sum of
//! one term per node (Eq. 3.1 of the paper, with the constant of the normal density put right).

mod units;

use crate::moments::Moments;
use crate::structure::{StructureFit, dag_of};
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_base::graph::Dag;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_data::encode::{FURTHEST, is_moderate};

/// Smallest variance of a node, as a share of the variance of its column.
pub const VARIANCE_FLOOR: f64 = 1e-6;

/// An acyclic network with its parameters.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "NetworkParts")]
pub struct GaussianNetwork {
    #[serde(rename = "parents", serialize_with = "parent_lists")]
    dag: Dag,
    /// Weights of the parents of each node, in the order of `dag.parents(j)`.
    weights: Vec<Vec<f64>>,
    bias: Vec<f64>,
    variance: Vec<f64>,
}

fn parent_lists<S: serde::Serializer>(dag: &Dag, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(dag.parent_lists())
}

/// A network as it stands in model files, before it is checked.
#[derive(serde::Deserialize)]
struct NetworkParts {
    parents: Vec<Vec<usize>>,
    weights: Vec<Vec<f64>>,
    bias: Vec<f64>,
    variance: Vec<f64>,
}

impl TryFrom<NetworkParts> for GaussianNetwork {
    type Error = Error;

    fn try_from(parts: NetworkParts) -> Result<Self> {
        let m = parts.bias.len();
        require_len("parent lists", m, parts.parents.len())?;
        require_len("weight lists", m, parts.weights.len())?;
        require_len("variances", m, parts.variance.len())?;
        for (list, weights) in parts.parents.iter().zip(&parts.weights) {
            require_len("weights of a node", list.len(), weights.len())?;
            if !list.is_sorted() {
                return Err(Error::data("the parents of a node are not in order", ""));
            }
        }
        check_numbers(parts.weights.iter().flatten().chain(&parts.bias), &parts.variance)?;
        let dag = Dag::new(parts.parents)?;
        Ok(GaussianNetwork { dag, weights: parts.weights, bias: parts.bias, variance: parts.variance })
    }
}

fn check_numbers<'a>(mut weights: impl Iterator<Item = &'a f64>, variance: &[f64]) -> Result<()> {
    if !weights.all(|v| v.is_finite()) {
        return Err(Error::data("a weight or bias of the network is not finite", ""));
    }
    for v in variance {
        require("variance of a node", v, "a finite number > 0", v.is_finite() && *v > 0.0)?;
    }
    Ok(())
}

impl GaussianNetwork {
    /// Checks the parameters; `theta[(i, j)]` is the weight of i -> j. A cycle, a variance that is not positive or a
    /// value that is not finite is an error.
    pub fn new(theta: &Matrix, bias: Vec<f64>, variance: Vec<f64>) -> Result<Self> {
        let m = bias.len();
        require_len("rows of Theta", m, theta.rows())?;
        require_len("columns of Theta", m, theta.cols())?;
        require_len("variances", m, variance.len())?;
        check_numbers(theta.data().iter().chain(&bias), &variance)?;
        if let Some(j) = (0..m).find(|&j| theta[(j, j)] != 0.0) {
            return Err(Error::Graph { node: j.to_string(), problem: "has an arc to itself".into() });
        }
        let dag = dag_of(theta, 0.0)?;
        let weights = (0..m).map(|j| dag.parents(j).iter().map(|&i| theta[(i, j)]).collect()).collect();
        Ok(GaussianNetwork { dag, weights, bias, variance })
    }

    /// The learnt structure with the maximum-likelihood variances `‖r_j‖² / n`, floored. A column with hardly
    /// any variance (of 1 over all rows) counts as constant: expectation-maximisation would let the variance
    /// of a constant column with missing cells shrink for ever.
    pub fn from_structure(fit: &StructureFit, moments: &Moments) -> Result<Self> {
        let least = |v: f64| VARIANCE_FLOOR * if v > VARIANCE_FLOOR { v } else { 1.0 };
        let errors = fit.squared_error.iter().zip(moments.variance());
        let variance = errors.map(|(error, v)| (error / moments.rows).max(least(v))).collect();
        Self::new(&fit.theta, fit.bias.clone(), variance)
    }

    /// The same arcs with other weights, biases and variances; `theta` must vanish where there is no arc.
    pub fn with_weights(&self, theta: &Matrix, bias: Vec<f64>) -> Result<Self> {
        Self::new(theta, bias, self.variance.clone())
    }

    /// The same network with other variances.
    pub fn with_variance(&self, variance: Vec<f64>) -> Result<Self> {
        Self::new(&self.theta(), self.bias.clone(), variance)
    }

    /// Whether all parameters are such as standardised columns give.
    pub(crate) fn is_moderate(&self) -> bool {
        let least = 1.0 / FURTHEST;
        self.weights.iter().flatten().chain(&self.bias).all(|w| is_moderate(*w))
            && self.variance.iter().all(|v| (least..=FURTHEST).contains(v))
    }

    /// Number of nodes m.
    pub fn nodes(&self) -> usize {
        self.bias.len()
    }

    /// The graph.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// Parents of node j with their weights.
    pub fn parents(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.dag.parents(j).iter().copied().zip(self.weights[j].iter().copied())
    }

    /// Bias of each node.
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// Variance σ² of each node.
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }

    /// All weights as a matrix.
    pub fn theta(&self) -> Matrix {
        let mut theta = Matrix::zeros(self.nodes(), self.nodes());
        for j in 0..self.nodes() {
            for (i, w) in self.parents(j) {
                theta[(i, j)] = w;
            }
        }
        theta
    }

    /// `r_j(x) = x_j − b_j − Σ_i Θ_ij x_i` of a complete row.
    #[inline]
    pub fn residual(&self, j: usize, row: &[f64]) -> f64 {
        row[j] - self.bias[j] - self.parents(j).map(|(i, w)| w * row[i]).sum::<f64>()
    }

    /// `log p(x_j | parents)` of a complete row: the term of node j.
    #[inline]
    pub fn node_term(&self, j: usize, row: &[f64]) -> f64 {
        let r = self.residual(j, row);
        let v = self.variance[j];
        -0.5 * r * r / v - 0.5 * (std::f64::consts::TAU * v).ln()
    }

    /// Log density of a complete row, Eq. (3.1).
    pub fn log_density(&self, row: &[f64]) -> f64 {
        (0..self.nodes()).map(|j| self.node_term(j, row)).sum()
    }

    /// Fitting error `h = Σ_j ‖r_j‖²` over weighted complete rows, Eq. (3.6).
    pub fn fitting_error(&self, x: &Matrix, weights: &[f64]) -> f64 {
        (0..x.rows())
            .map(|a| weights[a] * (0..self.nodes()).map(|j| self.residual(j, x.row(a)).powi(2)).sum::<f64>())
            .sum()
    }

    /// Mean and covariance of the joint normal distribution.
    pub fn joint(&self) -> (Vec<f64>, Matrix) {
        let m = self.nodes();
        let mut mean = vec![0.0; m];
        let mut covariance = Matrix::zeros(m, m);
        let mut done: Vec<usize> = Vec::with_capacity(m);
        for &j in self.dag.topological_order() {
            mean[j] = self.bias[j] + self.parents(j).map(|(i, w)| w * mean[i]).sum::<f64>();
            for &k in &done {
                let c = self.parents(j).map(|(i, w)| w * covariance[(i, k)]).sum::<f64>();
                covariance[(j, k)] = c;
                covariance[(k, j)] = c;
            }
            covariance[(j, j)] =
                self.variance[j] + self.parents(j).map(|(i, w)| w * covariance[(i, j)]).sum::<f64>();
            done.push(j);
        }
        (mean, covariance)
    }

    /// One row drawn from the network.
    pub fn sample(&self, random: &mut Random) -> Vec<f64> {
        let mut row = vec![0.0; self.nodes()];
        for &j in self.dag.topological_order() {
            let mean = self.bias[j] + self.parents(j).map(|(i, w)| w * row[i]).sum::<f64>();
            row[j] = mean + self.variance[j].sqrt() * random.normal();
        }
        row
    }
}
