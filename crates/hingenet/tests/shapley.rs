//! What every model promises of its Shapley values: they lead from the log-odds without any cell to those of the row, they
//! are those of the definition (all subsets of the known features, the model asked with the others missing), and what
//! tells nothing gets nothing.

use hingenet::model::{Dataset, FitOptions, Model, fit};
use hingenet::table::{Codes, Column, Table, UnseenPolicy};
use hingenet::{Control, Error, Explanation, ExplanationKind, Reasons, ShapleyParams};
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::random::Random;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const MODELS: [&str; 11] = [
    "majority",
    "nb:ml",
    "tan:ml",
    "kdb2:ml",
    "dag:ml,edges=class->a;class->b;a->c;b->c;b->p;c->q;d->class;r->s",
    "aode:ml",
    "kde-nb",
    "kde-tan",
    "slb,fraction=0.2,bandwidth=normal",
    "sgbn:or,lambda1=5",
    "pool,fast=true",
];

/// Four categories and four numbers that depend on the class and on each other, and a column that never changes.
fn data(n: usize, n_classes: usize, seed: u64) -> Dataset {
    let mut random = Random::new(seed);
    let class: Vec<usize> = (0..n).map(|m| m % n_classes).collect();
    let mut category = |shift: usize, name: &str| {
        let code = |c: &usize| Some((random.below(2) * random.below(3) + c * shift + random.below(2)) % 3);
        let codes = Codes::from_options(3, class.iter().map(code).collect::<Vec<_>>().into_iter());
        Column::categorical(name, ["u", "v", "w"].map(String::from).to_vec(), codes)
    };
    let mut columns: Vec<Column> =
        ["a", "b", "c", "d"].iter().enumerate().map(|(j, name)| category(j, name)).collect();
    let mut last = vec![0.0; n];
    for (j, name) in ["p", "q", "r", "s"].iter().enumerate() {
        for (m, x) in last.iter_mut().enumerate() {
            *x = 0.6 * *x + random.normal() + 0.4 * (class[m] * j) as f64;
        }
        columns.push(Column::numeric(*name, last.clone()));
    }
    columns.push(Column::numeric("always", vec![3.0; n]));
    let names = ["one", "two", "three"][..n_classes].iter().map(|c| c.to_string()).collect();
    columns.push(Column::categorical(
        "class",
        names,
        Codes::from_options(n_classes, class.into_iter().map(Some)),
    ));
    Dataset::new(Table::new(columns).unwrap(), "class", None).unwrap()
}

fn fitted(name: &str, data: &Dataset) -> Model {
    fit(&name.parse().unwrap(), data, FitOptions { seed: 1, ..FitOptions::default() }, &Control::default())
        .unwrap()
}

fn explained(model: &Model, row: &Table, params: ShapleyParams) -> Explanation {
    let control = Control::default();
    let reasons = Reasons::Shapley(params);
    let mut all = model.explanations(row, UnseenPolicy::Missing, reasons, &control).unwrap();
    all.next().unwrap().unwrap()
}

/// `ln P(c) / (1 − P(c))` of every class, K values a row.
fn log_odds(model: &Model, rows: &Table) -> Vec<Vec<f64>> {
    let predictions = model.predict(rows, UnseenPolicy::Missing).unwrap();
    let odds = |row: &[f64], c: usize| {
        let others: Vec<f64> = (0..row.len()).filter(|o| *o != c).map(|o| row[o]).collect();
        row[c] - log_sum_exp(&others)
    };
    let row = |m: usize| (0..model.classes.len()).map(|c| odds(predictions.row(m), c)).collect();
    (0..rows.n_rows()).map(row).collect()
}

