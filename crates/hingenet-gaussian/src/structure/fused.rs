//! Two classes at once, in a common order, with a penalty on the differences of their weights:
//!
//! ```text
//! min Σ_c Σ_j ‖r_j^c‖² + λ1 Σ|Θ^c| + γ Σ_ij |Θ_ij^1 − Θ_ij^2|
//! ```
//!
//! The columns stay separable; a pair of coordinates (one per class) is solved in closed form.

use super::weights::ArcWeights;
use super::{Constraints, StructureFit, fit_or};
use crate::moments::Moments;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::optimise::lasso::soft_threshold;
use hingenet_base::solver::SolverReport;
use rayon::prelude::*;

/// Learns two networks in one order: the levels of OR-SGBN on the pooled moments, ties by column strength. With γ = 0
/// the classes share nothing but the order; a large γ makes them equal.
pub fn fit_fused(
    moments: [&Moments; 2],
    lambda1: f64,
    gamma: f64,
    constraints: &Constraints,
    control: &Control,
) -> Result<[StructureFit; 2]> {
    require("fused penalty", gamma, "a finite number >= 0", gamma.is_finite() && gamma >= 0.0)?;
    require_len("nodes of the second class", moments[0].nodes(), moments[1].nodes())?;
    let place = common_order(moments, lambda1, constraints, control)?;
    let m = moments[0].nodes();
    let columns: Vec<Pair> = (0..m)
        .into_par_iter()
        .map(|j| {
            let weight = |i: usize| {
                if place[i] < place[j] { constraints.penalty(lambda1, i, j) } else { f64::INFINITY }
            };
            let weights: Vec<f64> = (0..m).map(weight).collect();
            Pair::solve(moments, j, &weights, gamma)
        })
        .collect();
    control.check()?;
    let fit = |c: usize| class_fit(moments[c], c, &columns, &place, lambda1);
    Ok([fit(0)?, fit(1)?])
}

/// Place of each node in the common order.
fn common_order(
    moments: [&Moments; 2],
    lambda1: f64,
    constraints: &Constraints,
    control: &Control,
) -> Result<Vec<usize>> {
    let m = moments[0].nodes();
    let gram = Matrix::from_fn(m, m, |i, j| moments[0].gram[(i, j)] + moments[1].gram[(i, j)]);
    let pooled = Moments::given(moments[0].rows + moments[1].rows, vec![0.0; m], gram)?;
    let levels = fit_or(&pooled, lambda1, constraints, &control.quiet())?.levels;
    let strength: Vec<f64> =
        (0..m).map(|j| pooled.gram.row(j).iter().map(|g| g.abs()).sum::<f64>()).collect();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| {
        let by_level = (constraints.tier(a), levels[a]).cmp(&(constraints.tier(b), levels[b]));
        by_level.then(strength[b].total_cmp(&strength[a])).then(a.cmp(&b))
    });
    let mut place = vec![0; m];
    order.iter().enumerate().for_each(|(k, &v)| place[v] = k);
    let broken = constraints.required().iter().find(|(i, j)| place[*i] > place[*j]);
    match broken {
        None => Ok(place),
        Some((i, j)) => Err(Error::Graph {
            node: j.to_string(),
            problem: format!("the required arc {i} -> {j} does not fit the common order"),
        }),
    }
}

/// Column j of both classes.
struct Pair {
    theta: [Vec<f64>; 2],
    squared_error: [f64; 2],
    sweeps: usize,
    converged: bool,
}

/// Largest number of sweeps of a column.
const MAX_SWEEPS: usize = 100_000;

