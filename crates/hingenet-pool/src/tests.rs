//! Check values of the four terms and of the pool on eight rows, computed independently to the digits
//! printed here, and properties of the parts that are not visible from outside.

use super::fit::fit;
use super::params::PoolParams;
use super::points::completion::{self, Completion};
use super::points::moments::Sample;
use super::points::prototypes::Prototypes;
use super::points::{Encoded, Encoding, Transform};
use super::rows::{CellsSeen, ColumnFacts, Labelled, identifiers};
use super::terms::averaged::Averaged;
use super::terms::density::Density;
use super::terms::gaussian::{Gaussian, GaussianChoice};
use super::terms::kernels::{Kept, Kernels};
use super::terms::machine::centres::Panel;
use super::terms::machine::fit::{left_out_values, solve_machines};
use super::terms::machine::gram::Gram;
use super::terms::machine::kernel::Kernel;
use super::terms::machine::{Decision, Machine, choose_scale, probabilities, targets};
use super::terms::{TermModel, TermScores};
use super::weights::{Cases, PoolWeights};
use hingenet_base::control::Control;
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::random::Random;
use hingenet_base::optimise::squared_hinge::SquaredHinge;
use hingenet_data::classifier::Classifier;
use hingenet_data::rows::Rows;
use hingenet_data::table::{Codes, Column, Table};
use std::sync::{Arc, Mutex};

const NAN: f64 = f64::NAN;

const NO_LEVEL: usize = usize::MAX;

fn levels(name: &str, count: usize, codes: &[usize]) -> Column {
    let names = (0..count).map(|c| c.to_string()).collect();
    let cells = codes.iter().map(|&c| (c != NO_LEVEL).then_some(c));
    Column::categorical(name, names, Codes::from_options(count, cells))
}

fn rows(x1: &[f64], x2: &[f64], x3: &[usize]) -> Table {
    let numbers = |name: &str, x: &[f64]| Column::numeric(name, x.to_vec());
    Table::new(vec![numbers("x1", x1), numbers("x2", x2), levels("x3", 2, x3)]).unwrap()
}

/// The eight rows of the check values, sorted by class.
fn training() -> Labelled {
    Labelled {
        features: rows(
            &[0.0, 1.0, 2.0, 1.0, 3.0, 4.0, 5.0, 4.0],
            &[1.0, 2.0, 0.0, 4.0, 4.0, 3.0, 5.0, 1.0],
            &[0, 1, 0, 0, 1, 1, 0, 1],
        ),
        class: vec![0, 0, 0, 0, 1, 1, 1, 1],
        weight: vec![1.0; 8],
        classes: vec!["r".into(), "s".into()],
    }
}

/// q1 = (2.5, ?, 1), q2 = (?, 2, ?), q3 = (1, 2, 1).
fn queries() -> Table {
    rows(&[2.5, NAN, 1.0], &[NAN, 2.0, 2.0], &[1, NO_LEVEL, 1])
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (f, w) in found.iter().zip(wanted) {
        assert!((f - w).abs() < 6e-11 * w.abs().max(1.0), "{found:?}\n{wanted:?}");
    }
}

fn density(power: f64) -> Density {
    let training = training();
    let encoding = Encoding::learn(&training.features, &training.weight, Transform::Identity, true);
    Density::new(encoding, &training, &[1.0, 0.5, 2.0], power)
}

fn density_scores(density: &Density, rows: &Table, own: Option<usize>) -> Vec<f64> {
    let encoded = density.encoding.encode(rows);
    let all: Vec<usize> = (0..rows.n_rows()).collect();
    let mut distances = density.distances(&encoded, &all);
    let mut out = Vec::new();
    for i in all {
        let sums = density.kernel_sums(distances.row_mut(i), own);
        let mut scores = vec![0.0; 2];
        density.scores(&sums, own, &mut scores);
        out.extend(scores);
    }
    out
}

const P_SCORES: [f64; 6] =
    [-1.9528796076, -1.2771175015, -1.0079711834, -1.1696879974, -1.5203911398, -2.4356898581];
const G_SCORES: [f64; 6] =
    [-3.1095995278, -0.9096023990, -0.5930731661, -0.9358872124, -0.1177293083, -9.5357902590];

