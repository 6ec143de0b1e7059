//! Mixtures of normal distributions: their moments, quantiles, and what a number drawn from one tells of the class.

use super::Posterior;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_data::belief::{Normal, NormalPair, grid_moments, moments};
use statrs::distribution::{ContinuousCDF, Normal as Distribution};

/// Probabilities of the quantiles that are told.
const QUANTILES: [f64; 3] = [0.05, 0.5, 0.95];
/// Deviations beyond which a normal distribution has no mass to speak of.
const REACH: f64 = 8.0;
/// Most steps of the integral between two of these points, and of all together.
const MOST_STEPS: usize = 64;
const ALL_STEPS: usize = 2048;
/// Steps of a double integral to each side, and their length in deviations.
const SIDE: i32 = 16;
const STEP: f64 = 0.5;

/// Moments and quantiles of a mixture.
pub(super) fn posterior(normals: &[Normal]) -> Posterior {
    let (mean, sd) = moments(normals);
    Posterior::Number { mean, sd, quantiles: QUANTILES.map(|p| quantile(normals, p)) }
}

/// Moments of points with `k` masses each, and the first points that reach the quantiles.
pub(super) fn grid_posterior(at: &[f64], joint: &[f64], k: usize) -> Posterior {
    let (mean, sd) = grid_moments(at, joint, k);
    let quantile = |p: f64| {
        let mut below = 0.0;
        let reached = at.iter().zip(joint.chunks_exact(k)).find(|(_, row)| {
            below += row.iter().sum::<f64>();
            below >= p
        });
        reached.map(|(x, _)| x).or(at.last()).copied().unwrap_or(mean)
    };
    Posterior::Number { mean, sd, quantiles: QUANTILES.map(quantile) }
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
    let steps = (ALL_STEPS / cuts.len()).clamp(4, MOST_STEPS) / 2 * 2;
    let pieces = cuts.windows(2).map(|ends| simpson(ends[0], ends[1], steps, &integrand));
    pieces.sum::<f64>().min(entropy).max(0.0)
}

/// Simpson's rule with an even number of steps.
fn simpson(a: f64, b: f64, steps: usize, f: &impl Fn(f64) -> f64) -> f64 {
    let h = (b - a) / steps as f64;
    let weight = |k: usize| match k {
        0 => 1.0,
        k if k == steps => 1.0,
        k if k % 2 == 1 => 4.0,
        _ => 2.0,
    };
    (0..=steps).map(|k| weight(k) * f(a + k as f64 * h)).sum::<f64>() * h / 3.0
}

/// `I(X; Y) = Σ_m w_m E_m[ln p(x, y) − ln p(x) − ln p(y)]` in nats of a mixture, each expectation by the trapezoid
/// rule along the deviations of its part. A number that is certain tells nothing.
pub(super) fn pair_information(parts: &[NormalPair]) -> f64 {
    let parts: Vec<NormalPair> = parts.iter().copied().filter(|p| p.weight > 0.0).collect();
    if parts.iter().any(|p| p.sd.contains(&0.0)) {
        return 0.0;
    }
    let rest = |p: &NormalPair| (1.0 - p.correlation * p.correlation).max(1e-12).sqrt();
    let alone = |p: &NormalPair, e: usize, x: f64| {
        let z = (x - p.mean[e]) / p.sd[e];
        -0.5 * z * z - p.sd[e].ln()
    };
    let mixed = |log: &dyn Fn(&NormalPair) -> f64| -> f64 {
        log_sum_exp(&parts.iter().map(|p| p.weight.ln() + log(p)).collect::<Vec<f64>>())
    };
    let both = |p: &NormalPair, x: f64, y: f64| {
        let z = (x - p.mean[0]) / p.sd[0];
        let v = ((y - p.mean[1]) / p.sd[1] - p.correlation * z) / rest(p);
        -0.5 * (z * z + v * v) - p.sd[0].ln() - p.sd[1].ln() - rest(p).ln()
    };
    let mut nats = 0.0;
    for p in &parts {
        for a in -SIDE..=SIDE {
            let z = f64::from(a) * STEP;
            let x = p.mean[0] + p.sd[0] * z;
            let of_x = mixed(&|q| alone(q, 0, x));
            for b in -SIDE..=SIDE {
                let v = f64::from(b) * STEP;
                let y = p.mean[1] + p.sd[1] * (p.correlation * z + rest(p) * v);
                let mass = p.weight * STEP * STEP / std::f64::consts::TAU * (-0.5 * (z * z + v * v)).exp();
                nats += mass * (mixed(&|q| both(q, x, y)) - of_x - mixed(&|q| alone(q, 1, y)));
            }
        }
    }
    nats.max(0.0)
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
        // weights that add up to a little more than 1: the entropy of one class is a little below 0
        assert_eq!(information(&[normal(0, 1.0f64.next_up(), 1.0, 2.0), normal(1, 0.0, 1.0, 2.0)], 2), 0.0);
    }

    #[test]
    fn information_of_two_numbers() {
        let pair = |weight: f64, mean: [f64; 2], correlation: f64| NormalPair {
            weight,
            mean,
            sd: [2.0, 0.5],
            correlation,
        };
        // one normal distribution: -ln(1 - rho^2) / 2
        let one = pair_information(&[pair(1.0, [3.0, -1.0], 0.8)]);
        assert!((one + 0.5 * (1.0f64 - 0.64).ln()).abs() < 1e-9, "{one}");
        // two parts far apart: which of them it is, and what they tell themselves
        let far = pair_information(&[pair(0.5, [-50.0, 40.0], 0.8), pair(0.5, [50.0, -40.0], 0.0)]);
        assert!((far - 2f64.ln() - 0.5 * one).abs() < 1e-9, "{far}");
        // two parts near each other, against a sum over many small steps
        let near = [pair(0.3, [0.0, 0.0], 0.5), pair(0.7, [2.0, 0.5], -0.2)];
        let density = |x: f64, y: f64| -> [f64; 3] {
            let mut all = [0.0; 3];
            for p in &near {
                let (u, v) = ((x - p.mean[0]) / p.sd[0], (y - p.mean[1]) / p.sd[1]);
                let d = 1.0 - p.correlation * p.correlation;
                let q = (u * u - 2.0 * p.correlation * u * v + v * v) / d;
                all[0] += p.weight * (-0.5 * q).exp() / (std::f64::consts::TAU * d.sqrt());
                all[1] += p.weight * (-0.5 * u * u).exp() / std::f64::consts::TAU.sqrt();
                all[2] += p.weight * (-0.5 * v * v).exp() / std::f64::consts::TAU.sqrt();
            }
            all
        };
        let (n, mut fine) = (600, 0.0);
        for a in 0..n {
            for b in 0..n {
                let (x, y) =
                    (-16.0 + 34.0 * (a as f64 + 0.5) / n as f64, -4.0 + 8.5 * (b as f64 + 0.5) / n as f64);
                let [both, alone, other] = density(x, y);
                fine += both * (both / (alone * other)).ln() * 34.0 / 2.0 * 8.5 / 0.5 / (n * n) as f64;
            }
        }
        assert!((pair_information(&near) - fine).abs() < 1e-7, "{} {fine}", pair_information(&near));
    }
}
