//! Choosing λ1, k, ν and C by inner cross-validation: one after the other, each by accuracy on held-out rows, then by
//! log loss. A fold keeps what does not depend on the value being chosen. The decisions of the chosen settings on
//! held-out rows also calibrate the Fisher machine.

use super::rows::Rows;
use super::{ClassModels, MovedModels, Settings};
use crate::params::{Decision, GaussianParams, Learning, SlackWeight, StructureMethod};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::{argmax, log_normalise};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Shares c of `2 (n_c − 1)`, n_c the mean class size: λ1 removes correlations below about c.
const LAMBDA1_SHARES: [f64; 5] = [0.05, 0.1, 0.17, 0.28, 0.45];
const FREE_GRID: [f64; 3] = [30.0, 100.0, 300.0];
/// KL moves the networks for the sake of a kernel. Where they decide themselves, they may also stay as they are.
const FREE_OR_NONE: [f64; 4] = [0.0, 30.0, 100.0, 300.0];
const NU_GRID: [f64; 3] = [0.1, 0.3, 0.6];
const C_GRID: [f64; 4] = [0.01, 0.1, 1.0, 10.0];

/// Scores of rows, with the row numbers.
type RowScores = Vec<(usize, Vec<f64>)>;

pub(super) struct Choice {
    pub settings: Settings,
    pub chosen: BTreeMap<String, f64>,
    /// Scores of every row by a fit that has not seen it; for the machine only.
    pub unseen: Option<Vec<Vec<f64>>>,
}

/// Fills in what `params` leaves open.
pub(super) fn choose(rows: &Rows, params: &GaussianParams, control: &Control) -> Result<Choice> {
    let present = (0..rows.classes).filter(|c| rows.class.contains(c)).count() as f64;
    let class_size = (rows.weights.iter().sum::<f64>() / present).max(2.0);
    let lambda1_at = |share: f64| 2.0 * (class_size - 1.0) * share;
    let mut settings = Settings {
        params: params.clone(),
        lambda1: params.lambda1.unwrap_or_else(|| lambda1_at(LAMBDA1_SHARES[2])),
        free: params.free.unwrap_or(100),
        nu: params.nu.unwrap_or(0.3),
        c: params.c.unwrap_or(SlackWeight::Trace(1.0)),
    };
    let mut run = Selection {
        rows,
        control,
        chosen: BTreeMap::new(),
        folds: folds(rows, params),
        known: Vec::new(),
        stage: Stage::Networks,
    };
    let regresses = params.structure != StructureMethod::Search;
    if params.lambda1.is_none() && regresses {
        // λ1 is chosen for the networks alone: everything after starts from them.
        let grid = LAMBDA1_SHARES.map(lambda1_at);
        let best = run.best("lambda1", &settings, &grid, |s, v| s.lambda1 = v)?;
        settings.lambda1 = best.unwrap_or(settings.lambda1);
        run.folds.iter_mut().for_each(|f| f.class.retain(|(lambda1, _)| *lambda1 == settings.lambda1));
    }
    run.stage = Stage::Whole;
    let discriminates = params.learning != Learning::Generative;
    if params.free.is_none() && discriminates {
        let may_stay = params.learning == Learning::Kl && params.decision == Decision::Network;
        let grid: &[f64] = if may_stay { &FREE_OR_NONE } else { &FREE_GRID };
        let best = run.best("k", &settings, grid, |s, v| s.free = v as usize)?;
        settings.free = best.map_or(settings.free, |v| v as usize);
    }
    if params.nu.is_none() && params.learning == Learning::Mm {
        settings.nu = run.best("nu", &settings, &NU_GRID, |s, v| s.nu = v)?.unwrap_or(settings.nu);
    }
    let has_machine = params.decision != Decision::Network;
    let moves_by_kernel = params.learning == Learning::Kl && settings.free > 0;
    if params.c.is_none() && (has_machine || moves_by_kernel) {
        let best = run.best("c", &settings, &C_GRID, |s, v| s.c = SlackWeight::Trace(v))?;
        settings.c = best.map_or(settings.c, SlackWeight::Trace);
    }
    let unseen = if has_machine { run.unseen_scores(&settings)? } else { None };
    Ok(Choice { settings, chosen: run.chosen, unseen })
}

