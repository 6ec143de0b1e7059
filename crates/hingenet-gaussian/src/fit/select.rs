//! Choosing λ1, k, ν and C by inner cross-validation: one after the other, each by accuracy on held-out rows, then by
//! log loss. A fold keeps what does not depend on the value being chosen. The decisions of the chosen point on
//! held-out rows also calibrate the Fisher machine.

use super::rows::Sample;
use super::{ClassModels, MovedModels, Point};
use crate::params::{Decision, GaussianParams, Learning, SlackWeight};
use crate::predict::class_scores;
use crate::structure::StructureMethod;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::select::criterion::accuracy_and_log_loss;
use hingenet_data::select::folds::{Order, at_most, split, stratified};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Shares c of `2 (n_c − 1)`, n_c the mean class size: λ1 removes correlations below about c.
const LAMBDA1_SHARES: [f64; 5] = [0.05, 0.1, 0.17, 0.28, 0.45];
const FREE_GRID: [f64; 3] = [30.0, 100.0, 300.0];
/// KL moves the networks for the sake of a kernel. Where they decide themselves, they may also stay as they are.
const FREE_OR_NONE: [f64; 4] = [0.0, 30.0, 100.0, 300.0];
const NU_GRID: [f64; 3] = [0.1, 0.3, 0.6];
const C_GRID: [f64; 4] = [0.01, 0.1, 1.0, 10.0];
/// Inner folds: four fifths of the rows choose nearly what all rows would, for five fits a value.
const FOLDS: usize = 5;

pub(super) struct Choice {
    pub point: Point,
    pub chosen: BTreeMap<String, f64>,
    /// Scores of every row by a fit that has not seen it; for the machine only.
    pub unseen: Option<Vec<Vec<f64>>>,
}

/// Fills in what `params` leaves open.
pub(super) fn choose(sample: &Sample, params: &GaussianParams, control: &Control) -> Result<Choice> {
    let counts = sample.class_counts();
    let present = counts.iter().filter(|n| **n > 0).count() as f64;
    let class_size = (sample.weights.iter().sum::<f64>() / present).max(2.0);
    let lambda1_at = |share: f64| 2.0 * (class_size - 1.0) * share;
    let open = params.tuning;
    let mut point = Point {
        lambda1: open.lambda1.unwrap_or_else(|| lambda1_at(LAMBDA1_SHARES[2])),
        free: open.free.unwrap_or(100),
        nu: open.nu.unwrap_or(0.3),
        c: open.c.unwrap_or(SlackWeight::Trace(1.0)),
    };
    let mut run = Selection {
        sample,
        params,
        control,
        chosen: BTreeMap::new(),
        folds: folds(sample, at_most(FOLDS, &counts), params.search.seed),
        known: Vec::new(),
        stage: Stage::Networks,
    };
    if open.lambda1.is_none() && params.structure != StructureMethod::Search {
        // λ1 is chosen for the networks alone: everything after starts from them.
        let grid = LAMBDA1_SHARES.map(lambda1_at);
        run.best("lambda1", &mut point, &grid, |p, v| p.lambda1 = v)?;
        run.folds.iter_mut().for_each(|f| f.class.retain(|(lambda1, _)| *lambda1 == point.lambda1));
    }
    run.stage = Stage::Whole;
    let has_machine = params.decision != Decision::Network;
    if open.free.is_none() && params.learning != Learning::Generative {
        let may_stay = params.learning == Learning::Kl && !has_machine;
        let grid: &[f64] = if may_stay { &FREE_OR_NONE } else { &FREE_GRID };
        run.best("k", &mut point, grid, |p, v| p.free = v as usize)?;
    }
    if open.nu.is_none() && params.learning == Learning::Mm {
        run.best("nu", &mut point, &NU_GRID, |p, v| p.nu = v)?;
    }
    let moves_by_kernel = params.learning == Learning::Kl && point.free > 0;
    if open.c.is_none() && (has_machine || moves_by_kernel) {
        run.best("c", &mut point, &C_GRID, |p, v| p.c = SlackWeight::Trace(v))?;
    }
    let unseen = if has_machine { run.unseen_scores(&point)? } else { None };
    Ok(Choice { point, chosen: run.chosen, unseen })
}

/// The folds; none when a class is too small. Every class with rows must keep a row in every training part.
fn folds(sample: &Sample, count: usize, seed: u64) -> Vec<Fold> {
    if count < 2 {
        return Vec::new();
    }
    let fold = stratified(sample.class.iter().map(|c| Some(*c)), count, Order::ShuffledByClass(seed));
    (0..count).map(|k| Fold::new(sample, split(&fold, k))).collect()
}

/// What decides on held-out rows while a value is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The likelihoods of the class networks.
    Networks,
    /// The classifier that is asked for.
    Whole,
}

