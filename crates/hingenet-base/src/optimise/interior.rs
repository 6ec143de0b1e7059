//! The path of an interior-point method: predictor, corrector and the length of the steps, for any system of optimality
//! conditions that says that complementary products go to zero together. The systems know how to solve for a step.
//!
//! Mehrotra: On the Implementation of a Primal-Dual Interior Point Method, SIAM J. Optimization 1992.

use crate::control::Control;
use crate::error::Result;

/// Share of the way to the boundary that a step goes: products stay positive, and the next step has room.
const TO_BOUNDARY: f64 = 0.995;
/// Length from which no step need be known: the whole way is then within reach.
pub(super) const LONGEST: f64 = 1.0 / TO_BOUNDARY;
/// A step below this length means that rounding has taken over.
const SHORTEST: f64 = 1e-6;
/// Most centrality corrections of a step: each costs a solve, a factorisation many more.
const CORRECTIONS: usize = 2;
/// Room that a correction asks for beyond the step it corrects, and what it must gain to be worth its solve.
const AHEAD: f64 = 0.3;
const GAIN: f64 = 0.03;

/// An iterate of a problem whose complementary products are positive and have the limit zero.
pub(super) trait PrimalDual {
    /// The matrix of the Newton steps at the iterate, factorised.
    type Factor;
    /// Changes of all variables.
    type Move;

    /// Whether the iterate is good enough.
    fn is_solved(&self) -> bool;
    /// How many times its distance from the optimum is what it may be, to tell how far the work is.
    fn excess(&self) -> f64;
    /// Factorises the matrix of the Newton steps.
    fn factorise(&self) -> Result<Self::Factor>;
    /// Number of products, and their sum.
    fn products(&self) -> (usize, f64);
    /// Sum of the products after a step of this length.
    fn sum_after(&self, step: &Self::Move, length: f64) -> f64;
    /// What the linearised products must aim at to become `centre` each, given the predictor's second-order terms; for the
    /// predictor itself there are none.
    fn aim(&self, centre: f64, predictor: Option<&Self::Move>) -> Vec<f64>;
    /// The move that gives the linearised products these values.
    fn towards(&self, factor: &Self::Factor, aim: &[f64]) -> Self::Move;
    /// Length at which the first product becomes zero, at most [`LONGEST`].
    fn longest(&self, step: &Self::Move) -> f64;
    /// Goes.
    fn advance(&mut self, step: &Self::Move, length: f64);
    /// Draws products that would be far from the centre after a step of this length back towards it (Gondzio 1996); false
    /// where the system has no such corrections.
    fn recentre(&self, _step: &Self::Move, _length: f64, _centre: f64, _aim: &mut [f64]) -> bool {
        false
    }
}

/// Steps until the problem is solved, a factorisation fails or rounding stops progress; returns their number.
pub(super) fn follow<P: PrimalDual>(point: &mut P, most_steps: usize, control: &Control) -> Result<usize> {
    let mut steps = 0;
    let first = point.excess().ln();
    while steps < most_steps && !point.is_solved() {
        // a step takes about the same share of the digits that are wanted as the one before
        let gained = 100.0 * (1.0 - point.excess().ln() / first);
        control.progress("closing the gap of a machine, per cent", gained.clamp(0.0, 99.0) as usize, 100)?;
        let Ok(factor) = point.factorise() else { break };
        steps += 1;
        let step = corrected(point, &factor);
        let length = (TO_BOUNDARY * point.longest(&step)).min(1.0);
        if length.is_nan() {
            break;
        }
        point.advance(&step, length);
        if length < SHORTEST {
            break;
        }
    }
    Ok(steps)
}

/// Predictor, corrector and centrality corrections with one factorised matrix.
fn corrected<P: PrimalDual>(point: &P, factor: &P::Factor) -> P::Move {
    let predictor = point.towards(factor, &point.aim(0.0, None));
    let (count, sum) = point.products();
    let mean = sum / count as f64;
    let ahead = point.sum_after(&predictor, point.longest(&predictor).min(1.0)) / count as f64;
    let centre = mean * (ahead / mean).clamp(0.0, 1.0).powi(3);
    let mut aim = point.aim(centre, Some(&predictor));
    let mut best = point.towards(factor, &aim);
    for _ in 0..CORRECTIONS {
        let longest = point.longest(&best);
        if !point.recentre(&best, (longest + AHEAD).min(1.0), centre, &mut aim) {
            break;
        }
        let next = point.towards(factor, &aim);
        if point.longest(&next) < longest + GAIN {
            break;
        }
        best = next;
    }
    best
}

/// Length at which the first of these values becomes zero, at most `longest`.
pub(super) fn room(values: &[f64], changes: impl IntoIterator<Item = f64>, longest: f64) -> f64 {
    values
        .iter()
        .zip(changes)
        .fold(longest, |longest, (v, d)| if v + longest * d < 0.0 { -v / d } else { longest })
}
