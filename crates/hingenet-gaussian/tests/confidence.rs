//! How sure arcs are and how classes differ: resampling shares, intervals, group tables, the fused penalty.

use hingenet_base::control::Control;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_gaussian::StructureMethod;
use hingenet_gaussian::moments::Moments;
use hingenet_gaussian::structure::{Constraints, Method, SearchParams, fit_fused};
use hingenet_gaussian::study::{
    Change, Resampling, arc_confidence, degrees, difference_network, group_table,
};

/// Collider 0 -> 2 <- 1 with weights `w`, and an unrelated node 3.
fn collider(n: usize, w: [f64; 2], seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let mut x = Matrix::zeros(n, 4);
    for a in 0..n {
        let (p, q) = (random.normal(), random.normal());
        let row = [p, q, w[0] * p + w[1] * q + 0.5 * random.normal(), random.normal()];
        x.row_mut(a).copy_from_slice(&row);
    }
    let moments = Moments::of_rows(&x, None).unwrap();
    let (mean, variance) = (&moments.mean, moments.variance());
    Matrix::from_fn(n, 4, |a, j| (x[(a, j)] - mean[j]) / variance[j].sqrt())
}

fn search(rounds: usize) -> Method {
    let search = SearchParams { rounds, ..SearchParams::default() };
    Method { search, ..Method::default() }
}

fn or(lambda1: f64) -> Method {
    Method { kind: StructureMethod::Or, lambda1, ..search(0) }
}

#[test]
fn a_clear_collider_is_found_in_nearly_every_run() {
    let x = collider(300, [0.8, -0.8], 1);
    let free = Constraints::none(4);
    let search = search(5);
    for resampling in [Resampling::HalfSamples, Resampling::Bootstrap] {
        let found =
            arc_confidence(&x, &[1.0; 300], &search, &free, (resampling, 30), 0.01, &Control::default())
                .unwrap();
        assert!(found.arc[(0, 2)] > 0.9 && found.arc[(1, 2)] > 0.9, "{:?}", found.arc);
        assert!(found.adjacency(0, 3) < 0.2);
        assert!(found.direction(0, 2).unwrap() > 0.9);
        assert!(found.mean_edges >= 1.8);
        let bound = found.expected_false_arcs(0.9).unwrap();
        assert!((bound - found.mean_edges.powi(2) / (0.8 * 12.0)).abs() < 1e-12);
        assert_eq!(found.expected_false_arcs(0.5), None);
        assert_eq!(found.threshold_curve().len(), 10);
    }
}

#[test]
fn shares_do_not_depend_on_threads_and_weights_are_repetitions() {
    let x = collider(40, [0.8, 0.3], 2);
    let free = Constraints::none(4);
    let method = or(10.0);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let settings = (Resampling::HalfSamples, 30);
        pool.install(|| {
            arc_confidence(&x, &[1.0; 40], &method, &free, settings, 0.01, &Control::default()).unwrap()
        })
    };
    assert_eq!(run(1), run(8));
    let weights: Vec<f64> = (0..40).map(|a| 1.0 + (a % 2) as f64).collect();
    let repeated: Vec<usize> = (0..40).flat_map(|a| vec![a; 1 + a % 2]).collect();
    let twice = x.select(&repeated, &[0, 1, 2, 3]);
    let settings = (Resampling::Bootstrap, 30);
    let a = arc_confidence(&x, &weights, &method, &free, settings, 0.01, &Control::default()).unwrap();
    let b = arc_confidence(
        &twice,
        &vec![1.0; repeated.len()],
        &method,
        &free,
        settings,
        0.01,
        &Control::default(),
    )
    .unwrap();
    assert_eq!(a, b);
}

