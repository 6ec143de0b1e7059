//! The convex-concave procedure for (3.11): the likelihood of the other class is replaced by its tangent, an upper
//! bound, which leaves a linear objective, convex quadratic constraints and balls: a second-order cone program. The
//! present point is feasible and every solution is feasible for (3.11), so the objective falls.

use super::ball::Ball;
use super::mm::Margins;
use super::{DiscriminativeFit, Labelled};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::dot;
use hingenet_base::optimise::cone::{ConeProgram, ConeRow};
use hingenet_base::solver::SolverReport;

/// Largest number of convex steps, and the relative decrease that ends them.
const MAX_STEPS: usize = 50;
const DECREASE: f64 = 1e-6;
/// Least radius of a ball in the programs: their method needs room inside. The result is projected onto the ball itself.
const LEAST_RADIUS: f64 = 1e-6;

pub(super) fn solve(problem: Margins<'_>, control: &Control) -> Result<DiscriminativeFit> {
    let mut u = problem.ball.start();
    let mut trace = vec![problem.objective(&u)];
    let mut report = empty_report(trace[0]);
    let mut bounds = Vec::new();
    while report.iterations < MAX_STEPS && problem.ball.dimension > 0 {
        control.progress("convex step", report.iterations, 0)?;
        report.iterations += 1;
        let (next, optimum) = convex_step(&problem, &u, control)?;
        bounds.push(optimum);
        let before = report.objective;
        let after = problem.objective(&next);
        report.gap = Some((before - after) / before.abs().max(f64::MIN_POSITIVE));
        if after < before {
            u = next;
            report.objective = after;
            trace.push(after);
        }
        if before - after <= DECREASE * before.abs() {
            report.converged = true;
            break;
        }
    }
    let fit = problem.ball.finish(problem.data, &u, trace, report)?;
    Ok(DiscriminativeFit { convex_optima: bounds, ..fit })
}

/// A report before the first step.
pub(super) fn empty_report(objective: f64) -> SolverReport {
    SolverReport {
        method: "MM-SGBN convex-concave procedure (relative decrease)".into(),
        converged: false,
        iterations: 0,
        objective,
        gap: None,
        slack: None,
    }
}

/// The next u and the optimum of the sub-problem, at least (3.11) at its solution. Variables: u and r, then ξ and e of each
/// row, where `e_i >= Σ_j r_ij²/(2σ_j²)` over the free nodes of its class.
fn convex_step(problem: &Margins<'_>, u: &[f64], control: &Control) -> Result<(Vec<f64>, f64)> {
    let (data, ball) = (problem.data, &problem.ball);
    let (n, p) = (data.x.rows(), ball.dimension);
    let mut program = ConeProgram::new(p + 1, n, 2);
    program.at_least_zero(0.0, vec![(p, -1.0)]);
    (0..n).for_each(|i| program.at_least_zero(0.0, vec![(program.local(i, 0), -1.0)]));
    margin_rows(problem, u, &mut program);
    for i in 0..n {
        let cone = own_likelihood_cone(data, ball, i, program.local(i, 1));
        program.cone(cone);
    }
    for (range, radius) in ball.classes.iter().filter(|(range, _)| !range.is_empty()) {
        let rows = range.clone().map(|k| (0.0, vec![(k, -1.0)]));
        program.cone(std::iter::once((radius.max(LEAST_RADIUS), vec![])).chain(rows).collect());
    }
    let mut cost = vec![0.0; p + 1 + 2 * n];
    cost[p] = -1.0;
    (0..n).for_each(|i| cost[program.local(i, 0)] = problem.lambda * data.weights[i]);
    let mut u = program.minimise(&cost, control)?.x;
    let optimum = dot(&cost, &u);
    u.truncate(p);
    ball.project(&mut u);
    Ok((u, optimum))
}

/// `fixed_y − e_i − tangent_c(u) − r + ξ_i >= 0` for every row and every other class.
fn margin_rows(problem: &Margins<'_>, u: &[f64], program: &mut ConeProgram) {
    let (data, ball) = (problem.data, &problem.ball);
    let (residuals, l) = problem.scores(u);
    let r = ball.dimension;
    for i in 0..data.x.rows() {
        let own = data.class[i];
        for c in (0..data.networks.len()).filter(|&c| c != own) {
            // L_c(u') <= L_c(u) + Σ_j (r_ij/σ²_j) z̃·(u'_j − u_j), z̃ the design in ball coordinates
            let mut entries = vec![(r, 1.0), (program.local(i, 0), -1.0), (program.local(i, 1), 1.0)];
            let mut constant = l[(i, c)];
            for (block, residual) in ball.blocks.iter().zip(&residuals).filter(|(b, _)| b.class == c) {
                let scale = residual[i] / block.variance;
                let design = block.design_in_u(i);
                let range = block.offset..block.offset + block.len();
                constant -= scale * dot(&design, &u[range.clone()]);
                entries.extend(range.zip(design.iter().map(|z| scale * z)));
            }
            program.at_least_zero(problem.fixed[(i, own)] - constant, entries);
        }
    }
}

/// `‖(2 q, e − 1)‖ <= e + 1` with `q_j = r_ij / sqrt(2σ_j²)`, i.e. `Σ q² <= e`.
fn own_likelihood_cone(data: &Labelled<'_>, ball: &Ball, i: usize, e: usize) -> Vec<ConeRow> {
    let mut rows = vec![(1.0, vec![(e, -1.0)]), (-1.0, vec![(e, -1.0)])];
    for block in ball.blocks.iter().filter(|b| b.class == data.class[i]) {
        let scale = 2.0 / (2.0 * block.variance).sqrt();
        let design = block.design_in_u(i);
        let columns = block.offset..block.offset + block.len();
        let entries = columns.zip(design.iter().map(|z| scale * z)).collect();
        rows.push((scale * block.central_residual(i), entries));
    }
    rows
}
