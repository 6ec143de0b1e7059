//! Which λ, γ and α an ML-BN-SVM takes: a race of grid points over the inner folds, along paths of rising λ in which each
//! fit starts from the last. The grid grows while the best point sits on its edge, and α, where it is not given, while
//! more of it is clearly better. With many rows all this is done on a sample, and the few best are compared on a larger
//! one.

use super::select::{Learn, Part, calibrating, inner_parts, judged, marks};
use crate::inference::log_joint_rows;
use crate::margin::completion::completed;
use crate::margin::{Likelihood, MarginParams, Problem, Solution, Start, margin_problem, solve};
use crate::params::Grid;
use crate::{Network, Samples, Structure, counts};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::select::race::{Judge, QUICK, Race};
use std::cmp::Ordering;

/// Times the grid may grow.
const EXTENSIONS: usize = 6;
/// Ends of the grid of the paper's experiments: the largest λ, the least and the largest γ.
const MOST_LAMBDA: f64 = 1024.0;
const GAMMA: (f64, f64) = (0.1, 20.0);
/// α rises by this factor, up to the most: with more virtual rows than that a table forgets what was counted.
const ALPHA_STEP: f64 = 10.0;
const MOST_ALPHA: f64 = 1e4;
/// Standard errors by which more virtual rows must be better, since they cost likelihood and the best of three is taken.
const CLEARLY: f64 = 2.5;
/// Rows on which all points race, and on which the best are compared: the validation rows of the latter tell points
/// apart that differ by a fifth of a per cent.
const FIRST_ROWS: usize = 10_000;
const LAST_ROWS: usize = 40_000;
/// Points that are compared on the larger sample.
const FINALISTS: usize = 3;

/// One grid point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Virtual sample count α.
    pub alpha: f64,
    /// Weight λ of the loss.
    pub lambda: f64,
    /// Required log margin γ.
    pub gamma: f64,
}

impl Trial {
    /// The more generative first: ties go to the smaller α, then λ, then γ.
    fn order(&self, other: &Self) -> Ordering {
        let by = |value: fn(&Trial) -> f64| value(self).total_cmp(&value(other));
        by(|t| t.alpha).then_with(|| by(|t| t.lambda)).then_with(|| by(|t| t.gamma))
    }
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The best point.
    pub best: Trial,
    /// The temperature that calibrates its posterior, from the rows held out in the search; `None` if there were none.
    pub temperature: Option<f64>,
    /// All points that were tried.
    pub trials: Vec<Trial>,
}

/// Chooses λ, γ and, if the grid says so, α.
pub fn select_margin(
    samples: &Samples,
    learn: &Learn<'_>,
    params: &MarginParams,
    grid: &Grid,
    control: &Control,
) -> Result<Selection> {
    if grid.lambda.is_empty() || grid.gamma.is_empty() {
        return Err(Error::data("the grid is empty", "give at least one lambda and one gamma"));
    }
    let all = samples.n_rows();
    let first = if 5 * FIRST_ROWS < 4 * all { FIRST_ROWS } else { all };
    let mut search = Search::new(&sample(samples, first)?, learn, params, grid, control)?;
    search.run_grid(grid)?;
    if grid.alpha {
        search.raise_alpha()?;
    }
    let mut selection = search.end();
    if first < all && !control.search_is_over() {
        let mut last = Search::new(&sample(samples, LAST_ROWS.min(all))?, learn, params, grid, control)?;
        let finalists: Vec<Vec<Trial>> = search.best_points(FINALISTS).into_iter().map(|p| vec![p]).collect();
        last.alpha = search.alpha;
        last.run(&finalists)?;
        selection = Selection { trials: selection.trials, ..last.end() };
    }
    if control.search_is_over() {
        let tried = selection.trials.len();
        control.warn(&format!("the time limit ended the search: the best of {tried} points was taken"));
    }
    Ok(selection)
}

