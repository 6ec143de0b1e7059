//! Prediction sets hold the coverage they promise at every share of missing cells, and only models that were asked to
//! calibrate them have any.

use hingenet::evaluate::generate;
use hingenet::model::file::Container;
use hingenet::model::{Dataset, FitOptions, Model, fit};
use hingenet::table::{Table, UnseenPolicy};
use hingenet::{Control, Error};
use hingenet_base::numeric::random::Random;

fn fitted(name: &str, data: &Dataset, seed: u64, share: Option<f64>) -> Model {
    let options = FitOptions { seed, calibrate_sets: share, ..FitOptions::default() };
    fit(&name.parse().unwrap(), data, options, &Control::default()).unwrap()
}

fn data(generator: &str, n: usize, seed: u64) -> Dataset {
    Dataset::new(generate(generator, Some(n), seed).unwrap(), "class", None).unwrap()
}

/// Each cell blanked with probability `rate`.
fn blanked(table: &Table, rate: f64, seed: u64) -> Table {
    let (mut table, mut random) = (table.clone(), Random::new(seed));
    for i in 0..table.n_rows() {
        (0..table.n_columns()).filter(|_| random.uniform() < rate).for_each(|j| table.blank(i, j));
    }
    table
}

/// Share of the rows whose set has their class, and mean size of the sets.
fn coverage(model: &Model, test: &Dataset, rate: f64, wanted: f64) -> (f64, f64) {
    let predictions = model.predict(&blanked(&test.features, rate, 5), UnseenPolicy::Error).unwrap();
    let sets = model.prediction_sets(&predictions, wanted).unwrap();
    let (k, n) = (model.classes.len(), test.n_rows());
    let held = (0..n).filter(|&m| sets[m * k + test.class.get(m).unwrap()]).count();
    (held as f64 / n as f64, sets.iter().filter(|b| **b).count() as f64 / n as f64)
}

/// Mean over 40 fits on 200 rows, each tested on 1000: its standard error is below half a point.
#[test]
fn sets_hold_their_coverage_at_every_share_of_missing_cells() {
    for (generator, model) in [("waveform", "nb:ml"), ("mixed", "tan:ml"), ("ringnorm", "sgbn:or,lambda1=10")]
    {
        let test = data(generator, 1000, 999);
        let models: Vec<Model> =
            (0..40).map(|seed| fitted(model, &data(generator, 200, seed), seed, Some(0.3))).collect();
        for wanted in [0.8, 0.9] {
            for rate in [0.0, 0.3, 0.6] {
                let found: Vec<(f64, f64)> =
                    models.iter().map(|m| coverage(m, &test, rate, wanted)).collect();
                let mean = |of: fn(&(f64, f64)) -> f64| found.iter().map(of).sum::<f64>() / 40.0;
                let (held, size) = (mean(|f| f.0), mean(|f| f.1));
                assert!(
                    (wanted - 0.015..wanted + 0.025).contains(&held),
                    "{generator}, {model}: {held:.3} of {wanted} held at {rate} missing"
                );
                let k = models[0].classes.len() as f64;
                assert!(size < 0.95 * k, "{generator}, {model}: sets of {size:.2} of {k} at {rate} missing");
            }
        }
    }
}

/// Without the calibration by missing cells the coverage falls: this is what the levels are for.
#[test]
fn rows_with_many_missing_cells_get_larger_sets() {
    let model = fitted("nb:ml", &data("waveform", 1000, 1), 0, Some(0.25));
    assert_eq!(model.calibration_rows(), 250);
    let test = data("waveform", 1000, 2);
    let sizes: Vec<f64> =
        [0.0, 0.3, 0.6, 0.9].iter().map(|rate| coverage(&model, &test, *rate, 0.9).1).collect();
    assert!(sizes.is_sorted() && sizes[3] > 1.5 * sizes[0], "{sizes:?}");
}

