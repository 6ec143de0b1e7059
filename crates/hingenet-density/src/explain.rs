//! The terms of a score from the tables: those of features and pairs, which add up for a complete row.

use crate::classifier::DensityClassifier;
use crate::compile::Scratch;
use crate::terms::class_scores;
use hingenet_base::error::Result;
use hingenet_data::explain::{Game, ScoreTerms, Term, leave_one_out};
use hingenet_data::table::Table;
use std::sync::OnceLock;

/// Terms of a row: additive if it is complete, each measured from its training mean and stretched by the factor that
/// calibrates the row; else, and where a class is impossible, what each observed feature changes.
pub(crate) fn terms(model: &DensityClassifier, row: &Table) -> Result<ScoreTerms> {
    let cells = model.units.encode(row)?;
    let used = model.units.used();
    if cells.iter().any(|c| c[0].is_nan()) || !model.absent.is_empty() {
        return leave_one_out(model, row, &Game::of_cells(model, row, used.iter().copied()));
    }
    let mut scratch = Scratch::new(&model.lines, model.n_classes);
    let factor = model.calibration.factor(&model.outputs(&cells, 0, &mut scratch, &OnceLock::new()));
    let stretched = |outputs: &[f64]| class_scores(outputs).iter().map(|s| factor * s).collect();
    let mut base = model.base.clone();
    let mut terms = Vec::new();
    let mut add = |feature: usize, given: Vec<usize>, mut value: Vec<f64>, centre: &[f64]| {
        for ((v, c), b) in value.iter_mut().zip(centre).zip(&mut base) {
            *v -= c;
            *b += c;
        }
        terms.push(Term::exact(feature, given, stretched(&value)));
    };
    for (i, line) in model.lines.iter().enumerate() {
        let mut value = vec![0.0; model.base.len()];
        line.add(scratch.row[i], &scratch.log_density[i], &mut value);
        add(used[i], vec![], value, &line.centre);
    }
    for table in &model.pairs {
        let (i, j) = table.pair;
        let mut value = vec![0.0; model.base.len()];
        table.add(scratch.row[i], scratch.row[j], &mut value);
        add(used[j], vec![used[i]], value, &table.centre);
    }
    Ok(ScoreTerms::additive(stretched(&base), terms))
}
