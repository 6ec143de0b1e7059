//! From class scores to probabilities. One positive factor (two for two-class SVMs, one for each sign)
//! stretches the scores, fitted on out-of-fold scores with Platt's smoothed targets; the most probable
//! class is always the one the scores decide for.

use crate::terms::class_scores;
use hingenet_data::encode::is_moderate;
use hingenet_data::select::calibration::{Targets, temperature};
use hingenet_data::select::criterion::Judged;

/// Factors of the class scores.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Calibration {
    /// One decision value: a factor where it is negative, another where it is positive.
    TwoSlopes {
        /// Factor of negative decision values.
        negative: f64,
        /// Factor of positive decision values.
        positive: f64,
    },
    /// One factor of all class scores.
    Temperature(f64),
}

impl Calibration {
    /// The factor of a row with these outputs.
    pub fn factor(&self, outputs: &[f64]) -> f64 {
        match self {
            Calibration::Temperature(a) => *a,
            Calibration::TwoSlopes { positive, .. } if outputs.first().is_some_and(|d| *d > 0.0) => *positive,
            Calibration::TwoSlopes { negative, .. } => *negative,
        }
    }

    /// Calibrated class scores of a row with these outputs: their softmax is the probability.
    pub fn scores(&self, outputs: &[f64]) -> Vec<f64> {
        let factor = self.factor(outputs);
        class_scores(outputs).into_iter().map(|s| factor * s).collect()
    }

    /// Whether the factors are positive numbers.
    pub fn is_valid(&self) -> bool {
        let positive = |factor: f64| factor > 0.0 && is_moderate(factor);
        match *self {
            Calibration::Temperature(factor) => positive(factor),
            Calibration::TwoSlopes { negative, positive: above } => positive(negative) && positive(above),
        }
    }

    /// Fits the factors to out-of-fold outputs; rows without outputs are skipped. No rows give factor 1.
    pub fn fit(outputs: &[Vec<f64>], class: &[usize], weights: &[f64]) -> Self {
        let scores: Vec<Vec<f64>> = outputs.iter().map(|o| class_scores(o)).collect();
        let judged = |side: &dyn Fn(usize) -> bool| -> Vec<Judged<'_>> {
            let rows = (0..outputs.len()).filter(|&r| !outputs[r].is_empty() && side(r));
            rows.map(|r| (&scores[r][..], class[r], weights[r])).collect()
        };
        let all = judged(&|_| true);
        let mut totals = vec![0.0; scores.iter().map(Vec::len).max().unwrap_or(0)];
        all.iter().for_each(|(_, y, w)| totals[*y] += w);
        let targets = Targets::platt(&totals);
        if outputs.iter().map(Vec::len).max() == Some(1) {
            return Calibration::TwoSlopes {
                negative: factor(&judged(&|r| outputs[r][0] <= 0.0), &targets),
                positive: factor(&judged(&|r| outputs[r][0] > 0.0), &targets),
            };
        }
        Calibration::Temperature(factor(&all, &targets))
    }
}

/// The factor 1/T with the largest likelihood of the targets, sought around the inverse of the mean score spread.
fn factor(rows: &[Judged<'_>], targets: &Targets) -> f64 {
    let largest = |scores: &[f64]| scores.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let spread = rows.iter().map(|(s, _, w)| w * largest(s)).sum::<f64>()
        / rows.iter().map(|(_, _, w)| w).sum::<f64>().max(f64::MIN_POSITIVE);
    if !(spread > 0.0 && spread.is_finite()) {
        return 1.0;
    }
    1.0 / temperature(rows, targets, ((-7f64).exp() / spread, 9f64.exp() / spread))
}
