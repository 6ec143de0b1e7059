//! What every model promises of the terms of its scores, over one model of every kind (the files of `tests/files`): they stand
//! on the scale of the probabilities reported, additive terms add up, and a term left out is what it says.

use hingenet::model::Model;
use hingenet::table::{Codes, Column, ReadOptions, Table, UnseenPolicy, read};
use hingenet::{Control, Explanation, ExplanationKind, Reasons};
use hingenet_base::numeric::log::softmax;
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

fn models() -> &'static [(String, Model)] {
    static MODELS: OnceLock<Vec<(String, Model)>> = OnceLock::new();
    MODELS.get_or_init(|| {
        let files = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path());
        let models = files.filter(|p| p.extension().is_some_and(|e| e == "hgn"));
        let name = |p: &PathBuf| p.file_stem().unwrap().to_string_lossy().into_owned();
        models.map(|p| (name(&p), Model::load(&p).unwrap())).collect()
    })
}

fn query() -> &'static Table {
    static QUERY: OnceLock<Table> = OnceLock::new();
    QUERY.get_or_init(|| {
        read(folder().join("query.csv").as_path(), &ReadOptions::default(), &Control::default())
            .unwrap()
            .table
    })
}

/// The terms of one row.
fn terms(model: &Model, table: &Table, row: usize) -> Explanation {
    let (one, control) = (table.one_row(row).unwrap(), Control::default());
    let mut explanations = model.explanations(&one, UnseenPolicy::Missing, Reasons::Terms, &control).unwrap();
    explanations.next().unwrap().unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| if a == b { 0.0 } else { (a - b).abs() }).fold(0.0, f64::max)
}

/// The promises of one explanation, given the probabilities that `predict` reports for the row.
fn check(name: &str, explanation: &Explanation, log_proba: &[f64]) {
    let reported: Vec<f64> = log_proba.iter().map(|l| l.exp()).collect();
    let mut told = explanation.scores.clone();
    softmax(&mut told);
    let difference = largest_difference(&told, &reported);
    assert!(difference <= 1e-9, "{name}: a probability differs by {difference:e}");
    assert!(largest_difference(&explanation.log_proba, log_proba) <= 1e-9, "{name}");
    let class = explanation.class();
    let sizes: Vec<f64> = explanation.terms.iter().map(|t| explanation.effect(t, class).abs()).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{name}: {sizes:?}");
    if explanation.kind == ExplanationKind::Additive {
        for (c, score) in explanation.scores.iter().enumerate() {
            let sum = explanation.base[c] + explanation.terms.iter().map(|t| t.scores[c]).sum::<f64>();
            assert!(
                sum == *score || (sum - score).abs() <= 1e-9 * (1.0 + score.abs()),
                "{name}: {sum} {score}"
            );
        }
    }
}

#[test]
fn every_row_of_every_model_is_explained_by_what_it_reports() {
    for (name, model) in models() {
        let (predictions, control) =
            (model.predict(query(), UnseenPolicy::Missing).unwrap(), Control::default());
        let explanations =
            model.explanations(query(), UnseenPolicy::Missing, Reasons::Terms, &control).unwrap();
        assert_eq!(explanations.len(), query().n_rows());
        for (m, explanation) in explanations.enumerate() {
            let explanation = explanation.unwrap();
            check(name, &explanation, predictions.row(m));
            let alone = terms(model, query(), m);
            assert!(largest_difference(&explanation.scores, &alone.scores) <= 1e-9, "{name}");
        }
    }
}

/// A row of the query with some of its cells hidden.
fn hidden(row: usize, hide: &[bool]) -> Table {
    let mut one = query().one_row(row).unwrap();
    (0..one.n_columns()).filter(|j| hide[j % hide.len()]).for_each(|j| one.blank(0, j));
    one
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever cells a row has, the explanation is on the scale of the probabilities, and a term of a row with
    /// missing cells is what hiding its feature changes.
    #[test]
    fn rows_with_any_cells_are_explained_by_what_the_model_reports(
        which in any::<prop::sample::Index>(),
        row in any::<prop::sample::Index>(),
        hide in prop::collection::vec(any::<bool>(), 1..12),
    ) {
        let (name, model) = which.get(models());
        let one = hidden(row.index(query().n_rows()), &hide);
        let proba = |table: &Table| model.predict(table, UnseenPolicy::Missing).unwrap().log_proba;
        let with = proba(&one);
        let explanation = terms(model, &one, 0);
        check(name, &explanation, &with);
        let Some(term) = explanation.terms.first() else { return Ok(()) };
        if explanation.kind == ExplanationKind::LeaveOneOut {
            let mut without = one.clone();
            without.blank(0, one.position(&model.schema.features[term.feature].name).unwrap());
            let without = proba(&without);
            let floored = |l: &f64| l.max(-700.0);
            let change: Vec<f64> = with.iter().zip(&without).map(|(a, b)| floored(a) - floored(b)).collect();
            prop_assert!(largest_difference(&term.scores, &change) < 1e-9, "{name}: {:?} {change:?}", term.scores);
        }
    }
}

#[test]
fn a_row_beyond_the_table_is_an_error() {
    let n = query().n_rows();
    for (name, model) in models() {
        for row in [n, usize::MAX] {
            let error = model.explain(query(), row, UnseenPolicy::Missing).unwrap_err();
            assert!(error.to_string().contains("there is no row"), "{name}: {error}");
            assert!(model.next_measurements(query(), row, UnseenPolicy::Missing).is_err(), "{name}");
        }
    }
}

/// Two classes that never share a value of `a`, nor of `b`: fitted without smoothing, a row with `a` of one and
/// `b` of the other is impossible under both.
#[test]
fn a_row_that_no_class_allows_gets_the_prior_in_every_model() {
    let names = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let codes = |cells: &[usize]| Codes::from_options(2, cells.iter().map(|c| Some(*c)));
    let class = [0, 0, 0, 1];
    let column = |name: &str| Column::categorical(name, names(&["u", "v"]), codes(&class));
    let data = hingenet::model::Dataset::new(
        Table::new(vec![column("a"), column("b"), column("y")]).unwrap(),
        "y",
        None,
    )
    .unwrap();
    let row = Table::new(vec![
        Column::categorical("a", names(&["u", "v"]), codes(&[0])),
        Column::categorical("b", names(&["u", "v"]), codes(&[1])),
    ])
    .unwrap();
    for spec in ["nb:ml,alpha=0", "tan:ml,alpha=0", "aode:ml,alpha=0"] {
        let options = hingenet::model::FitOptions::default();
        let model =
            hingenet::model::fit(&spec.parse().unwrap(), &data, options, &Default::default()).unwrap();
        let p = model.predict(&row, UnseenPolicy::Missing).unwrap().log_proba;
        let prior = [0.75f64.ln(), 0.25f64.ln()];
        assert!(largest_difference(&p, &prior) < 1e-12, "{spec}: {p:?}");
        check(spec, &terms(&model, &row, 0), &p);
    }
}
