//! The Θ-step shared by all structure learners: every column is a weighted lasso on the Gram matrix,
//! columns in parallel. Weights of arcs are kept as *incoming* rows: row j holds `Θ_:j`.

use super::{Constraints, StructureFit, dag_of};
use crate::moments::Moments;
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require, require_len};
use hingenet_base::graph::{Dag, Pdag, Potentials, WeightedArc, smallest_potentials};
use hingenet_base::numeric::linalg::{Cholesky, Matrix, dot};
use hingenet_base::optimise::lasso::{EXACT, weighted_lasso};
use hingenet_base::solver::SolverReport;
use rayon::prelude::*;

/// Weights of all arcs, `incoming[(j, i)] = Θ_ij`, with the squared error of each column.
#[derive(Debug, Clone)]
pub(super) struct ArcWeights {
    pub incoming: Matrix,
    pub squared_error: Vec<f64>,
    /// Whether every column met its stopping rule.
    pub converged: bool,
}

impl ArcWeights {
    pub fn zeros(moments: &Moments) -> Self {
        let m = moments.nodes();
        let squared_error = (0..m).map(|j| moments.gram[(j, j)]).collect();
        ArcWeights { incoming: Matrix::zeros(m, m), squared_error, converged: true }
    }

    /// Least squares of every node on its parents; a node whose parents depend on each other linearly keeps no arcs.
    pub fn least_squares(moments: &Moments, dag: &Dag) -> Self {
        let mut weights = Self::zeros(moments);
        for j in 0..dag.len() {
            if let Some((theta, error)) = least_squares(moments, j, dag.parents(j)) {
                weights.incoming.row_mut(j).copy_from_slice(&theta);
                weights.squared_error[j] = error;
            }
        }
        weights
    }

    /// `Σ_j ‖r_j‖²`.
    pub fn total_error(&self) -> f64 {
        self.squared_error.iter().sum()
    }

    /// `Σ w_ij |Θ_ij|` over the arcs that are present.
    pub fn penalty(&self, weight: impl Fn(usize, usize) -> f64) -> f64 {
        self.arcs().map(|a| weight(a.from, a.to) * a.weight).sum()
    }

    /// The present arcs with weights `|Θ_ij|`, by head, then tail.
    pub fn arcs(&self) -> impl Iterator<Item = WeightedArc> + '_ {
        let into = |to: usize| {
            let arcs = self.incoming.row(to).iter().enumerate().filter(|(_, t)| **t != 0.0);
            arcs.map(move |(from, t)| WeightedArc { from, to, weight: t.abs() })
        };
        (0..self.incoming.rows()).flat_map(into)
    }

    /// The order step, with required arcs made as heavy as everything else together.
    pub fn order(&self, required: &[(usize, usize)]) -> Potentials {
        let mut arcs: Vec<WeightedArc> = self.arcs().collect();
        let heavy = 1.0 + arcs.iter().map(|a| a.weight).sum::<f64>();
        arcs.extend(required.iter().map(|&(from, to)| WeightedArc { from, to, weight: heavy }));
        smallest_potentials(self.incoming.rows(), &arcs)
    }

    /// Children of each node, required arcs always among them.
    pub fn children(&self, required: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.incoming.rows()];
        self.arcs().for_each(|a| children[a.from].push(a.to));
        for &(from, to) in required {
            if self.incoming[(to, from)] == 0.0 {
                children[from].push(to);
            }
        }
        children
    }

    /// The result with these weights; an error names a cycle.
    pub fn into_fit(
        self,
        moments: &Moments,
        levels: Vec<usize>,
        report: SolverReport,
    ) -> Result<StructureFit> {
        let theta = self.incoming.transpose();
        let bias = |j: usize| moments.bias(j, self.incoming.row(j));
        Ok(StructureFit {
            bias: (0..moments.nodes()).map(bias).collect(),
            squared_error: self.squared_error,
            levels,
            class: Pdag::of(&dag_of(&theta, 0.0)?),
            theta,
            trace: Vec::new(),
            report,
        })
    }
}

