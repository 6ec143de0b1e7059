//! L1MB: the neighbours of a node are those of the sparse regression with the best BIC, and the best DAG inside these
//! neighbourhoods is climbed to by single arcs (Schmidt, Niculescu-Mizil, Murphy: Learning Graphical Model Structure Using
//! L1-Regularization Paths, AAAI 2007). The regressions also start OR-SGBN in the second experiment of Zhou et al. (2015).

use super::columns::Columns;
use super::independence::Given;
use super::weights::{ArcWeights, least_squares, reachable};
use super::{ArcRule, Constraints, StructureFit};
use crate::moments::Moments;
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::optimise::lasso::{EXACT, weighted_lasso};
use hingenet_base::solver::SolverReport;
use rayon::prelude::*;

/// Values of λ on the path of a node, and the share of the largest at its end.
const PATH: i32 = 60;
const LEAST_SHARE: f64 = 0.001;
/// Smallest share of its variance that a node keeps: perfect fits have no finite BIC.
const MIN_VARIANCE: f64 = 1e-12;
/// A move must gain this much.
const MIN_GAIN: f64 = 1e-7;

/// Least squares of every node on the neighbours found for it (the graph may have cycles): along the lasso path
/// `λ_max 0.001^(k/60)`, k = 1..60, the support with the least `n log(RSS/n) + |S| log n`.
pub(super) fn neighbourhoods(
    moments: &Moments,
    constraints: &Constraints,
    control: &Control,
) -> Result<ArcWeights> {
    require_len("nodes of the constraints", moments.nodes(), constraints.nodes())?;
    let of_node = |j: usize| {
        control.check()?;
        Ok(best_of_path(moments, constraints, j))
    };
    let found = (0..moments.nodes()).into_par_iter().map(of_node).collect::<Result<Vec<_>>>()?;
    let mut weights = ArcWeights::zeros(moments);
    for (j, (theta, error)) in found.into_iter().enumerate() {
        weights.incoming.row_mut(j).copy_from_slice(&theta);
        weights.squared_error[j] = error;
    }
    Ok(weights)
}

fn best_of_path(moments: &Moments, constraints: &Constraints, j: usize) -> (Vec<f64>, f64) {
    let (m, n) = (moments.nodes(), moments.rows);
    let total = moments.gram[(j, j)];
    let allowed = |i: &usize| *i != j && constraints.rule(*i, j) != ArcRule::Forbidden;
    let largest = (0..m).filter(allowed).fold(0.0f64, |a, i| a.max(2.0 * moments.gram[(i, j)].abs()));
    let bic = |rss: f64, size: usize| n * (rss.max(MIN_VARIANCE * total) / n).ln() + size as f64 * n.ln();
    let required = |i: &usize| constraints.rule(*i, j) == ArcRule::Required;
    let mut support: Vec<usize> = (0..m).filter(required).collect();
    let mut best = least_squares(moments, j, &support).unwrap_or((vec![0.0; m], total));
    if total <= 0.0 {
        return best;
    }
    let mut least = bic(best.1, support.len());
    let mut theta = vec![0.0; m];
    for k in 1..=PATH {
        let lambda = largest * LEAST_SHARE.powf(f64::from(k) / f64::from(PATH));
        let weights: Vec<f64> = (0..m).map(|i| constraints.penalty(lambda, i, j)).collect();
        weighted_lasso(&moments.gram, j, &weights, EXACT, &mut theta);
        let now: Vec<usize> = (0..m).filter(|&i| theta[i] != 0.0).collect();
        if now == support || now.len() as f64 > n - 2.0 {
            continue;
        }
        if let Some(fit) = least_squares(moments, j, &now) {
            let score = bic(fit.1, now.len());
            if score < least {
                (best, least) = (fit, score);
            }
        }
        support = now;
    }
    best
}

