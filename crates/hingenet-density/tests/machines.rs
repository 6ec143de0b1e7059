//! The machines of the density family: raw columns beside log densities, penalties, several classes, anchors.

mod support;

use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::explain::Reasons;
use hingenet_data::rows::Rows;
use hingenet_data::table::{Codes, Column, Schema, Table};
use hingenet_density::columns::Columns;
use hingenet_density::fit::{ExactModel, fit_exact};
use hingenet_density::params::{Anchor, Augment, ClassWeights, Multiclass, Penalty, Threshold};
use hingenet_density::terms::raw::RawTerm;
use hingenet_density::{Params, Variant};
use support::{classes, columns_of, correct, fitted as fit, two_class_table};

/// A fixed threshold and no class weights: nothing to search.
fn fixed(fraction: f64) -> Params {
    Params {
        threshold: Threshold::Fraction(fraction),
        class_weights: ClassWeights::None,
        cost: Some(1.0),
        ..Params::new(Variant::Slb)
    }
}

/// Whether a score uses the raw term.
fn raw_in_use(exact: &ExactModel, wanted: impl Fn(&RawTerm) -> bool) -> bool {
    let weights = exact.densities.raw.iter().zip(&exact.scores.weights.raw).filter(|(t, _)| wanted(t));
    weights.flat_map(|(_, w)| w).any(|w| *w != 0.0)
}

fn augmented() -> Params {
    Params { augment: Augment::RawAndProducts, ..fixed(0.6) }
}

/// Two numbers of which one is often missing, and a code.
fn mixed_table(n: usize, seed: u64) -> (Table, Codes) {
    let mut random = Random::new(seed);
    let class: Vec<usize> = (0..n).map(|r| r % 2).collect();
    let x = class.iter().map(|c| *c as f64 + random.normal()).collect();
    let gap = |c: &usize, random: &mut Random| {
        if random.uniform() < 0.2 { f64::NAN } else { random.normal() - *c as f64 }
    };
    let y = class.iter().map(|c| gap(c, &mut random)).collect();
    let code = class.iter().map(|c| Some((c + random.below(2)) % 3)).collect::<Vec<_>>();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let table = Table::new(vec![
        Column::numeric("x", x),
        Column::numeric("y", y),
        Column::categorical("code", names, Codes::from_options(3, code.into_iter())),
    ])
    .unwrap();
    (table, Codes::from_options(2, class.into_iter().map(Some)))
}

#[test]
fn raw_terms_are_part_of_the_curves_and_maps_and_explanations_add_up() {
    let (table, class) = two_class_table(60, 3, 40);
    let model = fit(&table, &class, &augmented());
    model.check(&Schema::of(&table)).unwrap();
    assert!(model.summary.table_error <= 1e-3);
    let proba = model.log_proba(&table).unwrap();
    for row in [0, 31, 100] {
        let explanation = model.explain(&table, row, &Reasons::Terms, &Control::default()).unwrap();
        let terms = |c: usize| explanation.terms.iter().map(|t| t.scores[c]).sum::<f64>();
        for c in 0..2 {
            assert!((explanation.base[c] + terms(c) - explanation.scores[c]).abs() < 1e-9);
        }
        let odds = proba[2 * row + 1] - proba[2 * row];
        assert!((explanation.scores[1] - explanation.scores[0] - odds).abs() < 1e-9);
        // Terms of columns and pairs only: a raw term has no place of its own.
        assert_eq!(explanation.terms.len(), 3 + model.pairs().len());
    }
}

#[test]
fn tables_with_raw_terms_agree_with_exact_scores() {
    let ((table, class), (test, _)) = (mixed_table(160, 41), mixed_table(60, 42));
    let names = classes();
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    let (units, columns) = Columns::learn(&rows, &augmented(), &Control::default()).unwrap();
    let exact = fit_exact(&columns, &augmented(), &Control::default()).unwrap();
    // Two numbers and at most their product; the code has no raw term.
    assert!((2..=3).contains(&exact.densities.raw.len()));
    let want = exact.outputs(&units.encode(&test).unwrap(), &Control::default()).unwrap();
    let got = fit(&table, &class, &augmented()).decision_values(&test).unwrap();
    for (a, b) in got.iter().zip(&want) {
        assert!((a[0] - b[0]).abs() < 2e-2, "{} {}", a[0], b[0]);
    }
}

