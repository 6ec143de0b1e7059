//! Kernel densities and their bandwidths: what the estimates must satisfy whatever the sample.

use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_density::estimate::bandwidth::{
    PilotStages, PlaneBandwidth, Symmetric, plug_in_criterion, plug_in_plane,
};
use hingenet_density::estimate::kernel::{LineKde, PlaneKde};
use hingenet_density::estimate::sample::{PairSample, Sample};

fn normal_sample(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.normal()).collect()
}

#[test]
fn densities_integrate_to_one() {
    let x = normal_sample(30, 4);
    let y = normal_sample(30, 5);
    let line = LineKde::new(&Sample::new(x.clone()), 0.3).unwrap();
    let grid = |k: i32| -7.0 + 0.02 * f64::from(k);
    let total: f64 = (0..700).map(|k| line.log_densities([&[grid(k)]], |_| None)[0].exp() * 0.02).sum();
    assert!((total - 1.0).abs() < 1e-6, "{total}");
    let h = Symmetric { a: 0.2, b: 0.1, c: 0.3 };
    let plane = PlaneKde::new(&PairSample::new(x.clone(), y.clone()), h).unwrap();
    let coarse = |k: i32| -8.0 + 0.1 * f64::from(k);
    let mut total = 0.0;
    for i in 0..160 {
        for j in 0..160 {
            total += plane.log_densities([&[coarse(i)], &[coarse(j)]], |_| None)[0].exp() * 0.01;
        }
    }
    assert!((total - 1.0).abs() < 1e-6, "{total}");
    // The marginal of the estimate is the estimate with h = sqrt(H_11).
    let marginal = LineKde::new(&Sample::new(x), h.a.sqrt()).unwrap();
    for at in [-1.0, 0.3, 2.0] {
        let along: f64 =
            (0..160).map(|j| plane.log_densities([&[at], &[coarse(j)]], |_| None)[0].exp() * 0.1).sum();
        assert!((along.ln() - marginal.log_densities([&[at]], |_| None)[0]).abs() < 1e-6);
    }
}

#[test]
fn leaving_a_row_out_is_the_estimate_without_it() {
    let (x, y) = (normal_sample(25, 6), normal_sample(25, 7));
    let h = Symmetric { a: 0.15, b: -0.05, c: 0.2 };
    let sample = PairSample::new(x.clone(), y.clone());
    let all = PlaneKde::new(&sample, h).unwrap();
    for i in [0, 7, 24] {
        let without: Vec<usize> = (0..25).filter(|&k| k != i).collect();
        let rest =
            PairSample::new(without.iter().map(|&k| x[k]).collect(), without.iter().map(|&k| y[k]).collect());
        let want = PlaneKde::new(&rest, h).unwrap().log_densities([&[x[i]], &[y[i]]], |_| None)[0];
        let got = all.log_densities([&[x[i]], &[y[i]]], |_| Some(i))[0];
        assert!((got - want).abs() < 1e-12, "{got} {want}");
    }
}

#[test]
fn a_diagonal_matrix_gives_products_of_kernels() {
    let (x, y) = (normal_sample(20, 8), normal_sample(20, 9));
    let (h1, h2) = (0.4f64, 0.7f64);
    let h = Symmetric { a: h1 * h1, b: 0.0, c: h2 * h2 };
    let plane = PlaneKde::new(&PairSample::new(x.clone(), y.clone()), h).unwrap();
    let phi = |u: f64, h: f64| (-0.5 * u * u / (h * h)).exp() / (h * std::f64::consts::TAU.sqrt());
    for (a, b) in [(0.0, 0.0), (1.5, -2.0), (4.0, 4.0)] {
        let direct: f64 = x.iter().zip(&y).map(|(u, v)| phi(a - u, h1) * phi(b - v, h2)).sum::<f64>() / 20.0;
        assert!((plane.log_densities([&[a], &[b]], |_| None)[0] - direct.ln()).abs() < 1e-10);
    }
    // Far away the direct sum is zero and the logarithm still right to the largest kernel.
    let far = plane.log_densities([&[500.0], &[0.0]], |_| None)[0];
    assert!(far.is_finite() && far < -1e5);
}

#[test]
fn the_plug_in_matrix_minimises_its_criterion() {
    let mut random = Random::new(10);
    for trial in 0..20 {
        let x = normal_sample(60, 100 + trial);
        let y: Vec<f64> = x.iter().map(|v| 0.6 * v + v * v * 0.2 + random.normal()).collect();
        let sample = PairSample::new(x, y);
        let found = plug_in_plane(&sample, PilotStages::Two);
        // The criterion lives in sphered coordinates: H there is S^-½ H S^-½.
        let [a, b, c] = sample.covariance();
        let h = found.h.between(&Symmetric { a, b, c }.root().inverse());
        let (p, n) = (found.psi4, 60.0);
        let scale = 0.5 / (4.0 * std::f64::consts::PI * n) * h.det().powf(-1.5);
        let gradient = [
            -scale * h.c + 0.5 * (p[0] * h.a + 2.0 * p[1] * h.b + p[2] * h.c),
            2.0 * scale * h.b + 0.5 * (2.0 * p[1] * h.a + 4.0 * p[2] * h.b + 2.0 * p[3] * h.c),
            -scale * h.a + 0.5 * (p[2] * h.a + 2.0 * p[3] * h.b + p[4] * h.c),
        ];
        assert!(gradient.iter().all(|g| g.abs() < 1e-9 * scale * (h.a + h.c)), "{gradient:?} {scale}");
        let least = plug_in_criterion(&h, &p, n);
        for _ in 0..100 {
            let moved = Symmetric {
                a: h.a * (1.0 + 0.05 * random.normal()),
                b: h.b + 0.02 * random.normal() * (h.a * h.c).sqrt(),
                c: h.c * (1.0 + 0.05 * random.normal()),
            };
            assert!(plug_in_criterion(&moved, &p, n) >= least * (1.0 - 1e-14), "{moved:?}");
        }
    }
}

