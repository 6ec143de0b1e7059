//! Sums of many Gaussian kernels at many points, in time that grows with rows plus queries instead of their product, and
//! to nearly ten digits of every value, also in the tails, where the classifiers read logarithms.
//!
//! A Gaussian is a sum of products of two narrower ones at equidistant nodes, by Poisson's summation formula:
//!
//! ```text
//! exp(-½(x - y)²) = √(2/π) δ Σ_k exp(-(x - kδ)²) exp(-(y - kδ)²) (1 + ε),   |ε| <= 2.1 exp(-π²/(2δ²))
//! ```
//!
//! The error is relative to the kernel, however far x and y are apart, and all terms are positive, so nothing cancels. Every
//! row is therefore handed to the nodes around it once, and a query reads the nodes around it. Leaving out the nodes farther
//! than r from x or y costs a kernel at most `1.3 exp(-r²)` of its peak: with u = x - y the terms left out are at most
//! `1.3 exp(-u²/2 - 2(r - |u|/2)²) = 1.3 exp(-r² - (r - |u|)²)`.

use hingenet_base::numeric::simd::{LANES, Simd, WithSimd, fused_exp, vectorised, wide};

/// Distance δ of the nodes in kernel units: ε is below 5.5e-11.
const STEP: f64 = 0.45;

/// Nodes around a position, those left out are at least `r = 16 δ = 7.2` away: enough for sums above 1e-12 of the total weight.
pub(super) const SHORT: usize = 32;

/// Nodes around a position for sums down to 1e-24 of the total weight: `r = 20 δ = 9`.
pub(super) const LONG: usize = 40;

/// Sums above this share of the total weight are right to [`TOLERANCE`]: what the nodes left out cost (`1.3 exp(-r²)` of the
/// total weight on each of two axes) is at most 1e-10 of them. Others come out below twice this share.
pub(super) fn least_share(stencil: usize) -> f64 {
    let r = 0.5 * stencil as f64 * STEP;
    2.6e10 * (-r * r).exp()
}

/// Largest relative error of a sum.
#[cfg(test)]
const TOLERANCE: f64 = 2e-10;

/// Most nodes of a grid.
const MOST_NODES: f64 = 4_194_304.0;

/// Time of a position of the plane and of the line, in kernels of the direct sum.
const POSITION_COST: (f64, f64) = (80.0, 20.0);

/// Nodes a time of one kernel is enough to clear.
const NODES_PER_KERNEL: f64 = 8.0;

/// `Σ_i w_i exp(-½ (q - c_i)²)` at every query, or `None` where the direct sum is cheaper.
pub(super) fn line_sums<const N: usize>(
    centres: &[f64],
    weights: &[f64],
    queries: &[f64],
) -> Option<Vec<f64>> {
    let side = Side::around(centres, N)?;
    if !nodes_pay(side.nodes, weights.len(), queries.len(), POSITION_COST.1) {
        return None;
    }
    let (rows, queries) = (side.places::<N>(centres), side.places::<N>(queries));
    let mut grid = vec![0.0; side.nodes as usize];
    for (i, w) in weights.iter().enumerate() {
        if let Some((first, a)) = rows.stencil(i) {
            grid[first..].iter_mut().zip(a).for_each(|(cell, a)| *cell += w * a);
        }
    }
    let read = |q: usize| match queries.stencil(q) {
        Some((first, a)) => scale() * grid[first..].iter().zip(a).map(|(cell, a)| cell * a).sum::<f64>(),
        None => 0.0,
    };
    Some((0..queries.first.len()).map(read).collect())
}

/// `Σ_i w_i exp(-½ |q - c_i|²)` at every query, or `None` where the direct sum is cheaper.
pub(super) fn plane_sums<const N: usize>(
    centres: (&[f64], &[f64]),
    weights: &[f64],
    queries: (&[f64], &[f64]),
) -> Option<Vec<f64>> {
    let (rows, cols) = (Side::around(centres.0, N)?, Side::around(centres.1, N)?);
    let nodes = rows.nodes * cols.nodes;
    if !nodes_pay(nodes, weights.len(), queries.0.len(), POSITION_COST.0) {
        return None;
    }
    let mut sums = vec![0.0; queries.0.len()];
    wide(PlaneSums {
        width: cols.nodes as usize,
        grid: vec![0.0; nodes as usize],
        centres: [rows.places::<N>(centres.0), cols.places::<N>(centres.1)],
        weights,
        queries: [rows.places::<N>(queries.0), cols.places::<N>(queries.1)],
        sums: &mut sums,
    });
    Some(sums)
}