#[test]
fn density_has_the_check_values() {
    let density = density(0.5);
    close(&density_scores(&density, &queries(), None), &P_SCORES);
    let third = queries().rows(&[2]);
    close(&density_scores(&density, &third, Some(1)), &[-2.0807612734, -2.4356898581]);
    let distances = density.distances(&density.encoding.encode(&queries()), &[0]);
    close(
        distances.row(0),
        &[
            5.2330008141,
            1.0020639857,
            2.5608301856,
            3.4515537285,
            0.1113404429,
            1.0020639857,
            5.2330008141,
            1.0020639857,
        ],
    );
}

fn gaussian() -> Gaussian {
    let choice = GaussianChoice { transform: Transform::Identity, pooled: 0.5, diagonal: 0.2 };
    Gaussian::fit(&training(), choice).unwrap()
}

#[test]
fn gaussians_have_the_check_values() {
    let gaussian = gaussian();
    close(&gaussian.scores(&queries()).unwrap(), &G_SCORES);
    let sigma = &gaussian.covariances[0];
    close(sigma.row(0), &[0.1819181818, -0.0363636364, 0.0213200716]);
    close(&sigma.row(1)[1..], &[0.7955545455, 0.0213200716]);
    close(&sigma.row(2)[2..], &[0.09385]);
}

#[test]
fn averaged_networks_have_the_check_values() {
    let table = |x1: &[usize], x2: &[usize], x3: &[usize]| {
        Table::new(vec![levels("x1", 6, x1), levels("x2", 6, x2), levels("x3", 2, x3)]).unwrap()
    };
    let training = Labelled {
        features: table(&[0, 1, 2, 1, 3, 4, 5, 4], &[1, 2, 0, 4, 4, 3, 5, 1], &[0, 1, 0, 0, 1, 1, 0, 1]),
        ..training()
    };
    let queries = table(&[2, NO_LEVEL, 1], &[NO_LEVEL, 2, 2], &[1, NO_LEVEL, 1]);
    let averaged = Averaged::fit(&training, &Control::default()).unwrap();
    close(
        &averaged.scores(&queries).unwrap(),
        &[-4.0455543981, -4.9210231354, -2.1484344132, -4.0943445622, -2.9359698001, -8.2269103373],
    );
}

/// The definition, state by state, with columns of one state among the others: as leaves they tell nothing, as roots they
/// vote.
#[test]
fn averaged_networks_with_columns_of_one_state_are_those_of_the_definition() {
    let codes = [vec![0, 1, 2, 1, 0, 2, 1, 2], vec![0; 8], vec![1, 0, 0, 0, 1, 1, 0, 1], vec![0; 8]];
    let counts = [3, 1, 2, 1];
    let column = |j: usize| levels(&format!("x{j}"), counts[j], &codes[j]);
    let training = Labelled { features: Table::new((0..4).map(column).collect()).unwrap(), ..training() };
    let averaged = Averaged::fit(&training, &Control::default()).unwrap();
    let query = [1, 0, 1, 0];
    let asked = Table::new((0..4).map(|j| levels(&format!("x{j}"), counts[j], &[query[j]])).collect());
    let count = |c: usize, cells: &[(usize, usize)]| {
        let has = |i: &usize| training.class[*i] == c && cells.iter().all(|&(j, a)| codes[j][*i] == a);
        (0..8).filter(has).count() as f64
    };
    let wanted: Vec<f64> = (0..2)
        .map(|c| {
            let single =
                |j: usize| (count(c, &[(j, query[j])]) + 1.0 / counts[j] as f64) / (count(c, &[]) + 1.0);
            let pair = |j: usize, s: usize| {
                (count(c, &[(j, query[j]), (s, query[s])]) + single(j)) / (count(c, &[(s, query[s])]) + 1.0)
            };
            let star = |s: usize| -> f64 {
                (count(c, &[]) + 0.5) / 9.0
                    * single(s)
                    * (0..4).filter(|j| *j != s).map(|j| pair(j, s)).product::<f64>()
            };
            ((0..4).map(star).sum::<f64>() / 4.0).ln()
        })
        .collect();
    close(&averaged.scores(&asked.unwrap()).unwrap(), &wanted);
}

