//! The pool from outside: missing features, bad input, sample weights, determinism, the plain parts.

use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::explain::{ExplanationKind, Reasons};
use hingenet_data::rows::Rows;
use hingenet_data::table::{Codes, Column, Table, UnseenPolicy};
use hingenet_pool::{self, LETTERS, PoolClassifier, PoolParams};
use std::sync::{Arc, Mutex};

/// Rows as plain vectors: two numbers, one category of three levels, one number without information.
#[derive(Clone)]
struct Data {
    numbers: [Vec<f64>; 3],
    level: Vec<Option<usize>>,
    class: Vec<Option<usize>>,
    weights: Option<Vec<f64>>,
}

fn data(n: usize, seed: u64) -> Data {
    let mut random = Random::new(seed);
    let mut data = Data { numbers: Default::default(), level: vec![], class: vec![], weights: None };
    for i in 0..n {
        let c = i % 3;
        let shift = [0.0, 1.5, 3.0][c];
        data.numbers[0].push(random.normal() + shift);
        data.numbers[1].push((random.normal() - 0.5 * shift).exp());
        data.numbers[2].push((random.normal() * 2.0).round());
        data.level.push(Some(if random.uniform() < 0.7 { c } else { random.below(3) }));
        data.class.push(Some(c));
    }
    data
}

impl Data {
    fn table(&self) -> Table {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        Table::new(vec![
            Column::numeric("x1", self.numbers[0].clone()),
            Column::numeric("x2", self.numbers[1].clone()),
            Column::categorical("x3", names, Codes::from_options(3, self.level.iter().copied())),
            Column::numeric("x4", self.numbers[2].clone()),
        ])
        .unwrap()
    }

    fn rows(&self, rows: &[usize]) -> Data {
        Data {
            numbers: [0, 1, 2].map(|j| rows.iter().map(|&i| self.numbers[j][i]).collect()),
            level: rows.iter().map(|&i| self.level[i]).collect(),
            class: rows.iter().map(|&i| self.class[i]).collect(),
            weights: self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect()),
        }
    }

    fn blank(&mut self, rate: f64, seed: u64) {
        let mut random = Random::new(seed);
        for i in 0..self.level.len() {
            (0..3).for_each(|j| {
                if random.uniform() < rate {
                    self.numbers[j][i] = f64::NAN;
                }
            });
            if random.uniform() < rate {
                self.level[i] = None;
            }
        }
    }

    fn fit_with(
        &self,
        params: &PoolParams,
        control: &Control,
    ) -> hingenet_base::error::Result<PoolClassifier> {
        let classes = ["r", "s", "t"].map(String::from);
        let class = Codes::from_options(3, self.class.iter().copied());
        let rows = Rows::new(&self.table(), &class, &classes, self.weights.as_deref())?;
        hingenet_pool::fit(&rows, params, [None, None], control)
    }

    fn fit(&self) -> PoolClassifier {
        self.fit_with(&PoolParams::default(), &Control::default()).unwrap()
    }
}

fn accuracy(model: &PoolClassifier, test: &Data) -> f64 {
    let proba = model.log_proba(&test.table()).unwrap();
    let right = proba
        .chunks_exact(3)
        .zip(&test.class)
        .filter(|(row, c)| Some(hingenet_base::numeric::log::argmax(row)) == **c)
        .count();
    right as f64 / test.class.len() as f64
}

/// Log probabilities of a fixed set of rows with many patterns of missing cells.
fn fingerprint(model: &PoolClassifier) -> Vec<u64> {
    let mut test = data(60, 77);
    test.blank(0.4, 78);
    model.log_proba(&test.table()).unwrap().iter().map(|v| v.to_bits()).collect()
}

