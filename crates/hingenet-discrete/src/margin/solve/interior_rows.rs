//! The row part of the interior-point method: multipliers of every row, their linearised equations, and
//! the elimination `E = diag(t) − k t tᵀ` that leaves a system in w alone. All formulas avoid the
//! cancellations that appear when multipliers reach their bounds.

use crate::margin::problem::{Problem, spread_groups};
use hingenet_base::numeric::sum::{add_into, ordered_chunks};
use rayon::prelude::*;

/// Largest product `a y` that is aimed at, per unit of sample weight.
const PULL: f64 = 1.0;

/// Multipliers of all rows; `a` and `y` hold K values a row (0 at the own class), `z` and `v = λ s − b` one.
#[derive(Debug, Clone)]
pub(super) struct Multipliers {
    pub a: Vec<f64>,
    pub y: Vec<f64>,
    pub z: Vec<f64>,
    pub v: Vec<f64>,
}

/// A step of everything; `w` over the class-dependent cells.
pub(super) struct Direction {
    pub w: Vec<f64>,
    pub a: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    v: Vec<f64>,
}

/// Where the products shall go: `z v` to `δ λ s_m` (the hinge is smoothed over a width of about δ), `a y` to
/// the same but at most `PULL s_m`, corrected by the products of a first direction, by a part of them that
/// falls with the length of its step. The bound keeps the barrier from pulling at rows that are right anyway; as δ grows the path ends in the
/// maximum-likelihood estimate.
pub(super) struct Target<'a> {
    pub width: f64,
    pub second: Option<(&'a Direction, f64)>,
}

/// The linearised rows.
pub(super) struct Linear {
    /// t, K values a row (0 at the own class).
    pub t: Vec<f64>,
    /// k, one a row.
    pub k: Vec<f64>,
    /// `1 − k Σt`.
    pub open: Vec<f64>,
    /// `d − ∂φ* − z + y`.
    rest: Vec<f64>,
}

/// Right-hand sides of the eliminated equations.
pub(super) struct Reduced {
    /// `Bᵀ E ρ` on the class-dependent cells.
    pub cells: Vec<f64>,
    rho: Vec<f64>,
    cy: Vec<f64>,
    cz: Vec<f64>,
}

/// What consecutive rows have, put together.
fn joined<T>(parts: &[T], of: impl Fn(&T) -> [&Vec<f64>; 4]) -> [Vec<f64>; 4] {
    std::array::from_fn(|i| parts.iter().flat_map(|part| of(part)[i]).copied().collect())
}

impl Multipliers {
    fn zeros(len: usize, k: usize) -> Self {
        Multipliers { a: vec![0.0; len * k], y: vec![0.0; len * k], z: vec![0.0; len], v: vec![0.0; len] }
    }

    /// Consecutive rows put together.
    fn joined(parts: Vec<Self>) -> Self {
        let [a, y, z, v] = joined(&parts, |x| [&x.a, &x.y, &x.z, &x.v]);
        Multipliers { a, y, z, v }
    }

    /// `Σ a y + Σ z v`.
    pub fn complementarity(&self) -> f64 {
        let sum = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        sum(&self.a, &self.y) + sum(&self.z, &self.v)
    }

    /// The same after a step.
    pub fn complementarity_after(&self, d: &Direction, step: f64) -> f64 {
        let sum = |x: &[f64], dx: &[f64], y: &[f64], dy: &[f64]| -> f64 {
            (0..x.len()).map(|i| (x[i] + step * dx[i]) * (y[i] + step * dy[i])).sum()
        };
        sum(&self.a, &d.a, &self.y, &d.y) + sum(&self.z, &d.z, &self.v, &d.v)
    }

    /// Longest step (at most 2) that keeps everything non-negative.
    pub fn longest_step(&self, d: &Direction) -> f64 {
        let limit = |x: &[f64], dx: &[f64]| {
            let one = |(x, d): (&f64, &f64)| if *d < 0.0 { -x / d } else { 2.0 };
            x.iter().zip(dx).map(one).fold(2.0, f64::min)
        };
        limit(&self.a, &d.a).min(limit(&self.y, &d.y)).min(limit(&self.z, &d.z)).min(limit(&self.v, &d.v))
    }

    /// The multipliers after a step.
    pub fn moved(&self, d: &Direction, step: f64) -> Self {
        let along = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + step * d).collect();
        Multipliers {
            a: along(&self.a, &d.a),
            y: along(&self.y, &d.y),
            z: along(&self.z, &d.z),
            v: along(&self.v, &d.v),
        }
    }
}

