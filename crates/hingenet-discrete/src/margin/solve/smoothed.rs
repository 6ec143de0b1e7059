//! Scaled L-BFGS and Newton-CG on the unconstrained form, for problems whose dense systems are too large.

use super::{Solution, SolveSettings, default_smoothing};
use crate::margin::problem::{Certificate, LossRows, Point, Problem};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::optimise::lbfgs::{Iterate, LbfgsSettings, lbfgs};
use hingenet_base::optimise::newton_cg::{Curved, NewtonSettings, newton_cg};

/// Continuation: a smooth problem is first solved smoothed further where λ γ is large; the plain hinge is
/// approached by smoothing 4 times less at each stage until the proven gap is small enough.
pub(super) fn minimise<R: LossRows>(
    problem: &Problem<R>,
    start: &[f64],
    settings: &SolveSettings,
    control: &Control,
) -> Result<Solution<R::Multipliers>> {
    let smooth = problem.loss.is_smooth();
    let gamma = problem.loss.gamma();
    let base = if smooth { problem.loss.smoothing() } else { default_smoothing(gamma) };
    let hard = problem.loss.lambda() * gamma >= 100.0;
    let mut factors = match (hard, settings.persistent) {
        (true, true) => vec![16.0, 4.0, 1.0],
        (true, false) => vec![16.0, 1.0],
        (false, _) => vec![1.0],
    };
    if !smooth {
        factors.extend((1..=14).map(|k| 0.25f64.powi(k)));
    }
    let mut state = Stage {
        w: start.to_vec(),
        certificate: Certificate::OPEN,
        multipliers: None,
        best: None,
        iterations: 0,
    };
    for (at, factor) in factors.iter().enumerate() {
        control.check()?;
        let stage = Problem { loss: problem.loss.with_smoothing(base.scaled(*factor)), ..problem.clone() };
        let target = smooth && at + 1 == factors.len();
        state.descend(problem, &stage, target, settings, control)?;
        let done = state.certificate.gap(smooth) <= settings.tolerance;
        if done || state.iterations >= settings.max_iterations || control.time_is_up() {
            break;
        }
    }
    if state.best.is_none() {
        // It ended in a stage of more smoothing: what is proven there is better than nothing.
        let w = state.w.clone();
        state.certify(problem, problem, &w);
    }
    let mut w = state.best.map_or(state.w, |(_, w)| w);
    problem.likelihood.normaliser().normalise(&mut w)?;
    let mut certificate = state.certificate;
    // Where no bound was proven, what the last point proves.
    let multipliers =
        state.multipliers.unwrap_or_else(|| problem.dual_point(problem.multipliers(&w)).multipliers);
    certificate.upper10 = problem.hard_objective(&w);
    certificate.upper11 = problem.objective(&w);
    Ok(Solution {
        w,
        multipliers,
        certificate,
        iterations: state.iterations,
        converged: certificate.gap(smooth) <= settings.tolerance,
        method: "L-BFGS, Newton-CG",
    })
}

/// Share of the objective by which it must fall from one look to the next, each after half as many iterations more, for
/// a stage of more smoothing to go on, and for a fit inside a search: there points are compared by decisions, which
/// have settled long before the proven gap has closed.
const STAGE_DECREASE: f64 = 1e-2;
const SEARCH_DECREASE: f64 = 5e-4;

/// Curvature that the loss is taken to have at a cell, for each λ and row that has its states with a class of the mean
/// frequency. Fits of letter then need a fifth (naive Bayes) and a third (TAN) of the iterations that counts alone need;
/// ten times more is better still there, but makes fits of USPS longer.
const LOSS_CURVATURE: f64 = 1e-4;

/// About the inverse diagonal of the Hessian: the likelihood bends a cell by its count, the loss by the rows of all
/// classes that have its states. It matters for cells that other classes have much more often.
fn inverse_curvature<R: LossRows>(problem: &Problem<R>) -> Vec<f64> {
    let (counts, k) = (problem.likelihood.counts(), problem.rows.layout().n_classes());
    let mut curvature = counts.to_vec();
    for classes in problem.rows.layout().entries().chunks_exact(k) {
        let all: f64 = classes.iter().map(|&e| counts[e as usize]).sum();
        let bent = LOSS_CURVATURE * problem.loss.lambda() * all / k as f64;
        classes.iter().for_each(|&e| curvature[e as usize] += bent);
    }
    curvature.iter().map(|c| 1.0 / c).collect()
}

/// State of the continuation; bounds always belong to the problem itself.
struct Stage<M> {
    w: Vec<f64>,
    certificate: Certificate,
    /// Multipliers of the best lower bound.
    multipliers: Option<M>,
    /// Best objective and its parameters.
    best: Option<(f64, Vec<f64>)>,
    iterations: usize,
}

