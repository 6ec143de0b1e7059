//! Primal-dual interior-point method for problems (10) and (11): robust where λ and γ are large, as long
//! as a dense system over the class-dependent cells fits.
//!
//! With `d_{mc} = γ + S_c − S_{c_m}` and the conjugate φ* of the row loss (0 for problem (10)) the
//! optimum solves
//!
//! ```text
//! e(w) = n + Bᵀa                          w is the maximum-likelihood estimate of the tilted counts
//! d_{mc} = ∂φ*/∂a_{mc} + z_m − y_{mc}     y, z ≥ 0 belong to a ≥ 0 and to b_m = Σ_c a_{mc} ≤ λ s_m
//! a y = μ,   z (λ s − b) = μ              μ → 0 (predictor-corrector after Mehrotra)
//! ```
//!
//! Each Newton step eliminates a, y, z row by row (`interior_rows`) and solves
//! `(∇²L + Bᵀ E B) dw = r` over the class-dependent cells by Cholesky, or the equal system over the rows
//! where these are fewer (`interior_system`); all other entries of w keep their maximum-likelihood values,
//! which are optimal for them. The start is the point of the central path of
//! problem (10) at a large μ, found by a damped Newton method that cannot fail: its function is convex.

use super::Solution;
use super::interior_rows::{Direction, Linear, Multipliers, RowSystem, Target};
use super::interior_system::{Factor, Systems};
use crate::margin::problem::{Certificate, DualPoint, Expansion, LossRows, Problem};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::dot;

/// Newton steps.
const STEPS: usize = 400;
/// Fraction of the way to the boundary that a step may go.
const TO_BOUNDARY: f64 = 0.995;
/// Part of what is left of `e(w) = q` that the products keep at least.
const LEAD: f64 = 0.3;
/// Step below which the next one only levels the products: they are too uneven for a longer one.
const SHORT: f64 = 0.03;
/// Part of what is left to close by which a levelling step may grow it.
const LEVELLING: f64 = 0.2;
/// Largest change of a log parameter in one step.
pub(super) const LONGEST_STEP: f64 = 20.0;
/// Newton steps on the way to the first central point.
const CENTRING_STEPS: usize = 10;

pub(super) struct Solver<'a> {
    problem: &'a Problem,
    rows: RowSystem<'a>,
    systems: Systems<'a>,
}

/// The best bounds so far and what belongs to them.
struct Best {
    certificate: Certificate,
    w: Vec<f64>,
    multipliers: Vec<f64>,
}

/// Everything known at one iterate.
struct State {
    w: Vec<f64>,
    x: Multipliers,
    expansion: Expansion,
    /// Tilted counts `q = n + Bᵀa`, all entries; positive at every iterate.
    q: Vec<f64>,
    /// `e(w) − q` on the class-dependent cells.
    r_d: Vec<f64>,
    linear: Linear,
    /// What is left to close, in units of the objective.
    open: f64,
}