/// `n` rows, drawn at equal distances of weight from rows sorted by class and content, so that every region keeps its
/// share and the choice does not depend on chance; rows keep their mean weight.
pub(super) fn sample(samples: &Samples, n: usize) -> Result<Samples> {
    let all = samples.n_rows();
    if n >= all {
        return Ok(samples.clone());
    }
    let step = samples.total_weight() / n as f64;
    let (mut rows, mut weights) = (Vec::new(), Vec::new());
    let (mut passed, mut drawn) = (0.0, 0usize);
    for m in 0..all {
        passed += samples.weight(m);
        // Draws stand at (k + 1/2) steps.
        let until = ((passed / step + 0.5).floor() as usize).min(n);
        if until > drawn {
            rows.push(m);
            weights.push((until - drawn) as f64 * samples.total_weight() / all as f64);
            drawn = until;
        }
    }
    samples.rows(&rows)?.with_weights(weights)
}

/// A point for people.
fn show(point: &Trial) -> String {
    format!("lambda = {}, gamma = {}, alpha = {}", point.lambda, point.gamma, point.alpha)
}

/// The race of one sample.
struct Search<'a> {
    parts: Vec<Part<MarginPart>>,
    params: &'a MarginParams,
    control: &'a Control,
    /// Keeps the scores of the held-out rows.
    race: Race<Trial, Vec<f64>>,
    /// The largest virtual sample count that may be taken.
    alpha: f64,
}

impl<'a> Search<'a> {
    fn new(
        samples: &Samples,
        learn: &Learn<'_>,
        params: &'a MarginParams,
        grid: &Grid,
        control: &'a Control,
    ) -> Result<Self> {
        let quiet = control.quiet();
        let prepare = |train: &Samples| MarginPart::new(train, learn, params, &quiet);
        let parts = inner_parts(samples, &prepare, grid.folds)?;
        let race = Race::new(parts.len(), QUICK, show);
        Ok(Search { parts, params, control, race, alpha: params.alpha })
    }