/// What OR-SGBN and H-SGBN learn from.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub moments: &'a Moments,
    /// Penalty of an arc.
    pub lambda1: f64,
    pub constraints: &'a Constraints,
}

impl Task<'_> {
    /// The least weight that the arc i -> j ever has.
    fn least(&self, i: usize, j: usize) -> f64 {
        self.constraints.penalty(self.lambda1, i, j)
    }
}

/// Its regressions, which both solve again and again with other weights.
pub(super) struct Regressions<'a> {
    pub task: Task<'a>,
    pub weights: ArcWeights,
    /// How the regression of each node ended, where it converged.
    ends: Vec<Option<End>>,
}

/// The end of a regression, as far as other weights can change it: its solution stays while the present arcs keep their weights and
/// no absent one is let in. Late in a continuation this holds for nearly all nodes.
struct End {
    /// The present arcs with their weights.
    present: Vec<(usize, f64)>,
    /// Absent arcs that the least weight would let in, with the least that keeps them out.
    held_off: Vec<(usize, f64)>,
}

impl End {
    fn stays(&self, weight: impl Fn(usize) -> f64) -> bool {
        self.present.iter().all(|&(i, same)| weight(i) == same)
            && self.held_off.iter().all(|&(i, enough)| weight(i) >= enough)
    }
}

impl<'a> Regressions<'a> {
    /// No arcs yet.
    pub fn none(task: Task<'a>) -> Result<Self> {
        let Task { moments, lambda1, constraints } = task;
        require("lambda1", lambda1, "a finite number > 0", lambda1.is_finite() && lambda1 > 0.0)?;
        require_len("nodes of the constraints", moments.nodes(), constraints.nodes())?;
        let ends = (0..moments.nodes()).map(|_| None).collect();
        Ok(Regressions { task, weights: ArcWeights::zeros(moments), ends })
    }

    /// Where both start: the lasso of every node on all others (the graph may have cycles).
    pub fn lasso(task: Task<'a>, control: &Control) -> Result<Self> {
        let mut now = Self::none(task)?;
        now.solve(|i, j| task.least(i, j), control)?;
        Ok(now)
    }

    /// Solves the regressions of all nodes with weights `weight(i, j)` of the arc i -> j, warm started.
    pub fn solve(&mut self, weight: impl Fn(usize, usize) -> f64 + Sync, control: &Control) -> Result<()> {
        let Regressions { task, weights, ends } = self;
        let of_node = weights.incoming.data_mut().par_chunks_mut(task.moments.nodes());
        let of_node = of_node.zip(weights.squared_error.par_iter_mut()).zip(ends.par_iter_mut()).enumerate();
        of_node.try_for_each(|(j, ((theta, error), end))| -> Result<()> {
            control.check()?;
            regression(*task, j, theta, error, end, |i| weight(i, j));
            Ok(())
        })?;
        weights.converged = ends.iter().all(Option::is_some);
        Ok(())
    }

    /// Solves the regression of node j alone.
    pub fn solve_one(&mut self, j: usize, weight: impl Fn(usize) -> f64) {
        let Regressions { task, weights, ends } = self;
        let theta = weights.incoming.row_mut(j);
        regression(*task, j, theta, &mut weights.squared_error[j], &mut ends[j], weight);
        weights.converged &= ends[j].is_some();
    }

    /// `Σ_j ‖r_j‖² + λ1 Σ|Θ|`.
    pub fn penalised_error(&self) -> f64 {
        self.weights.total_error() + self.weights.penalty(|i, j| self.task.least(i, j))
    }

    /// The order step.
    pub fn order(&self) -> Potentials {
        self.weights.order(self.task.constraints.required())
    }

    /// The result with these weights; an error names a cycle.
    pub fn into_fit(self, levels: Vec<usize>, report: SolverReport) -> Result<StructureFit> {
        self.weights.into_fit(self.task.moments, levels, report)
    }
}

