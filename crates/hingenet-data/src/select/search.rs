//! Search over options by inner folds: every point of every path is fitted on each part and scored on its held-out
//! rows; parts and paths run side by side, and their scores are added in a fixed order, so the choice has the same
//! bits on any number of threads.

use hingenet_base::control::Control;
use hingenet_base::error::Result;
use rayon::prelude::*;

/// Fits and scores the points of a path on one part.
pub type ScorePath<'a, T, P> = dyn Fn(&T, &[P]) -> Result<Vec<f64>> + Sync + 'a;

/// Scores of every point, path by path: the sum over the parts.
///
/// A part is whatever the family makes once of a fold (rows to learn from, graph, held-out rows); a path is a list of
/// points that `score` fits one after the other, so that each fit can start from the last. Points that share nothing
/// are paths of length one.
pub fn path_scores<T: Sync, P: Sync>(
    parts: &[T],
    paths: &[Vec<P>],
    score: &ScorePath<'_, T, P>,
    control: &Control,
) -> Result<Vec<Vec<f64>>> {
    let jobs: Vec<(usize, usize)> =
        (0..paths.len()).flat_map(|path| (0..parts.len()).map(move |part| (path, part))).collect();
    let run = |&(path, part): &(usize, usize)| {
        control.check()?;
        score(&parts[part], &paths[path])
    };
    let scores: Vec<Vec<f64>> = jobs.par_iter().map(run).collect::<Result<_>>()?;
    let mut totals: Vec<Vec<f64>> = paths.iter().map(|path| vec![0.0; path.len()]).collect();
    for ((path, _), scores) in jobs.iter().zip(&scores) {
        totals[*path].iter_mut().zip(scores).for_each(|(total, s)| *total += s);
    }
    Ok(totals)
}

/// Position of the largest score. The tie rule of every search: of equally good points the first wins, so lists begin
/// with the simplest point (the smallest λ, the fewest pairs).
pub fn first_best(scores: &[f64]) -> usize {
    let better = |best: usize, k: usize| if scores[k] > scores[best] { k } else { best };
    (0..scores.len()).fold(0, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_sums_over_the_parts_in_the_order_of_the_points() {
        let parts = [1.0, 10.0];
        let paths = vec![vec![1.0, 2.0], vec![5.0]];
        let score = |part: &f64, path: &[f64]| Ok(path.iter().map(|p| part * p).collect());
        let found = path_scores(&parts, &paths, &score, &Control::default()).unwrap();
        assert_eq!(found, [vec![11.0, 22.0], vec![55.0]]);
    }

    #[test]
    fn of_equal_points_the_first_wins() {
        assert_eq!(first_best(&[1.0, 3.0, 3.0, 2.0]), 1);
        assert_eq!(first_best(&[f64::NAN, 1.0]), 0);
    }
}
