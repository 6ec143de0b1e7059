//! The linear SVMs of SLB on log-density features: one for two classes (the paper's method), otherwise one for
//! each class against the rest, on the features of all classes. (Machines for pairs of classes say nothing
//! about rows of other classes, where their margins are largest: added up they decide wrongly. On iris with a
//! tenth of the pairs such sums got 69 % of the training rows right, although every pair was separated.)

mod design;

use crate::classifier::SolverReport;
use crate::control::Control;
use crate::density::features::Features;
use crate::density::raw::RawTerms;
use crate::density::scores::Scores;
use crate::density::selection::Kept;
use crate::density::settings::{Penalty, Settings};
use crate::error::Result;
use crate::optimise::group_svm::group_svm;
use crate::optimise::linear_svm::{SvmProblem, SvmSettings, linear_svm};
use crate::optimise::one_norm_svm::one_norm_svm;
use design::{Design, Terms, groups};
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
    /// Weight of each class.
    pub class_weights: &'a [f64],
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

/// One machine, with a decision value that is positive for its class.
struct Machine {
    terms: Terms,
    report: SolverReport,
    multipliers: Vec<f64>,
}

/// How machines are solved, and from where.
#[derive(Clone, Copy)]
struct Solving<'a> {
    settings: &'a Settings,
    gap: f64,
    control: &'a Control,
}

/// Trains all machines. The score of a class is the decision value of its machine; two classes have the one of
/// the second class.
pub fn train(
    data: MachineRows<'_>,
    settings: &Settings,
    gap: f64,
    warm: Option<&[Vec<f64>]>,
    control: &Control,
) -> Result<Trained> {
    let k = data.class_weights.len();
    let solving = Solving { settings, gap, control };
    let classes: Vec<usize> = if k == 2 { vec![1] } else { (0..k).collect() };
    let design = Design::new(&data, None);
    let machines: Vec<Machine> = classes
        .par_iter()
        .enumerate()
        .map(|(m, &class)| {
            let start = warm.and_then(|w| w.get(m)).map(Vec::as_slice);
            one_against_the_rest(&data, &design, class, start, solving)
        })
        .collect::<Result<_>>()?;
    let n_features = data.features.classes.first().map_or(0, |c| c.marginals.len());
    let mut scores = Scores::zeros(machines.len(), n_features, data.available, data.raw.terms.len());
    for (output, machine) in machines.iter().enumerate() {
        add_terms(&mut scores, output, &machine.terms, 1.0);
    }
    let (reports, multipliers) = machines.into_iter().map(|m| (m.report, m.multipliers)).unzip();
    Ok(Trained { scores, reports, multipliers })
}

/// Adds a multiple of a linear function to an output.
fn add_terms(scores: &mut Scores, output: usize, terms: &Terms, factor: f64) {
    scores.base[output] += factor * terms.base;
    for (id, coefficient) in &terms.coefficients {
        scores.weights_mut(*id)[output] += factor * coefficient;
    }
}

fn one_against_the_rest(
    data: &MachineRows<'_>,
    design: &Design,
    class: usize,
    warm: Option<&[f64]>,
    solving: Solving<'_>,
) -> Result<Machine> {
    let label = |r: usize| if data.class[r] == class { 1.0 } else { -1.0 };
    let labels: Vec<f64> = data.rows.iter().map(|&r| label(r)).collect();
    solve(data, design, &labels, &data.costs(data.rows, solving.settings.cost), warm, solving)
}

impl MachineRows<'_> {
    /// C times class weight times sample weight of some rows.
    fn costs(&self, rows: &[usize], cost: f64) -> Vec<f64> {
        rows.iter().map(|&r| cost * self.class_weights[self.class[r]] * self.weights[r]).collect()
    }
}

/// Solves one machine with the penalty of the settings.
fn solve(
    data: &MachineRows<'_>,
    design: &Design,
    labels: &[f64],
    costs: &[f64],
    warm: Option<&[f64]>,
    Solving { settings, gap, control }: Solving<'_>,
) -> Result<Machine> {
    let problem = SvmProblem { rows: &design.x, labels, costs };
    let (w, b, report, multipliers) = match settings.penalty {
        Penalty::TwoNorm => {
            let solved = linear_svm(problem, SvmSettings { gap, ..SvmSettings::default() }, warm, control)?;
            (solved.weights, solved.intercept, solved.report, solved.multipliers)
        }
        Penalty::OneNorm => {
            let solved = one_norm_svm(problem, &vec![1.0; design.columns.len()])?;
            (solved.weights, solved.intercept, solved.report, solved.multipliers)
        }
        Penalty::GroupNorm => {
            let solved = group_svm(problem, &groups(data, &design.columns), gap)?;
            (solved.weights, solved.intercept, solved.report, solved.multipliers)
        }
    };
    Ok(Machine { terms: design.terms(&w, b), report, multipliers })
}
