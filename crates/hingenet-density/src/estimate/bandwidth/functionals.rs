//! Sums over all pairs of values: the density functionals
//! `ψ_r(g) = n⁻² Σ_i Σ_j φ_g^(r)(z_i - z_j)` behind plug-in bandwidths, diagonal terms included.

use super::EXACT_ROWS;
use crate::estimate::sample::Sample;
use hingenet_base::numeric::simd::{exp, vectorised};

/// Probabilists' Hermite polynomial of even degree up to 6.
#[inline(always)]
pub(crate) fn hermite_even(r: usize, u: f64) -> f64 {
    let t = u * u;
    match r {
        0 => 1.0,
        2 => t - 1.0,
        4 => (t - 6.0) * t + 3.0,
        _ => ((t - 15.0) * t + 45.0) * t - 15.0,
    }
}

/// `φ^(r)(0)` for even r up to 8: `(-1)^(r/2) (r-1)!! / √(2π)`.
pub(crate) fn kernel_derivative_at_zero(r: usize) -> f64 {
    let double_factorial: f64 = (1..r).step_by(2).map(|k| k as f64).product();
    let sign = if r.is_multiple_of(4) { 1.0 } else { -1.0 };
    sign * double_factorial / std::f64::consts::TAU.sqrt()
}

/// `ψ_r` of a normal distribution with unit variance: `(-1)^(r/2) r! / (2^(r+1) (r/2)! √π)`; 0 for odd r.
pub(crate) fn normal_functional(r: usize) -> f64 {
    if r % 2 == 1 {
        return 0.0;
    }
    let factorial = |k: usize| (1..=k).map(|i| i as f64).product::<f64>();
    let sign = if r.is_multiple_of(4) { 1.0 } else { -1.0 };
    sign * factorial(r) / (2f64.powi(r as i32 + 1) * factorial(r / 2) * std::f64::consts::PI.sqrt())
}

/// `φ_g^(R)(u) = He_R(u/g) φ(u/g) / g^(R+1)` for even R, as a function of u.
#[inline(always)]
fn kernel_derivative<const R: usize>(g: f64) -> impl Fn(f64) -> f64 {
    let height = std::f64::consts::TAU.sqrt() * g.powi(R as i32 + 1);
    #[inline(always)]
    move |u| {
        let t = u / g;
        hermite_even(R, t) * exp(-0.5 * t * t) / height
    }
}

/// The functional `ψ_R(g)` of a sample: term by term up to 1000 rows, on fine bins above.
pub(crate) fn functional<const R: usize>(z: &Sample, g: f64) -> f64 {
    let reach = (4.0 + R as f64) * g;
    pair_sum(z, g, reach, kernel_derivative::<R>) / (z.total * z.total)
}

/// `Σ_i Σ_j w_i w_j k_g(z_i - z_j)` for a symmetric kernel of width g that is negligible beyond `reach`.
pub(crate) fn pair_sum<K: Fn(f64) -> f64>(z: &Sample, g: f64, reach: f64, kernel: impl Fn(f64) -> K) -> f64 {
    if z.len() <= EXACT_ROWS {
        let kernel = kernel(g);
        vectorised(
            #[inline(always)]
            || exact_pair_sum(&z.values, &z.weights, &kernel),
        )
    } else {
        binned_pair_sum(z, g, reach, kernel)
    }
}

#[inline(always)]
fn exact_pair_sum(z: &[f64], w: &[f64], kernel: impl Fn(f64) -> f64) -> f64 {
    let diagonal: f64 = w.iter().map(|w| w * w).sum::<f64>() * kernel(0.0);
    let mut total = 0.0;
    for i in 1..z.len() {
        let (x, left, weights) = (z[i], &z[..i], &w[..i]);
        let mut sums = [0.0f64; 8];
        let (l8, w8) = (left.chunks_exact(8), weights.chunks_exact(8));
        let tail: f64 = l8.remainder().iter().zip(w8.remainder()).map(|(v, w)| w * kernel(x - v)).sum();
        for (v, w) in l8.zip(w8) {
            for k in 0..8 {
                sums[k] += w[k] * kernel(x - v[k]);
            }
        }
        total += w[i] * (sums.iter().sum::<f64>() + tail);
    }
    diagonal + 2.0 * total
}

/// Bins of width δ = g/16. Linear binning moves a value to its two neighbours, which adds a variance of
/// δ²/6 on average; a pair of values gets δ²/3, so the kernel is narrowed by as much and the error falls
/// from order δ² to order δ⁴. Only occupied bins are stored, so an outlier costs nothing.
fn binned_pair_sum<K: Fn(f64) -> f64>(z: &Sample, g: f64, reach: f64, kernel: impl Fn(f64) -> K) -> f64 {
    let step = g / 16.0;
    let bins = occupied_bins(z, step);
    let kernel = kernel((g * g - step * step / 3.0).sqrt());
    let lags = (reach / step).floor() as i64;
    let table: Vec<f64> = (0..=lags).map(|l| kernel(l as f64 * step)).collect();
    let mut total = 0.0;
    let mut first = 0;
    for (k, (at, count)) in bins.iter().enumerate() {
        while at - bins[first].0 > lags {
            first += 1;
        }
        let left: f64 = bins[first..k].iter().map(|(b, c)| c * table[(at - b) as usize]).sum();
        total += count * (2.0 * left + count * table[0]);
    }
    total
}

/// Linear binning on a grid of spacing `step` from the minimum, occupied points only, ascending.
pub(crate) fn occupied_bins(z: &Sample, step: f64) -> Vec<(i64, f64)> {
    let sorted = z.sorted();
    let origin = sorted.values.first().copied().unwrap_or(0.0);
    let mut bins: Vec<(i64, f64)> = Vec::new();
    let mut add = |bin: i64, weight: f64| {
        // Values ascend, so a bin is one of the last two or new.
        match bins.iter_mut().rev().take(2).find(|(b, _)| *b == bin) {
            Some((_, count)) => *count += weight,
            None => bins.push((bin, weight)),
        }
    };
    for (x, w) in sorted.values.iter().zip(&sorted.weights) {
        let t = (x - origin) / step;
        let low = t.floor();
        add(low as i64, w * (1.0 - (t - low)));
        add(low as i64 + 1, w * (t - low));
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;

    #[test]
    fn bins_agree_with_the_exact_sum() {
        let mut random = Random::new(3);
        let mut values: Vec<f64> = (0..3000).map(|_| random.normal()).collect();
        values[7] = 50.0;
        let sample = Sample::new(values);
        fn check<const R: usize>(sample: &Sample, g: f64) {
            let kernel = kernel_derivative::<R>;
            let exact = exact_pair_sum(&sample.values, &sample.weights, kernel(g));
            let binned = binned_pair_sum(sample, g, (4.0 + R as f64) * g, kernel);
            assert!((binned / exact - 1.0).abs() < 2e-4, "{R}: {binned} {exact}");
        }
        check::<4>(&sample, 0.4);
        check::<6>(&sample, 0.6);
    }

    #[test]
    fn normal_functionals_are_the_known_constants() {
        let root_pi = std::f64::consts::PI.sqrt();
        assert!((normal_functional(4) - 3.0 / (8.0 * root_pi)).abs() < 1e-15);
        assert!((normal_functional(6) + 15.0 / (16.0 * root_pi)).abs() < 1e-15);
        assert!((kernel_derivative_at_zero(4) - 3.0 / std::f64::consts::TAU.sqrt()).abs() < 1e-15);
    }
}
