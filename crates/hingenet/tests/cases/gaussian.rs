//! Golden cases of the gaussian family.

use super::{Check, all_close, close, flat, indices, list, number};
use hingenet::Control;
use hingenet::gaussian::constraints::Constraints;
use hingenet::gaussian::moments::Moments;
use hingenet::gaussian::structure::{
    HParams, HalfStep, OrParams, Schedule, fit_h, fit_or, sufficient_lambda_dag,
};
use hingenet::graph::{Dag, Pdag, WeightedArc, arc_errors, smallest_potentials};
use hingenet::numeric::linalg::Matrix;
use hingenet::optimise::lasso::{LassoStop, weighted_lasso};
use serde_json::Value;
use std::path::Path;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[
    ("dag_constraint", dag_constraint),
    ("edge_errors", edge_errors),
    ("h_sgbn", h_sgbn),
    ("or_sgbn", or_sgbn),
    ("order_lp", order_lp),
    ("weighted_lasso", lasso_columns),
];

/// What waits for its code.
pub const PENDING: &[&str] = &["kl_objective", "kl_training", "likelihood_fisher", "mm_training"];

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

fn dag(m: usize, arcs: &[(usize, usize)]) -> hingenet::Result<Dag> {
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
        let end = weighted_lasso(moments.gram(), target, &weights, LassoStop::default(), &mut theta);
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
        let params = OrParams { delta, ..OrParams::new(lambda1) };
        let free = Constraints::none(x.cols());
        let moments = Moments::of_rows(&x, None).unwrap();
        let fit = fit_or(&moments, &params, &free, &Control::default()).unwrap();

        let trace = list(case, "trace");
        assert_eq!(fit.trace.len(), trace.len());
        for (k, (got, want)) in fit.trace.iter().zip(trace).enumerate() {
            let step = match got.step {
                HalfStep::Theta => "theta",
                HalfStep::Order => "order",
                HalfStep::Hard => "hard",
            };
            assert_eq!(step, want["step"].as_str().unwrap());
            let lambda_dag = number_or_infinity(&want["lambda_dag"]);
            close(got.lambda_dag, lambda_dag, 1e-12, "lambda_dag");
            close(got.objective, number(&want["objective"]), 1e-6, &format!("objective {k}"));
        }
        all_close(fit.theta.data(), &flat(&case["Theta"]), 1e-4, "Theta");
        all_close(&fit.bias, &flat(&case["bias"]), 1e-9, "bias");
        assert_eq!(fit.levels, indices(&case["levels"]));
        close(fit.fitting_error(), number(&case["final_sse"]), 1e-6, "squared error");
        close(fit.penalised, number(&case["final_penalised"]), 1e-6, "penalised");
        assert!(fit.dag(0.0).is_ok() && fit.report.converged);
        let (n, m) = (x.rows() as f64, x.cols());
        close(sufficient_lambda_dag(n, m, lambda1, delta, true), number(&case["bound_paper"]), 1e-9, "bound");
        let corrected = sufficient_lambda_dag(n, m, lambda1, delta, false);
        close(corrected, number(&case["bound_corrected"]), 1e-9, "corrected bound");

        let order = indices(&case["permutation"]);
        let rows: Vec<usize> = (0..x.rows()).collect();
        let permuted = Moments::of_rows(&x.select(&rows, &order), None).unwrap();
        let again = fit_or(&permuted, &params, &free, &Control::default()).unwrap();
        for a in 0..m {
            for b in 0..m {
                close(again.theta[(a, b)], fit.theta[(order[a], order[b])], 1e-6, "permuted Theta");
            }
        }
        literal(&case["literal_algorithm3"], &moments, &params, &free);
    }
}

fn literal(want: &Value, moments: &Moments, params: &OrParams, free: &Constraints) {
    let params = OrParams { schedule: Schedule::Paper, ..params.clone() };
    let fit = fit_or(moments, &params, free, &Control::default()).unwrap();
    let objectives: Vec<f64> = fit.trace.iter().map(|t| t.objective).collect();
    all_close(&objectives, &flat(&want["objective_trace"]), 1e-6, "literal trace");
    all_close(fit.theta.data(), &flat(&want["Theta"]), 1e-4, "literal Theta");
    assert_eq!(fit.dag(0.0).is_ok(), want["is_dag"].as_bool().unwrap());
    close(fit.penalised, number(&want["final_penalised"]), 1e-6, "literal penalised");
}

fn h_sgbn(v: &Value, _: &Path) {
    for case in list(v, "cases") {
        let moments = Moments::of_rows(&matrix(&case["X"]), None).unwrap();
        for want in list(case, "results") {
            let params = HParams {
                lambda1: number(&case["lambda1"]),
                column_order: Some(indices(&want["column_order"])),
            };
            let free = Constraints::none(moments.nodes());
            let fit = fit_h(&moments, &params, &free, &Control::default()).unwrap();
            all_close(fit.theta.data(), &flat(&want["Theta"]), 1e-4, "Theta");
            close(fit.penalised, number(&want["penalised"]), 1e-6, "penalised");
            assert!(fit.dag(0.0).is_ok());
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
        let got = arc_errors(&truth, &estimate).unwrap();
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
