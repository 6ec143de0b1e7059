//! Golden cases of the density family.

use super::{Check, close, flat, list, number};
use hingenet_base::control::Control;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::optimise::linear_svm::{SvmProblem, linear_svm};
use hingenet_density::columns::{Columns, Kind};
use hingenet_density::estimate::bandwidth::{
    LineBandwidth, PilotStages, PlaneBandwidth, Symmetric, diagonal_plane, least_squares,
    least_squares_criterion, normal_scale, normal_scale_plane, plug_in, plug_in_plane,
};
use hingenet_density::estimate::features::Densities;
use hingenet_density::estimate::kernel::{Floor, LineKde, PlaneKde};
use hingenet_density::estimate::sample::{PairSample, Sample};
use hingenet_density::fit::fit_exact;
use hingenet_density::params::{ClassWeights, Params, Threshold, TrainingFeatures, Variant};
use hingenet_density::structure::hsic::{AllPairs, DependenceKernel, all_pairs};
use hingenet_density::structure::trees::{pair_information, tree_edges};
use hingenet_density::structure::{Dependence, Kept, pair_index, pairs};
use hingenet_density::terms::Scores;
use serde_json::Value;
use std::path::Path;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[
    ("bandwidth_1d", bandwidth_1d),
    ("bandwidth_2d", bandwidth_2d),
    ("hsic", hsic),
    ("svm_linear", svm_linear),
    ("mi_tree", mi_tree),
    ("slb_pipeline", slb_pipeline),
];

/// Fails unless `|got - want| <= rel |want|`.
#[track_caller]
fn relative(got: f64, want: f64, rel: f64, what: &str) {
    assert!((got - want).abs() <= rel * want.abs(), "{what}: got {got}, want {want} (relative {rel})");
}

fn bandwidth_1d(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let name = case["name"].as_str().unwrap();
        let sample = Sample::new(flat(&case["x"]));
        let want = |key: &str| number(&case["expected"][key]);
        let check = |got: f64, key: &str, rel: f64| relative(got, want(key), rel, &format!("{name}: {key}"));
        let stages = plug_in(&sample, PilotStages::Two);
        let (g6, psi6) = stages.sixth.unwrap();
        check(stages.h, "hpi_exact", 1e-9);
        check(stages.scale, "hpi_scale", 1e-9);
        check(g6, "hpi_g6", 1e-9);
        check(psi6, "hpi_psi6", 1e-9);
        check(stages.g4, "hpi_g4", 1e-9);
        check(stages.psi4, "hpi_psi4", 1e-9);
        // Other programs bin the values on 401 points, and leave the largest out.
        check(stages.h, "hpi_binned401", 5e-3);
        check(stages.h, "hpi_peer", 0.05);
        check(LineBandwidth::PlugInOneStage.choose(&sample), "hpi_level1_peer", 0.05);
        check(normal_scale(&sample), "h_normal_scale", 1e-9);
        check(LineBandwidth::Silverman.choose(&sample), "h_silverman_nrd0", 1e-9);
        check(LineBandwidth::Scott.choose(&sample), "h_scott_nrd", 1e-9);
        let h = least_squares(&sample);
        check(h, "h_lscv", 1e-3);
        let (value, best) = (least_squares_criterion(&sample, h), want("lscv_value"));
        assert!(value <= best + 1e-7 * best.abs(), "{name}: LSCV {value} above {best}");
        line_density(name, &sample, &case["density"]);
    }
}

fn line_density(name: &str, sample: &Sample, density: &Value) {
    let kde = LineKde::new(sample, number(&density["h"])).unwrap();
    for (k, x) in flat(&density["points"]).iter().enumerate() {
        let log = kde.log_densities([&[*x]], |_| None)[0];
        let (exact, log_exact) = (number(&density["exact"][k]), number(&density["log_exact"][k]));
        assert!((log - log_exact).abs() <= 1e-9, "{name}: log density at {x}: {log} {log_exact}");
        if exact > 1e-250 {
            relative(log.exp(), exact, 1e-10, &format!("{name}: density at {x}"));
        }
    }
}

fn matrix(v: &Value) -> Symmetric {
    let m = flat(v);
    assert_eq!(m.len(), 4);
    Symmetric { a: m[0], b: m[1], c: m[3] }
}

/// `|W (got - want) W|_F / |W want W|_F` with `W = S^(-1/2)`.
fn whitened_distance(got: &Symmetric, want: &Symmetric, sample: &PairSample) -> f64 {
    let [a, b, c] = sample.covariance();
    let w = Symmetric { a, b, c }.root().inverse();
    let difference = Symmetric { a: got.a - want.a, b: got.b - want.b, c: got.c - want.c };
    let norm = |m: Symmetric| (m.a * m.a + 2.0 * m.b * m.b + m.c * m.c).sqrt();
    norm(difference.between(&w)) / norm(want.between(&w))
}

