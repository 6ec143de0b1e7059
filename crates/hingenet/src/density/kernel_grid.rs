//! Sums of many Gaussian kernels at many points by way of a grid, in time that hardly grows with the rows. The error is
//! bounded relative to each value, not to the largest one, so it also holds in the tails, where the classifiers read
//! logarithms.
//!
//! Coordinates are in kernel units. Every kernel is handed to the 8 x 8 nodes around its centre by Lagrange interpolation of
//! degree 7, the nodes' kernels are added (two one-dimensional convolutions), and a query reads its 8 x 8 nodes the same way.
//!
//! Interpolating `exp(-u²/2)` with step δ at |u| <= U costs at most `(43.1/8!) δ⁸ max|He₈| exp(4δU)` of the value itself: the
//! remainder of degree 7 is `Π(t - t_k) f⁽⁸⁾/8!`, the product is at most (3.5 · 2.5 · 1.5 · 0.5)² δ⁸ in the middle cell, and within
//! the stencil the kernel grows at most by `exp(4δU)`. It happens on two axes, at the centre and at the query.

use crate::numeric::simd::vectorised;

/// Nodes of a stencil along one axis.
const STENCIL: usize = 8;

/// Largest relative error, from interpolation and from kernels beyond the reach each half.
pub(super) const TOLERANCE: f64 = 1e-4;

/// Most nodes of a grid.
const MOST_NODES: f64 = 4_194_304.0;

/// A kernel of the direct sum takes about as long as this many multiplications of the grid.
const KERNEL_COST: f64 = 12.0;

/// Relative error of the interpolation for kernels up to `reach` away.
fn bound(step: f64, reach: f64) -> f64 {
    let u = reach + 4.0 * step;
    let hermite = u.powi(8) + 28.0 * u.powi(6) + 210.0 * u.powi(4) + 420.0 * u.powi(2) + 105.0;
    let growth = (4.0 * step * u).exp();
    let once = 43.07 / 40_320.0 * step.powi(8) * hermite * growth;
    // Two axes; at the query the error of the centres is read with weights of absolute sum below 2.
    2.0 * once * (1.0 + 2.0 * growth)
}

/// The largest step whose bound is half the tolerance.
fn step_for(reach: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if bound(middle, reach) > 0.5 * TOLERANCE { high = middle } else { low = middle }
    }
    low
}

/// Nodes along one axis.
#[derive(Debug, Clone, Copy)]
struct Side {
    start: f64,
    step: f64,
    nodes: usize,
}

