//! Theorems behind the margin-trained parameters of the discrete family, on random small networks and rows.

mod oracles;

use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::graph::Dag;
use hingenet_base::numeric::linalg::dot;
use hingenet_base::numeric::log::{log_sum_exp, softmax};
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::pieces::CodedPiece;
use hingenet_data::rows::Rows;
use hingenet_data::select::folds::{Order, split, stratified};
use hingenet_data::table::{Codes, Column, Table};
use hingenet_discrete::averaged::{Stars, fit_shared_tables, one_dependence};
use hingenet_discrete::fit::margin_search::select_margin;
use hingenet_discrete::fit::select::{calibrate, select_iterations};
use hingenet_discrete::inference::log_joint_rows;
use hingenet_discrete::margin::bn_svm::{Norm, fit_bn_svm};
use hingenet_discrete::margin::completion::{CompletionParams, fit_incomplete};
use hingenet_discrete::margin::conditional::{
    ConditionalParams, Form, Objective, fit_conditional, fit_conditional_streamed,
};
use hingenet_discrete::margin::{
    CodedPieces, Likelihood, MarginLoss, MarginParams, MarginRows, Problem, Smoothing, SoftHinge,
    SolveSettings, Solver, StreamedRows, fit_margin, fit_margin_streamed, solve,
};
use hingenet_discrete::structure::Root;
use hingenet_discrete::{
    DiscreteParams, Grid, Learning, Network, Normaliser, Samples, Structure, StructureKind, counts, fit,
};
use oracles::conic::minimise as conic;
use oracles::projected::{ProjectedSettings, minimise as projected};
use oracles::projection::project_sub_normalised;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// A C1 graph over five variables: naive Bayes, TAN, a 2-tree, a diagnostic class, features beside the class.
fn graph(kind: usize) -> Dag {
    let parents: [Vec<Vec<usize>>; 5] = [
        vec![vec![], vec![0], vec![0], vec![0], vec![0]],
        vec![vec![], vec![0], vec![0, 1], vec![0, 1], vec![0, 3]],
        vec![vec![], vec![0], vec![0, 1], vec![0, 1, 2], vec![0, 1, 2]],
        vec![vec![1, 2], vec![], vec![1], vec![0, 1, 2], vec![1]],
        vec![vec![], vec![0], vec![0, 1], vec![1, 2], vec![]],
    ];
    Dag::new(parents[kind].clone()).unwrap()
}

struct Case {
    structure: Structure,
    samples: Samples,
    random: Random,
}

fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let card: Vec<usize> = (0..5).map(|_| 2 + random.below(2)).collect();
    let structure = Structure::new(card.clone(), graph(random.below(5))).unwrap();
    let samples = rows(&card, 30 + random.below(20), &mut random);
    Case { structure, samples, random }
}

/// Rows whose features lean on the class and on each other.
fn rows(card: &[usize], n: usize, random: &mut Random) -> Samples {
    let mut table: Vec<Vec<usize>> = Vec::new();
    for m in 0..n {
        let c = if m < 2 { m } else { random.below(card[0]) };
        let mut row = vec![c];
        for i in 1..card.len() {
            let copy = random.uniform() < 0.6;
            row.push(if copy { row[i - 1] % card[i] } else { random.below(card[i]) });
        }
        table.push(row);
    }
    samples(card, &table, None)
}

fn samples(card: &[usize], table: &[Vec<usize>], weights: Option<Vec<f64>>) -> Samples {
    let column = |i: usize| Codes::from_options(card[i], table.iter().map(|row| Some(row[i])));
    Samples::new(card.to_vec(), (0..card.len()).map(column).collect(), weights).unwrap()
}

fn problem(case: &Case, lambda: f64, gamma: f64, smoothing: Smoothing) -> Problem {
    let n = counts::smoothed_counts(&case.structure, &case.samples, 1.0).unwrap();
    let k = case.structure.n_classes();
    Problem {
        likelihood: Likelihood::new(&case.structure, n).unwrap(),
        rows: MarginRows::new(&case.structure, &case.samples).unwrap(),
        loss: MarginLoss::new(lambda, k, gamma, smoothing),
    }
}

const SOFT: Smoothing = Smoothing { radius: 1.0, eta: 10.0 };

/// Largest amount by which the optimum of (11) can exceed that of (10): `λ Σ s_m (0.0898203 R + ln(K − 1)/η)`.
fn smoothing_bound(problem: &Problem, smoothing: Smoothing) -> f64 {
    let lift =
        SoftHinge::LIFT * smoothing.radius + ((problem.rows.n_classes() - 1) as f64).ln() / smoothing.eta;
    problem.loss.lambda() * problem.rows.total_weight() * lift
}

fn settings(solver: Solver, tolerance: f64) -> SolveSettings {
    SolveSettings { solver, tolerance, large_tolerance: tolerance, max_iterations: 3000, persistent: true }
}

fn noise(like: &[f64], scale: f64, random: &mut Random) -> Vec<f64> {
    like.iter().map(|x| x + scale * random.normal()).collect()
}

fn posterior(network: &Network, row: &[usize]) -> Vec<f64> {
    let score = |c: usize| network.log_joint(|i| if i == 0 { c } else { row[i] });
    let mut scores: Vec<f64> = (0..network.structure().n_classes()).map(score).collect();
    softmax(&mut scores);
    scores
}

fn state(samples: &Samples, m: usize) -> Vec<usize> {
    samples.columns().iter().map(|c| c.get(m).unwrap()).collect()
}

