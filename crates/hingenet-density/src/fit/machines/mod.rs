//! The linear SVMs of SLB on log-density features: one for two classes (the paper's method); for more classes one for each
//! class against the rest, or one of all classes together. (Machines for pairs of classes say nothing about rows of
//! other classes, where their margins are largest: added up they decide wrongly.)

mod anchored;
mod design;

use super::TrainingSet;
use crate::columns::Columns;
use crate::params::{Multiclass, Params, Penalty};
use crate::structure::Kept;
use crate::terms::{PerTerm, Scores};
use design::{Design, Scaling};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::optimise::crammer_singer::{MulticlassProblem, MulticlassSolution, crammer_singer};
use hingenet_base::optimise::group_svm::{Group, group_svm};
use hingenet_base::optimise::linear_svm::{SvmProblem, SvmSolution, linear_svm};
use hingenet_base::solver::SolverReport;
use rayon::prelude::*;

/// What machines are trained on, and how; `available` lists the pairs of the features, `kept` those in use.
#[derive(Clone, Copy)]
pub struct Machines<'a> {
    /// Feature values of all rows.
    pub set: &'a TrainingSet,
    /// Classes and weights of all rows.
    pub columns: &'a Columns,
    /// Rows to train on.
    pub rows: &'a [usize],
    /// Pairs of the features.
    pub available: &'a Kept,
    /// Pairs in use.
    pub kept: &'a Kept,
    /// Forests of the generative classifier around which the weights are penalised.
    pub anchor: Option<&'a Kept>,
    /// Weight of each class.
    pub class_weights: &'a [f64],
    /// C of the machines.
    pub cost: f64,
    /// Kind of the machines.
    pub params: &'a Params,
    /// Relative duality gap.
    pub gap: f64,
    /// Stop and progress.
    pub control: &'a Control,
}

/// Trained machines as one linear score, with what the next similar problem can start from.
#[derive(Debug, Clone)]
pub struct Trained {
    /// Scores over the available pairs; coefficients of pairs not in use are 0.
    pub scores: Scores,
    /// How each solver ended.
    pub reports: Vec<SolverReport>,
    /// Multipliers of each machine, for warm starts.
    pub multipliers: Vec<Vec<f64>>,
}

impl Machines<'_> {
    /// Trains all machines, from the multipliers of similar ones if there are any. Two classes have one output, the decision
    /// value of the second class; more have a score each.
    pub fn train(&self, warm: &[Vec<f64>]) -> Result<Trained> {
        let k = self.class_weights.len();
        if let Some(forests) = self.anchor {
            return self.around(forests, warm);
        }
        match self.params.multiclass {
            _ if k == 2 => self.against_the_rest(&[1], warm),
            Multiclass::OneVsRest => self.against_the_rest(&(0..k).collect::<Vec<_>>(), warm),
            Multiclass::CrammerSinger => self.together(warm),
        }
    }

    /// One output for each of these classes: the value of its machine against all other classes, on all features.
    fn against_the_rest(&self, classes: &[usize], warm: &[Vec<f64>]) -> Result<Trained> {
        let design = Design::new(self, Scaling::Standard);
        let start = |m: usize| warm.get(m).map(Vec::as_slice);
        // a single machine tells how far it is, of several it is told which are done
        let (steps, quiet) = (self.control.steps("training machines", classes.len())?, self.control.quiet());
        let control = if classes.len() == 1 { self.control } else { &quiet };
        let solve = |(m, &class): (usize, &usize)| {
            let solved = self.solve(&design, class, start(m), control)?;
            steps.done().map(|()| solved)
        };
        let machines: Vec<SvmSolution> = classes.par_iter().enumerate().map(solve).collect::<Result<_>>()?;
        let mut scores = self.no_scores(machines.len());
        for (output, machine) in machines.iter().enumerate() {
            design.add_to(&mut scores, output, &machine.weights, machine.intercept);
        }
        let (reports, multipliers) = machines.into_iter().map(|m| (m.report, m.multipliers)).unzip();
        Ok(Trained { scores, reports, multipliers })
    }

    /// Solves the machine of one class against the other rows, with the penalty of the parameters.
    fn solve(
        &self,
        design: &Design,
        class: usize,
        warm: Option<&[f64]>,
        control: &Control,
    ) -> Result<SvmSolution> {
        let label = |y: usize| if y == class { 1.0 } else { -1.0 };
        let labels: Vec<f64> = self.classes_of_rows().into_iter().map(label).collect();
        let costs = self.costs(self.cost);
        let problem = SvmProblem { rows: &design.x, labels: &labels, costs: &costs };
        let groups = match self.params.penalty {
            Penalty::TwoNorm => return linear_svm(problem, self.gap, warm, control),
            Penalty::OneNorm => Group::singles(design.columns.len()),
            Penalty::GroupNorm => design.groups(),
        };
        group_svm(problem, &groups, self.gap, control)
    }

    /// One machine of all classes (Crammer & Singer): every class has its own weights on the features of all classes.
    fn together(&self, warm: &[Vec<f64>]) -> Result<Trained> {
        let design = Design::new(self, Scaling::Standard);
        let (k, class) = (self.class_weights.len(), self.classes_of_rows());
        let problem = MulticlassProblem {
            rows: &design.x,
            class: &class,
            losses: &MulticlassProblem::unit_losses(&class, k),
            costs: &self.costs(self.cost),
            intercepts: true,
        };
        let solved = self.solve_jointly(problem, warm)?;
        let mut scores = self.no_scores(k);
        for output in 0..k {
            design.add_to(&mut scores, output, solved.weights.row(output), solved.intercepts[output]);
        }
        Ok(Trained { scores, reports: vec![solved.report], multipliers: vec![solved.multipliers] })
    }

    fn solve_jointly(&self, problem: MulticlassProblem<'_>, warm: &[Vec<f64>]) -> Result<MulticlassSolution> {
        crammer_singer(problem, self.gap, warm.first().map(Vec::as_slice), self.control)
    }

    /// C times class weight times sample weight of the rows.
    fn costs(&self, cost: f64) -> Vec<f64> {
        let Columns { class, weights, .. } = self.columns;
        self.rows.iter().map(|&r| cost * self.class_weights[class[r]] * weights[r]).collect()
    }

    fn classes_of_rows(&self) -> Vec<usize> {
        self.rows.iter().map(|&r| self.columns.class[r]).collect()
    }

    /// All coefficients zero.
    fn no_scores(&self, outputs: usize) -> Scores {
        let (n_features, n_raw) = (self.columns.n_features(), self.set.densities.raw.len());
        let weights = PerTerm::zeros(outputs, n_features, self.available, n_raw);
        Scores { base: vec![0.0; outputs], weights }
    }
}
