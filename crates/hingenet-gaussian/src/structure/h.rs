//! H-SGBN, the baseline the paper improves on: block coordinate descent over the columns, where arcs
//! from nodes that the child already reaches are penalised (Eq. 2.1). The result depends on the order of
//! the columns. Updating the whole network at once ([`whole`]) does not, but two arcs of a cycle that leave together
//! may return together, so that it goes to and fro; the paper gives that as the reason for an order.

use super::weights::{ArcWeights, Regressions, Task, reachable};
use super::{ArcRule, Constraints, StructureFit};
use crate::moments::Moments;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::solver::SolverReport;
use rayon::prelude::*;

/// Learns a sparse acyclic network by sweeping over the columns with λ_dag = λ1 4^k, k = −2..7, then ∞, up to
/// the first acyclic result.
pub fn fit_h(
    moments: &Moments,
    lambda1: f64,
    constraints: &Constraints,
    control: &Control,
) -> Result<StructureFit> {
    let mut run = Run::new(Task { moments, lambda1, constraints }, false, control)?;
    let converged = run.continuation(control)?;
    run.into_fit(converged)
}

/// The same with all columns updated at once from the graph before. Where it does not settle on an acyclic network, the
/// acyclic one with the least objective on the way is the result; an error if there was none.
pub(super) fn whole(task: Task<'_>, control: &Control) -> Result<StructureFit> {
    let mut run = Run::new(task, true, control)?;
    let settled = run.continuation(control)? && run.is_acyclic();
    if !settled {
        let Some((_, weights)) = run.best.take() else {
            return Err(Error::data(
                "H-SGBN of the whole network went to and fro between networks with cycles",
                "use method `h`, which takes one column after the other, or `or`",
            ));
        };
        run.now.weights = weights;
    }
    run.into_fit(settled)
}

struct Run<'a> {
    now: Regressions<'a>,
    /// Children of each node, kept up to date.
    children: Vec<Vec<usize>>,
    sweeps: usize,
    change: f64,
    /// Whether all columns are updated at once.
    is_whole: bool,
    /// The acyclic network with the least objective so far, where all are.
    best: Option<(f64, ArcWeights)>,
}

impl<'a> Run<'a> {
    fn new(task: Task<'a>, is_whole: bool, control: &Control) -> Result<Self> {
        let now = Regressions::lasso(task, control)?;
        let children = now.weights.children(task.constraints.required());
        Ok(Run { now, children, sweeps: 0, change: 0.0, is_whole, best: None })
    }

    /// λ_dag = λ1 4^k, k = −2..7, then ∞, up to the first acyclic result; says whether that settled.
    fn continuation(&mut self, control: &Control) -> Result<bool> {
        let mut settled = false;
        for k in -2..=8 {
            let lambda_dag = if k == 8 { f64::INFINITY } else { self.now.task.lambda1 * 4f64.powi(k) };
            settled = self.sweep_until_settled(lambda_dag, control)?;
            if self.is_acyclic() && (settled || !self.is_whole) {
                break;
            }
        }
        Ok(settled)
    }

    /// At least 2, at most 50 sweeps, until the objective changes by at most 1e-8 of itself.
    fn sweep_until_settled(&mut self, lambda_dag: f64, control: &Control) -> Result<bool> {
        let mut last = f64::INFINITY;
        for _ in 0..50 {
            control.check()?;
            self.sweeps += 1;
            match self.is_whole {
                true => self.update_all(lambda_dag, control)?,
                false => (0..self.children.len()).try_for_each(|j| {
                    self.update_column(j, lambda_dag);
                    control.check()
                })?,
            }
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
        let task = self.now.task;
        let before = self.now.weights.incoming.row(j).to_vec();
        self.now.solve_one(j, |i| task.penalty(lambda_dag, (i, j), below[i]));
        for (i, (old, new)) in before.iter().zip(self.now.weights.incoming.row(j)).enumerate() {
            let required = task.constraints.rule(i, j) == ArcRule::Required;
            match (*old != 0.0, *new != 0.0) {
                (false, true) if !required => self.children[i].push(j),
                (true, false) if !required => self.children[i].retain(|&c| c != j),
                _ => {}
            }
        }
    }

    /// Updates every column from the same graph.
    fn update_all(&mut self, lambda_dag: f64, control: &Control) -> Result<()> {
        let below: Vec<Vec<bool>> =
            (0..self.children.len()).into_par_iter().map(|j| reachable(&self.children, j)).collect();
        let task = self.now.task;
        self.now.solve(|i, j| task.penalty(lambda_dag, (i, j), below[j][i]), control)?;
        self.children = self.now.weights.children(task.constraints.required());
        let objective = self.objective(f64::INFINITY);
        if self.best.as_ref().is_none_or(|best| objective < best.0) && self.is_acyclic() {
            self.best = Some((objective, self.now.weights.clone()));
        }
        Ok(())
    }

    fn objective(&self, lambda_dag: f64) -> f64 {
        let mut f = self.now.penalised_error();
        if lambda_dag.is_finite() {
            for j in 0..self.children.len() {
                let below = reachable(&self.children, j);
                let row = self.now.weights.incoming.row(j);
                f += lambda_dag
                    * row.iter().zip(&below).filter(|(_, b)| **b).map(|(t, _)| t.abs()).sum::<f64>();
            }
        }
        f
    }

    fn is_acyclic(&self) -> bool {
        self.now.order().violation == 0.0
    }

    fn into_fit(self, converged: bool) -> Result<StructureFit> {
        let report = SolverReport {
            method: match self.is_whole {
                true => "H-SGBN of the whole network, which goes to and fro,".into(),
                false => "H-SGBN (relative change of the objective)".into(),
            },
            converged: converged && self.now.weights.converged,
            iterations: self.sweeps,
            objective: self.objective(f64::INFINITY),
            gap: Some(self.change),
            slack: None,
        };
        let levels = self.now.order().level;
        self.now.into_fit(levels, report)
    }
}

impl Task<'_> {
    /// Weight of the arc i -> j in its regression; `is_back` if j reaches i.
    fn penalty(&self, lambda_dag: f64, (i, j): (usize, usize), is_back: bool) -> f64 {
        match self.constraints.rule(i, j) {
            ArcRule::Free if is_back => self.lambda1 + lambda_dag,
            _ => self.constraints.penalty(self.lambda1, i, j),
        }
    }
}