struct Selection<'a> {
    sample: &'a Sample,
    params: &'a GaussianParams,
    control: &'a Control,
    chosen: BTreeMap<String, f64>,
    folds: Vec<Fold>,
    /// Scores found so far: the default of one option is tried again with the grid of the next.
    known: Vec<(Stage, Point, Vec<Vec<f64>>)>,
    stage: Stage,
}

impl Selection<'_> {
    /// Sets the value with the best held-out accuracy, ties by log loss, then the earlier. The point stays where a class
    /// is too small to hold rows out.
    fn best(
        &mut self,
        name: &str,
        point: &mut Point,
        grid: &[f64],
        set: impl Fn(&mut Point, f64),
    ) -> Result<()> {
        let mut best: Option<(f64, f64, f64)> = None;
        for (done, &value) in grid.iter().enumerate() {
            self.control.progress(&format!("choosing {name}"), done, grid.len())?;
            let mut candidate = *point;
            set(&mut candidate, value);
            let Some(scores) = self.unseen_scores(&candidate)? else { return Ok(()) };
            let rows = self.sample.class.iter().zip(&self.sample.weights).zip(&scores);
            let (accuracy, loss) = accuracy_and_log_loss(rows.map(|((c, w), s)| (&s[..], *c, *w)));
            if best.is_none_or(|b| (accuracy, -loss) > (b.0, -b.1)) {
                best = Some((accuracy, loss, value));
            }
        }
        if let Some((_, _, value)) = best {
            set(point, value);
            self.chosen.insert(name.to_string(), value);
        }
        Ok(())
    }

    /// Scores of every row by a fit without its fold.
    fn unseen_scores(&mut self, point: &Point) -> Result<Option<Vec<Vec<f64>>>> {
        if self.folds.is_empty() {
            return Ok(None);
        }
        let (params, stage) = (self.params, self.stage);
        if let Some((_, _, scores)) = self.known.iter().find(|(s, p, _)| (*s, p) == (stage, point)) {
            return Ok(Some(scores.clone()));
        }
        let silent = self.control.quiet().on_warning(|_| ());
        let parts: Vec<Result<Vec<Vec<f64>>>> =
            self.folds.par_iter_mut().map(|fold| fold.scores(stage, params, point, &silent)).collect();
        let mut scores = vec![vec![0.0; self.sample.classes]; self.sample.class.len()];
        for (fold, part) in self.folds.iter().zip(parts) {
            match part {
                Ok(list) => fold.outside.iter().zip(list).for_each(|(&a, s)| scores[a] = s),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // A fold that cannot be fitted says nothing: its rows keep equal scores.
                Err(_) => {}
            }
        }
        self.known.push((stage, *point, scores.clone()));
        Ok(Some(scores))
    }
}

/// One fold with what has been fitted without it.
struct Fold {
    train: Sample,
    /// The rows held out: their numbers, and their nodes standardised like the others.
    outside: Vec<usize>,
    held: Matrix,
    /// The class networks, by λ1.
    class: Vec<(f64, ClassModels)>,
    /// The last networks after discriminative learning, with the values they depend on.
    moved: Option<(Point, MovedModels)>,
}

impl Fold {
    fn new(sample: &Sample, (inside, outside): (Vec<usize>, Vec<usize>)) -> Self {
        let (train, held) = sample.split(&inside, &outside);
        Fold { train, outside, held, class: Vec::new(), moved: None }
    }

    /// Scores of the rows held out.
    fn scores(
        &mut self,
        stage: Stage,
        params: &GaussianParams,
        point: &Point,
        control: &Control,
    ) -> Result<Vec<Vec<f64>>> {
        let known = self.class.iter().position(|(lambda1, _)| *lambda1 == point.lambda1);
        if known.is_none() {
            self.class.push((point.lambda1, ClassModels::learn(&self.train, params, point, control)?));
        }
        let class = &self.class[known.unwrap_or(self.class.len() - 1)].1;
        if stage == Stage::Networks {
            return class_scores(&class.networks, &class.prior, None, &self.held);
        }
        let key = networks_at(params.learning, point);
        let moved = match self.moved.take().filter(|(k, _)| *k == key) {
            Some((_, moved)) => moved,
            None => class.discriminate(&self.train, params, point, control)?,
        };
        let moved = &self.moved.insert((key, moved)).1;
        let machine = moved.machine(&self.train, class, point)?.map(|(machine, _)| machine);
        class_scores(&moved.networks, &class.prior, machine.as_ref(), &self.held)
    }
}

/// The values on which the networks depend; the others are put to 0.
fn networks_at(learning: Learning, point: &Point) -> Point {
    let nothing = SlackWeight::Plain(0.0);
    match learning {
        Learning::Generative => Point { free: 0, nu: 0.0, c: nothing, ..*point },
        Learning::Mm => Point { c: nothing, ..*point },
        Learning::Kl => Point { nu: 0.0, ..*point },
    }
}
