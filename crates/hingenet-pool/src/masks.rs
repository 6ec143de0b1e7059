//! Which cells of the copies of training rows are blanked when the weights of the terms are fitted. Drawn
//! like the gaps that will be met, they make the weights those of that kind of gaps.

use super::rows::{blank_cells, repeated};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::random::Random;
use hingenet_data::table::Table;
use std::ops::Range;

/// Where the blanks of the copies come from.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaskSampler {
    /// Every cell is blanked independently, at rates from 0 to 0.9.
    #[default]
    Independent,
    /// Neighbouring columns are blanked together, of the same shares.
    Block,
    /// Patterns that are given, `true` for a missing feature; each copy but the first (which is complete)
    /// draws one for every row.
    Patterns(Vec<Vec<bool>>),
}

impl MaskSampler {
    /// Refuses patterns that do not fit the features.
    pub(crate) fn check(&self, n_features: usize) -> Result<()> {
        match self {
            MaskSampler::Patterns(patterns) if patterns.is_empty() => {
                Err(Error::data("there are no patterns of missing features", "give at least one row"))
            }
            MaskSampler::Patterns(patterns) => {
                patterns.iter().try_for_each(|p| require_len("features of a pattern", n_features, p.len()))
            }
            _ => Ok(()),
        }
    }

    /// One copy of the rows for each rate, below each other.
    pub(crate) fn copies(&self, rows: &Table, rates: &[f64], random: &mut Random) -> Table {
        let mut copies = repeated(rows, rates.len());
        let n = rows.n_rows();
        for (k, &rate) in rates.iter().enumerate() {
            self.blank(&mut copies, k * n..(k + 1) * n, rate, random);
        }
        copies
    }

    /// Blanks cells of the copy that stands in the given rows; the first copy stays as it is where patterns
    /// are given.
    fn blank(&self, table: &mut Table, rows: Range<usize>, rate: f64, random: &mut Random) {
        let d = table.n_columns();
        match self {
            MaskSampler::Independent => blank_cells(table, rows, random, |_| rate),
            MaskSampler::Block => {
                let width = (rate * d as f64).round() as usize;
                for i in rows {
                    let start = random.below(d - width + 1);
                    (start..start + width).for_each(|j| table.blank(i, j));
                }
            }
            MaskSampler::Patterns(_) if rows.start == 0 => {}
            MaskSampler::Patterns(patterns) => {
                for i in rows {
                    let pattern = &patterns[random.below(patterns.len())];
                    (0..d).filter(|&j| pattern[j]).for_each(|j| table.blank(i, j));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_data::table::Column;

    fn table(columns: usize, rows: usize) -> Table {
        let column = |j: usize| Column::numeric(j.to_string(), vec![1.0; rows]);
        Table::new((0..columns).map(column).collect()).unwrap()
    }

    fn missing(table: &Table) -> Vec<Vec<usize>> {
        let blanks = |i: usize| (0..table.n_columns()).filter(|&j| table.column(j).is_missing(i)).collect();
        (0..table.n_rows()).map(blanks).collect()
    }

    #[test]
    fn blocks_are_contiguous_and_of_the_share_asked_for() {
        let copies = MaskSampler::Block.copies(&table(10, 50), &[0.0, 0.3, 0.9], &mut Random::new(1));
        for (copy, width) in missing(&copies).chunks(50).zip([0, 3, 9]) {
            for blanks in copy {
                assert_eq!(blanks.len(), width);
                assert!(blanks.windows(2).all(|w| w[1] == w[0] + 1));
            }
        }
    }

    #[test]
    fn given_patterns_are_drawn_after_one_complete_copy() {
        let sampler = MaskSampler::Patterns(vec![vec![true, false, false], vec![false, true, true]]);
        assert!(sampler.check(3).is_ok() && sampler.check(4).is_err());
        assert!(MaskSampler::Patterns(Vec::new()).check(3).is_err());
        let copies = missing(&sampler.copies(&table(3, 40), &[0.0, 0.3], &mut Random::new(2)));
        let (complete, drawn) = copies.split_at(40);
        assert!(complete.iter().all(Vec::is_empty));
        assert!(drawn.contains(&vec![0]) && drawn.contains(&vec![1, 2]));
        assert!(drawn.iter().all(|b| *b == [0] || *b == [1, 2]));
    }
}