#[test]
fn the_quadratic_form_of_the_criterion_is_positive_semidefinite() {
    let mut random = Random::new(11);
    for trial in 0..1000 {
        let x = normal_sample(8 + trial as usize % 9, 5000 + trial);
        let y: Vec<f64> = x.iter().map(|v| v * v * random.normal() + random.normal()).collect();
        let p = plug_in_plane(&PairSample::new(x, y), PilotStages::One).psi4;
        let rows = [[p[0], 2.0 * p[1], p[2]], [2.0 * p[1], 4.0 * p[2], 2.0 * p[3]], [p[2], 2.0 * p[3], p[4]]];
        let matrix = Matrix::from_fn(3, 3, |i, j| rows[i][j]);
        let (values, _) = hingenet_base::numeric::linalg::symmetric_eigen(&matrix).unwrap();
        assert!(values[0] > -1e-12 * values[2], "{trial}: {values:?}");
    }
}

#[test]
fn plug_in_matrices_follow_scale_and_reflection() {
    let x = normal_sample(80, 11);
    let noise = normal_sample(80, 12);
    let y: Vec<f64> = x.iter().zip(&noise).map(|(v, e)| 0.5 * v * v + e).collect();
    let rule = PlaneBandwidth::PlugIn;
    let h = rule.choose(&PairSample::new(x.clone(), y.clone()));
    let times = |v: &[f64], a: f64| v.iter().map(|x| a * x).collect::<Vec<f64>>();
    let scaled = rule.choose(&PairSample::new(times(&x, 3.0), times(&y, 3.0)));
    assert!((scaled.a - 9.0 * h.a).abs() < 1e-8 && (scaled.b - 9.0 * h.b).abs() < 1e-8);
    let mirrored = rule.choose(&PairSample::new(times(&x, -1.0), y.clone()));
    assert!((mirrored.a - h.a).abs() < 1e-9 && (mirrored.b + h.b).abs() < 1e-9);
    let exchanged = rule.choose(&PairSample::new(y, x));
    assert!((exchanged.a - h.c).abs() < 1e-9 && (exchanged.b - h.b).abs() < 1e-9);
}

/// Sums by way of nodes and kernel by kernel, with every row left out of its own, an isolated row among them.
#[test]
fn many_rows_give_the_digits_of_sums_kernel_by_kernel() {
    let n = 3000;
    let mut random = Random::new(12);
    let mut x = normal_sample(n, 13);
    let mut y: Vec<f64> = x.iter().map(|v| 0.5 * v + random.normal()).collect();
    (x[0], y[0]) = (9.0, -9.0);
    let sample = PairSample::new(x.clone(), y.clone());
    let h = PlaneBandwidth::Normal.choose(&sample);
    let (plane, line) =
        (PlaneKde::new(&sample, h).unwrap(), LineKde::new(&Sample::new(x.clone()), 0.1).unwrap());
    let (of_plane, of_line) = (plane.log_densities([&x, &y], Some), line.log_densities([&x], Some));
    let floor = plane.log_peak - (n as f64).ln() - 8.0;
    let above = plane.log_densities_above(floor, [&x, &y], Some);
    let others = |q: usize| (0..n).filter(move |i| *i != q);
    let log_mean = |exponents: Vec<f64>| {
        let top = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = exponents.iter().map(|e| (e - top).exp()).sum();
        top + (sum / exponents.len() as f64).ln()
    };
    for q in (0..n).step_by(25) {
        let exponent = |i: usize| {
            let (u, v) = (x[q] - x[i], y[q] - y[i]);
            -0.5 * (h.c * u * u - 2.0 * h.b * u * v + h.a * v * v) / h.det()
        };
        let want = plane.log_peak + log_mean(others(q).map(exponent).collect());
        assert!((of_plane[q] - want).abs() < 1e-9, "{q}: {} {want}", of_plane[q]);
        assert!((above[q].max(floor) - want.max(floor)).abs() < 1e-9, "{q}: {} {want}", above[q]);
        let want = line.log_peak + log_mean(others(q).map(|i| -50.0 * (x[q] - x[i]).powi(2)).collect());
        assert!((of_line[q] - want).abs() < 1e-9, "{q}: {} {want}", of_line[q]);
    }
    assert!(of_plane[0] < floor && above[0] <= floor);
}
