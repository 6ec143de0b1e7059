//! Learning the graph and the arc weights of one class by one of some methods ([`Method`]): OR-SGBN ([`fit_or`]) and
//! Algorithm 3 as printed, H-SGBN ([`fit_h`]), order search ([`fit_search`]), independence tests ([`fit_by_tests`]), L1MB
//! ([`fit_l1mb`]); and of two classes with a fused penalty ([`fit_fused`]).
//! Input are the moments of the rows, output is a weight matrix Θ with `Θ[(i, j)]` for the arc i -> j.

mod columns;
mod constraints;
mod fused;
mod h;
mod independence;
mod l1mb;
mod or;
mod search;
mod weights;

pub use constraints::{ArcRule, Constraints};
pub use fused::fit_fused;
pub use h::fit_h;
pub use independence::{ALPHA, Growth, TestLearner, check_alpha, fit_by_tests};
pub use l1mb::fit_l1mb;
pub use or::{LAMBDA1_PER_ROW, Start, fit_or};
pub use search::{CLASSIFIER_ROUNDS, STUDY_ROUNDS, SearchParams, fit_search};

use crate::missing::expected_moments;
use crate::moments::Moments;
use crate::network::GaussianNetwork;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::graph::{Dag, Pdag};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::solver::SolverReport;
use weights::Task;
pub(crate) use weights::reachable;

/// Which structure learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StructureMethod {
    /// OR-SGBN.
    #[default]
    Or,
    /// Algorithm 3 of the paper as printed.
    OrPrinted,
    /// H-SGBN.
    H,
    /// H-SGBN with the whole network updated at once.
    HWhole,
    /// Order search by BIC.
    Search,
    /// Independence tests.
    Tests(TestLearner),
    /// Lasso neighbourhoods and hill climbing.
    L1mb,
}

/// The methods with their names and what they do in one sentence.
pub const METHODS: [(&str, StructureMethod, &str); 13] = {
    use StructureMethod::{H, HWhole, L1mb, Or, OrPrinted, Search, Tests};
    use TestLearner::{Blankets, Pc, Total, TotalBackward};
    use independence::Growth::{All, First, Interleaved, Strongest};
    [
        ("search", Search, "Order search by BIC: the fewest errors, needs no lambda1"),
        ("or", Or, "OR-SGBN, the paper's method: lasso regressions and an order of the nodes in turn"),
        (
            "or-printed",
            OrPrinted,
            "Algorithm 3 of the paper as printed: the order stays while lambda_dag grows",
        ),
        ("h", H, "H-SGBN, the paper's baseline: depends on the order of the columns"),
        ("h-whole", HWhole, "H-SGBN of the whole network at once: may go to and fro without end"),
        ("pc", Tests(Pc), "PC-stable: edges go when neighbours separate their ends"),
        ("gs", Tests(Blankets(First)), "Grow-shrink: Markov blankets, grown by the first dependent node"),
        ("iamb", Tests(Blankets(Strongest)), "IAMB: Markov blankets, grown by the most dependent node"),
        (
            "fast-iamb",
            Tests(Blankets(All)),
            "Fast-IAMB: Markov blankets, grown by all dependent nodes at once",
        ),
        ("inter-iamb", Tests(Blankets(Interleaved)), "Inter-IAMB: as IAMB, shrinking after every step"),
        ("tc", Tests(Total), "Total conditioning: tests given all other columns, then collider sets"),
        ("tc-bw", Tests(TotalBackward), "Total conditioning with backward elimination"),
        ("l1mb", L1mb, "L1MB: lasso neighbourhoods by BIC, then hill climbing inside them"),
    ]
};

impl StructureMethod {
    /// The method of this name.
    pub fn named(name: &str) -> Option<Self> {
        METHODS.iter().find(|m| m.0 == name).map(|m| m.1)
    }

    /// Whether λ1 is a setting of it.
    pub fn has_lambda1(self) -> bool {
        use StructureMethod::{H, HWhole, Or, OrPrinted};
        matches!(self, Or | OrPrinted | H | HWhole)
    }

    /// Whether it finds an equivalence class, and not one of its members.
    pub fn finds_class(self) -> bool {
        matches!(self, StructureMethod::Search | StructureMethod::Tests(_))
    }
}

/// A structure learner with its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Which one.
    pub kind: StructureMethod,
    /// Penalty λ1 > 0 of an arc (OR and H).
    pub lambda1: f64,
    /// Where OR begins.
    pub start: Start,
    /// Level of the tests.
    pub alpha: f64,
    /// Settings of the order search.
    pub search: SearchParams,
}

impl Default for Method {
    fn default() -> Self {
        Method {
            kind: StructureMethod::Search,
            lambda1: 1.0,
            start: Start::default(),
            alpha: ALPHA,
            search: SearchParams::default(),
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
        let task = Task { moments, lambda1: self.lambda1, constraints };
        match self.kind {
            StructureMethod::Or => or::alternating(task, self.start, control),
            StructureMethod::OrPrinted => or::as_printed(task, self.start, control),
            StructureMethod::H => fit_h(moments, self.lambda1, constraints, control),
            StructureMethod::HWhole => h::whole(task, control),
            StructureMethod::Tests(learner) => {
                fit_by_tests(moments, learner, self.alpha, constraints, control)
            }
            StructureMethod::L1mb => fit_l1mb(moments, constraints, control),
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
    /// The equivalence class of the graph (of all arcs, whatever their weight); what independence tests found as they
    /// found it, also where no acyclic graph has exactly these colliders.
    pub class: Pdag,
    /// λ_dag of OR-SGBN and f after every half-step at it; of the hard phase (λ_dag = ∞) after the regressions alone.
    pub trace: Vec<(f64, f64)>,
    /// How the solver ended; its objective is `Σ_j ‖r_j‖² + λ1 Σ|Θ|`, that of the order search the BIC.
    pub report: SolverReport,
}

impl StructureFit {
    /// The equivalence class of the arcs with `|Θ_ij| > cutoff`.
    pub fn class_above(&self, cutoff: f64) -> Result<Pdag> {
        let dag = self.dag(cutoff)?;
        let is_whole = dag == self.dag(0.0)?;
        Ok(if is_whole { self.class.clone() } else { Pdag::of(&dag) })
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
