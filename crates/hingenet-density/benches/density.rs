//! Speed of the density family: HSIC of all pairs, pair densities, plug-in matrices, a whole fit, lookups.
//! Run with `cargo bench --bench density [part]`; with `--data FOLDER` it times the numbers found there and prints JSON
//! lines (what `benchmarks/hsic.py`, `kde.py` and `svm.py` ask for).

#![allow(clippy::print_stdout, clippy::disallowed_methods)]

#[path = "../tests/support/mod.rs"]
mod support;

use hingenet_base::control::Control;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_base::optimise::linear_svm::{SvmProblem, linear_svm};
use hingenet_data::classifier::Classifier;
use hingenet_data::rows::Rows;
use hingenet_density::estimate::bandwidth::{PlaneBandwidth, normal_scale_plane};
use hingenet_density::estimate::kernel::PlaneKde;
use hingenet_density::estimate::sample::{PairSample, Sample};
use hingenet_density::generate::{Dependence, Networks};
use hingenet_density::structure::hsic::{DEFAULT_RESIDUAL, DependenceKernel, all_pairs};
use hingenet_density::structure::pairs;
use hingenet_density::{Params, Variant};
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;
use support::draw;

fn main() {
    if let Some(folder) = std::env::args().skip_while(|a| a != "--data").nth(1) {
        return time_folder(Path::new(&folder));
    }
    let part = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let wanted = |name: &str| part.as_deref().is_none_or(|p| p == name);
    if wanted("hsic") {
        hsic();
    }
    if wanted("densities") {
        densities();
    }
    if wanted("bandwidths") {
        bandwidths();
    }
    if wanted("svm") {
        svm();
    }
    if wanted("fit") {
        fit();
    }
}

fn columns(n: usize, d: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let mut before = vec![0.0; n];
    (0..d)
        .map(|_| {
            let column: Vec<f64> = before.iter().map(|b| 0.5 * b + random.normal()).collect();
            before.clone_from(&column);
            column
        })
        .collect()
}

fn hsic() {
    for (n, d) in [(10_000, 60), (500, 60)] {
        let values = columns(n, d, 1);
        let start = Instant::now();
        let samples: Vec<Sample> = values.iter().map(|c| Sample::new(c.clone())).collect();
        let kernels: Vec<DependenceKernel> = samples.par_iter().map(DependenceKernel::of).collect();
        let widths = start.elapsed().as_secs_f64();
        let all = all_pairs(&samples, &kernels, DEFAULT_RESIDUAL, &Control::default()).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let total: f64 = all.v_statistics.iter().sum();
        println!("hsic: n = {n}, d = {d}: {seconds:.3} s (widths {widths:.3}), sum {total:.6}");
    }
}

fn densities() {
    let (train, test) = (columns(1000, 20, 2), columns(1000, 20, 3));
    let list: Vec<(usize, usize)> = pairs(20).collect();
    let start = Instant::now();
    let total: f64 = list
        .par_iter()
        .map(|&(i, j)| {
            let sample = PairSample::new(train[i].clone(), train[j].clone());
            let kde = PlaneKde::new(&sample, normal_scale_plane(&sample)).unwrap();
            kde.log_densities([&test[i], &test[j]], |_| None).iter().sum::<f64>()
        })
        .collect::<Vec<f64>>()
        .iter()
        .sum();
    println!("densities: 190 pairs, 1000 x 1000, exact: {:.3} s ({total:.1})", start.elapsed().as_secs_f64());
}

fn bandwidths() {
    for n in [300, 1000, 5000] {
        let values = columns(n, 11, 4);
        let start = Instant::now();
        let mut sum = 0.0;
        for k in 0..10 {
            let sample = PairSample::new(values[k].clone(), values[k + 1].clone());
            sum += PlaneBandwidth::PlugIn.choose(&sample).a;
        }
        let each = start.elapsed().as_secs_f64() / 10.0;
        println!("bandwidths: plug-in matrix, n = {n}: {:.2} ms each, one thread ({sum:.3})", 1e3 * each);
    }
}

fn svm() {
    let mut random = Random::new(5);
    for (n, p) in [(1000, 420), (5000, 100), (200, 3000)] {
        let x = Matrix::from_fn(n, p, |_, _| random.normal());
        let y: Vec<f64> =
            (0..n).map(|i| if x[(i, 0)] + x[(i, 1)] + random.normal() > 0.0 { 1.0 } else { -1.0 }).collect();
        let costs = vec![1.0; n];
        let problem = SvmProblem { rows: &x, labels: &y, costs: &costs };
        for gap in [1e-3, 1e-6] {
            let start = Instant::now();
            let found = linear_svm(problem, gap, None, &Control::default()).unwrap();
            println!(
                "svm: n = {n}, p = {p}, gap {gap:.0e}: {:.3} s, {} passes, reached {:.1e}",
                start.elapsed().as_secs_f64(),
                found.report.iterations,
                found.report.gap.unwrap_or(f64::NAN)
            );
        }
    }
}

