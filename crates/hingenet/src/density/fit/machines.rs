//! The linear SVMs of SLB on log-density features: one for two classes (the paper's method), otherwise one for
//! each class against the rest, on the features of all classes. (Machines for pairs of classes say nothing
//! about rows of other classes, where their margins are largest: added up they decide wrongly. On iris with a
//! tenth of the pairs such sums got 69 % of the training rows right, although every pair was separated.)

use crate::classifier::SolverReport;
use crate::control::Control;
use crate::density::features::Features;
use crate::density::scores::Scores;
use crate::density::selection::Kept;
use crate::density::settings::{Penalty, Settings};
use crate::error::Result;
use crate::numeric::linalg::Matrix;
use crate::optimise::linear_svm::{SvmProblem, SvmSettings, linear_svm};
use crate::optimise::one_norm_svm::one_norm_svm;
use rayon::prelude::*;

/// Training rows as features; `available` lists the pairs of the feature columns, `kept` those in use.
#[derive(Clone, Copy)]
pub struct MachineRows<'a> {
    /// Feature values of all rows.
    pub features: &'a Features,
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
    /// Class and column of each feature, and its coefficient.
    terms: Vec<(usize, usize, f64)>,
    base: f64,
    report: SolverReport,
    multipliers: Vec<f64>,
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
    let classes: Vec<usize> = if k == 2 { vec![1] } else { (0..k).collect() };
    let machines: Vec<Machine> = classes
        .par_iter()
        .enumerate()
        .map(|(m, &class)| {
            let start = warm.and_then(|w| w.get(m)).map(Vec::as_slice);
            machine(&data, class, settings, gap, start, control)
        })
        .collect::<Result<_>>()?;
    let n_features = data.features.classes.first().map_or(0, |c| c.marginals.len());
    let mut scores = Scores::zeros(machines.len(), n_features, data.available);
    for (output, machine) in machines.iter().enumerate() {
        set_machine(&mut scores, output, machine, n_features);
    }
    let (reports, multipliers) = machines.into_iter().map(|m| (m.report, m.multipliers)).unzip();
    Ok(Trained { scores, reports, multipliers })
}

fn set_machine(scores: &mut Scores, output: usize, machine: &Machine, n_features: usize) {
    scores.base[output] = machine.base;
    for &(y, column, coefficient) in &machine.terms {
        if column < n_features {
            scores.marginals[y][column][output] = coefficient;
        } else {
            scores.pairs[y][column - n_features][output] = coefficient;
        }
    }
}

fn machine(
    data: &MachineRows<'_>,
    class: usize,
    settings: &Settings,
    gap: f64,
    warm: Option<&[f64]>,
    control: &Control,
) -> Result<Machine> {
    let rows = data.rows;
    let weights: Vec<f64> = rows.iter().map(|&r| data.weights[r]).collect();
    let columns = used_columns(data, &weights);
    let x = Matrix::from_fn(rows.len(), columns.len(), |i, c| {
        let (y, column, mean, sd) = columns[c];
        (data.features.classes[y].column(column)[rows[i]] - mean) / sd
    });
    let labels: Vec<f64> = rows.iter().map(|&r| if data.class[r] == class { 1.0 } else { -1.0 }).collect();
    let costs: Vec<f64> =
        rows.iter().map(|&r| settings.cost * data.class_weights[data.class[r]] * data.weights[r]).collect();
    let problem = SvmProblem { rows: &x, labels: &labels, costs: &costs };
    let (w, b, report, multipliers) = match settings.penalty {
        Penalty::TwoNorm => {
            let solved = linear_svm(problem, SvmSettings { gap, ..SvmSettings::default() }, warm, control)?;
            (solved.weights, solved.intercept, solved.report, solved.multipliers)
        }
        Penalty::OneNorm => {
            let solved = one_norm_svm(problem, &vec![1.0; columns.len()])?;
            (solved.weights, solved.intercept, solved.report, solved.multipliers)
        }
    };
    let terms = columns.iter().zip(&w).map(|(&(y, column, _, sd), w)| (y, column, w / sd)).collect();
    let base = b - columns.iter().zip(&w).map(|((_, _, mean, sd), w)| w * mean / sd).sum::<f64>();
    Ok(Machine { terms, base, report, multipliers })
}

/// Class, column, mean and sd (n - 1) of every feature that varies on the rows.
fn used_columns(data: &MachineRows<'_>, weights: &[f64]) -> Vec<(usize, usize, f64, f64)> {
    let rows = data.rows;
    let total: f64 = weights.iter().sum();
    let mut out = Vec::new();
    for (y, class) in data.features.classes.iter().enumerate() {
        let d = class.marginals.len();
        let kept = &data.kept.of_class[y];
        let in_use = |pair: &(usize, usize)| kept.binary_search(pair).is_ok();
        let pairs =
            data.available.of_class[y].iter().enumerate().filter(|(_, p)| in_use(p)).map(|(c, _)| d + c);
        for column in (0..d).chain(pairs) {
            let values = class.column(column);
            let mean = rows.iter().zip(weights).map(|(&r, w)| w * values[r]).sum::<f64>() / total;
            let square = |(&r, w): (&usize, &f64)| w * (values[r] - mean) * (values[r] - mean);
            let sd = (rows.iter().zip(weights).map(square).sum::<f64>() / (total - 1.0).max(1.0)).sqrt();
            if sd > 1e-12 * (1.0 + mean.abs()) {
                out.push((y, column, mean, sd));
            }
        }
    }
    out
}
