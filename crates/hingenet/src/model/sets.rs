//! Prediction sets: classes among which the true one is with a coverage asked for, whatever share of the cells is missing.
//!
//! Split conformal prediction (Papadopoulos et al. 2002; Vovk, Gammerman, Shafer 2005), once for each of several numbers of
//! missing cells. Some rows are held back from the fit. Of each the *strangeness* of its true class is kept,
//!
//! ```text
//! s_c(x) = ln (1 − P(c | x)) − ln P(c | x)
//! ```
//!
//! with 0 to all of its cells blanked at random. A class c belongs to the set of a row with m missing cells if enough held-out
//! rows with m missing cells are at least as strange,
//!
//! ```text
//! p_c = (1 + #{i : s_i ≥ s_c}) / (1 + n)  >  1 − coverage
//! ```
//!
//! If the row and the held-out rows are exchangeable and cells are missing completely at random, the set holds the true class
//! with at least that probability, given m (and at most 1 / (n + 1) more where no two rows are equally strange). Between two
//! calibrated numbers of missing cells p_c is interpolated. Of all sets with that coverage those of the largest P(c | x)
//! are the smallest on average (Sadinle, Lei, Wasserman 2019); a row stranger than the coverage allows for gets none.

use super::fit::fit_all;
use super::{Dataset, FitOptions, Model, ModelSpec, Predictions};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::random::Random;
use hingenet_data::table::{Table, UnseenPolicy};
use serde::{Deserialize, Serialize};

/// Steps from no to all cells missing.
const STEPS: usize = 10;
/// Held-out rows at most: they leave the coverage a standard deviation of 0.4 points, and the rest is worth more to the fit.
const MOST_ROWS: usize = 5000;
/// Strangeness of what is impossible.
const STRANGEST: f64 = 1e300;
/// p-values are quotients of counts: smaller differences are rounding.
const ROUNDING: f64 = 1e-12;
/// Number of the random stream that chooses the held-out rows; those that blank their cells follow.
const STREAM: u64 = 0x5e75;

/// How strange held-out rows were, by the number of their missing cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetScores {
    levels: Vec<Level>,
}

/// Rows with a number of missing cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Level {
    missing: usize,
    /// Strangeness of the true classes, ascending.
    scores: Vec<f64>,
}

/// Fits a model on some rows and keeps how strange the others are to it.
pub(super) fn fit_calibrated(
    spec: &ModelSpec,
    data: &Dataset,
    share: f64,
    options: FitOptions,
    control: &Control,
) -> Result<Model> {
    require("calibrate_sets", share, "a share of the rows above 0 and below 1", 0.0 < share && share < 1.0)?;
    let (learn, held) = split(data, share, options.seed);
    if held.is_empty() {
        let problem = format!("no row of {} can be held back to calibrate prediction sets", data.n_rows());
        return Err(Error::data(problem, "give more rows, or fit without calibrate_sets"));
    }
    let mut model = fit_all(spec, &data.rows(&learn), options, control)?;
    model.sets = Some(SetScores::of(&model, &data.rows(&held), options.seed, control)?);
    Ok(model)
}

/// Rows to learn from, as they stand, and rows to hold back, in random order. The choice depends on what the rows hold and on
/// the seed. A class that would have no row to learn from keeps all.
fn split(data: &Dataset, share: f64, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut labelled = data.content_order();
    labelled.retain(|&m| data.class.get(m).is_some());
    Random::stream(seed, STREAM).shuffle(&mut labelled);
    let count = ((share * labelled.len() as f64) as usize).min(MOST_ROWS);
    let (held, learnt) = labelled.split_at(count);
    let mut has_rows = vec![false; data.classes.len()];
    learnt.iter().filter_map(|&m| data.class.get(m)).for_each(|c| has_rows[c] = true);
    let held: Vec<usize> =
        held.iter().copied().filter(|&m| data.class.get(m).is_some_and(|c| has_rows[c])).collect();
    let mut learn = vec![true; data.n_rows()];
    held.iter().for_each(|&m| learn[m] = false);
    ((0..data.n_rows()).filter(|&m| learn[m]).collect(), held)
}

