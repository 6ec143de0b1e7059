//! Golden cases of the margin-trained parameters of the discrete family.

use super::discrete::{samples, structure};
use super::{Check, all_close, close, flat, indices, list, number};
use hingenet_base::control::Control;
use hingenet_base::numeric::log::{log_sum_exp, softmax};
use hingenet_discrete::margin::conditional::{
    CappedMargin, ConditionalLoss, ConditionalParams, fit_conditional,
};
use hingenet_discrete::margin::{
    Likelihood, MarginLoss, MarginParams, MarginRows, Problem, RowLoss, Smoothing, SoftHinge, Solver,
    fit_margin,
};
use hingenet_discrete::{Network, Structure, counts};
use projection::project_sub_normalised;
use serde_json::Value;
use std::path::Path;

#[path = "../../../hingenet-discrete/tests/oracles/projection.rs"]
mod projection;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[
    ("mcl_mm", mcl_mm),
    ("normalise", normalise),
    ("objective11", objective11),
    ("optimum", optimum),
    ("projection", projection),
    ("soft_hinge", soft_hinge),
];

fn normalise(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let network = Network::new(structure(case), flat(&case["w_in"])).unwrap().normalised().unwrap();
        all_close(network.w(), &flat(&case["w_out"]), 1e-10, "normalised parameters");
        let posterior: Vec<f64> =
            list(case, "Z").iter().flat_map(|z| posterior(&network, &indices(z))).collect();
        all_close(&posterior, &flat(&case["posterior"]), 1e-10, "posterior");
    }
}

/// P(c | z) of a complete row; its class (position 0) is ignored.
fn posterior(network: &Network, row: &[usize]) -> Vec<f64> {
    let score = |c: usize| network.log_joint(|i| if i == 0 { c } else { row[i] });
    let mut scores: Vec<f64> = (0..network.structure().n_classes()).map(score).collect();
    softmax(&mut scores);
    scores
}

fn soft_hinge(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let hinge = SoftHinge::new(number(&case["R"]));
        let got: Vec<(f64, f64)> = flat(&case["z"]).into_iter().map(|z| hinge.value_and_slope(z)).collect();
        let (h, dh): (Vec<f64>, Vec<f64>) = got.into_iter().unzip();
        all_close(&h, &flat(&case["h"]), 1e-12, "h");
        all_close(&dh, &flat(&case["dh"]), 1e-12, "dh");
    }
}

fn projection(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let mut w = flat(&case["v"]);
        let multiplier = project_sub_normalised(&mut w);
        all_close(&w, &flat(&case["w"]), 1e-9, "projection");
        close(multiplier, number(&case["multiplier"]), 1e-9, "multiplier");
        assert!(log_sum_exp(&w) <= 1e-12, "{w:?}");
    }
}

fn smoothing(case: &Value) -> Smoothing {
    Smoothing { radius: number(&case["R"]), eta: number(&case["eta"]) }
}

/// The problem of a case: counts, merged rows and the loss of (11).
fn problem(case: &Value, dir: &Path) -> Problem {
    let (structure, samples) = (structure(case), samples(case, dir));
    let n = counts::smoothed_counts(&structure, &samples, number(&case["alpha"])).unwrap();
    let k = structure.n_classes();
    let smoothing = smoothing(case);
    Problem {
        likelihood: Likelihood::new(&structure, n).unwrap(),
        rows: MarginRows::new(&structure, &samples).unwrap(),
        loss: MarginLoss::new(number(&case["lambda"]), k, number(&case["gamma"]), smoothing),
    }
}

fn objective11(file: &Value, dir: &Path) {
    for case in list(file, "cases") {
        let problem = problem(case, dir);
        let w = flat(&case["w"]);
        let mut gradient = vec![0.0; w.len()];
        let value = problem.objective_and_gradient(&w, &mut gradient);
        close(value, number(&case["objective"]), 1e-10, "objective");
        close(problem.objective(&w), number(&case["objective"]), 1e-10, "objective alone");
        all_close(&gradient, &flat(&case["gradient"]), 1e-9, "gradient");
        close(problem.hard_objective(&w), number(&case["hard_objective_10"]), 1e-10, "hard objective");
    }
}

/// Every solver finds the certified optima of (10) and (11), with its own proof.
fn optimum(file: &Value, dir: &Path) {
    for case in list(file, "cases") {
        for solver in [Solver::Auto, Solver::Interior, Solver::Lbfgs] {
            one_optimum(case, dir, solver, true);
            one_optimum(case, dir, solver, false);
        }
    }
}