/// `Σ_rows Q KL(q/Q ‖ p)`.
fn divergence(structure: &Structure, q: &[f64], w: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..structure.n_nodes() {
        let r = structure.card()[i];
        let table = structure.table(i);
        for (q, w) in q[table.clone()].chunks_exact(r).zip(w[table].chunks_exact(r)) {
            let total: f64 = q.iter().sum();
            let terms = q.iter().zip(w).filter(|(q, _)| **q > 0.0);
            sum += terms.map(|(q, w)| q * ((q / total).ln() - w)).sum::<f64>();
        }
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn algorithm_1_keeps_the_posterior_and_makes_every_row_sum_to_one(seed in any::<u64>(), scale in 0.1f64..20.0) {
        let mut case = case(seed);
        let w = noise(&vec![0.0; case.structure.n_entries()], scale, &mut case.random);
        let before = Network::new(case.structure.clone(), w).unwrap();
        let after = before.clone().normalised().unwrap();
        prop_assert!(after.normalisation_error() < 1e-12 * (1.0 + scale));
        for m in 0..case.samples.n_rows() {
            let row = state(&case.samples, m);
            for (a, b) in posterior(&before, &row).iter().zip(posterior(&after, &row)) {
                prop_assert!((a - b).abs() < 1e-10);
            }
        }
        let again = after.clone().normalised().unwrap();
        for (a, b) in after.w().iter().zip(again.w()) {
            prop_assert!((a - b).abs() < 1e-12 * (1.0 + scale));
        }
    }

    #[test]
    fn lemma_1_normalising_never_lowers_the_likelihood(seed in any::<u64>()) {
        let mut case = case(seed);
        let n = counts::smoothed_counts(&case.structure, &case.samples, 1.0).unwrap();
        let mut w = noise(&vec![-1.0; n.len()], 2.0, &mut case.random);
        for i in 0..case.structure.n_nodes() {
            let r = case.structure.card()[i];
            for row in w[case.structure.table(i)].chunks_exact_mut(r) {
                let over = log_sum_exp(row).max(0.0);
                row.iter_mut().for_each(|x| *x -= over);
            }
        }
        let before = dot(&n, &w);
        Normaliser::new(&case.structure).unwrap().normalise(&mut w).unwrap();
        prop_assert!(dot(&n, &w) >= before - 1e-9 * before.abs());
    }

    #[test]
    fn the_unconstrained_form_equals_the_objective_after_algorithm_1(seed in any::<u64>()) {
        let mut case = case(seed);
        let problem = problem(&case, 3.0, 2.0, SOFT);
        let w = noise(&problem.likelihood.ml_parameters(), 1.5, &mut case.random);
        let point = problem.unconstrained(&w);
        let mut normalised = w.clone();
        problem.likelihood.normaliser().normalise(&mut normalised).unwrap();
        let f = problem.objective(&normalised);
        prop_assert!((point.value - f).abs() <= 1e-10 * f.abs(), "{} {f}", point.value);
    }

    #[test]
    fn gradients_and_hessian_products_agree_with_differences(seed in any::<u64>()) {
        let mut case = case(seed);
        let problem = problem(&case, 3.0, 2.0, SOFT);
        let w = noise(&problem.likelihood.ml_parameters(), 0.7, &mut case.random);
        let direction = noise(&vec![0.0; w.len()], 1.0, &mut case.random);
        let h = 1e-6;
        let moved = |t: f64| -> Vec<f64> { w.iter().zip(&direction).map(|(x, d)| x + t * d).collect() };
        let point = problem.unconstrained(&w);
        let (up, down) = (problem.unconstrained(&moved(h)), problem.unconstrained(&moved(-h)));
        let slope = (up.value - down.value) / (2.0 * h);
        let scale = 1.0 + dot(&point.gradient, &point.gradient).sqrt();
        prop_assert!((slope - dot(&point.gradient, &direction)).abs() <= 1e-5 * scale);
        let mut gradient = vec![0.0; w.len()];
        problem.objective_and_gradient(&w, &mut gradient);
        let slope = (problem.objective(&moved(h)) - problem.objective(&moved(-h))) / (2.0 * h);
        prop_assert!((slope - dot(&gradient, &direction)).abs() <= 1e-5 * scale);
        let product = problem.hessian_product(&point, &direction);
        let size = 1.0 + product.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for j in 0..w.len() {
            let change = (up.gradient[j] - down.gradient[j]) / (2.0 * h);
            // The curvature of the soft hinge jumps at the ends of its arc.
            prop_assert!((change - product[j]).abs() <= 2e-2 * size, "{change} {}", product[j]);
        }
    }

    #[test]
    fn the_soft_hinge_is_continuous_convex_and_close_to_the_hinge(radius in 1e-3f64..5.0, z in -6.0f64..6.0) {
        let hinge = SoftHinge::new(radius);
        let (value, slope) = hinge.value_and_slope(z);
        let gap = value - z.max(0.0);
        prop_assert!((-1e-15..=0.0898203 * radius + 1e-12).contains(&gap), "{gap}");
        prop_assert!((0.0..=1.0 + 1e-12).contains(&slope));
        for edge in [radius * (1.0 - 2f64.sqrt()), radius * (1.0 - 0.5f64.sqrt())] {
            let (low, high) = (hinge.value_and_slope(edge - 1e-9), hinge.value_and_slope(edge + 1e-9));
            prop_assert!((low.0 - high.0).abs() < 1e-8 && (low.1 - high.1).abs() < 1e-4);
        }
        // Fenchel: y z <= h(z) + h*(y), with equality at y = h'(z).
        prop_assert!((slope * z - value - hinge.conjugate(slope)).abs() < 1e-9 * (1.0 + radius));
    }

    #[test]
    fn the_projection_is_nearest_idempotent_and_non_expansive(seed in any::<u64>(), scale in 0.01f64..300.0) {
        let mut random = Random::new(seed);
        let r = 1 + random.below(12);
        let v = noise(&vec![0.0; r], scale, &mut random);
        let u = noise(&v, scale, &mut random);
        let (mut w, mut x) = (v.clone(), u.clone());
        let mu = project_sub_normalised(&mut w);
        project_sub_normalised(&mut x);
        prop_assert!(log_sum_exp(&w) <= 1e-12);
        for (w, v) in w.iter().zip(&v) {
            prop_assert!(*w <= *v + 1e-9 * scale);
            prop_assert!((w + mu * w.exp() - v).abs() <= 1e-7 * (1.0 + v.abs() + mu));
        }
        let mut again = w.clone();
        project_sub_normalised(&mut again);
        prop_assert!(again.iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs())));
        let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        prop_assert!(square(&w, &x) <= square(&v, &u) * (1.0 + 1e-9));
        let mut reversed: Vec<f64> = v.iter().rev().copied().collect();
        project_sub_normalised(&mut reversed);
        prop_assert!(reversed.iter().rev().zip(&w).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs())));
    }

    #[test]
    fn lambda_zero_is_maximum_likelihood(seed in any::<u64>()) {
        let case = case(seed);
        let params = MarginParams { lambda: 0.0, ..MarginParams::default() };
        let fit = fit_margin(&case.samples, &case.structure, &params, &Control::default()).unwrap();
        let n = counts::smoothed_counts(&case.structure, &case.samples, 1.0).unwrap();
        let w = counts::ml_parameters(&case.structure, &n).unwrap();
        prop_assert!(fit.network.w().iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-12));
        prop_assert!(fit.certificate.gap10() < 1e-12);
    }

    #[test]
    fn bounds_hold_at_every_iterate_and_divergences_below_the_excess(seed in any::<u64>()) {
        let mut case = case(seed);
        let problem = problem(&case, 4.0, 3.0, SOFT);
        let best = solve(&problem, None, &settings(Solver::Auto, 1e-9), &Control::default()).unwrap();
        let hard = Problem { loss: problem.loss.with_smoothing(Smoothing::NONE), ..problem.clone() };
        let best10 = solve(&hard, None, &settings(Solver::Auto, 1e-8), &Control::default()).unwrap();
        let (p11, p10) = (best.certificate.lower11, best10.certificate.lower10);
        prop_assert!(best.converged && best10.converged);
        // p10 <= p11 <= p10 + bound
        prop_assert!(p10 <= best.certificate.upper11 * (1.0 + 1e-9));
        prop_assert!(p11 <= best10.certificate.upper10 + smoothing_bound(&problem, SOFT) + 1e-6);
        // At the optimum w is the maximum-likelihood estimate of q = −∇F.
        let mut gradient = vec![0.0; best.w.len()];
        problem.objective_and_gradient(&best.w, &mut gradient);
        let q: Vec<f64> = gradient.iter().map(|g| (-g).max(0.0)).collect();
        prop_assert!(divergence(&case.structure, &q, &best.w) < 1e-5 * p11);
        for scale in [0.0, 0.3, 3.0] {
            let mut w = noise(&problem.likelihood.ml_parameters(), scale, &mut case.random);
            problem.likelihood.normaliser().normalise(&mut w).unwrap();
            let certificate = problem.certificate(&w);
            prop_assert!(certificate.lower11 <= best.certificate.upper11 * (1.0 + 1e-9));
            prop_assert!(certificate.lower10 <= best10.certificate.upper10 * (1.0 + 1e-9));
            prop_assert!(certificate.upper11 >= p11 * (1.0 - 1e-9) && certificate.upper10 >= p10 * (1.0 - 1e-9));
            let excess = certificate.upper11 - p11;
            prop_assert!(divergence(&case.structure, &q, &w) <= excess * (1.0 + 1e-4) + 1e-4 * p11);
        }
    }

    #[test]
    fn the_solution_does_not_depend_on_start_solver_or_form(seed in any::<u64>()) {
        let mut case = case(seed);
        let problem = problem(&case, 2.0, 1.5, SOFT);
        let mut start = noise(&problem.likelihood.ml_parameters(), 1.0, &mut case.random);
        problem.likelihood.normaliser().normalise(&mut start).unwrap();
        let reference = solve(&problem, None, &settings(Solver::Interior, 1e-10), &Control::default()).unwrap();
        let lbfgs = solve(&problem, Some(start[..].into()), &settings(Solver::Lbfgs, 1e-10), &Control::default()).unwrap();
        let newton = solve(&problem, Some(start[..].into()), &settings(Solver::Newton, 1e-10), &Control::default()).unwrap();
        let inner = ProjectedSettings { max_iterations: 4000, tolerance: 1e-6 };
        let slow = projected(&case.structure, &problem, &start, &inner, &Control::default()).unwrap();
        let value = reference.certificate.upper11;
        prop_assert!((lbfgs.certificate.upper11 - value).abs() <= 1e-8 * value, "{:?}", lbfgs.certificate);
        // Newton's method may give up, but not be wrong.
        let off = (newton.certificate.upper11 - value).abs();
        prop_assert!(!newton.converged || off <= 1e-8 * value, "{:?}", newton.certificate);
        prop_assert!((slow.certificate.upper11 - value).abs() <= 1e-5 * value, "{:?}", slow.certificate);
        let cones = conic(&case.structure, &problem).unwrap();
        let bounds = problem.bounds(&cones.w, &problem.dual_point(cones.multipliers));
        prop_assert!(bounds.lower11 <= value && (bounds.upper11 - value).abs() <= 1e-6 * value, "{bounds:?}");
        let hard = Problem { loss: problem.loss.with_smoothing(Smoothing::NONE), ..problem.clone() };
        let value10 = solve(&hard, None, &settings(Solver::Auto, 1e-9), &Control::default()).unwrap();
        let value10 = value10.certificate.upper10;
        let cones = conic(&case.structure, &hard).unwrap();
        let bounds = hard.bounds(&cones.w, &hard.dual_point(cones.multipliers));
        prop_assert!(bounds.lower10 <= value10 && (bounds.upper10 - value10).abs() <= 1e-6 * value10, "{bounds:?}");
        // Theorem 2: the constrained solution is normalised by itself (rows with mass).
        let raw = Network::new(case.structure.clone(), slow.raw).unwrap();
        let nll = -dot(problem.likelihood.counts(), raw.w());
        let proper = -dot(problem.likelihood.counts(), &slow.w);
        prop_assert!((nll - proper).abs() <= 1e-4 * value, "{nll} {proper}");
    }

    #[test]
    fn likelihood_falls_and_slack_falls_as_lambda_grows(seed in any::<u64>()) {
        let case = case(seed);
        let mut last: Option<(f64, f64)> = None;
        for lambda in [0.0, 0.5, 2.0, 8.0] {
            let params = MarginParams {
                lambda, gamma: 2.0, smooth: false, tolerance: 1e-8, ..MarginParams::default()
            };
            let fit = fit_margin(&case.samples, &case.structure, &params, &Control::default()).unwrap();
            let n = counts::smoothed_counts(&case.structure, &case.samples, params.alpha).unwrap();
            let slack = fit.report.slack.unwrap() * case.samples.total_weight();
            let now = (-dot(&n, fit.network.w()), slack);
            if let Some((nll, slack)) = last {
                prop_assert!(now.0 >= nll - 1e-3 * nll && now.1 <= slack + 1e-3 * (1.0 + slack), "{last:?} {now:?}");
            }
            last = Some(now);
        }
    }

    #[test]
    fn integer_weights_equal_repetition_and_row_order_does_not_matter(seed in any::<u64>()) {
        let mut case = case(seed);
        let card = case.samples.card().to_vec();
        let table: Vec<Vec<usize>> = (0..case.samples.n_rows()).map(|m| state(&case.samples, m)).collect();
        let weights: Vec<f64> = table.iter().map(|_| case.random.below(3) as f64).collect();
        let weights = if weights.iter().all(|w| *w == 0.0) { vec![1.0; table.len()] } else { weights };
        let repeated: Vec<Vec<usize>> = table.iter().zip(&weights)
            .flat_map(|(row, w)| std::iter::repeat_n(row.clone(), *w as usize)).collect();
        let mut shuffled = repeated.clone();
        case.random.shuffle(&mut shuffled);
        let structure = &case.structure;
        let params = MarginParams { lambda: 2.0, gamma: 2.0, ..MarginParams::default() };
        let fit = |s: &Samples| fit_margin(s, structure, &params, &Control::default());
        let weighted = fit(&samples(&card, &table, Some(weights)));
        let plain = fit(&samples(&card, &shuffled, None));
        if let (Ok(a), Ok(b)) = (&weighted, &plain) {
            prop_assert_eq!(a.network.w(), b.network.w());
        } else {
            prop_assert!(weighted.is_err() && plain.is_err());
        }
    }
}

