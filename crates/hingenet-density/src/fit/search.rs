//! Nested cross-validation of the threshold and the class weights: HSIC and densities are estimated anew in
//! every fold, the criterion is the balanced error.

use super::TrainingSet;
use super::machines::Machines;
use crate::columns::Columns;
use crate::params::{Anchor, ClassWeights, FRACTIONS, Params, Threshold};
use crate::structure::trees::trees;
use crate::structure::{Dependence, Kept};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::argmax;
use hingenet_data::select::criterion::balanced_error;
use hingenet_data::select::folds::{at_most, split};
use hingenet_data::select::search::first_best;
use rayon::prelude::*;

/// Relative duality gap of the machines inside the search: errors do not change below it.
const SEARCH_GAP: f64 = 1e-4;

/// Thresholds from sparse to dense, and class weights to choose among.
fn candidates(params: &Params) -> (Vec<Threshold>, Vec<ClassWeights>) {
    let thresholds = match params.threshold {
        Threshold::CrossValidated => FRACTIONS.map(Threshold::Fraction).to_vec(),
        fixed => vec![fixed],
    };
    let weights = match &params.class_weights {
        ClassWeights::CrossValidated => vec![ClassWeights::None, ClassWeights::Balanced],
        fixed => vec![fixed.clone()],
    };
    (thresholds, weights)
}

/// Weight of each class.
pub fn class_weights(rule: &ClassWeights, columns: &Columns) -> Vec<f64> {
    let totals = columns.class_totals();
    let (n, k) = (totals.iter().sum::<f64>(), totals.len() as f64);
    match rule {
        ClassWeights::Balanced => totals.iter().map(|m| n / (k * m)).collect(),
        ClassWeights::Given(weights) => weights.clone(),
        ClassWeights::None | ClassWeights::CrossValidated => vec![1.0; totals.len()],
    }
}

/// Number of folds: 5, or what the smallest class allows.
fn n_folds(columns: &Columns) -> usize {
    let counts: Vec<usize> = (0..columns.n_classes).map(|y| columns.rows_of(y).len()).collect();
    at_most(5, &counts)
}

/// A threshold with class weights, and the out-of-fold outputs of every row under them; empty if no folds were run.
pub type Choice = ((Threshold, ClassWeights), Vec<Vec<f64>>);

/// Chooses threshold and class weights; ties go to the sparsest threshold, then to no weights.
pub fn choose(columns: &Columns, params: &Params, control: &Control) -> Result<Choice> {
    let (thresholds, weights) = candidates(params);
    let nothing_to_choose = thresholds.len() == 1 && weights.len() == 1;
    let folds = n_folds(columns);
    if nothing_to_choose || folds < 2 {
        if !nothing_to_choose {
            control.warn("a class has a single row: the threshold is not cross-validated, a tenth of the pairs is kept");
        }
        let threshold = if thresholds.len() == 1 { thresholds[0] } else { Threshold::Fraction(0.1) };
        return Ok(((threshold, weights[0].clone()), Vec::new()));
    }
    let fold = columns.folds(folds, params.seed);
    let runs: Vec<FoldRun> = (0..folds)
        .into_par_iter()
        .map(|f| run_fold(columns, &fold, f, &thresholds, &weights, params, control))
        .collect::<Result<_>>()?;
    let n_candidates = thresholds.len() * weights.len();
    let errors: Vec<f64> =
        (0..n_candidates).map(|c| runs.iter().map(|r| r.errors[c]).sum::<f64>() / folds as f64).collect();
    // Sums of shares that are equal may differ in their last bits.
    let best = first_best(&errors.iter().map(|e| -e).collect::<Vec<_>>(), 1e-12);
    let mut out_of_fold = vec![Vec::new(); columns.n_rows()];
    for run in &runs {
        run.held.iter().zip(&run.outputs[best]).for_each(|(&r, o)| out_of_fold[r].clone_from(o));
    }
    Ok(((thresholds[best / weights.len()], weights[best % weights.len()].clone()), out_of_fold))
}

/// Results of one fold: for every candidate the outputs of the held-out rows and their balanced error.
struct FoldRun {
    held: Vec<usize>,
    outputs: Vec<Vec<Vec<f64>>>,
    errors: Vec<f64>,
}

