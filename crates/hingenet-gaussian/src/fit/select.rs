//! Choosing λ1, k, ν and C by inner cross-validation: one after the other, each by a race of its values over the folds,
//! for accuracy on held-out rows, then for log loss; of many rows on some. A fold keeps what was fitted for the last choice,
//! so that nothing is fitted again that the next value does not change. The scores of the chosen point on held-out rows also calibrate
//! the Fisher machine.

use super::rows::Sample;
use super::{ClassModels, MovedModels, Point};
use crate::params::{Decision, GaussianParams, Learning, SlackWeight};
use crate::predict::class_scores;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::select::criterion::right_then_likely;
use hingenet_data::select::draw::Drawn;
use hingenet_data::select::folds::{Order, at_most, split, stratified};
use hingenet_data::select::race::{CAREFUL, Judge, Race};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Shares c of `2 (n_c − 1)`, n_c the mean class size: λ1 removes correlations below about c.
const LAMBDA1_SHARES: [f64; 5] = [0.05, 0.1, 0.17, 0.28, 0.45];
const FREE_GRID: [f64; 3] = [30.0, 100.0, 300.0];
/// KL moves the networks for the sake of a kernel. Where they decide themselves, they may also stay as they are.
const FREE_OR_NONE: [f64; 4] = [0.0, 30.0, 100.0, 300.0];
const NU_GRID: [f64; 3] = [0.1, 0.3, 0.6];
const C_GRID: [f64; 4] = [0.01, 0.1, 1.0, 10.0];
/// Inner folds: four fifths of the rows choose nearly what all rows would, for at most five fits a value.
const FOLDS: usize = 5;

pub(super) struct Choice {
    pub point: Point,
    pub chosen: BTreeMap<String, f64>,
    /// Scores of every row by a fit that has not seen it; for the machine only.
    pub unseen: Option<Vec<Vec<f64>>>,
}

/// Fills in what `params` leaves open, on some rows if there are many. What follows from outputs on held-out rows, a machine's
/// calibration, needs all of them.
pub(super) fn choose(sample: &Sample, params: &GaussianParams, control: &Control) -> Result<Choice> {
    let drawn = Drawn::of(&sample.class, &sample.weights, sample.classes, params.search.seed);
    if drawn.is_all() || params.decision != Decision::Network {
        return on(sample, params, control);
    }
    // λ1 is a share of the number of rows
    let some = sample.some(&drawn);
    let rows_of_one = row_weight(&sample.class_weights()) / row_weight(&some.class_weights());
    let mut of_some = params.clone();
    of_some.tuning.lambda1 = params.tuning.lambda1.map(|lambda1| lambda1 / rows_of_one);
    let mut choice = on(&some, &of_some, control)?;
    choice.point.lambda1 = params.tuning.lambda1.unwrap_or(choice.point.lambda1 * rows_of_one);
    choice.chosen.get_mut("lambda1").into_iter().for_each(|lambda1| *lambda1 *= rows_of_one);
    Ok(choice)
}

