//! From class scores to probabilities by one scalar, the temperature T: `P(c | x) ∝ exp(S_c(x) / T)`. It moves no
//! decision. T has the smallest log loss on rows that the scores were not learnt from.

use super::criterion::Judged;
use hingenet_base::numeric::log::softmax;

/// What a class should have as its probability.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// 1 for the class of the row.
    Certain,
    /// So much for the class of the row, by class; the others share the rest. Platt's smoothed targets keep the
    /// temperature of separable rows above 0.
    Smoothed(Vec<f64>),
}

impl Targets {
    /// Platt's targets `(N_c + 1) / (N_c + 2)`, with N_c the total weight of class c.
    pub fn platt(class_totals: &[f64]) -> Self {
        Targets::Smoothed(class_totals.iter().map(|n| (n + 1.0) / (n + 2.0)).collect())
    }

    fn of(&self, class: usize) -> f64 {
        match self {
            Targets::Certain => 1.0,
            Targets::Smoothed(targets) => targets[class],
        }
    }
}

/// The temperature with the smallest log loss of `rows`, between `1/high` and `1/low`.
///
/// With β = 1/T the log likelihood `Σ_rows s Σ_c t_c ln P_β(c)` is concave; its slope
/// `Σ s (Σ_c t_c S_c − Σ_c P_β(c) S_c)` is bisected on a logarithmic scale.
pub fn temperature(rows: &[Judged<'_>], targets: &Targets, (low, high): (f64, f64)) -> f64 {
    let slope = |beta: f64| rows.iter().map(|row| row.2 * slope_of(row, targets, beta)).sum::<f64>();
    let (mut low, mut high) = (low.ln(), high.ln());
    // 60 halvings of a few units reach the rounding error of the logarithm.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slope(middle.exp()) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (-0.5 * (low + high)).exp()
}

/// Derivative in β of the log likelihood of one row; 0 for a row whose class is impossible at every temperature.
fn slope_of((scores, class, _): &Judged<'_>, targets: &Targets, beta: f64) -> f64 {
    if !scores[*class].is_finite() {
        return 0.0;
    }
    let mut p: Vec<f64> = scores.iter().map(|s| beta * s).collect();
    softmax(&mut p);
    let own = targets.of(*class);
    let other = (1.0 - own) / (scores.len() - 1).max(1) as f64;
    let term = |(c, (p, s)): (usize, (&f64, &f64))| {
        let wanted = if c == *class { own } else { other };
        // −inf times a probability of 0 is nothing
        if wanted == *p { 0.0 } else { (wanted - p) * s }
    };
    p.iter().zip(scores.iter()).enumerate().map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(scores: &[[f64; 2]], class: &[usize]) -> Vec<Judged<'static>> {
        let leak = |s: &[f64; 2]| -> &'static [f64] { Box::leak(Box::new(*s)) };
        scores.iter().zip(class).map(|(s, c)| (leak(s), *c, 1.0)).collect()
    }

    /// Three of four rows with score difference 2 are right: P = 3/4 needs 2 / T = ln 3.
    #[test]
    fn the_temperature_matches_the_share_of_right_rows() {
        let rows = rows(&[[2.0, 0.0]; 4], &[0, 0, 0, 1]);
        let t = temperature(&rows, &Targets::Certain, (1e-4, 1e4));
        assert!((t - 2.0 / 3f64.ln()).abs() < 1e-12, "{t}");
    }

    #[test]
    fn separable_rows_get_a_tiny_temperature_unless_targets_are_smoothed() {
        let rows = rows(&[[2.0, 0.0], [0.0, 2.0]], &[0, 1]);
        // the slope is 0 in floating-point numbers once exp(−2/T) is below their precision
        assert!(temperature(&rows, &Targets::Certain, (1e-2, 1e2)) < 0.1);
        let smoothed = temperature(&rows, &Targets::platt(&[1.0, 1.0]), (1e-2, 1e2));
        assert!((smoothed - 2.0 / 2f64.ln()).abs() < 1e-12, "{smoothed}");
    }

    #[test]
    fn impossible_rows_do_not_count() {
        let mut rows = rows(&[[2.0, 0.0]; 4], &[0, 0, 0, 1]);
        rows.push((&[f64::NEG_INFINITY, 0.0], 0, 5.0));
        rows.push((&[0.0, f64::NEG_INFINITY], 0, 5.0));
        let t = temperature(&rows, &Targets::Certain, (1e-4, 1e4));
        assert!((t - 2.0 / 3f64.ln()).abs() < 1e-12, "{t}");
    }
}
