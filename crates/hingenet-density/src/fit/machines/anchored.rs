//! A machine around a generative classifier. By Lemma 1 of the paper kernel naive Bayes and kernel TAN are points w_o in the
//! space of the machine's weights; here the penalty is the distance from that point:
//!
//! ```text
//! min ½ Σ_k |w_k - w_ok|² + Σ_i C_i max_k [1(k ≠ y) + s_k(x_i) - s_y(x_i)]
//! ```
//!
//! in the features' own units (log densities), where a forest has its weights. The intercepts are penalised around the log
//! class priors in the same way, features being measured from their means. So small C gives the generative
//! classifier itself, and larger C moves away from it for the sake of margins only. Given scores `o = w_o·t` of the rows
//! this is the machine of several classes with the losses `1 + o_k - o_y`; two classes at half the cost are the
//! paper's machine with one weight for each feature.

use super::design::{Design, Scaling};
use super::joint::solve;
use super::{MachineRows, Solving, Trained, add_terms};
use crate::structure::Kept;
use crate::terms::Scores;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::optimise::crammer_singer::MulticlassProblem;

/// Trains the machine around the classifier of these forests; no edges at all are naive Bayes.
pub(super) fn train(
    data: &MachineRows<'_>,
    forests: &Kept,
    warm: Option<&[Vec<f64>]>,
    solving: Solving<'_>,
) -> Result<Trained> {
    let k = data.class_weights.len();
    let mut scores = anchor(data, forests);
    let given = scores.evaluate(data.features);
    let class = data.classes_of_rows();
    let losses = Matrix::from_fn(class.len(), k, |i, c| {
        let row = &given[data.rows[i]];
        if c == class[i] { 0.0 } else { 1.0 + row[c] - row[class[i]] }
    });
    let design = Design::new(data, Scaling::Own);
    let p = design.columns.len();
    let rows = Matrix::from_fn(class.len(), p + 1, |i, j| if j < p { design.x[(i, j)] } else { 1.0 });
    let cost = if k == 2 { 0.5 * solving.params.cost } else { solving.params.cost };
    let costs = data.costs(cost);
    let problem =
        MulticlassProblem { rows: &rows, class: &class, losses: &losses, costs: &costs, intercepts: false };
    let solved = solve(problem, warm, solving)?;
    for output in 0..k {
        let weights = solved.weights.row(output);
        add_terms(&mut scores, output, &design.terms(&weights[..p], weights[p]));
    }
    let scores = if k == 2 { scores.second_against_first() } else { scores };
    Ok(Trained { scores, reports: vec![solved.report], multipliers: vec![solved.multipliers] })
}

/// Scores of the forests, with the class weights in the priors.
fn anchor(data: &MachineRows<'_>, forests: &Kept) -> Scores {
    let mut prior = vec![0.0; data.class_weights.len()];
    data.rows
        .iter()
        .for_each(|&r| prior[data.class[r]] += data.weights[r] * data.class_weights[data.class[r]]);
    let total: f64 = prior.iter().sum();
    let log_prior: Vec<f64> = prior.iter().map(|p| (p / total).ln()).collect();
    let mut scores = Scores::of_forests_among(&log_prior, data.n_features(), forests, data.available);
    scores.raw = vec![vec![0.0; prior.len()]; data.raw.terms.len()];
    scores
}
