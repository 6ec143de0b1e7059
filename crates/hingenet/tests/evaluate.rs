//! Evaluation as a whole: what must not change the figures does not, and bad protocols are refused.

use hingenet::evaluate::{Groups, Plan, Protocol, Sweep, TestRows, TestSet, compare, generate};
use hingenet::model::{Dataset, ModelSpec, models};
use hingenet::report::Evaluation;
use hingenet_base::control::Control;
use hingenet_data::table::{Codes, Column, Table};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

fn mixed(n: usize) -> Dataset {
    Dataset::new(generate("mixed", Some(n), 5).unwrap(), "class", None).unwrap()
}

/// Models that need no options.
fn specs() -> Vec<ModelSpec> {
    let quick = ["majority", "nb:ml", "tan:ml"];
    models().iter().filter(|m| quick.contains(&m.name)).map(|m| m.name.parse().unwrap()).collect()
}

fn protocol() -> Protocol {
    Protocol { folds: 3, repeats: 2, seed: 1, missing: vec![0.0, 0.4], ..Protocol::default() }
}

/// An evaluation without its times.
fn timeless(mut e: Evaluation) -> Evaluation {
    for r in &mut e.results {
        (r.fit_seconds, r.predict_seconds) = (0.0, 0.0);
    }
    e.curve.iter_mut().for_each(|p| p.fit_seconds = 0.0);
    e
}

fn evaluate(data: &Dataset) -> Evaluation {
    let (specs, protocol) = (specs(), protocol());
    timeless(compare(&Plan::new(&specs, data, &protocol), &Control::default()).unwrap())
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let data = mixed(300);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&evaluate(&data)).unwrap())
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(8));
}

#[test]
fn the_order_of_the_rows_changes_no_figure() {
    let data = mixed(300);
    let turned: Vec<usize> = (0..300).rev().collect();
    let (a, b) = (evaluate(&data), evaluate(&data.rows(&turned)));
    for (a, b) in a.results.iter().zip(&b.results) {
        assert_eq!(a.accuracy, b.accuracy, "{}", a.model);
        assert_eq!(a.confusion, b.confusion);
        assert_eq!(a.missing, b.missing);
        assert!((a.log_loss - b.log_loss).abs() < 1e-12);
    }
}

#[test]
fn every_row_is_predicted_once_a_repeat() {
    let data = mixed(200);
    for result in evaluate(&data).results {
        assert_eq!(result.missing[0].accuracy, result.accuracy.mean);
        let tested: f64 = result.confusion.iter().flatten().sum();
        assert_eq!(tested, 400.0);
    }
}

