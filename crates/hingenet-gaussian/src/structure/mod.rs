//! Learning the graph and the arc weights of one class: OR-SGBN ([`fit_or`]), H-SGBN ([`fit_h`]), order search
//! ([`fit_search`]), two classes with a fused penalty ([`fit_fused`]).
//! Input are the moments of the rows, output is a weight matrix Θ with `Θ[(i, j)]` for the arc i -> j.

mod constraints;
mod fused;
mod h;
mod or;
mod search;
mod weights;

pub use constraints::{ArcRule, Constraints};
pub use fused::fit_fused;
pub use h::fit_h;
pub use or::{LAMBDA1_PER_ROW, fit_or};
pub use search::{CLASSIFIER_ROUNDS, STUDY_ROUNDS, SearchParams, fit_search};

use crate::missing::expected_moments;
use crate::moments::Moments;
use crate::network::GaussianNetwork;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::graph::{Dag, Pdag};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::solver::SolverReport;

/// Which structure learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StructureMethod {
    /// OR-SGBN.
    #[default]
    Or,
    /// H-SGBN.
    H,
    /// Order search by BIC.
    Search,
}

/// A structure learner with its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Which one.
    pub kind: StructureMethod,
    /// Penalty λ1 > 0 of an arc (OR and H).
    pub lambda1: f64,
    /// Settings of the order search.
    pub search: SearchParams,
}

impl Method {
    /// Learns from rows with missing cells (NaN) by expectation-maximisation, with this learner as the second step. Also
    /// gives the moments the result was learnt from.
    pub fn learn_rows(
        &self,
        x: &Matrix,
        weights: &[f64],
        constraints: &Constraints,
        control: &Control,
    ) -> Result<(Moments, StructureFit)> {
        let step = |moments: &Moments| {
            GaussianNetwork::from_structure(&self.learn(moments, constraints, &control.quiet())?, moments)
        };
        let (moments, settled) = expected_moments(x, weights, control, step)?;
        let mut learnt = self.learn(&moments, constraints, control)?;
        learnt.report.converged &= settled;
        Ok((moments, learnt))
    }

    /// Runs the learner.
    pub fn learn(
        &self,
        moments: &Moments,
        constraints: &Constraints,
        control: &Control,
    ) -> Result<StructureFit> {
        match self.kind {
            StructureMethod::Or => fit_or(moments, self.lambda1, constraints, control),
            StructureMethod::H => fit_h(moments, self.lambda1, constraints, control),
            StructureMethod::Search => fit_search(moments, &self.search, constraints, control),
        }
    }
}

/// A learnt graph with its regression weights.
#[derive(Debug, Clone)]
pub struct StructureFit {
    /// `Θ[(i, j)]`: weight of the arc i -> j; exact zero where there is none.
    pub theta: Matrix,
    /// Bias of each node.
    pub bias: Vec<f64>,
    /// Squared residuals of each node on the training rows; their sum is the fitting error h, Eq. (3.6).
    pub squared_error: Vec<f64>,
    /// Level of each node in the final order.
    pub levels: Vec<usize>,
    /// The equivalence class of the graph (of all arcs, whatever their weight).
    pub class: Pdag,
    /// λ_dag of OR-SGBN and f after every half-step at it; of the hard phase (λ_dag = ∞) after the regressions alone.
    pub trace: Vec<(f64, f64)>,
    /// How the solver ended; its objective is `Σ_j ‖r_j‖² + λ1 Σ|Θ|`, that of the order search the BIC.
    pub report: SolverReport,
}

impl StructureFit {
    /// The graph of the arcs with `|Θ_ij| > cutoff`; an error names a cycle.
    pub fn dag(&self, cutoff: f64) -> Result<Dag> {
        dag_of(&self.theta, cutoff)
    }
}

/// The graph of the arcs with `|Θ_ij| > cutoff`; an error names a cycle.
pub fn dag_of(theta: &Matrix, cutoff: f64) -> Result<Dag> {
    let m = theta.rows();
    Dag::new((0..m).map(|j| (0..m).filter(|&i| theta[(i, j)].abs() > cutoff).collect()).collect())
}