fn one_optimum(case: &Value, dir: &Path, solver: Solver, smooth: bool) {
    let structure = structure(case);
    let params = MarginParams {
        lambda: number(&case["lambda"]),
        gamma: number(&case["gamma"]),
        smooth,
        solver,
        tolerance: 1e-8,
        ..MarginParams::default()
    };
    let fit = fit_margin(&samples(case, dir), &structure, &params, &Control::default()).unwrap();
    assert_eq!(params.smoothing(), if smooth { smoothing(case) } else { Smoothing::NONE });
    let what = format!(
        "{solver:?} smooth={smooth} {} {} lambda={} gamma={}: {:?} {:?}",
        case["X_ref"], case["structure_name"], params.lambda, params.gamma, fit.certificate, fit.report
    );
    let w = fit.network.w();
    assert!(fit.network.normalisation_error() < 1e-6, "{what}");
    let (reference, objective, lower, totals, ml) = if smooth {
        let best = number(&case["optimum_11"]);
        (best, fit.certificate.upper11, fit.certificate.lower11, "row_totals_11", "params_11")
    } else {
        let best = number(&case["optimum_10_lower"]);
        (best, fit.certificate.upper10, fit.certificate.lower10, "row_totals_10", "params_10")
    };
    close(objective, reference, 1e-6, &what);
    assert!(lower <= objective * (1.0 + 1e-12) && lower <= reference * (1.0 + 2e-7), "{what}");
    assert!(fit.report.converged, "{what}");
    assert!((objective - lower) / objective <= 1e-8, "{what}");
    let divergence = divergence(&structure, &flat(&case[totals]), &flat(&case[ml]), w);
    assert!(divergence <= objective - reference + 1e-8 * objective.abs(), "{divergence} {what}");
}

/// `Σ_rows Q KL(p_ref ‖ p)`.
fn divergence(structure: &Structure, totals: &[f64], reference: &[f64], w: &[f64]) -> f64 {
    let mut sum = 0.0;
    let mut row = 0;
    for i in 0..structure.n_nodes() {
        let r = structure.card()[i];
        for h in 0..structure.n_rows(i) {
            let start = structure.table(i).start + h * r;
            for j in start..start + r {
                sum += totals[row] * reference[j].exp() * (reference[j] - w[j]);
            }
            row += 1;
        }
    }
    sum
}

fn mcl_mm(file: &Value, dir: &Path) {
    for case in list(file, "cases") {
        let (structure, samples) = (structure(case), samples(case, dir));
        let rows = MarginRows::new(&structure, &samples).unwrap();
        let w = flat(&case["w"]);
        let (value, gradient) = row_loss(&rows, &ConditionalLoss, &w);
        close(value, number(&case["neg_cll"]), 1e-9, "negative conditional log-likelihood");
        all_close(&gradient, &flat(&case["neg_cll_gradient"]), 1e-9 * (1.0 + value.abs()), "gradient");
        for mm in list(case, "mm") {
            let (lambda, kappa, eta) = (number(&mm["lambda"]), number(&mm["kappa"]), number(&mm["eta"]));
            let (value, gradient) = row_loss(&rows, &CappedMargin { lambda, kappa, eta }, &w);
            close(-value, number(&mm["objective_maximised"]), 1e-9, "capped margins");
            if !mm["gradient"].is_null() {
                let negative: Vec<f64> = gradient.iter().map(|g| -g).collect();
                all_close(&negative, &flat(&mm["gradient"]), 1e-9 * (1.0 + value.abs()), "gradient of MM");
            }
        }
        for (ridge, key) in [(1.0, "optimum_ridge_1"), (0.01, "optimum_ridge_0.01")] {
            let params = ConditionalParams { ridge, max_iterations: 2000, ..ConditionalParams::default() };
            let fit = fit_conditional(&samples, &structure, &params, &Control::default()).unwrap();
            close(fit.report.objective, number(&case[key]), 1e-6, key);
        }
        let long = ConditionalParams { max_iterations: 5000, ..ConditionalParams::default() };
        let fit = fit_conditional(&samples, &structure, &long, &Control::default()).unwrap();
        let bound = number(&case["unregularised_infimum_upper_bound"]);
        assert!(fit.report.objective <= bound + 1e-3 * (1.0 + bound), "{} {bound}", fit.report.objective);
    }
}

fn row_loss(rows: &MarginRows, loss: &impl RowLoss, w: &[f64]) -> (f64, Vec<f64>) {
    let mut part = vec![0.0; rows.n_cells()];
    let value = rows.loss_and_gradient(&rows.gather(w), loss, &mut part);
    let mut gradient = vec![0.0; w.len()];
    rows.scatter_add(&part, &mut gradient);
    (value, gradient)
}
