//! The density family through its public face: theorems of the specification, degenerate input, tables.

mod support;

use hingenet_base::control::Control;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_base::optimise::linear_svm::{SvmProblem, linear_svm};
use hingenet_data::classifier::Classifier;
use hingenet_data::explain::Reasons;
use hingenet_data::rows::Rows;
use hingenet_data::table::{Codes, Column, Schema, Table};
use hingenet_density::columns::{Columns, Kind};
use hingenet_density::estimate::sample::Sample;
use hingenet_density::fit::fit_exact;
use hingenet_density::generate::{Dependence as Shape, Networks};
use hingenet_density::params::{ClassWeights, Penalty, Threshold, TrainingFeatures};
use hingenet_density::structure::hsic::{DependenceKernel, all_pairs};
use hingenet_density::structure::{Dependence, Kept};
use hingenet_density::terms::{ClassTerms, PerTerm, Scores};
use hingenet_density::{Params, Variant};
use support::{
    classes, columns_of, correct, draw, exact, exact_hsic, fitted, normal_sample, two_class_table,
};

/// A fixed threshold, no class weights, a tight solver: nothing random, nothing loose.
fn fixed(fraction: f64) -> Params {
    Params {
        threshold: Threshold::Fraction(fraction),
        class_weights: ClassWeights::None,
        cost: Some(1.0),
        gap: 1e-12,
        ..Params::new(Variant::Slb)
    }
}

