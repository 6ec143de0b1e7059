//! Gaussian classifiers on tables: all learning rules and decisions, missing cells, weights, explanations, model data.

use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::explain::{ExplanationKind, Reasons};
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use hingenet_data::table::{Codes, Column, NumberRows, Table};
use hingenet_gaussian::network::GaussianNetwork;
use hingenet_gaussian::structure::SearchParams;
use hingenet_gaussian::{
    Decision, GaussianClassifier, GaussianParams, Learning, Priors, SlackWeight, StructureMethod, Tuning,
    Variance,
};

struct Data {
    table: Table,
    class: Codes,
    classes: Vec<String>,
}

/// Classes that differ in dependence (x1 on x0) and in one category; some cells missing when asked for.
fn data(n: usize, classes: usize, missing: bool, seed: u64) -> Data {
    let mut random = Random::new(seed);
    let mut numbers = vec![Vec::new(); 4];
    let (mut codes, mut class) = (Vec::new(), Vec::new());
    for a in 0..n {
        let c = a % classes;
        let x0 = random.normal();
        let x1 = [0.9, -0.9, 0.0][c % 3] * x0 + 0.4 * random.normal();
        let row = [x0, x1, 5.0 + 0.5 * x1 + random.normal(), 3.0];
        for (list, v) in numbers.iter_mut().zip(row) {
            list.push(if missing && random.below(8) == 0 { f64::NAN } else { v });
        }
        let level = if random.below(3) == 0 { random.below(3) } else { c % 3 };
        codes.push(if missing && random.below(8) == 0 { None } else { Some(level) });
        class.push(Some(c));
    }
    let mut columns: Vec<Column> =
        numbers.into_iter().enumerate().map(|(j, v)| Column::numeric(format!("x{j}"), v)).collect();
    let levels = ["a", "b", "c"].map(String::from).to_vec();
    columns.push(Column::categorical("level", levels, Codes::from_options(3, codes.into_iter())));
    Data {
        table: Table::new(columns).unwrap(),
        class: Codes::from_options(classes, class.into_iter()),
        classes: (0..classes).map(|c| format!("c{c}")).collect(),
    }
}

/// Rows as they are given, before they are checked.
#[derive(Clone, Copy)]
struct Training<'a> {
    features: &'a Table,
    class: &'a Codes,
    classes: &'a [String],
    weights: Option<&'a [f64]>,
}

fn fit(given: &Training<'_>, params: &GaussianParams, control: &Control) -> Result<Fit<GaussianClassifier>> {
    let rows = Rows::new(given.features, given.class, given.classes, given.weights)?;
    hingenet_gaussian::fit(&rows, params, control)
}

impl Data {
    fn training(&self) -> Training<'_> {
        Training { features: &self.table, class: &self.class, classes: &self.classes, weights: None }
    }

    fn accuracy(&self, model: &GaussianClassifier) -> f64 {
        let k = self.classes.len();
        let log_proba = model.log_proba(&self.table).unwrap();
        let right = |a: &usize| hingenet_base::numeric::log::argmax(&log_proba[a * k..(a + 1) * k]) == a % k;
        assert!(log_proba.iter().all(|p| !p.is_nan()));
        (0..self.table.n_rows()).filter(right).count() as f64 / self.table.n_rows() as f64
    }
}

const TUNING: Tuning =
    Tuning { lambda1: Some(5.0), free: Some(20), nu: Some(0.3), c: Some(SlackWeight::Trace(1.0)) };

fn quick() -> GaussianParams {
    GaussianParams {
        search: SearchParams { rounds: 3, ..SearchParams::default() },
        tuning: TUNING,
        ..GaussianParams::default()
    }
}