#[test]
fn the_joint_distribution_does_not_depend_on_the_root_of_the_tree() {
    let mut random = Random::new(3);
    let card = vec![3, 2, 3, 2, 2];
    let samples = rows(&card, 60, &mut random);
    let trees = [
        vec![vec![], vec![0], vec![0, 1], vec![0, 2], vec![0, 2]],
        vec![vec![], vec![0, 2], vec![0], vec![0, 2], vec![0, 2]],
        vec![vec![], vec![0, 2], vec![0, 4], vec![0, 2], vec![0]],
    ];
    let params = MarginParams { lambda: 4.0, gamma: 3.0, tolerance: 1e-11, ..MarginParams::default() };
    let fits: Vec<_> = trees
        .iter()
        .map(|parents| {
            let s = Structure::new(card.clone(), Dag::new(parents.clone()).unwrap()).unwrap();
            fit_margin(&samples, &s, &params, &Control::default()).unwrap()
        })
        .collect();
    for m in 0..samples.n_rows() {
        let row = state(&samples, m);
        let joint: Vec<f64> = fits.iter().map(|f| f.network.log_joint(|i| row[i])).collect();
        assert!(joint.iter().all(|j| (j - joint[0]).abs() < 1e-3), "{joint:?}");
    }
    let objectives: Vec<f64> = fits.iter().map(|f| f.report.objective).collect();
    assert!(objectives.iter().all(|o| (o - objectives[0]).abs() < 1e-8 * o), "{objectives:?}");
}

