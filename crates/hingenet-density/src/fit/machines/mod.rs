//! The linear SVMs of SLB on log-density features: one for two classes (the paper's method); for more classes one for each
//! class against the rest, or one of all classes together. (Machines for pairs of classes say nothing about rows of
//! other classes, where their margins are largest: added up they decide wrongly.)

mod anchored;
mod design;
mod joint;

use crate::estimate::features::Features;
use crate::params::{Multiclass, Params, Penalty};
use crate::structure::Kept;
use crate::terms::Scores;
use crate::terms::raw::RawTerms;
use design::{Design, Scaling, Terms, groups};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::optimise::group_svm::{Group, group_svm};
use hingenet_base::optimise::linear_svm::{SvmProblem, linear_svm};
use hingenet_base::solver::SolverReport;
use rayon::prelude::*;

/// Training rows as features; `available` lists the pairs of the feature columns, `kept` those in use.
#[derive(Clone, Copy)]
pub struct MachineRows<'a> {
    /// Feature values of all rows.
    pub features: &'a Features,
    /// What the raw features are.
    pub raw: &'a RawTerms,
    /// Class code of each row.
    pub class: &'a [usize],
    /// Sample weight of each row.
    pub weights: &'a [f64],
    /// Rows to train on.
    pub rows: &'a [usize],
    /// Pairs of the feature columns.
    pub available: &'a Kept,
    /// Pairs in use.
    pub kept: &'a Kept,
    /// Forests of the generative classifier around which the weights are penalised.
    pub anchor: Option<&'a Kept>,
    /// Weight of each class.
    pub class_weights: &'a [f64],
}

impl MachineRows<'_> {
    /// C times class weight times sample weight of the rows.
    fn costs(&self, cost: f64) -> Vec<f64> {
        self.rows.iter().map(|&r| cost * self.class_weights[self.class[r]] * self.weights[r]).collect()
    }

    /// Class codes of the rows.
    fn classes_of_rows(&self) -> Vec<usize> {
        self.rows.iter().map(|&r| self.class[r]).collect()
    }

    /// Number of features of a class.
    fn n_features(&self) -> usize {
        self.features.classes.first().map_or(0, |c| c.marginals.len())
    }
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

/// One machine of two sides.
struct Machine {
    terms: Terms,
    report: SolverReport,
    multipliers: Vec<f64>,
}

/// How machines are solved.
#[derive(Clone, Copy)]
struct Solving<'a> {
    params: &'a Params,
    gap: f64,
    control: &'a Control,
}

/// Trains all machines. Two classes have one output, the decision value of the second class; more have a score each.
pub fn train(
    data: MachineRows<'_>,
    params: &Params,
    gap: f64,
    warm: Option<&[Vec<f64>]>,
    control: &Control,
) -> Result<Trained> {
    let solving = Solving { params, gap, control };
    let k = data.class_weights.len();
    if let Some(forests) = data.anchor {
        return anchored::train(&data, forests, warm, solving);
    }
    match params.multiclass {
        _ if k == 2 => against_the_rest(&data, &[1], warm, solving),
        Multiclass::OneVsRest => against_the_rest(&data, &(0..k).collect::<Vec<_>>(), warm, solving),
        Multiclass::CrammerSinger => joint::train(&data, warm, solving),
    }
}

/// All coefficients zero.
fn no_scores(data: &MachineRows<'_>, outputs: usize) -> Scores {
    Scores::zeros(outputs, data.n_features(), data.available, data.raw.terms.len())
}

/// Adds a linear function to an output.
fn add_terms(scores: &mut Scores, output: usize, terms: &Terms) {
    scores.base[output] += terms.base;
    for (id, coefficient) in &terms.coefficients {
        scores.weights_mut(*id)[output] += coefficient;
    }
}

/// Warm start of machine m.
fn start(warm: Option<&[Vec<f64>]>, m: usize) -> Option<&[f64]> {
    warm.and_then(|w| w.get(m)).map(Vec::as_slice)
}

/// One output for each of these classes: the value of its machine against all other classes, on all features.
fn against_the_rest(
    data: &MachineRows<'_>,
    classes: &[usize],
    warm: Option<&[Vec<f64>]>,
    solving: Solving<'_>,
) -> Result<Trained> {
    let design = Design::new(data, Scaling::Standard);
    let machines: Vec<Machine> = (0..classes.len())
        .into_par_iter()
        .map(|m| solve(data, &design, classes[m], start(warm, m), solving))
        .collect::<Result<_>>()?;
    let mut scores = no_scores(data, machines.len());
    for (output, machine) in machines.iter().enumerate() {
        add_terms(&mut scores, output, &machine.terms);
    }
    let (reports, multipliers) = machines.into_iter().map(|m| (m.report, m.multipliers)).unzip();
    Ok(Trained { scores, reports, multipliers })
}

/// Solves the machine of one class against the other rows, with the penalty of the parameters.
fn solve(
    data: &MachineRows<'_>,
    design: &Design,
    class: usize,
    warm: Option<&[f64]>,
    Solving { params, gap, control }: Solving<'_>,
) -> Result<Machine> {
    let label = |y: usize| if y == class { 1.0 } else { -1.0 };
    let labels: Vec<f64> = data.classes_of_rows().into_iter().map(label).collect();
    let costs = data.costs(params.cost);
    let problem = SvmProblem { rows: &design.x, labels: &labels, costs: &costs };
    let groups = match params.penalty {
        Penalty::TwoNorm => {
            let solved = linear_svm(problem, gap, warm, control)?;
            let terms = design.terms(&solved.weights, solved.intercept);
            return Ok(Machine { terms, report: solved.report, multipliers: solved.multipliers });
        }
        Penalty::OneNorm => Group::singles(design.columns.len()),
        Penalty::GroupNorm => groups(data, &design.columns),
    };
    let solved = group_svm(problem, &groups, gap, control)?;
    let terms = design.terms(&solved.weights, solved.intercept);
    Ok(Machine { terms, report: solved.report, multipliers: solved.multipliers })
}
