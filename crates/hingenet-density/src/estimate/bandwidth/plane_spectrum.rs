//! The functionals `ψ_(r1,r2)(g)` of pairs of values from their empirical characteristic function: with
//! `P(ω) = |Σ_j w_j e^{iω·z_j}|²`
//!
//! ```text
//! ψ_(r1,r2)(g) = n⁻² (2π)⁻² ∫∫ (iω₁)^r1 (iω₂)^r2 exp(-g²|ω|²/2) P(ω) dω
//! ```
//!
//! The trapezoidal rule with step Δ gives this exactly for data repeated with period 2π/Δ, so it is as good as the kernel is
//! small at the distance of the next copy. P on all frequencies is one matrix product, linear in the rows.

use crate::estimate::sample::PairSample;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::simd::vectorised;

/// Pilots between the data and their next copy, and the highest frequency times the pilot: derivatives of the kernel up to the
/// sixth are below 3e-10 of their largest value there.
const REACH: f64 = 8.0;

/// Rows of one matrix product.
const BLOCK: usize = 512;

/// Frequencies `0, Δ, 2Δ, ..., FΔ` of one axis.
#[derive(Debug, Clone, Copy)]
struct Frequencies {
    middle: f64,
    step: f64,
    count: f64,
}

impl Frequencies {
    fn of(values: &[f64], g: f64) -> Frequencies {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let step = std::f64::consts::TAU / (high - low + REACH * g);
        Frequencies { middle: 0.5 * (low + high), step, count: (REACH / (g * step)).ceil() + 1.0 }
    }

    /// Rows `cos kΔz`, then rows `sin kΔz`, of the given values; each value turns by its own angle from row to row.
    fn waves(&self, values: &[f64], weights: Option<&[f64]>) -> Matrix {
        let (count, n) = (self.count as usize, values.len());
        let angles: Vec<f64> = values.iter().map(|z| (z - self.middle) * self.step).collect();
        let (c, s): (Vec<f64>, Vec<f64>) = angles.iter().map(|a| (a.cos(), a.sin())).unzip();
        let mut out = Matrix::zeros(2 * count, n);
        let (cosines, sines) = out.data_mut().split_at_mut(count * n);
        cosines[..n].copy_from_slice(weights.unwrap_or(&vec![1.0; n]));
        vectorised(
            #[inline(always)]
            || {
                for k in 1..count {
                    let ((c0, c1), (s0, s1)) =
                        (cosines[(k - 1) * n..].split_at_mut(n), sines[(k - 1) * n..].split_at_mut(n));
                    for i in 0..n {
                        c1[i] = c[i].mul_add(c0[i], -s[i] * s0[i]);
                        s1[i] = c[i].mul_add(s0[i], s[i] * c0[i]);
                    }
                }
            },
        );
        out
    }

    /// `ω^r exp(-g²ω²/2) Δ/2π` of every frequency.
    fn weights(&self, r: usize, g: f64) -> Vec<f64> {
        let weight = |k: usize| {
            let omega = k as f64 * self.step;
            omega.powi(r as i32) * (-0.5 * (g * omega).powi(2)).exp() * self.step / std::f64::consts::TAU
        };
        (0..self.count as usize).map(weight).collect()
    }
}

/// Multiplications for all functionals of one order.
pub(super) fn work(z: &PairSample, g: f64) -> f64 {
    let (first, second) = (Frequencies::of(z.x(), g), Frequencies::of(z.y(), g));
    4.0 * z.len() as f64 * (first.count * second.count + first.count + second.count)
}

/// `ψ_(m,0), ψ_(m-1,1), ..., ψ_(0,m)` for even order m <= 6.
pub(super) fn spectral_functionals(z: &PairSample, order: usize, g: f64) -> Vec<f64> {
    let (first, second) = (Frequencies::of(z.x(), g), Frequencies::of(z.y(), g));
    let (f1, f2) = (first.count as usize, second.count as usize);
    let mut sums = Matrix::zeros(2 * f1, 2 * f2);
    for rows in (0..z.len()).step_by(BLOCK).map(|at| at..(at + BLOCK).min(z.len())) {
        let x = first.waves(&z.x()[rows.clone()], Some(&z.weights()[rows.clone()]));
        let part = x.mul_transpose(&second.waves(&z.y()[rows], None));
        sums.data_mut().iter_mut().zip(part.data()).for_each(|(s, p)| *s += p);
    }
    let (mut even, mut odd) = (Matrix::zeros(f1, f2), Matrix::zeros(f1, f2));
    for k in 0..f1 {
        for l in 0..f2 {
            // Σ of the products of cosines and sines of the two axes give P at (ω₁, ω₂) and at (ω₁, -ω₂).
            let (cc, cs) = (sums[(k, l)], sums[(k, f2 + l)]);
            let (sc, ss) = (sums[(f1 + k, l)], sums[(f1 + k, f2 + l)]);
            let plus = (cc - ss).powi(2) + (sc + cs).powi(2);
            let minus = (cc + ss).powi(2) + (sc - cs).powi(2);
            // P is even, so frequencies with ω₁ > 0 stand for two; those with ω₂ = 0 are in both sums.
            let times = if k == 0 { 1.0 } else { 2.0 } * if l == 0 { 0.5 } else { 1.0 };
            even[(k, l)] = times * (plus + minus);
            odd[(k, l)] = times * (plus - minus);
        }
    }
    let sign = if order.is_multiple_of(4) { 1.0 } else { -1.0 };
    let value = |r2: usize| {
        let p = if r2.is_multiple_of(2) { &even } else { &odd };
        let along = p.mul_vec(&second.weights(r2, g));
        let sum: f64 = first.weights(order - r2, g).iter().zip(along).map(|(u, v)| u * v).sum();
        sign * sum / (z.total() * z.total())
    };
    (0..=order).map(value).collect()
}