#[test]
fn scaling_and_shifting_features_changes_no_decision() {
    let (table, class) = two_class_table(60, 3, 1);
    let plain = exact(&table, &class, &fixed(0.4));
    let moved = Table::new(
        table
            .columns()
            .iter()
            .zip([(3.0, 1e4), (1.0, -2.0), (0.01, 0.5)])
            .map(|(c, (a, b))| {
                let cells = c.as_numeric().unwrap().with_nan().iter().map(|x| a * x + b).collect();
                Column::numeric(c.name(), cells)
            })
            .collect(),
    )
    .unwrap();
    let other = exact(&moved, &class, &fixed(0.4));
    for (a, b) in plain.iter().zip(&other) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn permuting_features_and_rows_or_swapping_labels_changes_only_what_it_must() {
    let (table, class) = two_class_table(50, 4, 2);
    let plain = exact(&table, &class, &fixed(0.5));
    let permuted = exact(&table.select(&[2, 0, 3, 1]), &class, &fixed(0.5));
    let order: Vec<usize> = (0..table.n_rows()).rev().collect();
    let reversed = exact(&table.rows(&order), &class.rows(&order), &fixed(0.5));
    let swapped = Codes::from_options(2, class.iter().map(|c| c.map(|c| 1 - c)));
    let negated = exact(&table, &swapped, &fixed(0.5));
    for k in 0..plain.len() {
        let little = 1e-9 * (1.0 + plain[k].abs());
        assert!((plain[k] - permuted[k]).abs() < little, "{} {}", plain[k], permuted[k]);
        assert!((plain[k] - reversed[order.len() - 1 - k]).abs() < 1e-9);
        assert!((plain[k] + negated[k]).abs() < little, "{} {}", plain[k], negated[k]);
    }
}

#[test]
fn a_row_of_weight_two_is_a_row_given_twice() {
    let (table, class) = two_class_table(40, 3, 3);
    let n = table.n_rows();
    let mut rows: Vec<usize> = (0..n).collect();
    rows.extend([0, 5, n - 1]);
    let mut weights = vec![1.0; n];
    [0, 5, n - 1].iter().for_each(|&r| weights[r] = 2.0);
    let params = fixed(0.5);
    let control = Control::default();
    let names = classes();
    let weighted = Rows::new(&table, &class, &names, Some(&weights)).unwrap();
    let (twice, twice_class) = (table.rows(&rows), class.rows(&rows));
    let repeated = Rows::new(&twice, &twice_class, &names, None).unwrap();
    let a = hingenet_density::fit(&weighted, &params, &control).unwrap().model;
    let b = hingenet_density::fit(&repeated, &params, &control).unwrap().model;
    assert!(a == b, "the models differ");
}

#[test]
fn hsic_is_symmetric_non_negative_and_affine_invariant() {
    let x = normal_sample(70, 13);
    let noise = normal_sample(70, 14);
    let y: Vec<f64> = x.iter().map(|v| v.sin()).collect();
    let value = |a: &[f64], b: &[f64]| {
        let kernel = |v: &[f64]| DependenceKernel::of(&Sample::new(v.to_vec()));
        exact_hsic(a, b, [kernel(a), kernel(b)])
    };
    assert!((value(&x, &y) - value(&y, &x)).abs() < 1e-14);
    assert!(value(&x, &x) > value(&x, &noise) && value(&x, &noise) >= 0.0);
    let moved: Vec<f64> = x.iter().map(|v| 1e3 - 50.0 * v).collect();
    assert!((value(&moved, &y) - value(&x, &y)).abs() < 1e-10);
}

#[test]
fn all_pairs_agree_with_the_exact_values_within_their_bound() {
    let mut random = Random::new(15);
    let base = normal_sample(300, 16);
    let columns: Vec<Vec<f64>> = (0..5)
        .map(|k| base.iter().map(|v| 0.3 * f64::from(k) * v + random.normal()).collect())
        .chain([(0..300).map(|i| f64::from(i % 3)).collect()])
        .collect();
    let samples: Vec<Sample> = columns.iter().map(|c| Sample::new(c.clone())).collect();
    let mut kernels: Vec<DependenceKernel> = samples.iter().map(DependenceKernel::of).collect();
    kernels[5] = DependenceKernel::Equality;
    let all = all_pairs(&samples, &kernels, 1e-9, &Control::default()).unwrap();
    for i in 0..6 {
        for j in i + 1..6 {
            let want = exact_hsic(&columns[i], &columns[j], [kernels[i], kernels[j]]);
            let got = all.v_statistic(i, j);
            assert!(got <= want + 1e-14 && want - got <= 2e-9);
            assert!((got - want).abs() <= 1e-6 * want, "{got} {want}");
        }
    }
}

#[test]
fn p_values_of_independent_variables_are_nearly_uniform() {
    let mut gamma = Vec::new();
    for trial in 0..500 {
        let x = Sample::new(normal_sample(200, 1000 + trial));
        let y = Sample::new(normal_sample(200, 5000 + trial));
        let kernels = [DependenceKernel::of(&x), DependenceKernel::of(&y)];
        let all = all_pairs(&[x, y], &kernels, 1e-9, &Control::default()).unwrap();
        gamma.push(all.gamma(0, 1).unwrap().p());
    }
    gamma.sort_by(f64::total_cmp);
    let away =
        gamma.iter().enumerate().map(|(k, v)| (v - (k as f64 + 0.5) / 500.0).abs()).fold(0.0, f64::max);
    assert!(away < 0.1, "{away}");
}

/// Lemma 1: with known forest densities in place of estimates, the linear score is the log-likelihood ratio.
#[test]
fn known_forests_give_the_exact_log_likelihood_ratio() {
    let mut random = Random::new(17);
    let rows: Vec<[f64; 3]> = (0..50).map(|_| [random.normal(), random.normal(), random.normal()]).collect();
    let phi = |x: f64, m: f64, v: f64| -0.5 * (x - m) * (x - m) / v - 0.5 * (std::f64::consts::TAU * v).ln();
    // Class 0: x0 -> x1 -> x2, unit steps (variances 1, 2, 3). Class 1: x0 -> x1, x2 alone.
    let pair01 = |r: &[f64; 3]| phi(r[0], 0.0, 1.0) + phi(r[1], r[0], 1.0);
    let pair12 = |r: &[f64; 3]| phi(r[1], 0.0, 2.0) + phi(r[2], r[1], 1.0);
    let kept = Kept { of_class: vec![vec![(0, 1), (1, 2)], vec![(0, 1)]] };
    let column = |f: &dyn Fn(&[f64; 3]) -> f64| rows.iter().map(f).collect::<Vec<f64>>();
    let marginals =
        |variances: [f64; 3]| (0..3).map(|i| column(&|r| phi(r[i], 0.0, variances[i]))).collect::<Vec<_>>();
    let features = PerTerm {
        classes: vec![
            ClassTerms {
                marginals: marginals([1.0, 2.0, 3.0]),
                pairs: vec![column(&pair01), column(&pair12)],
            },
            ClassTerms { marginals: marginals([1.0, 2.0, 1.0]), pairs: vec![column(&pair01)] },
        ],
        raw: vec![],
    };
    let scores = Scores::of_forests(&[0.3f64.ln(), 0.7f64.ln()], 3, &kept, &kept).evaluate(&features);
    for (row, score) in rows.iter().zip(&scores) {
        let zero = phi(row[0], 0.0, 1.0) + phi(row[1], row[0], 1.0) + phi(row[2], row[1], 1.0) + 0.3f64.ln();
        let one = phi(row[0], 0.0, 1.0) + phi(row[1], row[0], 1.0) + phi(row[2], 0.0, 1.0) + 0.7f64.ln();
        assert!((score[0] - zero).abs() < 1e-10 && (score[1] - one).abs() < 1e-10);
    }
}

#[test]
fn kept_sets_are_nested_and_their_ends_are_lu_and_all_pairs() {
    let (table, class) = two_class_table(60, 4, 18);
    let columns = columns_of(&table, &class, &fixed(0.0));
    let dependence = Dependence::compute(&columns, &fixed(0.0), &Control::default()).unwrap();
    let mut before = Kept::none(2);
    for fraction in [0.0, 0.1, 0.25, 0.5, 1.0] {
        let kept = dependence.keep_fraction(fraction);
        for y in 0..2 {
            assert!(before.of_class[y].iter().all(|p| kept.of_class[y].contains(p)));
        }
        before = kept;
    }
    assert_eq!(before.len(), 12);
    assert!(dependence.keep_fraction(0.0).is_empty());
    let few = dependence.select(Threshold::Bonferroni(0.05));
    let many = dependence.select(Threshold::BenjaminiHochberg(0.05));
    assert!((0..2).all(|y| few.of_class[y].iter().all(|p| many.of_class[y].contains(p))));
    assert_eq!(dependence.select(Threshold::TopK(3)).len(), 3);
    let third = (0..2).flat_map(|y| [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(|p| (y, p)));
    let mut values: Vec<f64> = third.map(|(y, (i, j))| dependence.value(y, i, j)).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(dependence.select(Threshold::Lambda(values[2])), dependence.select(Threshold::TopK(3)));
    let lu = exact(
        &table,
        &class,
        &Params {
            class_weights: ClassWeights::None,
            cost: Some(1.0),
            gap: 1e-12,
            ..Params::new(Variant::Lu)
        },
    );
    assert_eq!(lu, exact(&table, &class, &fixed(0.0)));
    let all = Params {
        class_weights: ClassWeights::None,
        cost: Some(1.0),
        gap: 1e-12,
        ..Params::new(Variant::SlbAll)
    };
    assert_eq!(exact(&table, &class, &all), exact(&table, &class, &fixed(1.0)));
}

#[test]
fn the_svm_certifies_its_gap_and_a_repeated_row_is_weight_two() {
    let mut random = Random::new(19);
    for (n, p) in [(80, 5), (40, 100), (300, 30)] {
        let rows = Matrix::from_fn(n, p, |_, _| random.normal());
        let labels: Vec<f64> =
            (0..n).map(|i| if rows[(i, 0)] + random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        let mut costs = vec![1.0; n];
        costs[3] = 2.0;
        let control = Control::default();
        let problem = SvmProblem { rows: &rows, labels: &labels, costs: &costs };
        let a = linear_svm(problem, 1e-10, None, &control).unwrap();
        assert!(a.report.converged && a.report.gap.unwrap() <= 1e-10, "{:?}", a.report);
        // Optimality: free rows lie on the margin, rows at zero outside, rows at C inside.
        for i in 0..n {
            let slack = labels[i]
                * (hingenet_base::numeric::linalg::dot(rows.row(i), &a.weights) + a.intercept)
                - 1.0;
            if a.multipliers[i] < 1e-9 {
                assert!(slack > -1e-3, "{i}: {slack}");
            } else if a.multipliers[i] > costs[i] - 1e-9 {
                assert!(slack < 1e-3, "{i}: {slack}");
            } else {
                assert!(slack.abs() < 1e-3, "{i}: {slack}");
            }
        }
        let twice = Matrix::from_fn(n + 1, p, |i, j| rows[(if i == n { 3 } else { i }, j)]);
        let labels2: Vec<f64> = labels.iter().copied().chain([labels[3]]).collect();
        let ones = vec![1.0; n + 1];
        let problem = SvmProblem { rows: &twice, labels: &labels2, costs: &ones };
        let b = linear_svm(problem, 1e-10, None, &control).unwrap();
        assert!((a.report.objective - b.report.objective).abs() < 1e-8 * a.report.objective);
        for (u, v) in a.weights.iter().zip(&b.weights) {
            assert!((u - v).abs() < 1e-4);
        }
    }
}

/// The way to the optimum is short wherever it begins: also where rows that overlap are so dear that most multipliers end at the
/// far bound.
#[test]
fn machines_with_large_costs_take_few_steps() {
    let (n, p, mut random) = (2000, 10, Random::new(5));
    let labels: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let rows = Matrix::from_fn(n, p, |i, j| random.normal() + 0.3 * labels[i] / (1 + j) as f64);
    let mut before = 0.0;
    for cost in [1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6] {
        let problem = SvmProblem { rows: &rows, labels: &labels, costs: &vec![cost; n] };
        let solved = linear_svm(problem, 1e-4, None, &Control::default()).unwrap();
        let report = &solved.report;
        assert!(
            report.converged && report.method.contains("interior") && report.iterations <= 20,
            "{report:?}"
        );
        // the hinge loss falls as it becomes dearer
        assert!(report.objective > before && report.objective < 1.2 * cost * n as f64, "{report:?}");
        before = report.objective;
    }
}

#[test]
fn tables_agree_with_exact_scores_on_new_rows() {
    let networks = Networks::forest(6, Shape::Simple, 20).unwrap();
    let (table, class) = draw(&networks, [120, 120], 1);
    let (test, _) = draw(&networks, [100, 100], 2);
    for variant in [Variant::Slb, Variant::KdeTan] {
        let params = Params {
            threshold: Threshold::Fraction(0.4),
            class_weights: ClassWeights::None,
            cost: Some(1.0),
            ..Params::new(variant)
        };
        let control = Control::default();
        let names = classes();
        let rows = Rows::new(&table, &class, &names, None).unwrap();
        let model = hingenet_density::fit(&rows, &params, &control).unwrap().model;
        assert!(model.summary.table_error <= 1e-3, "{}", model.summary.table_error);
        model.check(&Schema::of(&table)).unwrap();
        let (units, columns) = Columns::learn(&rows, &params, &control).unwrap();
        let exact = fit_exact(&columns, &params, &control).unwrap();
        let want = exact.outputs(&units.encode(&test).unwrap(), &control).unwrap();
        let got = model.decision_values(&test).unwrap();
        for s in 0..got[0].len() {
            let mean = want.iter().map(|w| w[s]).sum::<f64>() / 200.0;
            let sd = (want.iter().map(|w| (w[s] - mean).powi(2)).sum::<f64>() / 200.0).sqrt();
            let rms = (got.iter().zip(&want).map(|(g, w)| (g[s] - w[s]).powi(2)).sum::<f64>() / 200.0).sqrt();
            assert!(rms <= 1.5e-3 * sd, "{variant:?}: {rms} against {sd}");
        }
    }
}

#[test]
fn explanations_add_up_and_curves_cover_the_features() {
    let (table, class) = two_class_table(60, 3, 21);
    let model = fitted(&table, &class, &fixed(0.5));
    let proba = model.log_proba(&table).unwrap();
    for row in [0, 17, 90] {
        let explanation = model.explain(&table, row, &Reasons::Terms, &Control::default()).unwrap();
        for c in 0..2 {
            let sum = explanation.base[c] + explanation.terms.iter().map(|t| t.scores[c]).sum::<f64>();
            assert!((sum - explanation.scores[c]).abs() < 1e-9);
        }
        let odds = proba[2 * row + 1] - proba[2 * row];
        assert!((explanation.scores[1] - explanation.scores[0] - odds).abs() < 1e-9);
    }
    assert_eq!(model.curves().len(), 3);
    assert_eq!(model.surfaces().len(), model.pairs().len());
    assert!(model.explain(&table, 1000, &Reasons::Terms, &Control::default()).is_err());
}

/// A curve says at each value what the explanation of a row with that value says of the feature alone, and a
/// surface what it says of the pair, up to the factor that calibrates the row.
#[test]
fn curves_and_surfaces_are_the_terms_of_explanations() {
    let (table, class) = two_class_table(60, 3, 21);
    let model = fitted(&table, &class, &fixed(1.0));
    let (curves, surfaces) = (model.curves(), model.surfaces().collect::<Vec<_>>());
    let explained = |columns: Vec<Column>| {
        let row = Table::new(columns).unwrap();
        let explanation = model.explain(&row, 0, &Reasons::Terms, &Control::default()).unwrap();
        let factor =
            (explanation.scores[1] - explanation.scores[0]) / model.decision_values(&row).unwrap()[0][0];
        (explanation, factor)
    };
    let surface = &surfaces[0];
    let (a, b) = surface.columns;
    let m = surface.second.len();
    for (i, j) in [(3, 15), (10, 10), (17, 2)] {
        let mut row = [0.0; 3];
        (row[a], row[b]) = (surface.first[i], surface.second[j]);
        let columns = row.iter().enumerate().map(|(k, x)| Column::numeric(table.column(k).name(), vec![*x]));
        let (explanation, factor) = explained(columns.collect());
        let pair = explanation.terms.iter().find(|t| t.feature == b && t.given == [a]).unwrap();
        for c in 0..2 {
            let difference = pair.scores[c] - factor * surface.scores[i * m + j][c];
            assert!(difference.abs() < 1e-6, "{difference}");
        }
    }
    for curve in &curves {
        for k in [0, 40, 77, 120] {
            let value = |column: usize| if column == curve.column { curve.positions[k] } else { 0.0 };
            let columns = (0..3).map(|j| Column::numeric(table.column(j).name(), vec![value(j)]));
            let (explanation, factor) = explained(columns.collect());
            let alone =
                explanation.terms.iter().find(|t| t.feature == curve.column && t.given.is_empty()).unwrap();
            for c in 0..2 {
                let difference = alone.scores[c] - factor * curve.scores[k][c];
                assert!(difference.abs() < 1e-6, "{difference}");
            }
        }
        assert!((curve.share.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(curve.positions.windows(2).all(|w| w[0] < w[1]));
    }
}

#[test]
fn missing_features_are_marginalised() {
    let networks = Networks::forest(5, Shape::Simple, 22).unwrap();
    let (table, class) = draw(&networks, [150, 150], 3);
    let names = classes();
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    let blank = |columns: &[usize]| {
        let cells = |i: usize, c: &Column| {
            let hide = columns.contains(&i);
            c.as_numeric().unwrap().with_nan().iter().map(|x| if hide { f64::NAN } else { *x }).collect()
        };
        Table::new(
            table.columns().iter().enumerate().map(|(i, c)| Column::numeric(c.name(), cells(i, c))).collect(),
        )
        .unwrap()
    };
    for variant in [Variant::KdeTan, Variant::KdeNaiveBayes, Variant::KdeForest] {
        let model = hingenet_density::fit(&rows, &Params::new(variant), &Control::default()).unwrap().model;
        let nothing = model.decision_values(&blank(&[0, 1, 2, 3, 4])).unwrap();
        assert!((nothing[0][0] - 0.5f64.ln()).abs() < 1e-9, "the prior remains");
        for column in 0..5 {
            let part = model.decision_values(&blank(&[column])).unwrap();
            assert!(part.iter().flatten().all(|v| v.is_finite()));
        }
        let explanation = model.explain(&blank(&[1]), 4, &Reasons::Terms, &Control::default()).unwrap();
        assert_eq!(explanation.terms.len(), 4);
    }
    let model = hingenet_density::fit(&rows, &fixed(0.3), &Control::default()).unwrap().model;
    assert!(model.log_proba(&blank(&[0, 3])).unwrap().iter().all(|p| p.is_finite() && *p <= 0.0));
}

/// With a chain x0 - x1 - x2, integrating the middle node numerically agrees with the exact densities summed on
/// a fine grid.
#[test]
fn an_inner_node_is_integrated_out() {
    let mut random = Random::new(23);
    let n = 200;
    let (mut x, mut class) = (vec![Vec::new(); 3], Vec::new());
    for k in 0..2 * n {
        let shift = if k < n { 0.0 } else { 1.0 };
        let a = shift + random.normal();
        let b = a + 0.5 * random.normal();
        let c = b + 0.5 * random.normal();
        [a, b, c].into_iter().enumerate().for_each(|(i, v)| x[i].push(v));
        class.push(Some(usize::from(k >= n)));
    }
    let table =
        Table::new(x.iter().enumerate().map(|(i, c)| Column::numeric(format!("x{i}"), c.clone())).collect())
            .unwrap();
    let class = Codes::from_options(2, class.into_iter());
    let names = classes();
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    let model =
        hingenet_density::fit(&rows, &Params::new(Variant::KdeTan), &Control::default()).unwrap().model;
    let row = |b: Vec<f64>| {
        let m = b.len();
        Table::new(vec![
            Column::numeric("x0", vec![0.4; m]),
            Column::numeric("x1", b),
            Column::numeric("x2", vec![0.9; m]),
        ])
        .unwrap()
    };
    let integrated = model.decision_values(&row(vec![f64::NAN])).unwrap();
    let grid: Vec<f64> = (0..2000).map(|k| -8.0 + 0.01 * f64::from(k)).collect();
    let dense = model.decision_values(&row(grid)).unwrap();
    let sd = match &model.units.units[1] {
        hingenet_density::columns::Unit::Standard(standard) => standard.sd,
        other => panic!("{other:?}"),
    };
    for y in 0..2 {
        let sum: f64 = dense.iter().map(|d| d[y].exp() * 0.01 / sd).sum();
        assert!((sum.ln() - integrated[0][y]).abs() < 5e-3, "{} {}", sum.ln(), integrated[0][y]);
    }
}

#[test]
fn incomplete_training_rows_mixed_columns_and_three_classes_work() {
    let mut random = Random::new(24);
    let n = 150;
    let class: Vec<usize> = (0..n).map(|i| i % 3).collect();
    let x: Vec<f64> = class
        .iter()
        .map(|&c| if random.uniform() < 0.1 { f64::NAN } else { c as f64 + random.normal() })
        .collect();
    let y: Vec<f64> = class.iter().map(|&c| -(c as f64) + random.normal()).collect();
    let code: Vec<Option<usize>> =
        class.iter().map(|&c| if random.uniform() < 0.6 { Some(c) } else { Some(random.below(3)) }).collect();
    let count: Vec<f64> = class.iter().map(|&c| (c + random.below(3)) as f64).collect();
    let table = Table::new(vec![
        Column::numeric("x", x),
        Column::numeric("y", y),
        Column::categorical(
            "code",
            vec!["a".into(), "b".into(), "c".into()],
            Codes::from_options(3, code.into_iter()),
        ),
        Column::numeric("count", count),
        Column::numeric("constant", vec![2.0; n]),
    ])
    .unwrap();
    let codes = Codes::from_options(3, class.iter().map(|c| Some(*c)));
    let names: Vec<String> = ["a", "b", "c"].iter().map(|s| s.to_string()).collect();
    let rows = Rows::new(&table, &codes, &names, None).unwrap();
    for variant in [
        Variant::Slb,
        Variant::SlbAll,
        Variant::Lu,
        Variant::KdeNaiveBayes,
        Variant::KdeTan,
        Variant::KdeForest,
    ] {
        let params = Params {
            class_weights: ClassWeights::None,
            cost: Some(1.0),
            threshold: match variant {
                Variant::Slb => Threshold::Fraction(0.3),
                _ => Params::new(variant).threshold,
            },
            ..Params::new(variant)
        };
        let model = hingenet_density::fit(&rows, &params, &Control::default()).unwrap().model;
        let p = model.log_proba(&table).unwrap();
        let right =
            (0..n).filter(|&r| hingenet_base::numeric::log::argmax(&p[3 * r..3 * r + 3]) == class[r]).count();
        assert!(right > 90, "{variant:?}: {right}");
        for r in 0..n {
            let total: f64 = p[3 * r..3 * r + 3].iter().map(|v| v.exp()).sum();
            assert!((total - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_search_runs_and_every_kind_of_training_feature_works() {
    let (table, class) = two_class_table(45, 3, 25);
    let names = classes();
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    let model = hingenet_density::fit(&rows, &Params::new(Variant::Slb), &Control::default()).unwrap().model;
    assert!(model.summary.fraction.is_some());
    for kind in [TrainingFeatures::Resubstitution, TrainingFeatures::CrossFit, TrainingFeatures::Split] {
        let params = Params { training_features: kind, ..fixed(0.5) };
        let model = hingenet_density::fit(&rows, &params, &Control::default()).unwrap().model;
        let right = correct(&model, &table, &class);
        assert!(right >= 60, "{kind:?}: {right} of 90");
    }
    let sparse = Params { penalty: Penalty::OneNorm, gap: 1e-6, ..fixed(1.0) };
    let model = hingenet_density::fit(&rows, &sparse, &Control::default()).unwrap().model;
    assert!(correct(&model, &table, &class) >= 60);
}

#[test]
fn degenerate_columns_and_tiny_classes_are_survived() {
    let (table, class) = two_class_table(30, 2, 26);
    let n = table.n_rows();
    let x = table.column(0).as_numeric().unwrap().with_nan().to_vec();
    let mut outlier = x.clone();
    outlier[4] = 1e6;
    let half_constant: Vec<f64> = (0..n).map(|r| if class.get(r) == Some(0) { 1.5 } else { x[r] }).collect();
    let wide = Table::new(vec![
        Column::numeric("x", x.clone()),
        Column::numeric("twin", x.iter().map(|v| 2.0 * v).collect()),
        Column::numeric("integer", x.iter().map(|v| (3.0 * v).round()).collect()),
        Column::numeric("outlier", outlier),
        Column::numeric("half", half_constant),
        Column::numeric("constant", vec![7.0; n]),
    ])
    .unwrap();
    let names = classes();
    for variant in [Variant::SlbAll, Variant::KdeNaiveBayes, Variant::KdeTan, Variant::KdeForest] {
        let params = Params { class_weights: ClassWeights::None, cost: Some(1.0), ..Params::new(variant) };
        let rows = Rows::new(&wide, &class, &names, None).unwrap();
        let model = hingenet_density::fit(&rows, &params, &Control::default()).unwrap().model;
        let p = model.log_proba(&wide).unwrap();
        assert!(p.iter().all(|v| v.is_finite() && *v <= 0.0), "{variant:?}");
        // Four rows of one class, then one, which must be allowed.
        let params = Params { tiny_classes: true, ..params };
        for small in [4, 1] {
            let rows: Vec<usize> = (0..30).chain(30..30 + small).collect();
            let (few, few_class) = (wide.rows(&rows), class.rows(&rows));
            let rows = Rows::new(&few, &few_class, &names, None).unwrap();
            let model = hingenet_density::fit(&rows, &params, &Control::default()).unwrap().model;
            assert!(model.log_proba(&wide).unwrap().iter().all(|v| v.is_finite()), "{variant:?}, {small}");
        }
    }
}

#[test]
fn a_long_column_has_a_bandwidth() {
    let x = normal_sample(100_000, 27);
    let sample = Sample::new(x);
    let h = hingenet_density::estimate::bandwidth::LineBandwidth::PlugIn.choose(&sample);
    let normal = hingenet_density::estimate::bandwidth::normal_scale(&sample);
    assert!((h / normal - 1.0).abs() < 0.1, "{h} {normal}");
}

#[test]
fn bad_input_is_refused_with_a_clear_error() {
    let (table, class) = two_class_table(30, 2, 28);
    let names = classes();
    let control = Control::default();
    let fit = |params: &Params, table: &Table, class: &Codes, weights: Option<&[f64]>| {
        let rows = Rows::new(table, class, &names, weights);
        rows.and_then(|rows| hingenet_density::fit(&rows, params, &control))
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let slb = Params::new(Variant::Slb);
    let one_class = Codes::from_options(2, (0..60).map(|_| Some(0)));
    assert!(fit(&slb, &table, &one_class, None).contains("one class only (`no`)"));
    let unlabelled = Codes::from_options(2, (0..60).map(|i| (i != 7).then_some(i % 2)));
    assert!(fit(&slb, &table, &unlabelled, None).contains("row 8: column `class`: the class is missing"));
    assert!(fit(&slb, &Table::without_columns(60), &class, None).contains("no feature columns"));
    let few: Vec<usize> = (0..33).collect();
    let message = fit(&slb, &table.rows(&few), &class.rows(&few), None);
    assert!(message.contains("class `yes` has 3 rows"), "{message}");
    let mut cells = vec![0.5; 60];
    cells[4] = f64::INFINITY;
    let infinite = Table::new(vec![Column::numeric("x", cells)]);
    // An infinity is refused by the table already, or by the fit with its column.
    if let Ok(infinite) = infinite {
        let message = fit(&slb, &infinite, &class, None);
        assert!(message.contains("`x`") && message.contains("not a finite number"), "{message}");
    }
    let mut weights = vec![1.0; 60];
    weights[2] = f64::NAN;
    assert!(fit(&slb, &table, &class, Some(&weights)).contains("row 3: the weight is"));
    let bad = |change: &dyn Fn(&mut Params)| {
        let mut params = slb.clone();
        change(&mut params);
        fit(&params, &table, &class, None)
    };
    assert!(bad(&|s| s.cost = Some(0.0)).starts_with("C = 0"));
    assert!(bad(&|s| s.threshold = Threshold::Fraction(1.5)).contains("fraction = 1.5"));
    assert!(bad(&|s| s.threshold = Threshold::Lambda(f64::NAN)).contains("lambda"));
    assert!(bad(&|s| s.threshold = Threshold::Lambda(-1.0)).contains("lambda"));
    assert!(bad(&|s| s.class_weights = ClassWeights::Given(vec![1.0])).contains("class weights"));
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    let model = hingenet_density::fit(&rows, &fixed(0.0), &control).unwrap().model;
    assert!(model.log_proba(&table.select(&[0])).unwrap_err().to_string().contains("feature columns"));
    assert!(Columns::raw(vec![Kind::Continuous], vec![vec![1.0]], vec![0, 1], 2).is_err());
}

#[test]
fn results_have_the_same_bits_on_1_2_and_8_threads() {
    let (table, class) = two_class_table(40, 3, 29);
    let names = classes();
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let rows = Rows::new(&table, &class, &names, None).unwrap();
            hingenet_density::fit(&rows, &Params::new(Variant::Slb), &Control::default()).unwrap().model
        })
    };
    let one = fit(1);
    assert!(one == fit(2) && one == fit(8));
}

#[test]
fn slb_beats_lu_where_only_pairs_tell_the_classes_apart() {
    let mut random = Random::new(30);
    let mut draw = |n: usize| {
        let (mut x, mut y, mut class) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..2 * n {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let a = random.normal();
            x.push(a);
            y.push(sign * 0.9 * a + 0.436 * random.normal());
            class.push(Some(k % 2));
        }
        let table = Table::new(vec![Column::numeric("x", x), Column::numeric("y", y)]).unwrap();
        (table, Codes::from_options(2, class.into_iter()))
    };
    let ((train, train_class), (test, test_class)) = (draw(150), draw(200));
    let names = classes();
    let rows = Rows::new(&train, &train_class, &names, None).unwrap();
    let right = |variant: Variant| {
        let model = hingenet_density::fit(&rows, &Params::new(variant), &Control::default()).unwrap().model;
        correct(&model, &test, &test_class)
    };
    assert!(right(Variant::Slb) > 320 && right(Variant::Lu) < 260 && right(Variant::KdeTan) > 320);
}