impl SetScores {
    /// Of rows that the model was not fitted on. The blanked cells of few are among those of many.
    fn of(model: &Model, held: &Dataset, seed: u64, control: &Control) -> Result<Self> {
        let (mut cells, d) = (held.features.clone(), held.features.n_columns());
        let own = cells.missing_in_rows();
        // the known cells of each row in the order in which they are blanked, the first last
        let known = |(i, own): (usize, &usize)| -> Vec<usize> {
            let order = Random::stream(seed, STREAM + 1 + i as u64).permutation(d);
            order.into_iter().filter(|&j| *own == 0 || !cells.column(j).is_missing(i)).collect()
        };
        let mut known: Vec<Vec<usize>> = own.iter().enumerate().map(known).collect();
        let (mut levels, silent) = (Vec::<Level>::new(), control.quiet());
        for step in 0..=STEPS {
            control.progress("prediction sets", step, STEPS + 1)?;
            let missing = (step * d + STEPS / 2) / STEPS;
            if levels.last().is_some_and(|last| last.missing == missing) {
                continue;
            }
            for (i, left) in known.iter_mut().enumerate() {
                left.drain((d - missing).min(left.len())..).for_each(|j| cells.blank(i, j));
            }
            let rows: Vec<usize> = (0..own.len()).filter(|&i| own[i] <= missing).collect();
            levels.push(Level { missing, scores: scores(model, held, &cells, &rows, &silent)? });
        }
        Ok(SetScores { levels })
    }

    /// Refuses scores that no calibration makes: levels ascend to all cells of the columns and never lose rows, scores
    /// ascend.
    pub(super) fn check(&self, n_columns: usize) -> Result<()> {
        let rising = self
            .levels
            .windows(2)
            .all(|pair| pair[0].missing < pair[1].missing && pair[0].scores.len() <= pair[1].scores.len());
        let ends = self.levels.last().is_some_and(|l| l.missing == n_columns && !l.scores.is_empty());
        let is_score = |s: &f64| s.abs() <= STRANGEST;
        let sorted = |l: &Level| l.scores.iter().all(is_score) && l.scores.is_sorted();
        if rising && ends && self.levels.iter().all(sorted) {
            Ok(())
        } else {
            Err(Error::model_file("the scores of the prediction sets do not belong together"))
        }
    }

    /// Number of held-out rows.
    fn rows(&self) -> usize {
        self.levels.last().map_or(0, |l| l.scores.len())
    }

    /// The two calibrated numbers of missing cells around `missing`, and how far it lies from the first to the second. The
    /// rows of a level below `least` cannot exclude any class: the next level stands in for it.
    fn around(&self, missing: usize, least: usize) -> (&Level, &Level, f64) {
        let usable = self.levels.partition_point(|l| l.scores.len() < least).min(self.levels.len() - 1);
        let levels = &self.levels[usable..];
        let above = levels.partition_point(|l| l.missing < missing).min(levels.len() - 1);
        let (low, high) = (&levels[above.saturating_sub(1)], &levels[above]);
        let share = (missing.saturating_sub(low.missing)) as f64 / (high.missing - low.missing).max(1) as f64;
        (low, high, share.min(1.0))
    }
}

impl Level {
    /// Share of rows at least as strange as `score`, the row itself among them.
    fn p_value(&self, score: f64) -> f64 {
        let less = self.scores.partition_point(|s| *s < score);
        (self.scores.len() - less + 1) as f64 / (self.scores.len() + 1) as f64
    }
}

/// Strangeness of the true classes of some rows, ascending.
fn scores(
    model: &Model,
    held: &Dataset,
    cells: &Table,
    rows: &[usize],
    control: &Control,
) -> Result<Vec<f64>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let predictions = model.predict_watched(&cells.rows(rows), UnseenPolicy::Missing, control)?;
    let own = |(k, &m): (usize, &usize)| held.class.get(m).map(|c| strangeness(predictions.row(k), c));
    let mut scores: Vec<f64> = rows.iter().enumerate().filter_map(own).collect();
    scores.sort_by(f64::total_cmp);
    Ok(scores)
}

/// `ln (1 − P(c)) − ln P(c)`, which tells certain classes apart where `1 − P(c)` is rounded to 0.
fn strangeness(log_proba: &[f64], c: usize) -> f64 {
    let own = log_proba[c];
    let others = if own < -std::f64::consts::LN_2 {
        (-own.exp()).ln_1p()
    } else {
        let others: Vec<f64> = (0..log_proba.len()).filter(|&k| k != c).map(|k| log_proba[k]).collect();
        log_sum_exp(&others)
    };
    (others - own).clamp(-STRANGEST, STRANGEST)
}