#[test]
fn the_kernel_machine_has_the_check_values() {
    let training = training();
    let encoding = Encoding::learn(&training.features, &training.weight, Transform::Identity, true);
    let encoded = encoding.encode(&training.features);
    let sample = Sample { encoding: &encoding, encoded: &encoded, rows: &training };
    let kernel = Kernel::new(1.0, &[1.0; 4], &sample.variances());
    let gram = Gram::stored(&kernel, &encoded.values);
    let (class, weight) = (&training.class, &training.weight);
    let solutions = solve_machines(&gram, class, weight, 2, 0.03, None, &Control::default()).unwrap();
    assert!(solutions[0].report.converged);
    close(
        &solutions[0].beta,
        &[
            -0.0199570911,
            -0.8795563408,
            -1.0447827702,
            -1.0917222642,
            1.1753035281,
            0.0,
            0.6676465360,
            1.2042321468,
        ],
    );
    let left_out = left_out_values(&solutions, class, 2);
    close(
        left_out.data(),
        &[
            -0.9855930699,
            -0.3800816403,
            -0.1735233209,
            -0.0124068835,
            0.0535469783,
            1.2872998727,
            0.2702481478,
            -0.1764658938,
        ],
    );
    let (scale, _) = choose_scale(&left_out, class, weight, 2);
    close(&[scale], &[3.6753230942]);
    let beta = [solutions[0].beta.clone()];
    let machine = Machine::new(kernel, &encoding.groups, &encoded.values, &beta, scale);
    let decide = |points: &Matrix| {
        Decision::values(
            &machine,
            &Panel { points: points.data(), count: points.rows(), shared: None, own: None },
        )
    };
    let third = encoding.encode(&queries()).values.select(&[2], &[0, 1, 2, 3]);
    close(decide(&third).data(), &[-0.9736133098]);

    // completions of q1
    let completion =
        Completion::new(encoding.clone(), encoded.values.clone(), completion::covariance(&sample).unwrap())
            .unwrap();
    let density = density(0.5);
    let query = density.encoding.encode(&queries());
    let mut distances = density.distances(&query, &[0]);
    let sums = density.kernel_sums(distances.row_mut(0), None);
    let drawn = density.draws(distances.row(0), &sums, 4);
    assert_eq!(drawn, [(1, 1), (4, 1), (5, 1), (7, 1)]);
    let conditional = completion.conditional(query.pattern(0)).unwrap();
    let mut points = Vec::new();
    drawn.iter().for_each(|(i, _)| completion.complete(&conditional, query.values.row(0), *i, &mut points));
    let points = Matrix::from_vec(4, 4, points).unwrap();
    close(&points.col(1), &[-0.5246434931, 0.9789114166, 0.5246434931, -0.6814018852]);
    let values = decide(&points);
    close(values.data(), &[0.0590192047, 0.6252297225, 0.4966576470, 0.0054514433]);
    let mut mean = [0.0; 2];
    for i in 0..4 {
        let mut p = [0.0; 2];
        probabilities(values.row(i), scale, &mut p);
        (0..2).for_each(|c| mean[c] += p[c] / 4.0);
    }
    close(&mean, &[0.2296256655, 0.7703743345]);

    // the term as a whole: the mean over completions; with nothing missing, softmax(b f)
    let complete = decide(&third);
    let kernels = Kernels {
        columns: ColumnFacts::of(&training.features),
        kept: Kept::Rows(training.clone()),
        density,
        completion,
        machine,
        draws: 4,
    };
    let (_, k) = kernels.scores(&queries(), &[true; 3]).unwrap();
    let floored = |p: f64| ((p + 0.0005) / 1.001).ln();
    close(&k[..2], &mean.map(floored));
    let mut p = [0.0; 2];
    probabilities(complete.data(), scale, &mut p);
    close(&k[4..], &p.map(floored));
}

#[test]
fn the_pool_of_two_terms_has_the_check_values() {
    let scores = TermScores {
        n_classes: 2,
        terms: [
            density_scores(&density(0.5), &queries(), None),
            vec![0.0; 6],
            gaussian().scores(&queries()).unwrap(),
            vec![0.0; 6],
        ],
    };
    let weights = PoolWeights([[0.5, 0.4, 0.3, 0.2], [0.0; 4], [0.1, 0.2, 0.3, 0.4], [0.0; 4]]);
    let missing = [1.0 / 3.0, 2.0 / 3.0, 0.0];
    let pooled: Vec<f64> = (0..3).flat_map(|i| scores.pooled(i, &weights, missing[i])).collect();
    close(
        &pooled,
        &[-1.1214696319, -0.3942294190, -0.6184703383, -0.7738539793, -0.2205251534, -1.6199806076],
    );
}

