//! Location and scale of a numeric column, learnt on training rows and applied to any rows. Every family measures
//! numbers in these units.

use serde::{Deserialize, Serialize};

/// No standard score is further from 0 than this: squares, and sums of squares over any number of columns, stay finite
/// whatever a query holds, and nothing that is learnt from rows comes near it.
pub const FURTHEST: f64 = 1e100;

/// Whether a number read from a file is one that training can have made: finite, and so far from the end of the range that
/// products of two of them are finite too.
pub fn is_moderate(x: f64) -> bool {
    x.abs() <= FURTHEST
}

/// Mean and standard deviation of the training rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standard {
    /// Mean of the observed cells; 0 without any.
    pub mean: f64,
    /// Their standard deviation; 0 for a constant column.
    pub sd: f64,
}

/// What the sum of squares is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divisor {
    /// The total weight less one.
    OneLess,
    /// The total weight.
    Whole,
}

impl Standard {
    /// Learns from cells (NaN is missing) and their weights. Computed in units of the largest cell so that no square
    /// overflows; the deviation is exactly 0 when all cells are equal.
    pub fn learn(cells: &[f64], weights: Option<&[f64]>, divisor: Divisor) -> Self {
        let observed = || {
            let weight = move |m: usize| weights.map_or(1.0, |w| w[m]);
            let cells = cells.iter().enumerate().map(move |(m, &x)| (x, weight(m)));
            cells.filter(|(x, s)| !x.is_nan() && *s > 0.0)
        };
        let total: f64 = observed().map(|(_, s)| s).sum();
        let low = observed().map(|(x, _)| x).fold(f64::INFINITY, f64::min);
        let high = observed().map(|(x, _)| x).fold(f64::NEG_INFINITY, f64::max);
        if total <= 0.0 {
            return Standard { mean: 0.0, sd: 0.0 };
        }
        if low == high {
            return Standard { mean: low, sd: 0.0 };
        }
        let unit = low.abs().max(high.abs());
        let mean = observed().map(|(x, s)| s * (x / unit)).sum::<f64>() / total;
        // a second pass removes the rounding error of the first mean
        let mean = mean + observed().map(|(x, s)| s * (x / unit - mean)).sum::<f64>() / total;
        let divisor = match divisor {
            Divisor::OneLess => total - 1.0,
            Divisor::Whole => total,
        };
        if divisor <= 0.0 {
            return Standard { mean: mean * unit, sd: 0.0 }; // not even one whole row: no deviation can be told
        }
        let squares: f64 = observed().map(|(x, s)| s * (x / unit - mean).powi(2)).sum();
        Standard { mean: mean * unit, sd: ((squares / divisor).sqrt() * unit).min(f64::MAX) }
    }

    /// Whether the column did not vary on the training rows.
    pub fn is_constant(&self) -> bool {
        self.sd == 0.0
    }

    /// Whether training can have made this (for what is read from a file).
    pub fn is_possible(&self) -> bool {
        self.mean.is_finite() && self.sd.is_finite() && self.sd >= 0.0
    }

    /// `x` in training standard deviations from the training mean, at most [`FURTHEST`]; 0 for a constant column.
    /// NaN (missing) stays NaN.
    pub fn score(&self, x: f64) -> f64 {
        match (x.is_nan(), self.is_constant()) {
            (true, _) => f64::NAN,
            (false, true) => 0.0,
            (false, false) => ((x - self.mean) / self.sd).clamp(-FURTHEST, FURTHEST),
        }
    }

    /// The value whose standard score is `z`.
    pub fn undo(&self, z: f64) -> f64 {
        self.mean + self.sd * z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(x: &[f64], weights: Option<&[f64]>) -> Standard {
        Standard::learn(x, weights, Divisor::OneLess)
    }

    #[test]
    fn standard_scores_have_mean_0_and_sd_1() {
        let s = learn(&[1.0, 2.0, 3.0, 4.0, f64::NAN], None);
        assert_eq!(s.mean, 2.5);
        assert!((s.sd - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(s.score(f64::NAN).is_nan());
        assert!((s.undo(s.score(3.7)) - 3.7).abs() < 1e-15);
        let whole = Standard::learn(&[1.0, 2.0, 3.0, 4.0], None, Divisor::Whole);
        assert!((whole.sd - 1.25f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn weights_equal_repetition_and_weight_zero_drops_the_row() {
        let repeated = learn(&[1.0, 1.0, 1.0, 5.0], None);
        let weighted = learn(&[1.0, 5.0, 99.0], Some(&[3.0, 1.0, 0.0]));
        assert!((repeated.mean - weighted.mean).abs() < 1e-15);
        assert!((repeated.sd - weighted.sd).abs() < 1e-15);
    }

    #[test]
    fn constant_columns_become_zero_and_nothing_overflows() {
        let s = learn(&[0.1, 0.1, 0.1], None);
        assert!(s.is_constant() && s.score(0.1) == 0.0 && s.score(7.0) == 0.0);
        let s = learn(&[f64::MAX, -f64::MAX], None);
        assert!(s.is_possible() && s.score(f64::MAX).is_finite());
        assert_eq!(learn(&[1e-300, 2e-300], None).score(f64::MAX), FURTHEST);
        assert!(learn(&[f64::NAN], None).is_constant());
        assert!(!Standard { mean: 0.0, sd: f64::NAN }.is_possible());
    }
}
