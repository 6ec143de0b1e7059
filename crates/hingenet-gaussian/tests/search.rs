//! Order search of the Gaussian family: known optima, acyclic results, equal answers for permuted columns,
//! constraints respected.

use hingenet_base::control::Control;
use hingenet_base::graph::{Pdag, class_errors};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_gaussian::moments::Moments;
use hingenet_gaussian::structure::{Constraints, SearchParams, StructureFit, fit_search};
use proptest::prelude::*;
use serde_json::Value;

fn golden_tables() -> Vec<Matrix> {
    let text = include_str!("../../hingenet/tests/golden/gaussian/or_sgbn.json");
    let value: Value = serde_json::from_str(text).unwrap();
    let table = |case: &Value| {
        let rows: Vec<Vec<f64>> = serde_json::from_value(case["X"].clone()).unwrap();
        Matrix::from_fn(rows.len(), rows[0].len(), |a, j| rows[a][j])
    };
    value["cases"].as_array().unwrap().iter().map(table).collect()
}

fn search(x: &Matrix, params: &SearchParams) -> StructureFit {
    let free = Constraints::none(x.cols());
    fit_search(&Moments::of_rows(x, None).unwrap(), params, &free, &Control::default()).unwrap()
}

/// Rows of a random sparse linear model, and its arcs; columns in random order.
fn model_rows(n: usize, m: usize, seed: u64) -> (Matrix, hingenet_base::graph::Dag) {
    let mut random = Random::new(seed);
    let order = random.permutation(m);
    let mut x = Matrix::zeros(n, m);
    let mut parents = vec![Vec::new(); m];
    for (k, &j) in order.iter().enumerate() {
        for _ in 0..k.min(2) {
            let i = order[random.below(k)];
            if !parents[j].contains(&i) {
                parents[j].push(i);
            }
        }
        let sign = |r: &mut Random| if r.below(2) == 0 { -1.0 } else { 1.0 };
        let weights: Vec<f64> =
            parents[j].iter().map(|_| sign(&mut random) * (0.5 + 0.5 * random.uniform())).collect();
        for a in 0..n {
            x[(a, j)] =
                random.normal() + parents[j].iter().zip(&weights).map(|(&i, w)| w * x[(a, i)]).sum::<f64>();
        }
    }
    (x, hingenet_base::graph::Dag::new(parents).unwrap())
}

/// The rounding errors of such scores are larger than any gain that counts: moves that only follow them have an end.
#[test]
fn a_search_on_rows_that_weigh_much_ends() {
    for seed in 0..20 {
        let (mut x, _) = model_rows(40, 6, seed);
        // two indicators of a category and a column of few values, as tables have them
        (0..40).for_each(|a| {
            (x[(a, 0)], x[(a, 1)], x[(a, 2)]) =
                ((a % 3 == 0) as u8 as f64, (a % 3 == 1) as u8 as f64, (a % 2) as f64)
        });
        let moments = Moments::of_rows(&x, Some(&[1e11; 40])).unwrap();
        let fit = fit_search(&moments, &SearchParams::default(), &Constraints::none(6), &Control::default());
        assert!(fit.unwrap().report.objective.is_finite());
    }
}

#[test]
fn the_known_scores_and_classes_are_found() {
    let want_scores = [49.352500, 303.792879, 83.368435];
    let want_directed: [&[(usize, usize)]; 3] = [
        &[(1, 4), (3, 4)],
        &[(0, 4), (1, 7), (3, 4), (3, 7), (4, 1), (5, 7), (6, 7)],
        &[(0, 3), (0, 4), (1, 5), (1, 6), (2, 3), (2, 4), (4, 5), (4, 6)],
    ];
    let want_undirected: [&[(usize, usize)]; 3] = [&[], &[(0, 2), (0, 5), (3, 6)], &[]];
    for (k, x) in golden_tables().iter().take(3).enumerate() {
        let found = search(x, &SearchParams::default());
        let score = found.report.objective;
        assert!((score - want_scores[k]).abs() < 1e-5, "case {k}: {score}");
        assert_eq!(found.class.directed_edges(), want_directed[k]);
        assert_eq!(found.class.undirected_edges(), want_undirected[k]);
        assert!(found.report_is_sound());
    }
}

