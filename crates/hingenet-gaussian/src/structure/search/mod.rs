//! Order search: the DAG with the best BIC over orders of the nodes, found by best insertions
//! (Andrews et al., NeurIPS 2023) and repeated from random members of the best equivalence class. Beyond the
//! paper: for structure recovery it needs no λ1 and errs far less than OR-SGBN on standardised data.
//!
//! ```text
//! BIC(D) = Σ_j s_j(pa_j),   s_j(S) = − n log v_j(S) − c |S| log n,   v_j(S) = R_jj − R_jS R_SS⁻¹ R_Sj
//! ```

mod descent;
mod grow;
mod kick;

use super::columns::Columns;
use super::weights::ArcWeights;
use super::{ArcRule, Constraints, LAMBDA1_PER_ROW, StructureFit, fit_or};
use crate::moments::Moments;
use descent::Descent;
use grow::GrowTrees;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_base::graph::{Dag, Pdag};
use hingenet_base::numeric::random::Random;
use hingenet_base::solver::SolverReport;

/// Rounds where the graph is the result (`hingenet network`): it is learnt once and read by people.
pub const STUDY_ROUNDS: usize = 100;
/// Rounds inside a classifier, where the graph is learnt for every class, inner fold and expectation step, and the last
/// gains of the score hardly move a prediction.
pub const CLASSIFIER_ROUNDS: usize = 20;

/// Settings of the order search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchParams {
    /// Penalty c > 0: an arc costs `c log n`.
    pub penalty: f64,
    /// Rounds from random members of the best class; one descent alone is often stuck.
    pub rounds: usize,
    /// Seed of the random orders.
    pub seed: u64,
}

impl Default for SearchParams {
    fn default() -> Self {
        SearchParams { penalty: 2.0, rounds: STUDY_ROUNDS, seed: 0 }
    }
}

impl SearchParams {
    /// Refuses a penalty outside its range.
    pub fn check(&self) -> Result<()> {
        let c = self.penalty;
        require("penalty", c, "a finite number > 0", c.is_finite() && c > 0.0)
    }
}

/// Largest number of nodes (ranks are kept in 16 bits).
const MAX_NODES: usize = 60_000;

/// Searches the orders of the nodes for the best BIC. The graph is the member of the class found whose undirected edges
/// follow the OR-SGBN levels; its weights are least squares.
pub fn fit_search(
    moments: &Moments,
    params: &SearchParams,
    constraints: &Constraints,
    control: &Control,
) -> Result<StructureFit> {
    check(moments, params, constraints)?;
    let standard = moments.standardised();
    let levels = or_levels(&standard, constraints, control)?;
    let columns = Columns::new(&standard, constraints);
    let known = &columns.known;
    let trees = GrowTrees::new(&columns.correlation, moments.rows, params.penalty, known);
    let mut start: Vec<usize> = (0..columns.order.len()).collect();
    start.sort_by_key(|&k| (known.tier(k), levels[columns.order[k]], k));
    let mut descent = Descent::new(trees, start, known);
    let found = rounds(&mut descent, known, params, control)?;
    let arcs = found.dag.iter().enumerate().flat_map(|(j, list)| list.iter().map(move |&i| (i, j)));
    let mut dag = columns.dag(arcs)?;
    let class = Pdag::of(&dag);
    if let Some(member) = preferred_member(&class, &levels, &columns.order, constraints) {
        dag = member;
    }
    let weights = ArcWeights::least_squares(moments, &dag);
    let report = SolverReport {
        method: "order search".into(),
        converged: 3 * found.last_gain <= 2 * params.rounds,
        iterations: params.rounds,
        objective: found.score,
        gap: None,
        slack: None,
    };
    Ok(StructureFit { class, ..weights.into_fit(moments, levels, report)? })
}

