//! The exponents of the pool: non-negative weights of the four terms that change piecewise linearly with
//! the share of missing features, fitted on blanked copies of training rows and drawn towards those that other tables of as
//! many rows needed. A convex problem in 16 numbers, solved by Newton steps with bounds.

use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::log_normalise;
use hingenet_base::numeric::sum::{add_into, ordered_chunks};
use hingenet_base::solver::SolverReport;

/// Number of terms.
pub const TERMS: usize = 4;
/// Letters of the terms: kernel density, averaged network, Gaussians, kernel machine.
pub const LETTERS: [&str; TERMS] = ["P", "A", "G", "K"];
/// Shares of missing features at which the weights are free; linear in between, constant above.
pub const KNOTS: [f64; 4] = [0.0, 0.3, 0.6, 0.9];
/// No term may call a class less likely than this (log probability, 6 in a million): without it one sure and wrong
/// term would decide alone, whatever its weight. Floors from -6 to -50 gave the same accuracy within 0.1 points.
const FLOOR: f64 = -12.0;
const SIZE: usize = TERMS * KNOTS.len();
/// Exponents at 60 rows, and how much more of them for every e-fold of the rows, term by term and knot by knot: those of least
/// log-loss over samples of 30, 60 and 120 rows of ten tables (`docs/pool.md`, few rows). With few rows the terms are too sure
/// of themselves, the Gaussians most of all.
const AT_60: [[f64; 4]; TERMS] = [
    [0.182, 0.176, 0.139, 0.097],
    [0.088, 0.103, 0.124, 0.188],
    [0.101, 0.105, 0.124, 0.137],
    [0.267, 0.271, 0.262, 0.214],
];
const PER_FOLD: [[f64; 4]; TERMS] = [
    [0.013, 0.019, 0.032, 0.050],
    [-0.007, 0.002, 0.009, 0.010],
    [0.034, 0.039, 0.041, 0.039],
    [0.077, 0.061, 0.052, 0.025],
];
/// Numbers of rows between which the exponents change.
const ROWS: (f64, f64) = (5.0, 1000.0);
/// Strength τ with which exponents are drawn towards those of other tables, up to [`LEARNT_UP_TO`] rows: from 10 to 40 there was
/// hardly a difference. Beyond, where they are extrapolated and cases are many, it falls like 1/n, to [`LEAST_STRENGTH`].
const STRENGTH: f64 = 20.0;
const LEARNT_UP_TO: f64 = 120.0;
const LEAST_STRENGTH: f64 = 1.0;
const NEWTON_STEPS: usize = 100;
const COORDINATE_SWEEPS: usize = 10_000;

/// Weights `W_fk` of term f at knot k.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PoolWeights(pub [[f64; 4]; TERMS]);

impl PoolWeights {
    /// What other tables with so many different rows needed: `W⁰_fk(n) = max(0, A_fk + S_fk ln(n/60))`.
    pub(crate) fn of_other_tables(rows: usize) -> Self {
        let folds = ((rows as f64).clamp(ROWS.0, ROWS.1) / 60.0).ln();
        let weight = |f: usize, k: usize| (AT_60[f][k] + PER_FOLD[f][k] * folds).max(0.0);
        PoolWeights(std::array::from_fn(|f| std::array::from_fn(|k| weight(f, k))))
    }

    /// Weights of the terms at a share of missing features.
    pub fn at(&self, missing: f64) -> [f64; TERMS] {
        let (k, share) = hat(missing);
        std::array::from_fn(|f| (1.0 - share) * self.0[f][k] + share * self.0[f][k + 1])
    }
}

/// The knot below a share of missing features and the way to the next, so that the weight is
/// `(1 − share) W_k + share W_{k+1}`.
fn hat(missing: f64) -> (usize, f64) {
    let x = missing.clamp(0.0, KNOTS[3]);
    let k = KNOTS[1..3].partition_point(|knot| *knot <= x);
    (k, ((x - KNOTS[k]) / (KNOTS[k + 1] - KNOTS[k])).clamp(0.0, 1.0))
}

/// A term's class scores as a log posterior with a floor: `logpost(max(logpost(S), −12))`.
pub(crate) fn floored_posterior(scores: &mut [f64]) {
    log_normalise(scores);
    scores.iter_mut().for_each(|s| *s = s.max(FLOOR));
    log_normalise(scores);
}

