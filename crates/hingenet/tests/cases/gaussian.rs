//! Golden cases of the gaussian family.

use super::{Check, all_close, close, flat, indices, list, number};
use hingenet_base::control::Control;
use hingenet_base::graph::{Dag, Pdag, WeightedArc, arc_errors, smallest_potentials};
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::log::argmax;
use hingenet_base::optimise::lasso::{EXACT, weighted_lasso};
use hingenet_gaussian::StructureMethod;
use hingenet_gaussian::discriminative::{
    DiscriminativeFit, Labelled, Leeway, MmSolver, fit_kl, fit_mm, margin_objective, margins_of,
    radius_margin,
};
use hingenet_gaussian::fisher::{Information, fisher_kernel, fisher_vector};
use hingenet_gaussian::missing::Conditional;
use hingenet_gaussian::moments::Moments;
use hingenet_gaussian::network::GaussianNetwork;
use hingenet_gaussian::structure::{Constraints, Method, fit_by_tests, fit_h, fit_or};
use serde_json::Value;
use std::path::Path;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[
    ("dag_constraint", dag_constraint),
    ("edge_errors", edge_errors),
    ("h_sgbn", h_sgbn),
    ("independence", independence),
    ("kl_objective", kl_objective),
    ("kl_training", kl_training),
    ("likelihood_fisher", likelihood_fisher),
    ("mm_training", mm_training),
    ("or_sgbn", or_sgbn),
    ("order_lp", order_lp),
    ("weighted_lasso", lasso_columns),
];

/// `null` stands for infinity in these files.
fn number_or_infinity(v: &Value) -> f64 {
    if v.is_null() { f64::INFINITY } else { number(v) }
}

fn matrix(v: &Value) -> Matrix {
    let rows = v.as_array().unwrap();
    Matrix::from_vec(rows.len(), rows[0].as_array().unwrap().len(), flat(v)).unwrap()
}

fn pairs(v: &Value) -> Vec<(usize, usize)> {
    v.as_array().unwrap().iter().map(indices).map(|p| (p[0], p[1])).collect()
}

fn dag(m: usize, arcs: &[(usize, usize)]) -> hingenet_base::error::Result<Dag> {
    let mut parents = vec![Vec::new(); m];
    arcs.iter().for_each(|&(i, j)| parents[j].push(i));
    Dag::new(parents)
}

fn lasso_columns(v: &Value, _: &Path) {
    for case in list(v, "cases") {
        let moments = Moments::of_rows(&matrix(&case["X"]), None).unwrap();
        let target = number(&case["target"]) as usize;
        let weights: Vec<f64> = list(case, "weights").iter().map(number_or_infinity).collect();
        let mut theta = vec![0.0; moments.nodes()];
        let end = weighted_lasso(&moments.gram, target, &weights, EXACT, &mut theta);
        assert!(end.converged);
        let penalty: f64 =
            theta.iter().zip(&weights).filter(|(t, _)| **t != 0.0).map(|(t, w)| t.abs() * w).sum();
        let error = moments.squared_error(target, &theta, end.squared_error);
        let want = number(&case["objective"]);
        assert!((error + penalty - want).abs() <= 1e-8 * want, "{} {want}", error + penalty);
        // With fewer rows than columns only the objective is unique.
        if list(case, "X").len() > moments.nodes() {
            all_close(&theta, &flat(&case["theta"]), 1e-6, "theta");
            close(moments.bias(target, &theta), number(&case["bias"]), 1e-6, "bias");
            for i in indices(&case["zero"]) {
                assert_eq!(theta[i], 0.0);
            }
        }
    }
}

fn order_lp(v: &Value, _: &Path) {
    for case in list(v, "cases") {
        let m = number(&case["m"]) as usize;
        let arcs: Vec<WeightedArc> = list(case, "absTheta")
            .iter()
            .map(flat)
            .map(|a| WeightedArc { from: a[0] as usize, to: a[1] as usize, weight: a[2] })
            .collect();
        let got = smallest_potentials(m, &arcs);
        let want = number(&case["optimum_unit"]);
        assert!((got.violation - want).abs() <= 1e-9 * (1.0 + want), "{} {want}", got.violation);
        assert_eq!(got.level, indices(&case["minimal_p"]));
        assert_eq!(got.violation == 0.0, case["is_dag"].as_bool().unwrap());
    }
}