#[test]
fn fits_have_the_same_bits_on_1_2_and_8_threads() {
    let Case { structure, samples: data, .. } = drawn(11, &[3, 3, 4, 3, 3], 3000);
    for solver in [Solver::Interior, Solver::Lbfgs] {
        let params =
            MarginParams { lambda: 2.0, gamma: 2.0, solver, tolerance: 1e-4, ..MarginParams::default() };
        let fit = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let fit = pool.install(|| fit_margin(&data, &structure, &params, &Control::default())).unwrap();
            fit.network.w().iter().map(|w| w.to_bits()).collect::<Vec<u64>>()
        };
        let one = fit(1);
        assert_eq!(one, fit(2));
        assert_eq!(one, fit(8));
    }
}

#[test]
fn bad_parameters_and_rows_are_refused_with_their_name() {
    let mut random = Random::new(1);
    let card = vec![2, 2, 2];
    let data = rows(&card, 20, &mut random);
    let s = Structure::naive_bayes(card.clone()).unwrap();
    let refused = |params: MarginParams, name: &str| {
        let error = fit_margin(&data, &s, &params, &Control::default()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    };
    let base = MarginParams::default;
    refused(MarginParams { lambda: -1.0, ..base() }, "lambda");
    refused(MarginParams { lambda: f64::NAN, ..base() }, "lambda");
    refused(MarginParams { gamma: 0.0, ..base() }, "gamma");
    refused(MarginParams { alpha: 0.0, ..base() }, "alpha");
    let one_class = samples(&card, &[vec![0, 1, 1], vec![0, 0, 1]], None);
    assert!(fit_margin(&one_class, &s, &base(), &Control::default()).is_err());
    let v = Dag::new(vec![vec![], vec![0], vec![0], vec![0, 1, 2]]).unwrap();
    let not_c1 = Structure::new(vec![2; 4], v).unwrap();
    let data = rows(&[2; 4], 20, &mut random);
    let error = fit_margin(&data, &not_c1, &base(), &Control::default()).unwrap_err().to_string();
    assert!(error.contains("node `3`"), "{error}");
}

/// The rows with a share of their feature cells blanked.
fn blanked(data: &Samples, share: f64, random: &mut Random) -> Samples {
    let column = |i: usize, random: &mut Random| {
        let cells: Vec<Option<usize>> =
            data.column(i).iter().map(|c| c.filter(|_| i == 0 || random.uniform() >= share)).collect();
        Codes::from_options(data.card()[i], cells.into_iter())
    };
    let columns = (0..data.card().len()).map(|i| column(i, random)).collect();
    Samples::new(data.card().to_vec(), columns, None).unwrap()
}

/// Random rows of a fixed graph, and the state of the random numbers behind them.
fn drawn(seed: u64, card: &[usize], n: usize) -> Case {
    let mut random = Random::new(seed);
    let samples = rows(card, n, &mut random);
    let structure = Structure::new(card.to_vec(), graph(1)).unwrap();
    Case { structure, samples, random }
}

#[test]
fn completion_never_raises_its_objective_and_needs_nothing_when_nothing_is_missing() {
    let Case { structure, samples: data, mut random } = drawn(8, &[2, 3, 2, 2, 3], 60);
    let control = Control::default();
    for lambda in [0.0, 2.0] {
        let params = MarginParams { lambda, gamma: 2.0, ..MarginParams::default() };
        let plain = fit_margin(&data, &structure, &params, &control).unwrap();
        let same =
            fit_incomplete(&data, &structure, &params, &CompletionParams::default(), &control).unwrap();
        let difference = plain.report.objective - same.fit.report.objective;
        assert!(difference.abs() <= 2e-6 * plain.report.objective.abs(), "{difference}");
        let gaps = blanked(&data, 0.3, &mut random);
        let fit = fit_incomplete(&gaps, &structure, &params, &CompletionParams::default(), &control).unwrap();
        assert!(fit.trace.len() >= 2, "{:?}", fit.trace);
        assert!(fit.trace.windows(2).all(|t| t[1] <= t[0]), "{:?}", fit.trace);
        assert!(fit.fit.network.normalisation_error() < 1e-9);
    }
}

/// Rough first rounds must not be what a fit ends with.
#[test]
fn completion_ends_with_a_proven_gap_however_hard_the_margin() {
    let Case { structure, samples, mut random } = drawn(9, &[3, 3, 2, 4, 3], 80);
    let gaps = blanked(&samples, 0.3, &mut random);
    for (lambda, gamma) in [(1.0, 1.0), (64.0, 5.0), (256.0, 20.0)] {
        let params = MarginParams { lambda, gamma, ..MarginParams::default() };
        let completion = CompletionParams::default();
        let fit = fit_incomplete(&gaps, &structure, &params, &completion, &Control::default()).unwrap();
        let gap = fit.fit.report.gap.unwrap();
        assert!(fit.fit.report.converged && gap <= 1e-5, "{lambda} {gamma}: {gap}");
        assert!(!fit.trace.is_empty() && fit.trace.windows(2).all(|t| t[1] <= t[0]), "{:?}", fit.trace);
    }
}

/// The interior-point method over rows (few rows, large tables) against L-BFGS.
#[test]
fn few_rows_with_many_states_have_the_same_optimum_by_both_solvers() {
    let mut random = Random::new(3);
    for k in [2, 3] {
        let card = vec![k, 9, 9, 9, 9];
        let samples = rows(&card, 40, &mut random);
        let structure = Structure::new(card, graph(1)).unwrap();
        let case = Case { structure, samples, random: Random::new(0) };
        for (smoothing, tolerance) in [(SOFT, 1e-9), (Smoothing::NONE, 1e-5)] {
            let problem = problem(&case, 4.0, 3.0, smoothing);
            assert!(problem.rows.len() * (k - 1) < problem.rows.n_cells() / 2);
            let found = |solver| {
                let settings = settings(solver, tolerance);
                let solution = solve(&problem, None, &settings, &Control::default()).unwrap();
                let certificate = solution.certificate;
                let smooth = problem.loss.is_smooth();
                assert!(solution.converged, "{solver:?}: {certificate:?}");
                if smooth { certificate.upper11 } else { certificate.upper10 }
            };
            let (interior, lbfgs) = (found(Solver::Interior), found(Solver::Lbfgs));
            assert!((interior - lbfgs).abs() <= 3.0 * tolerance * lbfgs, "{interior} {lbfgs}");
        }
    }
}

/// Multipliers stay feasible when λ grows: a solution without slack is proven to stay one.
#[test]
fn a_solution_without_slack_is_recognised_at_a_larger_lambda() {
    let card = vec![2, 2, 2];
    let table: Vec<Vec<usize>> = (0..20).map(|m| vec![m % 2; 3]).collect();
    let structure = Structure::naive_bayes(card.clone()).unwrap();
    let case = Case { structure, samples: samples(&card, &table, None), random: Random::new(0) };
    let first = problem(&case, 64.0, 8.0, SOFT);
    let tight = solve(&first, None, &settings(Solver::Auto, 1e-6), &Control::default()).unwrap();
    let next = Problem { loss: first.loss.with_lambda(256.0), ..first.clone() };
    let again =
        solve(&next, Some((&tight).into()), &settings(Solver::Auto, 0.05), &Control::default()).unwrap();
    assert!(again.iterations == 0 && again.w == tight.w, "{:?}", again.certificate);
}

#[test]
fn discriminative_fits_raise_the_conditional_likelihood_and_stay_normalised() {
    let Case { structure, samples: data, .. } = drawn(4, &[3, 2, 3, 2, 2], 120);
    let control = Control::default();
    let conditional = |network: &Network| -> f64 {
        (0..data.n_rows()).map(|m| posterior(network, &state(&data, m))[state(&data, m)[0]].ln()).sum()
    };
    let ml = MarginParams { lambda: 0.0, ..MarginParams::default() };
    let ml = fit_margin(&data, &structure, &ml, &control).unwrap();
    for form in [Form::Exact, Form::Tables] {
        let params = ConditionalParams { form, ..ConditionalParams::default() };
        let fit = fit_conditional(&data, &structure, &params, &control).unwrap();
        assert!(fit.network.normalisation_error() < 1e-9);
        assert!(conditional(&fit.network) > conditional(&ml.network), "{form:?}");
        let objective = Objective::Margin { lambda: 0.3, kappa: 0.5 };
        let params =
            ConditionalParams { form, objective, max_iterations: 40, ..ConditionalParams::default() };
        let fit = fit_conditional(&data, &structure, &params, &control).unwrap();
        assert!(fit.network.normalisation_error() < 1e-9);
        let learn = |_: &Samples| Ok(structure.clone());
        let stop = select_iterations(&data, &learn, &params, 3, &control).unwrap();
        assert!(stop <= 40);
    }
}

#[test]
fn bn_svm_proves_its_optimum_and_the_absolute_norm_is_sparse() {
    let Case { structure, samples: data, .. } = drawn(6, &[3, 2, 3, 2, 2], 80);
    let params = MarginParams { lambda: 0.5, tolerance: 1e-4, ..MarginParams::default() };
    let control = Control::default();
    let squared =
        fit_bn_svm(MarginRows::new(&structure, &data).unwrap(), &structure, Norm::Squared, &params, &control)
            .unwrap();
    let absolute = fit_bn_svm(
        MarginRows::new(&structure, &data).unwrap(),
        &structure,
        Norm::Absolute,
        &params,
        &control,
    )
    .unwrap();
    assert!(squared.report.converged && absolute.report.converged, "{:?}", absolute.report);
    let zeros = |w: &[f64]| w.iter().filter(|x| **x == 0.0).count();
    assert!(zeros(&absolute.weights) > zeros(&squared.weights));
    assert!(squared.network.normalisation_error() < 1e-9 && absolute.network.normalisation_error() < 1e-9);
}

#[test]
fn selection_prefers_the_generative_and_calibrates() {
    let mut random = Random::new(2);
    let card = vec![2, 2, 2, 3];
    let data = rows(&card, 90, &mut random);
    let learn = |s: &Samples| Structure::naive_bayes(s.card().to_vec());
    let (lambda, gamma) = (vec![0.0, 1.0, 4.0], vec![1.0, 5.0]);
    let grid = Grid { lambda, gamma, folds: 3, extend: false, alpha: false };
    let control = Control::default();
    let chosen = select_margin(&data, &learn, &MarginParams::default(), &grid, &control).unwrap();
    assert_eq!(chosen.trials.len(), 6);
    // Which validation rows each point gets right, found without the race.
    let fold = stratified(data.column(0).iter(), 3, Order::AsTheyStand);
    let right = |lambda: f64, gamma: f64| -> Vec<bool> {
        let params = MarginParams { lambda, gamma, ..MarginParams::default() };
        let held_out = |f: usize| {
            let (train, test) = split(&fold, f);
            let (train, test) = (data.rows(&train).unwrap(), data.rows(&test).unwrap());
            let network = fit_margin(&train, &learn(&train).unwrap(), &params, &control).unwrap().network;
            let joint = log_joint_rows(&network, &test.columns()[1..]).unwrap();
            let decided = |m: usize| usize::from(joint[2 * m + 1] > joint[2 * m]);
            (0..test.n_rows()).map(|m| test.column(0).get(m) == Some(decided(m))).collect::<Vec<bool>>()
        };
        (0..3).flat_map(held_out).collect()
    };
    let count = |rows: &[bool]| rows.iter().filter(|r| **r).count() as f64;
    let best = right(chosen.best.lambda, chosen.best.gamma);
    for trial in &chosen.trials {
        let other = right(trial.lambda, trial.gamma);
        let apart = best.iter().zip(&other).filter(|(a, b)| a != b).count() as f64;
        assert!(count(&other) - count(&best) <= 1.5 * apart.sqrt(), "{trial:?} is clearly better");
    }
    assert!(chosen.temperature.is_some_and(|t| t > 0.0));
    let params = MarginParams { lambda: 16.0, gamma: 5.0, ..MarginParams::default() };
    let fit = |s: &Samples| Ok(fit_margin(s, &learn(s)?, &params, &Control::default())?.network);
    let temperature = calibrate(&data, 3, &fit).unwrap();
    assert!(temperature > 1.0, "posteriors of a wide margin are over-confident: {temperature}");
}

/// Where margins can rest on states that were hardly ever seen, more virtual rows are clearly better, and are taken; the
/// same choice comes from one thread and from eight.
#[test]
fn selection_raises_alpha_where_rare_states_mislead() {
    let mut random = Random::new(5);
    let card: Vec<usize> = [2, 2, 2, 2, 2, 2].into_iter().chain([40; 8]).collect();
    let row = |random: &mut Random| -> Vec<usize> {
        let class = random.below(2);
        let told = |i: usize, random: &mut Random| match i {
            0 => class,
            1..6 => {
                if random.uniform() < 0.7 {
                    class
                } else {
                    1 - class
                }
            }
            _ => random.below(40),
        };
        (0..card.len()).map(|i| told(i, random)).collect()
    };
    let drawn: Vec<Vec<usize>> = (0..2000).map(|_| row(&mut random)).collect();
    let column = |i: usize| Codes::from_options(card[i], drawn.iter().map(|r| Some(r[i])));
    let data = Samples::new(card.clone(), (0..card.len()).map(column).collect(), None).unwrap();
    let learn = |s: &Samples| Structure::naive_bayes(s.card().to_vec());
    let grid = Grid { lambda: vec![4.0], gamma: vec![5.0], extend: false, alpha: true, ..Grid::default() };
    let choose =
        || select_margin(&data, &learn, &MarginParams::default(), &grid, &Control::default()).unwrap();
    let chosen = choose();
    assert!(chosen.best.alpha >= 10.0, "{chosen:?}");
    for threads in [1, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(choose), chosen);
    }
}