    fn run(&mut self, paths: &[Vec<Trial>]) -> Result<()> {
        let quiet = self.control.quiet();
        let walk = |part: &Part<MarginPart>, path: &[Trial], judge: &mut Judge<'_, Vec<f64>>| {
            part.ready.walk(&part.test, self.params, path, judge, &quiet)
        };
        self.race.run(&self.parts, paths, &walk, self.control)
    }

    /// Positions of the points that may be chosen, best first: those whose α is not more than has paid.
    fn standing(&self) -> Vec<usize> {
        let mut standing = self.race.standing(Trial::order);
        standing.retain(|&r| self.race.runners[r].point.alpha <= self.alpha);
        standing
    }

    /// Position of the best point.
    fn best(&self) -> usize {
        self.standing().first().copied().unwrap_or(0)
    }

    /// The best points, at most so many.
    fn best_points(&self, most: usize) -> Vec<Trial> {
        self.standing().into_iter().take(most).map(|r| self.race.runners[r].point).collect()
    }

    /// Whether no point with another γ has the score of the best.
    fn stands_alone(&self) -> bool {
        let best = &self.race.runners[self.best()];
        let mut others = self.standing().into_iter().map(|r| &self.race.runners[r]);
        others.all(|r| r.point.gamma == best.point.gamma || r.score() < best.score())
    }

    /// The grid, and what it grows by while the best point sits on its edge.
    fn run_grid(&mut self, grid: &Grid) -> Result<()> {
        let (mut lambdas, mut gammas) = (grid.lambda.clone(), grid.gamma.clone());
        let alpha = self.alpha;
        let path = |gamma: f64, lambdas: &[f64]| -> Vec<Trial> {
            lambdas.iter().map(|&lambda| Trial { alpha, lambda, gamma }).collect()
        };
        let paths: Vec<Vec<Trial>> = gammas.iter().map(|&gamma| path(gamma, &lambdas)).collect();
        self.run(&paths)?;
        for _ in 0..EXTENSIONS {
            if !grid.extend || self.control.search_is_over() {
                break;
            }
            let best = self.race.runners[self.best()].point;
            let (new_lambda, new_gamma) = beyond(&lambdas, &gammas, &best, self.stands_alone());
            let mut paths: Vec<Vec<Trial>> = Vec::new();
            // Along a new γ only the λ near the best, along a new λ only the best γ: the others have been judged.
            if let Some(gamma) = new_gamma {
                let near: Vec<f64> = lambdas.iter().copied().filter(|l| near(*l, best.lambda)).collect();
                paths.push(path(gamma, &near));
                gammas.push(gamma);
                gammas.sort_by(f64::total_cmp);
            }
            if let Some(lambda) = new_lambda {
                paths.push(path(best.gamma, &[lambda]));
                lambdas.push(lambda);
            }
            if paths.is_empty() {
                break;
            }
            self.run(&paths)?;
        }
        Ok(())
    }

    /// More virtual rows, which keep the margins from resting on cells that were hardly ever seen. They are tried while
    /// they are not worse, and taken where they are clearly better than the most that were taken before. Each step also
    /// tries the next larger λ and γ.
    fn raise_alpha(&mut self) -> Result<()> {
        let mut from = self.race.runners[self.best()].point;
        while from.lambda > 0.0 && from.alpha * ALPHA_STEP <= MOST_ALPHA && !self.control.search_is_over() {
            let alpha = from.alpha * ALPHA_STEP;
            self.run(&with_alpha(alpha, &from))?;
            let held = self.best();
            let standing = self.race.standing(Trial::order);
            // What is worse than the leader has left the race.
            let Some(raised) = standing.into_iter().find(|&r| self.race.runners[r].point.alpha == alpha)
            else {
                return Ok(());
            };
            if self.race.is_behind(held, raised, CLEARLY) {
                self.alpha = alpha;
            }
            from = self.race.runners[raised].point;
        }
        Ok(())
    }

    fn end(&self) -> Selection {
        let best = self.best();
        let held_out = self.race.kept(best).flat_map(|(part, joint)| judged(joint, &self.parts[part].test));
        let mut held_out = held_out.peekable();
        let temperature = held_out.peek().is_some().then(|| calibrating(held_out));
        let trials = self.race.runners.iter().map(|r| r.point).collect();
        Selection { best: self.race.runners[best].point, temperature, trials }
    }
}

/// Paths with that α: the λ and γ of a point, and one step up in each.
fn with_alpha(alpha: f64, from: &Trial) -> Vec<Vec<Trial>> {
    let Trial { lambda, gamma, .. } = *from;
    let at = |lambda: f64, gamma: f64| Trial { alpha, lambda, gamma };
    let mut paths = vec![vec![at(lambda, gamma)]];
    if lambda < MOST_LAMBDA {
        paths[0].push(at((4.0 * lambda).min(MOST_LAMBDA), gamma));
    }
    if gamma < GAMMA.1 {
        paths.push(vec![at(lambda, (2.0 * gamma).min(GAMMA.1))]);
    }
    paths
}

/// Whether λ is the best one or a neighbour of it.
fn near(lambda: f64, best: f64) -> bool {
    lambda > 0.0 && lambda * 4.0 >= best && lambda <= 4.0 * best
}

/// The next λ and γ beyond an edge that holds the best point; a smaller γ only if the best does not share its score with
/// a larger one, since ties alone would lead down there.
fn beyond(lambdas: &[f64], gammas: &[f64], best: &Trial, alone: bool) -> (Option<f64>, Option<f64>) {
    if best.lambda == 0.0 {
        return (None, None);
    }
    let top = lambdas[lambdas.len() - 1];
    let lambda = (best.lambda == top && top < MOST_LAMBDA).then(|| (4.0 * top).min(MOST_LAMBDA));
    let (low, high) = (gammas[0], gammas[gammas.len() - 1]);
    let gamma = if best.gamma == high && high < GAMMA.1 {
        Some((2.0 * high).min(GAMMA.1))
    } else if best.gamma == low && low > GAMMA.0 && alone {
        Some((0.2 * low).max(GAMMA.0))
    } else {
        None
    };
    (lambda, gamma)
}

