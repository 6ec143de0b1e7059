//! Which rows are tested when: the fold number of each row.

use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::random::Random;
use hingenet_data::select::folds;

/// Stratified folds: in each class the rows, in the given order and then shuffled by the seed, are dealt
/// to the folds in turn, the next class continuing where the last one stopped. `class[m]` is the class
/// of row `m`; `order` lists all rows. Returns the fold of each row.
pub fn stratified(class: &[usize], order: &[usize], n_folds: usize, seed: u64) -> Result<Vec<usize>> {
    check_count(n_folds, order.len(), "rows")?;
    let class: Vec<Option<usize>> = class.iter().map(|c| Some(*c)).collect();
    Ok(folds::stratified_in(&class, order, n_folds, folds::Order::Shuffled(seed)))
}

/// Folds that keep all rows of a group together, as even in classes as a greedy assignment makes them:
/// large groups first (equal sizes in an order drawn from the seed), each to the fold that holds least of
/// the group's classes.
pub fn grouped(class: &[usize], group: &[usize], n_folds: usize, seed: u64) -> Result<Vec<usize>> {
    let n_classes = class.iter().max().map_or(0, |c| c + 1);
    let n_groups = group.iter().max().map_or(0, |g| g + 1);
    let mut counts = vec![vec![0.0; n_classes]; n_groups];
    let mut class_sizes = vec![0.0f64; n_classes];
    for (&c, &g) in class.iter().zip(group) {
        counts[g][c] += 1.0;
        class_sizes[c] += 1.0;
    }
    let size = |g: usize| counts[g].iter().sum::<f64>();
    let mut groups: Vec<usize> = Random::new(seed).permutation(n_groups);
    groups.retain(|&g| size(g) > 0.0);
    check_count(n_folds, groups.len(), "groups")?;
    groups.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    let mut held = vec![vec![0.0; n_classes]; n_folds];
    let mut fold_of = vec![0; n_groups];
    for g in groups {
        // the sum of squares of the class shares of the folds grows least here
        let load = |f: &Vec<f64>| -> f64 {
            (0..n_classes).map(|c| f[c] * counts[g][c] / (class_sizes[c] * class_sizes[c]).max(1.0)).sum()
        };
        let rows = |f: &Vec<f64>| f.iter().sum::<f64>();
        let best = (0..n_folds).min_by(|&a, &b| {
            let (a, b) = (&held[a], &held[b]);
            load(a).total_cmp(&load(b)).then_with(|| rows(a).total_cmp(&rows(b)))
        });
        fold_of[g] = best.unwrap_or_default();
        held[fold_of[g]].iter_mut().zip(&counts[g]).for_each(|(h, n)| *h += n);
    }
    Ok(group.iter().map(|&g| fold_of[g]).collect())
}

fn check_count(n_folds: usize, n: usize, of_what: &str) -> Result<()> {
    require("folds", n_folds, "at least 2", n_folds >= 2)?;
    if n < n_folds {
        return Err(Error::data(
            format!("{n} {of_what} cannot be split into {n_folds} folds"),
            format!("ask for fewer folds, or give at least {n_folds} {of_what}"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_group_is_never_torn_apart(
            rows in prop::collection::vec((0usize..3, 0usize..8), 12..60), seed in 0u64..50
        ) {
            let (class, group): (Vec<usize>, Vec<usize>) = rows.into_iter().unzip();
            if let Ok(fold) = grouped(&class, &group, 3, seed) {
                for a in 0..class.len() {
                    for b in 0..class.len() {
                        prop_assert!(group[a] != group[b] || fold[a] == fold[b]);
                    }
                }
                prop_assert!((0..3).all(|f| fold.contains(&f)));
            }
        }
    }

    #[test]
    fn too_many_folds_are_refused() {
        assert!(stratified(&[0, 1], &[0, 1], 3, 0).is_err());
        assert!(stratified(&[0, 1], &[0, 1], 1, 0).is_err());
        assert!(grouped(&[0, 1, 0, 1], &[0, 0, 0, 0], 2, 0).is_err());
    }
}