fn check(moments: &Moments, params: &SearchParams, constraints: &Constraints) -> Result<()> {
    params.check()?;
    require_len("nodes of the constraints", moments.nodes(), constraints.nodes())?;
    if moments.nodes() > MAX_NODES {
        let (size, limit) = (moments.nodes() as f64, MAX_NODES as f64);
        let hint = "use method `or`, or select columns";
        return Err(Error::too_large("the order search (nodes)", size, limit, hint));
    }
    Ok(())
}

fn or_levels(standard: &Moments, constraints: &Constraints, control: &Control) -> Result<Vec<usize>> {
    // Ties of this start say nothing about the result.
    let silent = control.quiet().on_warning(|_| ());
    Ok(fit_or(standard, LAMBDA1_PER_ROW * standard.rows, constraints, &silent)?.levels)
}

struct Found {
    dag: Vec<Vec<usize>>,
    score: f64,
    /// Round of the last gain; 0 is the first descent.
    last_gain: usize,
}

/// Descends from the start, then again and again from a random member of the best class.
fn rounds(
    descent: &mut Descent<'_>,
    known: &Constraints,
    params: &SearchParams,
    control: &Control,
) -> Result<Found> {
    descent.run(control)?;
    let mut best = Found { dag: descent.parents(), score: descent.score(), last_gain: 0 };
    let mut random = Random::new(params.seed);
    for round in 1..=params.rounds {
        control.progress("order search", round - 1, params.rounds)?;
        let mut dag = best.dag.clone();
        kick::reverse_covered_arcs(&mut dag, known, &mut random);
        descent.set_order(kick::random_order(&dag, known, &mut random));
        descent.shake(&mut random);
        descent.run(control)?;
        let score = descent.score();
        if score >= best.score - 1e-9 {
            if score > best.score + 1e-7 {
                best.last_gain = round;
            }
            best = Found { dag: descent.parents(), score: score.max(best.score), ..best };
        }
    }
    Ok(best)
}

/// The member whose undirected edges run from smaller to larger OR level, where the class allows it; `None`
/// when that would break a constraint.
fn preferred_member(
    class: &Pdag,
    levels: &[usize],
    columns: &[usize],
    constraints: &Constraints,
) -> Option<Dag> {
    let mut preference = columns.to_vec();
    preference.sort_by_key(|&v| levels[v]);
    let mut parents = vec![Vec::new(); class.len()];
    for (i, j) in class.orient(&preference) {
        if constraints.rule(i, j) == ArcRule::Forbidden {
            return None;
        }
        parents[j].push(i);
    }
    let dag = Dag::new(parents).ok()?;
    constraints.required().iter().all(|&(i, j)| dag.has_arc(i, j)).then_some(dag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::linalg::Matrix;

    /// Scores of the columns in their given order, from an independent program.
    #[test]
    fn an_order_has_the_score_of_its_grow_shrink_graphs() {
        let text = include_str!("../../../../hingenet/tests/golden/gaussian/or_sgbn.json");
        let golden: serde_json::Value = serde_json::from_str(text).unwrap();
        for (case, want) in [49.352500, 296.050538, 83.368435].into_iter().enumerate() {
            let rows: Vec<Vec<f64>> = serde_json::from_value(golden["cases"][case]["X"].clone()).unwrap();
            let x = Matrix::from_fn(rows.len(), rows[0].len(), |a, j| rows[a][j]);
            let moments = Moments::of_rows(&x, None).unwrap();
            let (free, order) = (Constraints::none(x.cols()), (0..x.cols()).collect::<Vec<usize>>());
            let gram = moments.standardised().gram;
            let correlation = Matrix::from_fn(x.cols(), x.cols(), |i, j| gram[(i, j)] / (moments.rows - 1.0));
            let trees = GrowTrees::new(&correlation, moments.rows, 2.0, &free);
            let score = Descent::new(trees, order, &free).score();
            assert!((score - want).abs() < 1e-5, "case {case}: {score}");
        }
    }
}
