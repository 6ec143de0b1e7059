//! Learners by independence tests, L1MB, and the variants of the paper's methods: they find the class of a faithful graph,
//! do not depend on how columns are numbered or on threads, keep to what is known, and say no clearly.

use hingenet_base::control::Control;
use hingenet_base::graph::{Dag, Pdag};
use hingenet_base::numeric::linalg::{Cholesky, Matrix};
use hingenet_base::numeric::random::Random;
use hingenet_gaussian::StructureMethod;
use hingenet_gaussian::moments::Moments;
use hingenet_gaussian::network::GaussianNetwork;
use hingenet_gaussian::structure::{ArcRule, Constraints, METHODS, Method, Start, StructureFit};
use proptest::prelude::*;

/// A network with random weights; node j has parents among those before it, in a random numbering.
fn network(m: usize, seed: u64) -> GaussianNetwork {
    let mut random = Random::new(seed);
    let order = random.permutation(m);
    let mut theta = Matrix::zeros(m, m);
    for j in 1..m {
        for i in (0..j).filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
            let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
            theta[(order[i], order[j])] = sign * (0.4 + 0.6 * random.uniform());
        }
    }
    GaussianNetwork::new(&theta, vec![0.0; m], vec![1.0; m]).unwrap()
}

fn rows(network: &GaussianNetwork, n: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let drawn: Vec<Vec<f64>> = (0..n).map(|_| network.sample(&mut random)).collect();
    Matrix::from_fn(n, network.nodes(), |a, j| drawn[a][j])
}

fn method(name: &str) -> Method {
    let kind = StructureMethod::named(name).unwrap();
    Method { kind, lambda1: 30.0, ..Method::default() }
}

fn learn(method: &Method, moments: &Moments, known: &Constraints) -> StructureFit {
    method.learn(moments, known, &Control::default()).unwrap()
}

