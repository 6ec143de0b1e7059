//! Times of the Gaussian family: OR-SGBN at 40, 100 and 1000 nodes, the order search at 40 and 200 nodes, MM-SGBN and
//! KL-SGBN at 40 nodes and 80 rows.
//! Run with `cargo bench --bench gaussian_fit [-- NAME]`; prints the best of several runs in milliseconds.

#![allow(clippy::print_stdout)]

use hingenet_base::control::Control;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_gaussian::discriminative::{Labelled, Leeway, MmSolver, fit_kl, fit_mm};
use hingenet_gaussian::moments::Moments;
use hingenet_gaussian::network::GaussianNetwork;
use hingenet_gaussian::structure::{Constraints, SearchParams, fit_or, fit_search};
use std::time::Instant;

/// Rows of a linear model with two parents a node (mean degree 4), standardised later.
fn rows(n: usize, m: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let order = random.permutation(m);
    let mut x = Matrix::zeros(n, m);
    for (k, &j) in order.iter().enumerate() {
        let mut parents: Vec<(usize, f64)> = Vec::new();
        for _ in 0..k.min(2) {
            let size = 0.5 + 0.5 * random.uniform();
            parents.push((order[random.below(k)], if random.below(2) == 0 { size } else { -size }));
        }
        for a in 0..n {
            x[(a, j)] = random.normal() + parents.iter().map(|&(i, w)| w * x[(a, i)]).sum::<f64>();
        }
    }
    x
}

fn time(name: &str, target: f64, runs: usize, mut work: impl FnMut() -> String) {
    if std::env::args().skip(1).any(|a| !a.starts_with("--") && !name.contains(&a)) {
        return;
    }
    let mut best = f64::INFINITY;
    let mut note = String::new();
    for _ in 0..runs {
        let start = Instant::now();
        note = work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:28} {:9.1} ms   target {:8.0} ms   {note}", 1e3 * best, 1e3 * target);
}

fn or(n: usize, m: usize, lambda1: f64) -> String {
    let moments = Moments::of_rows(&rows(n, m, 1), None).unwrap().standardised();
    let fit = fit_or(&moments, lambda1, &Constraints::none(m), &Control::default()).unwrap();
    let arcs = fit.theta.data().iter().filter(|t| **t != 0.0).count();
    format!("{arcs} arcs, {} rounds", fit.report.iterations)
}

fn search(n: usize, m: usize, rounds: usize) -> String {
    let moments = Moments::of_rows(&rows(n, m, 1), None).unwrap();
    let params = SearchParams { rounds, ..SearchParams::default() };
    let fit = fit_search(&moments, &params, &Constraints::none(m), &Control::default()).unwrap();
    format!("score {:.3}", fit.report.objective)
}

const LEEWAY: Leeway = Leeway { free: 100, slack: 0.01 };

/// Two classes of 40 rows with 40 nodes, and their OR-SGBN networks.
fn two_classes() -> (Matrix, Vec<usize>, Vec<GaussianNetwork>) {
    let (n, m) = (40, 40);
    let parts = [rows(n, m, 3), rows(n, m, 4)];
    let data: Vec<f64> = parts.iter().flat_map(|p| p.data().to_vec()).collect();
    let all = Moments::of_rows(&Matrix::from_vec(2 * n, m, data.clone()).unwrap(), None).unwrap();
    let deviation: Vec<f64> = all.variance().iter().map(|v| v.sqrt()).collect();
    let x = Matrix::from_fn(2 * n, m, |a, j| (data[a * m + j] - all.mean[j]) / deviation[j]);
    let class: Vec<usize> = (0..2 * n).map(|a| a / n).collect();
    let networks = (0..2)
        .map(|c| {
            let own: Vec<usize> = (c * n..(c + 1) * n).collect();
            let moments = Moments::of_rows(&x.select(&own, &(0..m).collect::<Vec<_>>()), None).unwrap();
            let fit = fit_or(&moments, 10.0, &Constraints::none(m), &Control::default()).unwrap();
            GaussianNetwork::from_structure(&fit, &moments).unwrap()
        })
        .collect();
    (x, class, networks)
}

fn mm(solver: MmSolver) -> String {
    let (x, class, networks) = two_classes();
    let weights = vec![1.0; x.rows()];
    let data = Labelled { x: &x, class: &class, weights: &weights, networks: &networks };
    let fit = fit_mm(&data, LEEWAY, 0.3, solver, &Control::default()).unwrap();
    format!("objective {:.4} -> {:.4}", fit.objective[0], fit.report.objective)
}

fn kl() -> String {
    let (x, class, networks) = two_classes();
    let weights = vec![1.0; x.rows()];
    let data = Labelled { x: &x, class: &class, weights: &weights, networks: &networks };
    let fit = fit_kl(&data, LEEWAY, 1.0, &Control::default()).unwrap();
    format!("J {:.4} -> {:.4}, {} iterations", fit.objective[0], fit.report.objective, fit.report.iterations)
}

fn main() {
    time("or 40 nodes n=1000", 0.05, 5, || or(1000, 40, 600.0));
    time("or 40 nodes n=1000 dense", 0.05, 5, || or(1000, 40, 100.0));
    time("or 100 nodes n=1000", 0.5, 3, || or(1000, 100, 600.0));
    time("search 40 nodes 100 rounds", 0.3, 3, || search(1000, 40, 100));
    time("mm smooth 40 nodes", 1.0, 3, || mm(MmSolver::Smooth));
    time("mm ccp 40 nodes", 10.0, 1, || mm(MmSolver::Ccp));
    time("kl 40 nodes", 5.0, 1, kl);
    time("search 200 nodes 100 rounds", 60.0, 1, || search(500, 200, 100));
    time("or 1000 nodes n=500", 60.0, 1, || or(500, 1000, 300.0));
}
