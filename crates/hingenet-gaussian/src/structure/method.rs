//! One face for the three structure learners.

use super::{Constraints, OrParams, SearchParams, StructureFit, dag_of, fit_h, fit_or, fit_search};
use crate::missing::expected_moments;
use crate::moments::Moments;
use crate::network::GaussianNetwork;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::graph::Pdag;
use hingenet_base::numeric::linalg::Matrix;

/// A structure learner with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// OR-SGBN.
    Or(OrParams),
    /// H-SGBN.
    H {
        /// Penalty λ1 > 0 of an arc.
        lambda1: f64,
    },
    /// Order search.
    Search(SearchParams),
}

/// What a structure learner found.
#[derive(Debug, Clone)]
pub struct Learnt {
    /// Graph and weights.
    pub structure: StructureFit,
    /// The equivalence class of the graph (of all arcs, whatever their weight).
    pub class: Pdag,
    /// BIC of the class, for the order search.
    pub score: Option<f64>,
}

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

impl StructureMethod {
    /// The learner with its settings: λ1 of OR and H, the others of the order search.
    pub fn with(self, lambda1: f64, search: SearchParams) -> Method {
        match self {
            StructureMethod::Or => Method::Or(OrParams::new(lambda1)),
            StructureMethod::H => Method::H { lambda1 },
            StructureMethod::Search => Method::Search(search),
        }
    }
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
    ) -> Result<(Moments, Learnt)> {
        let step = |moments: &Moments| {
            let learnt = self.learn(moments, constraints, &control.quiet())?;
            GaussianNetwork::from_structure(&learnt.structure, moments)
        };
        let (moments, settled) = expected_moments(x, weights, control, step)?;
        let mut learnt = self.learn(&moments, constraints, control)?;
        learnt.structure.report.converged &= settled;
        Ok((moments, learnt))
    }

    /// Runs the learner.
    pub fn learn(&self, moments: &Moments, constraints: &Constraints, control: &Control) -> Result<Learnt> {
        let structure = match self {
            Method::Or(params) => fit_or(moments, params, constraints, control)?,
            Method::H { lambda1 } => fit_h(moments, *lambda1, constraints, control)?,
            Method::Search(params) => return fit_search(moments, params, constraints, control),
        };
        // The printed schedule of OR-SGBN has no hard phase: a cyclic result has no class.
        let class = Pdag::of(&dag_of(&structure.theta, 0.0)?);
        Ok(Learnt { structure, class, score: None })
    }
}