/// Fills in what `params` leaves open on all these rows.
pub(super) fn on(sample: &Sample, params: &GaussianParams, control: &Control) -> Result<Choice> {
    let counts = sample.class_counts();
    let sizes = sample.class_weights();
    let lambda1_at = |share: f64| share * row_weight(&sizes);
    let open = params.tuning;
    let mut point = Point {
        lambda1: open.lambda1.unwrap_or_else(|| usual_lambda1(&sizes)),
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
        stage: Stage::Networks,
    };
    if open.lambda1.is_none() && params.structure.has_lambda1() {
        // λ1 is chosen for the networks alone: everything after starts from them.
        let grid = LAMBDA1_SHARES.map(lambda1_at);
        run.best("lambda1", &mut point, &grid, |p, v| p.lambda1 = v)?;
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

/// What λ1 is a share of where classes have these sizes: 2 (n_c − 1), n_c their mean.
pub(super) fn row_weight(sizes: &[f64]) -> f64 {
    let present = sizes.iter().filter(|n| **n > 0.0).count() as f64;
    2.0 * ((sizes.iter().sum::<f64>() / present).max(2.0) - 1.0)
}

/// λ1 where it is neither given nor chosen.
pub(super) fn usual_lambda1(sizes: &[f64]) -> f64 {
    LAMBDA1_SHARES[2] * row_weight(sizes)
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

/// A value of the option that is being chosen.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    name: &'static str,
    /// Place in the grid.
    place: usize,
    value: f64,
    /// What has been chosen so far, with this value.
    point: Point,
}

struct Selection<'a> {
    sample: &'a Sample,
    params: &'a GaussianParams,
    control: &'a Control,
    chosen: BTreeMap<String, f64>,
    folds: Vec<Fold>,
    stage: Stage,
}

impl Selection<'_> {
    /// Sets the value that wins the race: the best held-out accuracy, ties by log loss, then the earlier. The point stays
    /// where a class is too small to hold rows out.
    fn best(
        &mut self,
        name: &'static str,
        point: &mut Point,
        grid: &[f64],
        set: impl Fn(&mut Point, f64),
    ) -> Result<()> {
        if self.folds.is_empty() {
            return Ok(());
        }
        let candidate = |(place, &value): (usize, &f64)| {
            let mut point = *point;
            set(&mut point, value);
            Candidate { name, place, value, point }
        };
        let candidates: Vec<Candidate> = grid.iter().enumerate().map(candidate).collect();
        self.prepare(&candidates)?;
        let race = self.race(&candidates)?;
        let Some(&winner) = race.standing(|a, b| a.place.cmp(&b.place)).first() else { return Ok(()) };
        race.kept(winner).for_each(|(fold, fitted)| self.folds[fold].known = fitted.clone());
        let Candidate { value, point: best, .. } = race.runners[winner].point;
        *point = best;
        self.chosen.insert(name.to_string(), value);
        Ok(())
    }

    /// Fits what all candidates share, once for each fold that will be run.
    fn prepare(&mut self, candidates: &[Candidate]) -> Result<()> {
        let count = if self.control.search_is_over() { 1 } else { self.folds.len() };
        let (params, stage, silent) = (self.params, self.stage, self.silent());
        let prepare = |fold: &mut Fold| {
            let mut fitted = fold.known.clone();
            let ready = fitted.share(&fold.rows, stage, params, candidates, &silent);
            fold.known = fitted;
            unless_interrupted(ready).map(drop)
        };
        self.folds.par_iter_mut().take(count).try_for_each(prepare)
    }

    /// Lets the candidates race over the folds.
    fn race(&self, candidates: &[Candidate]) -> Result<Race<Candidate, Fitted>> {
        let silent = self.silent();
        let walk = |fold: &Fold, path: &[Candidate], judge: &mut Judge<'_, Fitted>| {
            for candidate in path {
                let fitted = fold.fit(self.stage, self.params, &candidate.point, &silent)?;
                if !judge(self.marks(fold, &fitted), fitted) {
                    break;
                }
            }
            Ok(())
        };
        let paths: Vec<Vec<Candidate>> = candidates.iter().map(|candidate| vec![*candidate]).collect();
        let mut race =
            Race::new(self.folds.len(), CAREFUL, |c: &Candidate| format!("{}={:.4}", c.name, c.value));
        race.run(&self.folds, &paths, &walk, self.control)?;
        Ok(race)
    }

    /// What each held-out row adds to the score of a candidate.
    fn marks(&self, fold: &Fold, fitted: &Fitted) -> Vec<f64> {
        let Sample { class, weights, .. } = self.sample;
        let rows = fold.outside.iter().zip(fitted.scores());
        rows.map(|(&a, scores)| right_then_likely((scores, class[a], weights[a]))).collect()
    }

    /// Scores of every row by a fit without its fold; only what the races have not fitted is fitted now.
    fn unseen_scores(&mut self, point: &Point) -> Result<Option<Vec<Vec<f64>>>> {
        if self.folds.is_empty() {
            return Ok(None);
        }
        let silent = self.silent();
        let fit = |fold: &Fold| fold.fit(self.stage, self.params, point, &silent);
        let fitted: Vec<Fitted> = self.folds.par_iter().map(fit).collect::<Result<_>>()?;
        let mut scores = vec![Vec::new(); self.sample.class.len()];
        for (fold, fitted) in self.folds.iter().zip(&fitted) {
            fold.outside.iter().zip(fitted.scores()).for_each(|(&a, row)| scores[a] = row.to_vec());
        }
        Ok(Some(scores))
    }

    /// Inner fits tell nothing.
    fn silent(&self) -> Control {
        self.control.quiet().on_warning(|_| ())
    }
}