/// Learns a DAG inside the neighbourhoods: from the required arcs, the single arc that raises the BIC most is put in, taken
/// out or turned round, until none does. An arc may run between nodes of which one has the other as a neighbour.
pub fn fit_l1mb(moments: &Moments, constraints: &Constraints, control: &Control) -> Result<StructureFit> {
    let near = neighbourhoods(moments, constraints, control)?.incoming;
    let columns = Columns::new(&moments.standardised(), constraints);
    let at = |i: usize, j: usize| near[(columns.order[j], columns.order[i])] != 0.0;
    let may = |i: usize, j: usize| {
        i != j && (at(i, j) || at(j, i)) && columns.known.rule(i, j) != ArcRule::Forbidden
    };
    let mut climb = Climb::new(&columns, moments.rows, may);
    while climb.step() {
        control.check()?;
    }
    let arcs = climb.parents.iter().enumerate().flat_map(|(j, list)| list.iter().map(move |&i| (i, j)));
    let weights = ArcWeights::least_squares(moments, &columns.dag(arcs)?);
    let report = SolverReport {
        method: "L1MB".into(),
        converged: true,
        iterations: climb.moves,
        objective: (0..moments.nodes()).map(|j| climb.score(j, &climb.parents[j])).sum(),
        gap: None,
        slack: None,
    };
    let levels = weights.order(&[]).level;
    weights.into_fit(moments, levels, report)
}

/// Hill climbing over DAGs by `Σ_j − n log v_j(pa_j) − |pa_j| log n`.
struct Climb<'a> {
    columns: &'a Columns,
    rows: f64,
    /// Arcs that may be put in or taken out, sorted.
    candidates: Vec<(usize, usize)>,
    parents: Vec<Vec<usize>>,
    /// What it gains to put the arc i -> j in, or to take it out if it is there.
    gain: Matrix,
    moves: usize,
}

impl<'a> Climb<'a> {
    fn new(columns: &'a Columns, rows: f64, may: impl Fn(usize, usize) -> bool) -> Self {
        let m = columns.order.len();
        let is_required = |i: usize, j: usize| columns.known.rule(i, j) == ArcRule::Required;
        let pairs = (0..m * m).map(|k| (k / m, k % m));
        let candidates = pairs.filter(|&(i, j)| may(i, j) && !is_required(i, j)).collect();
        let parents = (0..m).map(|j| (0..m).filter(|&i| is_required(i, j)).collect()).collect();
        let mut climb = Climb { columns, rows, candidates, parents, gain: Matrix::zeros(m, m), moves: 0 };
        (0..m).for_each(|j| climb.renew(j));
        climb
    }

    /// `s_j(S)`.
    fn score(&self, j: usize, parents: &[usize]) -> f64 {
        let variance = Given::new(&self.columns.correlation, parents).variance(j).max(MIN_VARIANCE);
        -self.rows * variance.ln() - parents.len() as f64 * self.rows.ln()
    }

    /// Computes the gains of the arcs into j.
    fn renew(&mut self, j: usize) {
        let now = self.score(j, &self.parents[j]);
        for k in 0..self.candidates.len() {
            let (i, to) = self.candidates[k];
            if to == j {
                self.gain[(i, j)] = self.score(j, &toggled(&self.parents[j], i)) - now;
            }
        }
    }

    /// The best move, if it gains anything.
    fn step(&mut self) -> bool {
        let mut children = vec![Vec::new(); self.parents.len()];
        for (j, list) in self.parents.iter().enumerate() {
            list.iter().for_each(|&i| children[i].push(j));
        }
        let below: Vec<Vec<bool>> = (0..children.len()).map(|v| reachable(&children, v)).collect();
        let is_candidate = |i: usize, j: usize| self.candidates.binary_search(&(i, j)).is_ok();
        // j -> i closes a cycle if a path i ~> j is left without i -> j itself.
        let can_turn =
            |i: usize, j: usize| is_candidate(j, i) && !children[i].iter().any(|&c| c != j && below[c][j]);
        let mut best = (MIN_GAIN, None);
        for &(i, j) in &self.candidates {
            let is_there = self.parents[j].contains(&i);
            let moves = match is_there {
                true => [
                    Some((self.gain[(i, j)], false)),
                    can_turn(i, j).then(|| (self.gain[(i, j)] + self.gain[(j, i)], true)),
                ],
                false => [(!below[j][i]).then(|| (self.gain[(i, j)], false)), None],
            };
            for (gain, turns) in moves.into_iter().flatten() {
                if gain > best.0 {
                    best = (gain, Some((i, j, turns)));
                }
            }
        }
        let Some((i, j, turns)) = best.1 else { return false };
        self.parents[j] = toggled(&self.parents[j], i);
        self.renew(j);
        if turns {
            self.parents[i] = toggled(&self.parents[i], j);
            self.renew(i);
        }
        self.moves += 1;
        true
    }
}

fn toggled(list: &[usize], node: usize) -> Vec<usize> {
    match list.contains(&node) {
        true => list.iter().copied().filter(|&v| v != node).collect(),
        false => list.iter().copied().chain([node]).collect(),
    }
}