/// The definition: `Σ_{S ∌ i} |S|! (n − |S| − 1)! / n! (v(S ∪ i) − v(S))` with the model asked about every subset of `players`
/// while `always` stays known (unless nothing is).
fn by_definition(model: &Model, row: &Table, players: &[usize]) -> Vec<Vec<f64>> {
    let n = players.len();
    let mut subsets = row.rows(&vec![0; 1 << n]);
    for set in 0..1 << n {
        for (p, &j) in players.iter().enumerate() {
            if set >> p & 1 == 0 {
                subsets.blank(set, j);
            }
        }
    }
    (0..row.n_columns()).for_each(|j| subsets.blank(0, j));
    let worth = log_odds(model, &subsets);
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let value = |p: usize, c: usize| -> f64 {
        let without = (0..1usize << n).filter(|set| set >> p & 1 == 0);
        let part = |set: usize| {
            let size = set.count_ones() as usize;
            factorial(size) * factorial(n - size - 1) / factorial(n)
                * (worth[set | 1 << p][c] - worth[set][c])
        };
        without.map(part).sum()
    };
    (0..n).map(|p| (0..model.classes.len()).map(|c| value(p, c)).collect()).collect()
}

/// Sum, order and completeness of an explanation of the first row of a table.
fn check(name: &str, model: &Model, row: &Table, explanation: &Explanation) {
    assert_eq!(explanation.kind, ExplanationKind::Shapley);
    let mut nothing = row.clone();
    (0..row.n_columns()).for_each(|j| nothing.blank(0, j));
    let (prior, posterior) = (log_odds(model, &nothing).remove(0), log_odds(model, row).remove(0));
    for c in 0..model.classes.len() {
        assert!(
            (explanation.base[c] - prior[c]).abs() <= 1e-9,
            "{name}: {} {}",
            explanation.base[c],
            prior[c]
        );
        assert!((explanation.scores[c] - posterior[c]).abs() <= 1e-9, "{name}");
        let sum = explanation.base[c] + explanation.terms.iter().map(|t| t.scores[c]).sum::<f64>();
        assert!((sum - explanation.scores[c]).abs() <= 1e-9, "{name}: {sum} {}", explanation.scores[c]);
    }
    let class = explanation.class();
    assert!(explanation.terms.iter().map(|t| t.scores[class].abs()).is_sorted_by(|a, b| a >= b), "{name}");
    let mut features: Vec<usize> = explanation.terms.iter().map(|t| t.feature).collect();
    features.sort_unstable();
    let known: Vec<usize> = (0..row.n_columns()).filter(|&j| !row.column(j).is_missing(0)).collect();
    assert_eq!(features, known, "{name}: a value for every known feature, none for a missing one");
}

