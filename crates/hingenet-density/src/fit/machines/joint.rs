//! One machine of all classes (Crammer & Singer): every class has its own weights on the features of all classes.

use super::design::{Design, Scaling};
use super::{MachineRows, Solving, Trained, add_terms, no_scores};
use hingenet_base::error::Result;
use hingenet_base::optimise::crammer_singer::{MulticlassProblem, MulticlassSolution, crammer_singer};

/// Trains the joint machine; the score of a class is its own linear function.
pub(super) fn train(
    data: &MachineRows<'_>,
    warm: Option<&[Vec<f64>]>,
    solving: Solving<'_>,
) -> Result<Trained> {
    let design = Design::new(data, Scaling::Standard);
    let k = data.class_weights.len();
    let class = data.classes_of_rows();
    let problem = MulticlassProblem {
        rows: &design.x,
        class: &class,
        losses: &MulticlassProblem::unit_losses(&class, k),
        costs: &data.costs(solving.params.cost),
        intercepts: true,
    };
    let solved = solve(problem, warm, solving)?;
    let mut scores = no_scores(data, k);
    for output in 0..k {
        let terms = design.terms(solved.weights.row(output), solved.intercepts[output]);
        add_terms(&mut scores, output, &terms);
    }
    Ok(Trained { scores, reports: vec![solved.report], multipliers: vec![solved.multipliers] })
}

/// Solves a machine of several classes, starting from the multipliers of a similar one.
pub(super) fn solve(
    problem: MulticlassProblem<'_>,
    warm: Option<&[Vec<f64>]>,
    Solving { gap, control, .. }: Solving<'_>,
) -> Result<MulticlassSolution> {
    let start = warm.and_then(|w| w.first()).map(Vec::as_slice);
    crammer_singer(problem, gap, start, control)
}