fn run_fold(
    columns: &Columns,
    fold: &[usize],
    f: usize,
    thresholds: &[Threshold],
    weights: &[ClassWeights],
    params: &Params,
    control: &Control,
) -> Result<FoldRun> {
    let (learn, held) = split(fold, f);
    let (part, judge) = (columns.subset(&learn), columns.subset(&held));
    let quiet = control.quiet();
    let (kept, anchor) = select(&part, thresholds, params, &quiet)?;
    let available = union(&kept);
    let set = TrainingSet::new(&part, &available, params, &quiet)?;
    let judged = set.densities.features(&judge.values, false, &quiet)?;
    let mut run = FoldRun { held, outputs: Vec::new(), errors: Vec::new() };
    let mut warm: Vec<Vec<Vec<f64>>> = vec![Vec::new(); weights.len()];
    for (t, kept_now) in kept.iter().enumerate() {
        for (w, rule) in weights.iter().enumerate() {
            if t > 0 && kept[t - 1] == *kept_now {
                let before = run.outputs.len() - weights.len();
                run.outputs.push(run.outputs[before].clone());
                run.errors.push(run.errors[before]);
                continue;
            }
            let machines = Machines {
                set: &set,
                columns: &part,
                rows: &set.rows,
                available: &available,
                kept: kept_now,
                anchor: anchor.as_ref(),
                class_weights: &class_weights(rule, &part),
                params,
                gap: SEARCH_GAP.max(params.gap),
                control: &quiet,
            };
            let trained = machines.train(&warm[w])?;
            let outputs = trained.scores.evaluate(&judged);
            let decided = outputs.iter().zip(&judge.class).zip(&judge.weights);
            let decided = decided.map(|((out, y), w)| (decide(out), *y, *w));
            run.errors.push(balanced_error(decided, judge.n_classes));
            run.outputs.push(outputs);
            warm[w] = trained.multipliers;
        }
    }
    Ok(run)
}

/// The pairs every threshold keeps, and the forests of the anchor, whose edges are among them; naive Bayes has no edges.
/// Thresholds that keep none need no HSIC.
pub fn select(
    columns: &Columns,
    thresholds: &[Threshold],
    params: &Params,
    control: &Control,
) -> Result<(Vec<Kept>, Option<Kept>)> {
    let none = Kept::none(columns.n_classes);
    let mut kept = if thresholds.iter().all(|t| *t == Threshold::Fraction(0.0)) {
        vec![none.clone(); thresholds.len()]
    } else {
        let dependence = Dependence::compute(columns, params, control)?;
        thresholds.iter().map(|t| dependence.select(*t)).collect()
    };
    let anchor = match params.anchor {
        Anchor::None => None,
        Anchor::NaiveBayes => Some(none),
        Anchor::Tan => Some(trees(columns, params, control)?),
    };
    if let Some(forests) = &anchor {
        kept.iter_mut().for_each(|k| *k = union(&[k.clone(), forests.clone()]));
    }
    Ok((kept, anchor))
}

fn union(kept: &[Kept]) -> Kept {
    let n_classes = kept.first().map_or(0, |k| k.of_class.len());
    let of_class = (0..n_classes)
        .map(|y| {
            let mut all: Vec<(usize, usize)> =
                kept.iter().flat_map(|k| k.of_class[y].iter().copied()).collect();
            all.sort_unstable();
            all.dedup();
            all
        })
        .collect();
    Kept { of_class }
}

/// The class an output row decides for: positive means the second of two classes, else the largest score.
fn decide(outputs: &[f64]) -> usize {
    match outputs {
        [d] => usize::from(*d > 0.0),
        many => argmax(many),
    }
}

/// Out-of-fold outputs from features that are already there (their own kernels left out): only the SVM is
/// trained anew in each fold. Empty where a class is too small to be held out.
pub fn out_of_fold(machines: &Machines<'_>) -> Result<Vec<Vec<f64>>> {
    let Machines { columns, params, .. } = machines;
    let folds = n_folds(columns);
    if folds < 2 {
        return Ok(Vec::new());
    }
    let fold = columns.folds(folds, params.seed);
    let mut out = vec![Vec::new(); columns.n_rows()];
    for f in 0..folds {
        let (held, learn): (Vec<usize>, Vec<usize>) = machines.rows.iter().partition(|&&r| fold[r] == f);
        let seen = |y: usize| learn.iter().any(|&r| columns.class[r] == y);
        if !(0..columns.n_classes).all(seen) {
            return Ok(Vec::new());
        }
        let (gap, control) = (SEARCH_GAP.max(params.gap), &machines.control.quiet());
        let trained = Machines { rows: &learn, gap, control, ..*machines }.train(&[])?;
        let outputs = trained.scores.evaluate(&machines.set.features);
        held.into_iter().for_each(|r| out[r].clone_from(&outputs[r]));
    }
    Ok(out)
}