/// The regression of node j on all others, unless it ended where these weights leave it.
fn regression(
    task: Task<'_>,
    j: usize,
    theta: &mut [f64],
    error: &mut f64,
    end: &mut Option<End>,
    weight: impl Fn(usize) -> f64,
) {
    if end.as_ref().is_some_and(|end| end.stays(&weight)) {
        return;
    }
    let weights: Vec<f64> = (0..theta.len()).map(weight).collect();
    let found = weighted_lasso(&task.moments.gram, j, &weights, EXACT, theta);
    *error = task.moments.squared_error(j, theta, found.squared_error);
    let present = || (0..theta.len()).filter(|&i| theta[i] != 0.0).map(|i| (i, weights[i])).collect();
    let absent = || (0..theta.len()).filter(|&i| theta[i] == 0.0 && i != j);
    let keeps_out = |i: usize| (i, 2.0 * found.rest[i].abs());
    let held_off = || absent().map(keeps_out).filter(|&(i, enough)| enough > task.least(i, j)).collect();
    *end = found.converged.then(|| End { present: present(), held_off: held_off() });
}

/// Least squares of node j on `support`: all m coefficients and the squared error; `None` when the
/// support is linearly dependent.
pub(super) fn least_squares(moments: &Moments, j: usize, support: &[usize]) -> Option<(Vec<f64>, f64)> {
    let gram = &moments.gram;
    let factor = Cholesky::new(&gram.select(support, support)).ok()?;
    let right: Vec<f64> = support.iter().map(|&i| gram[(i, j)]).collect();
    let mut beta = right.clone();
    factor.solve(&mut beta);
    let mut theta = vec![0.0; moments.nodes()];
    support.iter().zip(&beta).for_each(|(&i, b)| theta[i] = *b);
    let rss = (gram[(j, j)] - dot(&beta, &right)).max(0.0);
    theta.iter().all(|t| t.is_finite()).then(|| {
        let rss = moments.squared_error(j, &theta, rss);
        (theta, rss)
    })
}

/// Nodes that can be reached from `from` along `children`, `from` itself only by a cycle.
pub(crate) fn reachable(children: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut seen = vec![false; children.len()];
    let mut stack: Vec<usize> = children[from].clone();
    while let Some(v) = stack.pop() {
        if !seen[v] {
            seen[v] = true;
            stack.extend(children[v].iter().copied().filter(|&c| !seen[c]));
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;

    /// Some weights rise and fall, as those of an order do. What is left alone is what a start without arcs finds.
    #[test]
    fn a_regression_that_is_left_alone_is_already_solved() {
        let (m, lambda1, control) = (8, 6.0, Control::default());
        let mut random = Random::new(4);
        let common: Vec<f64> = (0..30).map(|_| random.normal()).collect();
        let x = Matrix::from_fn(30, m, |a, _| 0.5 * common[a] + random.normal());
        let (moments, constraints) = (Moments::of_rows(&x, None).unwrap(), Constraints::none(m));
        let task = Task { moments: &moments, lambda1, constraints: &constraints };
        let mut now = Regressions::lasso(task, &control).unwrap();
        let (mut weights, mut left_alone, mut arcs) = (Matrix::from_fn(m, m, |_, _| lambda1), 0, 0);
        for _ in 0..100 {
            for _ in 0..4 {
                let raised = [lambda1, lambda1 * (1.0 + 3.0 * random.uniform()), f64::INFINITY];
                weights[(random.below(m), random.below(m))] = raised[random.below(3)];
            }
            let weight = |i: usize, j: usize| weights[(i, j)];
            let stays = |j: &usize| now.ends[*j].as_ref().is_some_and(|end| end.stays(|i| weight(i, *j)));
            left_alone += (0..m).filter(stays).count();
            now.solve(weight, &control).unwrap();
            let mut fresh = Regressions::none(task).unwrap();
            fresh.solve(weight, &control).unwrap();
            let far = |a: &[f64], b: &[f64]| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-7);
            assert!(!far(now.weights.incoming.data(), fresh.weights.incoming.data()));
            assert!(!far(&now.weights.squared_error, &fresh.weights.squared_error));
            assert!(now.weights.converged);
            arcs += fresh.weights.arcs().count();
        }
        assert!((100..700).contains(&left_alone), "{left_alone} of 800 are left alone");
        assert!(arcs > 500, "{arcs} arcs in all");
    }
}
