//! Which cells of the copies of training rows are blanked when the weights of the terms are fitted. Drawn
//! like the gaps that will be met, they make the weights those of that kind of gaps.

use super::rows::Rows;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::random::Random;

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

    /// One copy of the rows for each rate.
    pub(crate) fn copies(&self, rows: &Rows, rates: &[f64], random: &mut Random) -> Vec<Rows> {
        rates.iter().enumerate().map(|(k, &rate)| self.copy(rows, k, rate, random)).collect()
    }

    fn copy(&self, rows: &Rows, k: usize, rate: f64, random: &mut Random) -> Rows {
        let d = rows.n_features();
        let mut copy = rows.clone();
        match self {
            MaskSampler::Independent => return rows.blanked(random, |_| rate),
            MaskSampler::Block => {
                let width = (rate * d as f64).round() as usize;
                for i in 0..rows.len() {
                    let start = random.below(d - width + 1);
                    (start..start + width).for_each(|j| copy.blank(i, j));
                }
            }
            MaskSampler::Patterns(_) if k == 0 => {}
            MaskSampler::Patterns(patterns) => {
                for i in 0..rows.len() {
                    let pattern = &patterns[random.below(patterns.len())];
                    (0..d).filter(|&j| pattern[j]).for_each(|j| copy.blank(i, j));
                }
            }
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Cells;

    fn missing(rows: &Rows) -> Vec<Vec<usize>> {
        (0..rows.len()).map(|i| (0..rows.n_features()).filter(|&j| rows.is_missing(i, j)).collect()).collect()
    }

    #[test]
    fn blocks_are_contiguous_and_of_the_share_asked_for() {
        let rows = Rows::from_cells(vec![Cells::Numbers(vec![1.0; 50]); 10], 50);
        let copies = MaskSampler::Block.copies(&rows, &[0.0, 0.3, 0.9], &mut Random::new(1));
        for (copy, width) in copies.iter().zip([0, 3, 9]) {
            for blanks in missing(copy) {
                assert_eq!(blanks.len(), width);
                assert!(blanks.windows(2).all(|w| w[1] == w[0] + 1));
            }
        }
    }

    #[test]
    fn given_patterns_are_drawn_after_one_complete_copy() {
        let rows = Rows::from_cells(vec![Cells::Numbers(vec![1.0; 40]); 3], 40);
        let sampler = MaskSampler::Patterns(vec![vec![true, false, false], vec![false, true, true]]);
        assert!(sampler.check(3).is_ok() && sampler.check(4).is_err());
        assert!(MaskSampler::Patterns(Vec::new()).check(3).is_err());
        let copies = sampler.copies(&rows, &[0.0, 0.3], &mut Random::new(2));
        assert!(missing(&copies[0]).iter().all(Vec::is_empty));
        let drawn = missing(&copies[1]);
        assert!(drawn.contains(&vec![0]) && drawn.contains(&vec![1, 2]));
        assert!(drawn.iter().all(|b| *b == [0] || *b == [1, 2]));
    }
}
