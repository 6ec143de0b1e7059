//! The functionals `ψ_(r1,r2)(g) = n⁻² Σ_i Σ_j φ_g^(r1)(u1) φ_g^(r2)(u2)`, u = z_i - z_j, of pairs of
//! values with an isotropic pilot g, all multi-indices of one even order at once.

use super::EXACT_ROWS;
use super::functionals::occupied_bins;
use super::plane_spectrum::{spectral_functionals, work};
use crate::estimate::sample::{PairSample, Sample};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::simd::{LANES, fused_exp, vectorised};

/// Most occupied bins of an axis before the exact sum is used instead.
const MOST_BINS: usize = 1024;

/// A pair of rows of the exact sum takes as long as this many multiplications of a matrix product.
const PAIR_COST: f64 = 30.0;

/// `ψ_(m,0), ψ_(m-1,1), ..., ψ_(0,m)` for order m = 4 or 6: from the characteristic function unless the data are few or reach
/// so far that this is slower than the sum over pairs of rows; many such rows are binned.
pub(crate) fn plane_functionals(z: &PairSample, order: usize, g: f64) -> Vec<f64> {
    let pairs = 0.5 * (z.len() * z.len()) as f64;
    if work(z, g) < PAIR_COST * pairs {
        return spectral_functionals(z, order, g);
    }
    if z.len() > EXACT_ROWS
        && let Some(values) = binned(z, order, g)
    {
        return values;
    }
    pairwise_functionals(z, order, g)
}

/// The sum over all pairs of rows.
fn pairwise_functionals(z: &PairSample, order: usize, g: f64) -> Vec<f64> {
    let scale = 1.0 / (z.total() * z.total() * std::f64::consts::TAU * g.powi(order as i32 + 2));
    let mut sums = if order == 4 { pair_sums::<5>(z, g) } else { pair_sums::<7>(z, g) };
    sums.iter_mut().for_each(|s| *s *= scale);
    sums
}

fn pair_sums<const N: usize>(z: &PairSample, g: f64) -> Vec<f64> {
    let sums = vectorised(
        #[inline(always)]
        || exact::<N>(z.x(), z.y(), z.weights(), g),
    );
    sums.to_vec()
}

/// Sums of `He_{m-k}(t1) He_k(t2) e^{-|t|²/2}` over all pairs, k = 0..=m, N = m + 1. The odd signs of the
/// derivatives cancel because m is even.
#[inline(always)]
fn exact<const N: usize>(x: &[f64], y: &[f64], w: &[f64], g: f64) -> [f64; N] {
    let inverse = 1.0 / g;
    let mut off_diagonal = [0.0; N];
    for i in 1..x.len() {
        let mut sums = [[0.0; LANES]; N];
        let blocks = i / LANES;
        for b in 0..blocks {
            let at = b * LANES;
            let (mut s, mut t) = ([0.0; LANES], [0.0; LANES]);
            for l in 0..LANES {
                s[l] = (x[i] - x[at + l]) * inverse;
                t[l] = (y[i] - y[at + l]) * inverse;
            }
            accumulate::<N>(&s, &t, &w[at..at + LANES], &mut sums);
        }
        let at = blocks * LANES;
        if at < i {
            // The rest, padded with terms of weight zero.
            let (mut s, mut t, mut v) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            for (l, j) in (at..i).enumerate() {
                s[l] = (x[i] - x[j]) * inverse;
                t[l] = (y[i] - y[j]) * inverse;
                v[l] = w[j];
            }
            accumulate::<N>(&s, &t, &v, &mut sums);
        }
        for k in 0..N {
            off_diagonal[k] += w[i] * sums[k].iter().sum::<f64>();
        }
    }
    let squares: f64 = w.iter().map(|w| w * w).sum();
    let zero = hermite_all::<N>(&[0.0; LANES]);
    std::array::from_fn(|k| 2.0 * off_diagonal[k] + squares * zero[N - 1 - k][0] * zero[k][0])
}

#[inline(always)]
fn accumulate<const N: usize>(s: &[f64; LANES], t: &[f64; LANES], w: &[f64], sums: &mut [[f64; LANES]; N]) {
    let mut e = [0.0; LANES];
    for l in 0..LANES {
        e[l] = w[l] * fused_exp(-0.5 * s[l].mul_add(s[l], t[l] * t[l]));
    }
    let (hs, ht) = (hermite_all::<N>(s), hermite_all::<N>(t));
    for k in 0..N {
        for l in 0..LANES {
            sums[k][l] = (e[l] * hs[N - 1 - k][l]).mul_add(ht[k][l], sums[k][l]);
        }
    }
}