/// Chance does not raise α: where the features tell nothing of the class, no α is clearly better.
#[test]
fn selection_keeps_alpha_where_nothing_asks_for_more() {
    let learn = |s: &Samples| Structure::naive_bayes(s.card().to_vec());
    let grid = Grid { alpha: true, ..Grid::default() };
    for seed in 0..8 {
        let data = rows(&[2, 2, 3, 4, 3], 200, &mut Random::new(seed));
        let chosen =
            select_margin(&data, &learn, &MarginParams::default(), &grid, &Control::default()).unwrap();
        assert_eq!(chosen.best.alpha, 1.0, "seed {seed}: {:?}", chosen.best);
    }
}

/// A solver that is stopped at once, also in a stage of more smoothing, still gives a point with finite bounds and
/// feasible multipliers.
#[test]
fn a_fit_without_time_has_finite_bounds() {
    let card = vec![3, 3, 2, 4];
    let data = rows(&card, 120, &mut Random::new(4));
    let structure = Structure::naive_bayes(card).unwrap();
    let n = counts::smoothed_counts(&structure, &data, 1.0).unwrap();
    let params = MarginParams { lambda: 64.0, gamma: 10.0, ..MarginParams::default() };
    let problem = Problem {
        likelihood: Likelihood::new(&structure, n).unwrap(),
        rows: MarginRows::new(&structure, &data).unwrap(),
        loss: params.loss(3),
    };
    let no_time = Control::default().within(std::time::Duration::ZERO);
    let few = SolveSettings { max_iterations: 1, persistent: false, ..settings(Solver::Lbfgs, 1e-9) };
    for (settings, control) in [(settings(Solver::Lbfgs, 1e-9), no_time), (few, Control::default())] {
        let found = solve(&problem, None, &settings, &control).unwrap();
        assert!(found.certificate.gap11().is_finite() && !found.converged);
        assert_eq!(found.multipliers.len(), 3 * problem.rows.len());
        let again = solve(&problem, Some((&found).into()), &settings, &control).unwrap();
        assert!(again.certificate.upper11.is_finite());
    }
}