fn bandwidth_2d(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let name = case["name"].as_str().unwrap();
        let rows: Vec<Vec<f64>> = list(case, "X").iter().map(flat).collect();
        let column = |j: usize| rows.iter().map(|r| r[j]).collect::<Vec<f64>>();
        let sample = PairSample::new(column(0), column(1));
        let expected = &case["expected"];
        let check = |got: Symmetric, key: &str, tol: f64| {
            let far = whitened_distance(&got, &matrix(&expected[key]), &sample);
            assert!(far <= tol, "{name}: {key} is {far} away");
        };
        check(normal_scale_plane(&sample), "H_normal_scale", 1e-9);
        let one = plug_in_plane(&sample, PilotStages::One);
        check(one.h, "H_stage1", 1e-7);
        check(one.h, "H_stage1_peer", 2e-3);
        relative(one.g4, number(&expected["g4_stage1"]), 1e-9, name);
        relative(one.criterion, number(&expected["PI_stage1"]), 1e-9, name);
        functionals(name, &one.psi4, &flat(&expected["psi4_stage1"]));
        let two = plug_in_plane(&sample, PilotStages::Two);
        check(two.h, "H_stage2", 1e-7);
        relative(two.g4, number(&expected["g4_stage2"]), 1e-9, name);
        relative(two.criterion, number(&expected["PI_stage2"]), 1e-9, name);
        let (g6, psi6) = two.sixth.clone().unwrap();
        relative(g6, number(&expected["g6"]), 1e-9, name);
        functionals(name, &psi6, &flat(&expected["psi6"]));
        let psi4 = flat(&expected["psi4_stage2"]);
        let largest = psi4.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for (got, want) in two.psi4.iter().zip(&psi4) {
            assert!((got - want).abs() <= 1e-8 * largest, "{name}: psi4 {got} {want}");
        }
        assert_eq!(PlaneBandwidth::PlugIn.choose(&sample), two.h);
        assert!(diagonal_plane(&sample).is_positive_definite());
        plane_density(name, &sample, case);
    }
}

/// Functionals of one order against the Kronecker-ordered vector: entry k has as many second indices as k
/// has binary ones.
fn functionals(name: &str, got: &[f64], kronecker: &[f64]) {
    let largest = kronecker.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for (k, want) in kronecker.iter().enumerate() {
        let value = got[k.count_ones() as usize];
        assert!((value - want).abs() <= 1e-8 * largest, "{name}: functional {k}: {value} {want}");
    }
}

fn plane_density(name: &str, sample: &PairSample, case: &Value) {
    let density = &case["density"];
    let kde = PlaneKde::new(sample, matrix(&density["H"])).unwrap();
    let normal = PlaneKde::new(sample, normal_scale_plane(sample)).unwrap();
    for (k, point) in list(density, "points").iter().enumerate() {
        let p = flat(point);
        let at = |kde: &PlaneKde| kde.log_densities([&p[..1], &p[1..]], |_| None)[0];
        for (kde, key) in [(&kde, "exact"), (&normal, "exact_with_H_normal_scale")] {
            let want = number(&density[key][k]);
            if want > 1e-250 {
                relative(at(kde).exp(), want, 1e-9, &format!("{name}: {key} at {p:?}"));
            }
        }
        close(at(&kde).exp(), number(&density["exact"][k]), 1e-9, name);
    }
}

/// Relative 1e-10, absolute 1e-14.
#[track_caller]
fn tight(got: f64, want: f64, what: &str) {
    assert!((got - want).abs() <= 1e-10 * want.abs() + 1e-14, "{what}: got {got}, want {want}");
}

/// Kernels of the widths in the file; the median rule is ours too.
fn golden_kernels(samples: &[Sample; 2], key: &str, want: &Value) -> [DependenceKernel; 2] {
    [0, 1].map(|i| {
        let sigma = match want.get(["sigma_x", "sigma_y"][i]) {
            Some(sigma) => number(sigma),
            None => samples[i].sd(),
        };
        if key == "mean"
            && let DependenceKernel::Gaussian { sigma: ours } = DependenceKernel::of(&samples[i])
            && sigma > 0.001
        {
            tight(ours, sigma, key);
        }
        DependenceKernel::Gaussian { sigma }
    })
}