fn dag_constraint(v: &Value, _: &Path) {
    for case in list(v, "cases") {
        let m = number(&case["m"]) as usize;
        let edges = pairs(&case["edges"]);
        let arcs: Vec<WeightedArc> =
            edges.iter().map(|&(from, to)| WeightedArc { from, to, weight: 1.0 }).collect();
        let got = smallest_potentials(m, &arcs);
        let is_dag = case["is_dag"].as_bool().unwrap();
        assert_eq!(dag(m, &edges).is_ok(), is_dag);
        close(got.violation, number(&case["lp_optimum_unit"]), 1e-9, "optimum");
        assert_eq!(got.violation == 0.0, is_dag);
        assert_eq!(got.level, indices(&case["levels"]));
    }
}

fn or_sgbn(v: &Value, _: &Path) {
    for case in list(v, "cases") {
        let x = matrix(&case["X"]);
        let (lambda1, delta) = (number(&case["lambda1"]), number(&case["Delta"]));
        let free = Constraints::none(x.cols());
        let moments = Moments::of_rows(&x, None).unwrap();
        let fit = fit_or(&moments, lambda1, &free, &Control::default()).unwrap();

        let trace = list(case, "trace");
        assert_eq!(fit.trace.len(), trace.len());
        for (k, ((got, f), want)) in fit.trace.iter().zip(trace).enumerate() {
            let step = if got.is_infinite() { "hard" } else { ["theta", "order"][k % 2] };
            assert_eq!(step, want["step"].as_str().unwrap());
            let lambda_dag = number_or_infinity(&want["lambda_dag"]);
            // Δ only rescales λ_dag.
            close(got / delta, lambda_dag, 1e-12, "lambda_dag");
            close(*f, number(&want["objective"]), 1e-6, &format!("objective {k}"));
        }
        all_close(fit.theta.data(), &flat(&case["Theta"]), 1e-4, "Theta");
        all_close(&fit.bias, &flat(&case["bias"]), 1e-9, "bias");
        assert_eq!(fit.levels, indices(&case["levels"]));
        close(fit.squared_error.iter().sum(), number(&case["final_sse"]), 1e-6, "squared error");
        close(fit.report.objective, number(&case["final_penalised"]), 1e-6, "penalised");
        assert!(fit.dag(0.0).is_ok() && fit.report.converged);
        let (n, m) = (x.rows() as f64, x.cols());
        close(sufficient_lambda_dag(n, m, lambda1, delta, true), number(&case["bound_paper"]), 1e-9, "bound");
        let corrected = sufficient_lambda_dag(n, m, lambda1, delta, false);
        close(corrected, number(&case["bound_corrected"]), 1e-9, "corrected bound");

        let order = indices(&case["permutation"]);
        let rows: Vec<usize> = (0..x.rows()).collect();
        let permuted = Moments::of_rows(&x.select(&rows, &order), None).unwrap();
        let again = fit_or(&permuted, lambda1, &free, &Control::default()).unwrap();
        for a in 0..m {
            for b in 0..m {
                close(again.theta[(a, b)], fit.theta[(order[a], order[b])], 1e-6, "permuted Theta");
            }
        }
        literal(&case["literal_algorithm3"], &moments, lambda1);
    }
}

/// The value of λ_dag above which one Θ-step after any vertex order step is acyclic; `as_printed` gives
/// the paper's Proposition 2, whose proof overstates Υ by the factor 1 + m (two equal columns break it).
fn sufficient_lambda_dag(rows: f64, nodes: usize, lambda1: f64, delta: f64, as_printed: bool) -> f64 {
    let m = nodes as f64;
    let top = 2.0 * m * (m - 2.0) * (rows - 1.0).powi(2) + m * lambda1 * (2.0 * rows - 2.0 - lambda1);
    let bottom = lambda1 * delta * if as_printed { 1.0 + m } else { 1.0 };
    top / bottom
}

fn literal(want: &Value, moments: &Moments, lambda1: f64) {
    let free = Constraints::none(moments.nodes());
    let printed = Method { kind: StructureMethod::OrPrinted, lambda1, ..Method::default() };
    let fit = printed.learn(moments, &free, &Control::default()).unwrap();
    let trace: Vec<f64> = fit.trace.iter().map(|(_, f)| *f).collect();
    all_close(&trace, &flat(&want["objective_trace"]), 1e-6, "literal trace");
    all_close(fit.theta.data(), &flat(&want["Theta"]), 1e-4, "literal Theta");
    assert!(fit.dag(0.0).is_ok() && want["is_dag"].as_bool().unwrap());
    close(fit.report.objective, number(&want["final_penalised"]), 1e-6, "literal penalised");
}

