//! Numerical pitfalls of the density family: shifted and scaled columns, columns that are constant in a class, collinear
//! pairs, few rows; what is warned of and what is refused.

mod support;

use hingenet_base::control::Control;
use hingenet_data::classifier::Classifier;
use hingenet_data::rows::Rows;
use hingenet_data::table::{Codes, Column, Table};
use hingenet_density::columns::{Columns, Kind};
use hingenet_density::estimate::bandwidth::Symmetric;
use hingenet_density::estimate::kernel::{LineKde, PlaneKde};
use hingenet_density::estimate::sample::{PairSample, Sample};
use hingenet_density::fit::fit_exact;
use hingenet_density::params::{ClassWeights, Threshold};
use hingenet_density::structure::Dependence;
use hingenet_density::structure::hsic::{DependenceKernel, all_pairs};
use hingenet_density::transform::OwnDensities;
use hingenet_density::{DensityClassifier, Params, Variant};
use support::{classes, columns_of, exact, exact_hsic, normal_sample, two_class_table};

fn every_pair() -> Params {
    Params {
        threshold: Threshold::Fraction(1.0),
        class_weights: ClassWeights::None,
        cost: Some(1.0),
        gap: 1e-12,
        ..Params::new(Variant::Slb)
    }
}

fn cells(table: &Table, i: usize) -> Vec<f64> {
    table.column(i).as_numeric().unwrap().with_nan().to_vec()
}

/// The table with `a x + b` in place of every column.
fn moved(table: &Table, a: f64, b: f64) -> Table {
    let column = |i: usize| {
        let values = cells(table, i).iter().map(|x| a * x + b).collect();
        Column::numeric(table.column(i).name(), values)
    };
    Table::new((0..table.n_columns()).map(column).collect()).unwrap()
}

/// The model and the warnings of its fit.
fn fit(
    table: &Table,
    class: &Codes,
    params: &Params,
) -> (hingenet_base::error::Result<DensityClassifier>, Vec<String>) {
    let names = classes();
    let rows = Rows::new(table, class, &names, None).unwrap();
    let (send, warnings) = std::sync::mpsc::channel();
    let control = Control::default().on_warning(move |text| drop(send.send(text.to_string())));
    let model = hingenet_density::fit(&rows, params, &control).map(|fit| fit.model);
    drop(control);
    (model, warnings.try_iter().collect())
}

#[test]
fn tiny_spreads_far_from_zero_and_reflections_change_no_decision() {
    let (table, class) = two_class_table(50, 3, 60);
    let plain = exact(&table, &class, &every_pair());
    for (a, b) in [(0.01, 1e4), (-2.0, 3.0)] {
        let other = exact(&moved(&table, a, b), &class, &every_pair());
        for (p, q) in plain.iter().zip(&other) {
            assert!((p - q).abs() < 1e-5, "{a}: {p} {q}");
        }
    }
}

#[test]
fn log_densities_shift_by_the_logarithm_of_the_scale() {
    let (table, class) = two_class_table(50, 2, 61);
    let densities = |table: &Table| {
        let model = fit(table, &class, &every_pair()).0.unwrap();
        (model.log_density_list(), model.log_densities(table, &OwnDensities::default()).unwrap())
    };
    let ((list, plain), (_, scaled)) = (densities(&table), densities(&moved(&table, 8.0, 0.0)));
    for (e, (p, s)) in plain.iter().zip(&scaled).enumerate() {
        let columns = 1.0 + f64::from(u8::from(list[e % list.len()].second.is_some()));
        assert!((p - s - columns * 8.0f64.ln()).abs() < 1e-9, "{p} {s}");
    }
}

#[test]
fn a_feature_that_is_constant_in_one_class_depends_on_nothing_there() {
    let (table, class) = two_class_table(40, 2, 62);
    let half = |r: usize| if class.get(r) == Some(0) { 1.5 } else { cells(&table, 0)[r] };
    let half: Vec<f64> = (0..80).map(half).collect();
    let wide = Table::new(vec![
        Column::numeric("x", cells(&table, 1)),
        Column::numeric("half", half),
        Column::numeric("constant", vec![3.0; 80]),
    ])
    .unwrap();
    let columns = columns_of(&wide, &class, &every_pair());
    let dependence = Dependence::compute(&columns, &every_pair(), &Control::default()).unwrap();
    assert_eq!(dependence.value(0, 0, 1), 0.0);
    assert!(dependence.value(1, 0, 1) > 0.0);
    assert_warned_of(&wide, &class, "`constant` is constant in training");
}

/// Every pair of the table can be fitted, with a warning that says so.
fn assert_warned_of(table: &Table, class: &Codes, text: &str) {
    let (model, warnings) = fit(table, class, &every_pair());
    assert!(model.unwrap().log_proba(table).unwrap().iter().all(|p| p.is_finite()));
    assert!(warnings.iter().any(|w| w.contains(text)), "{warnings:?}");
}

