//! Theorems of the maximum-likelihood half of the discrete family, checked on random small networks
//! against plain enumeration of all joint states.

use hingenet_base::control::Control;
use hingenet_base::error::Error;
use hingenet_base::graph::Dag;
use hingenet_base::numeric::log::{log_normalise, log_sum_exp};
use hingenet_base::numeric::random::Random;
use hingenet_base::solver::Stopping;
use hingenet_data::table::Codes;
use hingenet_discrete::em::{EM, fit_em};
use hingenet_discrete::inference::{Inference, log_joint_rows};
use hingenet_discrete::structure::{PairStatistics, Root, k_tree, tan};
use hingenet_discrete::{Network, Samples, Structure, counts};
use proptest::prelude::*;

/// Numbers of states of a class and `n` features.
fn random_card(n: usize, random: &mut Random) -> Vec<usize> {
    (0..=n).map(|i| if i == 0 { 2 + random.below(2) } else { 1 + random.below(3) }).collect()
}

/// Any graph: arcs along a random order of the nodes.
fn random_dag(n_nodes: usize, random: &mut Random) -> Dag {
    let order = random.permutation(n_nodes);
    let mut parents = vec![Vec::new(); n_nodes];
    for (at, &i) in order.iter().enumerate() {
        parents[i] = order[..at].iter().copied().filter(|_| random.below(5) < 2).collect();
    }
    Dag::new(parents).unwrap()
}

/// The class, and a forest over the features with random directions; some features without class.
fn random_tree(n: usize, random: &mut Random) -> Dag {
    let order: Vec<usize> = random.permutation(n).into_iter().map(|i| i + 1).collect();
    let mut parents = vec![Vec::new(); n + 1];
    for (at, &i) in order.iter().enumerate() {
        if at > 0 && random.below(4) > 0 {
            parents[i].push(order[random.below(at)]);
        }
        if random.below(5) > 0 {
            parents[i].push(0);
        }
    }
    Dag::new(parents).unwrap()
}

fn random_network(card: Vec<usize>, dag: Dag, random: &mut Random) -> Network {
    let structure = Structure::new(card, dag).unwrap();
    let mut w: Vec<f64> = (0..structure.n_entries()).map(|_| 2.0 * random.normal()).collect();
    for i in 0..structure.n_nodes() {
        w[structure.table(i)].chunks_exact_mut(structure.card()[i]).for_each(|row| {
            log_normalise(row);
        });
    }
    Network::new(structure, w).unwrap()
}

fn random_samples(card: &[usize], n: usize, missing: bool, weights: bool, random: &mut Random) -> Samples {
    let mut columns = Vec::new();
    for (i, &r) in card.iter().enumerate() {
        let cells: Vec<Option<usize>> =
            (0..n).map(|_| (i == 0 || !missing || random.below(3) > 0).then(|| random.below(r))).collect();
        columns.push(Codes::from_options(r, cells.into_iter()));
    }
    let weights = weights.then(|| (0..n).map(|_| random.uniform() + 0.1).collect());
    Samples::new(card.to_vec(), columns, weights).unwrap()
}

/// All joint states.
fn states(card: &[usize]) -> Vec<Vec<usize>> {
    let extend = |list: Vec<Vec<usize>>, &r: &usize| {
        list.iter().flat_map(|s| (0..r).map(move |j| [s.as_slice(), &[j]].concat())).collect()
    };
    card.iter().fold(vec![vec![]], extend)
}

/// `log Σ P(x)` over the joint states that agree with the evidence.
fn enumerate(network: &Network, evidence: &[Option<usize>]) -> f64 {
    let agree = |x: &&Vec<usize>| x.iter().zip(evidence).all(|(x, e)| e.is_none_or(|e| e == *x));
    let all = states(network.structure().card());
    log_sum_exp(&all.iter().filter(agree).map(|x| network.log_joint(|i| x[i])).collect::<Vec<_>>())
}