/// The answers to single rows carry the row of the table, and everything else follows from them.
#[test]
fn answers_to_single_rows_make_the_figures() {
    let data = mixed(200);
    let weights: Vec<f64> = (0..200).map(|m| if m % 4 == 0 { 0.0 } else { 1.0 + f64::from(m % 3) }).collect();
    let data = Dataset { weights: Some(weights.clone()), ..data };
    let (specs, protocol) = (specs(), protocol());
    let plan = Plan { keep_answers: true, ..Plan::new(&specs, &data, &protocol) };
    let found = compare(&plan, &Control::default()).unwrap();
    assert_eq!((found.format, found.data.target.as_str()), (1, "class"));
    for result in &found.results {
        let mut rows: Vec<usize> = result.predictions.iter().map(|p| p.row).collect();
        rows.sort_unstable();
        let twice = (1..=200).filter(|row| (row - 1) % 4 != 0).flat_map(|row| [row, row]);
        assert_eq!(rows, twice.collect::<Vec<_>>());
        let code = |name: &str| data.classes.iter().position(|c| c == name).unwrap();
        let mut confusion = vec![vec![0.0; 3]; 3];
        for p in &result.predictions {
            assert_eq!(data.class.get(p.row - 1), Some(code(&p.class)), "row {}", p.row);
            assert!((p.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let largest = p.probabilities.iter().copied().fold(0.0, f64::max);
            assert_eq!(p.probabilities[code(&p.answer)], largest);
            assert!((1..=2).contains(&p.repeat.unwrap()) && (1..=3).contains(&p.fold));
            confusion[code(&p.class)][code(&p.answer)] += weights[p.row - 1];
        }
        assert_eq!(confusion, result.confusion, "{}", result.model);
        for (c, class) in result.classes.iter().enumerate() {
            let answered: f64 = (0..3).map(|t| confusion[t][c]).sum();
            assert_eq!(class.counts.true_positives + class.counts.false_positives, answered);
            let share = confusion[c][c] / confusion[c].iter().sum::<f64>();
            let found = class.sensitivity.unwrap();
            assert!((found.value - share).abs() < 1e-12, "{class:?}");
            assert!(0.0 <= found.interval.low && found.interval.low <= share && share <= found.interval.high);
            let reached = result.predictions.iter().filter(|p| p.probabilities[c] >= 0.3);
            let weight: f64 = reached.map(|p| weights[p.row - 1]).sum();
            let point = class.thresholds[29];
            assert_eq!(point.true_positives + point.false_positives, weight);
        }
        let shares = [result.accuracy.interval, result.balanced_error.interval];
        assert!(shares.iter().all(|i| 0.0 <= i.low && i.low < i.high && i.high <= 1.0), "{shares:?}");
    }
}

#[test]
fn rows_of_weight_zero_are_as_good_as_absent() {
    let data = mixed(200);
    let kept: Vec<usize> = (0..200).filter(|m| m % 3 != 0).collect();
    let weights = (0..200).map(|m| if m % 3 == 0 { 0.0 } else { 1.0 }).collect();
    let weighted = Dataset { weights: Some(weights), ..data.clone() };
    let (a, b) = (evaluate(&weighted), evaluate(&data.rows(&kept)));
    assert_eq!(a.results, b.results);
}

#[test]
fn a_test_file_gives_one_split_with_a_binomial_interval() {
    let data = mixed(300);
    let test = TestSet::new(generate("mixed", Some(100), 6).unwrap(), "class", None, &data.classes).unwrap();
    let (models, protocol) = (["majority".parse().unwrap()], protocol());
    let plan = Plan { tested: TestRows::Set(&test), ..Plan::new(&models, &data, &protocol) };
    let result = compare(&plan, &Control::default()).unwrap().results.remove(0);
    assert_eq!(result.accuracy.folds.len(), 1);
    assert_eq!(result.balanced_error.sd, None);
    // Wilson's interval of the share of 100 rows
    let (p, k) = (result.accuracy.mean, 1.959_963_984_540_054f64.powi(2) / 100.0);
    for end in [result.accuracy.interval.low, result.accuracy.interval.high] {
        assert!(((p - end).powi(2) - k * end * (1.0 - end)).abs() < 1e-12, "{:?}", result.accuracy);
    }
}

#[test]
fn a_test_class_that_training_has_not_is_refused() {
    let table = generate("corral", Some(20), 0).unwrap();
    let classes = vec!["0".to_string(), "2".to_string()];
    let error = TestSet::new(table, "class", None, &classes).unwrap_err().to_string();
    assert!(error.contains("class `1`, which training has not"), "{error}");
}

#[test]
fn groups_stay_together_and_need_a_value_in_every_row() {
    let table = generate("corral", Some(60), 0).unwrap();
    let mut columns = table.columns().to_vec();
    columns.push(Column::numeric("person", (0..60).map(|m| f64::from(m / 6)).collect()));
    let (groups, rest) = Groups::take(Table::new(columns.clone()).unwrap(), "person").unwrap();
    assert_eq!(groups.group[59], 9);
    let data = Dataset::new(rest, "class", None).unwrap();
    let (specs, protocol) = (specs(), protocol());
    let plan = Plan { tested: TestRows::Folds(Some(&groups)), ..Plan::new(&specs, &data, &protocol) };
    let found = compare(&plan, &Control::default()).unwrap();
    assert_eq!(found.protocol.groups.as_deref(), Some("person"));
    columns.pop();
    columns.push(Column::numeric("person", vec![f64::NAN; 60]));
    assert!(Groups::take(Table::new(columns).unwrap(), "person").is_err());
}

#[test]
fn a_fold_that_would_train_on_one_class_is_refused() {
    let codes = Codes::from_options(2, (0..10).map(|m| Some(usize::from(m == 0))));
    let columns = vec![
        Column::numeric("x", (0..10).map(f64::from).collect()),
        Column::categorical("class", vec!["a".into(), "b".into()], codes),
    ];
    let data = Dataset::new(Table::new(columns).unwrap(), "class", None).unwrap();
    let (models, protocol) = (["majority".parse().unwrap()], Protocol::default());
    let found = compare(&Plan::new(&models, &data, &protocol), &Control::default());
    let error = found.unwrap_err().to_string();
    assert!(error.contains("one class only (`a`)"), "{error}");
}

#[test]
fn bad_protocols_are_refused() {
    let data = mixed(50);
    for bad in [
        Protocol { folds: 1, ..Protocol::default() },
        Protocol { folds: 51, ..Protocol::default() },
        Protocol { repeats: 0, ..Protocol::default() },
        Protocol { missing: vec![1.1], ..Protocol::default() },
        Protocol { missing: vec![f64::NAN], ..Protocol::default() },
        Protocol { rows: vec![20, 10], ..Protocol::default() },
        Protocol { rows: vec![10, 41], ..Protocol::default() },
        Protocol { rows: vec![1, 20], ..Protocol::default() },
    ] {
        let models = ["majority".parse().unwrap()];
        assert!(compare(&Plan::new(&models, &data, &bad), &Control::default()).is_err(), "{bad:?}");
    }
    for bad in ["lambda", "=1", "lambda=", "lambda=1,,2"] {
        assert!(bad.parse::<Sweep>().is_err(), "{bad}");
    }
    let sweep: Sweep = "lambda=0, 1".parse().unwrap();
    assert_eq!(sweep.values, ["0", "1"]);
    let models = |names: &[&str]| names.iter().map(|n| n.parse().unwrap()).collect::<Vec<ModelSpec>>();
    assert!(sweep.expand(&models(&["majority"])).is_err(), "majority has no options");
    let swept = sweep.expand(&models(&["majority", "nb:ml-bn-svm,gamma=1"])).unwrap();
    let named: Vec<(String, Option<&str>)> =
        swept.iter().map(|s| (s.spec.to_string(), s.value.as_deref())).collect();
    let margin = |lambda: &str| format!("nb:ml-bn-svm,gamma=1,lambda={lambda}");
    assert_eq!(named, [("majority".into(), None), (margin("0"), Some("0")), (margin("1"), Some("1"))]);
}

/// A larger λ buys less slack (and pays with likelihood): the exchange that the sweep shows.
#[test]
fn slack_falls_as_a_sweep_raises_lambda() {
    let (data, protocol) = (mixed(200), protocol());
    let (models, sweep) = (["tan:ml-bn-svm,gamma=2".parse().unwrap()], "lambda=0,0.5,4".parse().unwrap());
    let plan = Plan { sweep: Some(&sweep), ..Plan::new(&models, &data, &protocol) };
    let found = compare(&plan, &Control::default()).unwrap();
    let slack: Vec<f64> = found.sweep.iter().map(|p| p.slack.unwrap()).collect();
    assert!(slack.windows(2).all(|s| s[1] < s[0]), "{slack:?}");
    let likelihood_only = ["tan:ml".parse().unwrap()];
    let found = compare(&Plan::new(&likelihood_only, &data, &protocol), &Control::default()).unwrap();
    assert_eq!(found.results[0].slack, None);
}

#[test]
fn an_evaluation_stops_when_asked_to() {
    let control = Control::new(Arc::new(AtomicBool::new(true)));
    let (models, data, protocol) = (["majority".parse().unwrap()], mixed(50), protocol());
    let error = compare(&Plan::new(&models, &data, &protocol), &control).unwrap_err();
    assert!(matches!(error, hingenet_base::error::Error::Interrupted));
}

/// While folds run, what their fits are at is told with the folds that are done and their number.
#[test]
fn progress_speaks_while_a_fold_runs_and_knows_the_total() {
    let data = mixed(200);
    let told: Arc<Mutex<Vec<(String, usize, usize)>>> = Arc::default();
    let kept = told.clone();
    let control = Control::default().on_progress(move |p| {
        kept.lock().unwrap().push((p.stage.to_string(), p.done, p.total));
    });
    let models = ["tan:ml-bn-svm".parse::<ModelSpec>().unwrap()];
    let protocol = Protocol { folds: 3, ..Protocol::default() };
    compare(&Plan::new(&models, &data, &protocol), &control).unwrap();
    let told = told.lock().unwrap();
    assert!(told.iter().all(|(_, done, total)| *total == 3 && done <= total), "{told:?}");
    let inside = told.iter().filter(|(stage, ..)| stage.starts_with("tan:ml-bn-svm: ")).count();
    assert!(inside > 3, "{told:?}");
    assert_eq!(told.last().map(|(stage, done, _)| (stage.as_str(), *done)), Some(("tan:ml-bn-svm", 3)));
}

/// A curve whose last number is the whole training part ends where an evaluation without a curve stands, and its other
/// points are fits on fewer rows.
#[test]
fn a_learning_curve_ends_at_the_figures_of_all_rows() {
    let (data, specs) = (mixed(300), specs());
    let with = |rows: Vec<usize>| {
        let protocol = Protocol { rows, ..protocol() };
        timeless(compare(&Plan::new(&specs, &data, &protocol), &Control::default()).unwrap())
    };
    let (curve, plain) = (with(vec![30, 80, 200]), with(Vec::new()));
    assert_eq!(curve.results, plain.results);
    assert_eq!((curve.protocol.rows.as_slice(), plain.curve.len()), (&[30, 80, 200][..], 0));
    let places: Vec<(&str, usize)> = curve.curve.iter().map(|p| (p.model.as_str(), p.rows)).collect();
    let wanted = specs.iter().flat_map(|s| [30, 80, 200].map(|n| (s.name(), n)));
    assert_eq!(places, wanted.collect::<Vec<_>>());
    for (k, result) in curve.results.iter().enumerate() {
        let last = &curve.curve[3 * k + 2];
        assert_eq!((&last.accuracy, &last.balanced_error), (&result.accuracy, &result.balanced_error));
    }
    let naive: Vec<f64> = curve.curve[3..6].iter().map(|p| p.log_loss).collect();
    assert!(naive[0] > naive[1] && naive[1] > naive[2], "more rows, better probabilities: {naive:?}");
}

/// Neither the order of the rows, nor the threads, nor the other points of the curve change a point of it.
#[test]
fn a_point_of_a_learning_curve_depends_on_its_rows_alone() {
    let (data, specs) = (mixed(300), specs());
    let turned = data.rows(&(0..300).rev().collect::<Vec<_>>());
    let of = |data: &Dataset, rows: Vec<usize>, threads: usize| {
        let protocol = Protocol { rows, ..protocol() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| compare(&Plan::new(&specs, data, &protocol), &Control::default()));
        let points = timeless(found.unwrap()).curve.into_iter().filter(|p| p.rows == 60);
        points.collect::<Vec<_>>()
    };
    let one = of(&data, vec![60], 1);
    assert_eq!(one, of(&data, vec![20, 60, 150], 2));
    for (a, b) in one.iter().zip(of(&turned, vec![60, 100], 8)) {
        assert_eq!((&a.accuracy, &a.balanced_error), (&b.accuracy, &b.balanced_error), "{}", a.model);
    }
}

#[test]
fn a_learning_curve_of_a_test_file_draws_from_the_rows_to_fit_on() {
    let data = mixed(300);
    let weights = (0..300).map(|m| f64::from(u8::from(m % 3 != 0))).collect();
    let data = Dataset { weights: Some(weights), ..data };
    let test = TestSet::new(generate("mixed", Some(100), 6).unwrap(), "class", None, &data.classes).unwrap();
    let models = ["nb:ml".parse().unwrap()];
    let with = |rows: Vec<usize>| {
        let protocol = Protocol { rows, ..Protocol::default() };
        let plan = Plan { tested: TestRows::Set(&test), ..Plan::new(&models, &data, &protocol) };
        compare(&plan, &Control::default()).map(timeless)
    };
    // rows of weight 0 are not drawn, so 200 are all
    assert_eq!(with(vec![50, 200]).unwrap().results, with(Vec::new()).unwrap().results);
    let error = with(vec![50, 201]).unwrap_err().to_string();
    assert!(error.contains("a training part has 200"), "{error}");
}

/// A number of rows that a model cannot be fitted to is told, and costs the model nothing else.
#[test]
fn a_point_that_fails_leaves_the_rest_of_the_curve() {
    let data = mixed(120);
    let models = ["nb:ml", "kde-nb"].map(|name| name.parse::<ModelSpec>().unwrap());
    let protocol = Protocol { folds: 3, rows: vec![9, 80], ..Protocol::default() };
    let found = compare(&Plan::new(&models, &data, &protocol), &Control::default()).unwrap();
    assert_eq!((found.results.len(), found.curve.len(), found.failed.len()), (2, 3, 1));
    let failed = &found.failed[0];
    assert_eq!((failed.model.as_str(), failed.rows), ("kde-nb", Some(9)), "{}", failed.problem);
}

/// Two in three rows lose their class.
fn partly(data: &Dataset) -> Dataset {
    let class = data.class.iter().enumerate().map(|(m, c)| c.filter(|_| m % 3 == 0));
    Dataset { class: Codes::from_options(data.classes.len(), class), ..data.clone() }
}

/// Rows without a class are never tested, and with `tau=0` they are as good as absent.
#[test]
fn rows_without_a_class_join_the_training_parts_only() {
    let data = mixed(300);
    let part = partly(&data);
    let labelled = data.rows(&(0..300).step_by(3).collect::<Vec<_>>());
    let models = ["nb:ml,tau=0", "nb:ml,tau=1"].map(|name| name.parse::<ModelSpec>().unwrap());
    let of = |data: &Dataset, rows: Vec<usize>| {
        let protocol = Protocol { rows, ..protocol() };
        let plan = Plan { keep_answers: true, ..Plan::new(&models, data, &protocol) };
        timeless(compare(&plan, &Control::default()).unwrap())
    };
    let (with, without) = (of(&part, Vec::new()), of(&labelled, Vec::new()));
    assert_eq!((with.data.unlabelled, without.data.unlabelled), (200, 0));
    assert_eq!(with.results[0].accuracy, without.results[0].accuracy);
    assert_eq!(with.results[0].missing, without.results[0].missing);
    // rows are named by their place in the whole table
    let rows: Vec<usize> = with.results[0].predictions.iter().take(4).map(|p| p.row).collect();
    assert_eq!(rows, [1, 4, 7, 10]);
    assert!(
        with.results[0]
            .predictions
            .iter()
            .all(|p| data.classes[data.class.get(p.row - 1).unwrap()] == p.class)
    );
    // rows without a class count where they are weighed, and a curve counts rows with a class only
    assert_ne!(with.results[1].log_loss, with.results[0].log_loss);
    assert_eq!(without.results[1].log_loss, without.results[0].log_loss);
    assert_eq!(of(&part, vec![20, 66]).curve[0].accuracy, of(&labelled, vec![20, 66]).curve[0].accuracy);
}

#[test]
fn rows_without_a_class_need_a_model_that_takes_them_and_no_groups() {
    let data = partly(&mixed(300));
    let models = ["nb:ml", "kde-nb"].map(|name| name.parse::<ModelSpec>().unwrap());
    let protocol = protocol();
    let plan = Plan::new(&models, &data, &protocol);
    let found = compare(&plan, &Control::default()).unwrap();
    assert_eq!((found.results.len(), found.failed.len()), (1, 1));
    assert!(found.failed[0].problem.contains("rows without a class"), "{}", found.failed[0].problem);
    let groups = Groups { column: "site".into(), group: (0..300).map(|m| m / 5).collect() };
    let plan = Plan { tested: TestRows::Folds(Some(&groups)), ..plan };
    assert!(compare(&plan, &Control::default()).is_err());
}