#[test]
fn values_are_those_of_the_definition_for_every_model() {
    for (n_classes, seed) in [(2, 1), (3, 2), (2, 3)] {
        let data = data(90, n_classes, seed);
        for name in MODELS {
            let model = fitted(name, &data);
            for (m, hidden) in [(0, None), (7, Some(2)), (11, Some(5))] {
                let mut row = data.features.one_row(m).unwrap();
                hidden.into_iter().for_each(|j| row.blank(0, j));
                let explanation = explained(&model, &row, ShapleyParams::default());
                check(name, &model, &row, &explanation);
                let players: Vec<usize> = (0..8).filter(|j| Some(*j) != hidden).collect();
                let expected = by_definition(&model, &row, &players);
                for term in &explanation.terms {
                    let wanted = match players.binary_search(&term.feature) {
                        Ok(p) => expected[p].clone(),
                        Err(_) => vec![0.0; n_classes],
                    };
                    assert_eq!(term.standard_error, None, "{name}");
                    for (found, wanted) in term.scores.iter().zip(&wanted) {
                        assert!(
                            (found - wanted).abs() <= 1e-9,
                            "{name}, {m}, {}: {found} {wanted}",
                            term.feature
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn what_never_changes_and_what_does_not_depend_on_the_class_gets_nothing() {
    // every combination of class and `a` meets every value of `z` once
    let cells = |f: fn(usize) -> usize| Codes::from_options(2, (0..24).map(|m| Some(f(m) % 2)));
    let two = || vec!["u".to_string(), "v".to_string()];
    let column = |name: &str, f: fn(usize) -> usize| Column::categorical(name, two(), cells(f));
    let data = Dataset::new(
        Table::new(vec![
            column("a", |m| usize::from(m % 3 > 0) + m),
            column("z", |m| m / 12),
            Column::numeric("k", vec![1.5; 24]),
            column("class", |m| m),
        ])
        .unwrap(),
        "class",
        None,
    )
    .unwrap();
    for name in ["nb:ml", "tan:ml", "dag:ml,edges=class->a", "kde-nb", "pool,fast=true", "aode:ml"] {
        let model = fitted(name, &data);
        let explanation = explained(&model, &data.features.one_row(3).unwrap(), ShapleyParams::default());
        let value = |j: usize| explanation.terms.iter().find(|t| t.feature == j).unwrap().scores[0];
        assert_eq!(value(2), 0.0, "{name}");
        assert!(value(0).abs() > 0.1, "{name}: {}", value(0));
        if !name.starts_with("pool") && !name.starts_with("aode") {
            // an average asks one member more when z is known
            assert!(value(1).abs() <= 1e-9, "{name}: {}", value(1));
        }
    }
}

/// Classes u (three rows) and v (one), two virtual rows spread evenly over the four cells of each table: the values of
/// naive Bayes are the logarithms of the ratios of the smoothed frequencies.
#[test]
fn naive_bayes_by_hand() {
    let two = || vec!["u".to_string(), "v".to_string()];
    let column = |name: &str, cells: [usize; 4]| {
        Column::categorical(name, two(), Codes::from_options(2, cells.into_iter().map(Some)))
    };
    let table =
        Table::new(vec![column("a", [0, 0, 1, 1]), column("b", [0, 1, 1, 1]), column("class", [0, 0, 0, 1])])
            .unwrap();
    let data = Dataset::new(table, "class", None).unwrap();
    let model = fitted("nb:ml,alpha=2", &data);
    let explanation = explained(&model, &data.features.one_row(1).unwrap(), ShapleyParams::default());
    let prior: Vec<f64> = model.predict(&Table::without_columns(1), UnseenPolicy::Error).unwrap().log_proba;
    assert!((explanation.base[0] - (prior[0] - prior[1])).abs() < 1e-12);
    // a = u in 2 of 3 rows of u and 0 of 1 of v; b = v in 2 of 3 and 1 of 1
    let smoothed = |n: f64, of: f64| (n + 0.5) / (of + 1.0);
    let a = (smoothed(2.0, 3.0) / smoothed(0.0, 1.0)).ln();
    let b = (smoothed(2.0, 3.0) / smoothed(1.0, 1.0)).ln();
    let value = |j: usize| explanation.terms.iter().find(|t| t.feature == j).unwrap().scores[0];
    assert!((value(0) - a).abs() < 1e-12 && (value(1) - b).abs() < 1e-12, "{a} {b} {:?}", explanation.terms);
}

#[test]
fn drawn_orders_agree_with_all_subsets_within_their_error() {
    let data = data(90, 3, 5);
    for name in ["kde-nb", "slb,fraction=0.2,bandwidth=normal", "sgbn:or,lambda1=5", "pool,fast=true"] {
        let model = fitted(name, &data);
        let row = data.features.one_row(4).unwrap();
        let exact = explained(&model, &row, ShapleyParams::default());
        // the square of a standard error has the mean of the squared errors, whatever the orders contribute
        let (mut squares, mut expected) = (0.0, 0.0);
        for seed in 0..40 {
            let few = ShapleyParams { evaluations: 20, seed };
            let drawn = explained(&model, &row, few);
            check(name, &model, &row, &drawn);
            assert!(drawn.terms.iter().filter(|t| t.standard_error.is_some()).count() > 4, "{name}");
            for term in &exact.terms {
                let other = drawn.terms.iter().find(|t| t.feature == term.feature).unwrap();
                // a column that the model does not use has no error
                let errors = other.standard_error.clone().unwrap_or(vec![0.0; 3]);
                for (c, error) in errors.iter().enumerate() {
                    squares += (term.scores[c] - other.scores[c]).powi(2);
                    expected += error.powi(2);
                }
            }
            assert_eq!(explained(&model, &row, few).terms, drawn.terms);
        }
        let ratio = squares / expected;
        assert!((0.6..1.6).contains(&ratio), "{name}: {ratio}");
    }
}

/// Two classes and independent features: no matter how many there are, the values have a closed form and no error.
#[test]
fn naive_bayes_of_many_features_is_exact() {
    let mut random = Random::new(3);
    let class: Vec<usize> = (0..60).map(|m| m % 2).collect();
    let mut columns: Vec<Column> = (0..200)
        .map(|j| {
            Column::numeric(format!("x{j}"), class.iter().map(|c| *c as f64 + random.normal()).collect())
        })
        .collect();
    let codes = Codes::from_options(2, class.iter().map(|c| Some(*c)));
    columns.push(Column::categorical("class", vec!["u".into(), "v".into()], codes));
    let data = Dataset::new(Table::new(columns).unwrap(), "class", None).unwrap();
    for name in ["nb:ml", "kde-nb"] {
        let model = fitted(name, &data);
        let row = data.features.one_row(0).unwrap();
        let explanation = explained(&model, &row, ShapleyParams::default());
        check(name, &model, &row, &explanation);
        assert!(explanation.terms.iter().all(|t| t.standard_error.is_none()), "{name}");
    }
}

#[test]
fn impossible_classes_and_rows_still_add_up() {
    let two = || vec!["u".to_string(), "v".to_string()];
    let column = |name: &str, cells: &[usize]| {
        Column::categorical(name, two(), Codes::from_options(2, cells.iter().map(|c| Some(*c))))
    };
    let class = [0, 0, 0, 1];
    let table = Table::new(vec![column("a", &class), column("b", &class), column("class", &class)]).unwrap();
    let data = Dataset::new(table, "class", None).unwrap();
    for name in ["nb:ml,alpha=0", "tan:ml,alpha=0", "aode:ml,alpha=0"] {
        let model = fitted(name, &data);
        for cells in [[0, 0], [0, 1]] {
            let row = Table::new(vec![column("a", &cells[..1]), column("b", &cells[1..])]).unwrap();
            let explanation = explained(&model, &row, ShapleyParams::default());
            let sum = explanation.base[0] + explanation.terms.iter().map(|t| t.scores[0]).sum::<f64>();
            assert!(
                (sum - explanation.scores[0]).abs() <= 1e-9 && sum.is_finite(),
                "{name}: {explanation:?}"
            );
            let certain = if cells == [0, 0] { 700.0 } else { 3f64.ln() };
            assert!((explanation.scores[0] - certain).abs() < 1e-9, "{name}: {}", explanation.scores[0]);
        }
    }
}

#[test]
fn threads_change_nothing_and_a_stop_is_heard() {
    let data = data(90, 3, 7);
    let row = data.features.one_row(2).unwrap();
    for name in ["tan:ml", "pool,fast=true"] {
        let model = fitted(name, &data);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| explained(&model, &row, ShapleyParams { evaluations: 20, seed: 0 }))
        };
        let one = with(1);
        assert_eq!(one, with(2));
        assert_eq!(one, with(8));
        let stopped = Control::new(Arc::new(AtomicBool::new(true)));
        let mut all = model.explanations(&row, UnseenPolicy::Missing, Reasons::default(), &stopped).unwrap();
        assert!(matches!(all.next(), Some(Err(Error::Interrupted))));
    }
}
