//! Learners that ask which nodes are independent given which others: PC, four by Markov blankets, and total conditioning.
//! Each finds edges and where they collide; directions are spread from there by the same rules, and what stays undirected
//! can run either way. All take the columns in an order of their own ([`Columns`]), so that nothing depends on how they are
//! numbered; on columns in that order bnlearn's `gs`, `iamb`, `fast.iamb`, `inter.iamb` and `pc.stable` with the test `zf`
//! ask the same questions.
//!
//! With the correlations of a faithful DAG they find its equivalence class. With those of a sample, colliders may
//! contradict each other: the clearest come first, and one that would turn an arc round or close a cycle is left out.

mod blankets;
mod fisher_z;
mod pc;
mod total;

pub use blankets::Growth;
pub(super) use fisher_z::Given;
pub use fisher_z::check_alpha;

use super::columns::Columns;
use super::weights::ArcWeights;
use super::{ArcRule, Constraints, StructureFit};
use crate::moments::Moments;
use fisher_z::Tests;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::Pdag;
use hingenet_base::solver::SolverReport;

/// Level of the tests where none is given.
pub const ALPHA: f64 = 0.05;

/// Which learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestLearner {
    /// PC, stable.
    Pc,
    /// By Markov blankets.
    Blankets(Growth),
    /// TC: the moral graph by tests given all other nodes.
    Total,
    /// TC-bw: the moral graph by backward elimination.
    TotalBackward,
}

/// Edges (the smaller number first, sorted) and where they collide.
struct Found {
    edges: Vec<(usize, usize)>,
    colliders: Vec<Collider>,
}

/// `ends.0 -> middle <- ends.1`.
struct Collider {
    /// |z| behind it; the largest are directed first.
    strength: f64,
    ends: (usize, usize),
    middle: usize,
}

/// Pairs `i < j`, sorted.
fn pairs(nodes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..nodes).flat_map(move |i| (i + 1..nodes).map(move |j| (i, j)))
}

/// Learns a partially directed graph by tests at level `alpha`, and least squares in a member of it.
pub fn fit_by_tests(
    moments: &Moments,
    learner: TestLearner,
    alpha: f64,
    constraints: &Constraints,
    control: &Control,
) -> Result<StructureFit> {
    require_len("nodes of the constraints", moments.nodes(), constraints.nodes())?;
    let columns = Columns::new(&moments.standardised(), constraints);
    let tests = Tests::new(&columns.correlation, moments.rows, alpha, control)?;
    let known = &columns.known;
    let found = match learner {
        TestLearner::Pc => pc::learn(&tests, known)?,
        TestLearner::Blankets(growth) => blankets::learn(&tests, growth, known)?,
        TestLearner::Total => total::learn(&tests, false, moments.rows, known, control)?,
        TestLearner::TotalBackward => total::learn(&tests, true, moments.rows, known, control)?,
    };
    if tests.is_short_of_rows() {
        control.warn(&format!(
            "{} rows are too few for some of the tests: those with too many nodes held count as independent",
            moments.rows
        ));
    }
    let class = directed(tests.nodes(), found, known)?;
    let preference: Vec<usize> = (0..tests.nodes()).collect();
    let (arcs, is_member) = class.extension(&preference);
    if !is_member {
        control.warn(
            "the directions found leave no acyclic graph without a further collider: weights and likelihood are those of a \
             graph with one",
        );
    }
    let weights = ArcWeights::least_squares(moments, &columns.dag(arcs)?);
    let report = SolverReport {
        method: "independence tests".into(),
        converged: true,
        iterations: tests.done(),
        objective: weights.total_error(),
        gap: None,
        slack: None,
    };
    let levels = weights.order(&[]).level;
    Ok(StructureFit { class: columns.pdag(&class), ..weights.into_fit(moments, levels, report)? })
}

/// Directs what is known, then the colliders, then what both compel.
fn directed(nodes: usize, mut found: Found, known: &Constraints) -> Result<Pdag> {
    let mut graph = Pdag::undirected(nodes, found.edges.iter().copied());
    for (i, j) in found.edges.iter().flat_map(|&(i, j)| [(i, j), (j, i)]) {
        if known.rule(j, i) == ArcRule::Forbidden && !graph.direct(i, j) {
            let problem = "what is known about the arcs leaves one of its edges no direction without a cycle";
            return Err(Error::Graph { node: i.to_string(), problem: problem.into() });
        }
    }
    let key = |c: &Collider| (c.ends, c.middle);
    found.colliders.sort_by(|a, b| b.strength.total_cmp(&a.strength).then(key(a).cmp(&key(b))));
    for Collider { ends: (i, j), middle, .. } in found.colliders {
        let mut tried = graph.clone();
        if tried.direct(i, middle) && tried.direct(j, middle) {
            graph = tried;
        }
    }
    graph.propagate();
    Ok(graph)
}
