//! Semi-supervised fits of the discrete family: rows without a class label, in the library and by model name.

use hingenet::model::{Dataset, FitOptions, Model, ModelSpec, fit};
use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::table::{Codes, Column, Table};
use hingenet_discrete::margin::semi_supervised::{SemiParams, fit_semi_supervised};
use hingenet_discrete::margin::{MarginParams, fit_margin};
use hingenet_discrete::{Samples, Structure};

/// Rows of a naive Bayes model with two classes: every feature repeats the class in 75 % of the rows.
fn draw(n: usize, features: usize, random: &mut Random) -> Vec<Vec<usize>> {
    let row = |m: usize, random: &mut Random| {
        let c = if m < 2 { m } else { random.below(2) };
        let cell = |random: &mut Random| if random.uniform() < 0.75 { c } else { 1 - c };
        std::iter::once(c).chain((0..features).map(|_| cell(random)).collect::<Vec<_>>()).collect()
    };
    (0..n).map(|m| row(m, random)).collect()
}

/// Coded rows of which the first `labelled` keep their class; `gaps` of the feature cells are missing.
fn samples(rows: &[Vec<usize>], labelled: usize, gaps: f64, random: &mut Random) -> Samples {
    let width = rows[0].len();
    let column = |i: usize, random: &mut Random| {
        let cells: Vec<Option<usize>> = (0..rows.len())
            .map(|m| {
                let hidden = if i == 0 { m >= labelled } else { random.uniform() < gaps };
                (!hidden).then_some(rows[m][i])
            })
            .collect();
        Codes::from_options(2, cells.into_iter())
    };
    let columns = (0..width).map(|i| column(i, random)).collect();
    Samples::new(vec![2; width], columns, None).unwrap()
}

fn table(rows: &[Vec<usize>], labelled: usize) -> Table {
    let names = || vec!["a".to_string(), "b".to_string()];
    let column = |i: usize, name: String| {
        let cell = |m: usize| (i > 0 || m < labelled).then_some(rows[m][i]);
        Column::categorical(name, names(), Codes::from_options(2, (0..rows.len()).map(cell)))
    };
    let features = (1..rows[0].len()).map(|i| column(i, format!("x{i}")));
    Table::new(features.chain([column(0, "y".into())]).collect()).unwrap()
}

fn fitted(spec: &str, data: &Dataset) -> Model {
    let spec: ModelSpec = spec.parse().unwrap();
    fit(&spec, data, FitOptions::default(), &Control::default()).unwrap()
}

fn accuracy(model: &Model, rows: &[Vec<usize>]) -> f64 {
    let features = table(rows, rows.len()).split_off("y").unwrap().1;
    let log_proba = model.fitted.classifier().log_proba(&features).unwrap();
    let right = log_proba.chunks(2).zip(rows).filter(|(p, row)| usize::from(p[1] > p[0]) == row[0]);
    right.count() as f64 / rows.len() as f64
}

#[test]
fn unlabelled_rows_of_weight_zero_change_nothing_and_others_fill_the_counts() {
    let mut random = Random::new(9);
    let rows = draw(120, 3, &mut random);
    let structure = Structure::naive_bayes(vec![2; 4]).unwrap();
    let (params, control) = (MarginParams::default(), Control::default());
    let data = samples(&rows, 30, 0.0, &mut random);
    let supervised = fit_margin(&samples(&rows[..30], 30, 0.0, &mut random), &structure, &params, &control);
    let none = SemiParams { tau: 0.0, ..SemiParams::default() };
    let same = fit_semi_supervised(&data, &structure, &params, &none, &control).unwrap();
    assert_eq!(same.network.w(), supervised.unwrap().network.w());
    let some = SemiParams { tau: 0.5, ..SemiParams::default() };
    let fit = fit_semi_supervised(&data, &structure, &params, &some, &control).unwrap();
    assert!(fit.network.normalisation_error() < 1e-9 && fit.report.converged);
}

#[test]
fn missing_features_are_completed_in_labelled_and_unlabelled_rows() {
    let mut random = Random::new(2);
    let rows = draw(150, 4, &mut random);
    let data = samples(&rows, 50, 0.2, &mut random);
    let structure = Structure::naive_bayes(vec![2; 5]).unwrap();
    for lambda in [0.0, 1.0] {
        let params = MarginParams { lambda, ..MarginParams::default() };
        let semi = SemiParams { tau: 1.0, ..SemiParams::default() };
        let fit = fit_semi_supervised(&data, &structure, &params, &semi, &Control::default()).unwrap();
        assert!(fit.network.normalisation_error() < 1e-9, "{:?}", fit.report);
        // The total of the counts: all rows and one virtual one.
        let agrees = |i: usize| fit.network.row(i, 1)[1] > fit.network.row(i, 0)[1];
        assert!((1..5).all(agrees), "every feature leans towards its class");
    }
}

#[test]
fn few_labels_and_many_rows_beat_the_few_labels_alone() {
    for rule in ["nb:ml", "nb:ml-bn-svm,lambda=1,gamma=1"] {
        let mut gain = 0.0;
        for seed in 0..6 {
            let mut random = Random::new(seed);
            let (train, test) = (draw(300, 10, &mut random), draw(500, 10, &mut random));
            let alone = fitted(rule, &Dataset::new(table(&train[..6], 6), "y", None).unwrap());
            let data = Dataset::partly_labelled(table(&train, 6), "y", None).unwrap();
            let both = fitted(&format!("{rule},tau=1"), &data);
            gain += accuracy(&both, &test) - accuracy(&alone, &test);
            let none = fitted(&format!("{rule},tau=0"), &data);
            assert_eq!(accuracy(&none, &test), accuracy(&alone, &test), "{rule}");
        }
        assert!(gain > 0.0, "{rule}: {gain}");
    }
}

#[test]
fn the_weight_of_unlabelled_rows_is_chosen_by_inner_folds() {
    let rows = draw(90, 4, &mut Random::new(7));
    let data = Dataset::partly_labelled(table(&rows, 30), "y", None).unwrap();
    for rule in ["nb:ml", "tan:ml-bn-svm,lambda=1,gamma=1"] {
        let tau = fitted(rule, &data).facts.chosen["tau"];
        assert!([0.0, 0.1, 0.3, 1.0].contains(&tau), "{rule}: {tau}");
    }
}

#[test]
fn rules_without_a_semi_supervised_form_ask_for_labels() {
    let rows = draw(40, 3, &mut Random::new(1));
    let data = Dataset::partly_labelled(table(&rows, 20), "y", None).unwrap();
    for name in ["tan:mcl", "nb:mm", "nb:bn-svm", "aode:ml", "majority"] {
        let spec: ModelSpec = name.parse().unwrap();
        let error = fit(&spec, &data, FitOptions::default(), &Control::default()).unwrap_err();
        assert!(error.to_string().contains("class"), "{name}: {error}");
    }
    assert!(Dataset::new(table(&rows, 20), "y", None).is_err());
}
