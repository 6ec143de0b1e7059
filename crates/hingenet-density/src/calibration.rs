//! From class scores to probabilities. One positive factor (two for two-class SVMs, one for each sign)
//! stretches the scores, fitted on out-of-fold scores with Platt's smoothed targets; the most probable
//! class is always the one the scores decide for.

use hingenet_base::numeric::log::log_normalise;

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
    /// `log P(c)` from outputs.
    pub fn log_proba(&self, outputs: &[f64]) -> Vec<f64> {
        let factor =
            match self {
                Calibration::Temperature(a) => *a,
                Calibration::TwoSlopes { negative, positive } => {
                    if outputs.first().is_some_and(|d| *d > 0.0) { *positive } else { *negative }
                }
            };
        let mut scores: Vec<f64> =
            crate::terms::class_scores(outputs).into_iter().map(|s| factor * s).collect();
        log_normalise(&mut scores);
        scores
    }

    /// Fits the factors to out-of-fold outputs; rows without outputs are skipped. No rows give factor 1.
    pub fn fit(outputs: &[Vec<f64>], class: &[usize], weights: &[f64]) -> Self {
        let n_outputs = outputs.iter().map(Vec::len).max().unwrap_or(0);
        let all: Vec<usize> = (0..outputs.len()).filter(|&r| !outputs[r].is_empty()).collect();
        let targets = smoothed_targets(&all, outputs, class, weights);
        if n_outputs == 1 {
            let side = |positive: bool| -> Vec<usize> {
                all.iter().copied().filter(|&r| (outputs[r][0] > 0.0) == positive).collect()
            };
            return Calibration::TwoSlopes {
                negative: factor(&side(false), outputs, class, weights, &targets),
                positive: factor(&side(true), outputs, class, weights, &targets),
            };
        }
        Calibration::Temperature(factor(&all, outputs, class, weights, &targets))
    }
}

/// `(N_y + 1)/(N_y + 2)`, the target of the own class, for each class.
fn smoothed_targets(rows: &[usize], outputs: &[Vec<f64>], class: &[usize], weights: &[f64]) -> Vec<f64> {
    let k = rows.first().map_or(2, |&r| crate::terms::class_scores(&outputs[r]).len());
    let mut counts = vec![0.0; k];
    rows.iter().for_each(|&r| counts[class[r]] += weights[r]);
    counts.iter().map(|n| (n + 1.0) / (n + 2.0)).collect()
}

/// The factor a > 0 that maximises `Σ_rows Σ_c T_c log P_a(c)`: the likelihood is concave in a, so its slope
/// is bisected on a logarithmic scale around the inverse of the mean score spread.
fn factor(rows: &[usize], outputs: &[Vec<f64>], class: &[usize], weights: &[f64], targets: &[f64]) -> f64 {
    let scores: Vec<(Vec<f64>, usize, f64)> =
        rows.iter().map(|&r| (crate::terms::class_scores(&outputs[r]), class[r], weights[r])).collect();
    let spread = scores.iter().map(|(s, _, w)| w * s.iter().fold(0.0f64, |m, v| m.max(v.abs()))).sum::<f64>()
        / scores.iter().map(|(_, _, w)| w).sum::<f64>().max(f64::MIN_POSITIVE);
    if !(spread > 0.0 && spread.is_finite()) {
        return 1.0;
    }
    let slope =
        |a: f64| -> f64 { scores.iter().map(|(s, y, w)| w * likelihood_slope(s, *y, targets[*y], a)).sum() };
    let (mut low, mut high) = (-7.0f64, 9.0f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slope(middle.exp() / spread) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (0.5 * (low + high)).exp() / spread
}

/// Derivative in a of `Σ_c T_c log P_a(c)`: `Σ_c T_c s_c - Σ_c P_a(c) s_c`.
fn likelihood_slope(scores: &[f64], class: usize, target: f64, a: f64) -> f64 {
    let mut p: Vec<f64> = scores.iter().map(|s| a * s).collect();
    hingenet_base::numeric::log::softmax(&mut p);
    let other = (1.0 - target) / (scores.len() - 1).max(1) as f64;
    let wanted = |c: usize| if c == class { target } else { other };
    (0..scores.len()).map(|c| (wanted(c) - p[c]) * scores[c]).sum()
}