/// Sums in the plane by way of a grid: nodes of both axes, those of the second one side by side.
struct PlaneSums<'a, const N: usize> {
    width: usize,
    grid: Vec<f64>,
    centres: [Places<N>; 2],
    weights: &'a [f64],
    queries: [Places<N>; 2],
    sums: &'a mut [f64],
}

impl<const N: usize> WithSimd for PlaneSums<'_, N> {
    type Output = ();

    /// Hands every row to the nodes around it, then reads the nodes around every query.
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for (i, w) in self.weights.iter().enumerate() {
            let Some([(row, a), (col, b)]) = stencils(&self.centres, i) else { continue };
            let b = S::as_simd_f64s(&b).0;
            for (k, a) in a.iter().enumerate() {
                let cells = &mut self.grid[(row + k) * self.width + col..][..N];
                let share = simd.splat_f64s(w * a);
                for (cell, b) in S::as_mut_simd_f64s(cells).0.iter_mut().zip(b) {
                    *cell = simd.mul_add_f64s(share, *b, *cell);
                }
            }
        }
        for (q, sum) in self.sums.iter_mut().enumerate() {
            let Some([(row, a), (col, b)]) = stencils(&self.queries, q) else { continue };
            let mut along = [0.0; N];
            let vectors = S::as_mut_simd_f64s(&mut along).0;
            for (k, a) in a.iter().enumerate() {
                let cells = &self.grid[(row + k) * self.width + col..][..N];
                let a = simd.splat_f64s(*a);
                for (v, cell) in vectors.iter_mut().zip(S::as_simd_f64s(cells).0) {
                    *v = simd.mul_add_f64s(a, *cell, *v);
                }
            }
            *sum = scale() * scale() * product(&b, &along);
        }
    }
}

/// The stencils of a position on both axes; `None` where one is out of the grid.
#[inline(always)]
fn stencils<const N: usize>(places: &[Places<N>; 2], i: usize) -> Option<[(usize, [f64; N]); 2]> {
    Some([places[0].stencil(i)?, places[1].stencil(i)?])
}

/// `Σ_k a_k b_k` of two stencils, in eight running sums so that the additions overlap.
#[inline(always)]
fn product<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for l in 0..LANES {
            sums[l] = a[l].mul_add(b[l], sums[l]);
        }
    }
    add_lanes(&sums)
}

/// The sum of running sums, in a fixed order.
#[inline(always)]
pub(super) fn add_lanes(sums: &[f64; LANES]) -> f64 {
    (sums[0] + sums[4]) + (sums[1] + sums[5]) + ((sums[2] + sums[6]) + (sums[3] + sums[7]))
}

/// `√(2/π) δ`.
fn scale() -> f64 {
    std::f64::consts::FRAC_2_PI.sqrt() * STEP
}

/// Nodes along one axis: whole numbers times δ from `lowest` on.
#[derive(Debug, Clone, Copy)]
struct Side {
    lowest: f64,
    nodes: f64,
}

impl Side {
    /// The nodes of all stencils that share one with a centre's. `None` without centres.
    fn around(centres: &[f64], stencil: usize) -> Option<Side> {
        let low = centres.iter().copied().fold(f64::INFINITY, f64::min);
        let high = centres.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (beside, first) = ((stencil - 1) as f64, (low / STEP).floor() - before(stencil));
        let nodes = (high / STEP).floor() - (low / STEP).floor() + stencil as f64 + 2.0 * beside;
        nodes.is_finite().then_some(Side { lowest: first - beside, nodes })
    }

    fn places<const N: usize>(&self, positions: &[f64]) -> Places<N> {
        let n = positions.len();
        let mut places =
            Places { first: vec![0.0; n], start: vec![0.0; n], ratio: vec![0.0; n], decay: decay() };
        let (offset, last) = (before(N) + self.lowest, self.nodes - N as f64);
        vectorised(
            #[inline(always)]
            || {
                for (i, x) in positions.iter().enumerate() {
                    let below = (x / STEP).floor();
                    let f = x - below * STEP;
                    let first = below - offset;
                    // A stencil out of the grid is empty; its values do not matter.
                    places.first[i] = if first >= 0.0 && first <= last { first } else { f64::NAN };
                    places.ratio[i] = fused_exp(2.0 * STEP * f);
                    places.start[i] = fused_exp(-f * (f + 2.0 * STEP * before(N)));
                }
            },
        );
        places
    }
}

/// Whether a grid of so many nodes is cheaper than all kernels one by one.
fn nodes_pay(nodes: f64, rows: usize, queries: usize, position: f64) -> bool {
    let (rows, queries) = (rows as f64, queries as f64);
    nodes <= MOST_NODES && nodes / NODES_PER_KERNEL + position * (rows + queries) < rows * queries
}

/// Nodes of a stencil before the one at or below the position.
#[inline(always)]
fn before(stencil: usize) -> f64 {
    (stencil / 2 - 1) as f64
}