fn tests() -> impl Iterator<Item = &'static str> {
    METHODS.iter().filter(|m| matches!(m.1, StructureMethod::Tests(_))).map(|m| m.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// So many rows that every correlation which is not zero is seen, and every zero is within rounding.
    #[test]
    fn the_correlations_of_a_faithful_graph_give_its_class(m in 3usize..8, seed in any::<u64>()) {
        let truth = network(m, seed);
        let (n, covariance) = (1e14, truth.joint().1);
        let gram = Matrix::from_fn(m, m, |i, j| n * covariance[(i, j)]);
        let moments = Moments::given(n, vec![0.0; m], gram).unwrap();
        for name in tests() {
            let fit = learn(&method(name), &moments, &Constraints::none(m));
            prop_assert_eq!(&fit.class, &Pdag::of(truth.dag()), "{}", name);
            prop_assert_eq!(Pdag::of(&fit.dag(0.0).unwrap()), Pdag::of(truth.dag()), "{}", name);
        }
    }

    #[test]
    fn the_numbering_of_the_columns_does_not_matter(seed in any::<u64>(), n in 30usize..200) {
        let m = 8;
        let x = rows(&network(m, seed), n, seed);
        let order = Random::new(seed ^ 1).permutation(m);
        let permuted = x.select(&(0..n).collect::<Vec<_>>(), &order);
        let [plain, permuted] = [&x, &permuted].map(|x| Moments::of_rows(x, None).unwrap().standardised());
        for name in tests().chain(["l1mb", "or-printed"]) {
            let free = Constraints::none(m);
            let fits = [&plain, &permuted].map(|g| method(name).learn(g, &free, &Control::default()));
            let [Ok(one), Ok(other)] = fits else {
                prop_assert!(name == "or-printed" && fits.iter().all(Result::is_err), "{}", name);
                continue;
            };
            for i in 0..m {
                for j in 0..m {
                    let (a, b) = (other.theta[(i, j)], one.theta[(order[i], order[j])]);
                    prop_assert!((a - b).abs() < 1e-6, "{} {} {}", name, a, b);
                    let same = other.class.has_mark(i, j) == one.class.has_mark(order[i], order[j]);
                    prop_assert!(same, "{}", name);
                }
            }
        }
    }

    #[test]
    fn what_is_known_about_arcs_is_respected(seed in any::<u64>()) {
        let m = 8;
        let moments = Moments::of_rows(&rows(&network(m, seed), 80, seed), None).unwrap().standardised();
        let tiers: Vec<usize> = (0..m).map(|j| j % 3).collect();
        let required = [(0, 1), (1, 5), (3, 7)];
        let known = Constraints::new(m, &[(2, 5), (5, 2)], &required, Some(&tiers)).unwrap();
        for (name, _, _) in METHODS {
            let Ok(fit) = method(name).learn(&moments, &known, &Control::default()) else {
                prop_assert!(["or-printed", "h-whole"].contains(&name), "{}", name);
                continue;
            };
            let dag = fit.dag(0.0).unwrap();
            for (i, j) in required {
                prop_assert!(dag.has_arc(i, j), "{} {} {}", name, i, j);
            }
            for (i, j) in dag.arcs() {
                prop_assert!(known.rule(i, j) != ArcRule::Forbidden, "{} {} {}", name, i, j);
            }
        }
    }

    /// Whatever the sample says, the marks found are those of the graph that gets the weights, as far as they go.
    #[test]
    fn the_graph_with_weights_has_the_directions_found(seed in any::<u64>(), n in 15usize..60) {
        let m = 9;
        let moments = Moments::of_rows(&rows(&network(m, seed), n, seed), None).unwrap().standardised();
        for name in tests() {
            let loose = Method { alpha: 0.2, ..method(name) };
            let fit = learn(&loose, &moments, &Constraints::none(m));
            let dag = fit.dag(0.0).unwrap();
            for (i, j) in dag.arcs() {
                prop_assert!(fit.class.has_mark(i, j), "{}", name);
            }
            let edges = fit.class.directed_edges().len() + fit.class.undirected_edges().len();
            prop_assert_eq!(dag.arcs().count(), edges, "{}", name);
        }
    }

    #[test]
    fn variants_of_the_papers_methods_end_acyclic_or_say_why(seed in any::<u64>(), share in 0.05..0.5f64) {
        let m = 9;
        let moments = Moments::of_rows(&rows(&network(m, seed), 40, seed), None).unwrap().standardised();
        let (free, control, lambda1) = (Constraints::none(m), Control::default(), 78.0 * share);
        let fit = |kind, start| Method { kind, lambda1, start, ..Method::default() }.learn(&moments, &free, &control);
        let from_l1mb = fit(StructureMethod::Or, Start::L1mb).unwrap();
        prop_assert!(from_l1mb.dag(0.0).is_ok() && from_l1mb.report.converged);
        let ends = [StructureMethod::OrPrinted, StructureMethod::HWhole].map(|kind| fit(kind, Start::Lasso));
        for (end, hint) in ends.iter().zip(["use method `or`", "use method `h`"]) {
            match end {
                Ok(fit) => prop_assert!(fit.dag(0.0).is_ok()),
                Err(e) => prop_assert!(format!("{e:?}").contains(hint), "{:?}", e),
            }
        }
    }

    /// No single arc more, less or turned round gives a better score inside the neighbourhoods.
    #[test]
    fn l1mb_ends_on_a_hill(seed in any::<u64>()) {
        let (n, m) = (300, 7);
        let moments = Moments::of_rows(&rows(&network(m, seed), n, seed), None).unwrap().standardised();
        let fit = learn(&method("l1mb"), &moments, &Constraints::none(m));
        let score = |dag: &Dag| -> f64 {
            (0..m).map(|j| {
                let parents = dag.parents(j);
                let mut left = moments.gram[(j, j)];
                if !parents.is_empty() {
                    let mut beta: Vec<f64> = parents.iter().map(|&i| moments.gram[(i, j)]).collect();
                    let right = beta.clone();
                    Cholesky::new(&moments.gram.select(parents, parents)).unwrap().solve(&mut beta);
                    left -= beta.iter().zip(&right).map(|(b, r)| b * r).sum::<f64>();
                }
                -(n as f64) * (left / (n as f64 - 1.0)).ln() - parents.len() as f64 * (n as f64).ln()
            }).sum()
        };
        let dag = fit.dag(0.0).unwrap();
        let best = score(&dag);
        prop_assert!((best - fit.report.objective).abs() < 1e-6 * (1.0 + best.abs()));
        for (i, j) in dag.arcs() {
            let without: Vec<Vec<usize>> = (0..m)
                .map(|k| dag.parents(k).iter().copied().filter(|&p| (p, k) != (i, j)).collect())
                .collect();
            let mut turned = without.clone();
            turned[i].push(j);
            for other in [Dag::new(without), Dag::new(turned)].into_iter().flatten() {
                prop_assert!(score(&other) <= best + 1e-6);
            }
        }
    }
}

