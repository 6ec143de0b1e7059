//! Time of fitting the pool and of predicting with missing features, on generated data of the size of two
//! well-known sets: handwritten digits (1797 x 64, 10 classes) and waveform (5000 x 21, 3 classes).
//!
//! `cargo bench --workspace --profile release --bench pool`; with `--data FOLDER` it works on `train.csv` and
//! `test.csv` (target `class`) found there and prints JSON lines, which is what `benchmarks/pool.py` asks for.

#![allow(clippy::print_stdout)]

use hingenet::model::{Dataset, FitOptions, ModelSpec, fit};
use hingenet_base::control::Control;
use hingenet_base::numeric::log::argmax;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::rows::Rows;
use hingenet_data::table::{Codes, Column, ReadOptions, Table, UnseenPolicy, read};
use hingenet_pool::{self, PoolParams};
use std::time::Instant;

/// Rows of numbers with a class.
struct Data {
    rows: Vec<Vec<f64>>,
    class: Vec<usize>,
    n_classes: usize,
}

impl Data {
    fn table(&self, mut missing: impl FnMut() -> bool) -> Table {
        let d = self.rows[0].len();
        let column = |j: usize| {
            let cells = self.rows.iter().map(|row| if missing() { f64::NAN } else { row[j] }).collect();
            Column::numeric(format!("x{j}"), cells)
        };
        Table::new((0..d).map(column).collect()).expect("columns of equal length")
    }
}

/// Breiman's waveforms: a random mixture of two of three triangles plus noise.
fn waveform(n: usize, seed: u64) -> Data {
    let mut random = Random::new(seed);
    let triangle = |peak: usize, j: usize| (6.0 - (j as f64 - peak as f64).abs()).max(0.0);
    let peaks = [(6, 14), (6, 10), (14, 10)];
    let mut data = Data { rows: vec![], class: vec![], n_classes: 3 };
    for _ in 0..n {
        let (c, u) = (random.below(3), random.uniform());
        let (a, b) = peaks[c];
        data.rows.push(
            (0..21).map(|j| u * triangle(a, j) + (1.0 - u) * triangle(b, j) + random.normal()).collect(),
        );
        data.class.push(c);
    }
    data
}

/// Ten smooth random pictures of 8 x 8 pixels, shifted and with noise, in 17 grey levels.
fn pictures(n: usize, seed: u64) -> Data {
    let mut shapes = Random::new(7);
    let strokes: Vec<Vec<(f64, f64)>> =
        (0..10).map(|_| (0..4).map(|_| (shapes.uniform() * 7.0, shapes.uniform() * 7.0)).collect()).collect();
    let mut random = Random::new(seed);
    let mut data = Data { rows: vec![], class: vec![], n_classes: 10 };
    for _ in 0..n {
        let c = random.below(10);
        let moved: Vec<(f64, f64)> =
            strokes[c].iter().map(|(x, y)| (x + 0.6 * random.normal(), y + 0.6 * random.normal())).collect();
        let grey = |j: usize, noise: f64| {
            let (x, y) = ((j % 8) as f64, (j / 8) as f64);
            let near = |(a, b): &(f64, f64)| (-0.5 * ((x - a).powi(2) + (y - b).powi(2))).exp();
            (16.0 * moved.iter().map(near).sum::<f64>().min(1.0) + noise).round().clamp(0.0, 16.0)
        };
        data.rows.push((0..64).map(|j| grey(j, 1.5 * random.normal())).collect());
        data.class.push(c);
    }
    data
}

fn run(name: &str, train: &Data, test: &Data, params: &PoolParams) {
    let class = Codes::from_options(train.n_classes, train.class.iter().map(|c| Some(*c)));
    let classes: Vec<String> = (0..train.n_classes).map(|c| c.to_string()).collect();
    let features = train.table(|| false);
    let rows = Rows::new(&features, &class, &classes, None).expect("rows of several classes");
    let start = Instant::now();
    let model =
        hingenet_pool::fit(&rows, params, [None, None], &Control::default()).expect("rows can be fitted");
    println!(
        "{name}: fit {:.2} s, {} support rows",
        start.elapsed().as_secs_f64(),
        model.summary().support_rows
    );
    let mut random = Random::new(1);
    for rate in [0.0, 0.3, 0.6, 0.9] {
        let rows = test.table(|| random.uniform() < rate);
        let start = Instant::now();
        let proba = model.log_proba(&rows).expect("rows have the training columns");
        let time = 1e6 * start.elapsed().as_secs_f64() / test.class.len() as f64;
        let right =
            proba.chunks_exact(test.n_classes).zip(&test.class).filter(|(p, c)| argmax(p) == **c).count();
        let share = 100.0 * right as f64 / test.class.len() as f64;
        println!("  {:>2.0} % missing: {time:>6.1} us a row, accuracy {share:.1} %", 100.0 * rate);
    }
}

/// Fits on `train.csv` and predicts `test.csv` of a folder, the best of some runs.
fn time_folder(folder: &std::path::Path) {
    let control = Control::default();
    let read = |name: &str| {
        let table = read(folder.join(name).as_path(), &ReadOptions::default(), &control)
            .expect("a readable file")
            .table;
        Dataset::new(table, "class", None).expect("a labelled file")
    };
    let (train, test) = (read("train.csv"), read("test.csv"));
    for spec in ["pool", "pool,fast=true"] {
        let spec: ModelSpec = spec.parse().expect("a model");
        let (fitted, model) =
            best_of(3, || fit(&spec, &train, FitOptions::default(), &control).expect("rows can be fitted"));
        let (predicted, answers) = best_of(5, || {
            model.predict(&test.features, UnseenPolicy::Missing).expect("rows have the training columns")
        });
        let class = |m: usize| test.class.get(m).map(|c| &test.classes[c]);
        let is_right = |m: &usize| Some(&model.classes[answers.class(*m)]) == class(*m);
        let n = test.n_rows() as f64;
        let right = (0..answers.len()).filter(is_right).count() as f64;
        let line = serde_json::json!({"model": spec.to_string(), "accuracy": right / n,
            "fit": fitted, "predict": predicted.map(|seconds| seconds / n)});
        println!("{line}");
    }
}

/// Least wall-clock and least processor seconds of some runs, and the last result.
fn best_of<T>(repeats: usize, work: impl Fn() -> T) -> ([f64; 2], T) {
    let timed = || {
        let (start, processor) = (Instant::now(), processor_seconds());
        let result = work();
        ([start.elapsed().as_secs_f64(), processor_seconds() - processor], result)
    };
    let (mut least, mut result) = timed();
    for _ in 1..repeats {
        let (times, again) = timed();
        least = [least[0].min(times[0]), least[1].min(times[1])];
        result = again;
    }
    (least, result)
}

/// Seconds that all threads of this process have worked (Linux; 0 elsewhere).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn main() {
    let mut arguments = std::env::args().skip_while(|a| a != "--data");
    if let Some(folder) = arguments.nth(1) {
        return time_folder(std::path::Path::new(&folder));
    }
    run("digits-like 1797 x 64", &pictures(1797, 1), &pictures(2000, 2), &PoolParams::default());
    run("waveform 5000 x 21", &waveform(5000, 3), &waveform(5000, 4), &PoolParams::default());
    run(
        "waveform 5000 x 21, fast",
        &waveform(5000, 3),
        &waveform(5000, 4),
        &PoolParams { fast: true, ..PoolParams::default() },
    );
}