/// The folds; none when a class is too small. Every class with rows must keep a row in every training part.
fn folds(rows: &Rows, params: &GaussianParams) -> Vec<Fold> {
    let smallest = (0..rows.classes)
        .map(|c| rows.class.iter().filter(|k| **k == c).count())
        .filter(|n| *n > 0)
        .min()
        .unwrap_or(0);
    let count = params.folds.min(smallest);
    if count < 2 {
        return Vec::new();
    }
    let fold = rows.folds(count, params.seed);
    (0..count).map(|k| Fold::new(rows, &fold, k)).collect()
}

/// What decides on held-out rows while a value is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The likelihoods of the class networks.
    Networks,
    /// The classifier that is asked for.
    Whole,
}

/// The values on which scores depend.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Key {
    stage: Stage,
    lambda1: f64,
    free: usize,
    nu: f64,
    c: SlackWeight,
}

impl Key {
    fn new(stage: Stage, settings: &Settings) -> Self {
        let Settings { lambda1, free, nu, c, .. } = *settings;
        Key { stage, lambda1, free, nu, c }
    }
}

struct Selection<'a> {
    rows: &'a Rows,
    control: &'a Control,
    chosen: BTreeMap<String, f64>,
    folds: Vec<Fold>,
    /// Scores found so far: the default of one option is tried again with the grid of the next.
    known: Vec<(Key, Vec<Vec<f64>>)>,
    stage: Stage,
}

impl Selection<'_> {
    /// The value with the best held-out accuracy, ties by log loss, then the earlier; `None` when a class is too small
    /// to hold rows out.
    fn best(
        &mut self,
        name: &str,
        settings: &Settings,
        grid: &[f64],
        set: impl Fn(&mut Settings, f64) + Sync,
    ) -> Result<Option<f64>> {
        let mut best: Option<(f64, f64, f64)> = None;
        for (done, &value) in grid.iter().enumerate() {
            self.control.progress(&format!("choosing {name}"), done, grid.len())?;
            let mut candidate = settings.clone();
            set(&mut candidate, value);
            let Some(scores) = self.unseen_scores(&candidate)? else { return Ok(None) };
            let (accuracy, loss) = quality(&scores, self.rows);
            if best.is_none_or(|b| (accuracy, -loss) > (b.0, -b.1)) {
                best = Some((accuracy, loss, value));
            }
        }
        if let Some((_, _, value)) = best {
            self.chosen.insert(name.to_string(), value);
        }
        Ok(best.map(|b| b.2))
    }

    /// Scores of every row by a fit without its fold.
    fn unseen_scores(&mut self, settings: &Settings) -> Result<Option<Vec<Vec<f64>>>> {
        if self.folds.is_empty() {
            return Ok(None);
        }
        let (rows, stage) = (self.rows, self.stage);
        let key = Key::new(stage, settings);
        if let Some((_, scores)) = self.known.iter().find(|(k, _)| *k == key) {
            return Ok(Some(scores.clone()));
        }
        let silent = self.control.quiet().on_warning(|_| ());
        let parts: Vec<Result<RowScores>> =
            self.folds.par_iter_mut().map(|fold| fold.scores(rows, stage, settings, &silent)).collect();
        let mut scores = vec![vec![0.0; rows.classes]; rows.class.len()];
        for part in parts {
            match part {
                Ok(list) => list.into_iter().for_each(|(a, s)| scores[a] = s),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // A fold that cannot be fitted says nothing: its rows keep equal scores.
                Err(_) => {}
            }
        }
        self.known.push((key, scores.clone()));
        Ok(Some(scores))
    }
}

/// One fold with what has been fitted without it.
struct Fold {
    train: Rows,
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// The rows held out.
    outside: Vec<usize>,
    /// The class networks, by λ1.
    class: Vec<(f64, ClassModels)>,
    /// The last networks after discriminative learning.
    moved: Option<(Key, MovedModels)>,
}

