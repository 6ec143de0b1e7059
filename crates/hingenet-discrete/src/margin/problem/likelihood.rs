//! The likelihood part of the unconstrained form: with β_i(h; w) the log-normalisers that Algorithm 1 meets
//! and `N_i(h) = Σ_j n^i_{j|h}`,
//!
//! ```text
//! L(w) = −nᵀw + Σ_{i not a class child} Σ_h N_i(h) β_i(h; w)  =  −nᵀ A1(w)
//! ```
//!
//! for consistent counts (Eq. 7: the steps of the class children cancel). L is convex and smooth on all
//! of R^D; its gradient is `e(w) − n` with e the expected counts of the normalised network, found by one
//! reverse sweep, and its Hessian products cost one more.

use crate::{Normaliser, Structure};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::linalg::dot;

/// Counts n and the plan of Algorithm 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihood {
    normaliser: Normaliser,
    counts: Vec<f64>,
    /// N_i(h), all rows in node order.
    row_totals: Vec<f64>,
}

/// L at one point: what its derivatives are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Expansion {
    /// L(w).
    pub value: f64,
    /// Algorithm 1 of w.
    pub normalised: Vec<f64>,
    /// Expected counts e = u p.
    pub expected: Vec<f64>,
    /// Probabilities p = exp(A1(w)).
    pub(in crate::margin) p: Vec<f64>,
    /// Expected count u of each table row.
    pub(in crate::margin) u: Vec<f64>,
}

impl Likelihood {
    /// Checks the counts: finite, positive (so the optimum is unique and normalised), one per parameter.
    pub fn new(structure: &Structure, counts: Vec<f64>) -> Result<Self> {
        require_len("counts", structure.n_entries(), counts.len())?;
        if counts.iter().any(|n| !n.is_finite() || *n <= 0.0) {
            return Err(Error::Parameter {
                name: "alpha".into(),
                value: "0".into(),
                expected: "a virtual sample count above 0 (the margin needs positive counts)".into(),
            });
        }
        let normaliser = Normaliser::new(structure)?;
        let mut row_totals = vec![0.0; normaliser.n_rows()];
        for step in normaliser.steps() {
            let rows = counts[step.entries()].chunks_exact(step.card);
            row_totals[step.rows()].iter_mut().zip(rows).for_each(|(t, row)| *t = row.iter().sum());
        }
        Ok(Likelihood { normaliser, counts, row_totals })
    }

    /// The counts n.
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Σ s_m + α, the total of the largest table.
    pub fn total(&self) -> f64 {
        let table = |rows: std::ops::Range<usize>| self.row_totals[rows].iter().sum::<f64>();
        self.normaliser.steps().iter().map(|s| table(s.rows())).fold(0.0, f64::max)
    }

    /// The plan of Algorithm 1.
    pub fn normaliser(&self) -> &Normaliser {
        &self.normaliser
    }

    /// The maximum-likelihood parameters, Eq. (3).
    pub fn ml_parameters(&self) -> Vec<f64> {
        let mut w: Vec<f64> = self.counts.iter().map(|n| n.ln()).collect();
        for step in self.normaliser.steps() {
            let rows = w[step.entries()].chunks_exact_mut(step.card);
            for (row, total) in rows.zip(&self.row_totals[step.rows()]) {
                let total = total.ln();
                row.iter_mut().for_each(|x| *x -= total);
            }
        }
        w
    }

    /// L(w) with everything its derivatives need.
    pub fn expand(&self, w: &[f64]) -> Expansion {
        let mut normalised = w.to_vec();
        let mut beta = vec![0.0; self.normaliser.n_rows()];
        self.normaliser.sweep(&mut normalised, &mut beta);
        let free = self.normaliser.steps().iter().filter(|s| s.cover.is_none());
        let partition: f64 = free.map(|s| dot(&self.row_totals[s.rows()], &beta[s.rows()])).sum();
        let p: Vec<f64> = normalised.iter().map(|x| x.exp()).collect();
        let mut u = self.row_totals.clone();
        let mut expected = vec![0.0; w.len()];
        for step in self.normaliser.steps().iter().rev() {
            if let Some(cover) = &step.cover {
                let rows = &mut u[step.rows()];
                rows.fill(0.0);
                let parent = &expected[cover.start..cover.start + cover.row.len()];
                parent.iter().zip(&cover.row).for_each(|(e, &h)| rows[h as usize] += e);
            }
            for (h, row) in step.rows().enumerate() {
                let entries = step.start + h * step.card..step.start + (h + 1) * step.card;
                for j in entries {
                    expected[j] = u[row] * p[j];
                }
            }
        }
        Expansion { value: partition - dot(&self.counts, w), normalised, expected, p, u }
    }

    /// Σ over all entries of `q ln(q/e) − q + e`.
    pub fn distance(&self, q: &[f64], e: &[f64]) -> f64 {
        q.iter().zip(e).map(|(q, e)| bregman(*q, *e)).sum()
    }

    /// The same expansion with expected counts replaced by their logarithmic mean with `q`: its Hessian
    /// product maps `ln q − ln e` to `q − e`, so a Newton step neither overshoots where a count must grow
    /// nor creeps where it must shrink.
    pub fn between(&self, at: &Expansion, q: &[f64]) -> Expansion {
        let expected: Vec<f64> = at.expected.iter().zip(q).map(|(e, q)| step_weight(*e, *q)).collect();
        let (mut p, mut u) = (expected.clone(), vec![0.0; self.normaliser.n_rows()]);
        for step in self.normaliser.steps() {
            let rows = p[step.entries()].chunks_exact_mut(step.card);
            for (row, u) in rows.zip(&mut u[step.rows()]) {
                *u = row.iter().sum::<f64>().max(f64::MIN_POSITIVE);
                row.iter_mut().for_each(|x| *x /= *u);
            }
        }
        Expansion { value: at.value, normalised: at.normalised.clone(), expected, p, u }
    }