fn random_evidence(card: &[usize], random: &mut Random) -> Vec<Option<usize>> {
    card.iter().map(|&r| (random.below(2) == 0).then(|| random.below(r))).collect()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * (1.0 + b.abs())
}

/// Eq. (7) for node `k`, its child `i` and all states: both sides are the same marginal.
fn consistency_error(s: &Structure, n: &[f64]) -> f64 {
    let marginal = |i: usize, of: &[Option<usize>]| -> f64 {
        let family: Vec<usize> = s.dag().parents(i).iter().copied().chain([i]).collect();
        let card: Vec<usize> = family.iter().map(|&v| s.card()[v]).collect();
        let agree =
            |x: &&Vec<usize>| family.iter().zip(x.iter()).all(|(&v, x)| of[v].is_none_or(|e| e == *x));
        let all = states(&card);
        let entry = |x: &Vec<usize>| s.entry_of(i, |v| x[family.iter().position(|&f| f == v).unwrap()]);
        all.iter().filter(agree).map(|x| n[entry(x)]).sum()
    };
    let mut error: f64 = 0.0;
    for (k, i) in s.dag().arcs() {
        let shared: Vec<usize> =
            s.dag().parents(k).iter().copied().filter(|&p| s.dag().has_arc(p, i)).chain([k]).collect();
        let card: Vec<usize> = shared.iter().map(|&v| s.card()[v]).collect();
        for x in states(&card) {
            let mut of = vec![None; s.n_nodes()];
            shared.iter().zip(&x).for_each(|(&v, &x)| of[v] = Some(x));
            error = error.max((marginal(k, &of) - marginal(i, &of)).abs());
        }
    }
    error
}

