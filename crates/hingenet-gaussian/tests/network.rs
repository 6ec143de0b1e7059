//! Gaussian networks: the likelihood is a normal density, marginals and conditionals are exact, Fisher vectors are
//! gradients, discriminative learning lowers its objective inside the stated limits.

use hingenet_base::control::Control;
use hingenet_base::numeric::linalg::{Cholesky, Matrix, dot};
use hingenet_base::numeric::random::Random;
use hingenet_gaussian::discriminative::{
    DiscriminativeFit, Labelled, Leeway, MmSolver, fit_kl, fit_mm, margin_objective, margins_of,
    radius_margin,
};
use hingenet_gaussian::fisher::{Information, component, fisher_kernel, fisher_vector};
use hingenet_gaussian::missing::{Conditional, expected_moments};
use hingenet_gaussian::moments::Moments;
use hingenet_gaussian::network::GaussianNetwork;
use hingenet_gaussian::structure::{Constraints, fit_or};
use proptest::prelude::*;

/// A random network over m nodes; arcs follow a random order.
fn network(m: usize, seed: u64) -> GaussianNetwork {
    let mut random = Random::new(seed);
    let order = random.permutation(m);
    let mut theta = Matrix::zeros(m, m);
    for k in 1..m {
        for l in 0..k {
            if random.below(2) == 0 {
                theta[(order[l], order[k])] = 2.0 * random.uniform() - 1.0;
            }
        }
    }
    let bias = (0..m).map(|_| random.normal()).collect();
    let variance = (0..m).map(|_| 0.3 + random.uniform()).collect();
    GaussianNetwork::new(&theta, bias, variance).unwrap()
}

fn normal_log_density(x: &[f64], mean: &[f64], covariance: &Matrix) -> f64 {
    let factor = Cholesky::new(covariance).unwrap();
    let mut d: Vec<f64> = x.iter().zip(mean).map(|(x, m)| x - m).collect();
    factor.forward(&mut d);
    -0.5 * (dot(&d, &d) + factor.log_det() + x.len() as f64 * std::f64::consts::TAU.ln())
}

fn rows_of(network: &GaussianNetwork, n: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let rows: Vec<f64> = (0..n).flat_map(|_| network.sample(&mut random)).collect();
    Matrix::from_vec(n, network.nodes(), rows).unwrap()
}

fn pick(list: &[f64], nodes: &[usize]) -> Vec<f64> {
    nodes.iter().map(|&j| list[j]).collect()
}

/// Rows of two random networks, their labels, and OR-SGBN fits of both classes.
/// Rows of two classes, and a network learnt for each.
struct TwoClasses {
    x: Matrix,
    class: Vec<usize>,
    weights: Vec<f64>,
    networks: Vec<GaussianNetwork>,
}

impl TwoClasses {
    fn labelled(&self) -> Labelled<'_> {
        let TwoClasses { x, class, weights, networks } = self;
        Labelled { x, class, weights, networks }
    }

    fn kl(&self, leeway: Leeway) -> DiscriminativeFit {
        fit_kl(&self.labelled(), leeway, 1.0, &Control::default()).unwrap()
    }

    fn mm(&self, leeway: Leeway, solver: MmSolver) -> DiscriminativeFit {
        fit_mm(&self.labelled(), leeway, 0.3, solver, &Control::default()).unwrap()
    }
}