/// Two noisy classes in `d` dimensions.
fn noisy(n: usize, d: usize, seed: u64) -> (Matrix, Vec<usize>) {
    let mut random = Random::new(seed);
    let class: Vec<usize> = (0..n).map(|i| i % 2).collect();
    let points = Matrix::from_fn(n, d, |i, _| random.normal() + 0.8 * class[i] as f64);
    (points, class)
}

#[test]
fn the_newton_solution_satisfies_the_optimality_conditions() {
    let (points, class) = noisy(120, 3, 1);
    let weight: Vec<f64> = (0..120).map(|i| 1.0 + (i % 3) as f64).collect();
    for ridge in [0.001, 0.03, 1.0] {
        let gram = Gram::stored(&Kernel::new(1.0, &[1.0; 3], &[1.0; 3]), &points);
        let solutions = solve_machines(&gram, &class, &weight, 2, ridge, None, &Control::default()).unwrap();
        let target = targets(&class, 2, 0);
        for i in 0..120 {
            let slack = (1.0 - target[i] * solutions[0].values[i]).max(0.0);
            let wanted = weight[i] * target[i] * slack;
            assert!((ridge * solutions[0].beta[i] - wanted).abs() < 1e-9 * (1.0 + wanted.abs()));
        }
    }
}

#[test]
fn closed_form_leave_one_out_equals_refitting_without_the_row() {
    let (points, class) = noisy(80, 2, 2);
    let kernel = Kernel::new(0.5, &[1.0; 2], &[1.0; 2]);
    let gram = Gram::stored(&kernel, &points);
    let matrix = kernel.left(&points).block(&kernel.right(&points));
    let weight = vec![1.0; 80];
    let target = targets(&class, 2, 0);
    let solution =
        solve_machines(&gram, &class, &weight, 2, 1.0, None, &Control::default()).unwrap().remove(0);
    let left_out = solution.left_out(&target);
    let mut unchanged = 0;
    for i in 0..80 {
        let keep: Vec<usize> = (0..80).filter(|&r| r != i).collect();
        let part = Gram::Stored(matrix.select(&keep, &keep));
        let kept: Vec<f64> = keep.iter().map(|&r| target[r]).collect();
        let machine = SquaredHinge { kernel: &part, labels: &kept, ridges: &weight[1..], intercept: false };
        let refit = machine.solve(None, &Control::default()).unwrap();
        let active: Vec<usize> = refit.active.iter().map(|&r| keep[r]).collect();
        let expected: Vec<usize> = solution.active.iter().copied().filter(|&r| r != i).collect();
        if active == expected {
            let row: Vec<f64> = keep.iter().map(|&r| matrix[(i, r)]).collect();
            assert!((dot(&row, &refit.beta) - left_out[i]).abs() < 1e-9);
            unchanged += 1;
        }
    }
    assert!(unchanged > 40, "{unchanged}");
}

#[test]
fn leaving_a_row_out_of_the_density_equals_fitting_without_it() {
    let all = training();
    let full = density(0.5);
    for i in 0..8 {
        let keep: Vec<usize> = (0..8).filter(|&r| r != i).collect();
        let row = all.features.rows(&[i]);
        let part = Density::new(full.encoding.clone(), &all.select(&keep), &[1.0, 0.5, 2.0], 0.5);
        let mut wanted = density_scores(&part, &row, None);
        // the prior is that of all rows
        wanted.iter_mut().zip(full.log_prior()).zip(part.log_prior()).for_each(|((w, f), p)| *w += f - p);
        close(&density_scores(&full, &row, Some(i)), &wanted);
    }
}

#[test]
fn density_marginals_are_sums_over_the_levels_of_a_missing_category() {
    // the kernel of a category is k(b|a) ∝ exp(−½ λ [a ≠ b]): summing it over b gives one constant
    let density = density(0.0);
    let with = |level: usize| density_scores(&density, &rows(&[2.5], &[1.5], &[level]), None);
    let without = density_scores(&density, &rows(&[2.5], &[1.5], &[NO_LEVEL]), None);
    let constant = (1.0 + (-0.5f64 * 2.0).exp()).ln();
    for c in 0..2 {
        let sum = (with(0)[c].exp() + with(1)[c].exp()).ln();
        assert!((sum - constant - without[c]).abs() < 1e-12);
    }
}

