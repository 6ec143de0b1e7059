//! A search that spends its time where it counts: points race over the parts of the rows, and those that fall behind
//! leave.
//!
//! The rule, fixed so that a choice can be repeated: a point is *behind* another when the sum of their differences over
//! the held-out rows both have judged is larger than some standard errors of that sum (the rows are pairs, so what both
//! decide alike does not count). After each part the points behind the leader leave, of those that entered last; the bar
//! is an argument before the first part and falls in equal steps to 0 after the last, because what a point behind can
//! still gain shrinks with the parts that are left. Points of an earlier run have proven themselves: the caller may prefer
//! them to newcomers that are only a little better. Along a path the later points leave when two in a row are behind the
//! best of the path. Paths run side by side, parts one after the other, and all comparisons are made in a fixed order:
//! the choice has the same bits on any number of threads.

use hingenet_base::control::Control;
use hingenet_base::error::Result;
use rayon::prelude::*;
use std::borrow::Borrow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bar before the first part where fits are dear and points are many: choosing among those that are level is left to
/// chance (measured on the folds of the paper: a tenth of a point).
pub const QUICK: f64 = 1.2;
/// The bar where points are few and fits cheap: only what is worse for certain leaves early.
pub const CAREFUL: f64 = 4.0;
/// Points of a path that must be behind, one after the other, before the path ends.
const FALLING: usize = 2;
/// Differences below this share of a sum are rounding errors.
const ROUNDING: f64 = 1e-12;

/// Fits the points of a path one after the other on a part, so that each fit can start from the last, and gives the
/// marks of its held-out rows (what each adds to the score) to the judge; stops once that returns `false`.
pub type Walk<'a, T, P, S> = dyn Fn(&T, &[P], &mut Judge<'_, S>) -> Result<()> + Sync + 'a;
/// Takes the marks of the next point and what to keep of it while it is in the race; whether the path goes on.
pub type Judge<'a, S> = dyn FnMut(Vec<f64>, S) -> bool + 'a;

/// A point and its marks so far.
#[derive(Debug, Clone)]
pub struct Runner<P, S> {
    /// The point.
    pub point: P,
    /// Marks of the held-out rows, part by part; empty where it did not run.
    marks: Vec<Vec<f64>>,
    /// What was kept, part by part, while it is in the race.
    kept: Vec<Option<S>>,
    /// Whether it is still in the race.
    running: bool,
}

impl<P, S> Runner<P, S> {
    /// Sum of the marks, to twelve digits.
    pub fn score(&self) -> f64 {
        sum(self.marks.iter().flatten())
    }

    fn leave(&mut self) {
        self.running = false;
        self.kept.iter_mut().for_each(|kept| *kept = None);
    }

    /// Whether the point is behind `other` on the rows that both have judged.
    fn is_behind(&self, other: &Self, errors: f64) -> bool {
        let both = self.marks.iter().zip(&other.marks).filter(|(a, b)| a.len() == b.len());
        is_behind(both.flat_map(|(a, b)| a.iter().zip(b)), errors)
    }
}

/// Whether the first marks are worse than the second by more than so many standard errors and by more than rounding.
fn is_behind<'a>(pairs: impl Iterator<Item = (&'a f64, &'a f64)>, errors: f64) -> bool {
    let (sum, squares, size) = pairs.fold((0.0, 0.0, 0.0), |(sum, squares, size), (mark, other)| {
        let d = other - mark;
        (sum + d, squares + d * d, size + other.abs())
    });
    sum > errors * f64::sqrt(squares) + ROUNDING * size
}

/// The sum of marks without its last bits: equal sums of different marks, such as shares of classes, must tie.
fn sum<'a>(marks: impl Iterator<Item = &'a f64>) -> f64 {
    const LAST: u64 = (1 << 12) - 1;
    let sum: f64 = marks.sum();
    f64::from_bits((sum.to_bits() + LAST.div_ceil(2)) & !LAST)
}

