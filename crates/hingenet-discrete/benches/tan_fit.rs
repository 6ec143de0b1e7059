//! Fits naive Bayes and TAN by maximum likelihood on a million coded rows and prints milliseconds.
//! Run with `cargo bench --bench tan_fit [-- rows]`; with `--data FOLDER` it times the rows found there and
//! prints JSON lines (what `benchmarks/tan_fit.py` asks for).

#![allow(clippy::print_stdout, clippy::disallowed_methods)]

mod coded;

use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::table::Codes;
use hingenet_discrete::structure::{PairStatistics, Root, tan};
use hingenet_discrete::{Network, Samples, Structure, counts};
use std::time::Instant;

const FEATURES: usize = 30;
const STATES: usize = 4;
const CLASSES: usize = 3;

/// Each feature repeats the one before it in half of the rows, so that there is a tree to find.
fn rows(n: usize) -> Samples {
    let mut random = Random::new(1);
    let class: Vec<u8> = (0..n).map(|_| random.below(CLASSES) as u8).collect();
    let mut columns = vec![class];
    for i in 0..FEATURES {
        let column = (0..n).map(|m| match random.bits() % 4 {
            0 | 1 if i > 0 => columns[i][m],
            2 => columns[0][m],
            _ => random.below(STATES) as u8,
        });
        let column = column.collect();
        columns.push(column);
    }
    let mut card = vec![STATES; FEATURES + 1];
    card[0] = CLASSES;
    Samples::new(card, columns.into_iter().map(Codes::U8).collect(), None).unwrap()
}

fn fit_tan(samples: &Samples) -> Network {
    let pairs = PairStatistics::new(samples, &Control::default()).unwrap();
    let structure = tan(&pairs, Root::First).unwrap();
    let mut n = pairs.counts_of(&structure).unwrap();
    counts::smooth(&structure, &mut n, 1.0);
    let w = counts::ml_parameters(&structure, &n).unwrap();
    Network::new(structure, w).unwrap()
}

fn fit_nb(samples: &Samples) -> Network {
    let structure = Structure::naive_bayes(samples.card().to_vec()).unwrap();
    let n = counts::smoothed_counts(&structure, samples, 1.0).unwrap();
    let w = counts::ml_parameters(&structure, &n).unwrap();
    Network::new(structure, w).unwrap()
}

fn best_of(runs: usize, work: impl Fn() -> Network) -> f64 {
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}

type Fit = fn(&Samples) -> Network;

/// Times the rows of a folder with the threads there are.
fn time_folder(folder: &std::path::Path) {
    let data = coded::read(folder);
    for (job, fit) in [("tan", fit_tan as Fit), ("nb", fit_nb)] {
        let seconds = best_of(20, || fit(&data.training)) / 1e3;
        let accuracy = coded::accuracy(&fit(&data.training), &data);
        println!("{}", serde_json::json!({"job": job, "seconds": seconds, "accuracy": accuracy}));
    }
}

fn main() {
    if let Some(folder) = coded::data_folder() {
        return time_folder(&folder);
    }
    let n = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(1_000_000);
    let samples = rows(n);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (tan_ms, nb_ms) =
            pool.install(|| (best_of(20, || fit_tan(&samples)), best_of(20, || fit_nb(&samples))));
        println!(
            "{n} rows x {FEATURES} columns, {STATES} states, {CLASSES} classes, {threads} threads: \
             tan {tan_ms:.1} ms, nb {nb_ms:.1} ms"
        );
    }
}