#[test]
fn density_and_gaussian_marginals_are_integrals_over_a_missing_number() {
    let (density, gaussian) = (density(0.0), gaussian());
    let step = 0.01;
    let mut sums = [[0.0; 2]; 2];
    for i in -3000..3000 {
        let row = rows(&[2.5], &[2.0 + i as f64 * step], &[1]);
        for (sum, scores) in
            sums.iter_mut().zip([density_scores(&density, &row, None), gaussian.scores(&row).unwrap()])
        {
            (0..2).for_each(|c| sum[c] += step * scores[c].exp());
        }
    }
    let row = rows(&[2.5], &[NAN], &[1]);
    let direct = [density_scores(&density, &row, None), gaussian.scores(&row).unwrap()];
    for (sum, direct) in sums.iter().zip(direct) {
        // constants common to the classes cancel
        let (found, wanted) = ((sum[0] / sum[1]).ln(), direct[0] - direct[1]);
        assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
    }
}

#[test]
fn the_pool_weights_are_optimal_and_not_worse_than_the_start() {
    let mut random = Random::new(3);
    let (n, k) = (210, 3);
    let class: Vec<usize> = (0..n).map(|_| random.below(k)).collect();
    let mut terms = Vec::new();
    for &y in &class {
        for f in 0..4 {
            let mut scores: Vec<f64> =
                (0..k).map(|c| random.normal() + if c == y { f as f64 } else { 0.0 }).collect();
            super::weights::floored_posterior(&mut scores);
            terms.extend(scores);
        }
    }
    let missing: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
    let prior = PoolWeights::of_other_tables(n);
    let cases = Cases { n_classes: k, terms, missing, class, weight: vec![1.0; n], copies: 7.0, rows: n };
    let (weights, report) = cases.fit(&Control::default()).unwrap();
    assert!(report.converged && report.gap.unwrap() < 1e-6, "{report:?}");
    assert!(report.objective <= cases.value(&prior));
    assert!(weights.0.iter().flatten().all(|w| *w >= 0.0));
    // moving any single weight does not help
    for f in 0..4 {
        for knot in 0..4 {
            for step in [-1e-3, 1e-3] {
                let mut other = weights;
                other.0[f][knot] = (other.0[f][knot] + step).max(0.0);
                assert!(cases.value(&other) >= report.objective - 1e-12);
            }
        }
    }
}

#[test]
fn without_cases_the_weights_are_those_of_other_tables() {
    let prior = PoolWeights::of_other_tables(30);
    let none = Cases {
        n_classes: 2,
        terms: Vec::new(),
        missing: Vec::new(),
        class: Vec::new(),
        weight: Vec::new(),
        copies: 7.0,
        rows: 30,
    };
    assert_eq!(none.fit(&Control::default()).unwrap().0, prior);
    // fewer rows, less trust; the Gaussians lose most of it
    let sum = |rows: usize| PoolWeights::of_other_tables(rows).at(0.0).iter().sum::<f64>();
    assert!(sum(5) < sum(30) && sum(30) < sum(120) && sum(1000) == sum(100_000) && sum(0) == sum(5));
    let share = |rows: usize| PoolWeights::of_other_tables(rows).at(0.0)[2] / sum(rows);
    assert!(share(10) < share(60));
    assert!(PoolWeights::of_other_tables(2).0.iter().flatten().all(|w| *w >= 0.0));
}

