//! Gaps that tell: a generator of tables in which the class decides which cells are missing, and of tables in which it does
//! not; what the pool makes of them, and what it says when gaps mean nothing.

use hingenet::evaluate::{Plan, Protocol, TestRows, compare};
use hingenet::model::{Dataset, FitOptions, Gaps, Known, Model, Posterior, Query, fit};
use hingenet::table::{Codes, Column, UnseenPolicy};
use hingenet::{Control, Reasons, ShapleyParams, Table};
use hingenet_base::numeric::random::Random;

/// Two numbers and a category that tell a little of the class. The number `test` is missing for `rates[c]` of the rows of
/// class c, `other` for a fifth of all.
fn table(n: usize, rates: [f64; 2], seed: u64) -> Dataset {
    let mut random = Random::new(seed);
    let (mut test, mut other, mut level, mut class) = (vec![], vec![], vec![], vec![]);
    for _ in 0..n {
        let c = random.below(2);
        let number = random.normal() + 0.5 * c as f64;
        test.push(if random.uniform() < rates[c] { f64::NAN } else { number });
        let number = random.normal() + 0.5 * c as f64;
        other.push(if random.uniform() < 0.2 { f64::NAN } else { number });
        level.push(Some(if random.uniform() < 0.4 { c } else { random.below(3) }));
        class.push(Some(c));
    }
    let names = |names: &[&str]| names.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let columns = vec![
        Column::numeric("test", test),
        Column::numeric("other", other),
        Column::categorical("level", names(&["p", "q", "r"]), Codes::from_options(3, level.into_iter())),
    ];
    let class = Codes::from_options(2, class.into_iter());
    let features = Table::new(columns).unwrap();
    Dataset::from_parts("class", features, names(&["well", "ill"]), class, None).unwrap()
}

fn fitted(spec: &str, data: &Dataset) -> Model {
    fit(&spec.parse().unwrap(), data, FitOptions::default(), &Control::default()).unwrap()
}

fn log_proba(model: &Model, rows: &Table) -> Vec<f64> {
    model.predict(rows, UnseenPolicy::Missing).unwrap().log_proba
}

fn read_as(model: &Model, gaps: Gaps) -> Model {
    let mut model = model.clone();
    model.read_gaps(gaps);
    model
}

/// Accuracy and log-loss.
fn quality(model: &Model, test: &Dataset) -> (f64, f64) {
    let found = log_proba(model, &test.features);
    let class = |m: usize| test.class.get(m).unwrap();
    let n = test.n_rows() as f64;
    let right = (0..test.n_rows()).filter(|&m| found[2 * m + class(m)] > found[2 * m + 1 - class(m)]).count();
    let loss: f64 = (0..test.n_rows()).map(|m| -found[2 * m + class(m)]).sum();
    (right as f64 / n, loss / n)
}

const TELLING: [f64; 2] = [0.1, 0.6];

#[test]
fn gaps_that_tell_are_found_and_make_the_pool_better() {
    let (train, test) = (table(400, TELLING, 1), table(600, TELLING, 2));
    for spec in ["pool,fast=true", "pool,fast=true,rows=none", "pool,fast=true,mask=block,g=nb:ml"] {
        let model = fitted(spec, &train);
        let gaps = model.pool_summary().unwrap().gaps.unwrap();
        assert_eq!(gaps.columns, ["test"], "{spec}");
        assert!(gaps.gain.mean > 2.0 * gaps.gain.error, "{spec}: {:?}", gaps.gain);
        let (with, without) = (quality(&model, &test), quality(&read_as(&model, Gaps::Unknown), &test));
        assert!(with.0 > without.0 + 0.04, "{spec}: accuracy {} {}", with.0, without.0);
        assert!(with.1 < without.1 - 0.05, "{spec}: log-loss {} {}", with.1, without.1);
    }
}

#[test]
fn gaps_at_random_change_nothing() {
    for seed in 0..6 {
        let data = table(150, [0.3, 0.3], 10 + seed);
        let model = fitted("pool,fast=true", &data);
        assert!(model.pool_summary().unwrap().gaps.is_none(), "seed {seed}");
        let unknown = read_as(&model, Gaps::Unknown);
        assert_eq!(log_proba(&model, &data.features), log_proba(&unknown, &data.features));
    }
}

