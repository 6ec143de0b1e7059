//! Newton's method on the unconstrained form with a dense factor: the quickest way where λ γ is small. Problem
//! (10) is approached through problems (11) with less and less smoothing; late ones bend at few rows only, those at
//! the kink of their hinge, so that a step costs little more than one look at the rows.

use super::interior::LONGEST_STEP;
use super::interior_system::Systems;
use super::{Solution, default_smoothing};
use crate::margin::problem::{
    Certificate, DualPoint, Expansion, LossRows, MarginLoss, Problem, spread_groups,
};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::dot;
use hingenet_base::numeric::sum::{add_into, ordered_chunks};

/// Newton steps.
const STEPS: usize = 30;
/// Halvings of a step: near the kinks of many hinges ten are needed, and still quicker than interior points.
const HALVINGS: usize = 12;
/// Part of the smoothing's own error, or of the error that is allowed, to which a problem is solved.
const ON_THE_WAY: f64 = 0.25;
/// How much less a problem may be smoothed than the one before, at most and at least.
const SHARPER: std::ops::RangeInclusive<f64> = 0.15..=0.5;

/// Minimises from `start` (normalised parameters) until the relative gap is proven, or gives up early.
pub(super) fn minimise(
    problem: &Problem,
    start: &[f64],
    tolerance: f64,
    control: &Control,
) -> Result<Solution> {
    let systems = Systems::new(problem);
    let smooth = problem.loss.is_smooth();
    let base = if smooth { problem.loss.smoothing() } else { default_smoothing(problem.loss.gamma()) };
    let mut factor = 1.0;
    let mut loss = problem.loss.with_smoothing(base);
    let mut point = Point::new(problem, &loss, start.to_vec());
    let (mut certificate, mut multipliers) = (Certificate::OPEN, vec![]);
    let mut iterations = 0;
    while iterations < STEPS {
        control.check()?;
        let aim = tolerance * point.value.abs();
        // What smoothing adds to the objective here bounds what it costs at the optimum.
        let bias = if smooth { 0.0 } else { point.bias };
        let Some((next, decrease)) = point.step(problem, &systems, &loss) else { break };
        iterations += 1;
        point = next;
        if decrease > ON_THE_WAY * bias.max(aim) {
            continue;
        }
        if smooth || bias <= 2.0 * aim {
            (certificate, multipliers) = point.certify(problem, &loss);
            if certificate.gap(smooth) <= tolerance {
                break;
            }
        }
        if !smooth {
            let sharper = (0.5 * aim / bias).clamp(*SHARPER.start(), *SHARPER.end());
            factor *= sharper;
            loss = problem.loss.with_smoothing(base.scaled(factor));
            point = Point::new(problem, &loss, point.sharpened(problem, &systems, sharper));
        }
    }
    if multipliers.is_empty() {
        (certificate, multipliers) = point.certify(problem, &loss);
    }
    let converged = certificate.gap(smooth) <= tolerance;
    let method = "Newton, less and less smoothing";
    Ok(Solution { w: point.w, multipliers, certificate, iterations, converged, method })
}

/// A smoothed problem at one w.
struct Point {
    /// Normalised parameters.
    w: Vec<f64>,
    value: f64,
    /// Value less that of problem (10).
    bias: f64,
    expansion: Expansion,
    /// Gradient over the class-dependent cells.
    gradient: Vec<f64>,
    /// Rows that bend, and how.
    rows: Vec<usize>,
    couplings: Vec<f64>,
    /// Second derivatives of the losses times the differences they are functions of, over the cells.
    pull: Vec<f64>,
}

impl Point {
    fn new(problem: &Problem, loss: &MarginLoss, w: Vec<f64>) -> Self {
        let expansion = problem.likelihood.expand(&w);
        let w = expansion.normalised.clone();
        let look = Look::at(problem, loss, &problem.rows.gather(&w));
        let mut gradient = look.gradient;
        let entries = problem.rows.entries().iter().map(|&e| e as usize);
        for (g, e) in gradient.iter_mut().zip(entries) {
            *g += expansion.expected[e] - problem.likelihood.counts()[e];
        }
        let value = look.value - dot(problem.likelihood.counts(), &w);
        let bias = look.value - look.plain;
        Point {
            w,
            value,
            bias,
            expansion,
            gradient,
            rows: look.rows,
            couplings: look.couplings,
            pull: look.pull,
        }
    }

