//! Densities of mixed and incomplete columns, probabilities, forests and generators of the density family.

mod support;

use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::rows::Rows;
use hingenet_data::table::{Codes, Column, Table};
use hingenet_density::columns::{Columns, Kind};
use hingenet_density::estimate::bandwidth::LineBandwidth;
use hingenet_density::estimate::kernel::Floor;
use hingenet_density::fit::fit_exact;
use hingenet_density::fit::search::Rule;
use hingenet_density::generate::{Dependence, Networks, Orders};
use hingenet_density::params::{COSTS, ClassWeights, Threshold};
use hingenet_density::structure::trees::{forests, trees};
use hingenet_density::{Params, Variant};
use support::{classes, columns_of, draw, two_class_table};

/// A code of three values, a value that depends on it, and a code that depends on the first.
fn mixed_columns(seed: u64) -> Columns {
    let mut random = Random::new(seed);
    let (mut code, mut value, mut other, mut class) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for k in 0..120 {
        let a = random.below(3);
        code.push(a as f64);
        value.push(a as f64 + random.normal());
        other.push(if random.uniform() < 0.7 { (a % 2) as f64 } else { random.below(2) as f64 });
        class.push(k % 2);
    }
    let kinds = vec![Kind::Discrete(3), Kind::Continuous, Kind::Discrete(2)];
    Columns::raw(kinds, vec![code, value, other], class, 2).unwrap()
}

fn all_pairs() -> Params {
    Params { floor: Floor::None, ..Params::new(Variant::SlbAll) }
}

#[test]
fn densities_of_mixed_pairs_add_up_to_one() {
    let model = fit_exact(&mixed_columns(1), &all_pairs(), &Control::default()).unwrap();
    let step = 0.02;
    let line: Vec<f64> = (0..1000).map(|k| -9.0 + step * f64::from(k)).collect();
    let nothing = vec![0.0; line.len()];
    for class in &model.densities.classes {
        assert_eq!(class.pairs, [(0, 1), (0, 2), (1, 2)]);
        let over_line = |joint: usize, code: f64, discrete_first: bool| -> f64 {
            let codes = vec![code; line.len()];
            let queries = if discrete_first { (&codes[..], &line[..]) } else { (&line[..], &codes[..]) };
            let values = class.joints[joint].features(queries, (&nothing, &nothing), |_| None);
            values.iter().map(|v| v.exp() * step).sum()
        };
        let first: f64 = (0..3).map(|a| over_line(0, f64::from(a), true)).sum();
        let last: f64 = (0..2).map(|a| over_line(2, f64::from(a), false)).sum();
        let cells: Vec<(f64, f64)> =
            (0..3).flat_map(|a| (0..2).map(move |b| (f64::from(a), f64::from(b)))).collect();
        let (a, b): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
        let table = class.joints[1].features((&a, &b), (&[0.0; 6], &[0.0; 6]), |_| None);
        let table: f64 = table.iter().map(|v| v.exp()).sum();
        for total in [first, last, table] {
            assert!((total - 1.0).abs() < 1e-6, "{total}");
        }
    }
}

/// A pair with a missing cell has the density of the other feature, a missing feature that of nothing; and what is
/// estimated from incomplete rows is what their observed cells alone give.
#[test]
fn a_missing_cell_leaves_the_density_of_the_other_feature() {
    let mut random = Random::new(2);
    let n = 80;
    let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let mut y: Vec<f64> = x.iter().map(|v| v + random.normal()).collect();
    (0..n).step_by(7).for_each(|r| y[r] = f64::NAN);
    let class: Vec<usize> = (0..n).map(|r| r % 2).collect();
    let kinds = vec![Kind::Continuous; 2];
    let columns = Columns::raw(kinds.clone(), vec![x.clone(), y.clone()], class.clone(), 2).unwrap();
    let model = fit_exact(&columns, &all_pairs(), &Control::default()).unwrap();
    let seen: Vec<usize> = (0..n).filter(|r| r % 7 != 0).collect();
    let at = |v: &[f64]| seen.iter().map(|&r| v[r]).collect::<Vec<f64>>();
    let complete =
        Columns::raw(kinds, vec![at(&x), at(&y)], seen.iter().map(|r| r % 2).collect(), 2).unwrap();
    let alone = fit_exact(&complete, &all_pairs(), &Control::default()).unwrap();
    let queries = [vec![0.3, f64::NAN, 0.3, f64::NAN], vec![-0.4, -0.4, f64::NAN, f64::NAN]];
    for (class, other) in model.densities.classes.iter().zip(&alone.densities.classes) {
        let [tx, ty] = [0, 1].map(|i| class.marginals[i].features(&queries[i], |_| None));
        let pair = class.joints[0].features((&queries[0], &queries[1]), (&tx, &ty), |_| None);
        assert_eq!((pair[1], pair[2], pair[3]), (ty[1], tx[2], 0.0));
        assert_eq!(ty[0], other.marginals[1].features(&queries[1], |_| None)[0]);
        let again = other.joints[0].features((&queries[0], &queries[1]), (&tx, &ty), |_| None);
        assert_eq!(pair[0], again[0]);
    }
}