impl Model {
    /// Rows that were held back from the fit to calibrate prediction sets; 0 where none were asked for.
    pub fn calibration_rows(&self) -> usize {
        self.sets.as_ref().map_or(0, SetScores::rows)
    }

    /// Whether each class belongs to the prediction set of each row, K values a row: the true class does with probability
    /// `coverage` or more, at every share of cells missing at random. Needs a fit with
    /// [`FitOptions::calibrate_sets`]; a set may be empty.
    pub fn prediction_sets(&self, predictions: &Predictions, coverage: f64) -> Result<Vec<bool>> {
        require("coverage", coverage, "a number above 0 and below 1", 0.0 < coverage && coverage < 1.0)?;
        let hint = "fit it again with calibrate_sets, which holds back rows for them";
        let none = || self.unsupported("it was fitted without rows to calibrate prediction sets", hint);
        let (sets, error) = (self.sets.as_ref().ok_or_else(none)?, 1.0 - coverage + ROUNDING);
        let least = (1.0 / error).ceil() as usize - 1;
        if sets.rows() < least {
            let most = sets.rows() as f64 / (sets.rows() + 1) as f64;
            let expected = format!("at most {most:.4}, which is what {} held-out rows can hold", sets.rows());
            return Err(Error::parameter("coverage", coverage, expected));
        }
        let mut belongs = Vec::with_capacity(predictions.log_proba.len());
        for (m, missing) in predictions.missing.iter().enumerate() {
            let (low, high, share) = sets.around(*missing, least);
            let log_proba = predictions.row(m);
            belongs.extend((0..self.classes.len()).map(|c| {
                let score = strangeness(log_proba, c);
                (1.0 - share) * low.p_value(score) + share * high.p_value(score) > error
            }));
        }
        Ok(belongs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(missing: usize, scores: &[f64]) -> Level {
        Level { missing, scores: scores.to_vec() }
    }

    #[test]
    fn strangeness_tells_certain_classes_apart() {
        let row = |p: f64| [(-p).ln_1p(), p.ln()];
        assert!((strangeness(&row(0.2), 0) - (0.2f64 / 0.8).ln()).abs() < 1e-14);
        assert!((strangeness(&row(0.2), 1) - (0.8f64 / 0.2).ln()).abs() < 1e-14);
        assert!(strangeness(&row(1e-30), 0) < strangeness(&row(1e-29), 0));
        let certain = [0.0, f64::NEG_INFINITY];
        assert_eq!((strangeness(&certain, 0), strangeness(&certain, 1)), (-STRANGEST, STRANGEST));
    }

    #[test]
    fn between_two_levels_the_share_is_interpolated_and_small_levels_are_passed_over() {
        let nine: Vec<f64> = (0..9).map(f64::from).collect();
        let sets =
            SetScores { levels: vec![level(0, &[1.0]), level(4, &nine), level(8, &nine), level(10, &nine)] };
        let at = |missing: usize, least: usize| {
            let (low, high, share) = sets.around(missing, least);
            (low.missing, high.missing, share)
        };
        assert_eq!(at(0, 1), (0, 0, 0.0));
        assert_eq!(at(1, 1), (0, 4, 0.25));
        assert_eq!(at(4, 1), (0, 4, 1.0));
        assert_eq!(at(9, 1), (8, 10, 0.5));
        assert_eq!(at(1, 9), (4, 4, 0.0), "one row excludes nothing at 90 %");
        assert_eq!(at(7, 9), (4, 8, 0.75));
        assert_eq!((sets.levels[1].p_value(8.0), sets.levels[1].p_value(8.1)), (0.2, 0.1));
    }

    #[test]
    fn scores_that_no_calibration_makes_are_refused() {
        let check = |levels: &[Level]| SetScores { levels: levels.to_vec() }.check(2);
        assert!(check(&[level(0, &[]), level(2, &[-1.0, 3.0])]).is_ok());
        let bad = [
            vec![],
            vec![level(2, &[])],
            vec![level(1, &[0.0])],
            vec![level(0, &[0.0]), level(0, &[0.0]), level(2, &[0.0])],
            vec![level(0, &[0.0, 1.0]), level(2, &[0.0])],
            vec![level(2, &[1.0, 0.0])],
            vec![level(2, &[f64::NAN])],
            vec![level(2, &[f64::INFINITY])],
        ];
        for levels in bad {
            assert!(check(&levels).is_err(), "{levels:?}");
        }
    }
}