/// `exp(-(jδ)²)` for the nodes j of a stencil, counted from the one at or below the position.
fn decay<const N: usize>() -> [f64; N] {
    std::array::from_fn(|k| (-((k as f64 - before(N)) * STEP).powi(2)).exp())
}

/// Positions among the nodes of an axis. With f the distance to the node below, `exp(-(f - jδ)²)` is
/// `exp(-f²) (exp(2fδ))^j exp(-(jδ)²)`: two exponentials for a whole stencil.
struct Places<const N: usize> {
    /// First node of each stencil; NaN outside the grid.
    first: Vec<f64>,
    /// `exp(-f²) exp(2fδ)^j` for the first j.
    start: Vec<f64>,
    /// `exp(2fδ)`.
    ratio: Vec<f64>,
    decay: [f64; N],
}

impl<const N: usize> Places<N> {
    /// First node and values of the stencil of a position.
    #[inline(always)]
    fn stencil(&self, i: usize) -> Option<(usize, [f64; N])> {
        if self.first[i].is_nan() {
            return None;
        }
        let z = self.ratio[i];
        let (z2, z4) = (z * z, (z * z) * (z * z));
        let mut power: [f64; LANES] = [1.0, z, z2, z2 * z, z4, z4 * z, z4 * z2, z4 * (z2 * z)];
        for p in &mut power {
            *p *= self.start[i];
        }
        let z8 = z4 * z4;
        let mut values = [0.0; N];
        for block in 0..N / LANES {
            for l in 0..LANES {
                values[LANES * block + l] = power[l] * self.decay[LANES * block + l];
                power[l] *= z8;
            }
        }
        Some((self.first[i] as usize, values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;

    fn draws(random: &mut Random, n: usize, scale: f64) -> Vec<f64> {
        (0..n).map(|_| scale * random.normal()).collect()
    }

    /// Compares sums with those term by term; returns how many of the compared ones are in the tails.
    fn check(sums: &[f64], total: f64, share: f64, exact: impl Fn(usize) -> f64) -> usize {
        let least = share * total;
        let mut in_tail = 0;
        for (q, sum) in sums.iter().enumerate().step_by(7) {
            let exact = exact(q);
            if exact >= least {
                assert!((sum / exact - 1.0).abs() <= TOLERANCE, "{q}: {sum} {exact}");
                in_tail += usize::from(exact < (least * total).sqrt());
            } else {
                assert!(*sum <= 2.0 * least, "{q}: {sum} {exact}");
            }
        }
        in_tail
    }

    #[test]
    fn every_sum_has_nearly_ten_digits_also_in_the_tails() {
        let mut random = Random::new(8);
        let (x, y) = (draws(&mut random, 600, 4.0), draws(&mut random, 600, 3.0));
        let weights: Vec<f64> = (0..600).map(|i| 1.0 + (i % 3) as f64).collect();
        let total: f64 = weights.iter().sum();
        // Half of the queries lie far outside.
        let (qx, qy) = (draws(&mut random, 4000, 9.0), draws(&mut random, 4000, 7.0));
        let kernel = |a: f64, b: f64| f64::exp(-0.5 * (a - b).powi(2));
        let of_plane =
            |q: usize| (0..600).map(|i| weights[i] * kernel(qx[q], x[i]) * kernel(qy[q], y[i])).sum::<f64>();
        let of_line = |q: usize| (0..600).map(|i| weights[i] * kernel(qx[q], x[i])).sum::<f64>();
        let short = plane_sums::<SHORT>((&x, &y), &weights, (&qx, &qy)).unwrap();
        let long = plane_sums::<LONG>((&x, &y), &weights, (&qx, &qy)).unwrap();
        assert!(check(&short, total, least_share(SHORT), of_plane) > 20);
        assert!(check(&long, total, least_share(LONG), of_plane) > 20);
        let line = line_sums::<SHORT>(&x, &weights, &qx).unwrap();
        assert!(check(&line, total, least_share(SHORT), of_line) > 5);
    }

    #[test]
    fn few_queries_and_wide_ranges_are_left_to_direct_sums() {
        assert!(plane_sums::<SHORT>((&[0.0, 1.0], &[0.0, 1.0]), &[1.0, 1.0], (&[0.5], &[0.5])).is_none());
        let wide: Vec<f64> = (0..500).map(|i| 1e5 * f64::from(i)).collect();
        assert!(plane_sums::<SHORT>((&wide, &wide), &[1.0; 500], (&wide, &wide)).is_none());
        assert!(line_sums::<SHORT>(&[0.0, 1e300], &[1.0, 1.0], &[0.0; 500]).is_none());
    }
}