#[test]
fn every_structure_learning_rule_and_decision_classifies() {
    for classes in [2, 3] {
        let (train, test) = (data(90, classes, false, 1), data(200, classes, false, 2));
        for structure in [StructureMethod::Or, StructureMethod::H, StructureMethod::Search] {
            for learning in [Learning::Generative, Learning::Kl, Learning::Mm] {
                for decision in [Decision::Network, Decision::FisherSvm(None), Decision::FisherSvm(Some(20))]
                {
                    let params = GaussianParams { structure, learning, decision, ..quick() };
                    let end = fit(&train.training(), &params, &Control::default()).unwrap();
                    let accuracy = test.accuracy(&end.model);
                    let name = format!("{classes} {structure:?} {learning:?} {decision:?}");
                    assert!(accuracy > 0.75, "{name}: {accuracy}");
                }
            }
        }
    }
}

/// Largest change of a weight or an intercept between the networks of two classifiers.
fn moved(from: &GaussianClassifier, to: &GaussianClassifier) -> f64 {
    let numbers = |model: &GaussianClassifier| -> Vec<f64> {
        let of = |n: &GaussianNetwork| {
            (0..n.nodes()).flat_map(|j| n.parents(j).map(|(_, w)| w)).chain(n.bias().to_vec()).collect()
        };
        model.networks.iter().flat_map(|n| -> Vec<f64> { of(n) }).collect()
    };
    let (from, to) = (numbers(from), numbers(to));
    assert_eq!(from.len(), to.len());
    from.iter().zip(&to).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn kl_and_mm_move_the_weights_and_keep_the_graphs() {
    for classes in [2, 3] {
        let train = data(90, classes, false, 1);
        for structure in [StructureMethod::Or, StructureMethod::H, StructureMethod::Search] {
            let learnt = |learning: Learning| {
                let params = GaussianParams { structure, learning, ..quick() };
                fit(&train.training(), &params, &Control::default()).unwrap().model
            };
            let start = learnt(Learning::Generative);
            for learning in [Learning::Kl, Learning::Mm] {
                let end = learnt(learning);
                let change = moved(&start, &end);
                assert!(change > 1e-3, "{classes} {structure:?} {learning:?}: {change}");
                let graphs = |model: &GaussianClassifier| {
                    model.networks.iter().map(|n| n.dag().clone()).collect::<Vec<_>>()
                };
                assert!(graphs(&start) == graphs(&end), "{classes} {structure:?} {learning:?}");
            }
        }
    }
}

#[test]
fn the_fused_penalty_works_for_two_classes_only() {
    let (train, test) = (data(80, 2, true, 1), data(200, 2, false, 2));
    let params = GaussianParams { fused: Some(4.0), ..quick() };
    let end = fit(&train.training(), &params, &Control::default()).unwrap();
    assert!(test.accuracy(&end.model) > 0.75);
    let three = data(60, 3, false, 3);
    assert!(fit(&three.training(), &params, &Control::default()).is_err());
    let search = GaussianParams { structure: StructureMethod::Search, ..params };
    assert!(fit(&train.training(), &search, &Control::default()).is_err());
}

#[test]
fn missing_cells_are_learnt_from_and_marginalised() {
    let (train, test) = (data(120, 2, true, 3), data(200, 2, true, 4));
    for learning in [Learning::Generative, Learning::Kl, Learning::Mm] {
        for decision in [Decision::Network, Decision::FisherSvm(None)] {
            let params = GaussianParams { learning, decision, ..quick() };
            let end = fit(&train.training(), &params, &Control::default()).unwrap();
            let accuracy = test.accuracy(&end.model);
            assert!(accuracy > 0.7, "{learning:?} {decision:?}: {accuracy}");
        }
    }
}

#[test]
fn open_options_are_chosen_by_inner_cross_validation() {
    let train = data(60, 2, false, 5);
    let params = GaussianParams { learning: Learning::Mm, ..GaussianParams::default() };
    let end = fit(&train.training(), &params, &Control::default()).unwrap();
    assert_eq!(end.chosen.keys().collect::<Vec<_>>(), ["k", "lambda1", "nu"]);
    let params = GaussianParams { decision: Decision::FisherSvm(None), ..GaussianParams::default() };
    let end = fit(&train.training(), &params, &Control::default()).unwrap();
    assert_eq!(end.chosen.keys().collect::<Vec<_>>(), ["c", "lambda1"]);
}

#[test]
fn options_that_were_chosen_give_the_same_classifier_when_they_are_set() {
    let train = data(60, 2, false, 5);
    for learning in [Learning::Generative, Learning::Kl, Learning::Mm] {
        for decision in [Decision::Network, Decision::FisherSvm(None), Decision::FisherSvm(Some(15))] {
            let open = GaussianParams { learning, decision, ..GaussianParams::default() };
            let chosen = fit(&train.training(), &open, &Control::default()).unwrap();
            let value = |name: &str| chosen.chosen.get(name).copied();
            let tuning = Tuning {
                lambda1: value("lambda1"),
                free: value("k").map(|k| k as usize),
                nu: value("nu"),
                c: value("c").map(SlackWeight::Trace),
            };
            let set = GaussianParams { tuning, ..open };
            let again = fit(&train.training(), &set, &Control::default()).unwrap();
            assert!(again.chosen.is_empty());
            let (a, b) = (chosen.model.log_proba(&train.table), again.model.log_proba(&train.table));
            assert_eq!(a.unwrap(), b.unwrap(), "{learning:?} {decision:?}");
        }
    }
}

/// Labels by chance: there is nothing to gain by moving the networks.
#[test]
fn kl_leaves_the_networks_alone_where_moving_them_does_not_help_on_held_out_rows() {
    let mut stayed = 0;
    for seed in 0..4 {
        let mut train = data(60, 2, false, seed);
        let mut random = Random::new(seed);
        train.class = Codes::from_options(2, (0..60).map(|_| Some(random.below(2))));
        let tuning = Tuning { lambda1: Some(8.0), ..Tuning::default() };
        let open = GaussianParams { learning: Learning::Kl, tuning, ..GaussianParams::default() };
        let kl = fit(&train.training(), &open, &Control::default()).unwrap();
        if kl.chosen["k"] == 0.0 {
            stayed += 1;
            let or = GaussianParams { tuning, ..GaussianParams::default() };
            let or = fit(&train.training(), &or, &Control::default()).unwrap().model;
            // the moments of networks that nothing is learnt after are summed another way
            let (a, b) = (kl.model.log_proba(&train.table).unwrap(), or.log_proba(&train.table).unwrap());
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
    assert!(stayed > 0);
}

#[test]
fn explanations_add_up() {
    let train = data(60, 2, false, 6);
    let model = fit(&train.training(), &quick(), &Control::default()).unwrap().model;
    let log_proba = model.log_proba(&train.table).unwrap();
    let explanation = model.explain(&train.table, 7, &Reasons::Terms, &Control::default()).unwrap();
    assert_eq!(explanation.kind, ExplanationKind::Additive);
    for c in 0..2 {
        let sum = explanation.base[c] + explanation.terms.iter().map(|t| t.scores[c]).sum::<f64>();
        assert!((sum - explanation.scores[c]).abs() < 1e-9);
    }
    let odds = explanation.scores[0] - explanation.scores[1];
    assert!((odds - (log_proba[14] - log_proba[15])).abs() < 1e-9);

    let holed = data(10, 2, true, 7);
    let row = (0..10).find(|&a| holed.table.columns().iter().any(|c| c.is_missing(a))).unwrap();
    let explanation = model.explain(&holed.table, row, &Reasons::Terms, &Control::default()).unwrap();
    assert_eq!(explanation.kind, ExplanationKind::LeaveOneOut);
    let observed = holed.table.columns().iter().filter(|c| !c.is_missing(row)).count();
    assert_eq!(explanation.terms.len(), observed);
    assert!(model.explain(&train.table, 60, &Reasons::Terms, &Control::default()).is_err());
}

#[test]
fn a_row_without_any_observed_cell_gets_the_prior() {
    let train = data(60, 3, false, 8);
    let params = GaussianParams { priors: Priors::Empirical, ..quick() };
    let model = fit(&train.training(), &params, &Control::default()).unwrap().model;
    let empty = Table::new(
        train
            .table
            .columns()
            .iter()
            .map(|c| match c.as_categorical() {
                None => Column::numeric(c.name(), vec![f64::NAN]),
                Some(k) => Column::categorical(
                    c.name(),
                    k.categories().to_vec(),
                    Codes::from_options(3, [None].into_iter()),
                ),
            })
            .collect(),
    )
    .unwrap();
    for (p, prior) in model.log_proba(&empty).unwrap().iter().zip(&model.prior) {
        assert!((p.exp() - prior).abs() < 1e-12);
    }
}

#[test]
fn sample_weights_equal_repetition() {
    let train = data(40, 2, true, 9);
    let weights: Vec<f64> = (0..40).map(|a| (a % 3) as f64).collect();
    let rows: Vec<usize> = (0..40).flat_map(|a| vec![a; a % 3]).collect();
    let repeated = Data {
        table: train.table.rows(&rows),
        class: train.class.rows(&rows),
        classes: train.classes.clone(),
    };
    let params = GaussianParams { learning: Learning::Mm, ..quick() };
    let weighted = Training { weights: Some(&weights), ..train.training() };
    let by_weight = fit(&weighted, &params, &Control::default()).unwrap().model;
    let by_rows = fit(&repeated.training(), &params, &Control::default()).unwrap().model;
    let (a, b) = (by_weight.log_proba(&train.table).unwrap(), by_rows.log_proba(&train.table).unwrap());
    for (a, b) in a.iter().zip(&b) {
        assert!((a.exp() - b.exp()).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn model_data_survive_a_round_trip_and_damage_is_refused() {
    let train = data(50, 3, false, 10);
    let params = GaussianParams { decision: Decision::FisherSvm(Some(10)), ..quick() };
    let model = fit(&train.training(), &params, &Control::default()).unwrap().model;
    let text = serde_json::to_string(&model).unwrap();
    let back: GaussianClassifier = serde_json::from_str(&text).unwrap();
    assert_eq!(back.log_proba(&train.table).unwrap(), model.log_proba(&train.table).unwrap());
    let damaged = text.replacen("\"variance\":[", "\"variance\":[-1.0,", 1);
    assert!(serde_json::from_str::<GaussianClassifier>(&damaged).is_err());
}

#[test]
fn rows_can_be_drawn_scored_and_completed() {
    let train = data(200, 2, false, 11);
    let model = fit(&train.training(), &quick(), &Control::default()).unwrap().model;
    let (table, class) = model.sample(100, 1).unwrap();
    assert_eq!((table.n_rows(), table.n_columns(), class.len()), (100, 5, 100));
    assert_eq!(model.sample(100, 1).unwrap(), (table.clone(), class));
    assert!(model.log_density(&table).unwrap().iter().all(|l| l.is_finite()));
    let holed = data(20, 2, true, 12);
    let x = model.features.encode(&holed.table).unwrap();
    let cells = NumberRows::new(x.data(), x.cols()).unwrap();
    let filled = model.networks[0].completed(&cells).unwrap();
    let rows: Vec<Vec<f64>> = filled.chunks(x.cols()).map(<[f64]>::to_vec).collect();
    let complete = model.features.decode(&rows).unwrap();
    assert_eq!(complete.n_missing(), 0);
    let (before, after) =
        (holed.table.column(0).as_numeric().unwrap(), complete.column(0).as_numeric().unwrap());
    for a in 0..20 {
        if let Some(v) = before.get(a) {
            assert!((v - after.get(a).unwrap()).abs() < 1e-9);
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let train = data(60, 3, true, 13);
    let params = GaussianParams { learning: Learning::Kl, decision: Decision::FisherSvm(None), ..quick() };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = fit(&train.training(), &params, &Control::default()).unwrap().model;
            model.log_proba(&train.table).unwrap()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(8));
}

#[test]
fn rare_and_absent_classes_have_a_stated_fallback() {
    let mut train = data(31, 2, false, 14);
    train.classes.extend(["rare".to_string(), "absent".to_string()]);
    let mut codes: Vec<Option<usize>> = train.class.iter().collect();
    codes[30] = Some(2);
    train.class = Codes::from_options(4, codes.into_iter());
    for variance in [Variance::Ml, Variance::Pooled, Variance::Fixed] {
        for learning in [Learning::Generative, Learning::Mm, Learning::Kl] {
            let params = GaussianParams { variance, learning, tiny_classes: true, ..quick() };
            let model = fit(&train.training(), &params, &Control::default()).unwrap().model;
            let log_proba = model.log_proba(&train.table).unwrap();
            assert!(
                log_proba.chunks(4).all(|p| p[3] == f64::NEG_INFINITY && p[..3].iter().all(|v| !v.is_nan()))
            );
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let train = data(30, 2, false, 15);
    let control = Control::default();
    let bad = [
        GaussianParams { tuning: Tuning { lambda1: Some(0.0), ..TUNING }, ..quick() },
        GaussianParams { tuning: Tuning { nu: Some(1.0), ..TUNING }, ..quick() },
        GaussianParams { tuning: Tuning { c: Some(SlackWeight::Plain(0.0)), ..TUNING }, ..quick() },
        GaussianParams { slack: -1.0, ..quick() },
        GaussianParams { search: SearchParams { penalty: 0.0, ..SearchParams::default() }, ..quick() },
    ];
    for params in bad {
        assert!(fit(&train.training(), &params, &control).is_err());
    }
    let one = Codes::from_options(2, std::iter::repeat_n(Some(0), 30));
    assert!(fit(&Training { class: &one, ..train.training() }, &quick(), &control).is_err());
    let unlabelled = Codes::from_options(2, std::iter::repeat_n(None, 30));
    assert!(fit(&Training { class: &unlabelled, ..train.training() }, &quick(), &control).is_err());
    let narrow = train.table.select(&[0]);
    assert!(fit(&Training { features: &narrow, ..train.training() }, &quick(), &control).is_err());
    let model = fit(&train.training(), &quick(), &control).unwrap().model;
    assert!(model.log_proba(&narrow).is_err());
    let swapped = train.table.select(&[4, 1, 2, 3, 0]);
    assert!(model.log_proba(&swapped).is_err());
}

#[test]
fn a_class_with_one_row_is_refused_by_name_and_one_without_rows_is_not() {
    let mut d = data(41, 2, false, 3);
    d.classes.push("rare".into());
    assert!(fit(&d.training(), &quick(), &Control::default()).is_ok());
    d.class = Codes::from_options(3, (0..41).map(|a| Some(if a == 40 { 2 } else { a % 2 })));
    let error = fit(&d.training(), &quick(), &Control::default()).unwrap_err().to_string();
    assert!(error.contains("class `rare` has 1 row; its network needs 2 of every class"), "{error}");
    let allowed = GaussianParams { tiny_classes: true, ..quick() };
    assert!(fit(&d.training(), &allowed, &Control::default()).is_ok());
    // A row of weight 2 is two rows; a row of weight 0 is none.
    for (weight, fits) in [(2.0, true), (0.0, true), (1.5, false)] {
        let weights: Vec<f64> = (0..41).map(|a| if a == 40 { weight } else { 1.0 }).collect();
        let training = Training { weights: Some(&weights), ..d.training() };
        assert_eq!(fit(&training, &quick(), &Control::default()).is_ok(), fits, "{weight}");
    }
}