/// Two rows that stand for many: whichever is held out, the other is of one class.
#[test]
fn selection_from_rows_that_cannot_be_split_takes_the_first_values() {
    let codes = |c: [usize; 2]| Codes::from_options(2, c.into_iter().map(Some));
    let data = Samples::new(vec![2, 2], vec![codes([0, 1]), codes([0, 1])], Some(vec![15.0, 15.0])).unwrap();
    let learn = |s: &Samples| Structure::naive_bayes(s.card().to_vec());
    let (lambda, gamma) = (vec![0.0, 1.0], vec![1.0, 5.0]);
    let grid = Grid { lambda, gamma, folds: 5, extend: true, alpha: true };
    let control = Control::default();
    let chosen = select_margin(&data, &learn, &MarginParams::default(), &grid, &control).unwrap();
    assert_eq!((chosen.best.lambda, chosen.best.gamma, chosen.temperature), (0.0, 1.0, None));
    let params = ConditionalParams { max_iterations: 7, ..ConditionalParams::default() };
    assert_eq!(select_iterations(&data, &learn, &params, 5, &control).unwrap(), 7);
}

#[test]
fn averaged_networks_are_the_mean_of_their_members_with_or_without_cells() {
    let mut random = Random::new(12);
    let card = vec![2, 3, 2, 2];
    let data = rows(&card, 80, &mut random);
    let control = Control::default();
    let ml = Stars::from_rows(&data, 1.0).unwrap();
    let member = |s: usize| {
        let structure = one_dependence(&card, s).unwrap();
        let n = counts::smoothed_counts(&structure, &data, 1.0).unwrap();
        let likely = counts::ml_parameters(&structure, &n).unwrap();
        let same = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
        assert!(likely.iter().zip(ml.network(s - 1).unwrap().w()).all(same));
        let fit = fit_margin(&data, &structure, &MarginParams::default(), &control).unwrap();
        assert!(fit.report.converged);
        fit.network
    };
    let margin = Stars::from_networks(&(1..4).map(member).collect::<Vec<_>>()).unwrap();
    let (shared, report) = fit_shared_tables(&data, &MarginParams::default(), &control).unwrap();
    assert!(report.converged);
    let gaps = blanked(&data, 0.4, &mut random);
    for model in [&ml, &margin, &shared] {
        let joint = model.log_joint_rows(&gaps.columns()[1..]).unwrap();
        let members: Vec<Vec<f64>> = model
            .networks()
            .unwrap()
            .iter()
            .map(|n| log_joint_rows(n, &gaps.columns()[1..]).unwrap())
            .collect();
        for (i, j) in joint.iter().enumerate() {
            let mean = members.iter().map(|m| m[i].exp()).sum::<f64>() / 3.0;
            assert!((j.exp() - mean).abs() < 1e-12);
        }
    }
}