#[test]
fn collinear_columns_are_warned_of_and_used() {
    let (table, class) = two_class_table(40, 1, 63);
    let twin = cells(&table, 0).iter().map(|x| 3.0 * x - 1.0).collect();
    let wide =
        Table::new(vec![Column::numeric("x", cells(&table, 0)), Column::numeric("twin", twin)]).unwrap();
    assert_warned_of(&wide, &class, "collinear");
}

#[test]
fn classes_with_few_rows_are_refused_by_name_or_warned_of() {
    let (table, class) = two_class_table(30, 2, 64);
    let part = |rows: usize| {
        let rows: Vec<usize> = (0..30 + rows).collect();
        (table.rows(&rows), class.rows(&rows))
    };
    let lu = Params { class_weights: ClassWeights::None, cost: Some(1.0), ..Params::new(Variant::Lu) };
    for rows in [1, 3] {
        let (few, few_class) = part(rows);
        let error = fit(&few, &few_class, &lu).0.unwrap_err();
        assert!(error.to_string().contains(&format!("class `yes` has {rows} row")), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("small_classes=allow")), "{error:?}");
        let allowed = Params { tiny_classes: true, ..lu.clone() };
        assert!(fit(&few, &few_class, &allowed).0.is_ok());
    }
    for (rows, warned) in [(4, true), (19, true), (20, false)] {
        let (few, few_class) = part(rows);
        let (model, warnings) = fit(&few, &few_class, &lu);
        assert!(model.is_ok());
        let told = warnings.iter().any(|w| w.contains("fewer than 20 rows") && w.contains("`yes`"));
        assert_eq!(told, warned, "{rows}: {warnings:?}");
    }
    // Weights count as repetitions, and weights below 1 do not make rows vanish.
    let (few, few_class) = part(3);
    let names = classes();
    for (weight, fits) in [(2.0, true), (1.0, false), (0.1, false)] {
        let weights: Vec<f64> = (0..33).map(|r| if r < 30 { 0.1 } else { weight }).collect();
        let rows = Rows::new(&few, &few_class, &names, Some(&weights)).unwrap();
        assert_eq!(hingenet_density::fit(&rows, &lu, &Control::default()).is_ok(), fits, "{weight}");
    }
}

#[test]
fn bandwidths_of_zero_and_costs_that_are_no_numbers_are_refused() {
    let (table, class) = two_class_table(30, 2, 65);
    let refused = |params: Params| fit(&table, &class, &params).0.unwrap_err().to_string();
    for h in [0.0, f64::NAN, f64::INFINITY] {
        let sample = Sample::new(vec![0.0, 1.0]);
        assert!(LineKde::new(&sample, h).unwrap_err().to_string().contains("bandwidth"));
    }
    for c in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(Params { cost: Some(c), ..every_pair() }).starts_with("C ="));
    }
    for f in [-0.1, f64::NAN] {
        let fraction = Threshold::Fraction(f);
        assert!(refused(Params { threshold: fraction, ..every_pair() }).contains("fraction"));
    }
    let sample = PairSample::new(vec![0.0, 1.0], vec![1.0, 0.0]);
    assert!(PlaneKde::new(&sample, Symmetric { a: 1.0, b: 1.0, c: 1.0 }).is_err());
}

/// `HSIC_v` is the squared norm of the product of complete factors.
#[test]
fn full_factors_give_the_exact_hsic() {
    let (x, e) = (normal_sample(60, 66), normal_sample(60, 67));
    let y: Vec<f64> = x.iter().zip(&e).map(|(x, e)| x * x + e).collect();
    let samples = [&x, &y].map(|v| Sample::new(v.clone()));
    let kernels = [0, 1].map(|i| DependenceKernel::of(&samples[i]));
    let want = exact_hsic(&x, &y, kernels);
    let got = all_pairs(&samples, &kernels, 1e-15, &Control::default()).unwrap().v_statistic(0, 1);
    assert!((got - want).abs() < 1e-10 * want, "{got} {want}");
}

/// Lemma 1 for the fitted tree: edges with weight 1, features with 1 minus their edges, and the prior.
#[test]
fn kernel_trees_are_the_sums_of_their_log_densities() {
    let (table, class) = two_class_table(45, 4, 68);
    let params = Params::new(Variant::KdeTan);
    let columns: Columns = columns_of(&table, &class, &params);
    assert!(columns.kinds.iter().all(|k| *k == Kind::Continuous));
    let model = fit_exact(&columns, &params, &Control::default()).unwrap();
    let features = model.densities.features(&columns.values, false, &Control::default()).unwrap();
    let got = model.outputs(&columns.values, &Control::default()).unwrap();
    for r in [0, 20, 80] {
        for y in 0..2 {
            let degree = |i: usize| {
                model.densities.classes[y].pairs.iter().filter(|(a, b)| *a == i || *b == i).count()
            };
            let single: f64 =
                (0..4).map(|i| (1.0 - degree(i) as f64) * features.classes[y].marginals[i][r]).sum();
            let edges: f64 = features.classes[y].pairs.iter().map(|t| t[r]).sum();
            assert_eq!(model.densities.classes[y].pairs.len(), 3);
            assert!((got[r][y] - (single + edges + 0.5f64.ln())).abs() < 1e-10);
        }
    }
}