fn h_sgbn(v: &Value, _: &Path) {
    for case in list(v, "cases") {
        let (x, lambda1) = (matrix(&case["X"]), number(&case["lambda1"]));
        let m = x.cols();
        for want in list(case, "results") {
            // The columns are updated as they stand.
            let order = indices(&want["column_order"]);
            let moments =
                Moments::of_rows(&x.select(&(0..x.rows()).collect::<Vec<_>>(), &order), None).unwrap();
            let fit = fit_h(&moments, lambda1, &Constraints::none(m), &Control::default()).unwrap();
            let mut theta = Matrix::zeros(m, m);
            (0..m * m).for_each(|k| theta[(order[k / m], order[k % m])] = fit.theta[(k / m, k % m)]);
            all_close(theta.data(), &flat(&want["Theta"]), 1e-4, "Theta");
            close(fit.report.objective, number(&want["penalised"]), 1e-6, "penalised");
            assert!(fit.dag(0.0).is_ok());
        }
    }
}

fn independence(v: &Value, _: &Path) {
    for case in list(v, "cases") {
        let (r, n) = (matrix(&case["correlation"]), number(&case["rows"]));
        let m = r.cols();
        let gram = Matrix::from_fn(m, m, |i, j| (n - 1.0) * r[(i, j)]);
        let moments = Moments::given(n, vec![0.0; m], gram).unwrap();
        let (free, alpha) = (Constraints::none(m), number(&case["alpha"]));
        for (name, want) in case["marks"].as_object().unwrap() {
            let Some(StructureMethod::Tests(learner)) = StructureMethod::named(name) else {
                panic!("{name}")
            };
            let fit = fit_by_tests(&moments, learner, alpha, &free, &Control::default()).unwrap();
            let mut marks: Vec<(usize, usize)> = fit.class.directed_edges();
            marks.extend(fit.class.undirected_edges().iter().flat_map(|&(i, j)| [(i, j), (j, i)]));
            marks.sort_unstable();
            assert_eq!(marks, pairs(want), "{name} of {}", case["name"]);
        }
    }
}

fn edge_errors(v: &Value, _: &Path) {
    for case in list(v, "cases") {
        let m = number(&case["m"]) as usize;
        let truth = dag(m, &pairs(&case["true"])).unwrap();
        let estimate = dag(m, &pairs(&case["estimate"])).unwrap();
        for (graph, key) in [(&truth, "cpdag_true"), (&estimate, "cpdag_estimate")] {
            let class = Pdag::of(graph);
            let marks: Vec<f64> =
                (0..m * m).map(|k| f64::from(u8::from(class.has_mark(k / m, k % m)))).collect();
            assert_eq!(marks, flat(&case[key]), "{key}");
        }
        let got = arc_errors(&truth, &estimate, &Pdag::of(&estimate)).unwrap();
        for (value, key) in [
            (got.false_positive, "false_positive"),
            (got.missing, "missing"),
            (got.total, "total"),
            (got.reversed, "reversed"),
            (got.skeleton, "skeleton"),
            (got.shd, "shd"),
            (got.pdag_paper, "pdag_paper"),
            (got.pdag_entry, "pdag_entry"),
            (got.pdag_shd, "pdag_shd"),
        ] {
            assert_eq!(value, number(&case[key]) as usize, "{key} of {}", case["note"]);
        }
    }
}

fn networks(v: &Value) -> Vec<GaussianNetwork> {
    let network =
        |m: &Value| GaussianNetwork::new(&matrix(&m["Theta"]), flat(&m["bias"]), flat(&m["sigma2"])).unwrap();
    list(v, "models").iter().map(network).collect()
}