/// Five copies of a feature make the scores of naive Bayes five times as large; calibration on rows left out of their own
/// densities takes that back.
#[test]
fn calibrated_probabilities_do_not_count_a_copied_feature_five_times() {
    let (table, class) = two_class_table(120, 1, 3);
    let (test, _) = two_class_table(50, 1, 4);
    let names = classes();
    let probabilities = |copies: usize| {
        let wide = |t: &Table| {
            let cells = t.column(0).as_numeric().unwrap().with_nan().to_vec();
            Table::new((0..copies).map(|k| Column::numeric(format!("x{k}"), cells.clone())).collect())
                .unwrap()
        };
        let features = wide(&table);
        let rows = Rows::new(&features, &class, &names, None).unwrap();
        let params = Params::new(Variant::KdeNaiveBayes);
        let model = hingenet_density::fit(&rows, &params, &Control::default()).unwrap().model;
        (model.decision_values(&wide(&test)).unwrap(), model.log_proba(&wide(&test)).unwrap())
    };
    let ((one, p_one), (five, p_five)) = (probabilities(1), probabilities(5));
    for (a, b) in one.iter().zip(&five) {
        let (a, b) = (a[1] - a[0], b[1] - b[0]);
        // Scores are read off tables.
        assert!((b - 5.0 * a).abs() < 1e-2 * (1.0 + b.abs()), "{a} {b}");
    }
    for (a, b) in p_one.iter().zip(&p_five) {
        assert!((a.exp() - b.exp()).abs() < 2e-3, "{a} {b}");
    }
}

#[test]
fn a_forest_is_a_part_of_the_tree() {
    let (table, class) = two_class_table(60, 6, 5);
    let params = Params::new(Variant::KdeForest);
    let columns = columns_of(&table, &class, &params);
    let tree = trees(&columns, &params, &Control::default()).unwrap();
    let forest = forests(&columns, &params, &Control::default()).unwrap();
    for y in 0..2 {
        assert_eq!(tree.of_class[y].len(), 5);
        assert!(forest.of_class[y].iter().all(|edge| tree.of_class[y].contains(edge)));
    }
    // Features in a chain support edges, independent ones hardly any of six.
    assert!(forest.len() >= 5, "{forest:?}");
    let mut random = Random::new(6);
    let noise: Vec<Vec<f64>> = (0..4).map(|_| (0..200).map(|_| random.normal()).collect()).collect();
    let independent =
        Columns::raw(vec![Kind::Continuous; 4], noise, (0..200).map(|r| r % 2).collect(), 2).unwrap();
    let spurious = forests(&independent, &params, &Control::default()).unwrap();
    assert!(spurious.len() <= 2, "{spurious:?}");
}

#[test]
fn equal_errors_choose_no_pairs_and_no_class_weights() {
    let mut random = Random::new(7);
    let columns: Vec<Vec<f64>> =
        (0..3).map(|_| (0..100).map(|r| 12.0 * f64::from(r % 2) + random.normal()).collect()).collect();
    let columns =
        Columns::raw(vec![Kind::Continuous; 3], columns, (0..100).map(|r| r % 2).collect(), 2).unwrap();
    let model = fit_exact(&columns, &Params::new(Variant::Slb), &Control::default()).unwrap();
    let softest = Rule { cost: COSTS[0], class_weights: ClassWeights::None };
    assert_eq!(model.used, Some((Threshold::Fraction(0.0), softest)));
}

#[test]
fn many_ties_refuse_least_squares_bandwidths() {
    let (table, class) = two_class_table(60, 2, 8);
    let rounded = |c: &Column| c.as_numeric().unwrap().with_nan().iter().map(|x| (8.0 * x).round()).collect();
    let table =
        Table::new(table.columns().iter().map(|c| Column::numeric(c.name(), rounded(c))).collect()).unwrap();
    let names = classes();
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    let fit = |line: LineBandwidth| {
        let params = Params { line, ..Params::new(Variant::KdeNaiveBayes) };
        hingenet_density::fit(&rows, &params, &Control::default()).unwrap().model
    };
    assert!(fit(LineBandwidth::LeastSquares) == fit(LineBandwidth::Normal));
    assert!(fit(LineBandwidth::Normal) != fit(LineBandwidth::PlugIn));
}

