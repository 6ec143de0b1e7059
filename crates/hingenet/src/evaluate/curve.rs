//! Learning curves: which of its training rows a fit may see that is given n of them, and what came of each n. Rows are
//! drawn in the proportions of the classes, and those of a smaller n are among those of a larger one, so that a curve
//! shows what more rows bring and not what other rows bring. Every model is given the same rows.

use crate::report::{CurvePoint, ModelResult};
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::random::Random;

/// Refuses a list of numbers of rows that is not ascending from at least 2.
pub(super) fn check(rows: &[usize]) -> Result<()> {
    let list = || rows.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let is_ascending = rows.windows(2).all(|pair| pair[0] < pair[1]);
    require("rows", list(), "ascending whole numbers, each once", is_ascending)?;
    require("rows", list(), "numbers of rows of at least 2", rows.iter().all(|n| *n >= 2))
}

/// The training rows of one split in the order in which a learning curve takes them: its first n are the rows of a fit
/// with n of them. `rows` stand in an order of their content, `class[m]` is the class of row `m`.
///
/// The rows of each class are shuffled, and the k-th of N_c (k from 0) is taken at the time (k + 1/2) / N_c; so at every
/// time each class has given the same share of its rows, rounded.
pub(super) fn order(rows: &[usize], class: impl Fn(usize) -> usize, seed: u64) -> Vec<usize> {
    let n_classes = rows.iter().map(|&m| class(m) + 1).max().unwrap_or_default();
    let mut lists = vec![Vec::new(); n_classes];
    rows.iter().for_each(|&m| lists[class(m)].push(m));
    let mut taken: Vec<(f64, usize, usize)> = Vec::with_capacity(rows.len());
    for (c, list) in lists.iter_mut().enumerate() {
        Random::stream(seed, c as u64).shuffle(list);
        let time = |k: usize| (k as f64 + 0.5) / list.len() as f64;
        taken.extend(list.iter().enumerate().map(|(k, &m)| (time(k), c, m)));
    }
    // the sort is stable: rows of one class stay in their order
    taken.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    taken.into_iter().map(|(.., m)| m).collect()
}

/// Refuses numbers of rows that the shortest training part has not, or that leave out a class that it has: `order` as
/// [`order`] gives it, the classes with their names.
pub(super) fn check_part(
    numbers: &[usize],
    order: &[usize],
    class: impl Fn(usize) -> usize,
    classes: &[String],
) -> Result<()> {
    let (Some(&fewest), Some(&most)) = (numbers.first(), numbers.last()) else { return Ok(()) };
    if most > order.len() {
        return Err(Error::data(
            format!(
                "a curve cannot have a point at {most} rows: a training part has {} of them",
                order.len()
            ),
            "ask for fewer rows, or take more folds, which leaves more rows to each training part",
        ));
    }
    let mut first_place: Vec<Option<usize>> = vec![None; classes.len()];
    for (place, &m) in order.iter().enumerate() {
        first_place[class(m)].get_or_insert(place);
    }
    let latest = (0..classes.len()).filter_map(|c| first_place[c].map(|place| (place, c))).max();
    match latest.filter(|(place, _)| *place >= fewest) {
        None => Ok(()),
        Some((place, c)) => Err(Error::data(
            format!("{fewest} rows are too few: class `{}` would have none of them", classes[c]),
            format!(
                "begin the curve at {} rows or more, where every class has some, or leave that class out",
                place + 1
            ),
        )),
    }
}

/// The point of a curve, from what a model achieved with so many rows.
pub(super) fn point(rows: usize, result: &ModelResult) -> CurvePoint {
    CurvePoint {
        model: result.model.clone(),
        rows,
        accuracy: result.accuracy.clone(),
        balanced_error: result.balanced_error.clone(),
        log_loss: result.log_loss,
        brier: result.brier,
        auc: result.auc,
        log_likelihood: result.log_likelihood,
        fit_seconds: result.fit_seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every row once, classes in proportion among the first n for every n, and the draw depends on the seed.
        #[test]
        fn the_first_rows_have_the_classes_in_proportion(
            class in prop::collection::vec(0usize..4, 8..200), seed in 0u64..100
        ) {
            let rows: Vec<usize> = (0..class.len()).collect();
            let order = order(&rows, |m| class[m], seed);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, rows);
            let count = |list: &[usize], c: usize| list.iter().filter(|m| class[**m] == c).count() as f64;
            for n in 1..=order.len() {
                for c in 0..4 {
                    let fair = n as f64 * count(&order, c) / class.len() as f64;
                    // half a row by rounding, and the share of this class in the half rows of the others
                    prop_assert!((count(&order[..n], c) - fair).abs() <= 0.5 + 0.5 * 4.0);
                }
            }
        }

        /// With two classes no count is a whole row away from its share.
        #[test]
        fn two_classes_are_drawn_to_the_row(n_first in 1usize..80, n_second in 1usize..80, seed in 0u64..20) {
            let rows: Vec<usize> = (0..n_first + n_second).collect();
            let class = |m: usize| usize::from(m >= n_first);
            let order = order(&rows, class, seed);
            for n in 1..=rows.len() {
                let fair = n as f64 * n_first as f64 / rows.len() as f64;
                let found = order[..n].iter().filter(|m| class(**m) == 0).count() as f64;
                prop_assert!((found - fair).abs() <= 1.0, "{found} of {n}, fair {fair}");
            }
        }
    }

    #[test]
    fn the_seed_and_the_content_decide_the_draw() {
        let rows: Vec<usize> = (0..100).collect();
        let class = |m: usize| m % 3;
        assert_eq!(order(&rows, class, 1), order(&rows, class, 1));
        assert_ne!(order(&rows, class, 1), order(&rows, class, 2));
    }

    #[test]
    fn what_a_part_cannot_give_is_refused_with_what_it_can() {
        let names = ["a", "b"].map(String::from);
        let class = |m: usize| usize::from(m < 3);
        let order = order(&(0..90).collect::<Vec<_>>(), class, 5);
        let refused = |numbers: &[usize]| check_part(numbers, &order, class, &names).unwrap_err();
        assert!(check_part(&[20, 90], &order, class, &names).is_ok());
        assert!(refused(&[20, 91]).to_string().contains("a training part has 90"));
        let error = refused(&[10, 50]);
        assert!(error.to_string().contains("class `b` would have none"), "{error}");
        // the hint is exact: one row less leaves the class out
        let hint = error.hint().unwrap();
        let least: usize = hint.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
        assert!(check_part(&[least], &order, class, &names).is_ok(), "{hint}");
        assert!(check_part(&[least - 1], &order, class, &names).is_err(), "{hint}");
    }

    #[test]
    fn numbers_of_rows_are_ascending() {
        assert!(check(&[]).is_ok() && check(&[2, 10, 11]).is_ok());
        for bad in [&[10, 10][..], &[20, 10], &[1, 10], &[0]] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
