//! Golden cases of the density family.

use super::{Check, close, flat, list, number};
use hingenet::density::bandwidth::{
    Binning, LineBandwidth, PilotStages, PlaneBandwidth, Symmetric, diagonal_plane, least_squares,
    least_squares_criterion, normal_scale, normal_scale_plane, plug_in, plug_in_one_stage, plug_in_plane,
    scott, silverman,
};
use hingenet::density::kernel::{LineKde, PlaneKde};
use hingenet::density::sample::{PairSample, Sample};
use serde_json::Value;
use std::path::Path;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[("bandwidth_1d", bandwidth_1d), ("bandwidth_2d", bandwidth_2d)];

/// What waits for its code.
pub const PENDING: &[&str] = &["hsic", "mi_tree", "slb_pipeline", "svm_linear"];

/// Fails unless `|got - want| <= rel |want|`.
#[track_caller]
fn relative(got: f64, want: f64, rel: f64, what: &str) {
    assert!((got - want).abs() <= rel * want.abs(), "{what}: got {got}, want {want} (relative {rel})");
}

fn bandwidth_1d(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let name = case["name"].as_str().unwrap();
        let sample = Sample::new(flat(&case["x"])).unwrap();
        let want = |key: &str| number(&case["expected"][key]);
        let check = |got: f64, key: &str, rel: f64| relative(got, want(key), rel, &format!("{name}: {key}"));
        let stages = plug_in(&sample, Binning::Automatic);
        let (g6, psi6) = stages.sixth.unwrap();
        check(stages.h, "hpi_exact", 1e-9);
        check(stages.scale, "hpi_scale", 1e-9);
        check(g6, "hpi_g6", 1e-9);
        check(psi6, "hpi_psi6", 1e-9);
        check(stages.g4, "hpi_g4", 1e-9);
        check(stages.psi4, "hpi_psi4", 1e-9);
        check(plug_in(&sample, Binning::Points(401)).h, "hpi_binned401", 1e-9);
        check(LineBandwidth::PlugInPeer.choose(&sample), "hpi_peer", 1e-9);
        let peer = Binning::PointsWithoutMaximum(401);
        check(plug_in_one_stage(&sample, peer).h, "hpi_level1_peer", 1e-9);
        check(normal_scale(&sample), "h_normal_scale", 1e-9);
        check(silverman(&sample), "h_silverman_nrd0", 1e-9);
        check(scott(&sample), "h_scott_nrd", 1e-9);
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
        let log = kde.log_density(*x);
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
        let sample = PairSample::new(column(0), column(1)).unwrap();
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
        let peer = plug_in_plane(&sample, PilotStages::TwoAsPeer);
        check(peer.h, "H_stage2_peer", 5e-3);
        relative(peer.criterion, number(&expected["PI_stage2_peer"]), 1e-6, name);
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
        for (kde, key) in [(&kde, "exact"), (&normal, "exact_with_H_normal_scale")] {
            let want = number(&density[key][k]);
            if want > 1e-250 {
                relative(kde.log_density(p[0], p[1]).exp(), want, 1e-9, &format!("{name}: {key} at {p:?}"));
            }
        }
        close(kde.log_density(p[0], p[1]).exp(), number(&density["exact"][k]), 1e-9, name);
    }
}
