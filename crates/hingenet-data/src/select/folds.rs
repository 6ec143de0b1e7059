//! Which rows are held out when. The one dealer of stratified folds: rows of each class are dealt to the folds in
//! turn, the next class going on where the last one stopped, so that folds differ by at most one row, in all and in
//! every class. Rows are taken in the order in which they stand (content order, see [`crate::rows::Rows`]), so that a
//! fold depends on what the rows hold and on the seed, never on the order of a file.

use hingenet_base::numeric::random::Random;

/// In which order the rows of a class are dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As they stand. Of sorted rows every fold then gets its share of each region of the first features.
    AsTheyStand,
    /// Shuffled, all classes by one stream of random numbers.
    Shuffled(u64),
    /// Shuffled, each class by a stream of its own: a row more in one class leaves the others where they are.
    ShuffledByClass(u64),
}

/// Fold of each row, `0..folds`; `class[m]` is the class of row `m`, `None` for rows without one, which come last.
pub fn stratified(class: impl Iterator<Item = Option<usize>>, folds: usize, order: Order) -> Vec<usize> {
    let class: Vec<Option<usize>> = class.collect();
    stratified_in(&class, &(0..class.len()).collect::<Vec<_>>(), folds, order)
}

/// [`stratified`] where the rows stand in the given order instead of that of their numbers.
pub fn stratified_in(class: &[Option<usize>], rows: &[usize], folds: usize, order: Order) -> Vec<usize> {
    let n_classes = class.iter().flatten().max().map_or(0, |c| c + 1);
    let mut lists = vec![Vec::new(); n_classes + 1];
    rows.iter().for_each(|&m| lists[class[m].unwrap_or(n_classes)].push(m));
    match order {
        Order::AsTheyStand => {}
        Order::Shuffled(seed) => {
            let mut random = Random::new(seed);
            lists.iter_mut().for_each(|rows| random.shuffle(rows));
        }
        Order::ShuffledByClass(seed) => {
            let shuffle = |(c, rows): (usize, &mut Vec<usize>)| Random::stream(seed, c as u64).shuffle(rows);
            lists.iter_mut().enumerate().for_each(shuffle);
        }
    }
    let mut fold = vec![0; class.len()];
    for (turn, &m) in lists.iter().flatten().enumerate() {
        fold[m] = turn % folds.max(1);
    }
    fold
}

/// The rows outside fold `f`, to learn from, and those in it, to judge on; both ascending.
pub fn split(fold: &[usize], f: usize) -> (Vec<usize>, Vec<usize>) {
    (0..fold.len()).partition(|&m| fold[m] != f)
}

/// As many folds as are asked for, but no more than the smallest class that has rows can fill. Below 2 nothing can be
/// held out.
pub fn at_most(wanted: usize, class_counts: &[usize]) -> usize {
    class_counts.iter().copied().filter(|n| *n > 0).min().unwrap_or(0).min(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Folds differ by at most one row, in all and in every class, whatever the order of dealing.
        #[test]
        fn folds_are_even(
            class in prop::collection::vec(prop::option::of(0usize..4), 1..80), k in 2usize..6, seed in 0u64..50
        ) {
            for order in [Order::AsTheyStand, Order::Shuffled(seed), Order::ShuffledByClass(seed)] {
                let fold = stratified(class.iter().copied(), k, order);
                let even = |keep: &dyn Fn(usize) -> bool| {
                    let count = |f: usize| (0..class.len()).filter(|&m| fold[m] == f && keep(m)).count();
                    let counts: Vec<usize> = (0..k).map(count).collect();
                    counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1
                };
                prop_assert!(even(&|_| true));
                for c in [None, Some(0), Some(1), Some(2), Some(3)] {
                    prop_assert!(even(&|m| class[m] == c));
                }
            }
        }

        /// Every row is held out once and never learnt from in the same split.
        #[test]
        fn splits_cover_every_row_once(class in prop::collection::vec(0usize..3, 2..40), seed in 0u64..50) {
            let fold = stratified(class.iter().map(|c| Some(*c)), 3, Order::Shuffled(seed));
            let mut held = vec![0; class.len()];
            for f in 0..3 {
                let (learn, judge) = split(&fold, f);
                prop_assert_eq!(learn.len() + judge.len(), class.len());
                judge.iter().for_each(|&m| held[m] += 1);
                prop_assert!(learn.iter().all(|m| !judge.contains(m)));
            }
            prop_assert!(held.iter().all(|n| *n == 1));
        }
    }

    #[test]
    fn each_class_is_dealt_in_turn_and_the_next_continues() {
        let class = [0, 1, 0, 1, 1, 0, 0].map(Some);
        assert_eq!(stratified(class.into_iter(), 3, Order::AsTheyStand), [0, 1, 1, 2, 0, 2, 0]);
    }

    #[test]
    fn a_row_more_in_one_class_leaves_the_order_of_the_others() {
        let class = |n: usize| (0..12).map(|_| Some(0)).chain((0..n).map(|_| Some(1)));
        let order = Order::ShuffledByClass(7);
        let (few, many) = (stratified(class(5), 4, order), stratified(class(9), 4, order));
        assert_eq!(few[..12], many[..12]);
    }

    #[test]
    fn the_smallest_class_limits_the_folds() {
        assert_eq!(at_most(5, &[9, 0, 3]), 3);
        assert_eq!(at_most(5, &[9, 7]), 5);
        assert_eq!(at_most(5, &[0, 0]), 0);
    }
}
