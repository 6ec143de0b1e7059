//! Some rows of many, on which options are chosen: the same share of every class, but of rare classes enough to learn from.
//! What is counted on them is what all rows would give, once each counts for the rows of its class that it stands for.

use crate::pieces::{LEAST_ROWS, MOST_ROWS};
use hingenet_base::numeric::random::Random;

/// The rows of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Rows, ascending.
    pub rows: Vec<usize>,
    /// How many rows of its class each stands for: with all rows, 1.
    pub stands_for: Vec<f64>,
    /// Number of all rows.
    of: usize,
}

impl Drawn {
    /// All rows or, of more than [`MOST_ROWS`] (and what [`crate::pieces::RowSample`] may have beyond), as many by the seed.
    pub fn of(class: &[usize], weights: &[f64], n_classes: usize, seed: u64) -> Self {
        let n = class.len();
        let share = if n <= MOST_ROWS + n_classes * LEAST_ROWS { 1.0 } else { MOST_ROWS as f64 / n as f64 };
        let mut of_class = vec![Vec::new(); n_classes];
        class.iter().enumerate().for_each(|(m, &y)| of_class[y].push(m));
        let weight = |rows: &[usize]| rows.iter().map(|&m| weights[m]).sum::<f64>();
        let (mut rows, mut stands_for) = (Vec::with_capacity(n.min(2 * MOST_ROWS)), Vec::new());
        for (y, mut some) in of_class.into_iter().enumerate() {
            let all = weight(&some);
            let wanted = ((share * some.len() as f64).ceil() as usize).max(LEAST_ROWS);
            if share < 1.0 && wanted < some.len() {
                Random::stream(seed, y as u64).shuffle(&mut some);
                some.truncate(wanted);
                some.sort_unstable();
            }
            stands_for.push(if some.is_empty() { 1.0 } else { all / weight(&some) });
            rows.extend(some);
        }
        rows.sort_unstable();
        Drawn { rows, stands_for, of: n }
    }

    /// Whether these are all rows.
    pub fn is_all(&self) -> bool {
        self.rows.len() == self.of
    }

    /// What belongs to the drawn rows, at their places among all rows; nothing stays nothing.
    pub fn among_all<T: Clone + Default>(&self, of_drawn: Vec<T>) -> Vec<T> {
        if of_drawn.is_empty() || self.is_all() {
            return of_drawn;
        }
        let mut all = vec![T::default(); self.of];
        self.rows.iter().zip(of_drawn).for_each(|(&m, value)| all[m] = value);
        all
    }

    /// Numbers of classes times how many rows each row of a class stands for.
    pub fn scaled(&self, of_class: &[f64]) -> Vec<f64> {
        of_class.iter().zip(&self.stands_for).map(|(v, s)| v * s).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(counts: [usize; 3]) -> Vec<usize> {
        (0..3).flat_map(|y| vec![y; counts[y]]).collect()
    }

    #[test]
    fn some_rows_keep_rare_classes_and_what_each_class_weighs() {
        let class = classes([100_000, 50_000, 90]);
        let weights: Vec<f64> = (0..class.len()).map(|m| 1.0 + (m % 3) as f64).collect();
        let drawn = Drawn::of(&class, &weights, 3, 3);
        assert!(!drawn.is_all() && drawn.rows.windows(2).all(|w| w[0] < w[1]));
        assert!((MOST_ROWS - 100..MOST_ROWS + 200).contains(&drawn.rows.len()));
        let total = |y: usize, rows: &mut dyn Iterator<Item = usize>| {
            rows.filter(|&m| class[m] == y).map(|m| weights[m]).sum::<f64>()
        };
        let some: Vec<f64> = (0..3).map(|y| total(y, &mut drawn.rows.iter().copied())).collect();
        let all: Vec<f64> = (0..3).map(|y| total(y, &mut (0..class.len()))).collect();
        assert_eq!(some[2], all[2], "all rows of a rare class");
        assert!(drawn.scaled(&some).iter().zip(&all).all(|(a, b)| (a / b - 1.0).abs() < 1e-12));
        assert_ne!(drawn.rows, Drawn::of(&class, &weights, 3, 4).rows);

        let places = drawn.among_all(drawn.rows.iter().map(|&m| Some(m)).collect());
        assert_eq!(places.iter().flatten().count(), drawn.rows.len());
        assert!(places.iter().enumerate().all(|(m, place)| place.is_none_or(|p| p == m)));
    }

    #[test]
    fn few_rows_are_all_drawn() {
        let class = classes([15_000, 5_000, 0]);
        let drawn = Drawn::of(&class, &vec![0.7; class.len()], 3, 3);
        assert!(drawn.is_all() && drawn.rows.iter().copied().eq(0..20_000));
        assert_eq!(drawn.stands_for, [1.0; 3]);
    }
}