/// Position of the largest score: of equally good points the first wins, so lists begin with the simplest point (the
/// smallest λ, the fewest pairs).
pub fn first_best(scores: &[f64]) -> usize {
    let better = |best: usize, k: usize| if scores[k] > scores[best] { k } else { best };
    (0..scores.len()).fold(0, better)
}

/// Points that race over the same parts; more may enter later.
#[derive(Debug, Clone)]
pub struct Race<P, S> {
    /// All points that ever ran, in the order in which they entered.
    pub runners: Vec<Runner<P, S>>,
    n_parts: usize,
    /// Standard errors by which a point must be worse to leave after the first part, before it falls.
    bar: f64,
    /// A point for people.
    show: fn(&P) -> String,
}

impl<P: Copy + Sync, S: Send + Sync> Race<P, S> {
    /// A race over so many parts with a bar in standard errors; `show` names a point when progress is told.
    pub fn new(n_parts: usize, bar: f64, show: fn(&P) -> String) -> Self {
        Race { runners: Vec::new(), n_parts, bar, show }
    }

    /// Lets the points of `paths` run against each other and against those that are still running. When the time for
    /// searching is over (see [`Control::search_is_over`]) the parts that are left are not run, except for the first.
    pub fn run<T: Sync>(
        &mut self,
        parts: &[T],
        paths: &[Vec<P>],
        walk: &Walk<'_, T, P, S>,
        control: &Control,
    ) -> Result<()> {
        debug_assert_eq!(parts.len(), self.n_parts);
        self.run_in_turn(|at| Ok(&parts[at]), paths, walk, control)
    }

    /// [`Self::run`] on parts that are made when their turn comes and dropped before the next: only one takes memory.
    pub fn run_in_turn<T: Sync, B: Borrow<T>>(
        &mut self,
        part: impl Fn(usize) -> Result<B>,
        paths: &[Vec<P>],
        walk: &Walk<'_, T, P, S>,
        control: &Control,
    ) -> Result<()> {
        let mut lanes: Vec<Vec<usize>> = Vec::with_capacity(paths.len());
        let entered = self.runners.len();
        for path in paths {
            let first = self.runners.len();
            let none = || (0..self.n_parts).map(|_| None).collect();
            let enter =
                |&point: &P| Runner { point, marks: vec![vec![]; self.n_parts], kept: none(), running: true };
            self.runners.extend(path.iter().map(enter));
            lanes.push((first..self.runners.len()).collect());
        }
        for at in 0..self.n_parts {
            if at > 0 && control.search_is_over() {
                break;
            }
            lanes.iter_mut().for_each(|lane| lane.retain(|&r| self.runners[r].running));
            lanes.retain(|lane| !lane.is_empty());
            self.run_part(at, part(at)?.borrow(), &lanes, walk, control)?;
            self.drop_those_behind(at, entered);
        }
        Ok(())
    }

    fn run_part<T: Sync>(
        &mut self,
        at: usize,
        part: &T,
        lanes: &[Vec<usize>],
        walk: &Walk<'_, T, P, S>,
        control: &Control,
    ) -> Result<()> {
        let total = lanes.iter().map(Vec::len).sum();
        let done = AtomicUsize::new(0);
        let stage = self.describe(at);
        let marks: Vec<Vec<(Vec<f64>, S)>> = lanes
            .par_iter()
            .map(|lane| {
                let points: Vec<P> = lane.iter().map(|&r| self.runners[r].point).collect();
                let mut found: Vec<(Vec<f64>, S)> = Vec::with_capacity(points.len());
                let (mut best, mut falling) = (0, 0);
                control.progress(&stage, done.load(Ordering::Relaxed), total)?;
                walk(part, &points, &mut |marks, kept| {
                    found.push((marks, kept));
                    let last = found.len() - 1;
                    let behind = is_behind(found[last].0.iter().zip(&found[best].0), self.bar);
                    falling = if behind { falling + 1 } else { 0 };
                    if sum(found[last].0.iter()) > sum(found[best].0.iter()) {
                        best = last;
                    }
                    let now = done.fetch_add(1, Ordering::Relaxed) + 1;
                    falling < FALLING && control.progress(&stage, now, total).is_ok()
                })?;
                control.check()?;
                Ok(found)
            })
            .collect::<Result<_>>()?;
        for (lane, found) in lanes.iter().zip(marks) {
            lane[found.len()..].iter().for_each(|&r| self.runners[r].leave());
            for (&r, (marks, kept)) in lane.iter().zip(found) {
                self.runners[r].marks[at] = marks;
                self.runners[r].kept[at] = Some(kept);
            }
        }
        Ok(())
    }