    /// The next point and half the slope towards it, about what it gains; `None` where no step leads down. The
    /// matrix is that between w and the tilted counts, as in the interior-point method.
    fn step(&self, problem: &Problem, systems: &Systems<'_>, loss: &MarginLoss) -> Option<(Point, f64)> {
        let mut q = self.expansion.expected.clone();
        problem.rows.scatter_add(&self.gradient.iter().map(|g| -g).collect::<Vec<f64>>(), &mut q);
        let between = problem.likelihood.between(&self.expansion, &q);
        let factor = systems.factorise_cells(&between, &self.rows, &self.couplings)?;
        let mut direction: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        systems.solve(&factor, &mut direction);
        let slope = dot(&direction, &self.gradient);
        let mut length = longest(&direction);
        for _ in 0..HALVINGS {
            let next = Point::new(problem, loss, self.moved(problem, &direction, length));
            if next.value <= self.value + 1e-4 * length * slope {
                return Some((next, -0.5 * slope));
            }
            length *= 0.5;
        }
        None
    }

    /// Where the optimum goes when the loss is smoothed `sharper` times as far: to first order the multipliers
    /// stay, so the differences d of the rows that bend shrink to `sharper` d, and
    /// `(∇²L + C/sharper) dw = −g − (1/sharper − 1) C d`.
    fn sharpened(&self, problem: &Problem, systems: &Systems<'_>, sharper: f64) -> Vec<f64> {
        let couplings: Vec<f64> = self.couplings.iter().map(|x| x / sharper).collect();
        let Some(factor) = systems.factorise_cells(&self.expansion, &self.rows, &couplings) else {
            return self.w.clone();
        };
        let stiffer = 1.0 / sharper - 1.0;
        let mut direction: Vec<f64> =
            self.gradient.iter().zip(&self.pull).map(|(g, p)| -g - stiffer * p).collect();
        systems.solve(&factor, &mut direction);
        self.moved(problem, &direction, longest(&direction))
    }

    fn moved(&self, problem: &Problem, direction: &[f64], length: f64) -> Vec<f64> {
        let mut w = self.w.clone();
        problem.rows.scatter_add(&direction.iter().map(|d| length * d).collect::<Vec<f64>>(), &mut w);
        w
    }

    fn certify(&self, problem: &Problem, loss: &MarginLoss) -> (Certificate, Vec<f64>) {
        let dual = problem.dual_point(problem.rows.multipliers(loss, &problem.rows.gather(&self.w)));
        let certificate = problem.bounds(&self.w, &dual);
        let DualPoint { multipliers, .. } = dual;
        (certificate, multipliers)
    }
}

/// Length of a step, at most 1, that changes no log parameter too much.
fn longest(direction: &[f64]) -> f64 {
    (LONGEST_STEP / direction.iter().fold(0.0f64, |m, d| m.max(d.abs()))).min(1.0)
}

/// Everything one look at the rows tells.
struct Look {
    value: f64,
    plain: f64,
    gradient: Vec<f64>,
    rows: Vec<usize>,
    couplings: Vec<f64>,
    pull: Vec<f64>,
}

impl Look {
    fn at(problem: &Problem, loss: &MarginLoss, v: &[f64]) -> Look {
        let (rows, k) = (&problem.rows, problem.rows.n_classes());
        let parts = ordered_chunks(rows.len(), rows.chunk(), |range| {
            let mut look = Look::empty(v.len());
            let (mut scores, mut pull, mut right) = (vec![0.0; k], vec![0.0; k], vec![0.0; k * (k - 1) / 2]);
            for m in range {
                rows.scores(m, v, &mut scores);
                let (class, weight) = (rows.class(m), rows.weight(m));
                let Some(bend) = loss.bend(class, weight, &mut scores, &mut right, &mut pull) else {
                    continue;
                };
                look.value += bend.value;
                look.plain += bend.plain;
                spread_groups(rows.groups(m), k, &scores, &mut look.gradient);
                if bend.curved {
                    look.rows.push(m);
                    look.couplings.extend_from_slice(&right);
                    spread_groups(rows.groups(m), k, &pull, &mut look.pull);
                }
            }
            look
        });
        parts.into_iter().fold(Look::empty(v.len()), Look::and)
    }

    fn empty(cells: usize) -> Look {
        let zero = vec![0.0; cells];
        Look { value: 0.0, plain: 0.0, gradient: zero.clone(), rows: vec![], couplings: vec![], pull: zero }
    }

    fn and(mut self, next: Look) -> Look {
        self.value += next.value;
        self.plain += next.plain;
        add_into(&mut self.gradient, &next.gradient);
        self.rows.extend(next.rows);
        self.couplings.extend(next.couplings);
        add_into(&mut self.pull, &next.pull);
        self
    }
}