/// A feature of so many states that the table of all pairs of states would be mostly empty.
#[test]
fn members_with_very_many_states_are_those_of_maximum_likelihood() {
    let card = vec![2, 3000, 2, 3];
    let data = rows(&card, 60, &mut Random::new(3));
    let stars = Stars::from_rows(&data, 1.0).unwrap();
    for s in 1..4 {
        let structure = one_dependence(&card, s).unwrap();
        let n = counts::smoothed_counts(&structure, &data, 1.0).unwrap();
        assert_eq!(stars.network(s - 1).unwrap().w(), counts::ml_parameters(&structure, &n).unwrap());
    }
}

#[test]
fn tables_with_and_without_gaps_are_learnt_by_every_rule() {
    let mut random = Random::new(20);
    let data = rows(&[2, 3, 2, 2], 120, &mut random);
    let names = |n: usize| (0..n).map(|j| format!("s{j}")).collect::<Vec<_>>();
    for rows in [data.clone(), blanked(&data, 0.2, &mut random)] {
        let column =
            |i: usize| Column::categorical(format!("x{i}"), names(rows.card()[i]), rows.column(i).clone());
        let table = Table::new((1..4).map(column).collect()).unwrap();
        let classes = names(2);
        let training = Rows::new(&table, rows.column(0), &classes, None).unwrap();
        let grid = Grid { lambda: vec![0.0, 1.0], gamma: vec![1.0], folds: 3, extend: false, alpha: false };
        let margin = MarginParams { tolerance: 1e-4, ..MarginParams::default() };
        let short = ConditionalParams { max_iterations: 20, ..ConditionalParams::default() };
        for learning in [
            Learning::MlBnSvm { params: margin.clone(), grid: Some(grid) },
            Learning::BnSvm { norm: Norm::Squared, params: margin.clone(), lambdas: vec![0.1, 1.0] },
            Learning::Conditional { params: short, points: Vec::new(), early_stopping: true },
        ] {
            let discrete = DiscreteParams::new(StructureKind::Tan(Root::First));
            let model = fit(&training, &discrete, Some(&learning), &Control::default()).unwrap().model;
            let proba = model.log_proba(&table).unwrap();
            let right = |(p, c): &(&[f64], Option<usize>)| (p[1] > p[0]) == (*c == Some(1));
            let hits = proba.chunks(2).zip(rows.column(0).iter()).filter(right).count();
            assert!(hits > 70, "{learning:?}: {hits}");
            assert!(model.temperature() > 0.0);
        }
    }
}

/// Proves the gap 1e-6 of both problems for one sample.
fn proves_its_gap(solver: Solver, case: &Case, lambda: f64, gamma: f64) {
    for smoothing in [SOFT, Smoothing::NONE] {
        let problem = problem(case, lambda, gamma, smoothing);
        let found = solve(&problem, None, &settings(solver, 1e-6), &Control::default()).unwrap();
        assert!(found.converged, "λ = {lambda}, γ = {gamma}: {:?}", found.certificate);
    }
}

/// A step that leaves w free along the flat directions loses itself in them; uneven products stop it short.
#[test]
fn interior_points_prove_their_gap_for_small_and_large_lambda_and_gamma() {
    for (lambda, gamma) in [(0.1, 1.0), (2.0, 1.5), (20.0, 5.0), (256.0, 20.0)] {
        (0..40).for_each(|seed| proves_its_gap(Solver::Interior, &case(seed), lambda, gamma));
    }
}

#[test]
fn newton_steps_prove_their_gap_where_rows_are_many_and_the_margin_counts_little() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let card = vec![3; 9];
        let structure = Structure::naive_bayes(card.clone()).unwrap();
        let samples = rows(&card, 3000, &mut random);
        let case = Case { structure, samples, random };
        [(0.1, 1.0), (1.0, 1.0), (3.0, 2.0)]
            .iter()
            .for_each(|&(l, g)| proves_its_gap(Solver::Newton, &case, l, g));
    }
}

