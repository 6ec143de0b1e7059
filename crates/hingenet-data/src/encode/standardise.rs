//! Means and standard deviations of numeric columns, learnt on training rows and applied to any rows.

use crate::table::Numeric;
use hingenet_base::error::{Result, require, require_len};
use serde::{Deserialize, Serialize};

/// Centres and scales numeric columns: `(x − mean) / sd`, the divisor of the variance being the total
/// weight less one. Missing cells do not count and stay missing.
///
/// A column that is constant on the training rows (or has no observed cell) gets `sd = 1`, so training
/// values become 0 and others keep their distance; see [`Standardiser::is_constant`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standardiser {
    means: Vec<f64>,
    sds: Vec<f64>,
    constant: Vec<bool>,
}

impl Standardiser {
    /// Learns from training columns; `None` weighs every row 1.
    pub fn learn(columns: &[&Numeric], weights: Option<&[f64]>) -> Result<Self> {
        let mut learnt = Standardiser { means: vec![], sds: vec![], constant: vec![] };
        for column in columns {
            if let Some(weights) = weights {
                require_len("sample weights", column.len(), weights.len())?;
            }
            let moments = moments(column.with_nan(), weights);
            let (mean, sd) = moments.unwrap_or_default();
            learnt.means.push(mean);
            learnt.constant.push(!(sd > 0.0 && sd.is_finite()));
            learnt.sds.push(if sd > 0.0 && sd.is_finite() { sd } else { 1.0 });
        }
        Ok(learnt)
    }

    /// Refuses what no training can have made (for standardisers read from a file).
    pub fn check(&self) -> Result<()> {
        require_len("standard deviations", self.means.len(), self.sds.len())?;
        require_len("constant flags", self.means.len(), self.constant.len())?;
        let bad = self.means.iter().chain(&self.sds).find(|x| !x.is_finite());
        require("mean or sd", bad.copied().unwrap_or_default(), "a finite number", bad.is_none())?;
        let bad = self.sds.iter().find(|sd| **sd <= 0.0);
        require("sd", bad.copied().unwrap_or_default(), "a number above 0", bad.is_none())
    }

    /// Means of the training columns.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Standard deviations of the training columns, 1 for constant ones.
    pub fn sds(&self) -> &[f64] {
        &self.sds
    }

    /// Whether column `i` did not vary on the training rows.
    pub fn is_constant(&self, i: usize) -> bool {
        self.constant[i]
    }

    /// `x` of column `i` in training standard deviations from the training mean; NaN stays NaN, and a
    /// finite `x` never becomes infinite.
    pub fn apply(&self, i: usize, x: f64) -> f64 {
        let z = (x - self.means[i]) / self.sds[i];
        if z.is_nan() { z } else { z.clamp(-f64::MAX, f64::MAX) }
    }

    /// [`Self::apply`] to all cells of a column; NaN stands for missing.
    pub fn apply_column(&self, i: usize, column: &Numeric) -> Vec<f64> {
        column.with_nan().iter().map(|&x| self.apply(i, x)).collect()
    }

    /// The value whose standard score is `z`.
    pub fn undo(&self, i: usize, z: f64) -> f64 {
        self.means[i] + self.sds[i] * z
    }
}

/// Mean and standard deviation of the observed cells, computed in units of the largest one so that no
/// square overflows; the deviation is exactly 0 when all are equal. `None` without observed cells.
fn moments(x: &[f64], weights: Option<&[f64]>) -> Option<(f64, f64)> {
    let observed = || {
        let weight = move |m: usize| weights.map_or(1.0, |w| w[m]);
        x.iter().enumerate().map(move |(m, &x)| (x, weight(m))).filter(|(x, s)| !x.is_nan() && *s > 0.0)
    };
    let total: f64 = observed().map(|(_, s)| s).sum();
    let low = observed().map(|(x, _)| x).fold(f64::INFINITY, f64::min);
    let high = observed().map(|(x, _)| x).fold(f64::NEG_INFINITY, f64::max);
    if total <= 0.0 {
        return None;
    }
    if low == high {
        return Some((low, 0.0));
    }
    let unit = low.abs().max(high.abs());
    let mean = observed().map(|(x, s)| s * (x / unit)).sum::<f64>() / total;
    // second pass removes the rounding error of the first mean
    let shift = observed().map(|(x, s)| s * (x / unit - mean)).sum::<f64>() / total;
    let mean = mean + shift;
    if total <= 1.0 {
        return Some((mean * unit, 0.0)); // not even one whole row: no deviation can be told
    }
    let squares: f64 = observed().map(|(x, s)| s * (x / unit - mean).powi(2)).sum();
    Some((mean * unit, ((squares / (total - 1.0)).sqrt() * unit).min(f64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    fn learn(x: &[f64], weights: Option<&[f64]>) -> Standardiser {
        let column = Column::numeric("x", x.to_vec());
        Standardiser::learn(&[column.as_numeric().unwrap()], weights).unwrap()
    }

    #[test]
    fn standard_scores_have_mean_0_and_sd_1() {
        let s = learn(&[1.0, 2.0, 3.0, 4.0, f64::NAN], None);
        assert_eq!(s.means(), [2.5]);
        assert!((s.sds()[0] - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(s.apply(0, f64::NAN).is_nan());
        assert!((s.undo(0, s.apply(0, 3.7)) - 3.7).abs() < 1e-15);
    }

    #[test]
    fn weights_equal_repetition_and_weight_zero_drops_the_row() {
        let repeated = learn(&[1.0, 1.0, 1.0, 5.0], None);
        let weighted = learn(&[1.0, 5.0, 99.0], Some(&[3.0, 1.0, 0.0]));
        assert!((repeated.means()[0] - weighted.means()[0]).abs() < 1e-15);
        assert!((repeated.sds()[0] - weighted.sds()[0]).abs() < 1e-15);
    }

    #[test]
    fn constant_columns_become_zero_and_nothing_overflows() {
        let s = learn(&[0.1, 0.1, 0.1], None);
        assert!(s.is_constant(0));
        assert_eq!(s.apply(0, 0.1), 0.0);
        let s = learn(&[f64::MAX, -f64::MAX], None);
        assert!(s.apply(0, f64::MAX).is_finite() && s.sds()[0].is_finite());
        assert!(s.check().is_ok());
        let hostile = Standardiser { means: vec![0.0], sds: vec![f64::NAN], constant: vec![false] };
        assert!(hostile.check().is_err());
        assert!(Standardiser { means: vec![], ..hostile }.check().is_err());
        let s = learn(&[f64::NAN], None);
        assert!(s.is_constant(0));
        assert_eq!(s.apply(0, 2.0), 2.0);
    }
}