fn fit() {
    let networks = Networks::forest(20, Dependence::Simple, 6).unwrap();
    let (table, class) = draw(&networks, [500, 500], 1);
    let (test, test_class) = draw(&networks, [500, 500], 2);
    let names = vec!["no".to_string(), "yes".to_string()];
    let rows = Rows::new(&table, &class, &names, None).unwrap();
    for variant in [Variant::Slb, Variant::Lu, Variant::KdeNaiveBayes, Variant::KdeTan] {
        let start = Instant::now();
        let model = hingenet_density::fit(&rows, &Params::new(variant), &Control::default()).unwrap().model;
        let seconds = start.elapsed().as_secs_f64();
        let p = model.log_proba(&test).unwrap();
        let wrong =
            (0..1000).filter(|&r| usize::from(p[2 * r + 1] > p[2 * r]) != test_class.get(r).unwrap()).count();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let start = Instant::now();
        let rounds = 20;
        pool.install(|| (0..rounds).for_each(|_| drop(model.decision_values(&test).unwrap())));
        let each = start.elapsed().as_secs_f64() / f64::from(rounds);
        let lookups = 1000 * (20 + model.pairs().len());
        let summary = model.summary;
        println!(
            "fit: {variant:?} on 1000 x 20: {seconds:.2} s, test error {:.1} %, kept {}, fraction {:?}, balanced {}, \
             tables {} numbers, error {:.1e}, {:.1} million lookups a second",
            wrong as f64 / 10.0,
            summary.kept,
            summary.fraction,
            summary.balanced,
            summary.table_numbers,
            summary.table_error,
            lookups as f64 / each / 1e6
        );
    }
}

/// Column after column, eight bytes a number.
fn read_columns(path: &Path, rows: usize) -> Vec<Vec<f64>> {
    let bytes = std::fs::read(path).unwrap();
    let number = |b: &[u8]| f64::from_le_bytes(b.try_into().unwrap());
    let numbers: Vec<f64> = bytes.chunks_exact(8).map(number).collect();
    numbers.chunks(rows).map(<[f64]>::to_vec).collect()
}

fn write_numbers(path: &Path, numbers: &[f64]) {
    let bytes: Vec<u8> = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
    std::fs::write(path, bytes).unwrap();
}

/// Least time of some runs, and the last result.
fn best_of<R>(runs: usize, work: impl Fn() -> R) -> (f64, R) {
    let timed = || {
        let start = Instant::now();
        let result = work();
        (start.elapsed().as_secs_f64(), result)
    };
    (1..runs).fold(timed(), |best, _| {
        let next = timed();
        (best.0.min(next.0), next.1)
    })
}

/// `meta.json` names the job; results go into the folder so that the caller can compare them.
fn time_folder(folder: &Path) {
    let meta: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("meta.json")).unwrap()).unwrap();
    let rows = meta["rows"].as_u64().unwrap() as usize;
    let x = read_columns(&folder.join("x.f64"), rows);
    match meta["job"].as_str().unwrap() {
        "hsic" => time_hsic(folder, &x),
        "kde" => time_densities(folder, &x, rows),
        _ => time_machine(folder, &x, rows, meta["gaps"].as_array().unwrap()),
    }
}

fn time_hsic(folder: &Path, x: &[Vec<f64>]) {
    let (seconds, values) = best_of(3, || {
        let samples: Vec<Sample> = x.iter().map(|c| Sample::new(c.clone())).collect();
        let kernels: Vec<DependenceKernel> = samples.par_iter().map(DependenceKernel::of).collect();
        let all = all_pairs(&samples, &kernels, DEFAULT_RESIDUAL, &Control::default()).unwrap();
        pairs(x.len()).map(|(i, j)| all.v_statistic(i, j)).collect::<Vec<f64>>()
    });
    write_numbers(&folder.join("out.f64"), &values);
    println!("{}", serde_json::json!({"job": "hsic", "seconds": seconds}));
}

fn time_densities(folder: &Path, x: &[Vec<f64>], rows: usize) {
    let queries = read_columns(&folder.join("xt.f64"), rows);
    let list: Vec<(usize, usize)> = pairs(x.len()).collect();
    let sample = |i: usize, j: usize| PairSample::new(x[i].clone(), x[j].clone());
    let (seconds, values) = best_of(3, || {
        let of_pair = |&(i, j): &(usize, usize)| {
            let sample = sample(i, j);
            let kde = PlaneKde::new(&sample, normal_scale_plane(&sample)).unwrap();
            kde.log_densities([&queries[i], &queries[j]], |_| None)
        };
        list.par_iter().map(of_pair).collect::<Vec<_>>()
    });
    write_numbers(&folder.join("out.f64"), &values.concat());
    println!("{}", serde_json::json!({"job": "densities of all pairs", "seconds": seconds}));
    let (seconds, _) = best_of(3, || {
        (0..x.len() - 1).map(|i| PlaneBandwidth::PlugIn.choose(&sample(i, i + 1)).a).sum::<f64>()
    });
    let each = seconds / (x.len() - 1) as f64;
    println!("{}", serde_json::json!({"job": "one plug-in matrix", "seconds": each}));
}

fn time_machine(folder: &Path, x: &[Vec<f64>], rows: usize, gaps: &[serde_json::Value]) {
    let y = read_columns(&folder.join("y.f64"), rows).swap_remove(0);
    let matrix = Matrix::from_fn(rows, x.len(), |i, j| x[j][i]);
    let costs = vec![1.0; rows];
    let problem = SvmProblem { rows: &matrix, labels: &y, costs: &costs };
    for gap in gaps.iter().map(|g| g.as_f64().unwrap()) {
        let (seconds, found) = best_of(2, || linear_svm(problem, gap, None, &Control::default()).unwrap());
        println!(
            "{}",
            serde_json::json!({"job": format!("gap {gap:.0e}"), "seconds": seconds, "gap": found.report.gap,
                "primal": found.report.objective})
        );
    }
}
