//! Making class networks discriminate without leaving the graphs or spoiling the fit: KL-SGBN minimises the
//! radius-margin bound of the Fisher kernel machine ([`fit_kl`], Algorithm 1 of the paper), MM-SGBN maximises the margin of
//! the likelihood ratio ([`fit_mm`], Algorithm 2). Both move the arcs and biases that correlate most with the labels,
//! inside a ball given by the fitting error of each class.

mod ball;
mod ccp;
mod kl;
mod mm;
mod radius_margin;

pub use ball::FreeParameter;
pub use kl::fit_kl;
pub use mm::{MmSolver, fit_mm, margin_objective, margins_of};
pub use radius_margin::{RadiusMargin, radius_margin};

use crate::network::GaussianNetwork;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::solver::SolverReport;

/// Labelled complete rows with the networks of the classes.
#[derive(Debug, Clone, Copy)]
pub struct Labelled<'a> {
    /// Rows, standardised.
    pub x: &'a Matrix,
    /// Class of each row.
    pub class: &'a [usize],
    /// Weight of each row.
    pub weights: &'a [f64],
    /// One network per class.
    pub networks: &'a [GaussianNetwork],
}

impl Labelled<'_> {
    fn check(&self) -> Result<()> {
        require_len("class labels", self.x.rows(), self.class.len())?;
        require_len("sample weights", self.x.rows(), self.weights.len())?;
        for network in self.networks {
            require_len("nodes of a class network", self.x.cols(), network.nodes())?;
        }
        let (classes, present) =
            (self.networks.len(), (0..self.networks.len()).filter(|c| self.class.contains(c)).count());
        if classes < 2 || present < 2 || self.class.iter().any(|c| *c >= classes) {
            return Err(Error::data(
                "the labels have one value only",
                "a classifier needs rows of two classes",
            ));
        }
        if !self.x.data().iter().all(|v| v.is_finite()) {
            return Err(Error::data(
                "discriminative learning needs complete rows",
                "complete missing cells first",
            ));
        }
        Ok(())
    }

    /// The weights of the rows of class c; 0 for the others.
    fn weights_of(&self, c: usize) -> Vec<f64> {
        self.weights.iter().zip(self.class).map(|(w, k)| if *k == c { *w } else { 0.0 }).collect()
    }
}

/// What discriminative learning may change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leeway {
    /// Number k of free parameters; more than there are means all.
    pub free: usize,
    /// Share >= 0 by which the fitting error of a class may grow.
    pub slack: f64,
}

/// Networks after discriminative learning.
#[derive(Debug, Clone)]
pub struct DiscriminativeFit {
    /// One network per class: same arcs and variances, other weights and biases.
    pub networks: Vec<GaussianNetwork>,
    /// The parameters that were free, per class, sorted by column, then row.
    pub free: Vec<Vec<FreeParameter>>,
    /// Objective at the start and after every step that was kept; never rises.
    pub objective: Vec<f64>,
    /// Optimum of each convex sub-problem of the convex-concave procedure, an upper bound of what its solution reaches.
    pub convex_optima: Vec<f64>,
    /// How the solver ended.
    pub report: SolverReport,
}
