//! Learning the graph and the arc weights of one class: OR-SGBN ([`fit_or`]), H-SGBN ([`fit_h`]), order search
//! ([`fit_search`]), two classes with a fused penalty ([`fit_fused`]).
//! Input are the moments of the rows, output is a weight matrix Θ with `Θ[(i, j)]` for the arc i -> j.

mod constraints;
mod fused;
mod h;
mod method;
mod or;
mod search;
mod start;
mod weights;

pub use constraints::{ArcRule, Constraints};
pub use fused::fit_fused;
pub use h::fit_h;
pub use method::{Learnt, Method, StructureMethod};
pub use or::{HalfStep, LAMBDA1_PER_ROW, OrParams, Schedule, TraceStep, fit_or};
pub use search::{CLASSIFIER_ROUNDS, STUDY_ROUNDS, SearchParams, fit_search};
pub use start::Start;

use crate::moments::Moments;
use hingenet_base::error::Result;
use hingenet_base::graph::Dag;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::solver::SolverReport;
use weights::ArcWeights;

/// A learnt graph with its regression weights.
#[derive(Debug, Clone)]
pub struct StructureFit {
    /// `Θ[(i, j)]`: weight of the arc i -> j; exact zero where there is none.
    pub theta: Matrix,
    /// Bias of each node.
    pub bias: Vec<f64>,
    /// Squared residuals of each node on the training rows.
    pub squared_error: Vec<f64>,
    /// `Σ_j ‖r_j‖² + λ1 Σ|Θ|`.
    pub penalised: f64,
    /// Level of each node in the final order.
    pub levels: Vec<usize>,
    /// f after every half-step.
    pub trace: Vec<TraceStep>,
    /// How the solver ended.
    pub report: SolverReport,
}

impl StructureFit {
    /// Fitting error h, Eq. (3.6).
    pub fn fitting_error(&self) -> f64 {
        self.squared_error.iter().sum()
    }

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

fn finish(moments: &Moments, weights: &ArcWeights, penalised: f64, report: SolverReport) -> StructureFit {
    let m = moments.nodes();
    StructureFit {
        theta: weights.incoming.transpose(),
        bias: (0..m).map(|j| moments.bias(j, weights.incoming.row(j))).collect(),
        squared_error: weights.squared_error.clone(),
        penalised,
        levels: Vec::new(),
        trace: Vec::new(),
        report,
    }
}