/// A network over a tree of features or any graph, and the random numbers after it.
fn tree_or_graph(seed: u64, tree: bool) -> (Random, Vec<usize>, Network) {
    let mut random = Random::new(seed);
    let card = random_card(5, &mut random);
    let dag = if tree { random_tree(5, &mut random) } else { random_dag(6, &mut random) };
    let network = random_network(card.clone(), dag, &mut random);
    (random, card, network)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// P1: every table sums to the total weight plus α, and the tables agree, Eq. (7), for any graph.
    #[test]
    fn counts_are_consistent_for_every_graph(seed in any::<u64>(), alpha in 0.0..3.0, weighted: bool) {
        let random = &mut Random::new(seed);
        let card = random_card(4, random);
        let s = Structure::new(card.clone(), random_dag(5, random)).unwrap();
        let samples = random_samples(&card, 40, false, weighted, random);
        let n = counts::smoothed_counts(&s, &samples, alpha).unwrap();
        for i in 0..5 {
            let sum: f64 = n[s.table(i)].iter().sum();
            prop_assert!(close(sum, samples.total_weight() + alpha, 1e-12));
        }
        prop_assert!(consistency_error(&s, &n) < 1e-9);
    }

    /// P12 for any graph: missing features are summed out exactly; nothing missing gives the plain scores.
    #[test]
    fn missing_features_equal_enumeration_on_any_graph(seed in any::<u64>(), tree: bool) {
        let (mut random, card, network) = tree_or_graph(seed, tree);
        let samples = random_samples(&card, 12, true, false, &mut random);
        let got = log_joint_rows(&network, &samples.columns()[1..]).unwrap();
        for (m, scores) in got.chunks_exact(card[0]).enumerate() {
            for (c, score) in scores.iter().enumerate() {
                let mut evidence: Vec<_> = samples.columns().iter().map(|column| column.get(m)).collect();
                evidence[0] = Some(c);
                let want = enumerate(&network, &evidence);
                prop_assert!(close(*score, want, 1e-10), "row {m}, class {c}: {score} and {want}");
            }
        }
    }

    /// P12, P13: without any evidence the scores are the class marginal and the evidence is one.
    #[test]
    fn all_missing_gives_the_prior(seed in any::<u64>(), tree: bool) {
        let (_, card, network) = tree_or_graph(seed, tree);
        let nothing: Vec<Codes> = card[1..].iter().map(|_| Codes::U8(vec![Codes::MISSING_U8])).collect();
        let scores = log_joint_rows(&network, &nothing).unwrap();
        prop_assert!(log_sum_exp(&scores).abs() < 1e-10);
        if network.structure().dag().parents(0).is_empty() {
            for (a, b) in scores.iter().zip(network.row(0, 0)) {
                prop_assert!(close(*a, *b, 1e-12));
            }
        }
    }

    /// Log evidence, conditionals of any variables and the best completion equal enumeration.
    #[test]
    fn queries_equal_enumeration(seed in any::<u64>()) {
        let random = &mut Random::new(seed);
        let card = random_card(5, random);
        let network = random_network(card.clone(), random_dag(6, random), random);
        let inference = Inference::new(&network);
        let evidence = random_evidence(&card, random);
        let total = enumerate(&network, &evidence);
        prop_assert!(close(inference.log_evidence(&evidence).unwrap(), total, 1e-10));
        let query = [random.below(6), random.below(6)];
        let table = inference.conditional(&query, &evidence).unwrap();
        let open: Vec<usize> = table.vars.iter().map(|&v| card[v]).collect();
        for (x, got) in states(&open).iter().zip(&table.table) {
            let mut with = evidence.clone();
            table.vars.iter().zip(x).for_each(|(&v, &x)| with[v] = Some(x));
            prop_assert!(close(got.exp(), (enumerate(&network, &with) - total).exp(), 1e-10));
        }
    }

    /// P18: every root of the TAN tree gives the same joint distribution.
    #[test]
    fn the_root_of_a_tan_does_not_matter(seed in any::<u64>()) {
        let random = &mut Random::new(seed);
        let card = random_card(4, random);
        let samples = random_samples(&card, 60, false, false, random);
        let pairs = PairStatistics::new(&samples, &Control::default()).unwrap();
        let fit = |root: Root| {
            let s = tan(&pairs, root).unwrap();
            let n = counts::smoothed_counts(&s, &samples, 1.0).unwrap();
            Network::new(s.clone(), counts::ml_parameters(&s, &n).unwrap()).unwrap()
        };
        let (a, b) = (fit(Root::First), fit(Root::MinParams));
        for x in states(&card) {
            prop_assert!(close(a.log_joint(|i| x[i]), b.log_joint(|i| x[i]), 1e-9));
        }
    }

    /// k-trees satisfy Condition 1 and give every feature as many parents as k and the order allow.
    #[test]
    fn k_trees_have_covering_parents(seed in any::<u64>(), k in 1usize..=4, missing: bool) {
        let random = &mut Random::new(seed);
        let card = random_card(7, random);
        let samples = random_samples(&card, 50, missing, false, random);
        let pairs = PairStatistics::new(&samples, &Control::default()).unwrap();
        let s = k_tree(&pairs, k).unwrap();
        prop_assert!(s.require_c1().is_ok());
        let mut sizes: Vec<usize> = (1..8).map(|i| s.dag().parents(i).len() - 1).collect();
        sizes.sort_unstable();
        prop_assert_eq!(sizes, (0..7).map(|before| before.min(k)).collect::<Vec<_>>());
    }

    /// EM never lowers its objective and, without missing cells, ends in the plain maximum-likelihood parameters.
    #[test]
    fn em_is_monotone(seed in any::<u64>(), tree: bool, missing: bool, alpha in 0.1..2.0) {
        let random = &mut Random::new(seed);
        let card = random_card(4, random);
        let dag = if tree { random_tree(4, random) } else { random_dag(5, random) };
        let s = Structure::new(card.clone(), dag).unwrap();
        let samples = random_samples(&card, 30, missing, true, random);
        let params = Stopping { tolerance: 0.0, max_iterations: 30 };
        let fit = fit_em(&s, &samples, alpha, params, &Control::default()).unwrap();
        for step in fit.trace.windows(2) {
            prop_assert!(step[1] >= step[0] - 1e-9 * (1.0 + step[0].abs()), "{step:?}");
        }
        prop_assert!(fit.network.normalisation_error() < 1e-9);
        if !missing {
            let n = counts::smoothed_counts(&s, &samples, alpha).unwrap();
            for (a, b) in fit.network.w().iter().zip(counts::ml_parameters(&s, &n).unwrap()) {
                prop_assert!(close(*a, b, 1e-9));
            }
        }
    }

    /// The tree E-step and the elimination E-step are the same expectation: EM on a tree gives the same
    /// trace when a barren node forces the general code.
    #[test]
    fn em_by_messages_equals_em_by_elimination(seed in any::<u64>()) {
        let random = &mut Random::new(seed);
        let mut card = random_card(4, random);
        let tree = random_tree(4, random);
        let samples = random_samples(&card, 25, true, false, random);
        let params = Stopping { tolerance: 0.0, max_iterations: 6 };
        let s = Structure::new(card.clone(), tree.clone()).unwrap();
        let plain = fit_em(&s, &samples, 1.0, params, &Control::default()).unwrap();
        // A node of one state with two feature parents: no tree any more, the same likelihood.
        card.push(1);
        let mut parents = tree.parent_lists().to_vec();
        parents.push(vec![1, 2]);
        let wide = Structure::new(card.clone(), Dag::new(parents).unwrap()).unwrap();
        let mut columns = samples.columns().to_vec();
        columns.push(Codes::U8(vec![0; samples.n_rows()]));
        let samples = Samples::new(card, columns, None).unwrap();
        let general = fit_em(&wide, &samples, 1.0, params, &Control::default()).unwrap();
        if !plain.trace.is_empty() {
            for (a, b) in plain.network.w().iter().zip(general.network.w()) {
                prop_assert!(close(*a, *b, 1e-9), "{a} and {b}");
            }
        }
    }
}

