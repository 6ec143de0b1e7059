//! Choosing by inner folds: the points of a rule, the number of iterations of a discriminative fit, and the temperature
//! that calibrates a margin-trained posterior.

use crate::inference::log_joint_rows;
use crate::margin::conditional::{ConditionalParams, Finish, fit_watched};
use crate::margin::require_two_classes;
use crate::{Network, Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_data::select::calibration::{Targets, temperature};
use hingenet_data::select::criterion::{self, Judged};
use hingenet_data::select::folds::{Order, split, stratified};
use hingenet_data::select::race::{CAREFUL, Judge, Race, first_best};
use hingenet_data::table::Codes;
use rayon::prelude::*;

/// Inner folds of calibration and of the choice among a few points.
pub(crate) const FOLDS: usize = 5;
/// Logarithms of the least and the largest 1/T: scores 1100 times too certain, and 20 times not certain enough.
const LOG_BETA: (f64, f64) = (-7.0, 3.0);

/// Learns a structure from training rows; called once for every inner fold.
pub type Learn<'a> = dyn Fn(&Samples) -> Result<Structure> + Sync + 'a;

/// A model that scores coded rows: `log P(c, observed cells)`, K values a row.
pub trait ClassScores {
    /// Scores of the given feature columns.
    fn log_joint(&self, features: &[Codes]) -> Result<Vec<f64>>;
}

impl ClassScores for Network {
    fn log_joint(&self, features: &[Codes]) -> Result<Vec<f64>> {
        log_joint_rows(self, features)
    }
}

/// One inner fold: what is made once from its training rows, and its validation rows.
pub(super) struct Part<T> {
    pub ready: T,
    pub test: Samples,
}

/// The folds that can be judged: one without rows, or whose other rows are all of one class, can tell nothing.
pub(super) fn inner_parts<T: Send>(
    samples: &Samples,
    prepare: &(dyn Fn(&Samples) -> Result<T> + Sync),
    folds: usize,
) -> Result<Vec<Part<T>>> {
    require("inner folds", folds, "at least 2", folds >= 2)?;
    let fold = stratified(samples.column(0).iter(), folds, Order::AsTheyStand);
    let part = |f: usize| {
        let (train, test) = split(&fold, f);
        if test.is_empty() || train.is_empty() {
            return Ok(None);
        }
        let train = samples.rows(&train)?;
        if require_two_classes(&train).is_err() {
            return Ok(None);
        }
        Ok(Some(Part { ready: prepare(&train)?, test: samples.rows(&test)? }))
    };
    (0..folds).into_par_iter().map(part).filter_map(Result::transpose).collect()
}

/// The labelled rows with their scores.
pub(super) fn judged<'a>(joint: &'a [f64], test: &'a Samples) -> impl Iterator<Item = Judged<'a>> {
    let rows = joint.chunks_exact(test.card()[0]).zip(test.column(0).iter()).enumerate();
    rows.filter_map(|(m, (scores, class))| class.map(|c| (scores, c, test.weight(m))))
}

/// The marks of a race: the weight of each labelled row that is classified right, else 0.
pub(super) fn marks(joint: &[f64], test: &Samples) -> Vec<f64> {
    judged(joint, test).map(|row| criterion::correct(std::iter::once(row))).collect()
}

/// The point with the most correct validation rows over the inner folds, by a race; ties to the first. `prepare` makes
/// of training rows what all points need, `fit` learns from that. When the time for searching is over, points that have not
/// begun are not tried, except for the first.
pub(crate) fn select_point<P: Copy + Sync, T: Send + Sync, M: ClassScores>(
    samples: &Samples,
    prepare: &(dyn Fn(&Samples) -> Result<T> + Sync),
    points: &[P],
    folds: usize,
    fit: &(dyn Fn(&T, &P) -> Result<M> + Sync),
    control: &Control,
) -> Result<P> {
    if let [only] = points {
        return Ok(*only);
    }
    let parts = inner_parts(samples, prepare, folds)?;
    let walk = |part: &Part<T>, path: &[(usize, P)], judge: &mut Judge<'_, ()>| {
        for (k, point) in path {
            if *k > 0 && control.search_is_over() {
                break;
            }
            let joint = fit(&part.ready, point)?.log_joint(&part.test.columns()[1..])?;
            if !judge(marks(&joint, &part.test), ()) {
                break;
            }
        }
        Ok(())
    };
    let mut race = Race::new(parts.len(), CAREFUL, |point: &(usize, P)| format!("point {}", point.0 + 1));
    let paths: Vec<Vec<(usize, P)>> = points.iter().copied().enumerate().map(|point| vec![point]).collect();
    race.run(&parts, &paths, &walk, control)?;
    if control.search_is_over() {
        control.warn("the time limit ended the search: the best point that was tried is taken");
    }
    let standing = race.standing(|a, b| a.0.cmp(&b.0));
    let best = standing.first().map(|&r| race.runners[r].point.1);
    best.ok_or_else(|| Error::data("there are no values to choose from", "give at least one"))
}