/// One blanked training row with what the terms say about it.
pub(crate) struct Cases {
    pub(crate) n_classes: usize,
    /// Floored log posteriors: case by case, term by term, class by class.
    pub(crate) terms: Vec<f64>,
    pub(crate) missing: Vec<f64>,
    pub(crate) class: Vec<usize>,
    pub(crate) weight: Vec<f64>,
    /// Copies of each row: the loss is divided by it.
    pub(crate) copies: f64,
    /// Different training rows, of which the cases are blanked copies, or of some of them.
    pub(crate) rows: usize,
}

/// Value, gradient and Hessian of the pool objective.
struct Objective {
    value: f64,
    gradient: Vec<f64>,
    hessian: Matrix,
}

impl Cases {
    /// Minimises, over `W ≥ 0`,
    ///
    /// ```text
    /// (1/copies) Σ −ln P(y|x_o) + ½τ Σ_fk V_fk² + ½τ Σ_f Σ_k (V_f,k+1 − V_fk)²,   V = W − W⁰,
    /// P(c|x_o) ∝ exp Σ_f W_f(ρ) L_f,c(x_o)
    /// ```
    pub(crate) fn fit(&self, control: &Control) -> Result<(PoolWeights, SolverReport)> {
        let mut w = self.prior();
        let mut current = self.objective(&w);
        let tolerance = 1e-9 * (1.0 + self.weight.iter().sum::<f64>());
        let mut steps = 0;
        while steps < NEWTON_STEPS && residual(&w, &current.gradient) > tolerance {
            control.check()?;
            steps += 1;
            let direction = newton_direction(&w, &current);
            match self.line_search(&w, &current, &direction) {
                Some((next, objective)) => (w, current) = (next, objective),
                None => break,
            }
        }
        let gap = residual(&w, &current.gradient);
        let method = "Newton with bounds (projected gradient)";
        let report = SolverReport::new(method, gap <= tolerance.max(1e-6), steps, current.value, Some(gap));
        let weights = std::array::from_fn(|f| std::array::from_fn(|k| w[f * KNOTS.len() + k]));
        Ok((PoolWeights(weights), report))
    }

    /// Weights W⁰ without any case.
    fn prior(&self) -> Vec<f64> {
        PoolWeights::of_other_tables(self.rows).0.concat()
    }

    /// τ.
    fn strength(&self) -> f64 {
        (STRENGTH * LEARNT_UP_TO / (self.rows as f64).max(LEARNT_UP_TO)).max(LEAST_STRENGTH)
    }

    /// `−ln P(y|x_o)` of the first cases.
    pub(crate) fn losses(&self, weights: &PoolWeights, count: usize) -> Vec<f64> {
        let w = weights.0.concat();
        (0..count).map(|i| -self.posterior(i, &w)[self.class[i]]).collect()
    }

    /// The objective at given weights.
    #[cfg(test)]
    pub(crate) fn value(&self, weights: &PoolWeights) -> f64 {
        self.objective(&weights.0.concat()).value
    }

    /// Steps back from the Newton point until the objective falls enough.
    fn line_search(
        &self,
        w: &[f64],
        current: &Objective,
        direction: &[f64],
    ) -> Option<(Vec<f64>, Objective)> {
        let mut step = 1.0;
        for _ in 0..40 {
            let next: Vec<f64> = w.iter().zip(direction).map(|(w, d)| (w + step * d).max(0.0)).collect();
            let slope: f64 = next.iter().zip(w).zip(&current.gradient).map(|((n, w), g)| g * (n - w)).sum();
            let objective = self.objective(&next);
            if slope < 0.0 && objective.value <= current.value + 1e-4 * slope {
                return Some((next, objective));
            }
            step *= 0.5;
        }
        None
    }

    fn objective(&self, w: &[f64]) -> Objective {
        let parts = ordered_chunks(self.class.len(), 256, |range| {
            let mut sums = vec![0.0; 1 + SIZE + SIZE * SIZE];
            range.for_each(|i| self.add_case(i, w, &mut sums));
            sums
        });
        let mut sums = vec![0.0; 1 + SIZE + SIZE * SIZE];
        parts.iter().for_each(|part| add_into(&mut sums, part));
        sums.iter_mut().for_each(|v| *v /= self.copies);
        add_penalty(w, &self.prior(), self.strength(), &mut sums);
        let hessian = Matrix::from_fn(SIZE, SIZE, |a, b| sums[1 + SIZE + a * SIZE + b]);
        Objective { value: sums[0], gradient: sums[1..=SIZE].to_vec(), hessian }
    }