#[test]
fn naive_bayes_with_missing_cells_is_the_fixed_point_of_em() {
    let random = &mut Random::new(5);
    let card = vec![2, 3, 2];
    let samples = random_samples(&card, 50, true, false, random);
    let nb = Structure::naive_bayes(card).unwrap();
    let fit = fit_em(&nb, &samples, 1.0, EM, &Control::default()).unwrap();
    assert!(fit.report.converged && fit.report.iterations == 0);
    // A node of one state with two feature parents forces the iterations: they end in the same parameters.
    let dag = Dag::new(vec![vec![], vec![0], vec![0], vec![1, 2]]).unwrap();
    let wide = Structure::new(vec![2, 3, 2, 1], dag).unwrap();
    let mut columns = samples.columns().to_vec();
    columns.push(Codes::U8(vec![0; samples.n_rows()]));
    let samples = Samples::new(wide.card().to_vec(), columns, None).unwrap();
    let params = Stopping { tolerance: 1e-15, max_iterations: 1000 };
    let iterated = fit_em(&wide, &samples, 1.0, params, &Control::default()).unwrap();
    for (a, b) in fit.network.w().iter().zip(iterated.network.w()) {
        assert!(close(*a, *b, 1e-6), "{a} and {b}");
    }
}

#[test]
fn draws_follow_the_distribution_given_evidence() {
    let random = &mut Random::new(11);
    let card = vec![2, 2, 3, 2];
    let network = random_network(card.clone(), random_dag(4, random), random);
    for evidence in [vec![None; 4], vec![None, None, Some(1), None], vec![Some(1), None, None, Some(0)]] {
        let inference = Inference::new(&network);
        let sampler = inference.sampler(&evidence).unwrap();
        let n = 20_000;
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..n {
            *seen.entry(sampler.draw(random)).or_insert(0usize) += 1;
        }
        let total = enumerate(&network, &evidence);
        let mut distance = 0.0;
        for x in states(&card) {
            let possible = x.iter().zip(&evidence).all(|(x, e)| e.is_none_or(|e| e == *x));
            let p = if possible { (network.log_joint(|i| x[i]) - total).exp() } else { 0.0 };
            distance += (p - *seen.get(&x).unwrap_or(&0) as f64 / n as f64).abs() / 2.0;
        }
        // 24 cells: the expected total variation is below 0.5 sqrt(24 / n) = 0.018.
        assert!(distance < 0.03, "{evidence:?}: {distance}");
    }
}