fn hsic(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let name = case["name"].as_str().unwrap();
        let samples = ["x", "y"].map(|key| Sample::new(flat(&case[key])));
        for key in ["mean", "upper", "sigma_is_sd"] {
            let want = &case["expected"][key];
            let kernels = golden_kernels(&samples, key, want);
            hsic_values(&format!("{name}, {key}"), &complete(&samples, kernels), want);
        }
        let kernels = golden_kernels(&samples, "mean", &case["expected"]["mean"]);
        let wanted = flat(&case["expected"]["permuted_vstat_mean_convention"]);
        for (order, want) in list(case, "permutations_of_y").iter().zip(wanted) {
            let permuted = super::indices(order).iter().map(|&i| samples[1].values[i]).collect();
            let got = complete(&[samples[0].clone(), Sample::new(permuted)], kernels).v_statistic(0, 1);
            assert!((got - want).abs() < 1e-11, "{name}: permuted {got} {want}");
        }
    }
}

/// Factors as complete as rounding allows.
fn complete(samples: &[Sample; 2], kernels: [DependenceKernel; 2]) -> AllPairs {
    all_pairs(samples, &kernels, 1e-15, &Control::default()).unwrap()
}

fn hsic_values(name: &str, got: &AllPairs, want: &Value) {
    let v_statistic = number(&want["vstat"]);
    let near = 1e-10 * v_statistic + 1e-13;
    assert!((got.v_statistic(0, 1) - v_statistic).abs() < near, "{name}: {}", got.v_statistic(0, 1));
    if let Some(gamma) = want.get("gamma_test") {
        let test = got.gamma(0, 1).unwrap();
        let near = |got: f64, key: &str| relative(got, number(&gamma[key]), 1e-9, &format!("{name}: {key}"));
        near(test.mean, "mean");
        near(test.variance, "var");
        near(test.shape, "shape");
        near(test.scale, "scale");
        relative(test.p(), number(&gamma["p"]), 1e-8, &format!("{name}: p"));
    }
}

fn svm_linear(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let name = case["name"].as_str().unwrap();
        let rows: Vec<Vec<f64>> = list(case, "X").iter().map(flat).collect();
        let test: Vec<Vec<f64>> = list(case, "X_test").iter().map(flat).collect();
        let y = flat(&case["y"]);
        let cost = number(&case["cost"]);
        let weights = &case["class_weights"];
        let weighted: Vec<f64> =
            y.iter().map(|y| cost * number(&weights[if *y > 0.0 { "pos" } else { "neg" }])).collect();
        let plain = vec![cost; y.len()];
        for (key, costs) in
            [("tight_scaled", &plain), ("tight_unscaled", &plain), ("tight_scaled_weighted", &weighted)]
        {
            let record = &case[key];
            if record.get("exact").is_some() {
                let what = format!("{name}, {key}");
                svm_record(&what, &rows, &test, &y, costs, record, key != "tight_unscaled");
            }
        }
    }
}

fn svm_record(
    what: &str,
    rows: &[Vec<f64>],
    test: &[Vec<f64>],
    y: &[f64],
    costs: &[f64],
    record: &Value,
    scaled: bool,
) {
    let p = rows[0].len();
    let (centre, scale) =
        if scaled { (flat(&record["center"]), flat(&record["scale"])) } else { (vec![0.0; p], vec![1.0; p]) };
    let matrix =
        |rows: &[Vec<f64>]| Matrix::from_fn(rows.len(), p, |i, j| (rows[i][j] - centre[j]) / scale[j]);
    let (x, x_test) = (matrix(rows), matrix(test));
    let problem = SvmProblem { rows: &x, labels: y, costs };
    let found = linear_svm(problem, 1e-11, None, &Control::default()).unwrap();
    let exact = &record["exact"];
    assert!(found.report.converged, "{what}: {:?}", found.report);
    relative(found.report.objective, number(&exact["primal"]), 1e-9, what);
    for (got, want) in found.weights.iter().zip(flat(&exact["w"])) {
        assert!((got - want).abs() <= 1e-6, "{what}: w {got} {want}");
    }
    let tolerance = if record["b_unique"].as_bool().unwrap() { 1e-6 } else { 1e-4 };
    let b = number(&exact["b"]);
    assert!((found.intercept - b).abs() <= tolerance, "{what}: b {} {b}", found.intercept);
    for (i, want) in flat(&exact["decision_test"]).into_iter().enumerate() {
        let got = hingenet_base::numeric::linalg::dot(x_test.row(i), &found.weights) + found.intercept;
        assert!((got - want).abs() <= tolerance, "{what}: decision {i}: {got} {want}");
    }
}

/// Columns of a list of rows.
fn columns_of(rows: &Value) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = rows.as_array().unwrap().iter().map(flat).collect();
    (0..rows[0].len()).map(|j| rows.iter().map(|r| r[j]).collect()).collect()
}

fn raw_columns(values: Vec<Vec<f64>>, class: Vec<usize>, n_classes: usize) -> Columns {
    Columns::raw(vec![Kind::Continuous; values.len()], values, class, n_classes).unwrap()
}