#[test]
fn sets_neither_depend_on_threads_nor_on_the_order_of_rows() {
    let data = data("mixed", 300, 4);
    let shuffled = data.rows(&Random::new(1).permutation(300));
    let on_threads = |n: usize, data: &Dataset| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| fitted("pool,fast=true", data, 3, Some(0.2)).to_bytes().unwrap())
    };
    let one = on_threads(1, &data);
    assert!(one == on_threads(8, &data) && one == on_threads(2, &shuffled));
    assert_ne!(one, fitted("pool,fast=true", &data, 4, Some(0.2)).to_bytes().unwrap());
}

#[test]
fn what_cannot_be_held_is_refused_with_the_remedy() {
    let rows = data("corral", 60, 1);
    let ask = |model: &Model, coverage: f64| {
        let predictions = model.predict(&rows.features, UnseenPolicy::Error).unwrap();
        model.prediction_sets(&predictions, coverage)
    };
    let without = ask(&fitted("nb:ml", &rows, 0, None), 0.9).unwrap_err();
    assert!(without.hint().is_some_and(|hint| hint.contains("calibrate_sets")), "{without}");
    let model = fitted("nb:ml", &rows, 0, Some(0.25));
    assert!(ask(&model, 0.9).is_ok());
    let few = ask(&model, 0.95).unwrap_err().to_string();
    assert_eq!(few, "coverage = 0.95: expected at most 0.9375, which is what 15 held-out rows can hold");
    for bad in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(matches!(ask(&model, bad), Err(Error::Parameter { .. })), "{bad}");
        let options = FitOptions { calibrate_sets: Some(bad), ..FitOptions::default() };
        assert!(fit(&"nb:ml".parse().unwrap(), &rows, options, &Control::default()).is_err(), "{bad}");
    }
    let two = rows.rows(&[
        rows.class.iter().position(|c| c == Some(0)).unwrap(),
        rows.class.iter().position(|c| c == Some(1)).unwrap(),
    ]);
    let options = FitOptions { calibrate_sets: Some(0.5), ..FitOptions::default() };
    let none = fit(&"nb:ml".parse().unwrap(), &two, options, &Control::default()).unwrap_err();
    assert!(none.to_string().contains("no row of 2 can be held back"), "{none}");
}

#[test]
fn files_keep_the_scores_and_refuse_those_that_do_not_fit() {
    let model = fitted("nb:ml", &data("corral", 100, 1), 0, Some(0.25));
    let bytes = model.to_bytes().unwrap();
    assert_eq!(Model::from_bytes(&bytes).unwrap(), model);
    let changed = |change: &dyn Fn(&mut Container)| {
        let mut container = Container::from_bytes(&bytes).unwrap();
        change(&mut container);
        Model::from_bytes(&container.to_bytes().unwrap())
    };
    assert!(changed(&|_| {}).is_ok());
    let numbers = |change: fn(&mut Vec<f64>)| {
        changed(&|c| {
            let mut numbers: Vec<f64> = c.take("sets/numbers").unwrap();
            change(&mut numbers);
            c.put("sets/numbers", &numbers);
        })
    };
    assert!(numbers(|n| n.reverse()).is_err(), "not ascending");
    assert!(numbers(|n| n[0] = f64::NEG_INFINITY).is_err(), "not finite");
    assert!(numbers(|n| n.push(0.0)).is_err(), "too many");
    assert!(numbers(|n| n.truncate(9)).is_err(), "too few");
    assert!(changed(&|c| c.about["sets"]["levels"][0]["missing"] = 1.into()).is_err(), "a level twice");
    assert!(
        changed(&|c| c.about["sets"]["levels"][6]["missing"] = 7.into()).is_err(),
        "more cells than columns"
    );
    assert!(changed(&|c| c.about["sets"]["levels"] = serde_json::json!([])).is_err(), "no level");
    assert!(changed(&|c| c.about["sets"] = serde_json::Value::Null).is_err(), "numbers of nothing");
    assert!(changed(&|c| c.put("sets/more", &[1.0])).is_err(), "unknown section");
}