#[test]
fn thousands_of_children_of_a_missing_feature_do_not_underflow() {
    let n = 3000;
    let mut card = vec![2; n + 2];
    card[1] = 3;
    let parents = (0..n + 2).map(|i| match i {
        0 => vec![],
        1 => vec![0],
        _ => vec![0, 1],
    });
    let random = &mut Random::new(2);
    let network = random_network(card.clone(), Dag::new(parents.collect()).unwrap(), random);
    let row: Vec<Option<usize>> = (0..n + 2).map(|i| (i > 1).then(|| random.below(2))).collect();
    let columns: Vec<Codes> =
        (1..n + 2).map(|i| Codes::from_options(card[i], [row[i]].into_iter())).collect();
    let got = log_joint_rows(&network, &columns).unwrap();
    for (c, got) in got.iter().enumerate() {
        let score = |x: usize| {
            network.log_joint(|i| match i {
                0 => c,
                1 => x,
                _ => row[i].unwrap(),
            })
        };
        let want = log_sum_exp(&[score(0), score(1), score(2)]);
        assert!(close(*got, want, 1e-10), "{got} and {want}");
    }
}

/// Log weights of a hidden feature with three states under 2 n observed children: the first n speak
/// against states 0 and 1, the last n speak against state 2 alone. With products of probabilities the
/// first half would lose what the second half decides by.
#[test]
fn children_that_contradict_each_other_are_weighed_exactly() {
    let n = 60;
    let least = 1e-9_f64;
    for extra_parent in [false, true] {
        let mut parents = vec![vec![], vec![0], vec![0]];
        parents.extend((0..2 * n).map(|_| if extra_parent { vec![0, 1, 2] } else { vec![0, 1] }));
        let card: Vec<usize> = (0..2 * n + 3).map(|i| if i == 1 { 3 } else { 2 }).collect();
        let s = Structure::new(card.clone(), Dag::new(parents).unwrap()).unwrap();
        let mut w = vec![0.0; s.n_entries()];
        for i in 0..s.n_nodes() {
            for state in states(&card[..3]) {
                let p = match i {
                    0..3 => 1.0 / card[i] as f64,
                    _ if (state[1] == 2) == (i < 3 + n) => 0.5,
                    _ => least,
                };
                let at = |x: usize| s.entry_of(i, |v| if v == i { x } else { state[v] });
                (1..card[i]).for_each(|x| w[at(x)] = ((1.0 - p) / (card[i] - 1) as f64).ln());
                w[at(0)] = p.ln();
            }
        }
        let network = Network::new(s, w).unwrap();
        let mut columns = vec![Codes::U8(vec![0]); 2 * n + 2];
        columns[0] = Codes::U8(vec![Codes::MISSING_U8]);
        columns[1] = Codes::U8(vec![Codes::MISSING_U8]);
        let got = log_joint_rows(&network, &columns).unwrap();
        // Three states of equal prior, each with n children of probability 1/2 and n of the least.
        let want = 0.5_f64.ln() + n as f64 * (0.5 * least).ln();
        got.iter().for_each(|got| assert!(close(*got, want, 1e-12), "{got} and {want}"));
    }
}

#[test]
fn a_wide_k_tree_agrees_with_elimination_row_by_row() {
    let random = &mut Random::new(12);
    let card: Vec<usize> = (0..41).map(|i| if i == 0 { 5 } else { 2 + i % 3 }).collect();
    let parents = (0..41).map(|i| (i.max(4) - 4..i).filter(|&p| p > 0).chain((i > 0).then_some(0)).collect());
    let network = random_network(card.clone(), Dag::new(parents.collect()).unwrap(), random);
    let samples = random_samples(&card, 300, true, false, random);
    let inference = Inference::new(&network);
    let got = inference.log_joint_rows(&samples.columns()[1..]).unwrap();
    for (m, scores) in got.chunks_exact(5).enumerate() {
        let mut evidence: Vec<_> = samples.columns().iter().map(|column| column.get(m)).collect();
        for (c, score) in scores.iter().enumerate() {
            evidence[0] = Some(c);
            let want = inference.log_evidence(&evidence).unwrap();
            assert!(close(*score, want, 1e-10), "row {m}, class {c}: {score} and {want}");
        }
    }
}