#[test]
fn a_dense_solver_is_refused_where_its_matrix_would_fill_the_memory() {
    let card = vec![3, 200, 200];
    let dag = Dag::new(vec![vec![], vec![0], vec![0, 1]]).unwrap();
    let mut random = Random::new(1);
    let structure = Structure::new(card.clone(), dag).unwrap();
    let samples = rows(&card, 40_000, &mut random);
    let case = Case { structure, samples, random };
    let problem = problem(&case, 1.0, 1.0, SOFT);
    for solver in [Solver::Newton, Solver::Interior] {
        let error = solve(&problem, None, &settings(solver, 1e-3), &Control::default()).err();
        assert!(matches!(error, Some(hingenet_base::error::Error::TooLarge { .. })), "{error:?}");
    }
}

/// Rows in three pieces, which come past so many times before they fail.
struct Passing {
    pieces: Vec<CodedPiece>,
    left: AtomicUsize,
}

impl Passing {
    fn new(samples: &Samples, passes: usize) -> Self {
        let rows: Vec<usize> = (0..samples.n_rows()).collect();
        let piece = |rows: &[usize]| {
            let part = samples.rows(rows).unwrap();
            (part.columns().to_vec(), part.weights().map(<[f64]>::to_vec))
        };
        let pieces = rows.chunks(samples.n_rows().div_ceil(3)).map(piece).collect();
        Passing { pieces, left: AtomicUsize::new(passes) }
    }
}

impl CodedPieces for Passing {
    fn for_each(&self, each: &mut dyn FnMut(CodedPiece) -> Result<()>) -> Result<()> {
        for piece in &self.pieces {
            each(piece.clone())?;
        }
        match self.left.fetch_sub(1, Relaxed) {
            0 => Err(Error::data("the disk is gone", "mount it")),
            _ => Ok(()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Sums, products and proofs are those of the rows at hand, but for rounding.
    #[test]
    fn rows_that_come_past_are_rows_at_hand(seed in any::<u64>(), lambda in 0.1f64..50.0, gamma in 0.2f64..5.0) {
        let mut case = case(seed);
        let at_hand = problem(&case, lambda, gamma, SOFT);
        let (pieces, control) = (Passing::new(&case.samples, usize::MAX), Control::default());
        let total = case.samples.total_weight();
        let rows = StreamedRows::new(&case.structure, &pieces, total, &control);
        let passing = Problem { likelihood: at_hand.likelihood.clone(), rows, loss: at_hand.loss.clone() };
        let mut w = noise(&at_hand.likelihood.ml_parameters(), 0.7, &mut case.random);
        Normaliser::new(&case.structure).unwrap().normalise(&mut w).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| close(*a, *b));
        let (a, b) = (at_hand.unconstrained(&w), passing.unconstrained(&w));
        prop_assert!(close(a.value, b.value) && same(&a.gradient, &b.gradient));
        let direction = noise(&vec![0.0; w.len()], 1.0, &mut case.random);
        prop_assert!(same(&at_hand.hessian_product(&a, &direction), &passing.hessian_product(&b, &direction)));
        let (a, b) = (at_hand.certificate(&w), passing.certificate(&w));
        prop_assert!(close(a.upper10, b.upper10) && close(a.upper11, b.upper11));
        prop_assert!(close(a.lower10, b.lower10) && close(a.lower11, b.lower11), "{a:?} and {b:?}");
        let made = passing.rows.checked(Ok(()));
        prop_assert!(made.is_ok());
    }

    /// Programs with a margin have one optimum, wherever the rows are.
    #[test]
    fn rows_that_come_past_give_the_same_optimum(seed in any::<u64>(), lambda in 0.1f64..20.0, gamma in 0.2f64..5.0) {
        let case = case(seed);
        let (control, total) = (Control::default(), case.samples.total_weight());
        let counted = counts::raw_counts(&case.structure, &case.samples).unwrap();
        let pieces = Passing::new(&case.samples, usize::MAX);
        let rows = StreamedRows::new(&case.structure, &pieces, total, &control);
        let params = MarginParams { lambda, gamma, tolerance: 1e-4, large_tolerance: 1e-4, ..MarginParams::default() };
        let whole = fit_margin(&case.samples, &case.structure, &params, &control).unwrap();
        let passed = fit_margin_streamed(rows.clone(), &case.structure, &counted, &params, None, &control).unwrap();
        prop_assert!(passed.report.converged, "{:?}", passed.report);
        let (a, b) = (whole.certificate, passed.certificate);
        prop_assert!(b.upper11 >= a.lower11 - 1e-9 && a.upper11 >= b.lower11 - 1e-9, "{a:?} and {b:?}");
        for norm in [Norm::Squared, Norm::Absolute] {
            let kept = MarginRows::new(&case.structure, &case.samples).unwrap();
            let whole = fit_bn_svm(kept, &case.structure, norm, &params, &control).unwrap().report;
            let passed = fit_bn_svm(rows.clone(), &case.structure, norm, &params, &control).unwrap().report;
            let gap = whole.gap.unwrap() + passed.gap.unwrap() + 1e-9;
            prop_assert!((whole.objective - passed.objective).abs() <= gap * whole.objective.abs());
        }
        for form in [Form::Exact, Form::Tables] {
            let params = ConditionalParams { form, max_iterations: 5, ..ConditionalParams::default() };
            let whole = fit_conditional(&case.samples, &case.structure, &params, &control).unwrap();
            let passed = fit_conditional_streamed(&rows, &case.structure, &counted, &params, &control).unwrap();
            prop_assert!((whole.report.objective - passed.report.objective).abs() <= 1e-6 * total);
        }
    }
}

/// A pass that fails ends the fit with its reason, whenever it happens, and so does an interruption.
#[test]
fn rows_that_stop_coming_past_are_an_error() {
    let case = case(5);
    let counted = counts::raw_counts(&case.structure, &case.samples).unwrap();
    let params = MarginParams { lambda: 5.0, gamma: 2.0, ..MarginParams::default() };
    for passes in [0, 1, 7, 12] {
        let (pieces, control) = (Passing::new(&case.samples, passes), Control::default());
        let rows = StreamedRows::new(&case.structure, &pieces, case.samples.total_weight(), &control);
        let error =
            fit_margin_streamed(rows, &case.structure, &counted, &params, None, &control).unwrap_err();
        assert_eq!(error.to_string(), "the disk is gone", "after {passes} passes");
    }
    let (pieces, control) = (Passing::new(&case.samples, 100), Control::new(Arc::new(AtomicBool::new(true))));
    let rows = StreamedRows::new(&case.structure, &pieces, case.samples.total_weight(), &control);
    let error = fit_margin_streamed(rows, &case.structure, &counted, &params, None, &control).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
}