impl Side {
    /// Covers all centres and the queries that a kernel reaches, with room for the stencils.
    fn new(centres: &[f64], queries: &[f64], step: f64, reach: f64) -> Side {
        let ends = |v: &[f64]| {
            let low = v.iter().copied().fold(f64::INFINITY, f64::min);
            (low, v.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        };
        let ((low, high), (first, last)) = (ends(centres), ends(queries));
        let low = low.min(first.max(low - reach)) - 4.0 * step;
        let high = high.max(last.min(high + reach)) + 4.0 * step;
        Side { start: low, step, nodes: ((high - low) / step).ceil() as usize + 5 }
    }

    /// First node of the stencil around a position and its weights; `None` outside the grid.
    #[inline(always)]
    fn stencil(&self, at: f64) -> Option<(usize, [f64; STENCIL])> {
        let t = (at - self.start) / self.step;
        let first = t.floor() - 3.0;
        // A position that is not a number is outside too.
        if !(first >= 0.0 && first + STENCIL as f64 <= self.nodes as f64) {
            return None;
        }
        Some((first as usize, lagrange(t - first)))
    }
}

/// Weights of the nodes 0..=7 at `t`, in the middle cell (3 <= t < 4).
#[inline(always)]
fn lagrange(t: f64) -> [f64; STENCIL] {
    // (-1)^(7-k) / (k! (7-k)!)
    const SCALE: [f64; STENCIL] = [
        -1.0 / 5040.0,
        1.0 / 720.0,
        -1.0 / 240.0,
        1.0 / 144.0,
        -1.0 / 144.0,
        1.0 / 240.0,
        -1.0 / 720.0,
        1.0 / 5040.0,
    ];
    let d: [f64; STENCIL] = std::array::from_fn(|k| t - k as f64);
    std::array::from_fn(|k| {
        let others = (0..STENCIL).filter(|j| *j != k).map(|j| d[j]).product::<f64>();
        SCALE[k] * others
    })
}

/// `Σ_i w_i exp(-½ |q - c_i|²)` at every query, or `None` where the direct sum is cheaper. A kernel farther than `reach` away
/// along an axis counts nothing; every other one is right to half of [`TOLERANCE`].
pub(super) fn grid_sums(
    centres: (&[f64], &[f64]),
    weights: &[f64],
    queries: (&[f64], &[f64]),
    reach: f64,
) -> Option<Vec<f64>> {
    let step = step_for(reach);
    let first = Side::new(centres.0, queries.0, step, reach);
    let second = Side::new(centres.1, queries.1, step, reach);
    let lags = (reach / step).ceil() as usize + STENCIL;
    let nodes = first.nodes as f64 * second.nodes as f64;
    let direct = KERNEL_COST * weights.len() as f64 * queries.0.len() as f64;
    if nodes > MOST_NODES || nodes * (4 * lags) as f64 > direct {
        return None;
    }
    let kernel: Vec<f64> = (0..=lags).map(|k| (-0.5 * (k as f64 * step).powi(2)).exp()).collect();
    let width = second.nodes;
    let mut grid = vec![0.0; first.nodes * width];
    for (i, w) in weights.iter().enumerate() {
        let (Some((row, a)), Some((col, b))) = (first.stencil(centres.0[i]), second.stencil(centres.1[i]))
        else {
            continue;
        };
        for (k, a) in a.iter().enumerate() {
            let cells = &mut grid[(row + k) * width + col..][..STENCIL];
            cells.iter_mut().zip(b).for_each(|(g, b)| *g += w * a * b);
        }
    }
    let grid = convolved(&grid, width, &kernel);
    let read = |q: usize| match (first.stencil(queries.0[q]), second.stencil(queries.1[q])) {
        (Some((row, a)), Some((col, b))) => {
            let along = |k: usize| {
                let cells = &grid[(row + k) * width + col..][..STENCIL];
                cells.iter().zip(b).map(|(g, b)| g * b).sum::<f64>()
            };
            a.iter().enumerate().map(|(k, a)| a * along(k)).sum::<f64>().max(0.0)
        }
        _ => 0.0,
    };
    Some((0..queries.0.len()).map(read).collect())
}

/// Convolution along both axes; rows of zeros cost nothing.
fn convolved(grid: &[f64], width: usize, kernel: &[f64]) -> Vec<f64> {
    let rows = grid.len() / width;
    let mut along = vec![0.0; grid.len()];
    let mut out = vec![0.0; grid.len()];
    vectorised(
        #[inline(always)]
        || {
            for r in 0..rows {
                let from = &grid[r * width..(r + 1) * width];
                if from.iter().all(|v| *v == 0.0) {
                    continue;
                }
                let to = &mut along[r * width..(r + 1) * width];
                for (c, value) in from.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    let (low, high) = (c.saturating_sub(kernel.len() - 1), (c + kernel.len()).min(width));
                    for (t, k) in to[c..high].iter_mut().zip(kernel) {
                        *t = value.mul_add(*k, *t);
                    }
                    for (t, k) in to[low..c].iter_mut().rev().zip(&kernel[1..]) {
                        *t = value.mul_add(*k, *t);
                    }
                }
                let (low, high) = (r.saturating_sub(kernel.len() - 1), (r + kernel.len()).min(rows));
                for other in low..high {
                    let k = kernel[other.abs_diff(r)];
                    let target = &mut out[other * width..(other + 1) * width];
                    for (t, v) in target.iter_mut().zip(&along[r * width..(r + 1) * width]) {
                        *t = k.mul_add(*v, *t);
                    }
                }
            }
        },
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::Random;

    #[test]
    fn every_value_is_within_the_tolerance_also_in_the_tails() {
        let mut random = Random::new(8);
        let draw = |random: &mut Random, n: usize, scale: f64| -> Vec<f64> {
            (0..n).map(|_| scale * random.normal()).collect()
        };
        let (x, y) = (draw(&mut random, 3000, 4.0), draw(&mut random, 3000, 3.0));
        let weights: Vec<f64> = (0..3000).map(|i| 1.0 + (i % 3) as f64).collect();
        // Half of the queries lie far outside.
        let (qx, qy) = (draw(&mut random, 40_000, 9.0), draw(&mut random, 40_000, 7.0));
        let reach = 8.0;
        let sums = grid_sums((&x, &y), &weights, (&qx, &qy), reach).unwrap();
        let m: f64 = weights.iter().sum();
        let lost = m * f64::exp(-0.5 * reach * reach);
        let mut in_tail = 0;
        for q in (0..40_000).step_by(14) {
            let term =
                |i: usize| weights[i] * f64::exp(-0.5 * ((qx[q] - x[i]).powi(2) + (qy[q] - y[i]).powi(2)));
            let exact: f64 = (0..3000).map(term).sum();
            assert!((sums[q] - exact).abs() <= TOLERANCE * exact + lost, "{q}: {} {exact}", sums[q]);
            in_tail += usize::from(exact < 1e-4 && exact > 100.0 * lost);
        }
        assert!(in_tail > 50, "{in_tail}");
    }

    #[test]
    fn few_queries_are_summed_directly() {
        assert!(grid_sums((&[0.0, 1.0], &[0.0, 1.0]), &[1.0, 1.0], (&[0.5], &[0.5]), 7.0).is_none());
    }
}