#[test]
fn classes_differ_where_the_models_do() {
    let (x, y) = (collider(400, [0.8, 0.8], 3), collider(400, [0.8, -0.8], 4));
    let free = Constraints::none(4);
    let method = search(3);
    let control = Control::default();
    let theta = |x: &Matrix| {
        let moments = Moments::of_rows(x, None).unwrap().standardised();
        method.learn(&moments, &free, &control).unwrap().theta
    };
    let settings = (Resampling::Bootstrap, 30);
    let confidence =
        |x: &Matrix| arc_confidence(x, &[1.0; 400], &method, &free, settings, 0.01, &control).unwrap();
    let (a, b) = (confidence(&x), confidence(&y));
    let arcs = difference_network(&theta(&x), &theta(&y), 0.01, Some((&a, &b)), 0.95).unwrap();
    let change = |i, j| arcs.iter().find(|d| (d.tail, d.head) == (i, j)).map(|d| d.change);
    assert_eq!(change(1, 2), Some(Change::Changed));
    assert_eq!(change(0, 2), Some(Change::Kept));
}

#[test]
fn gained_lost_and_reversed_arcs_are_told_apart() {
    let mut first = Matrix::zeros(4, 4);
    let mut second = Matrix::zeros(4, 4);
    (first[(0, 1)], first[(1, 2)], first[(2, 3)]) = (0.5, 0.4, 0.3);
    (second[(0, 1)], second[(2, 1)], second[(0, 3)]) = (0.5, 0.4, -0.7);
    let arcs = difference_network(&first, &second, 0.01, None, 0.95).unwrap();
    let list: Vec<_> = arcs.iter().map(|d| (d.tail, d.head, d.change)).collect();
    let want = [(0, 1, Change::Kept), (0, 3, Change::Gained), (1, 2, Change::Reversed), (2, 3, Change::Lost)];
    assert_eq!(list, want);
    assert!(arcs.iter().all(|d| d.interval.is_none()));
    assert!(difference_network(&first, &Matrix::zeros(3, 3), 0.01, None, 0.95).is_err());
    assert!(difference_network(&first, &second, 0.01, None, 1.0).is_err());

    let table = group_table(&first, &[0, 0, 1, 1], 2, 0.01).unwrap();
    assert_eq!((table.arcs, table.pairs), (vec![1, 1, 0, 1], vec![2, 4, 4, 2]));
    assert!((table.strength[1] - 0.4).abs() < 1e-15);
    assert_eq!(degrees(&first, 0.01), [(0, 1), (1, 1), (1, 1), (1, 0)]);
    assert!(group_table(&first, &[0, 0, 1, 2], 2, 0.01).is_err());
}

#[test]
fn the_fused_penalty_draws_the_classes_together() {
    let (x, y) = (collider(80, [0.8, 0.8], 5), collider(60, [0.8, 0.2], 6));
    let (a, b) = (Moments::of_rows(&x, None).unwrap(), Moments::of_rows(&y, None).unwrap());
    let free = Constraints::none(4);
    let distance = |gamma: f64| {
        let [p, q] = fit_fused([&a, &b], 8.0, gamma, &free, &Control::default()).unwrap();
        assert!(p.dag(0.0).is_ok() && q.dag(0.0).is_ok() && p.report.converged);
        p.theta.data().iter().zip(q.theta.data()).map(|(s, t)| (s - t).abs()).sum::<f64>()
    };
    let distances: Vec<f64> = [0.0, 5.0, 20.0, 1e4].map(distance).to_vec();
    assert!(distances.windows(2).all(|w| w[1] <= w[0] + 1e-9), "{distances:?}");
    assert!(distances[0] > 0.1 && distances[3] < 1e-9, "{distances:?}");
    assert!(fit_fused([&a, &b], 8.0, -1.0, &free, &Control::default()).is_err());
}

#[test]
fn bad_settings_are_refused() {
    let x = collider(20, [0.8, 0.8], 7);
    let free = Constraints::none(4);
    let method = or(5.0);
    let run = |x: &Matrix, runs: usize, cutoff: f64| {
        let draws = (Resampling::HalfSamples, runs);
        arc_confidence(x, &vec![1.0; x.rows()], &method, &free, draws, cutoff, &Control::default())
    };
    assert!(run(&x, 0, 0.01).is_err() && run(&x, 100, f64::NAN).is_err());
    assert!(run(&x.select(&[0, 1, 2], &[0, 1, 2, 3]), 100, 0.01).is_err());
}