impl<M: Clone> Stage<M> {
    /// Bounds of `problem` at `w`, with multipliers of the smoothed `stage`.
    fn certify<R: LossRows<Multipliers = M>>(
        &mut self,
        problem: &Problem<R>,
        stage: &Problem<R>,
        w: &[f64],
    ) -> f64 {
        let w = problem.likelihood.expand(w).normalised;
        let smooth = problem.loss.is_smooth();
        let dual = problem.dual_point(stage.multipliers(&w));
        let now = problem.bounds(&w, &dual);
        if now.lower(smooth) > self.certificate.lower(smooth) {
            self.multipliers = Some(dual.multipliers);
        }
        self.certificate = self.certificate.join(&now);
        let value = now.upper(smooth);
        if self.best.as_ref().is_none_or(|(best, _)| value < *best) {
            self.best = Some((value, w));
        }
        self.certificate.gap(smooth)
    }

    /// L-BFGS, then Newton-CG, on one stage. `target` stages run to the tolerance, the others until the
    /// next one starts well.
    fn descend<R: LossRows<Multipliers = M>>(
        &mut self,
        problem: &Problem<R>,
        stage: &Problem<R>,
        target: bool,
        settings: &SolveSettings,
        control: &Control,
    ) -> Result<()> {
        let inverse = inverse_curvature(problem);
        let rough = if target { 1e-9 } else { 1e-6 } * problem.likelihood.total();
        let left = settings.max_iterations.saturating_sub(self.iterations).max(1);
        let budget = if target { left } else { left.min(500) };
        let enough = match (target, settings.persistent) {
            (false, _) => Some(STAGE_DECREASE),
            (true, false) => Some(SEARCH_DECREASE),
            (true, true) => None,
        };
        let lbfgs_settings = LbfgsSettings { memory: 50, max_iterations: budget, gradient_tolerance: rough };
        let (mut next_check, mut last_value) = (10, f64::INFINITY);
        let start = std::mem::take(&mut self.w);
        let found = lbfgs(
            start,
            Some(&inverse),
            &lbfgs_settings,
            |w, gradient| {
                let point = stage.unconstrained(w);
                gradient.copy_from_slice(&point.gradient);
                point.value
            },
            |at: Iterate<'_>| {
                control.progress("L-BFGS", at.iteration, budget)?;
                if at.iteration < next_check {
                    return Ok(control.time_is_up());
                }
                // A proof costs about as much as an iteration.
                next_check = if enough.is_some() { at.iteration * 3 / 2 } else { at.iteration * 5 / 4 };
                let decrease = last_value - at.value;
                last_value = at.value;
                match enough {
                    Some(share) => Ok(decrease <= share * at.value.abs()),
                    None => Ok(self.certify(problem, stage, at.x) <= settings.tolerance),
                }
            },
        )?;
        self.iterations += found.iterations;
        self.w = found.x;
        if !target && problem.loss.is_smooth() {
            // The last stage is the problem itself, so those before need no proof.
            return Ok(());
        }
        let w = self.w.clone();
        let reached = self.certify(problem, stage, &w) <= settings.tolerance;
        if reached
            || self.iterations >= settings.max_iterations
            || !settings.persistent
            || control.time_is_up()
        {
            return Ok(());
        }
        self.polish(problem, stage, settings, control)
    }

    fn polish<R: LossRows<Multipliers = M>>(
        &mut self,
        problem: &Problem<R>,
        stage: &Problem<R>,
        settings: &SolveSettings,
        control: &Control,
    ) -> Result<()> {
        let newton = NewtonSettings {
            max_iterations: 40,
            max_inner: 200,
            gradient_tolerance: 1e-12 * problem.likelihood.total(),
        };
        let start = std::mem::take(&mut self.w);
        let found = newton_cg(start, &newton, stage, |at: Iterate<'_>| {
            control.progress("Newton-CG", at.iteration, newton.max_iterations)?;
            if control.time_is_up() {
                return Ok(true);
            }
            Ok(at.iteration > 0
                && at.iteration.is_multiple_of(3)
                && self.certify(problem, stage, at.x) <= settings.tolerance)
        })?;
        self.iterations += found.iterations;
        self.w = found.x;
        let w = self.w.clone();
        self.certify(problem, stage, &w);
        Ok(())
    }
}

impl<R: LossRows> Curved for Problem<R> {
    type Point = Point;

    fn evaluate(&self, x: &[f64]) -> Point {
        self.unconstrained(x)
    }

    fn value(&self, at: &Point) -> f64 {
        at.value
    }

    fn gradient<'a>(&self, at: &'a Point) -> &'a [f64] {
        &at.gradient
    }

    fn hessian_product(&self, at: &Point, direction: &[f64]) -> Vec<f64> {
        Problem::hessian_product(self, at, direction)
    }

    /// The diagonal of the likelihood part is about the expected counts.
    fn preconditioner(&self, at: &Point) -> Vec<f64> {
        at.expansion.expected.iter().map(|e| 1.0 / (e + 1e-3)).collect()
    }
}