/// `None` for a fit that failed by itself.
fn unless_interrupted<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.is_stop() => Err(error),
        result => Ok(result.ok()),
    }
}

/// One fold with what has been fitted without it.
struct Fold {
    rows: FoldRows,
    /// Numbers of the rows held out.
    outside: Vec<usize>,
    /// For the last choice, or for all that are to be tried next.
    known: Fitted,
}

/// The rows of a fold.
struct FoldRows {
    train: Sample,
    /// The nodes of the rows held out, standardised like the others.
    held: Matrix,
}

impl Fold {
    fn new(sample: &Sample, (inside, outside): (Vec<usize>, Vec<usize>)) -> Self {
        let (train, held) = sample.split(&inside, &outside);
        Fold { rows: FoldRows { train, held }, outside, known: Fitted::default() }
    }

    /// What is fitted at a point, from what is known. A fold that cannot be fitted says nothing: its rows get equal
    /// scores.
    fn fit(&self, stage: Stage, params: &GaussianParams, point: &Point, control: &Control) -> Result<Fitted> {
        let mut fitted = self.known.clone();
        if fitted.scores.as_ref().is_some_and(|(s, p, _)| (*s, p) == (stage, point)) {
            return Ok(fitted);
        }
        let scores = unless_interrupted(fitted.judge(&self.rows, stage, params, point, control))?;
        let equal = || vec![vec![0.0; self.rows.train.classes]; self.outside.len()];
        fitted.scores = Some((stage, *point, scores.unwrap_or_else(equal)));
        Ok(fitted)
    }
}

/// What has been fitted without a fold, each with the values on which it depends.
#[derive(Clone, Default)]
struct Fitted {
    /// The class networks, by λ1.
    class: Option<(f64, Arc<ClassModels>)>,
    /// The networks after discriminative learning.
    moved: Option<(Point, Arc<MovedModels>)>,
    /// Scores of the rows held out.
    scores: Option<(Stage, Point, Vec<Vec<f64>>)>,
}

impl Fitted {
    /// Scores of the rows held out.
    fn scores(&self) -> impl Iterator<Item = &[f64]> {
        self.scores.iter().flat_map(|(_, _, rows)| rows.iter().map(Vec::as_slice))
    }