impl Linear {
    /// `Σ a |r_p|`.
    pub fn primal_residual(&self, x: &Multipliers) -> f64 {
        self.rest.iter().zip(&x.a).map(|(r, a)| r.abs() * a).sum()
    }
}

/// The rows of a problem with the constants of its loss.
pub(super) struct RowSystem<'a> {
    problem: &'a Problem,
    k: usize,
    /// 1/η where the soft maximum is one, else 0.
    blur: f64,
}

impl<'a> RowSystem<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        let (k, eta) = (problem.rows.n_classes(), problem.loss.eta());
        let blur = if k > 2 && eta.is_finite() { 1.0 / eta } else { 0.0 };
        RowSystem { problem, k, blur }
    }

    /// Whether the loss is smooth, that is, belongs to problem (11).
    pub fn is_smooth(&self) -> bool {
        self.problem.loss.is_smooth()
    }

    /// A width at which all rows are nearly free: the path starts close to maximum likelihood.
    pub fn first_width(&self) -> f64 {
        2.0 * self.problem.loss.gamma()
    }

    /// The width δ whose aims add up to the products of `x`.
    pub fn width(&self, x: &Multipliers) -> f64 {
        let (lambda, others) = (self.problem.loss.lambda(), (self.k - 1) as f64);
        let mean = x.complementarity() / self.problem.rows.total_weight();
        // Both kinds of products aim at λ δ, until those of `a y` are bound.
        if mean <= (1.0 + others) * PULL {
            mean / ((1.0 + others) * lambda)
        } else {
            (mean - others * PULL) / lambda
        }
    }

    /// Aims of `a y` and `z v` in row `m` at width δ.
    fn aims(&self, m: usize, width: f64) -> (f64, f64) {
        let s = self.problem.rows.weight(m);
        let mu = width * self.problem.loss.lambda();
        (mu.min(PULL) * s, mu * s)
    }

    fn cap(&self, m: usize) -> f64 {
        self.problem.loss.lambda() * self.problem.rows.weight(m)
    }

    fn competitors(&self, m: usize) -> impl Iterator<Item = usize> + Clone {
        let own = self.problem.rows.class(m);
        (0..self.k).filter(move |&c| c != own)
    }

    /// `d_c = γ + S_c − S_{c_m}` of row `m`.
    fn differences(&self, m: usize, v: &[f64], d: &mut [f64]) {
        self.problem.margins(m, v, d);
        let gamma = self.problem.loss.gamma();
        d.iter_mut().for_each(|x| *x = gamma - *x);
    }

    /// Multipliers on the path of the plain hinge for the margins of `v` at width δ, and the barrier function
    /// `Σ_m min_ξ [λ s ξ − μ_z ln ξ − μ_y Σ_c ln(ξ − d_c)]`.
    pub fn centre(&self, v: &[f64], width: f64) -> (Multipliers, f64) {
        let (len, k) = (self.problem.rows.len(), self.k);
        let parts = ordered_chunks(len, self.problem.rows.chunk(), |range| {
            let mut x = Multipliers::zeros(range.len(), k);
            let mut value = 0.0;
            let mut d = vec![0.0; k];
            for (at, m) in range.enumerate() {
                self.differences(m, v, &mut d);
                let (pull, bound) = self.aims(m, width);
                let xi = self.central_slack(m, &d, width);
                value += self.cap(m) * xi - bound * xi.ln();
                for c in self.competitors(m) {
                    x.a[at * k + c] = pull / (xi - d[c]);
                    x.y[at * k + c] = xi - d[c];
                    value -= pull * (xi - d[c]).ln();
                }
                x.z[at] = xi;
                x.v[at] = bound / xi;
            }
            (x, value)
        });
        let value = parts.iter().map(|(_, value)| value).sum();
        (Multipliers::joined(parts.into_iter().map(|(x, _)| x).collect()), value)
    }

    /// The root ξ of `λ s = μ_z/ξ + Σ_c μ_y/(ξ − d_c)`. Newton on the reciprocal, which is concave: from below
    /// it never overshoots.
    fn central_slack(&self, m: usize, d: &[f64], width: f64) -> f64 {
        let cap = self.cap(m);
        let (pull, bound) = self.aims(m, width);
        let largest = self.competitors(m).map(|c| d[c]).fold(f64::NEG_INFINITY, f64::max);
        let mut xi = (bound / cap).max(largest + pull / cap);
        for _ in 0..50 {
            let (mut sum, mut bend) = (bound / xi, bound / (xi * xi));
            for c in self.competitors(m) {
                let r = 1.0 / (xi - d[c]);
                sum += pull * r;
                bend += pull * r * r;
            }
            let step = (sum * sum / cap - sum) / bend;
            xi += step;
            if step <= 1e-15 * xi {
                break;
            }
        }
        xi
    }

    /// The rows of the plain hinge at central multipliers (no residuals).
    pub fn linearise_plain(&self, x: &Multipliers) -> Linear {
        let (len, k) = (self.problem.rows.len(), self.k);
        let mut all = Linear { t: vec![0.0; len * k], k: vec![], open: vec![], rest: vec![0.0; len * k] };
        for m in 0..len {
            let mut sum = 0.0;
            for c in self.competitors(m) {
                all.t[m * k + c] = x.a[m * k + c] / x.y[m * k + c];
                sum += all.t[m * k + c];
            }
            let outer = x.z[m] / x.v[m];
            all.open.push(1.0 / (1.0 + outer * sum));
            all.k.push(outer / (1.0 + outer * sum));
        }
        all
    }

    /// E and the primal residual of every row.
    pub fn linearise(&self, v: &[f64], x: &Multipliers) -> Linear {
        let k = self.k;
        let parts = ordered_chunks(self.problem.rows.len(), self.problem.rows.chunk(), |range| {
            let len = range.len();
            let mut out = Linear {
                t: vec![0.0; len * k],
                k: vec![0.0; len],
                open: vec![0.0; len],
                rest: vec![0.0; len * k],
            };
            let mut d = vec![0.0; k];
            for (at, m) in range.enumerate() {
                self.differences(m, v, &mut d);
                self.linearise_row(m, &d, x, at, &mut out);
            }
            out
        });
        let [t, k, open, rest] = joined(&parts, |x| [&x.t, &x.k, &x.open, &x.rest]);
        Linear { t, k, open, rest }
    }

    /// `E⁻¹ = diag((1/η + y)/a) + κ 11ᵀ`, κ = z/v + h*''/(λ s) − 1/(η b).
    fn linearise_row(&self, m: usize, d: &[f64], x: &Multipliers, at: usize, out: &mut Linear) {
        let k = self.k;
        let (a, y) = (&x.a[m * k..(m + 1) * k], &x.y[m * k..(m + 1) * k]);
        let cap = self.cap(m);
        let b = cap - x.v[m];
        let total: f64 = a.iter().sum();
        let (slope, bend) = self.problem.loss.hinge().conjugate_slopes((b / cap).clamp(0.0, 1.0));
        let (mut sum, mut not_blurred) = (0.0, 0.0);
        for c in self.competitors(m) {
            let psi = slope + if self.blur > 0.0 { self.blur * (a[c] / total).ln() } else { 0.0 };
            out.rest[at * k + c] = d[c] - psi - x.z[m] + y[c];
            let t = a[c] / (self.blur + y[c]);
            out.t[at * k + c] = t;
            sum += t;
            // 1 − Σt/(η b) term by term, without cancellation.
            not_blurred += a[c] / total * y[c] / (self.blur + y[c]);
        }
        if self.blur == 0.0 {
            not_blurred = 1.0;
        }
        let outer = x.z[m] / x.v[m] + bend / cap;
        out.open[at] = 1.0 / (not_blurred + outer * sum);
        out.k[at] = (outer - self.blur / total) * out.open[at];
    }

    /// Eliminates the multipliers for one target.
    pub fn reduce(&self, linear: &Linear, x: &Multipliers, target: &Target<'_>) -> Reduced {
        let (len, k) = (self.problem.rows.len(), self.k);
        let (mut rho, mut cy, mut cz) = (vec![0.0; len * k], vec![0.0; len * k], vec![0.0; len]);
        for m in 0..len {
            let (pull, bound) = self.aims(m, target.width);
            cz[m] = bound - x.z[m] * x.v[m];
            if let Some((d, part)) = target.second {
                cz[m] -= part * d.z[m] * d.v[m];
            }
            for c in self.competitors(m) {
                let i = m * k + c;
                cy[i] = pull - x.a[i] * x.y[i];
                if let Some((d, part)) = target.second {
                    cy[i] -= part * d.a[i] * d.y[i];
                }
                rho[i] = linear.rest[i] + cy[i] / x.a[i] - cz[m] / x.v[m];
            }
        }
        let parts = ordered_chunks(len, self.problem.rows.chunk(), |range| {
            let mut cells = vec![0.0; self.problem.rows.n_cells()];
            let mut g = vec![0.0; k];
            for m in range {
                let t = &linear.t[m * k..(m + 1) * k];
                let inner: f64 = self.competitors(m).map(|c| t[c] * rho[m * k + c]).sum();
                for c in self.competitors(m) {
                    g[c] = -t[c] * (rho[m * k + c] - linear.k[m] * inner);
                }
                g[self.problem.rows.class(m)] = inner * linear.open[m];
                spread_groups(self.problem.rows.groups(m), k, &g, &mut cells);
            }
            cells
        });
        let mut cells = vec![0.0; self.problem.rows.n_cells()];
        parts.iter().for_each(|part| add_into(&mut cells, part));
        Reduced { cells, rho, cy, cz }
    }

    /// The whole direction that belongs to a direction of w.
    pub fn expand(&self, linear: &Linear, x: &Multipliers, reduced: &Reduced, w: Vec<f64>) -> Direction {
        let parts = ordered_chunks(self.problem.rows.len(), self.problem.rows.chunk(), |range| {
            let mut d = Multipliers::zeros(range.len(), self.k);
            let mut change = vec![0.0; self.k];
            for (at, m) in range.enumerate() {
                self.problem.margins(m, &w, &mut change);
                self.expand_row(m, linear, x, reduced, &change, at, &mut d);
            }
            d
        });
        let Multipliers { a, y, z, v } = Multipliers::joined(parts);
        Direction { w, a, y, z, v }
    }

    #[allow(clippy::too_many_arguments)]
    fn expand_row(
        &self,
        m: usize,
        linear: &Linear,
        x: &Multipliers,
        reduced: &Reduced,
        change: &[f64],
        at: usize,
        d: &mut Multipliers,
    ) {
        let k = self.k;
        let t = &linear.t[m * k..(m + 1) * k];
        let rho = |c: usize| reduced.rho[m * k + c] - change[c];
        let inner: f64 = self.competitors(m).map(|c| t[c] * rho(c)).sum();
        let db = inner * linear.open[m];
        let dominant = self.competitors(m).fold(None, |best, c| match best {
            Some(b) if t[b] >= t[c] => Some(b),
            _ => Some(c),
        });
        let mut others = 0.0;
        for c in self.competitors(m).filter(|&c| Some(c) != dominant) {
            d.a[at * k + c] = t[c] * (rho(c) - linear.k[m] * inner);
            others += d.a[at * k + c];
        }
        if let Some(c) = dominant {
            // Its own formula cancels when it carries nearly all of b.
            d.a[at * k + c] = db - others;
        }
        for c in self.competitors(m) {
            let (i, j) = (m * k + c, at * k + c);
            d.y[j] = (reduced.cy[i] - x.y[i] * d.a[j]) / x.a[i];
        }
        d.v[at] = -db;
        d.z[at] = (reduced.cz[m] + x.z[m] * db) / x.v[m];
    }
}

/// `P E Pᵀ` of the given rows over the K class scores: its entries right of the diagonal, line by line. They say
/// all: it is symmetric and its lines add up to 0.
pub(super) fn row_couplings(problem: &Problem, linear: &Linear, rows: &[usize]) -> Vec<f64> {
    let k = problem.rows.n_classes();
    let pairs = k * (k - 1) / 2;
    let mut couplings = vec![0.0; rows.len() * pairs];
    couplings.par_chunks_mut(pairs).zip(rows).with_min_len(512).for_each(|(out, &m)| {
        let t = &linear.t[m * k..(m + 1) * k];
        let own = problem.rows.class(m);
        let (kk, open) = (linear.k[m], linear.open[m]);
        let classes = (0..k).flat_map(|c| (c + 1..k).map(move |d| (c, d)));
        for (x, (c, d)) in out.iter_mut().zip(classes) {
            // E 1 = (1 − k Σt) t: the terms with the own class, whose t is 0.
            *x = if c == own || d == own { -(t[c] + t[d]) * open } else { -kk * t[c] * t[d] };
        }
    });
    couplings
}