#[test]
fn without_any_cell_raw_terms_say_nothing() {
    let (table, class) = two_class_table(60, 2, 43);
    let model = fit(&table, &class, &Params { augment: Augment::Raw, ..fixed(0.0) });
    let row = |x: f64, y: f64| {
        Table::new(vec![Column::numeric("x0", vec![x]), Column::numeric("x1", vec![y])]).unwrap()
    };
    let at = |x: f64, y: f64| model.decision_values(&row(x, y)).unwrap()[0][0];
    let mean = |i: usize| {
        let cells = table.column(i).as_numeric().unwrap().with_nan().to_vec();
        cells.iter().sum::<f64>() / cells.len() as f64
    };
    // Log densities of a missing cell are 0, a raw value stands at its mean; nothing else changes.
    let nothing = model.log_proba(&row(f64::NAN, f64::NAN)).unwrap();
    let explanation =
        model.explain(&row(f64::NAN, mean(1)), 0, &Reasons::Terms, &Control::default()).unwrap();
    assert!(explanation.base.iter().zip(&nothing).all(|(a, b)| (a - b).abs() < 1e-9));
    assert!(at(1e300, -1e300).is_finite());
    let p = model.log_proba(&row(1e300, f64::NAN)).unwrap();
    assert!(p.iter().all(|v| v.is_finite()));
}

/// Where the classes differ by a shift in one direction, a linear term is all there is to know, and few rows do.
#[test]
fn raw_columns_help_where_the_truth_is_linear() {
    let mut random = Random::new(44);
    let mut draw = |n: usize| {
        let class: Vec<usize> = (0..n).map(|r| r % 2).collect();
        let column = |i: usize, random: &mut Random| {
            let shift = |c: &usize| 0.6 * *c as f64;
            Column::numeric(format!("x{i}"), class.iter().map(|c| shift(c) + random.normal()).collect())
        };
        let columns = (0..8).map(|i| column(i, &mut random)).collect();
        (Table::new(columns).unwrap(), Codes::from_options(2, class.into_iter().map(Some)))
    };
    let ((train, class), (test, truth)) = (draw(80), draw(1000));
    let lu = Params { class_weights: ClassWeights::None, cost: Some(1.0), ..Params::new(Variant::Lu) };
    let raw = Params { augment: Augment::Raw, ..lu.clone() };
    let right = |params: &Params| correct(&fit(&train, &class, params), &test, &truth);
    assert!(right(&raw) > 700 && right(&raw) + 20 > right(&lu), "{} {}", right(&raw), right(&lu));
}

#[test]
fn raw_terms_are_refused_where_they_have_no_place() {
    let (table, class) = two_class_table(30, 2, 46);
    let names = classes();
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    for (variant, augment, hint) in [
        (Variant::Lu, Augment::RawAndProducts, "no pairs"),
        (Variant::KdeTan, Augment::Raw, "terms of a machine"),
    ] {
        let params = Params { augment, ..Params::new(variant) };
        let error = hingenet_density::fit(&rows, &params, &Control::default()).unwrap_err();
        assert!(error.to_string().contains(hint), "{error}");
    }
}

/// Every decision is equivariant, with raw terms too.
#[test]
fn scaling_a_column_changes_no_decision_with_raw_terms() {
    let (table, class) = two_class_table(60, 3, 47);
    let params = Params { gap: 1e-12, ..augmented() };
    let plain = support::exact(&table, &class, &params);
    let scaled = |c: &Column| {
        Column::numeric(c.name(), c.as_numeric().unwrap().with_nan().iter().map(|x| 20.0 * x - 7.0).collect())
    };
    let moved = Table::new(table.columns().iter().map(scaled).collect()).unwrap();
    let other = support::exact(&moved, &class, &params);
    assert!(plain.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-6));
    assert_eq!(columns_of(&table, &class, &params).n_features(), 3);
}