/// `He_0 .. He_{N-1}` by `He_{k+1}(t) = t He_k(t) - k He_{k-1}(t)`.
#[inline(always)]
fn hermite_all<const N: usize>(t: &[f64; LANES]) -> [[f64; LANES]; N] {
    let mut he = [[1.0; LANES]; N];
    he[1] = *t;
    for k in 1..N - 1 {
        for l in 0..LANES {
            he[k + 1][l] = t[l].mul_add(he[k][l], -(k as f64) * he[k - 1][l]);
        }
    }
    he
}

/// `n⁻² Σ C ∘ (T_r1 C T_r2')`: C holds the bin counts, T_r the kernel derivatives between bins. Bins have
/// width g/8 and the kernel is narrowed by the variance binning adds (δ²/3 for each axis); rows and
/// columns of C without counts are left out, so outliers cost nothing.
fn binned(z: &PairSample, order: usize, g: f64) -> Option<Vec<f64>> {
    let step = g / 8.0;
    let narrowed = (g * g - step * step / 3.0).sqrt();
    let (rows, cols) = (axis_bins(&z.axes[0], step), axis_bins(&z.axes[1], step));
    if rows.len() > MOST_BINS || cols.len() > MOST_BINS {
        return None;
    }
    let counts = pair_counts(z, step, &rows, &cols);
    let toeplitz = |bins: &[i64], r: usize| {
        Matrix::from_fn(bins.len(), bins.len(), |i, j| {
            let t = (bins[i] - bins[j]) as f64 * step / narrowed;
            hermite_any(r, t) * (-0.5 * t * t).exp()
        })
    };
    let scale = 1.0 / (z.total() * z.total() * std::f64::consts::TAU * narrowed.powi(order as i32 + 2));
    let value = |k: usize| {
        let left = toeplitz(&rows, order - k).mul(&counts);
        let both = left.mul_transpose(&toeplitz(&cols, k));
        let sum: f64 = both.data().iter().zip(counts.data()).map(|(a, c)| a * c).sum();
        scale * sum
    };
    Some((0..=order).map(value).collect())
}

fn hermite_any(r: usize, t: f64) -> f64 {
    let (mut before, mut he) = (0.0, 1.0);
    for k in 0..r {
        (before, he) = (he, t * he - k as f64 * before);
    }
    he
}

/// Occupied bin numbers of an axis, ascending.
fn axis_bins(axis: &Sample, step: f64) -> Vec<i64> {
    let mut bins: Vec<i64> = occupied_bins(axis, step).into_iter().map(|(b, _)| b).collect();
    bins.dedup();
    bins
}

fn pair_counts(z: &PairSample, step: f64, rows: &[i64], cols: &[i64]) -> Matrix {
    let lowest = |v: &[f64]| v.iter().copied().fold(f64::INFINITY, f64::min);
    let (x0, y0) = (lowest(z.x()), lowest(z.y()));
    let place = |bins: &[i64], bin: i64| bins.binary_search(&bin).unwrap_or(0);
    let mut counts = Matrix::zeros(rows.len(), cols.len());
    for i in 0..z.len() {
        let (s, t) = ((z.x()[i] - x0) / step, (z.y()[i] - y0) / step);
        for (bin_x, part_x) in [(s.floor(), 1.0 - s.fract()), (s.floor() + 1.0, s.fract())] {
            for (bin_y, part_y) in [(t.floor(), 1.0 - t.fract()), (t.floor() + 1.0, t.fract())] {
                let at = (place(rows, bin_x as i64), place(cols, bin_y as i64));
                counts[at] += z.weights()[i] * part_x * part_y;
            }
        }
    }
    counts
}

/// All functionals of one order when each axis is standard normal and the axes are independent.
pub(crate) fn normal_plane_functionals(order: usize) -> Vec<f64> {
    use super::functionals::normal_functional;
    (0..=order).map(|k| normal_functional(order - k) * normal_functional(k)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_and_the_characteristic_function_agree_with_the_sum_over_pairs() {
        let sample = PairSample::drawn(2000, 5, |x, noise| x * x - 1.0 + 0.5 * noise);
        let mut z = sample.mapped([1.0, 0.2, -0.1, 0.7]);
        z = PairSample::new(z.x().to_vec(), z.y().to_vec());
        for (order, g) in [(4, 0.4), (6, 0.5)] {
            let exact = pairwise_functionals(&z, order, g);
            let largest = exact.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            for (a, b) in binned(&z, order, g).unwrap().iter().zip(&exact) {
                assert!((a - b).abs() < 1e-3 * largest, "{a} {b}");
            }
            for (a, b) in spectral_functionals(&z, order, g).iter().zip(&exact) {
                assert!((a - b).abs() < 1e-10 * largest, "{a} {b}");
            }
        }
    }
}