trait Sound {
    fn report_is_sound(&self) -> bool;
}

impl Sound for StructureFit {
    /// The DAG returned is a member of the class returned.
    fn report_is_sound(&self) -> bool {
        self.dag(0.0).is_ok_and(|dag| Pdag::of(&dag) == self.class)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn more_rounds_never_lower_the_score(seed in any::<u64>()) {
        let (x, _) = model_rows(60, 10, seed);
        let mut last = f64::NEG_INFINITY;
        for rounds in [0, 1, 5, 20] {
            let found = search(&x, &SearchParams { rounds, ..SearchParams::default() });
            prop_assert!(found.report.objective >= last - 1e-6);
            prop_assert!(found.report_is_sound());
            last = found.report.objective;
        }
    }

    #[test]
    fn the_numbering_of_the_columns_does_not_matter(seed in any::<u64>()) {
        let m = 9;
        let (x, _) = model_rows(200, m, seed);
        let found = search(&x, &SearchParams::default());
        let order = Random::new(seed ^ 5).permutation(m);
        let again = search(&x.select(&(0..200).collect::<Vec<_>>(), &order), &SearchParams::default());
        prop_assert!((found.report.objective - again.report.objective).abs() < 1e-6);
        for i in 0..m {
            for j in 0..m {
                prop_assert_eq!(again.class.has_mark(i, j), found.class.has_mark(order[i], order[j]));
            }
        }
    }

    #[test]
    fn any_data_give_an_acyclic_graph(n in 2usize..20, m in 2usize..12, seed in any::<u64>()) {
        let (mut x, _) = model_rows(n, m, seed);
        for a in 0..n {
            x[(a, 0)] = 3.0;
            x[(a, m - 1)] = x[(a, m / 2)];
        }
        let found = search(&x, &SearchParams { rounds: 3, ..SearchParams::default() });
        prop_assert!(found.dag(0.0).is_ok() && found.report.objective.is_finite());
        prop_assert!(found.theta.data().iter().all(|t| t.is_finite()));
    }

    #[test]
    fn constraints_are_respected(seed in any::<u64>()) {
        let m = 8;
        let (x, _) = model_rows(80, m, seed);
        let tiers: Vec<usize> = (0..m).map(|j| j % 2).collect();
        let known = Constraints::new(m, &[(0, 2), (2, 0)], &[(0, 1), (2, 4), (4, 5)], Some(&tiers)).unwrap();
        let params = SearchParams { rounds: 5, ..SearchParams::default() };
        let moments = Moments::of_rows(&x, None).unwrap();
        let found = fit_search(&moments, &params, &known, &Control::default()).unwrap();
        let dag = found.dag(0.0).unwrap();
        for (i, j) in dag.arcs() {
            prop_assert!(tiers[i] <= tiers[j] && (i, j) != (0, 2) && (i, j) != (2, 0));
        }
        for (i, j) in [(0, 1), (2, 4), (4, 5)] {
            prop_assert!(dag.has_arc(i, j));
        }
    }
}

#[test]
fn a_clear_sparse_model_is_recovered() {
    let (x, truth) = model_rows(2000, 20, 7);
    let found = search(&x, &SearchParams::default());
    let own = class_errors(&truth, &Pdag::of(&truth)).unwrap();
    let errors = class_errors(&truth, &found.class).unwrap();
    assert!(errors <= own + 3, "{errors} errors, {own} of them unavoidable");
}

#[test]
fn a_search_that_still_gains_at_its_end_says_so() {
    let params = SearchParams { rounds: 3, ..SearchParams::default() };
    let found: Vec<StructureFit> = (0..40).map(|seed| search(&model_rows(80, 14, seed).0, &params)).collect();
    let open = found.iter().filter(|f| !f.report.converged).count();
    assert!(open > 0 && open < 40, "{open}");
}

#[test]
fn bad_settings_are_refused() {
    let (x, _) = model_rows(20, 4, 1);
    let moments = Moments::of_rows(&x, None).unwrap();
    for penalty in [0.0, -1.0, f64::NAN] {
        let params = SearchParams { penalty, ..SearchParams::default() };
        assert!(fit_search(&moments, &params, &Constraints::none(4), &Control::default()).is_err());
    }
}
