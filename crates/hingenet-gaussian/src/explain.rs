//! Why a row got its class: for a complete row of the network classifier the terms of the nodes, which add up; otherwise
//! for each observed feature the change of the scores when that feature alone is treated as missing.

use crate::predict::GaussianClassifier;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::classifier::{Explanation, ExplanationKind, Term};
use hingenet_data::table::Table;

pub(super) fn explain(model: &GaussianClassifier, rows: &Table, row: usize) -> Result<Explanation> {
    if row >= rows.n_rows() {
        return Err(Error::Shape { what: "row to explain".into(), expected: rows.n_rows(), found: row });
    }
    let x = model.features.encode(&rows.rows(&[row]))?;
    let complete = x.data().iter().all(|v| !v.is_nan());
    if complete && model.machine.is_none() { node_terms(model, &x) } else { leave_one_out(model, &x) }
}

/// One term per node; indicator nodes of one column have a term each.
fn node_terms(model: &GaussianClassifier, x: &Matrix) -> Result<Explanation> {
    let nodes = model.features.nodes();
    let base: Vec<f64> = model.prior.iter().map(|p| p.ln()).collect();
    let terms: Vec<Term> = (0..nodes.len())
        .map(|j| {
            let mut given: Vec<usize> =
                model.networks.iter().flat_map(|g| g.dag().parents(j)).map(|&i| nodes[i].column).collect();
            given.sort_unstable();
            given.dedup();
            let scores = model.networks.iter().map(|g| g.node_term(j, x.row(0))).collect();
            Term { feature: nodes[j].column, given, scores }
        })
        .collect();
    let scores = (0..base.len()).map(|c| base[c] + terms.iter().map(|t| t.scores[c]).sum::<f64>()).collect();
    Ok(Explanation { kind: ExplanationKind::Additive, base, terms, scores })
}

fn leave_one_out(model: &GaussianClassifier, x: &Matrix) -> Result<Explanation> {
    let nodes = model.features.nodes();
    let scores = one(model.scores(x)?);
    let mut terms = Vec::new();
    for column in 0..model.features.columns() {
        let own: Vec<usize> = (0..nodes.len()).filter(|&k| nodes[k].column == column).collect();
        if own.is_empty() || own.iter().any(|&k| x[(0, k)].is_nan()) {
            continue;
        }
        let mut without = x.clone();
        own.iter().for_each(|&k| without[(0, k)] = f64::NAN);
        let rest = one(model.scores(&without)?);
        let change = scores.iter().zip(&rest).map(|(s, r)| if s.is_finite() { s - r } else { 0.0 }).collect();
        terms.push(Term { feature: column, given: Vec::new(), scores: change });
    }
    let base = model.prior.iter().map(|p| p.ln()).collect();
    Ok(Explanation { kind: ExplanationKind::LeaveOneOut, base, terms, scores })
}

fn one(mut scores: Vec<Vec<f64>>) -> Vec<f64> {
    scores.pop().unwrap_or_default()
}