/// Where gaps are unknown, or their column is not there at all, whether cells were missing in training says nothing: hiding the
/// number of a row of either class leads to the same answer as for any other row with the same other cells.
#[test]
fn unknown_gaps_are_no_evidence() {
    let model = fitted("pool,fast=true", &table(400, TELLING, 1));
    let unknown = read_as(&model, Gaps::Unknown);
    let mut rows = table(40, TELLING, 3).features;
    (0..40).for_each(|i| rows.blank(i, 0));
    let without = rows.select(&[1, 2]);
    let absent = log_proba(&unknown, &without);
    assert_eq!(absent, log_proba(&unknown, &rows));
    assert_eq!(absent, log_proba(&model, &without));
    // as in training, the gap speaks for the class that has more of them
    let told = log_proba(&model, &rows);
    assert!((0..40).all(|m| told[2 * m + 1] > absent[2 * m + 1]));
    // a question that leaves a column open says nothing by that
    let level = rows.one_row(0).unwrap().select(&[2]);
    let known = vec![("level".into(), Known::Value(level.column(0).text(0).unwrap()))];
    let asked = Query { known, targets: vec!["class".into()], ..Query::default() };
    let answer = model.query(&asked).unwrap();
    let Posterior::States(found) = &answer.posterior[0].1 else { panic!("{answer:?}") };
    for ((_, probability), log) in found.iter().zip(log_proba(&unknown, &level)) {
        assert!((probability - log.exp()).abs() < 1e-12);
    }
}

#[test]
fn explanations_with_gaps_add_up() {
    let model = fitted("pool,fast=true", &table(400, TELLING, 1));
    let rows = table(30, TELLING, 4).features;
    for (m, reasons) in
        (0..30).flat_map(|m| [(m, Reasons::Shapley(ShapleyParams::default())), (m, Reasons::Terms)])
    {
        let one = rows.one_row(m).unwrap();
        let found = model
            .explanations(&one, UnseenPolicy::Missing, reasons, &Control::default())
            .unwrap()
            .next()
            .unwrap();
        let found = found.unwrap();
        assert_eq!(found.log_proba, log_proba(&model, &one));
        let gap = found.terms.iter().find(|t| t.feature == 0).unwrap();
        if one.column(0).is_missing(0) {
            assert!(found.effect(gap, 1) > 0.0, "row {m}");
            assert_eq!(found.cell(0), "test = (missing)");
        }
        // a gap that does not tell has no term
        assert_eq!(found.terms.iter().any(|t| t.feature == 1), !one.column(1).is_missing(0));
        if matches!(reasons, Reasons::Shapley(_)) {
            for c in 0..2 {
                let sum = found.base[c] + found.terms.iter().map(|t| t.scores[c]).sum::<f64>();
                assert!((sum - found.scores[c]).abs() < 1e-9, "row {m}: {sum} {}", found.scores[c]);
            }
        }
    }
    let unknown = read_as(&model, Gaps::Unknown);
    let gap = (0..30).find(|&m| rows.column(0).is_missing(m)).unwrap();
    let found = unknown.explain(&rows, gap, UnseenPolicy::Missing).unwrap();
    assert!(found.terms.iter().all(|t| t.feature != 0));
}

#[test]
fn files_keep_what_gaps_tell() {
    let data = table(300, TELLING, 5);
    let test = table(50, TELLING, 6).features;
    for spec in ["pool,fast=true", "pool,fast=true,rows=none", "pool,fast=true,a=tan:ml"] {
        let model = fitted(spec, &data);
        assert!(model.pool_summary().unwrap().gaps.is_some(), "{spec}");
        let bytes = model.to_bytes().unwrap();
        let back = Model::from_bytes(&bytes).unwrap();
        assert_eq!(back, model, "{spec}");
        assert_eq!(back.to_bytes().unwrap(), bytes, "{spec}");
        for gaps in [Gaps::AsInTraining, Gaps::Unknown] {
            assert_eq!(
                log_proba(&read_as(&back, gaps), &test),
                log_proba(&read_as(&model, gaps), &test),
                "{spec}"
            );
        }
    }
}

#[test]
fn gaps_give_the_same_bits_on_any_number_of_threads() {
    let data = table(300, TELLING, 7);
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fitted("pool,fast=true", &data).to_bytes().unwrap())
    };
    assert!(of(1) == of(2) && of(1) == of(8));
}

#[test]
fn an_evaluation_reads_gaps_as_it_is_told() {
    let data = table(400, TELLING, 8);
    let models = ["pool,fast=true".parse().unwrap()];
    let found = |gaps: Gaps| {
        let protocol = Protocol { folds: 3, missing: vec![0.0, 0.3], gaps, ..Protocol::default() };
        let tested = TestRows::Folds(None);
        let plan = Plan {
            models: &models,
            sweep: None,
            data: &data,
            tested,
            protocol: &protocol,
            keep_answers: false,
            row_numbers: None,
        };
        compare(&plan, &Control::default()).unwrap().results.remove(0)
    };
    let (told, unknown) = (found(Gaps::AsInTraining), found(Gaps::Unknown));
    assert!(told.log_loss < unknown.log_loss - 0.03, "{} {}", told.log_loss, unknown.log_loss);
    assert!(told.missing[0].accuracy > unknown.missing[0].accuracy);
    // blanked cells are no gaps of the table
    assert_eq!(told.missing[1].accuracy, unknown.missing[1].accuracy);
}