fn two_classes(n: usize, m: usize, seed: u64, lambda1: f64) -> TwoClasses {
    let models = [network(m, seed), network(m, seed ^ 77)];
    let mut data = Vec::new();
    let mut class = Vec::new();
    for (c, model) in models.iter().enumerate() {
        data.extend_from_slice(rows_of(model, n, seed ^ (c as u64 + 5)).data());
        class.extend(vec![c; n]);
    }
    let x = Matrix::from_vec(2 * n, m, data).unwrap();
    let networks = (0..2)
        .map(|c| {
            let own: Vec<usize> = (c * n..(c + 1) * n).collect();
            let moments = Moments::of_rows(&x.select(&own, &(0..m).collect::<Vec<_>>()), None).unwrap();
            let free = Constraints::none(m);
            let fit = fit_or(&moments, lambda1, &free, &Control::default()).unwrap();
            GaussianNetwork::from_structure(&fit, &moments).unwrap()
        })
        .collect();
    TwoClasses { x, class, weights: vec![1.0; 2 * n], networks }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_likelihood_is_the_joint_normal_density(m in 2usize..7, seed in any::<u64>()) {
        let g = network(m, seed);
        let (mean, covariance) = g.joint();
        let x = rows_of(&g, 3, seed ^ 9);
        for a in 0..3 {
            let want = normal_log_density(x.row(a), &mean, &covariance);
            prop_assert!((g.log_density(x.row(a)) - want).abs() < 1e-8 * (1.0 + want.abs()));
        }
    }

    #[test]
    fn marginals_and_conditional_means_are_exact(m in 2usize..7, seed in any::<u64>(), mask in any::<u8>()) {
        let g = network(m, seed);
        let (mean, covariance) = g.joint();
        let missing: Vec<bool> = (0..m).map(|j| mask >> j & 1 == 1).collect();
        let seen: Vec<usize> = (0..m).filter(|&j| !missing[j]).collect();
        let hidden: Vec<usize> = (0..m).filter(|&j| missing[j]).collect();
        let mut row = rows_of(&g, 1, seed ^ 3).row(0).to_vec();
        hidden.iter().for_each(|&j| row[j] = f64::NAN);
        let conditional = Conditional::new(&g, &missing).unwrap();
        let of_seen = covariance.select(&seen, &seen);
        let want = normal_log_density(&pick(&row, &seen), &pick(&mean, &seen), &of_seen);
        prop_assert!((conditional.log_density(&row) - want).abs() < 1e-8 * (1.0 + want.abs()));

        let mut shift: Vec<f64> = seen.iter().map(|&j| row[j] - mean[j]).collect();
        if !seen.is_empty() {
            Cholesky::new(&of_seen).unwrap().solve(&mut shift);
        }
        let filled = conditional.complete(&row);
        for &j in &hidden {
            let want = mean[j] + seen.iter().zip(&shift).map(|(&i, s)| covariance[(j, i)] * s).sum::<f64>();
            prop_assert!((filled[j] - want).abs() < 1e-8 * (1.0 + want.abs()));
        }
    }

    #[test]
    fn fisher_vectors_are_gradients_also_with_missing_cells(seed in any::<u64>(), mask in 0u8..16) {
        let m = 4;
        let g = network(m, seed);
        let missing: Vec<bool> = (0..m).map(|j| mask >> j & 1 == 1).collect();
        let mut row = rows_of(&g, 1, seed ^ 4).row(0).to_vec();
        (0..m).filter(|&j| missing[j]).for_each(|j| row[j] = f64::NAN);
        let vector = fisher_vector(std::slice::from_ref(&g), &row, Information::Identity).unwrap();
        let value = |theta: &Matrix, bias: Vec<f64>| {
            let moved = GaussianNetwork::new(theta, bias, g.variance().to_vec()).unwrap();
            Conditional::new(&moved, &missing).unwrap().log_density(&row)
        };
        let h = 1e-5;
        for j in 0..m {
            for i in (0..=m).filter(|&i| i != j && (i == m || g.dag().has_arc(i, j))) {
                let at = |step: f64| {
                    let (mut theta, mut bias) = (g.theta(), g.bias().to_vec());
                    if i == m { bias[j] += step } else { theta[(i, j)] += step }
                    value(&theta, bias)
                };
                let want = (at(h) - at(-h)) / (2.0 * h);
                let got = vector[component(m, 0, i, j)];
                prop_assert!((got - want).abs() < 1e-5 * (1.0 + want.abs()), "{i} -> {j}: {got} {want}");
            }
        }
    }

    #[test]
    fn the_fisher_kernel_is_the_product_of_the_vectors(seed in any::<u64>()) {
        let models = [network(5, seed), network(5, seed ^ 1)];
        let x = rows_of(&models[0], 4, seed ^ 2);
        for information in [Information::Identity, Information::Diagonal] {
            let kernel = fisher_kernel(&models, &x, information, &Control::default()).unwrap();
            for a in 0..4 {
                for b in 0..4 {
                    let phi = |a: usize| fisher_vector(&models, x.row(a), information).unwrap();
                    let want = dot(&phi(a), &phi(b));
                    prop_assert!((kernel[(a, b)] - want).abs() < 1e-9 * (1.0 + want.abs()));
                }
            }
        }
    }

    #[test]
    fn fisher_vectors_are_linear_in_the_parameters(seed in any::<u64>(), t in 0.0..1.0f64) {
        let g = network(5, seed);
        let mut random = Random::new(seed ^ 6);
        let mut theta = g.theta();
        theta.data_mut().iter_mut().for_each(|w| *w *= random.normal());
        let other = g.with_weights(&theta, (0..5).map(|_| random.normal()).collect()).unwrap();
        let mix = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| (1.0 - t) * a + t * b).collect()
        };
        let between = Matrix::from_vec(5, 5, mix(g.theta().data(), other.theta().data())).unwrap();
        let between = g.with_weights(&between, mix(g.bias(), other.bias())).unwrap();
        let x = rows_of(&g, 1, seed ^ 7);
        let phi = |g: &GaussianNetwork| {
            fisher_vector(std::slice::from_ref(g), x.row(0), Information::Identity).unwrap()
        };
        for (got, want) in phi(&between).iter().zip(mix(&phi(&g), &phi(&other))) {
            prop_assert!((got - want).abs() < 1e-9 * (1.0 + want.abs()));
        }
    }

    #[test]
    fn whitened_components_are_gradients_over_the_root_of_the_information(seed in any::<u64>(), mask in 0u8..16) {
        let g = network(4, seed);
        let mut row = rows_of(&g, 1, seed ^ 8).row(0).to_vec();
        (0..4).filter(|j| mask >> j & 1 == 1).for_each(|j| row[j] = f64::NAN);
        let vector = |information| fisher_vector(std::slice::from_ref(&g), &row, information).unwrap();
        let (plain, white) = (vector(Information::Identity), vector(Information::Diagonal));
        for (k, (p, w)) in plain.iter().zip(&white).enumerate() {
            let deviation = g.variance()[k / 4].sqrt();
            prop_assert!((p * deviation - w).abs() < 1e-9 * (1.0 + w.abs()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn the_gradient_of_the_radius_margin_objective_is_exact(seed in any::<u64>()) {
        let TwoClasses { x, class, weights, networks } = two_classes(12, 4, seed, 4.0);
        let value = |networks: &[GaussianNetwork]| {
            radius_margin(&Labelled { x: &x, class: &class, weights: &weights, networks }, 0.7).unwrap()
        };
        let at = value(&networks);
        prop_assert!(at.dual > 0.0);
        let swapped: Vec<usize> = class.iter().map(|c| 1 - c).collect();
        let other = Labelled { x: &x, class: &swapped, weights: &weights, networks: &networks };
        let other = radius_margin(&other, 0.7).unwrap();
        prop_assert!((other.value - at.value).abs() < 1e-7 * at.value);
        let gradient = |c: usize, i: usize, j: usize| {
            let slopes = at.slopes.row(c * 4 + j).iter().enumerate();
            let sum: f64 = slopes.map(|(a, s)| s * if i == 4 { 1.0 } else { x[(a, i)] }).sum();
            -2.0 / networks[c].variance()[j] * sum
        };
        let places = (0..2 * 5 * 4).map(|k| (k / 20, k / 4 % 5, k % 4)).filter(|(_, i, j)| i != j);
        let largest = places.map(|(c, i, j)| gradient(c, i, j).abs()).fold(0.0, f64::max);
        for c in 0..2 {
            let arcs = networks[c].dag().arcs();
            for (i, j) in arcs.chain((0..4).map(|j| (4, j))) {
                let h = 1e-5;
                let moved = |step: f64| {
                    let (mut theta, mut bias) = (networks[c].theta(), networks[c].bias().to_vec());
                    if i == 4 { bias[j] += step } else { theta[(i, j)] += step }
                    let mut list = networks.clone();
                    list[c] = networks[c].with_weights(&theta, bias).unwrap();
                    value(&list).value
                };
                let want = (moved(h) - moved(-h)) / (2.0 * h);
                let got = gradient(c, i, j);
                prop_assert!((got - want).abs() < 1e-4 * largest, "{i} -> {j}: {got} {want}");
            }
        }
    }

    #[test]
    fn discriminative_learning_is_monotone_and_keeps_fit_and_graph(seed in any::<u64>()) {
        let two = two_classes(25, 6, seed, 6.0);
        let Labelled { x, class, weights, networks } = two.labelled();
        let leeway = Leeway { free: 15, slack: 0.01 };
        let kl = two.kl(leeway);
        let [smooth, ccp] = [MmSolver::Smooth, MmSolver::Ccp].map(|solver| two.mm(leeway, solver));
        for fit in [&kl, &smooth, &ccp] {
            prop_assert!(fit.objective.windows(2).all(|w| w[1] <= w[0]));
            for c in 0..2 {
                let own: Vec<f64> = class.iter().map(|k| f64::from(u8::from(*k == c))).collect();
                let error = |network: &GaussianNetwork| network.fitting_error(x, &own);
                prop_assert!(error(&fit.networks[c]) <= 1.01 * error(&networks[c]) * (1.0 + 1e-6));
                prop_assert_eq!(fit.networks[c].variance(), networks[c].variance());
                for (i, j) in fit.networks[c].dag().arcs() {
                    prop_assert!(networks[c].dag().has_arc(i, j));
                }
            }
        }
        let densities =
            Matrix::from_fn(x.rows(), 2, |a, c| ccp.networks[c].log_density(x.row(a)));
        let lambda = 1.0 / (0.3 * x.rows() as f64);
        let (objective, _) = margin_objective(&margins_of(&densities, class), weights, lambda);
        prop_assert!((objective - ccp.report.objective).abs() < 1e-7 * (1.0 + objective.abs()));
    }
}

#[test]
fn without_free_parameters_the_networks_stay() {
    let (two, leeway) = (two_classes(20, 5, 3, 5.0), Leeway { free: 0, slack: 0.01 });
    assert_eq!(two.kl(leeway).networks, two.networks);
    for solver in [MmSolver::Smooth, MmSolver::Ccp] {
        assert_eq!(two.mm(leeway, solver).networks, two.networks);
    }
}

#[test]
fn more_free_parameters_than_there_are_means_all_of_them() {
    let two = two_classes(20, 5, 3, 5.0);
    let fit = two.mm(Leeway { free: 10_000, slack: 0.01 }, MmSolver::Smooth);
    for (free, network) in fit.free.iter().zip(&two.networks) {
        assert_eq!(free.len(), network.dag().arcs().count() + network.nodes());
    }
}

#[test]
fn biases_alone_cannot_move_without_slack() {
    // A huge penalty leaves no arcs, so only biases can be free; they are least-squares optimal already.
    let (two, leeway) = (two_classes(20, 5, 4, 1e6), Leeway { free: 100, slack: 0.0 });
    let (mm, kl) = (two.mm(leeway, MmSolver::Smooth), two.kl(leeway));
    for (a, b) in mm.networks.iter().chain(&kl.networks).zip(two.networks.iter().cycle()) {
        for (x, y) in a.bias().iter().zip(b.bias()) {
            assert!((x - y).abs() < 1e-6);
        }
    }
}

#[test]
fn the_mean_fisher_vector_of_a_least_squares_fit_is_zero_on_present_arcs() {
    let g = network(5, 12);
    let x = rows_of(&g, 60, 13);
    let moments = Moments::of_rows(&x, None).unwrap();
    let free = Constraints::none(5);
    let fit = fit_or(&moments, 1e-7, &free, &Control::default()).unwrap();
    let fitted = GaussianNetwork::from_structure(&fit, &moments).unwrap();
    let mut total = [0.0; 25];
    for a in 0..60 {
        let v = fisher_vector(std::slice::from_ref(&fitted), x.row(a), Information::Identity).unwrap();
        total.iter_mut().zip(&v).for_each(|(t, v)| *t += v);
    }
    for j in 0..5 {
        assert!(total[component(5, 0, 5, j)].abs() < 1e-6);
        for &i in fitted.dag().parents(j) {
            assert!(total[component(5, 0, i, j)].abs() < 1e-4);
        }
    }
}

#[test]
fn expected_moments_come_close_to_the_complete_ones() {
    let g = network(5, 21);
    let x = rows_of(&g, 800, 22);
    let weights = vec![1.0; 800];
    let complete = Moments::of_rows(&x, None).unwrap();
    let mut holed = x.clone();
    let mut random = Random::new(23);
    holed.data_mut().iter_mut().for_each(|v| *v = if random.below(5) == 0 { f64::NAN } else { *v });
    let learn = |m: &Moments| {
        let fit = fit_or(m, 10.0, &Constraints::none(5), &Control::default())?;
        GaussianNetwork::from_structure(&fit, m)
    };
    let (expected, settled) = expected_moments(&holed, &weights, &Control::default(), learn).unwrap();
    assert!(settled);
    for i in 0..5 {
        for j in 0..5 {
            let scale = (complete.gram[(i, i)] * complete.gram[(j, j)]).sqrt();
            let difference = (expected.gram[(i, j)] - complete.gram[(i, j)]).abs() / scale;
            assert!(difference < 0.12, "{i} {j}: {difference}");
        }
    }
    let (same, _) = expected_moments(&x, &weights, &Control::default(), learn).unwrap();
    assert_eq!(same.gram, complete.gram);
}

#[test]
fn bad_networks_and_settings_are_refused() {
    let mut theta = Matrix::zeros(2, 2);
    (theta[(0, 1)], theta[(1, 0)]) = (0.5, 0.5);
    let message = GaussianNetwork::new(&theta, vec![0.0; 2], vec![1.0; 2]).unwrap_err().to_string();
    assert!(message.contains("cycle"), "{message}");
    let empty = Matrix::zeros(2, 2);
    assert!(GaussianNetwork::new(&empty, vec![0.0; 2], vec![1.0, 0.0]).is_err());
    assert!(GaussianNetwork::new(&empty, vec![0.0; 3], vec![1.0; 2]).is_err());
    assert!(GaussianNetwork::new(&empty, vec![0.0, f64::NAN], vec![1.0; 2]).is_err());
    let two = two_classes(10, 3, 1, 2.0);
    let data = two.labelled();
    let control = Control::default();
    let leeway = Leeway { free: 100, slack: 0.01 };
    let mm = |data: &Labelled<'_>, leeway, nu| fit_mm(data, leeway, nu, MmSolver::Smooth, &control);
    for nu in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(mm(&data, leeway, nu).is_err());
    }
    for slack in [-0.01, f64::NAN] {
        assert!(mm(&data, Leeway { slack, ..leeway }, 0.3).is_err());
        assert!(fit_kl(&data, Leeway { slack, ..leeway }, 1.0, &control).is_err());
    }
    for c in [0.0, -1.0, f64::NAN] {
        assert!(fit_kl(&data, leeway, c, &control).is_err());
    }
    let one = vec![0; 20];
    assert!(fit_kl(&Labelled { class: &one, ..data }, leeway, 1.0, &control).is_err());
    assert!(mm(&Labelled { class: &two.class[1..], ..data }, leeway, 0.3).is_err());
}
