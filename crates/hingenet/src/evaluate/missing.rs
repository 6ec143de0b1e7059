//! Robustness to missing features: each feature cell of a test row is blanked independently with the
//! same probability. The draws belong to the row and the seed, not to the rate, so the blanked cells of a
//! smaller rate are among those of a larger one, and every model sees the same cells.

use hingenet_base::error::{Result, require};
use hingenet_base::numeric::random::Random;
use hingenet_data::table::Table;

/// Refuses a rate outside `[0, 1]`.
pub fn check_rate(rate: f64) -> Result<()> {
    require("missing rate", rate, "a number from 0 to 1", (0.0..=1.0).contains(&rate))
}

/// The table with cells blanked at `rate`. `ids[i]` names row `i`: the same name and seed give the same
/// draws wherever the row stands.
pub fn blank(table: &Table, ids: &[usize], rate: f64, seed: u64) -> Result<Table> {
    check_rate(rate)?;
    let mut blanked = table.clone();
    for (i, &id) in ids.iter().enumerate() {
        let mut random = Random::stream(seed, id as u64);
        for j in 0..table.n_columns() {
            if random.uniform() < rate {
                blanked.blank(i, j);
            }
        }
    }
    Ok(blanked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_data::table::{Codes, Column};

    fn table(n: usize) -> Table {
        let codes = Codes::from_options(3, (0..n).map(|m| Some(m % 3)));
        let names = ["a", "b", "c"].map(String::from).to_vec();
        Table::new(vec![
            Column::numeric("x", (0..n).map(|m| m as f64).collect()),
            Column::categorical("y", names, codes),
        ])
        .unwrap()
    }

    #[test]
    fn rate_zero_changes_nothing_and_rate_one_leaves_nothing() {
        let (t, ids) = (table(50), (0..50).collect::<Vec<_>>());
        assert_eq!(blank(&t, &ids, 0.0, 1).unwrap(), t);
        assert_eq!(blank(&t, &ids, 1.0, 1).unwrap().n_missing(), 100);
        assert!(blank(&t, &ids, 1.5, 1).is_err() && blank(&t, &ids, f64::NAN, 1).is_err());
    }

    #[test]
    fn blanked_cells_grow_with_the_rate_and_follow_the_row() {
        let (t, ids) = (table(2000), (0..2000).collect::<Vec<_>>());
        let (low, high) = (blank(&t, &ids, 0.3, 7).unwrap(), blank(&t, &ids, 0.6, 7).unwrap());
        let share = low.n_missing() as f64 / 4000.0;
        assert!((share - 0.3).abs() < 0.03, "{share}");
        for (a, b) in low.columns().iter().zip(high.columns()) {
            assert!((0..2000).all(|i| !a.is_missing(i) || b.is_missing(i)));
        }
        let back: Vec<usize> = (0..2000).rev().collect();
        assert_eq!(blank(&t.rows(&back), &back, 0.3, 7).unwrap(), low.rows(&back));
    }
}