impl Fold {
    fn new(rows: &Rows, fold: &[usize], k: usize) -> Self {
        let (outside, inside): (Vec<usize>, Vec<usize>) = (0..fold.len()).partition(|&a| fold[a] == k);
        let (train, mean, scale) = restandardised(rows, &inside);
        Fold { train, mean, scale, outside, class: Vec::new(), moved: None }
    }

    /// Scores of the rows held out.
    fn scores(
        &mut self,
        rows: &Rows,
        stage: Stage,
        settings: &Settings,
        control: &Control,
    ) -> Result<RowScores> {
        let class = match self.class.iter().position(|(lambda1, _)| *lambda1 == settings.lambda1) {
            Some(k) => k,
            None => {
                let learnt = ClassModels::learn(&self.train, settings, control)?;
                self.class.push((settings.lambda1, learnt));
                self.class.len() - 1
            }
        };
        let class = &self.class[class].1;
        let fitted = match stage {
            Stage::Networks => class.as_they_are(),
            Stage::Whole => {
                let key = networks_key(settings);
                let moved = match self.moved.take().filter(|(k, _)| *k == key) {
                    Some((_, moved)) => moved,
                    None => class.discriminate(&self.train, settings, control)?,
                };
                self.moved.insert((key, moved)).1.decide(&self.train, class, settings)?
            }
        };
        let standardised = |a: usize| -> Vec<f64> {
            let row = rows.x.row(a).iter().zip(self.mean.iter().zip(&self.scale));
            row.map(|(v, (mean, scale))| (v - mean) * scale).collect()
        };
        self.outside.iter().map(|&a| Ok((a, fitted.scores(&standardised(a))?))).collect()
    }
}

/// The values on which the networks depend; the others are put to 0.
fn networks_key(settings: &Settings) -> Key {
    let key = Key::new(Stage::Whole, settings);
    let nothing = SlackWeight::Plain(0.0);
    match settings.params.learning {
        Learning::Generative => Key { free: 0, nu: 0.0, c: nothing, ..key },
        Learning::Mm => Key { c: nothing, ..key },
        Learning::Kl => Key { nu: 0.0, ..key },
    }
}

/// The given rows, standardised on themselves: held-out rows must not enter means and deviations.
fn restandardised(rows: &Rows, inside: &[usize]) -> (Rows, Vec<f64>, Vec<f64>) {
    let m = rows.x.cols();
    let (mut mean, mut scale) = (vec![0.0; m], vec![0.0; m]);
    for j in 0..m {
        let seen = || inside.iter().map(|&a| (rows.x[(a, j)], rows.weights[a])).filter(|(v, _)| !v.is_nan());
        let n: f64 = seen().map(|(_, w)| w).sum();
        if n > 1.0 {
            mean[j] = seen().map(|(v, w)| w * v).sum::<f64>() / n;
            let square = seen().map(|(v, w)| w * (v - mean[j]) * (v - mean[j])).sum::<f64>();
            let deviation = (square / (n - 1.0)).sqrt();
            // Standardised columns have deviation 1, so this is rounding.
            scale[j] = if deviation > 1e-12 { 1.0 / deviation } else { 0.0 };
        }
    }
    let x = Matrix::from_fn(inside.len(), m, |k, j| (rows.x[(inside[k], j)] - mean[j]) * scale[j]);
    let part = Rows {
        x,
        class: inside.iter().map(|&a| rows.class[a]).collect(),
        weights: inside.iter().map(|&a| rows.weights[a]).collect(),
        classes: rows.classes,
    };
    (part, mean, scale)
}

/// Weighted accuracy and mean log loss (cut at 50 a row) of scores.
fn quality(scores: &[Vec<f64>], rows: &Rows) -> (f64, f64) {
    let (mut right, mut loss, mut total) = (0.0, 0.0, 0.0);
    for (a, s) in scores.iter().enumerate() {
        let (c, w) = (rows.class[a], rows.weights[a]);
        let mut p = s.clone();
        log_normalise(&mut p);
        right += if argmax(s) == c { w } else { 0.0 };
        loss += w * (-p[c]).clamp(0.0, 50.0);
        total += w;
    }
    (right / total, loss / total)
}