#[test]
fn generated_networks_have_the_stated_parents() {
    for seed in 0..5 {
        let forest = Networks::forest(20, Dependence::Simple, seed).unwrap();
        let separate = Networks::bn(20, Dependence::Simple, Orders::Common, false, seed).unwrap();
        let shared = Networks::bn(20, Dependence::Simple, Orders::Common, true, seed).unwrap();
        for y in 0..2 {
            let roots = |n: &Networks| n.parents(y).iter().filter(|p| p.is_empty()).count();
            assert_eq!((roots(&forest), roots(&separate), roots(&shared)), (9, 6, 6));
            assert!(forest.parents(y).iter().all(|p| p.len() <= 1));
            assert!(separate.parents(y).iter().all(|p| p.is_empty() || p.len() == 3));
        }
        let equal = |n: &Networks| (0..20).filter(|&i| n.parents(0)[i] == n.parents(1)[i]).count();
        assert!(equal(&shared) >= 7 && equal(&shared) > equal(&separate));
        // Roots are standard normal, and the draws of a seed are always the same.
        let (table, _) = draw(&forest, [2000, 0], 9);
        let root = forest.parents(0).iter().position(Vec::is_empty).unwrap();
        let x = table.column(root).as_numeric().unwrap().with_nan().to_vec();
        let variance = x.iter().map(|v| v * v).sum::<f64>() / 2000.0;
        assert!((variance - 1.0).abs() < 0.2, "{variance}");
        assert!(table == draw(&forest, [2000, 0], 9).0);
    }
}

#[test]
fn small_classes_get_pairs_only_when_asked() {
    let (table, class) = two_class_table(15, 3, 10);
    let names = classes();
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    let (send, warnings) = std::sync::mpsc::channel();
    let control = Control::default().on_warning(move |text| drop(send.send(text.to_string())));
    let params = Params::new(Variant::SlbAll);
    let without = hingenet_density::fit(&rows, &params, &control).unwrap().model;
    assert_eq!(without.summary.kept, 0);
    assert!(warnings.try_iter().any(|w| w.contains("fewer than 20 rows")));
    let asked = Params { pairs_in_small_classes: true, ..params };
    let with = hingenet_density::fit(&rows, &asked, &Control::default()).unwrap().model;
    assert_eq!(with.summary.kept, 6);
    assert!(with.log_proba(&table).unwrap().iter().all(|p| p.is_finite()));
}

#[test]
fn codes_may_be_missing_at_prediction() {
    let names = vec!["a".to_string(), "b".to_string()];
    let code: Vec<Option<usize>> = (0..80).map(|r| Some((r + r / 5) % 2)).collect();
    let table = Table::new(vec![
        Column::categorical("code", names.clone(), Codes::from_options(2, code.into_iter())),
        Column::numeric("x", (0..80).map(|r| f64::from(r % 2) + 0.01 * f64::from(r)).collect()),
    ])
    .unwrap();
    let class = Codes::from_options(2, (0..80).map(|r| Some(r % 2)));
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    for variant in [Variant::SlbAll, Variant::Lu, Variant::KdeTan] {
        let model = hingenet_density::fit(&rows, &Params::new(variant), &Control::default()).unwrap().model;
        let blank = Table::new(vec![
            Column::categorical("code", names.clone(), Codes::from_options(2, [None, Some(1)].into_iter())),
            Column::numeric("x", vec![0.5, f64::NAN]),
        ])
        .unwrap();
        let p = model.log_proba(&blank).unwrap();
        assert!(p.iter().all(|v| v.is_finite() && *v <= 0.0), "{variant:?}: {p:?}");
    }
}

/// One row less in the count of its own class would tell the class of every row with that value. Codes that say nothing of
/// the class must not be learnt, neither way round.
#[test]
fn counts_do_not_tell_a_machine_the_class_of_a_row() {
    let mut random = Random::new(11);
    let mut draw = |n: usize| {
        let column = |k: usize, random: &mut Random| {
            let codes: Vec<Option<usize>> = (0..n).map(|_| Some(random.below(3))).collect();
            let names = ["a", "b", "c"].map(String::from).to_vec();
            Column::categorical(format!("x{k}"), names, Codes::from_options(3, codes.into_iter()))
        };
        let mut columns: Vec<Column> = (0..6).map(|k| column(k, &mut random)).collect();
        let class: Vec<Option<usize>> = (0..n).map(|r| Some(r % 2)).collect();
        let x = (0..n).map(|r| 1.5 * (r % 2) as f64 + random.normal()).collect();
        columns.push(Column::numeric("x", x));
        (Table::new(columns).unwrap(), Codes::from_options(2, class.into_iter()))
    };
    let ((train, class), (test, truth)) = (draw(200), draw(1000));
    let names = classes();
    let rows = Rows::new(&train, &class, &names, None).unwrap();
    for variant in [Variant::Lu, Variant::SlbAll] {
        let params = Params { class_weights: ClassWeights::None, cost: Some(1.0), ..Params::new(variant) };
        let model = hingenet_density::fit(&rows, &params, &Control::default()).unwrap().model;
        let p = model.log_proba(&test).unwrap();
        let right = (0..1000).filter(|&r| Some(usize::from(p[2 * r + 1] > p[2 * r])) == truth.get(r)).count();
        // The numeric column alone tells 77 of 100 rows.
        assert!(right > 650, "{variant:?}: {right}");
    }
}