    /// Points that came in as number `entered` or later leave if they are behind the leader, the best of all that ran on
    /// the parts up to this one.
    fn drop_those_behind(&mut self, at: usize, entered: usize) {
        let ran = |r: &usize| self.runners[*r].running && !self.runners[*r].marks[at].is_empty();
        let running: Vec<usize> = (0..self.runners.len()).filter(ran).collect();
        let so_far = |&r: &usize| sum(self.runners[r].marks[..=at].iter().flatten());
        let scores: Vec<f64> = running.iter().map(so_far).collect();
        if running.is_empty() {
            return;
        }
        let leader = running[first_best(&scores)];
        let bar = self.bar * (1.0 - (at + 1) as f64 / self.n_parts as f64);
        for r in running.into_iter().filter(|&r| r >= entered) {
            if self.runners[r].is_behind(&self.runners[leader], bar) {
                self.runners[r].leave();
            }
        }
    }

    /// What is being done and which point is the best so far, for people.
    fn describe(&self, at: usize) -> String {
        let ran = |r: &&Runner<P, S>| r.running && !r.marks[0].is_empty();
        let best = self.runners.iter().filter(ran).max_by(|a, b| a.score().total_cmp(&b.score()));
        let best = best.map(|r| format!(", best so far {}", (self.show)(&r.point))).unwrap_or_default();
        format!("search, fold {} of {}{best}", at + 1, self.n_parts)
    }

    /// Positions of the points that are still in the race, best first; ties by `order`. What ran on fewer parts because
    /// time was up has fewer marks.
    pub fn standing(&self, order: impl Fn(&P, &P) -> std::cmp::Ordering) -> Vec<usize> {
        let mut standing: Vec<usize> = (0..self.runners.len()).filter(|&r| self.runners[r].running).collect();
        standing.sort_by(|&a, &b| {
            let (a, b) = (&self.runners[a], &self.runners[b]);
            b.score().total_cmp(&a.score()).then_with(|| order(&a.point, &b.point))
        });
        standing
    }

    /// What was kept of a point that is still in the race, part by part as far as it ran.
    pub fn kept(&self, runner: usize) -> impl Iterator<Item = (usize, &S)> {
        self.runners[runner].kept.iter().enumerate().filter_map(|(part, kept)| Some((part, kept.as_ref()?)))
    }