    /// Log posterior of one case.
    fn posterior(&self, i: usize, w: &[f64]) -> Vec<f64> {
        let k = self.n_classes;
        let (knot, share) = hat(self.missing[i]);
        let mut p = vec![0.0; k];
        for (f, term) in self.terms[i * TERMS * k..(i + 1) * TERMS * k].chunks_exact(k).enumerate() {
            let at = f * KNOTS.len() + knot;
            let weight = (1.0 - share) * w[at] + share * w[at + 1];
            p.iter_mut().zip(term).for_each(|(p, l)| *p += weight * l);
        }
        log_normalise(&mut p);
        p
    }

    /// Adds value, gradient and Hessian of one case.
    fn add_case(&self, i: usize, w: &[f64], sums: &mut [f64]) {
        let k = self.n_classes;
        let terms = &self.terms[i * TERMS * k..(i + 1) * TERMS * k];
        let (knot, share) = hat(self.missing[i]);
        let hats = [1.0 - share, share];
        let at = |f: usize, h: usize| f * KNOTS.len() + knot + h;
        let mut p = self.posterior(i, w);
        let s = self.weight[i];
        sums[0] -= s * p[self.class[i]];
        p.iter_mut().for_each(|v| *v = v.exp());
        let mean: [f64; TERMS] =
            std::array::from_fn(|f| terms[f * k..(f + 1) * k].iter().zip(&p).map(|(l, p)| l * p).sum());
        for f in 0..TERMS {
            let g = s * (mean[f] - terms[f * k + self.class[i]]);
            (0..2).for_each(|h| sums[1 + at(f, h)] += hats[h] * g);
            for e in 0..TERMS {
                let second: f64 = (0..k).map(|c| p[c] * terms[f * k + c] * terms[e * k + c]).sum();
                let covariance = s * (second - mean[f] * mean[e]);
                for (h, l) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    sums[1 + SIZE + at(f, h) * SIZE + at(e, l)] += hats[h] * hats[l] * covariance;
                }
            }
        }
    }
}

/// Ridge towards the weights of other tables, and smoothness over the knots of what is added to them.
fn add_penalty(w: &[f64], prior: &[f64], strength: f64, sums: &mut [f64]) {
    let diagonal = |a: usize, b: usize| 1 + SIZE + a * SIZE + b;
    let off: Vec<f64> = w.iter().zip(prior).map(|(w, p)| w - p).collect();
    for a in 0..SIZE {
        sums[0] += 0.5 * strength * off[a] * off[a];
        sums[1 + a] += strength * off[a];
        sums[diagonal(a, a)] += strength;
        if a % KNOTS.len() + 1 < KNOTS.len() {
            let rise = off[a + 1] - off[a];
            sums[0] += 0.5 * strength * rise * rise;
            sums[1 + a] -= strength * rise;
            sums[1 + a + 1] += strength * rise;
            sums[diagonal(a, a)] += strength;
            sums[diagonal(a + 1, a + 1)] += strength;
            sums[diagonal(a, a + 1)] -= strength;
            sums[diagonal(a + 1, a)] -= strength;
        }
    }
}

/// Largest entry of the projected gradient.
fn residual(w: &[f64], gradient: &[f64]) -> f64 {
    w.iter().zip(gradient).map(|(w, g)| if *w > 0.0 { g.abs() } else { (-g).max(0.0) }).fold(0.0, f64::max)
}

/// The step to the minimum over `W ≥ 0` of the quadratic model, by coordinate descent.
fn newton_direction(w: &[f64], objective: &Objective) -> Vec<f64> {
    let h = &objective.hessian;
    let mut gradient = objective.gradient.clone();
    let mut next = w.to_vec();
    for _ in 0..COORDINATE_SWEEPS {
        let mut largest: f64 = 0.0;
        for a in 0..SIZE {
            let to = (next[a] - gradient[a] / h[(a, a)]).max(0.0);
            let step = to - next[a];
            next[a] = to;
            largest = largest.max(step.abs());
            (0..SIZE).for_each(|b| gradient[b] += step * h[(a, b)]);
        }
        if largest < 1e-14 {
            break;
        }
    }
    next.iter().zip(w).map(|(n, w)| n - w).collect()
}