#[test]
fn posteriors_are_finite_and_sum_to_one_for_every_pattern() {
    let model = data(90, 1).fit();
    let mut rows = data(16, 2);
    for pattern in 0..16 {
        (0..3).filter(|j| pattern >> j & 1 == 1).for_each(|j| rows.numbers[j][pattern] = f64::NAN);
        if pattern >> 3 & 1 == 1 {
            rows.level[pattern] = None;
        }
    }
    let proba = model.log_proba(&rows.table()).unwrap();
    for row in proba.chunks_exact(3) {
        assert!(row.iter().all(|p| p.is_finite()));
        assert!((row.iter().map(|p| p.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
    }
    // nothing observed: the class frequencies, exactly
    assert_eq!(proba[45..48], [(30.0f64 / 90.0).ln(); 3]);
}

#[test]
fn the_classes_are_found_also_when_features_are_missing() {
    let model = data(240, 3).fit();
    let mut test = data(300, 4);
    let complete = accuracy(&model, &test);
    test.blank(0.3, 5);
    let blanked = accuracy(&model, &test);
    assert!(complete > 0.8 && blanked > 0.68, "{complete} {blanked}");
}

#[test]
fn two_fits_with_one_seed_are_equal_to_the_bit_on_1_2_and_8_threads() {
    let fit = |threads| {
        let workers = rayon_pool(threads);
        workers.install(|| fingerprint(&data(150, 6).fit()))
    };
    let one = fit(1);
    assert_eq!(one, fit(2));
    assert_eq!(one, fit(8));
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn neither_row_order_nor_repetition_in_place_of_weights_matters() {
    let base = data(90, 7);
    let mut weighted = base.clone();
    weighted.weights = Some((0..90).map(|i| [1.0, 2.0, 0.0, 3.0][i % 4]).collect());
    let mut copies: Vec<usize> = (0..90).flat_map(|i| vec![i; [1, 2, 0, 3][i % 4]]).collect();
    Random::new(8).shuffle(&mut copies);
    assert_eq!(fingerprint(&weighted.fit()), fingerprint(&base.rows(&copies).fit()));
}

#[test]
fn training_cells_may_be_missing() {
    let mut train = data(240, 10);
    train.blank(0.3, 11);
    let model = train.fit();
    let test = data(300, 12);
    assert!(accuracy(&model, &test) > 0.75);
    let parts = model.to_parts();
    assert_eq!(fingerprint(&model), fingerprint(&PoolClassifier::from_parts(parts).unwrap()));
}

fn part<'a>(parts: &'a mut hingenet_pool::PoolParts, name: &str) -> &'a mut Vec<f64> {
    parts.doubles.get_mut(name).unwrap()
}

#[test]
fn parts_give_the_same_model_back_and_damaged_parts_are_refused() {
    let model = data(90, 13).fit();
    let parts = model.to_parts();
    let again = PoolClassifier::from_parts(parts.clone()).unwrap();
    assert_eq!(fingerprint(&model), fingerprint(&again));
    assert_eq!(again.to_parts(), parts);
    let damages: [fn(&mut hingenet_pool::PoolParts); 8] = [
        |p| part(p, "training_numbers").truncate(5),
        |p| p.class[0] = 9,
        |p| part(p, "weight")[3] = -1.0,
        |p| part(p, "coefficients")[0] = f64::NAN,
        |p| p.header.n_rows = usize::MAX,
        |p| p.header.present = vec![2, 1, 0],
        |p| part(p, "pair_counts").push(1.0),
        |p| p.header.weights.0[0][0] = f64::INFINITY,
    ];
    for damage in damages {
        let mut damaged = parts.clone();
        damage(&mut damaged);
        assert!(PoolClassifier::from_parts(damaged).is_err());
    }
    let parts = distilled(&data(90, 13), 5).to_parts();
    let damages: [fn(&mut hingenet_pool::PoolParts); 7] = [
        |p| part(p, "prototype_means").truncate(5),
        |p| part(p, "prototype_variances")[0] = -1.0,
        |p| part(p, "prototype_variances").truncate(3),
        |p| p.class[0] = 9,
        |p| part(p, "weight")[0] = 0.0,
        |p| p.header.n_rows = 0,
        |p| p.header.prototypes.as_mut().unwrap().cells.truncate(1),
    ];
    for damage in damages {
        let mut damaged = parts.clone();
        damage(&mut damaged);
        assert!(PoolClassifier::from_parts(damaged).is_err());
    }
}

/// A pool that keeps prototypes of at least `group` rows.
fn distilled(train: &Data, group: usize) -> PoolClassifier {
    let params = PoolParams { group: Some(group), ..PoolParams::default() };
    train.fit_with(&params, &Control::default()).unwrap()
}

#[test]
fn prototypes_stand_for_groups_of_the_size_asked_for() {
    let mut train = data(240, 50);
    train.blank(0.1, 51);
    for group in [2, 5, 17] {
        let model = distilled(&train, group);
        let summary = model.summary();
        assert_eq!((summary.kept_rows, summary.support_rows), (0, 0));
        let of = summary.prototypes.unwrap();
        assert!(of.least_rows >= group && of.count <= 240 / group && of.count > 240 / (3 * group), "{of:?}");
        let parts = model.to_parts();
        let header = parts.header.prototypes.as_ref().unwrap();
        assert_eq!(header.sizes.iter().sum::<usize>(), 240);
        assert!(parts.doubles["training_numbers"].is_empty() && parts.levels.is_empty());
        let again = PoolClassifier::from_parts(parts).unwrap();
        assert_eq!(fingerprint(&model), fingerprint(&again));
        assert!(again == model);
    }
    let error = train.fit_with(&PoolParams { group: Some(81), ..PoolParams::default() }, &Control::default());
    assert!(error.unwrap_err().to_string().contains("80 different rows"));
    let one = PoolParams { group: Some(1), ..PoolParams::default() };
    assert!(train.fit_with(&one, &Control::default()).is_err());
}

#[test]
fn a_pool_without_rows_has_no_cell_of_them_in_its_file() {
    let (train, folder) = (data(240, 52), tempfile::tempdir().unwrap());
    let cells = |spec: &str| {
        let file = folder.path().join("model.hgn");
        named(spec, &train).unwrap().save(&file).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let windows: std::collections::HashSet<[u8; 8]> =
            bytes.windows(8).map(|w| w.try_into().unwrap()).collect();
        // the third number is rounded: its cells are those of many rows
        let numbers = train.numbers[..2].iter().flatten();
        numbers.filter(|x| windows.contains(&x.to_le_bytes())).count()
    };
    assert_eq!(cells("pool"), 480);
    assert_eq!(cells("pool,rows=none"), 0);
}

#[test]
fn a_pool_without_rows_is_nearly_as_good_and_the_same_on_1_2_and_8_threads() {
    let (train, mut test) = (data(600, 54), data(600, 55));
    let fit = |threads| rayon_pool(threads).install(|| distilled(&train, 5));
    let (model, rows) = (fit(1), train.fit());
    assert_eq!(fingerprint(&model), fingerprint(&fit(2)));
    assert_eq!(fingerprint(&model), fingerprint(&fit(8)));
    for rate in [0.0, 0.3] {
        test.blank(rate, 56);
        let (a, b) = (accuracy(&model, &test), accuracy(&rows, &test));
        assert!(a > b - 0.03, "{a} without rows, {b} with rows");
    }
}

#[test]
fn few_rows_give_the_weights_of_other_tables_and_a_warning() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    let control = Control::default().on_warning(move |text| listener.lock().unwrap().push(text.to_string()));
    let model = data(12, 14).fit_with(&PoolParams::default(), &control).unwrap();
    let again = data(12, 15).fit_with(&PoolParams::default(), &Control::default()).unwrap();
    assert_eq!(model.weights(), again.weights(), "they do not depend on the rows");
    assert!((0.4..0.8).contains(&model.weights().at(0.0).iter().sum::<f64>()));
    assert!(heard.lock().unwrap().iter().any(|w| w.contains("too few")));
    fingerprint(&model);
}

/// With few rows of each class the terms are too sure of themselves. The pool is not, as it would be with equal weights; and it
/// is about as good as the best of its terms.
#[test]
fn few_rows_of_several_classes_make_no_sure_mistakes() {
    let test = data(600, 62);
    let truth: Vec<usize> = test.class.iter().map(|y| y.unwrap()).collect();
    let loss = |log_proba: &[f64]| -> f64 {
        let of_row = |(p, y): (&[f64], &usize)| {
            let total: f64 = p.iter().map(|v| v.exp()).sum();
            total.ln() - p[*y]
        };
        log_proba.chunks_exact(3).zip(&truth).map(of_row).sum::<f64>() / truth.len() as f64
    };
    const SAMPLES: u64 = 8;
    let (mut pool, mut terms, mut alike) = (0.0, [0.0; 4], 0.0);
    for seed in 0..SAMPLES {
        let (together, alone) = data(40, 70 + seed).fit().log_proba_and_terms(&test.table()).unwrap();
        pool += loss(&together) / SAMPLES as f64;
        terms.iter_mut().zip(&alone).for_each(|(total, (_, p))| *total += loss(p) / SAMPLES as f64);
        let product = |i: usize| alone.iter().map(|(_, p)| 0.25 * p[i].max(-12.0)).sum::<f64>();
        alike += loss(&(0..together.len()).map(product).collect::<Vec<_>>()) / SAMPLES as f64;
    }
    let best = terms.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(pool < alike - 0.02 && pool < best + 0.04, "pool {pool}, terms {terms:?}, all alike {alike}");
}

/// A row that is alone in its class is no case for the weights, and its class is in every part that a term is fitted on again.
#[test]
fn a_class_of_one_row_leaves_the_weights_to_the_others() {
    let mut train = data(80, 63);
    let lonely = train.class.iter().position(|y| *y == Some(1)).unwrap();
    let rest: Vec<usize> = (0..80).filter(|&i| train.class[i] == Some(1) && i != lonely).collect();
    rest.iter().for_each(|&i| train.class[i] = Some(0));
    let model = train.fit();
    assert!(model.facts.pool_report.is_some(), "weights were fitted");
    assert!(model.log_proba(&data(30, 64).table()).unwrap().iter().all(|p| p.is_finite()));
}

#[test]
fn two_to_eight_rows_are_enough_for_an_answer() {
    for n in 2..=8 {
        let mut train = data(n, 43);
        train.class = (0..n).map(|i| Some(i % 2)).collect();
        let proba = train.fit().log_proba(&data(30, 44).table()).unwrap();
        assert!(proba.iter().all(|p| p.is_finite()), "{n} rows");
    }
}

#[test]
fn a_class_of_one_row_and_constant_columns_are_no_problem() {
    let mut train = data(60, 15);
    train.class.iter_mut().enumerate().for_each(|(i, c)| *c = Some(if i == 0 { 2 } else { i % 2 }));
    train.numbers[0].fill(3.0);
    train.level.fill(Some(1));
    train.numbers[2].fill(f64::NAN);
    let model = train.fit();
    let proba = model.log_proba(&data(30, 16).table()).unwrap();
    assert!(proba.iter().all(|p| p.is_finite()));
}

#[test]
fn a_class_without_rows_gets_probability_zero() {
    let mut train = data(60, 17);
    train.class.iter_mut().for_each(|c| *c = c.map(|c| c.min(1)));
    let proba = train.fit().log_proba(&data(10, 18).table()).unwrap();
    assert!(proba.chunks_exact(3).all(|row| row[2] < -600.0 && row[2].is_finite()));
}

#[test]
fn values_out_of_all_proportion_stay_finite() {
    let mut train = data(60, 19);
    train.numbers[0][0] = 1e300;
    train.numbers[1][1] = -1e308;
    let model = train.fit();
    let mut test = data(6, 20);
    test.numbers[0] = vec![1e308, -1e308, f64::NAN, 0.0, 1e-300, 5e200];
    assert!(model.log_proba(&test.table()).unwrap().iter().all(|p| p.is_finite()));
}

/// A column of no states has no coordinates: points without any are points all the same.
#[test]
fn a_category_that_is_always_missing_tells_nothing() {
    let gaps = |n: usize| {
        let codes = Codes::from_options(0, std::iter::repeat_n(None, n));
        Table::new(vec![Column::categorical("x", Vec::new(), codes)]).unwrap()
    };
    let class = Codes::from_options(3, (0..30).map(|m| Some(m % 3)));
    let rows = Rows::new(&gaps(30), &class, &["r", "s", "t"].map(String::from), None).unwrap();
    let params = PoolParams::default();
    let model = hingenet_pool::fit(&rows, &params, [None, None], &Control::default()).unwrap();
    let proba = model.log_proba(&gaps(5)).unwrap();
    assert!(proba.len() == 15 && proba.iter().all(|p| (p.exp() - 1.0 / 3.0).abs() < 1e-6), "{proba:?}");
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let control = Control::default();
    let params = PoolParams::default();
    let mut unlabelled = data(30, 21);
    unlabelled.class[4] = None;
    let mut single = data(30, 22);
    single.class.fill(Some(1));
    let mut negative = data(30, 23);
    negative.weights = Some(vec![-1.0; 30]);
    let mut short = data(30, 24);
    short.weights = Some(vec![1.0; 3]);
    for bad in [unlabelled, single, negative, short] {
        assert!(bad.fit_with(&params, &control).is_err());
    }
    let none = PoolParams { draws: 0, ..PoolParams::default() };
    assert!(data(30, 25).fit_with(&none, &control).is_err());
    let model = data(60, 26).fit();
    let numbers = |name: &str| Column::numeric(name, vec![1.0]);
    assert!(model.log_proba(&Table::new(vec![numbers("x1")]).unwrap()).is_err());
    let wrong = Table::new(["x1", "x2", "x3", "x4"].map(numbers).to_vec()).unwrap();
    assert!(model.log_proba(&wrong).unwrap_err().hint().is_some());
}

#[test]
fn a_fit_can_be_stopped() {
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let result = data(60, 27).fit_with(&PoolParams::default(), &Control::new(stop));
    assert!(matches!(result, Err(hingenet_base::error::Error::Interrupted)));
}

#[test]
fn terms_without_weight_are_left_out_and_nothing_changes() {
    let mut test = data(60, 77);
    test.blank(0.4, 78);
    let bits = |p: &[f64]| p.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let mut left_out = false;
    for seed in [45, 46, 47] {
        let model = data(900, seed).fit();
        left_out |= model.weights().0.iter().flatten().any(|w| *w == 0.0);
        let (all, _) = model.log_proba_and_terms(&test.table()).unwrap();
        assert_eq!(bits(&model.log_proba(&test.table()).unwrap()), bits(&all));
    }
    assert!(left_out, "no weight was 0");
}

#[test]
fn the_explanation_is_the_change_when_one_feature_is_missing() {
    let model = data(90, 28).fit();
    let mut row = data(1, 29);
    row.numbers[1][0] = f64::NAN;
    let explanation = model.explain(&row.table(), 0, &Reasons::Terms, &Control::default()).unwrap();
    assert_eq!(explanation.kind, ExplanationKind::LeaveOneOut);
    let mut features: Vec<usize> = explanation.terms.iter().map(|t| t.feature).collect();
    features.sort_unstable();
    assert_eq!(features, [0, 2, 3]);
    let first = explanation.terms.iter().find(|t| t.feature == 0).unwrap();
    let with = model.log_proba(&row.table()).unwrap();
    row.numbers[0][0] = f64::NAN;
    let without = model.log_proba(&row.table()).unwrap();
    for c in 0..3 {
        assert!((explanation.scores[c] - with[c]).abs() < 1e-9);
        assert!((first.scores[c] - (with[c] - without[c])).abs() < 1e-9);
    }
    assert!(model.explain(&row.table(), 1, &Reasons::Terms, &Control::default()).is_err());
}

#[test]
fn what_to_measure_next_ranks_missing_features_by_information() {
    let model = data(300, 30).fit();
    let mut row = data(1, 31);
    row.numbers.iter_mut().for_each(|x| x[0] = f64::NAN);
    let next = model.next_measurements(&row.table()).unwrap().unwrap();
    assert_eq!(next.len(), 3);
    assert!(next.windows(2).all(|w| w[0].1 >= w[1].1));
    assert_eq!((next[0].0, next[2].0), (0, 3));
    assert!(next[0].1 > 0.1 && next[2].1 < 0.05 && next[2].1 >= 0.0);
}

#[test]
fn presets_and_single_terms_give_proper_posteriors() {
    let test = data(90, 33);
    for params in [
        PoolParams { fast: true, ..PoolParams::default() },
        PoolParams { consistent: true, ..PoolParams::default() },
    ] {
        let model = data(150, 32).fit_with(&params, &Control::default()).unwrap();
        assert!(accuracy(&model, &test) > 0.75);
        assert!(!params.consistent || model.facts.density.power == 0.0);
        let (_, terms) = model.log_proba_and_terms(&test.table()).unwrap();
        assert_eq!(terms.iter().map(|(term, _)| *term).collect::<Vec<_>>(), LETTERS);
        for (_, proba) in terms {
            assert!(
                proba.chunks_exact(3).all(|r| (r.iter().map(|p| p.exp()).sum::<f64>() - 1.0).abs() < 1e-9)
            );
        }
    }
}

/// Features and class as a data set of the model layer.
fn dataset(data: &Data) -> hingenet::model::Dataset {
    let class = Codes::from_options(3, data.class.iter().copied());
    let classes = ["r", "s", "t"].map(String::from).to_vec();
    hingenet::model::Dataset::from_parts("y", data.table(), classes, class, data.weights.clone()).unwrap()
}

fn named(spec: &str, data: &Data) -> hingenet_base::error::Result<hingenet::model::Model> {
    hingenet::model::fit(&spec.parse()?, &dataset(data), Default::default(), &Control::default())
}

#[test]
fn other_models_can_stand_in_for_the_network_and_the_gaussians() {
    let (train, test) = (data(150, 34), data(120, 35).table());
    let model = named("pool,a=tan:ml-bn-svm+lambda=1+gamma=1,g=sgbn:or+lambda1=10", &train).unwrap();
    let summary = model.pool_summary().unwrap();
    let models: Vec<&str> = summary.terms.iter().map(|t| t.model.as_str()).collect();
    assert_eq!(models[1..3], ["tan:ml-bn-svm,gamma=1,lambda=1", "sgbn:or,lambda1=10,small_classes=allow"]);
    // the terms are those models, as if they had been fitted alone
    let (_, terms) = model.predict_terms(&test, Default::default(), &Control::default()).unwrap();
    for (term, spec) in [(1, "tan:ml-bn-svm,lambda=1,gamma=1"), (2, "sgbn:or,lambda1=10")] {
        let alone = named(spec, &train).unwrap().predict(&test, Default::default()).unwrap();
        for (a, b) in terms[term].1.log_proba.iter().zip(&alone.log_proba) {
            assert!((a.exp() - b.exp()).abs() < 1e-4, "{spec}: {a} {b}");
        }
    }
    assert!(named("pool,a=pool", &train).is_err());
    assert!(named("pool,a=forest", &train).is_err());
    assert!(named("pool,g=tan:ml+depth=3", &train).is_err());
}

#[test]
fn weights_follow_the_gaps_that_are_expected() {
    let train = data(150, 36);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gaps.csv");
    std::fs::write(&file, "x1,x2,x3,x4\n,,a,1\n,2,,1\n").unwrap();
    let spec = format!("pool,mask={}", file.display());
    let weights = |spec: &str| named(spec, &train).unwrap().pool_summary().unwrap().terms;
    let plain = weights("pool");
    assert_eq!(plain, weights("pool,mask=mcar"));
    assert_ne!(plain, weights("pool,mask=block"));
    assert_ne!(plain, weights(&spec));
    std::fs::write(&file, "x1,x2\n1,\n").unwrap();
    assert!(named(&spec, &train).is_err());
    let short =
        PoolParams { masks: hingenet_pool::MaskSampler::Patterns(vec![vec![true]]), ..PoolParams::default() };
    assert!(train.fit_with(&short, &Control::default()).is_err());
}

#[test]
fn infinite_values_are_refused_in_training_and_prediction() {
    let mut bad = data(60, 37);
    bad.numbers[1][3] = f64::INFINITY;
    let error = bad.fit_with(&PoolParams::default(), &Control::default()).unwrap_err();
    assert!(error.to_string().contains("x2") && error.hint().is_some());
    assert!(data(60, 38).fit().log_proba(&bad.table()).is_err());
}

#[test]
fn a_category_that_training_has_not_seen_counts_as_missing() {
    let model = named("pool", &data(90, 39)).unwrap();
    let row = |level: Option<&str>| {
        let names: Vec<String> = level.iter().map(ToString::to_string).collect();
        let cells = [level.map(|_| 0usize)].into_iter();
        let category = Column::categorical("x3", names.clone(), Codes::from_options(names.len(), cells));
        let numbers = |name: &str| Column::numeric(name, vec![1.0]);
        let table = Table::new(vec![numbers("x1"), numbers("x2"), category, numbers("x4")]).unwrap();
        model.predict(&table, Default::default()).unwrap()
    };
    let (unseen, missing) = (row(Some("violet")), row(None));
    assert_eq!(unseen.log_proba, missing.log_proba);
    assert_eq!(unseen.report.unseen.len(), 1);
}

#[test]
fn without_any_information_the_metric_is_flat() {
    let mut train = data(60, 40);
    train.numbers.iter_mut().for_each(|x| x.fill(1.0));
    train.level.fill(Some(0));
    let model = train.fit();
    assert_eq!(model.facts.density.exponent, 0.0);
    assert!(model.log_proba(&train.table()).unwrap().iter().all(|p| p.is_finite()));
}

#[test]
fn the_change_of_the_log_odds_is_that_of_the_probabilities() {
    let model = data(90, 41).fit();
    let mut row = data(1, 42);
    let explanation = model.explain(&row.table(), 0, &Reasons::Terms, &Control::default()).unwrap();
    let level = explanation.terms.iter().find(|t| t.feature == 2).unwrap();
    let odds = |row: &Data, c: usize| {
        let p = model.log_proba(&row.table()).unwrap()[c].exp();
        (p / (1.0 - p)).ln()
    };
    let with: Vec<f64> = (0..3).map(|c| odds(&row, c)).collect();
    row.level[0] = None;
    for c in 0..3 {
        let effect = explanation.effect(level, c);
        assert!((effect - (with[c] - odds(&row, c))).abs() < 1e-8, "{effect}");
    }
}

/// Many categorical columns that hardly vary, gaps, and classes of few rows, as the records of a clinic have them.
fn records(seed: u64) -> hingenet::model::Dataset {
    const CLASS_SIZES: [usize; 24] =
        [57, 48, 22, 22, 20, 9, 8, 6, 4, 4, 3, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1];
    let mut random = Random::new(seed);
    let class: Vec<usize> = CLASS_SIZES.iter().enumerate().flat_map(|(c, &n)| vec![c; n]).collect();
    let columns = (0..69).map(|j| {
        let cards = [2, 2, 2, 2, 2, 3, 4, 5, 6][random.below(9)];
        let gaps = [0.0, 0.0, 0.0, 0.0, 0.02, 0.3, 0.9, 0.97][random.below(8)];
        let is_rare = random.uniform() < 0.6;
        let usual: Vec<usize> = (0..24).map(|_| if is_rare { 0 } else { random.below(cards) }).collect();
        let noise = if is_rare { 0.02 } else { 0.2 };
        let cells: Vec<Option<usize>> = (class.iter())
            .map(|&c| {
                let state = if random.uniform() < noise { random.below(cards) } else { usual[c] };
                (random.uniform() >= gaps).then_some(state)
            })
            .collect();
        let names = (0..cards).map(|s| format!("v{s}")).collect();
        Column::categorical(format!("x{j}"), names, Codes::from_options(cards, cells.into_iter()))
    });
    let table = Table::new(columns.collect()).unwrap();
    let classes = (0..24).map(|c| format!("c{c:02}")).collect();
    let codes = Codes::from_options(24, class.iter().map(|&c| Some(c)));
    hingenet::model::Dataset::from_parts("class", table, classes, codes, None).unwrap()
}

#[test]
fn records_with_gaps_and_rare_values_can_be_learnt_from() {
    for seed in 1..3 {
        let data = records(seed);
        let spec = "pool,fast=true".parse().unwrap();
        let model = hingenet::model::fit(&spec, &data, Default::default(), &Control::default());
        let model = model.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let told = model.predict(&data.features, UnseenPolicy::Missing).unwrap();
        let right = (0..data.n_rows()).filter(|&i| Some(told.class(i)) == data.class.get(i)).count();
        assert!(right > 150, "seed {seed}: {right} of {}", data.n_rows());
    }
}