    /// Whether runner `a` is behind runner `b` by more than so many standard errors.
    pub fn is_behind(&self, a: usize, b: usize, errors: f64) -> bool {
        self.runners[a].is_behind(&self.runners[b], errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;

    /// Marks of 50 rows of a part for a point that is right with the given chance.
    fn marks(part: usize, chance: f64) -> Vec<f64> {
        let mut random = Random::new(part as u64);
        (0..50).map(|_| f64::from(random.uniform() < chance)).collect()
    }

    fn race(paths: &[Vec<f64>]) -> (Race<f64, usize>, usize) {
        let fits = AtomicUsize::new(0);
        let walk = |part: &usize, path: &[f64], judge: &mut Judge<'_, usize>| {
            for &point in path {
                fits.fetch_add(1, Ordering::Relaxed);
                if !judge(marks(*part, point), *part) {
                    break;
                }
            }
            Ok(())
        };
        let mut race = Race::new(5, QUICK, f64::to_string);
        race.run(&[0, 1, 2, 3, 4], paths, &walk, &Control::default()).unwrap();
        (race, fits.into_inner())
    }

    #[test]
    fn points_that_fall_behind_leave_and_the_best_runs_to_the_end() {
        let (race, fits) = race(&[vec![0.2], vec![0.9], vec![0.5]]);
        let standing = race.standing(f64::total_cmp);
        assert_eq!(race.runners[standing[0]].point, 0.9);
        assert_eq!(standing.len(), 1);
        assert_eq!(fits, 3 + 4, "both others leave after the first part");
        assert_eq!(race.kept(standing[0]).map(|(_, part)| *part).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(race.kept(0).count(), 0);
    }

    #[test]
    fn equal_points_run_to_the_end_and_the_order_decides() {
        let (race, fits) = race(&[vec![0.7], vec![0.7]]);
        assert_eq!(fits, 10);
        assert_eq!(race.standing(f64::total_cmp).len(), 2);
        assert_eq!(race.standing(|a, b| b.total_cmp(a))[0], 0);
    }

    #[test]
    fn sums_that_differ_by_rounding_tie() {
        // Three tenths and a third both: the sums differ in their last bits.
        let marks = [vec![0.1, 0.2, 0.0, 1.0 / 3.0], vec![0.0, 0.0, 0.1 + 0.2 - 1e-16, 1.0 / 3.0]];
        let walk = |_: &(), path: &[usize], judge: &mut Judge<'_, ()>| {
            path.iter().take_while(|p| judge(marks[**p].clone(), ())).for_each(drop);
            Ok(())
        };
        for paths in [[vec![0], vec![1]], [vec![1], vec![0]]] {
            let mut race = Race::new(1, QUICK, usize::to_string);
            race.run(&[()], &paths, &walk, &Control::default()).unwrap();
            let standing = race.standing(usize::cmp);
            let points: Vec<usize> = standing.into_iter().map(|r| race.runners[r].point).collect();
            assert_eq!(points, [0, 1]);
        }
    }

    #[test]
    fn a_path_ends_when_two_points_in_a_row_are_behind() {
        let (race, fits) = race(&[vec![0.5, 0.9, 0.3, 0.2, 0.99, 0.9]]);
        assert_eq!(fits, 4 + 4, "neither 0.99 nor the last is tried");
        assert_eq!(race.runners[race.standing(f64::total_cmp)[0]].point, 0.9);
    }

    #[test]
    fn of_equal_points_the_first_wins() {
        assert_eq!(first_best(&[1.0, 3.0, 3.0, 2.0]), 1);
        assert_eq!(first_best(&[f64::NAN, 1.0]), 0);
    }

    #[test]
    fn later_points_race_against_the_leader() {
        let walk = |part: &usize, path: &[f64], judge: &mut Judge<'_, ()>| {
            path.iter().take_while(|p| judge(marks(*part, **p), ())).for_each(drop);
            Ok(())
        };
        let (parts, control) = ([0, 1, 2], Control::default());
        let mut race = Race::new(3, QUICK, f64::to_string);
        race.run(&parts, &[vec![0.6]], &walk, &control).unwrap();
        race.run(&parts, &[vec![0.3], vec![0.9]], &walk, &control).unwrap();
        let best = race.standing(f64::total_cmp)[0];
        assert_eq!(race.runners[best].point, 0.9);
        assert!(race.is_behind(0, best, 1.0) && !race.is_behind(best, 0, 0.0));
        // The first has run to its end and may still be preferred; the worse newcomer is gone.
        assert_eq!(race.standing(f64::total_cmp), [2, 0]);
        assert_eq!(race.kept(0).count(), 3);
    }

    #[test]
    fn without_time_only_the_first_part_is_run() {
        let walk = |part: &usize, path: &[f64], judge: &mut Judge<'_, ()>| {
            path.iter().take_while(|p| judge(marks(*part, **p), ())).for_each(drop);
            Ok(())
        };
        let mut race = Race::new(2, QUICK, f64::to_string);
        let control = Control::default().within(std::time::Duration::ZERO);
        race.run(&[0, 1], &[vec![0.6], vec![0.61]], &walk, &control).unwrap();
        let best = race.standing(f64::total_cmp)[0];
        assert_eq!(race.kept(best).count(), 1);
    }
}