fn mi_tree(file: &Value, _: &Path) {
    let near = |got: f64, want: f64, what: &str| {
        assert!((got - want).abs() <= 1e-8 * want.abs() + 1e-10, "{what}: got {got}, want {want}");
    };
    for case in list(file, "cases") {
        let name = case["name"].as_str().unwrap();
        let (x, expected) = (columns_of(&case["X"]), &case["expected"]);
        let (d, n) = (x.len(), x[0].len());
        let columns = raw_columns(x, vec![0; n], 1);
        let rows: Vec<usize> = (0..n).collect();
        let params = Params { floor: Floor::None, ..Params::new(Variant::KdeTan) };
        let control = Control::default();
        let information = pair_information(&columns, &rows, &params, &control).unwrap();
        for (a, b) in pairs(d) {
            near(information[pair_index(d, a, b)], number(&expected["mi_gauss"][a][b]), name);
        }
        let mut edges: Vec<(usize, usize)> =
            tree_edges(&columns, &rows, &params, &control).unwrap().iter().map(|e| (e.a, e.b)).collect();
        edges.sort_unstable();
        let listed: Vec<usize> = edges.iter().flat_map(|e| [e.0, e.1]).collect();
        assert_eq!(listed, super::indices(&expected["tree_gauss"]), "{name}");
        for (kept, key) in
            [(Kept { of_class: vec![edges] }, "log_tree_density"), (Kept::none(1), "log_naive_density")]
        {
            let densities = Densities::estimate(&columns, &kept, &params, &control).unwrap();
            let features = densities.features(&columns_of(&expected["points"]), false, &control).unwrap();
            let scores = Scores::of_forests(&[0.0], d, &kept, &kept).evaluate(&features);
            for (got, want) in scores.iter().zip(flat(&expected[key])) {
                near(got[0], want, &format!("{name}: {key}"));
            }
        }
    }
}

fn slb_pipeline(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let name = case["name"].as_str().unwrap();
        let class: Vec<usize> = flat(&case["y"]).iter().map(|y| usize::from(*y > 0.0)).collect();
        let columns = raw_columns(columns_of(&case["X"]), class, 2);
        let params = Params {
            line: LineBandwidth::Normal,
            plane: PlaneBandwidth::Normal,
            floor: Floor::Absolute(number(&case["log_floor"])),
            threshold: Threshold::Lambda(number(&case["lambda_"])),
            gap: 1e-11,
            training_features: TrainingFeatures::Resubstitution,
            class_weights: ClassWeights::None,
            ..Params::new(Variant::Slb)
        };
        let control = Control::default();
        let expected = &case["expected"];
        let dependence = Dependence::compute(&columns, &params, &control).unwrap();
        for (key, want) in expected["hsic_vstat"].as_object().unwrap() {
            let (class, pair) = key.split_once(':').unwrap();
            let pair: Vec<usize> = pair.split(',').map(|s| s.parse().unwrap()).collect();
            let got = dependence.value(usize::from(class == "1"), pair[0], pair[1]);
            relative(got, number(want), 1e-10, &format!("{name}: HSIC {key}"));
        }
        let model = fit_exact(&columns, &params, &control).unwrap();
        // The files list class +1 first.
        let kept: Vec<Vec<f64>> = [(1usize, 1.0), (0, -1.0)]
            .iter()
            .flat_map(|&(y, sign)| {
                model.densities.classes[y].pairs.iter().map(move |&(i, j)| vec![sign, i as f64, j as f64])
            })
            .collect();
        assert_eq!(kept, list(expected, "kept").iter().map(flat).collect::<Vec<_>>(), "{name}: kept");
        let test = columns_of(&case["X_test"]);
        for (queries, key) in [(&columns.values, "features_train_first5"), (&test, "features_test")] {
            let features = model.densities.features(queries, false, &control).unwrap();
            for (r, want) in list(expected, key).iter().enumerate() {
                let got: Vec<f64> = [1, 0]
                    .iter()
                    .flat_map(|&y| features.classes[y].marginals.iter().chain(&features.classes[y].pairs))
                    .map(|column| column[r])
                    .collect();
                for (g, w) in got.iter().zip(flat(want)) {
                    assert!((g - w).abs() <= 1e-9, "{name}: {key}, row {r}: {g} {w}");
                }
            }
        }
        let decisions = model.outputs(&test, &control).unwrap();
        for (got, want) in decisions.iter().zip(flat(&expected["decision_test"])) {
            assert!((got[0] - want).abs() <= 1e-6, "{name}: decision {} {want}", got[0]);
        }
        relative(model.reports[0].objective, number(&expected["primal"]), 1e-9, name);
    }
}