    /// Fits what is the same for all candidates.
    fn share(
        &mut self,
        rows: &FoldRows,
        stage: Stage,
        params: &GaussianParams,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<()> {
        let Some(Candidate { point: first, .. }) = candidates.first() else { return Ok(()) };
        if candidates.iter().any(|c| c.point.lambda1 != first.lambda1) {
            return Ok(());
        }
        let networks = |point: &Point| networks_at(params.learning, point);
        if stage == Stage::Whole && candidates.iter().all(|c| networks(&c.point) == networks(first)) {
            self.moved(rows, params, first, control)?;
        }
        self.class(rows, params, first, control).map(drop)
    }

    /// Scores of the rows held out at a point.
    fn judge(
        &mut self,
        rows: &FoldRows,
        stage: Stage,
        params: &GaussianParams,
        point: &Point,
        control: &Control,
    ) -> Result<Vec<Vec<f64>>> {
        let class = self.class(rows, params, point, control)?;
        if stage == Stage::Networks {
            return class_scores(&class.networks, &class.prior, None, &rows.held, control);
        }
        let moved = self.moved(rows, params, point, control)?;
        let machine = moved.machine(&rows.train, &class, point, control)?.map(|(machine, _)| machine);
        class_scores(&moved.networks, &class.prior, machine.as_ref(), &rows.held, control)
    }

    /// The class networks at a point.
    fn class(
        &mut self,
        rows: &FoldRows,
        params: &GaussianParams,
        point: &Point,
        control: &Control,
    ) -> Result<Arc<ClassModels>> {
        if let Some((_, class)) = self.class.as_ref().filter(|(lambda1, _)| *lambda1 == point.lambda1) {
            return Ok(class.clone());
        }
        let class = Arc::new(ClassModels::learn(&rows.train, params, point, control)?);
        self.class = Some((point.lambda1, class.clone()));
        Ok(class)
    }

    /// The networks after discriminative learning at a point.
    fn moved(
        &mut self,
        rows: &FoldRows,
        params: &GaussianParams,
        point: &Point,
        control: &Control,
    ) -> Result<Arc<MovedModels>> {
        let key = networks_at(params.learning, point);
        if let Some((_, moved)) = self.moved.as_ref().filter(|(known, _)| *known == key) {
            return Ok(moved.clone());
        }
        let class = self.class(rows, params, point, control)?;
        let moved = Arc::new(class.discriminate(&rows.train, params, point, control)?);
        self.moved = Some((key, moved.clone()));
        Ok(moved)
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

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;

    /// Three nodes that depend on each other in the second class, of which there are few rows.
    fn many_rows() -> Sample {
        let mut random = Random::new(4);
        let class: Vec<usize> = (0..60_000).map(|a| usize::from(a % 300 == 0)).collect();
        let mut x = Matrix::zeros(class.len(), 3);
        for (a, &c) in class.iter().enumerate() {
            let common = c as f64 * random.normal();
            (0..3).for_each(|j| x[(a, j)] = common + random.normal());
        }
        Sample { x, weights: class.iter().map(|c| 1.0 + *c as f64).collect(), class, classes: 2 }
    }

    #[test]
    fn options_are_chosen_on_some_of_many_rows_and_lambda1_is_that_of_all() {
        let sample = many_rows();
        let drawn = Drawn::of(&sample.class, &sample.weights, 2, 0);
        let some = sample.some(&drawn);
        assert!(some.class.len() < 20_200 && some.class_counts()[1] >= 100, "{:?}", some.class_counts());
        let (all, few) = (sample.class_weights(), some.class_weights());
        assert!(((few[1] / few[0]) / (all[1] / all[0]) - 1.0).abs() < 1e-12, "{few:?} of {all:?}");

        let mut params = GaussianParams { learning: Learning::Mm, ..GaussianParams::default() };
        params.tuning.free = Some(3);
        let choice = choose(&sample, &params, &Control::default()).unwrap();
        let shares = LAMBDA1_SHARES.map(|share| share * row_weight(&all));
        let near = |wanted: &f64| (choice.point.lambda1 / wanted - 1.0).abs() < 1e-9;
        assert!(shares.iter().any(near), "{} is none of {shares:?}", choice.point.lambda1);
        assert_eq!(choice.chosen["lambda1"], choice.point.lambda1);
        assert!(NU_GRID.contains(&choice.chosen["nu"]));

        params.tuning.lambda1 = Some(777.0);
        assert_eq!(choose(&sample, &params, &Control::default()).unwrap().point.lambda1, 777.0);
    }
}