impl<'a> Solver<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        Solver { problem, rows: RowSystem::new(problem), systems: Systems::new(problem) }
    }

    /// Minimises from `start` (normalised parameters) until the relative gap is proven: gap11 for a smooth loss, gap10
    /// for the plain hinge.
    pub fn minimise(&self, start: &[f64], tolerance: f64, control: &Control) -> Result<Solution> {
        let (mut state, mut iterations) = self.first_central_point(start, control)?;
        let mut best =
            Best { certificate: Certificate::OPEN, w: state.w.clone(), multipliers: state.x.a.clone() };
        let smooth = self.rows.is_smooth();
        let (mut stalls, mut last) = (0, 1.0);
        let mut least_open = state.open;
        // Only to know when a certificate is worth its passes.
        let scale = self.problem.hard_objective(start).abs();
        while iterations < STEPS && stalls < 3 {
            control.check()?;
            if state.open <= 10.0 * tolerance * scale {
                self.certify(&state, &mut best);
                if best.certificate.gap(smooth) <= tolerance {
                    break;
                }
            }
            iterations += 1;
            let Some((next, step)) = self.advance(&state, last < SHORT) else { break };
            last = step;
            if next.open < least_open {
                least_open = next.open;
            } else if state.open == least_open {
                // A step that closes nothing leaves the best point, maybe for good.
                self.certify(&state, &mut best);
            }
            stalls = if step < 1e-4 { stalls + 1 } else { 0 };
            state = next;
        }
        self.certify(&state, &mut best);
        let Best { mut certificate, w, multipliers } = best;
        certificate.upper10 = self.problem.hard_objective(&w);
        certificate.upper11 = self.problem.objective(&w);
        let converged = certificate.gap(smooth) <= tolerance;
        Ok(Solution { w, multipliers, certificate, iterations, converged, method: "interior points" })
    }

    /// Joins the bounds at `state` into `best`, and its parameters and multipliers if they are better.
    fn certify(&self, state: &State, best: &mut Best) {
        let smooth = self.rows.is_smooth();
        let DualPoint { lower10, lower11, multipliers } = self.problem.dual_point(state.x.a.clone());
        let w = &state.expansion.normalised;
        let (upper10, upper11) = (self.problem.hard_objective(w), self.problem.objective(w));
        let now = Certificate { upper10, lower10, upper11, lower11 };
        if now.upper(smooth) < best.certificate.upper(smooth) {
            best.w.copy_from_slice(w);
        }
        if now.lower(smooth) > best.certificate.lower(smooth) {
            best.multipliers = multipliers;
        }
        best.certificate = best.certificate.join(&now);
    }

    /// Damped Newton on `L(w) + Σ_m min_ξ barrier` at a fixed large μ.
    fn first_central_point(&self, start: &[f64], control: &Control) -> Result<(State, usize)> {
        let width = self.rows.first_width();
        let mut w = start.to_vec();
        let mut value = f64::INFINITY;
        for iteration in 0..CENTRING_STEPS {
            control.check()?;
            let expansion = self.problem.likelihood.expand(&w);
            let (x, barrier) = self.rows.centre(&self.problem.rows.gather(&w), width);
            if value.is_infinite() {
                value = expansion.value + barrier;
            }
            let q = self.tilted(&x);
            let r_d = self.dual_residual(&expansion, &q);
            let open = self.problem.likelihood.distance(&q, &expansion.expected);
            let close_enough = open <= 0.1 * x.complementarity();
            let linear = self.rows.linearise_plain(&x);
            if close_enough || iteration + 1 == CENTRING_STEPS {
                return Ok((self.state(w, x), iteration));
            }
            let Some(factor) = self.systems.factorise(&expansion, None, &linear) else {
                return Ok((self.state(w, x), iteration));
            };
            let mut direction: Vec<f64> = r_d.iter().map(|r| -r).collect();
            self.systems.solve(&factor, &mut direction);
            let slope = dot(&direction, &r_d);
            let mut step = 1.0;
            for _ in 0..40 {
                let candidate = self.moved(&w, &direction, step);
                let barrier = self.rows.centre(&self.problem.rows.gather(&candidate), width).1;
                let next = self.problem.likelihood.expand(&candidate).value + barrier;
                if next <= value + 1e-4 * step * slope {
                    w = candidate;
                    value = next;
                    break;
                }
                step *= 0.5;
            }
        }
        let x = self.rows.centre(&self.problem.rows.gather(&w), width).0;
        Ok((self.state(w, x), CENTRING_STEPS))
    }

    fn state(&self, w: Vec<f64>, x: Multipliers) -> State {
        let expansion = self.problem.likelihood.expand(&w);
        let q = self.tilted(&x);
        let r_d = self.dual_residual(&expansion, &q);
        let linear = self.rows.linearise(&self.problem.rows.gather(&w), &x);
        let divergence = self.problem.likelihood.distance(&q, &expansion.expected);
        let open = divergence + linear.primal_residual(&x) + x.complementarity();
        State { w: expansion.normalised.clone(), x, expansion, q, r_d, linear, open }
    }

    fn tilted(&self, x: &Multipliers) -> Vec<f64> {
        let mut q = self.problem.likelihood.counts().to_vec();
        self.problem.rows.scatter_add(&self.problem.rows.tilt(&x.a), &mut q);
        q
    }

    fn dual_residual(&self, expansion: &Expansion, q: &[f64]) -> Vec<f64> {
        let entry = |&j: &u32| expansion.expected[j as usize] - q[j as usize];
        self.problem.rows.entries().iter().map(entry).collect()
    }

    fn moved(&self, w: &[f64], direction: &[f64], step: f64) -> Vec<f64> {
        let mut w = w.to_vec();
        for (&e, d) in self.problem.rows.entries().iter().zip(direction) {
            w[e as usize] += step * d;
        }
        w
    }

    /// The next iterate and the step length, 0 if nothing less is left to close than before; `None` where the
    /// Newton matrix cannot be factorised.
    ///
    /// The matrix between w and the tilted counts makes the longer steps; only that of w itself is certain to
    /// point downwards, and is the second choice.
    fn advance(&self, state: &State, level: bool) -> Option<(State, f64)> {
        let mut first = None;
        for q in [Some(&state.q[..]), None] {
            let Some(factor) = self.systems.factorise(&state.expansion, q, &state.linear) else { continue };
            let (next, step) = self.step(&factor, state, level);
            if step > 0.0 {
                return Some((next, step));
            }
            first.get_or_insert((next, step));
        }
        first
    }

    /// One predictor-corrector step; backtracks until less is left to close. Returns the step length.
    fn step(&self, factor: &Factor, state: &State, level: bool) -> (State, f64) {
        let x = &state.x;
        let predictor = self.direction(factor, state, &Target { width: 0.0, second: None });
        let affine = x.longest_step(&predictor).min(1.0);
        let mu = x.complementarity();
        let shrink = (x.complementarity_after(&predictor, affine) / mu).powi(3).clamp(1e-8, 1.0);
        let (shrink, most) = if level { (1.0, 1.0 + LEVELLING) } else { (shrink, 1.0) };
        // The products must not run ahead of e(w) = q: far off the path steps get short.
        let behind = state.open - mu;
        let width = self.rows.width(x) * shrink.max(LEAD * behind / mu);
        let target = Target { width, second: (!level).then_some((&predictor, affine.sqrt())) };
        let corrector = self.direction(factor, state, &target);
        let mut step = (TO_BOUNDARY * x.longest_step(&corrector)).min(1.0);
        let largest = corrector.w.iter().fold(0.0f64, |m, d| m.max(d.abs()));
        step = step.min(LONGEST_STEP / largest);
        let mut first = None;
        for _ in 0..12 {
            let w = self.moved(&state.w, &corrector.w, step);
            let next = self.state(w, x.moved(&corrector, step));
            if next.open <= (most - 1e-3 * step) * state.open {
                return (next, step);
            }
            first.get_or_insert((next, step));
            step *= 0.5;
        }
        match first {
            Some((next, _)) => (next, 0.0),
            None => (self.state(state.w.clone(), x.clone()), 0.0),
        }
    }

    fn direction(&self, factor: &Factor, state: &State, target: &Target<'_>) -> Direction {
        let reduced = self.rows.reduce(&state.linear, &state.x, target);
        let mut w: Vec<f64> = reduced.cells.iter().zip(&state.r_d).map(|(g, r)| g - r).collect();
        self.systems.solve(factor, &mut w);
        self.rows.expand(&state.linear, &state.x, &reduced, w)
    }
}