/// Names of 150 rows, of which two share one, change nothing: the pool is that of rows whose names are not known.
#[test]
fn a_column_that_names_the_rows_is_not_used() {
    let n = 150;
    let plain = mixed(n, 4, 0.0);
    let with_names = |known: bool| {
        let name = |i: usize| known.then_some(if i < 2 { 0 } else { i });
        let categories = (0..n).map(|i| format!("patient {i}")).collect();
        let mut columns = plain.features.columns().to_vec();
        columns.push(Column::categorical("id", categories, Codes::from_options(n, (0..n).map(name))));
        Labelled { features: Table::new(columns).unwrap(), ..plain.clone() }
    };
    let (named, nameless) = (with_names(true), with_names(false));
    assert_eq!(identifiers(&named.features), [3]);
    assert!(identifiers(&plain.features).is_empty() && identifiers(&nameless.features).is_empty());
    let few: Vec<usize> = (0..15).collect();
    assert!(identifiers(&named.features.rows(&few)).is_empty(), "too few rows to say so");
    let fitted = |rows: &Labelled| {
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let heard = warnings.clone();
        let control = Control::default().on_warning(move |w| heard.lock().unwrap().push(w.to_string()));
        let rows = Rows::of(&rows.dataset("class").unwrap()).unwrap();
        let pool = fit(&rows, &PoolParams::default(), [None, None], &control).unwrap();
        (pool, warnings.lock().unwrap().join("\n"))
    };
    let ((a, warned), (b, silent)) = (fitted(&named), fitted(&nameless));
    assert!(warned.contains("column `id` is not used") && !silent.contains("not used"), "{warned}\n{silent}");
    assert_eq!(a.terms.kernels.columns[3].cells, CellsSeen::None);
    let queries = mixed(9, 5, 0.3).features;
    let queries = Table::new(
        [queries.columns(), &nameless.features.rows(&(0..9).collect::<Vec<_>>()).columns()[3..]].concat(),
    )
    .unwrap();
    assert_eq!(a.log_proba(&queries).unwrap(), b.log_proba(&queries).unwrap());
}

#[test]
fn kernel_values_may_be_stored_or_computed_when_needed() {
    let (points, class) = noisy(300, 3, 5);
    let kernel = Kernel::new(1.0, &[1.0; 3], &[1.0; 3]);
    let weight: Vec<f64> = (0..300).map(|i| 1.0 + (i % 2) as f64).collect();
    let solve = |gram: Gram| {
        solve_machines(&gram, &class, &weight, 2, 0.03, None, &Control::default()).unwrap().remove(0)
    };
    let stored = solve(Gram::stored(&kernel, &points));
    let computed = solve(Gram::computed(&kernel, &points));
    assert_eq!(stored.active, computed.active);
    for (a, b) in stored.values.iter().zip(&computed.values) {
        assert!((a - b).abs() < 1e-9);
    }
}

#[test]
fn permuting_features_and_classes_permutes_the_scores() {
    let all = training();
    let swapped = |rows: &Table| rows.select(&[2, 0, 1]);
    // class 1 becomes class 0, so its rows come first
    let other = Labelled { features: swapped(&all.features.rows(&[4, 5, 6, 7, 0, 1, 2, 3])), ..all.clone() };
    let reversed =
        |scores: Vec<f64>| -> Vec<f64> { scores.chunks_exact(2).flat_map(|r| [r[1], r[0]]).collect() };
    let encoding = Encoding::learn(&other.features, &other.weight, Transform::Identity, true);
    let permuted = Density::new(encoding, &other, &[2.0, 1.0, 0.5], 0.5);
    close(&reversed(density_scores(&permuted, &swapped(&queries()), None)), &P_SCORES);
    let choice = GaussianChoice { transform: Transform::Identity, pooled: 0.5, diagonal: 0.2 };
    let gaussian = Gaussian::fit(&other, choice).unwrap();
    close(&reversed(gaussian.scores(&swapped(&queries())).unwrap()), &G_SCORES);
    let averaged = |rows: &Labelled| Averaged::fit(rows, &Control::default()).unwrap();
    let found = reversed(averaged(&other).scores(&swapped(&queries())).unwrap());
    close(&found, &averaged(&all).scores(&queries()).unwrap());
}

/// Rows of two numbers, one of few values, and a category, some cells missing.
fn mixed(n: usize, seed: u64, gaps: f64) -> Labelled {
    let mut random = Random::new(seed);
    let mut class: Vec<usize> = (0..n).map(|i| i % 2).collect();
    class.sort_unstable();
    let mut number = |of: &dyn Fn(&mut Random) -> f64| -> Vec<f64> {
        (0..n).map(|_| if random.uniform() < gaps { NAN } else { of(&mut random) }).collect()
    };
    let (x1, x2) = (number(&|r| r.normal()), number(&|r| r.below(5) as f64));
    let x3: Vec<usize> = number(&|r| r.below(3) as f64)
        .iter()
        .map(|v| if v.is_nan() { NO_LEVEL } else { *v as usize })
        .collect();
    let numbers = |name: &str, x: Vec<f64>| Column::numeric(name, x);
    let features = Table::new(vec![numbers("x1", x1), numbers("x2", x2), levels("x3", 3, &x3)]).unwrap();
    let weight = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
    Labelled { features, class, weight, classes: vec!["r".into(), "s".into()] }
}