fn likelihood_fisher(v: &Value, _: &Path) {
    let tolerance = number(&v["tolerance"]["abs"]);
    let models = networks(v);
    let x = matrix(&v["X"]);
    let ones = vec![1.0; x.rows()];
    for (c, model) in models.iter().enumerate() {
        let got: Vec<f64> = (0..x.rows()).map(|a| model.log_density(x.row(a))).collect();
        all_close(&got, &flat(&v["loglik"][c]), tolerance, "log-likelihood");
        let (mean, covariance) = model.joint();
        all_close(&mean, &flat(&v["joint"][c]["mean"]), tolerance, "mean");
        all_close(covariance.data(), &flat(&v["joint"][c]["cov"]), tolerance, "covariance");
        close(model.fitting_error(&x, &ones), number(&v["fitting_error"][c]), tolerance, "fitting error");
    }
    let vectors: Vec<Vec<f64>> =
        (0..x.rows()).map(|a| fisher_vector(&models, x.row(a), Information::Identity).unwrap()).collect();
    for (a, vector) in vectors.iter().enumerate() {
        all_close(vector, &flat(&v["fisher"][a]), tolerance, "Fisher vector");
        let scores: Vec<f64> = models.iter().map(|m| m.log_density(x.row(a))).collect();
        assert_eq!(argmax(&scores), indices(&v["predict_equal_prior"])[a]);
    }
    let kernel = fisher_kernel(&models, &x, Information::Identity, &Control::default()).unwrap();
    for a in 0..x.rows() {
        for b in 0..x.rows() {
            close(kernel[(a, b)], dot(&vectors[a], &vectors[b]), 1e-9, "kernel");
        }
    }
    for case in list(v, "missing") {
        let observed = indices(&case["observed"]);
        let missing: Vec<bool> = (0..x.cols()).map(|j| !observed.contains(&j)).collect();
        let mut row = x.row(number(&case["row"]) as usize).to_vec();
        row.iter_mut().zip(&missing).for_each(|(v, m)| *v = if *m { f64::NAN } else { *v });
        for (c, model) in models.iter().enumerate() {
            let got = Conditional::new(model, &missing).unwrap().log_density(&row);
            close(got, number(&case["loglik"][c]), tolerance, "marginal");
        }
    }
}

/// Rows, classes (0 for y = +1), unit weights, networks.
fn labelled(case: &Value) -> (Matrix, Vec<usize>, Vec<f64>, Vec<GaussianNetwork>) {
    let x = matrix(&case["X"]);
    let class = flat(&case["y"]).iter().map(|y| usize::from(*y < 0.0)).collect();
    let ones = vec![1.0; x.rows()];
    (x, class, ones, networks(case))
}

fn relative(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!((got - want).abs() <= tolerance * want.abs(), "{what}: {got} {want}");
}

fn relative_to_largest(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    let largest = want.iter().fold(0.0f64, |a, v| a.max(v.abs()));
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() <= tolerance * largest, "{what}: {g} {w}");
    }
}

fn kl_objective(v: &Value, _: &Path) {
    for case in list(v, "cases") {
        let (x, class, weights, networks) = labelled(case);
        let data = Labelled { x: &x, class: &class, weights: &weights, networks: &networks };
        let c = number(&case["C"]);
        let got = radius_margin(&data, c).unwrap();
        relative(got.dual, number(&case["J0"]), 1e-7, "J0");
        relative(got.trace, number(&case["trace_ST"]), 1e-7, "trace");
        let without = got.trace - (x.rows() as f64 - 1.0) / c;
        relative(without, number(&case["trace_ST_without_C"]), 1e-7, "trace without C");
        relative(got.value, number(&case["J"]), 1e-7, "J");
        let alpha: Vec<f64> = got.machines[0].beta.iter().map(|b| b.abs()).collect();
        relative_to_largest(&alpha, &flat(&case["alpha"]), 1e-5, "alpha");
        close(got.machines[0].intercept, number(&case["svm_bias"]), 1e-5, "bias");
        let m = x.cols();
        let component = |k: usize| {
            let (class, i, j) = (k / (m * (m + 1)), k / m % (m + 1), k % m);
            let slopes = got.slopes.row(class * m + j).iter().enumerate();
            let sum: f64 = slopes.map(|(a, s)| s * if i == m { 1.0 } else { x[(a, i)] }).sum();
            if i == j { 0.0 } else { -2.0 / networks[class].variance()[j] * sum }
        };
        let gradient: Vec<f64> = (0..networks.len() * m * (m + 1)).map(component).collect();
        relative_to_largest(&gradient, &flat(&case["gradient"]), 1e-5, "gradient");
    }
}