/// All weights of a column, and of a pair, are zero together or not at all.
#[test]
fn the_group_penalty_selects_columns_and_pairs_as_a_whole() {
    let (table, class) = two_class_table(60, 5, 48);
    let params = Params {
        penalty: Penalty::GroupNorm,
        cost: Some(0.02),
        augment: Augment::RawAndProducts,
        ..fixed(1.0)
    };
    let columns = columns_of(&table, &class, &params);
    let exact = fit_exact(&columns, &params, &Control::default()).unwrap();
    assert!(exact.reports.iter().all(|r| r.converged), "{:?}", exact.reports);
    let scores = &exact.scores;
    let mut selected = 0;
    for i in 0..5 {
        let in_use: Vec<bool> = (0..2).map(|y| scores.weights.classes[y].marginals[i][0] != 0.0).collect();
        assert!(
            in_use[0] == in_use[1]
                && in_use[0] == raw_in_use(&exact, |t| matches!(t, RawTerm::Linear(f, _) if *f == i))
        );
        selected += usize::from(in_use[0]);
    }
    for p in 0..10 {
        let in_use: Vec<bool> = (0..2).map(|y| scores.weights.classes[y].pairs[p][0] != 0.0).collect();
        let pair = exact.densities.classes[0].pairs[p];
        assert!(
            in_use[0] == in_use[1]
                && in_use[0] == raw_in_use(&exact, |t| matches!(t, RawTerm::Product(p, _) if *p == pair))
        );
        selected += usize::from(in_use[0]);
    }
    assert!((1..15).contains(&selected), "{selected}");
    let model = fit(&table, &class, &params);
    assert!(correct(&model, &table, &class) >= 80);
}

/// Three classes in three numbers; neighbours depend on each other in a different way in each.
fn three_class_table(n: usize, seed: u64) -> (Table, Codes) {
    let mut random = Random::new(seed);
    let mut columns = vec![Vec::new(); 3];
    for r in 0..3 * n {
        let (y, mut before) = (r % 3, 0.0);
        for column in &mut columns {
            let x = [-1.0, 0.2, 1.0][y] + [0.8, -0.6, 0.0][y] * before + random.normal();
            column.push(x);
            before = x;
        }
    }
    let named = |(i, c): (usize, Vec<f64>)| Column::numeric(format!("x{i}"), c);
    let table = Table::new(columns.into_iter().enumerate().map(named).collect()).unwrap();
    (table, Codes::from_options(3, (0..3 * n).map(|r| Some(r % 3))))
}

/// Encoded rows and exact fit of any number of classes.
fn exact_outputs(table: &Table, class: &Codes, k: usize, params: &Params) -> Vec<Vec<f64>> {
    let names: Vec<String> = (0..k).map(|c| format!("c{c}")).collect();
    let control = Control::default();
    let rows = Rows::new(table, class, &names, None).unwrap();
    let (units, columns) = Columns::learn(&rows, params, &control).unwrap();
    let model = fit_exact(&columns, params, &control).unwrap();
    assert!(model.reports.iter().all(|r| r.converged), "{:?}", model.reports);
    model.outputs(&units.encode(table).unwrap(), &control).unwrap()
}

/// As C goes to 0, the machine around a generative classifier becomes that classifier.
#[test]
fn a_machine_around_a_generative_classifier_falls_back_to_it() {
    for seed in 50..53 {
        for (anchor, variant) in
            [(Anchor::NaiveBayes, Variant::KdeNaiveBayes), (Anchor::Tan, Variant::KdeTan)]
        {
            for k in [2, 3] {
                let (table, class) =
                    if k == 2 { two_class_table(40, 3, seed) } else { three_class_table(35, seed) };
                let generative = Params::new(variant);
                let machine = Params { anchor, cost: Some(1e-9), floor: generative.floor, ..fixed(0.4) };
                let want = exact_outputs(&table, &class, k, &generative);
                let got = exact_outputs(&table, &class, k, &machine);
                for (g, w) in got.iter().zip(&want) {
                    let w = if k == 2 { vec![w[1] - w[0]] } else { w.clone() };
                    assert!(
                        g.iter().zip(&w).all(|(g, w)| (g - w).abs() < 1e-5 * (1.0 + w.abs())),
                        "{g:?} {w:?}"
                    );
                }
            }
        }
    }
}