/// Training rows ready for ML-BN-SVM: what does not depend on λ and γ.
struct MarginPart {
    structure: Structure,
    problem: Problem,
    /// Counts without virtual ones.
    counted: Vec<f64>,
}

impl MarginPart {
    /// Completes the training rows, counts and merges them.
    fn new(train: &Samples, learn: &Learn<'_>, params: &MarginParams, control: &Control) -> Result<Self> {
        let structure = learn(train)?;
        let train = completed(train, &structure, params.alpha, control)?;
        let counted = counts::raw_counts(&structure, &train)?;
        let n = with_virtual_rows(&structure, &counted, params.alpha);
        let problem = margin_problem(&train, &structure, n, params)?;
        Ok(MarginPart { structure, problem, counted })
    }

    /// Fits the points one after the other, each started from the last; gives the judge the marks and scores of the
    /// held-out rows.
    fn walk(
        &self,
        test: &Samples,
        params: &MarginParams,
        path: &[Trial],
        judge: &mut Judge<'_, Vec<f64>>,
        control: &Control,
    ) -> Result<()> {
        let mut problem = self.problem.clone();
        let mut alpha = params.alpha;
        let mut last: Option<(Solution, Vec<f64>)> = None;
        for point in path {
            control.check()?;
            if point.alpha != alpha {
                let n = with_virtual_rows(&self.structure, &self.counted, point.alpha);
                problem.likelihood = Likelihood::new(&self.structure, n)?;
                (alpha, last) = (point.alpha, None);
            }
            let at = MarginParams { gamma: point.gamma, lambda: point.lambda, alpha, ..params.for_search() };
            problem.loss = at.loss(self.structure.n_classes());
            let start = last.as_ref().map(|(solution, _)| Start::from(solution));
            let solution = solve(&problem, start, &at.settings(), control)?;
            let joint = match last {
                Some((last, joint)) if last.w == solution.w => joint,
                _ => {
                    let network = Network::new(self.structure.clone(), solution.w.clone())?;
                    log_joint_rows(&network, &test.columns()[1..])?
                }
            };
            if !judge(marks(&joint, test), joint.clone()) {
                return Ok(());
            }
            last = Some((solution, joint));
        }
        Ok(())
    }
}

fn with_virtual_rows(structure: &Structure, counted: &[f64], alpha: f64) -> Vec<f64> {
    let mut n = counted.to_vec();
    counts::smooth(structure, &mut n, alpha);
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_data::table::Codes;

    #[test]
    fn a_sample_keeps_the_shares_of_the_rows_and_their_mean_weight() {
        // Rows sorted by class; the last weighs as much as all others.
        let class = Codes::from_options(2, (0..1000).map(|m| Some(usize::from(m >= 700))));
        let weights: Vec<f64> = (0..1000).map(|m| if m == 999 { 999.0 } else { 1.0 }).collect();
        let samples = Samples::new(vec![2], vec![class], Some(weights)).unwrap();
        let drawn = sample(&samples, 100).unwrap();
        let mean = samples.total_weight() / 1000.0;
        assert!((drawn.total_weight() - 100.0 * mean).abs() < 1e-9);
        let of = |samples: &Samples, keep: &dyn Fn(usize) -> bool| -> f64 {
            (0..samples.n_rows()).filter(|&m| keep(m)).map(|m| samples.weight(m)).sum::<f64>()
                / samples.total_weight()
        };
        let share = |samples: &Samples| of(samples, &|m| samples.column(0).get(m) == Some(0));
        assert!((share(&drawn) - share(&samples)).abs() < 0.01);
        assert!((of(&drawn, &|m| m + 1 == drawn.n_rows()) - 0.5).abs() < 0.02);
        assert_eq!(sample(&samples, 1000).unwrap(), samples);
    }
}
