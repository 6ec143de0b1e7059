//! The Θ-step shared by all structure learners: every column is a weighted lasso on the Gram matrix,
//! columns in parallel. Weights of arcs are kept as *incoming* rows: row j holds `Θ_:j`.

use super::{Constraints, StructureFit, dag_of};
use crate::moments::Moments;
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

    /// Solves every column with weights `weight(i, j)` of the arc i -> j, warm started.
    pub fn solve(&mut self, moments: &Moments, weight: impl Fn(usize, usize) -> f64 + Sync) {
        let m = moments.nodes();
        let converged: Vec<bool> = self
            .incoming
            .data_mut()
            .par_chunks_mut(m)
            .zip(self.squared_error.par_iter_mut())
            .enumerate()
            .map(|(j, (theta, error))| solve_column(moments, j, theta, error, &weight))
            .collect();
        self.converged = converged.into_iter().all(|c| c);
    }

    /// Solves column j alone.
    pub fn solve_one(&mut self, moments: &Moments, j: usize, weight: impl Fn(usize, usize) -> f64) {
        let theta = self.incoming.row_mut(j);
        self.converged &= solve_column(moments, j, theta, &mut self.squared_error[j], &weight);
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

/// Its regressions, which both solve again and again with other weights.
pub(super) struct Regressions<'a> {
    pub task: Task<'a>,
    pub weights: ArcWeights,
}

impl<'a> Regressions<'a> {
    /// Where both start: the lasso of every node on all others (the graph may have cycles).
    pub fn lasso(task: Task<'a>) -> Result<Self> {
        let Task { moments, lambda1, constraints } = task;
        require("lambda1", lambda1, "a finite number > 0", lambda1.is_finite() && lambda1 > 0.0)?;
        require_len("nodes of the constraints", moments.nodes(), constraints.nodes())?;
        let mut weights = ArcWeights::zeros(moments);
        weights.solve(moments, |i, j| constraints.penalty(lambda1, i, j));
        Ok(Regressions { task, weights })
    }

    /// `Σ_j ‖r_j‖² + λ1 Σ|Θ|`.
    pub fn penalised_error(&self) -> f64 {
        let Task { lambda1, constraints, .. } = self.task;
        self.weights.total_error() + self.weights.penalty(|i, j| constraints.penalty(lambda1, i, j))
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

fn solve_column(
    moments: &Moments,
    j: usize,
    theta: &mut [f64],
    error: &mut f64,
    weight: &impl Fn(usize, usize) -> f64,
) -> bool {
    let weights: Vec<f64> = (0..theta.len()).map(|i| weight(i, j)).collect();
    let end = weighted_lasso(&moments.gram, j, &weights, EXACT, theta);
    *error = moments.squared_error(j, theta, end.squared_error);
    end.converged
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