/// Away from the limit the machine has a smaller sum of margin shortfalls than the classifier it started from.
#[test]
fn a_machine_around_a_tree_moves_away_from_it_for_the_margin() {
    let (table, class) = two_class_table(60, 3, 54);
    let tree = Params { floor: Params::new(Variant::KdeTan).floor, anchor: Anchor::Tan, ..fixed(0.4) };
    let shortfall = |cost: f64| -> f64 {
        let outputs = exact_outputs(&table, &class, 2, &Params { cost: Some(cost), ..tree.clone() });
        let sign = |r: usize| if class.get(r) == Some(1) { 1.0 } else { -1.0 };
        outputs.iter().enumerate().map(|(r, o)| (1.0 - sign(r) * o[0]).max(0.0)).sum()
    };
    assert!(shortfall(1.0) < 0.97 * shortfall(1e-9), "{} {}", shortfall(1.0), shortfall(1e-9));
}

#[test]
fn anchors_need_a_machine_with_pairs_and_the_two_norm() {
    let (table, class) = two_class_table(30, 2, 55);
    let names = classes();
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    let error =
        |params: Params| hingenet_density::fit(&rows, &params, &Control::default()).unwrap_err().to_string();
    let anchored = |variant: Variant| Params { anchor: Anchor::Tan, ..Params::new(variant) };
    assert!(error(anchored(Variant::Lu)).contains("no pairs"));
    assert!(error(anchored(Variant::KdeTan)).contains("generative itself"));
    assert!(
        error(Params { penalty: Penalty::OneNorm, ..anchored(Variant::Slb) }).contains("l2 with an anchor")
    );
}

#[test]
fn every_way_to_tell_three_classes_apart_is_a_sum_of_terms() {
    let (table, class) = three_class_table(60, 56);
    let names: Vec<String> = (0..3).map(|c| format!("c{c}")).collect();
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    for multiclass in [Multiclass::OneVsRest, Multiclass::CrammerSinger] {
        for anchor in [Anchor::None, Anchor::NaiveBayes] {
            let params = Params { multiclass, anchor, augment: Augment::Raw, ..fixed(0.3) };
            let model = hingenet_density::fit(&rows, &params, &Control::default()).unwrap().model;
            assert!(model.summary.reports.iter().all(|r| r.converged), "{:?}", model.summary.reports);
            let p = model.log_proba(&table).unwrap();
            let found = |r: usize| hingenet_base::numeric::log::argmax(&p[3 * r..3 * r + 3]);
            let right = (0..180).filter(|&r| Some(found(r)) == class.get(r)).count();
            assert!(right > 110, "{multiclass:?} {anchor:?}: {right}");
            let explanation = model.explain(&table, 7, &Reasons::Terms, &Control::default()).unwrap();
            for c in 0..3 {
                let sum = explanation.base[c] + explanation.terms.iter().map(|t| t.scores[c]).sum::<f64>();
                assert!((sum - explanation.scores[c]).abs() < 1e-9);
            }
        }
    }
    let sparse = Params { multiclass: Multiclass::CrammerSinger, penalty: Penalty::GroupNorm, ..fixed(0.3) };
    let error = hingenet_density::fit(&rows, &sparse, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("crammer_singer"), "{error}");
}

/// Renaming the classes renames the scores.
#[test]
fn permuting_the_classes_permutes_the_scores_of_the_joint_machine() {
    let (table, class) = three_class_table(40, 57);
    let params = Params { multiclass: Multiclass::CrammerSinger, gap: 1e-7, ..fixed(0.0) };
    let plain = exact_outputs(&table, &class, 3, &params);
    let turned = Codes::from_options(3, class.iter().map(|c| c.map(|c| (c + 1) % 3)));
    let other = exact_outputs(&table, &turned, 3, &params);
    for (a, b) in plain.iter().zip(&other) {
        let centred = |v: &[f64]| {
            let mean = v.iter().sum::<f64>() / 3.0;
            v.iter().map(|x| x - mean).collect::<Vec<f64>>()
        };
        let (a, b) = (centred(a), centred(b));
        assert!((0..3).all(|c| (a[c] - b[(c + 1) % 3]).abs() < 2e-2), "{a:?} {b:?}");
    }
}