#[test]
fn large_samples_give_the_class_to_all_methods_that_look_for_one() {
    let truth = network(7, 5);
    let moments = Moments::of_rows(&rows(&truth, 20_000, 5), None).unwrap().standardised();
    for name in tests() {
        let strict = Method { alpha: 1e-4, ..method(name) };
        let fit = learn(&strict, &moments, &Constraints::none(7));
        assert_eq!(fit.class, Pdag::of(truth.dag()), "{name}");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let moments = Moments::of_rows(&rows(&network(20, 4), 100, 4), None).unwrap().standardised();
    for name in tests().chain(["l1mb", "h-whole"]) {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| method(name).learn(&moments, &Constraints::none(20), &Control::default()))
        };
        let [one, two, eight] = [1, 2, 8].map(|threads| run(threads).map(|fit| (fit.theta, fit.class)).ok());
        assert!(one == two && one == eight, "{name}");
    }
}

#[test]
fn constant_and_duplicated_columns_are_harmless_or_refused() {
    let base = rows(&network(5, 11), 200, 11);
    let x = Matrix::from_fn(200, 7, |a, j| match j {
        0..5 => base[(a, j)],
        5 => base[(a, 0)],
        _ => 7.25,
    });
    let moments = Moments::of_rows(&x, None).unwrap().standardised();
    for (name, _, _) in METHODS {
        match method(name).learn(&moments, &Constraints::none(7), &Control::default()) {
            Ok(fit) => {
                assert!(fit.dag(0.0).is_ok() && fit.theta.data().iter().all(|t| t.is_finite()), "{name}");
                assert!((0..7).all(|i| fit.theta[(i, 6)] == 0.0 && fit.theta[(6, i)] == 0.0), "{name}");
            }
            Err(e) => {
                assert!(name.starts_with("tc") && e.to_string().contains("linear combination"), "{name}: {e}")
            }
        }
    }
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let moments = Moments::of_rows(&rows(&network(6, 2), 8, 2), None).unwrap().standardised();
    let (free, control) = (Constraints::none(6), Control::default());
    for alpha in [0.0, 1.0, -0.1, f64::NAN] {
        let e = Method { alpha, ..method("pc") }.learn(&moments, &free, &control).unwrap_err();
        assert!(e.to_string().contains("alpha"), "{e}");
    }
    let few = Moments::of_rows(&rows(&network(6, 2), 7, 2), None).unwrap().standardised();
    assert!(method("tc").learn(&moments, &free, &control).is_ok());
    let e = method("tc").learn(&few, &free, &control).unwrap_err();
    assert!(e.to_string().contains("needs at least 8 rows"), "{e}");
    assert!(method("pc").learn(&moments, &Constraints::none(5), &control).is_err());
    let stopped = Control::new(std::sync::Arc::new(true.into()));
    let large = Moments::of_rows(&rows(&network(100, 3), 300, 3), None).unwrap().standardised();
    assert!(method("pc").learn(&large, &Constraints::none(100), &stopped).is_err());
}

/// Two nodes tie: their order is the same for ever, and Algorithm 3 keeps the arcs both ways or none.
#[test]
fn algorithm_3_as_printed_keeps_a_tie() {
    let x = Matrix::from_fn(50, 2, |a, j| ((a * 7 % 50) as f64) + if j == 0 { 0.0 } else { (a % 3) as f64 });
    let moments = Moments::of_rows(&x, None).unwrap().standardised();
    let (free, control) = (Constraints::none(2), Control::default());
    let printed = Method { kind: StructureMethod::OrPrinted, lambda1: 5.0, ..Method::default() };
    match printed.learn(&moments, &free, &control) {
        Ok(fit) => assert!(fit.theta.data().iter().all(|t| *t == 0.0)),
        Err(e) => assert!(e.to_string().contains("ended with a cycle"), "{e}"),
    }
}