/// The temperature T that gives posteriors `∝ exp(S_c / T)` the smallest log loss on inner validation rows;
/// the decisions do not depend on it. `fit` learns a network from training rows.
pub fn calibrate<M: ClassScores>(
    samples: &Samples,
    folds: usize,
    fit: &(dyn Fn(&Samples) -> Result<M> + Sync),
) -> Result<f64> {
    require("inner folds", folds, "at least 2", folds >= 2)?;
    let fold = stratified(samples.column(0).iter(), folds, Order::AsTheyStand);
    let held_out = |f: usize| -> Result<(Samples, Vec<f64>)> {
        let (train, test) = split(&fold, f);
        let test = samples.rows(&test)?;
        let joint = fit(&samples.rows(&train)?)?.log_joint(&test.columns()[1..])?;
        Ok((test, joint))
    };
    let present: Vec<usize> = (0..folds).filter(|f| fold.contains(f)).collect();
    let parts: Vec<(Samples, Vec<f64>)> = present.into_par_iter().map(held_out).collect::<Result<_>>()?;
    Ok(calibrating(parts.iter().flat_map(|(test, joint)| judged(joint, test))))
}

/// The temperature that suits the scores of held-out rows.
pub(super) fn calibrating<'a>(rows: impl Iterator<Item = Judged<'a>>) -> f64 {
    let rows: Vec<Judged<'_>> = rows.collect();
    temperature(&rows, &Targets::Certain, (LOG_BETA.0.exp(), LOG_BETA.1.exp()))
}

/// The calibrating temperature by five inner folds; 1, with a warning, where the folds lack a class.
pub fn calibrated<M: ClassScores>(
    samples: &Samples,
    fit: &(dyn Fn(&Samples) -> Result<M> + Sync),
    control: &Control,
) -> Result<f64> {
    match calibrate(samples, FOLDS, fit) {
        Err(error) if error.is_stop() => Err(error),
        Err(error) => {
            control.warn(&format!("the posterior is not calibrated: {error}"));
            Ok(1.0)
        }
        temperature => temperature,
    }
}

/// Early stopping of a discriminative fit: the number of iterations (at most `params.max_iterations`) with
/// the most correct validation rows over the inner folds; ties to the fewer.
pub fn select_iterations(
    samples: &Samples,
    learn: &Learn<'_>,
    params: &ConditionalParams,
    folds: usize,
    control: &Control,
) -> Result<usize> {
    let prepare = |rows: &Samples| Ok((rows.clone(), learn(rows)?));
    let parts = inner_parts(samples, &prepare, folds)?;
    if parts.is_empty() {
        return Ok(params.max_iterations);
    }
    let quiet = control.quiet();
    let curve = |part: &Part<(Samples, Structure)>| -> Result<Vec<f64>> {
        control.check()?;
        let (train, structure) = &part.ready;
        let finish = Finish::new(params.form, structure)?;
        let mut curve = Vec::new();
        fit_watched(train, structure, params, &quiet, |_, free| {
            let network = Network::new(structure.clone(), finish.weights(free.to_vec())?)?;
            let joint = log_joint_rows(&network, &part.test.columns()[1..])?;
            curve.push(criterion::correct(judged(&joint, &part.test)));
            Ok(())
        })?;
        Ok(curve)
    };
    let curves: Vec<Vec<f64>> = parts.par_iter().map(curve).collect::<Result<_>>()?;
    // A fit that ended early stays as it is.
    let at = |curve: &Vec<f64>, t: usize| curve.get(t).or(curve.last()).copied().unwrap_or(0.0);
    let total = |t: usize| curves.iter().map(|curve| at(curve, t)).sum();
    Ok(first_best(&(0..=params.max_iterations).map(total).collect::<Vec<f64>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// Fits of a race of five points over three folds.
    fn fits(control: &Control) -> (usize, usize) {
        let column = |r: usize| Codes::from_options(r, (0..30).map(|m| Some(m % r)));
        let data = Samples::new(vec![2, 3], vec![column(2), column(3)], None).unwrap();
        let tried = AtomicUsize::new(0);
        let fit = |rows: &Samples, _: &usize| {
            tried.fetch_add(1, Ordering::Relaxed);
            let structure = Structure::naive_bayes(rows.card().to_vec())?;
            let counts = crate::counts::smoothed_counts(&structure, rows, 1.0)?;
            let weights = crate::counts::ml_parameters(&structure, &counts)?;
            Network::new(structure, weights)
        };
        let prepare = |rows: &Samples| Ok(rows.clone());
        let best = select_point(&data, &prepare, &[10, 11, 12, 13, 14], 3, &fit, control).unwrap();
        (best, tried.into_inner())
    }

    #[test]
    fn without_time_only_the_first_point_is_tried_and_once() {
        assert_eq!(fits(&Control::default().within(Duration::ZERO)), (10, 1));
        assert_eq!(
            fits(&Control::default()),
            (10, 15),
            "equal points all run to the end, the first is taken"
        );
    }
}