impl Pair {
    /// Minimises over the two weights of one arc after the other until the largest `G_ii change²` is small.
    fn solve(moments: [&Moments; 2], j: usize, weights: &[f64], gamma: f64) -> Self {
        let m = weights.len();
        let (mut theta, mut q) = ([vec![0.0; m], vec![0.0; m]], [vec![0.0; m], vec![0.0; m]]);
        let limit = 1e-18 * moments.iter().map(|g| g.gram[(j, j)]).sum::<f64>();
        let (mut sweeps, mut converged) = (0, false);
        while sweeps < MAX_SWEEPS && !converged {
            sweeps += 1;
            let mut worst = 0.0f64;
            for i in (0..m).filter(|&i| i != j && weights[i].is_finite()) {
                let g = moments.map(|class| class.gram[(i, i)]);
                let z = [0, 1].map(|c| moments[c].gram[(i, j)] - q[c][i] + g[c] * theta[c][i]);
                let new = fused_pair(g, z, weights[i], gamma);
                for c in 0..2 {
                    let change = new[c] - theta[c][i];
                    if change != 0.0 {
                        theta[c][i] = new[c];
                        q[c].iter_mut().zip(moments[c].gram.row(i)).for_each(|(q, x)| *q += change * x);
                        worst = worst.max(g[c] * change * change);
                    }
                }
            }
            converged = worst <= limit;
        }
        let squared_error = [0, 1].map(|c| {
            let (gram, theta) = (&moments[c].gram, &theta[c]);
            let error = gram[(j, j)] + (0..m).map(|i| theta[i] * (q[c][i] - 2.0 * gram[(i, j)])).sum::<f64>();
            moments[c].squared_error(j, theta, error.max(0.0))
        });
        Pair { theta, squared_error, sweeps, converged }
    }
}

/// `argmin g₁s² − 2z₁s + g₂t² − 2z₂t + w(|s| + |t|) + γ|s − t|`: one of s > t, s < t, s = t holds.
fn fused_pair(g: [f64; 2], z: [f64; 2], weight: f64, gamma: f64) -> [f64; 2] {
    let solve = |c: usize, shift: f64| {
        if g[c] > 0.0 { soft_threshold(z[c] + shift, 0.5 * weight) / g[c] } else { 0.0 }
    };
    for sign in [1.0, -1.0] {
        let pair = [solve(0, -0.5 * sign * gamma), solve(1, 0.5 * sign * gamma)];
        if sign * (pair[0] - pair[1]) > 0.0 {
            return pair;
        }
    }
    let total = g[0] + g[1];
    let both = if total > 0.0 { soft_threshold(z[0] + z[1], weight) / total } else { 0.0 };
    [both, both]
}

fn class_fit(
    moments: &Moments,
    c: usize,
    columns: &[Pair],
    place: &[usize],
    lambda1: f64,
) -> Result<StructureFit> {
    let mut weights = ArcWeights::zeros(moments);
    for (j, pair) in columns.iter().enumerate() {
        weights.incoming.row_mut(j).copy_from_slice(&pair.theta[c]);
        weights.squared_error[j] = pair.squared_error[c];
    }
    let report = SolverReport {
        method: "fused coordinate descent (largest change)".into(),
        converged: columns.iter().all(|p| p.converged),
        iterations: columns.iter().map(|p| p.sweeps).max().unwrap_or(0),
        objective: weights.total_error() + weights.penalty(|_, _| lambda1),
        gap: None,
        slack: None,
    };
    weights.into_fit(moments, place.to_vec(), report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_closed_form_of_a_pair_is_the_minimum(
            g in (0.1..5.0f64, 0.1..5.0f64), z in (-5.0..5.0f64, -5.0..5.0f64), w in 0.0..4.0f64, gamma in 0.0..4.0f64,
        ) {
            let (g, z) = ([g.0, g.1], [z.0, z.1]);
            let f = |p: [f64; 2]| {
                (0..2).map(|c| g[c] * p[c] * p[c] - 2.0 * z[c] * p[c] + w * p[c].abs()).sum::<f64>()
                    + gamma * (p[0] - p[1]).abs()
            };
            let best = fused_pair(g, z, w, gamma);
            for step in [0.3, 0.01, 1e-4] {
                for (a, b) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0)] {
                    prop_assert!(f(best) <= f([best[0] + a * step, best[1] + b * step]) + 1e-12);
                }
            }
        }
    }
}
