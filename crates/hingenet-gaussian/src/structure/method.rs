//! One face for the three structure learners.

use super::{HParams, OrParams, SearchParams, StructureFit, dag_of, fit_h, fit_or, fit_search};
use crate::moments::Moments;
use crate::structure::Constraints;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::graph::Pdag;

/// A structure learner with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// OR-SGBN.
    Or(OrParams),
    /// H-SGBN.
    H(HParams),
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

impl Method {
    /// Runs the learner.
    pub fn learn(&self, moments: &Moments, constraints: &Constraints, control: &Control) -> Result<Learnt> {
        let structure = match self {
            Method::Or(params) => fit_or(moments, params, constraints, control)?,
            Method::H(params) => fit_h(moments, params, constraints, control)?,
            Method::Search(params) => {
                let found = fit_search(moments, params, constraints, control)?;
                return Ok(Learnt {
                    structure: found.structure,
                    class: found.class,
                    score: Some(found.score),
                });
            }
        };
        // The printed schedule of OR-SGBN has no hard phase: a cyclic result has no class.
        let class = Pdag::of(&dag_of(&structure.theta, 0.0)?);
        Ok(Learnt { structure, class, score: None })
    }
}