/// `Σ_{j∈o} λ_j D_j`, by the definition: over encoded columns, with means and mean squares of the class for missing
/// training cells.
#[test]
fn distances_by_columns_and_codes_are_those_of_the_indicator_columns() {
    let (training, queries) = (mixed(2500, 1, 0.2), mixed(9, 2, 0.4));
    let encoding = Encoding::learn(&training.features, &training.weight, Transform::Identity, true);
    let metric = [0.7, 1.3, 2.0];
    let density = Density::new(encoding.clone(), &training, &metric, 0.5);
    let (points, asked) = (encoding.encode(&training.features), encoding.encode(&queries.features));
    let all: Vec<usize> = (0..9).collect();
    let found = density.distances(&asked, &all);
    let mean = |i: usize, j: usize, of: &dyn Fn(usize) -> f64| {
        let same = |m: &usize| training.class[*m] == training.class[i] && points.pattern(*m)[j];
        let rows: Vec<usize> = (0..2500).filter(same).collect();
        let total: f64 = rows.iter().map(|&m| training.weight[m]).sum();
        rows.iter().map(|&m| training.weight[m] * of(m)).sum::<f64>() / total
    };
    for q in 0..9 {
        let scale = (3.0 / asked.n_observed(q).max(1) as f64).powf(0.5);
        for i in (0..2500).step_by(7) {
            let mut wanted = 0.0;
            for j in (0..3).filter(|&j| asked.pattern(q)[j]) {
                for a in encoding.groups[j].clone() {
                    let (e, cell) = (asked.values[(q, a)], |m: usize| points.values[(m, a)]);
                    let [first, second] = match points.pattern(i)[j] {
                        true => [cell(i), cell(i).powi(2)],
                        false => [mean(i, j, &cell), mean(i, j, &|m| cell(m).powi(2))],
                    };
                    wanted += scale * metric[j] * (e * e - 2.0 * e * first + second);
                }
            }
            assert!((found[(q, i)] - wanted).abs() < 1e-12 * (1.0 + wanted), "{} {wanted}", found[(q, i)]);
        }
    }
}

/// Values of panels of every width, with features in common and without, against the kernel matrix.
#[test]
fn panels_have_the_values_of_the_kernel_matrix() {
    let training = mixed(300, 3, 0.0);
    let encoding = Encoding::learn(&training.features, &training.weight, Transform::Identity, true);
    let points = encoding.encode(&training.features).values;
    let p = points.cols();
    let kernel = Kernel::new(2.0, &[1.0, 0.5, 2.0, 2.0, 2.0], &[1.0; 5]);
    let mut random = Random::new(4);
    let beta: Vec<Vec<f64>> = (0..3)
        .map(|_| (0..300).map(|_| if random.uniform() < 0.5 { 0.0 } else { random.normal() }).collect())
        .collect();
    let machine = Machine::new(kernel.clone(), &encoding.groups, &points, &beta, 1.0);
    for count in 1..=12 {
        for shared in [None, Some([true, false, false]), Some([false, true, true]), Some([true; 3])] {
            let mut asked = Matrix::from_fn(count, p, |_, _| random.normal());
            for (j, _) in shared.iter().flatten().enumerate().filter(|(_, s)| **s) {
                for (l, a) in (1..count).flat_map(|l| encoding.groups[j].clone().map(move |a| (l, a))) {
                    asked[(l, a)] = asked[(0, a)];
                }
            }
            let shared = shared.as_ref().map(|s| &s[..]);
            let panel = Panel { points: asked.data(), count: asked.rows(), shared, own: None };
            let found = Decision::values(&machine, &panel);
            let matrix = kernel.left(&asked).block(&kernel.right(&points));
            for (m, beta) in beta.iter().enumerate() {
                for (l, wanted) in matrix.mul_vec(beta).into_iter().enumerate() {
                    assert!((found[(l, m)] - wanted).abs() < 1e-11, "{} {wanted}", found[(l, m)]);
                }
            }
        }
    }
}

