//! Explanations that hold for every model with a posterior: what each observed feature changes, and the
//! order in which terms are shown.

use hingenet_base::error::Result;
use hingenet_base::numeric::log::argmax;
use hingenet_data::classifier::{Explanation, ExplanationKind, Term};
use hingenet_data::table::Codes;

/// For each observed feature what the log posterior loses without it. `n_states` are those of the features,
/// `posterior` gives log posteriors of coded rows, K values a row.
pub(super) fn leave_one_out(
    state: &[Option<usize>],
    n_states: impl Fn(usize) -> usize,
    n_classes: usize,
    posterior: impl Fn(&[Codes]) -> Result<Vec<f64>>,
) -> Result<Explanation> {
    let observed: Vec<usize> = (0..state.len()).filter(|&i| state[i].is_some()).collect();
    // The row itself, the row without each observed feature, and the row without any.
    let hidden = |i: usize| {
        let keep = |m: usize| m == 0 || (m <= observed.len() && observed[m - 1] != i);
        let cells = (0..observed.len() + 2).map(|m| state[i].filter(|_| keep(m)));
        Codes::from_options(n_states(i), cells)
    };
    let all = posterior(&(0..state.len()).map(hidden).collect::<Vec<_>>())?;
    let row = |m: usize| &all[m * n_classes..(m + 1) * n_classes];
    let term = |(m, &feature): (usize, &usize)| Term {
        feature,
        given: Vec::new(),
        scores: row(0).iter().zip(row(m + 1)).map(|(a, b)| finite_difference(*a, *b)).collect(),
    };
    Ok(Explanation {
        kind: ExplanationKind::LeaveOneOut,
        base: row(observed.len() + 1).to_vec(),
        terms: observed.iter().enumerate().map(term).collect(),
        scores: row(0).to_vec(),
    })
}

/// The terms that matter most for the winning class first; ties to the lower feature.
pub(super) fn largest_first(mut explanation: Explanation) -> Explanation {
    let winner = argmax(&explanation.scores);
    let size = |t: &Term| {
        let size = t.against_mean(winner).abs();
        if size.is_nan() { f64::INFINITY } else { size }
    };
    explanation.terms.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.feature.cmp(&b.feature)));
    explanation
}

/// `a - b`, with equal infinities making no difference.
fn finite_difference(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { a - b }
}