    /// Weights of the inverse of that Hessian on consistent changes of the counts,
    /// `dw^i_{j|h} = dq^i_{j|h} / entry − Σ_j dq^i_{j|h} / row`: the logarithmic means of `q` and the
    /// expected counts, entry by entry and for the totals of the table rows.
    pub fn inverse_weights(&self, at: &Expansion, q: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let entries: Vec<f64> = at.expected.iter().zip(q).map(|(e, q)| step_weight(*e, *q)).collect();
        let mut rows = vec![0.0; self.normaliser.n_rows()];
        for step in self.normaliser.steps() {
            let totals = |x: &[f64]| -> Vec<f64> {
                x[step.entries()].chunks_exact(step.card).map(|row| row.iter().sum()).collect()
            };
            let (e, q, inside) = (totals(&at.expected), totals(q), totals(&entries));
            for (h, row) in rows[step.rows()].iter_mut().enumerate() {
                // The mean of sums is at least the sum of means while all q are positive; where one is not,
                // the sum keeps the inverse positive.
                *row = step_weight(e[h], q[h]).max(inside[h]);
            }
        }
        (entries, rows)
    }

    /// Table row (counted over all tables) of each of the given entries of w.
    pub fn rows_of(&self, entries: &[u32]) -> Vec<u32> {
        let mut row_of = vec![0u32; self.counts.len()];
        for step in self.normaliser.steps() {
            let rows = row_of[step.entries()].chunks_exact_mut(step.card).zip(step.rows());
            rows.for_each(|(entries, row)| entries.fill(row as u32));
        }
        entries.iter().map(|&e| row_of[e as usize]).collect()
    }

    /// Adds the gradient `e − n` to `gradient`.
    pub fn add_gradient(&self, at: &Expansion, gradient: &mut [f64]) {
        for ((g, e), n) in gradient.iter_mut().zip(&at.expected).zip(&self.counts) {
            *g += e - n;
        }
    }

    /// Adds the Hessian at `at` times `direction` to `out`: the two sweeps differentiated once.
    pub fn add_hessian_product(&self, at: &Expansion, direction: &[f64], out: &mut [f64]) {
        let mut d = direction.to_vec();
        let mut d_beta = vec![0.0; self.normaliser.n_rows()];
        for step in self.normaliser.steps() {
            let sums = &mut d_beta[step.rows()];
            let rows = d[step.entries()].chunks_exact_mut(step.card);
            for ((row, p), b) in rows.zip(at.p[step.entries()].chunks_exact(step.card)).zip(sums.iter_mut()) {
                *b = row.iter().zip(p).map(|(x, p)| x * p).sum();
                row.iter_mut().for_each(|x| *x -= *b);
            }
            if let Some(cover) = &step.cover {
                let parent = &mut d[cover.start..cover.start + cover.row.len()];
                parent.iter_mut().zip(&cover.row).for_each(|(x, &h)| *x += sums[h as usize]);
            }
        }
        // d now holds the change of log p; d_u follows from the covering parents, parents first.
        let mut d_u = vec![0.0; self.normaliser.n_rows()];
        for step in self.normaliser.steps().iter().rev() {
            if let Some(cover) = &step.cover {
                let rows = &mut d_u[step.rows()];
                let parent = &d[cover.start..cover.start + cover.row.len()];
                parent.iter().zip(&cover.row).for_each(|(x, &h)| rows[h as usize] += x);
            }
            for (h, row) in step.rows().enumerate() {
                for j in step.start + h * step.card..step.start + (h + 1) * step.card {
                    // The expected count of the entry changes by p (du + u dlog p).
                    d[j] = at.p[j] * (d_u[row] + at.u[row] * d[j]);
                }
            }
        }
        out.iter_mut().zip(&d).for_each(|(o, x)| *o += x);
    }

    /// Σ over all rows of `Ent(q) = Σ_j q_j (ln Q − ln q_j)`, negative rounding errors of q taken as 0.
    pub fn entropy(&self, q: &[f64]) -> f64 {
        let mut total = 0.0;
        for step in self.normaliser.steps() {
            for row in q[step.entries()].chunks_exact(step.card) {
                let positive = || row.iter().copied().filter(|x| *x > 0.0);
                // Logarithms apart: the quotient of a sum and a denormal number overflows.
                let log_sum = positive().sum::<f64>().ln();
                total += positive().map(|x| x * (log_sum - x.ln())).sum::<f64>();
            }
        }
        total
    }
}

/// Distance of an expected count from a tilted one: `q ln(q/e) − q + e`, its limit for q ≤ 0.
fn bregman(q: f64, e: f64) -> f64 {
    if q > 0.0 { q * (q.ln() - e.max(f64::MIN_POSITIVE).ln()) - q + e } else { e - q }
}

/// Longest way down in log scale that one step asks for when a tilted count is not positive.
const LONGEST_FALL: f64 = 8.0;

/// Weight κ of an entry such that a step `(q − e)/κ` leads from ln e to ln q: the logarithmic mean of e and
/// q; for q ≤ 0 a bounded fall.
fn step_weight(e: f64, q: f64) -> f64 {
    if q <= 0.0 {
        return e.max((e - q) / LONGEST_FALL);
    }
    let (low, high) = if e < q { (e.max(f64::MIN_POSITIVE), q) } else { (q, e) };
    let x = (high - low) / low;
    if x < 1e-4 { 0.5 * (low + high) } else { (high - low) / x.ln_1p() }
}
