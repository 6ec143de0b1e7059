//! Explanations of single rows from the tables: the terms that add up to the scores.

use crate::classifier::DensityClassifier;
use crate::compile::Scratch;
use crate::terms::class_scores;
use hingenet_data::classifier::{Explanation, ExplanationKind, Term};

/// Terms of the one row of encoded `cells`: additive for a complete row, else the change of the scores when
/// each observed feature alone is treated as missing. Terms are measured from their training mean.
pub(crate) fn explain(model: &DensityClassifier, cells: &[Vec<f64>]) -> Explanation {
    let mut scratch = Scratch::new(model);
    let outputs = model.outputs(cells, 0, None, &mut scratch);
    if cells.iter().any(|c| c[0].is_nan()) {
        return leave_one_out(model, cells, &outputs);
    }
    let used = model.units.used();
    let mut base = model.base.clone();
    let mut terms = Vec::new();
    for (i, line) in model.lines.iter().enumerate() {
        let mut value = vec![0.0; base.len()];
        line.add(scratch.row[i], &scratch.log_density[i], &mut value);
        terms.push(Term { feature: used[i], given: vec![], scores: centred(value, &line.centre, &mut base) });
    }
    for table in &model.pairs {
        let (i, j) = table.pair;
        let mut value = vec![0.0; base.len()];
        table.add(scratch.row[i], scratch.row[j], &mut value);
        let scores = centred(value, &table.centre, &mut base);
        terms.push(Term { feature: used[j], given: vec![used[i]], scores });
    }
    Explanation {
        kind: ExplanationKind::Additive,
        base: class_scores(&base),
        terms,
        scores: class_scores(&outputs),
    }
}

/// Takes the mean off a contribution, adds it to the base, and turns outputs into class scores.
fn centred(mut value: Vec<f64>, centre: &[f64], base: &mut [f64]) -> Vec<f64> {
    for ((v, c), b) in value.iter_mut().zip(centre).zip(base) {
        *v -= c;
        *b += c;
    }
    class_scores(&value)
}

fn leave_one_out(model: &DensityClassifier, cells: &[Vec<f64>], outputs: &[f64]) -> Explanation {
    let mut scratch = Scratch::new(model);
    let used = model.units.used();
    let seen: Vec<usize> = (0..cells.len()).filter(|&i| !cells[i][0].is_nan()).collect();
    let terms = seen
        .iter()
        .map(|&i| {
            let without = model.outputs(cells, 0, Some(i), &mut scratch);
            let change: Vec<f64> = outputs.iter().zip(&without).map(|(a, b)| a - b).collect();
            Term { feature: used[i], given: vec![], scores: class_scores(&change) }
        })
        .collect();
    let nothing: Vec<Vec<f64>> = cells.iter().map(|_| vec![f64::NAN]).collect();
    let base = model.outputs(&nothing, 0, None, &mut scratch);
    Explanation {
        kind: ExplanationKind::LeaveOneOut,
        base: class_scores(&base),
        terms,
        scores: class_scores(outputs),
    }
}