fn check_start(case: &Value, data: &Labelled<'_>, fit: &DiscriminativeFit) {
    for (c, list) in fit.free.iter().enumerate() {
        let got: Vec<(usize, usize)> = list.iter().map(|p| (p.row, p.column)).collect();
        assert_eq!(got, pairs(&case["selected"][c]), "selected parameters");
    }
    let limit = 1.0 + number(&case["slack"]);
    for (c, want) in flat(&case["T0"]).into_iter().enumerate() {
        let own: Vec<f64> = data.class.iter().map(|k| f64::from(u8::from(*k == c))).collect();
        let [start, end] =
            [&data.networks[c], &fit.networks[c]].map(|network| network.fitting_error(data.x, &own));
        close(start, want, 1e-9, "T0");
        assert!(end <= limit * start * (1.0 + 1e-6), "{end} {start}");
    }
}

/// The start models are OR-SGBN fits of the classes with maximum-likelihood variances.
fn check_start_models(case: &Value, lambda1: f64) {
    let (x, class, _, networks) = labelled(case);
    for (c, want) in networks.iter().enumerate() {
        let rows: Vec<usize> = (0..x.rows()).filter(|&a| class[a] == c).collect();
        let own = x.select(&rows, &(0..x.cols()).collect::<Vec<_>>());
        let moments = Moments::of_rows(&own, None).unwrap();
        let free = Constraints::none(x.cols());
        let fit = fit_or(&moments, lambda1, &free, &Control::default()).unwrap();
        let got = GaussianNetwork::from_structure(&fit, &moments).unwrap();
        all_close(got.theta().data(), want.theta().data(), 1e-4, "start Theta");
        all_close(got.bias(), want.bias(), 1e-4, "start bias");
        all_close(got.variance(), want.variance(), 1e-4, "start variance");
    }
}

fn leeway(case: &Value) -> Leeway {
    Leeway { free: number(&case["k"]) as usize, slack: number(&case["slack"]) }
}

fn kl_training(v: &Value, _: &Path) {
    for (case, lambda1) in list(v, "cases").iter().zip([5.0, 8.0]) {
        check_start_models(case, lambda1);
        let (x, class, weights, networks) = labelled(case);
        let data = Labelled { x: &x, class: &class, weights: &weights, networks: &networks };
        let fit = fit_kl(&data, leeway(case), number(&case["C"]), &Control::default()).unwrap();
        check_start(case, &data, &fit);
        relative(fit.objective[0], number(&case["J_start"]), 1e-7, "J at the start");
        assert!(fit.objective.windows(2).all(|w| w[1] <= w[0]));
        let end = fit.objective.last().copied().unwrap();
        assert!(end <= number(&case["J_end"]) * 1.01, "{end}");
    }
}

fn mm_training(v: &Value, _: &Path) {
    for (case, lambda1) in list(v, "cases").iter().zip([5.0, 8.0]) {
        check_start_models(case, lambda1);
        let (x, class, weights, networks) = labelled(case);
        let data = Labelled { x: &x, class: &class, weights: &weights, networks: &networks };
        let density = |a: usize, c: usize| networks[c].log_density(x.row(a));
        let d = margins_of(&Matrix::from_fn(x.rows(), networks.len(), density), &class);
        all_close(&d, &flat(&case["margins"]), 1e-8, "margins");
        let (objective, r) = margin_objective(&d, &weights, number(&case["lambda"]));
        close(objective, number(&case["start"]["objective"]), 1e-8, "objective at the start");
        close(r, number(&case["start"]["r"]), 1e-8, "r at the start");
        let run =
            |solver| fit_mm(&data, leeway(case), number(&case["nu"]), solver, &Control::default()).unwrap();
        let best = number(&case["ccp_final"]);
        let (ccp, smooth) = (run(MmSolver::Ccp), run(MmSolver::Smooth));
        let first = number(&case["first_convex_step_optimum"]);
        assert!((ccp.convex_optima[0] - first).abs() <= 1e-5, "{} {first}", ccp.convex_optima[0]);
        for (fit, share) in [(&ccp, 0.02), (&smooth, 0.06)] {
            check_start(case, &data, fit);
            assert!(fit.objective.windows(2).all(|w| w[1] <= w[0]));
            let end = fit.objective.last().copied().unwrap();
            assert!(end <= best + share * best.abs(), "{end} {best}");
        }
    }
}
