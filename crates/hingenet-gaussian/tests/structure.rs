//! Structure learning of the Gaussian family: acyclic for any data, independent of the numbering and the
//! signs of the columns, faithful to what is forbidden and required, clear about bad input.

use hingenet_base::control::Control;
use hingenet_base::graph::{Dag, WeightedArc, smallest_potentials};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_gaussian::moments::Moments;
use hingenet_gaussian::structure::{Constraints, StructureFit, fit_h, fit_or};
use oracle::{Cone, ConeProgram};
use proptest::prelude::*;

#[path = "../../hingenet-base/tests/oracles/cone.rs"]
mod oracle;

/// Rows of a random sparse linear model; columns in random order.
fn rows(n: usize, m: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let order = random.permutation(m);
    let mut x = Matrix::zeros(n, m);
    for (k, &j) in order.iter().enumerate() {
        let parents: Vec<(usize, f64)> =
            (0..k.min(2)).map(|_| (order[random.below(k)], 2.0 * random.uniform() - 1.0)).collect();
        for a in 0..n {
            x[(a, j)] = random.normal() + parents.iter().map(|&(i, w)| w * x[(a, i)]).sum::<f64>();
        }
    }
    x
}

fn moments(x: &Matrix) -> Moments {
    Moments::of_rows(x, None).unwrap().standardised()
}

fn fit(x: &Matrix, lambda1: f64) -> StructureFit {
    fit_or(&moments(x), lambda1, &Constraints::none(x.cols()), &Control::default()).unwrap()
}

/// Arcs between m nodes, about one pair in three, with random weights.
fn random_arcs(m: usize, seed: u64) -> Vec<WeightedArc> {
    let mut random = Random::new(seed);
    let pairs = (0..m * m).map(|k| (k / m, k % m)).filter(|(from, to)| from != to);
    let drawn: Vec<(usize, usize)> = pairs.filter(|_| random.below(3) == 0).collect();
    drawn.iter().map(|&(from, to)| WeightedArc { from, to, weight: 0.1 + random.uniform() }).collect()
}

/// The largest total flow of a circulation with the weights as capacities.
fn largest_circulation(m: usize, arcs: &[WeightedArc]) -> f64 {
    let mut program = ConeProgram::new(arcs.len());
    for (k, a) in arcs.iter().enumerate() {
        program.row(0.0, [(k, -1.0)]);
        program.row(a.weight, [(k, 1.0)]);
    }
    for v in 0..m {
        for sign in [1.0, -1.0] {
            let ends = arcs.iter().enumerate().filter(|(_, a)| a.from == v || a.to == v);
            program.row(0.0, ends.map(|(k, a)| (k, if a.to == v { sign } else { -sign })));
        }
    }
    program.close(Cone::NonNegative);
    -program.minimise(&vec![-1.0; arcs.len()]).1
}

fn columns(x: &Matrix, order: &[usize]) -> Matrix {
    x.select(&(0..x.rows()).collect::<Vec<_>>(), order)
}

