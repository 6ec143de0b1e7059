//! Mixtures of normal distributions: their moments, quantiles, and what a number drawn from one tells of the class.

use super::Posterior;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_data::belief::{Normal, moments};
use statrs::distribution::{ContinuousCDF, Normal as Distribution};

/// Probabilities of the quantiles that are told.
const QUANTILES: [f64; 3] = [0.05, 0.5, 0.95];
/// Deviations beyond which a normal distribution has no mass to speak of.
const REACH: f64 = 8.0;
/// Steps of the integral between two of these points.
const POINTS: usize = 64;

/// Moments and quantiles of a mixture.
pub(super) fn posterior(normals: &[Normal]) -> Posterior {
    let (mean, sd) = moments(normals);
    Posterior::Number { mean, sd, quantiles: QUANTILES.map(|p| quantile(normals, p)) }
}

/// By bisection between the outermost quantiles of the parts.
fn quantile(normals: &[Normal], p: f64) -> f64 {
    let end = |sign: f64| normals.iter().map(move |n| n.mean + sign * REACH * n.sd);
    let mut low = end(-1.0).fold(f64::INFINITY, f64::min);
    let mut high = end(1.0).fold(f64::NEG_INFINITY, f64::max);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        let below: f64 = normals.iter().map(|n| n.weight * cdf(n, middle)).sum();
        if below < p { low = middle } else { high = middle }
    }
    high
}

fn cdf(normal: &Normal, x: f64) -> f64 {
    match Distribution::new(normal.mean, normal.sd) {
        Ok(distribution) if normal.sd > 0.0 => distribution.cdf(x),
        _ => f64::from(u8::from(x >= normal.mean)),
    }
}

/// `I(C; X) = Σ_c ∫ P(c) p(x | c) ln (P(c | x) / P(c)) dx` in nats, by Simpson's rule between points at which
/// parts have their mass. A number that is certain in every class tells the class wherever it differs.
pub(super) fn information(normals: &[Normal], classes: usize) -> f64 {
    let parts: Vec<Normal> = normals.iter().copied().filter(|n| n.weight > 0.0).collect();
    let mut prior = vec![0.0; classes];
    parts.iter().for_each(|n| prior[n.class] += n.weight);
    let entropy: f64 = prior.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
    if parts.iter().any(|n| n.sd == 0.0) {
        return if parts.iter().all(|n| n.mean == parts[0].mean && n.sd == 0.0) { 0.0 } else { entropy };
    }
    let density = |x: f64, c: usize| -> f64 {
        let log = |n: &Normal| {
            let z = (x - n.mean) / n.sd;
            n.weight.ln() - 0.5 * z * z - n.sd.ln() - 0.5 * std::f64::consts::TAU.ln()
        };
        log_sum_exp(&parts.iter().filter(|n| n.class == c).map(log).collect::<Vec<f64>>())
    };
    let integrand = |x: f64| -> f64 {
        let logs: Vec<f64> = (0..classes).map(|c| density(x, c)).collect();
        let all = log_sum_exp(&logs);
        let term = |(l, p): (&f64, &f64)| if l.is_finite() { l.exp() * (l - all - p.ln()) } else { 0.0 };
        logs.iter().zip(&prior).map(term).sum()
    };
    let mut cuts: Vec<f64> = parts
        .iter()
        .flat_map(|n| [-REACH, -3.0, -1.0, 0.0, 1.0, 3.0, REACH].map(|z| n.mean + z * n.sd))
        .collect();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let pieces = cuts.windows(2).map(|ends| simpson(ends[0], ends[1], &integrand));
    pieces.sum::<f64>().clamp(0.0, entropy)
}

/// Simpson's rule.
fn simpson(a: f64, b: f64, f: &impl Fn(f64) -> f64) -> f64 {
    let h = (b - a) / POINTS as f64;
    let weight = |k: usize| match k {
        0 | POINTS => 1.0,
        k if k % 2 == 1 => 4.0,
        _ => 2.0,
    };
    (0..=POINTS).map(|k| weight(k) * f(a + k as f64 * h)).sum::<f64>() * h / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(class: usize, weight: f64, mean: f64, sd: f64) -> Normal {
        Normal { class, weight, mean, sd }
    }

    #[test]
    fn moments_and_quantiles_of_a_mixture() {
        let two = [normal(0, 0.5, -1.0, 0.5), normal(1, 0.5, 3.0, 0.5)];
        let Posterior::Number { mean, sd, quantiles } = posterior(&two) else { panic!() };
        assert!((mean - 1.0).abs() < 1e-12 && (sd - (0.25f64 + 4.0).sqrt()).abs() < 1e-12);
        // 5 % of the whole are 10 % of the left part, far from the right one
        let z = Distribution::new(0.0, 1.0).unwrap().inverse_cdf(0.1);
        assert!((quantiles[0] - (-1.0 + 0.5 * z)).abs() < 1e-6, "{quantiles:?}");
        let Posterior::Number { quantiles, .. } = posterior(&[normal(0, 1.0, 2.0, 0.0)]) else { panic!() };
        assert!(quantiles.iter().all(|q| (q - 2.0).abs() < 1e-12));
    }

    #[test]
    fn information_of_a_number() {
        let ln2 = 2f64.ln();
        let apart = [normal(0, 0.5, 0.0, 1.0), normal(1, 0.5, 1e4, 3.0)];
        assert!((information(&apart, 2) - ln2).abs() < 1e-9);
        let same = [normal(0, 0.3, 1.0, 2.0), normal(1, 0.7, 1.0, 2.0)];
        assert!(information(&same, 2).abs() < 1e-9);
        // against a sum over many small steps
        let near = [normal(0, 0.5, -1.0, 1.0), normal(1, 0.5, 1.0, 1.0)];
        let fine: f64 = (0..400_000)
            .map(|k| {
                let x = -12.0 + 24.0 * (k as f64 + 0.5) / 400_000.0;
                let p = |m: f64| (-0.5 * (x - m) * (x - m)).exp() / std::f64::consts::TAU.sqrt();
                let (a, b) = (0.5 * p(-1.0), 0.5 * p(1.0));
                let term = |v: f64| if v > 0.0 { v * (v / (a + b) / 0.5).ln() } else { 0.0 };
                (term(a) + term(b)) * 24.0 / 400_000.0
            })
            .sum();
        assert!((information(&near, 2) - fine).abs() < 1e-8, "{} {fine}", information(&near, 2));
        assert_eq!(information(&[normal(0, 0.5, 1.0, 0.0), normal(1, 0.5, 1.0, 0.0)], 2), 0.0);
    }
}