/// Two clouds of six rows in each class, far apart: four groups.
fn clouds() -> (Encoding, Matrix, Labelled) {
    let mut random = Random::new(6);
    let points = Matrix::from_fn(24, 2, |i, _| random.normal() + 100.0 * (i / 6 % 2) as f64);
    let columns = |a: usize| Column::numeric(format!("x{a}"), points.col(a));
    let features = Table::new(vec![columns(0), columns(1)]).unwrap();
    let class = (0..24).map(|i| i / 12).collect();
    let rows = Labelled { features, class, weight: vec![1.0; 24], classes: vec!["r".into(), "s".into()] };
    (Encoding::learn(&rows.features, &rows.weight, Transform::Identity, true), points, rows)
}

#[test]
fn prototypes_tell_the_means_of_their_groups_and_nothing_of_single_rows() {
    let (encoding, points, rows) = clouds();
    let of = |points: &Matrix| Prototypes::new(&encoding, points, &rows, &[1.0; 2], 6);
    let before = of(&points);
    assert_eq!((&before.sizes[..], &before.class[..]), (&[6; 4][..], &[0, 0, 1, 1][..]));
    // one cell moves the mean of its group by its share, and nothing else
    let mut moved = points.clone();
    moved[(7, 1)] += 0.3;
    let after = of(&moved);
    for k in 0..4 {
        let own = (0..24).filter(|i| i / 6 == k).map(|i| points[(i, 1)]).sum::<f64>() / 6.0;
        assert!((before.means[(k, 1)] - own).abs() < 1e-12);
        let wanted = if k == 1 { 0.05 } else { 0.0 };
        assert!((after.means[(k, 1)] - before.means[(k, 1)] - wanted).abs() < 1e-12);
        assert_eq!(after.means[(k, 0)], before.means[(k, 0)]);
        assert!(k == 1 || after.variances[(k, 1)] == before.variances[(k, 1)]);
    }
    // two rows of a group that exchange a cell leave its prototype as it is
    let mut exchanged = points.clone();
    (exchanged[(0, 0)], exchanged[(3, 0)]) = (points[(3, 0)], points[(0, 0)]);
    let after = of(&exchanged);
    for (a, b) in [(&after.means, &before.means), (&after.variances, &before.variances)] {
        assert!(a.data().iter().zip(b.data()).all(|(x, y)| (x - y).abs() < 1e-11));
    }
}

/// The kernel of a prototype is the mean kernel of what it stands for: numbers are normal, categories have their shares.
#[test]
fn kernels_of_prototypes_are_means_over_their_groups() {
    let training = mixed(40, 7, 0.0);
    let encoding = Encoding::learn(&training.features, &training.weight, Transform::Identity, true);
    let height = std::f64::consts::FRAC_1_SQRT_2;
    let prototypes = Prototypes {
        means: Matrix::from_vec(
            2,
            5,
            vec![0.3, -0.2, 0.5 * height, 0.5 * height, 0.0, 1.0, 0.0, 0.0, 0.0, height],
        )
        .unwrap(),
        variances: Matrix::from_vec(2, 3, vec![0.4, 0.1, 0.0, 0.2, 0.0, 0.0]).unwrap(),
        weight: vec![3.0, 1.0],
        sizes: vec![3, 2],
        class: vec![0, 1],
        n_classes: 2,
    };
    let metric = [0.7, 1.3, 2.0];
    let density = Density::of_prototypes(encoding.clone(), &prototypes, &metric, 0.0);
    let x = [-0.6, 0.4];
    let point = Encoded {
        values: Matrix::from_vec(1, 5, vec![x[0], x[1], 0.0, height, 0.0]).unwrap(),
        observed: vec![true; 3],
        n_features: 3,
    };
    let found = density.distances(&point, &[0]);
    for (k, share) in [0.5, 0.0].into_iter().enumerate() {
        let mut wanted = share + (1.0 - share) * (-0.5 * metric[2]).exp();
        for j in 0..2 {
            let (m, v) = (prototypes.means[(k, j)], prototypes.variances[(k, j)]);
            // mean of the kernel over a normal number, by the midpoint rule
            let steps = 20_000;
            let mean: f64 = (0..steps)
                .map(|i| {
                    let z: f64 = -8.0 + 16.0 * (i as f64 + 0.5) / steps as f64;
                    let kernel = (-0.5 * metric[j] * (x[j] - m - v.sqrt() * z).powi(2)).exp();
                    kernel * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt() * 16.0 / steps as f64
                })
                .sum();
            wanted *= mean;
        }
        assert!((found[(0, k)] + 2.0 * wanted.ln()).abs() < 1e-9, "{} {}", found[(0, k)], wanted.ln());
    }
}