fn largest_difference(a: &Matrix, b: &Matrix) -> f64 {
    a.data().iter().zip(b.data()).fold(0.0, |d, (x, y)| d.max((x - y).abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_result_is_acyclic_for_any_data_also_with_fewer_rows_than_columns(
        n in 3usize..30, m in 2usize..15, seed in any::<u64>(), share in 0.02..0.9f64,
    ) {
        let x = rows(n, m, seed);
        let lambda1 = 2.0 * (n as f64 - 1.0) * share;
        prop_assert!(fit(&x, lambda1).dag(0.0).is_ok());
        let free = Constraints::none(m);
        let h = fit_h(&moments(&x), lambda1, &free, &Control::default());
        prop_assert!(h.unwrap().dag(0.0).is_ok());
    }

    #[test]
    fn the_order_step_solves_its_dual_and_vanishes_on_acyclic_graphs_only(m in 2usize..9, seed in any::<u64>()) {
        let arcs = random_arcs(m, seed);
        let found = smallest_potentials(m, &arcs);
        prop_assert!(found.level.iter().all(|p| *p < m));
        let parents = |v: usize| arcs.iter().filter(move |a| a.to == v).map(|a| a.from);
        let dag = Dag::new((0..m).map(|v| parents(v).collect()).collect());
        prop_assert_eq!(found.violation == 0.0, dag.is_ok());
        if dag.is_ok() {
            for v in 0..m {
                let longest = parents(v).map(|p| found.level[p] + 1).max().unwrap_or(0);
                prop_assert_eq!(found.level[v], longest);
            }
        }
        if !arcs.is_empty() {
            prop_assert!((found.violation - largest_circulation(m, &arcs)).abs() < 1e-5);
        }
    }

    #[test]
    fn f_never_rises_while_lambda_dag_is_unchanged(seed in any::<u64>(), share in 0.05..0.5f64) {
        let x = rows(40, 9, seed);
        let trace = fit(&x, 78.0 * share).trace;
        for pair in trace.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let (before, after) = (pair[0].1, pair[1].1);
            prop_assert!(after <= before * (1.0 + 1e-9), "{before} {after}");
        }
        prop_assert!(trace.iter().any(|(lambda_dag, _)| lambda_dag.is_infinite()));
    }

    #[test]
    fn the_numbering_and_the_signs_of_the_columns_do_not_matter(seed in any::<u64>()) {
        let (n, m) = (60, 10);
        let x = rows(n, m, seed);
        let plain = fit(&x, 18.0);
        let mut random = Random::new(seed ^ 1);
        let order = random.permutation(m);
        let sign: Vec<f64> = (0..m).map(|_| if random.below(2) == 0 { 1.0 } else { -1.0 }).collect();
        let changed = columns(&x, &order);
        let changed = Matrix::from_fn(n, m, |a, j| changed[(a, j)] * sign[j]);
        let again = fit(&changed, 18.0);
        for i in 0..m {
            for j in 0..m {
                let want = plain.theta[(order[i], order[j])] * sign[i] * sign[j];
                prop_assert!((again.theta[(i, j)] - want).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_large_lambda1_empties_the_graph(seed in any::<u64>()) {
        let x = rows(30, 6, seed);
        let g = moments(&x);
        let largest = (0..6).flat_map(|i| (0..i).map(move |j| (i, j)))
            .fold(0.0f64, |a, (i, j)| a.max(g.gram[(i, j)].abs()));
        let empty = fit(&x, 2.0 * largest * (1.0 + 1e-12));
        prop_assert!(empty.theta.data().iter().all(|t| *t == 0.0));
        let wanted = fit_h(&g, 1.9 * largest, &Constraints::none(6), &Control::default()).unwrap();
        prop_assert!(wanted.theta.data().iter().any(|t| *t != 0.0));
    }

    #[test]
    fn forbidden_arcs_required_arcs_and_tiers_are_respected(seed in any::<u64>()) {
        let (n, m) = (50, 8);
        let x = rows(n, m, seed);
        let tiers: Vec<usize> = (0..m).map(|j| j % 3).collect();
        let required = [(0, 1), (1, 5), (3, 7)];
        let known = Constraints::new(m, &[(2, 5), (5, 2)], &required, Some(&tiers)).unwrap();
        let g = moments(&x);
        let by_order = fit_or(&g, 8.0, &known, &Control::default()).unwrap();
        let by_column =
            fit_h(&g, 8.0, &known, &Control::default()).unwrap();
        for end in [by_order, by_column] {
            for (i, j) in required {
                prop_assert!(end.theta[(i, j)] != 0.0);
            }
            for (i, j) in end.dag(0.0).unwrap().arcs() {
                prop_assert!(tiers[i] <= tiers[j] && (i, j) != (2, 5) && (i, j) != (5, 2));
            }
        }
    }
}

#[test]
fn two_nodes_tie_and_both_arcs_vanish() {
    let x = rows(50, 2, 3);
    let x = Matrix::from_fn(50, 2, |a, j| x[(a, 0)] + 0.3 * x[(a, j)]);
    let warned = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = warned.clone();
    let control =
        Control::default().on_warning(move |_| seen.store(true, std::sync::atomic::Ordering::Relaxed));
    let free = Constraints::none(2);
    let plain = fit_or(&moments(&x), 5.0, &free, &control).unwrap();
    assert!(warned.load(std::sync::atomic::Ordering::Relaxed));
    assert!(plain.theta.data().iter().all(|t| *t == 0.0));
}

#[test]
fn constant_and_duplicated_columns_are_harmless() {
    let base = rows(40, 5, 11);
    let x = Matrix::from_fn(40, 8, |a, j| match j {
        0..5 => base[(a, j)],
        5 => base[(a, 0)],
        6 => base[(a, 1)],
        _ => 7.25,
    });
    let end = fit(&x, 6.0);
    assert!(end.dag(0.0).is_ok());
    for i in 0..8 {
        assert_eq!((end.theta[(i, 7)], end.theta[(7, i)]), (0.0, 0.0));
    }
    assert!(end.theta.data().iter().all(|t| t.is_finite()));
}

#[test]
fn sample_weights_equal_repetition() {
    let x = rows(20, 5, 8);
    let weights: Vec<f64> = (0..20).map(|a| 1.0 + (a % 3) as f64).collect();
    let repeated: Vec<usize> = (0..20).flat_map(|a| vec![a; 1 + a % 3]).collect();
    let by_weight = Moments::of_rows(&x, Some(&weights)).unwrap();
    let by_rows = Moments::of_rows(&x.select(&repeated, &[0, 1, 2, 3, 4]), None).unwrap();
    assert!(largest_difference(&by_weight.gram, &by_rows.gram) < 1e-10);
    assert_eq!(by_weight.rows, by_rows.rows);
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let x = rows(60, 20, 4);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&x, 10.0).theta)
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(8));
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let x = rows(10, 3, 1);
    let g = moments(&x);
    let free = Constraints::none(3);
    let control = Control::default();
    for lambda1 in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(fit_or(&g, lambda1, &free, &control).is_err());
        assert!(fit_h(&g, lambda1, &free, &control).is_err());
    }
    assert!(fit_or(&g, 1.0, &Constraints::none(4), &control).is_err());
    assert!(Moments::of_rows(&Matrix::zeros(5, 1), None).is_err());
    assert!(Moments::of_rows(&Matrix::zeros(1, 3), None).is_err());
    let mut holed = x.clone();
    holed[(2, 1)] = f64::NAN;
    let message = Moments::of_rows(&holed, None).unwrap_err().to_string();
    assert!(message.contains("row 3, column 2"), "{message}");
    holed[(2, 1)] = f64::INFINITY;
    assert!(Moments::of_rows(&holed, None).is_err());
    assert!(Constraints::new(3, &[], &[(0, 1), (1, 2), (2, 0)], None).is_err());
    assert!(Constraints::new(3, &[(0, 1)], &[(0, 1)], None).is_err());
    assert!(Constraints::new(3, &[], &[(0, 1)], Some(&[1, 0, 0])).is_err());
    assert!(Constraints::new(3, &[(0, 3)], &[], None).is_err());
}