#[test]
fn impossible_states_have_probability_zero_and_never_nan() {
    // α = 0: feature 1 is never 1 in class 0, feature 2 copies feature 1.
    let parents = vec![vec![], vec![0], vec![0, 1]];
    let s = Structure::new(vec![2, 2, 2], Dag::new(parents).unwrap()).unwrap();
    let columns = vec![Codes::U8(vec![0, 0, 1, 1]), Codes::U8(vec![0, 0, 0, 1]), Codes::U8(vec![0, 0, 0, 1])];
    let samples = Samples::new(vec![2, 2, 2], columns, None).unwrap();
    let n = counts::smoothed_counts(&s, &samples, 0.0).unwrap();
    let network = Network::new(s.clone(), counts::ml_parameters(&s, &n).unwrap()).unwrap();
    let rows = vec![Codes::U8(vec![Codes::MISSING_U8, 1]), Codes::U8(vec![1, 0])];
    let got = log_joint_rows(&network, &rows).unwrap();
    assert_eq!(got[0], f64::NEG_INFINITY);
    assert!(close(got[1], 0.25f64.ln(), 1e-12));
    assert_eq!(got[2..], [f64::NEG_INFINITY; 2]);
    let impossible = [None, Some(1), Some(0)];
    assert!(Inference::new(&network).sampler(&impossible).is_err());
    assert!(Inference::new(&network).conditional(&[0], &impossible).is_err());
}

#[test]
fn a_network_too_wide_for_exact_inference_is_an_error_that_says_so() {
    // 13 unobserved features with 4 states; every two of them share an observed child.
    let n = 13;
    let mut parents = vec![vec![]; n + 1];
    let mut card = vec![4; n + 1];
    card[0] = 2;
    for a in 1..=n {
        for b in a + 1..=n {
            parents.push(vec![a, b]);
            card.push(2);
        }
    }
    let mut columns = vec![Codes::U8(vec![Codes::MISSING_U8]); n];
    columns.resize(card.len() - 1, Codes::U8(vec![0]));
    let network = random_network(card, Dag::new(parents).unwrap(), &mut Random::new(1));
    let error = log_joint_rows(&network, &columns).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("exact inference"));
}

#[test]
fn results_have_the_same_bits_on_1_2_and_8_threads() {
    let random = &mut Random::new(8);
    let card = vec![3, 4, 2, 3, 40, 2];
    let complete = random_samples(&card, 40_000, false, false, random);
    let gaps = random_samples(&card, 3000, true, true, random);
    let run = || {
        let control = Control::default();
        let mut bits: Vec<u64> = Vec::new();
        for samples in [&complete, &gaps] {
            let pairs = PairStatistics::new(samples, &control).unwrap();
            let s = tan(&pairs, Root::First).unwrap();
            let params = Stopping { tolerance: 0.0, max_iterations: 5 };
            let network = if samples.has_missing() {
                fit_em(&s, samples, 1.0, params, &control).unwrap().network
            } else {
                let n = counts::smoothed_counts(&s, samples, 1.0).unwrap();
                Network::new(s.clone(), counts::ml_parameters(&s, &n).unwrap()).unwrap()
            };
            let scores = log_joint_rows(&network, &gaps.columns()[1..]).unwrap();
            bits.extend(network.w().iter().chain(&scores).map(|x| x.to_bits()));
        }
        bits
    };
    let on =
        |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run);
    let one = on(1);
    assert!(one == on(2) && one == on(8));
}
