//! H-SGBN, the baseline the paper improves on: block coordinate descent over the columns, where arcs
//! from nodes that the child already reaches are penalised (Eq. 2.1). The result depends on the order of
//! the columns.

use super::StructureFit;
use super::weights::{ArcWeights, reachable};
use crate::moments::Moments;
use crate::structure::{ArcRule, Constraints};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::solver::SolverReport;

/// Learns a sparse acyclic network by sweeping over the columns with λ_dag = λ1 4^k, k = −2..7, then ∞, up to
/// the first acyclic result.
pub fn fit_h(
    moments: &Moments,
    lambda1: f64,
    constraints: &Constraints,
    control: &Control,
) -> Result<StructureFit> {
    let weights = ArcWeights::lasso(moments, lambda1, constraints)?;
    let children = weights.children(constraints.required());
    let mut run = Run { moments, lambda1, constraints, weights, children, sweeps: 0, change: 0.0 };
    let mut converged = false;
    for k in -2..=8 {
        let lambda_dag = if k == 8 { f64::INFINITY } else { lambda1 * 4f64.powi(k) };
        converged = run.sweep_until_settled(lambda_dag, control)?;
        if run.is_acyclic() {
            break;
        }
    }
    run.into_fit(converged)
}

struct Run<'a> {
    moments: &'a Moments,
    lambda1: f64,
    constraints: &'a Constraints,
    weights: ArcWeights,
    /// Children of each node, kept up to date.
    children: Vec<Vec<usize>>,
    sweeps: usize,
    change: f64,
}

impl Run<'_> {
    /// At least 2, at most 50 sweeps, until the objective changes by at most 1e-8 of itself.
    fn sweep_until_settled(&mut self, lambda_dag: f64, control: &Control) -> Result<bool> {
        let mut last = f64::INFINITY;
        for _ in 0..50 {
            control.check()?;
            self.sweeps += 1;
            (0..self.children.len()).for_each(|j| self.update_column(j, lambda_dag));
            let f = self.objective(lambda_dag);
            self.change = (last - f).abs() / f.abs().max(f64::MIN_POSITIVE);
            if (last - f).abs() <= 1e-8 * last.abs() && last.is_finite() {
                return Ok(true);
            }
            last = f;
        }
        Ok(false)
    }

    /// Updates column j. Arcs into j do not change what j reaches, so they need not be taken out first.
    fn update_column(&mut self, j: usize, lambda_dag: f64) {
        let below = reachable(&self.children, j);
        let (constraints, lambda1) = (self.constraints, self.lambda1);
        let weight = |i: usize, j: usize| match constraints.rule(i, j) {
            ArcRule::Free if below[i] => lambda1 + lambda_dag,
            _ => constraints.penalty(lambda1, i, j),
        };
        let before = self.weights.incoming.row(j).to_vec();
        self.weights.solve_one(self.moments, j, weight);
        for (i, (old, new)) in before.iter().zip(self.weights.incoming.row(j)).enumerate() {
            let required = constraints.rule(i, j) == ArcRule::Required;
            match (*old != 0.0, *new != 0.0) {
                (false, true) if !required => self.children[i].push(j),
                (true, false) if !required => self.children[i].retain(|&c| c != j),
                _ => {}
            }
        }
    }

    fn objective(&self, lambda_dag: f64) -> f64 {
        let l1 = self.weights.penalty(|i, j| self.constraints.penalty(self.lambda1, i, j));
        let mut f = self.weights.total_error() + l1;
        if lambda_dag.is_finite() {
            for j in 0..self.children.len() {
                let below = reachable(&self.children, j);
                let row = self.weights.incoming.row(j);
                f += lambda_dag
                    * row.iter().zip(&below).filter(|(_, b)| **b).map(|(t, _)| t.abs()).sum::<f64>();
            }
        }
        f
    }

    fn is_acyclic(&self) -> bool {
        self.weights.order(self.constraints.required()).violation == 0.0
    }

    fn into_fit(self, converged: bool) -> Result<StructureFit> {
        let report = SolverReport {
            method: "H-SGBN (relative change of the objective)".into(),
            converged: converged && self.weights.converged,
            iterations: self.sweeps,
            objective: self.objective(f64::INFINITY),
            gap: Some(self.change),
            slack: None,
        };
        let levels = self.weights.order(self.constraints.required()).level;
        self.weights.into_fit(self.moments, levels, report)
    }
}
