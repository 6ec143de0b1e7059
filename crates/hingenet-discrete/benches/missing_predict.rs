//! Class scores of rows with 30 % missing cells from a TAN on data shaped like scanned digits (64 features
//! of 4 states, 10 classes), and from a 2-tree; prints microseconds per row. Run with
//! `cargo bench --bench missing_predict [-- rows]`; with `--data FOLDER` it times TAN on the rows found there and
//! prints JSON lines (what `benchmarks/missing_predict.py` asks for).

#![allow(clippy::print_stdout, clippy::disallowed_methods)]

mod coded;

use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::table::Codes;
use hingenet_discrete::inference::Inference;
use hingenet_discrete::structure::{PairStatistics, Root, k_tree, tan};
use hingenet_discrete::{Network, Samples, Structure, counts};
use std::time::Instant;

const FEATURES: usize = 64;
const STATES: usize = 4;
const CLASSES: usize = 10;

/// Each feature follows its left neighbour or a pattern of the class.
fn rows(n: usize, missing: f64, seed: u64) -> Samples {
    let mut random = Random::new(seed);
    let class: Vec<usize> = (0..n).map(|_| random.below(CLASSES)).collect();
    let mut columns = vec![class];
    for i in 0..FEATURES {
        let cells = (0..n).map(|m| match random.below(3) {
            0 if i > 0 => columns[i][m],
            1 => (columns[0][m] * (i + 3) / 5) % STATES,
            _ => random.below(STATES),
        });
        let cells = cells.map(|state| state % STATES).collect();
        columns.push(cells);
    }
    let mut card = vec![STATES; FEATURES + 1];
    card[0] = CLASSES;
    let coded = columns.iter().enumerate().map(|(i, cells)| {
        let cell = |&state: &usize| (i == 0 || random.uniform() >= missing).then_some(state);
        Codes::from_options(card[i], cells.iter().map(cell).collect::<Vec<_>>().into_iter())
    });
    let coded = coded.collect();
    Samples::new(card, coded, None).unwrap()
}

fn fit(structure: Structure, samples: &Samples) -> Network {
    let n = counts::smoothed_counts(&structure, samples, 1.0).unwrap();
    let w = counts::ml_parameters(&structure, &n).unwrap();
    Network::new(structure, w).unwrap()
}

/// Times TAN on the test rows of a folder with the threads there are.
fn time_folder(folder: &std::path::Path) {
    let data = coded::read(folder);
    let pairs = PairStatistics::new(&data.training, &Control::default()).unwrap();
    let network = fit(tan(&pairs, Root::First).unwrap(), &data.training);
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(Inference::new(&network).log_joint_rows(&data.test).unwrap());
        start.elapsed().as_secs_f64() / data.test_class.len() as f64
    };
    let seconds = (0..10).map(time).fold(f64::INFINITY, f64::min);
    let accuracy = coded::accuracy(&network, &data);
    println!("{}", serde_json::json!({"job": "tan", "seconds": seconds, "accuracy": accuracy}));
}

fn main() {
    if let Some(folder) = coded::data_folder() {
        return time_folder(&folder);
    }
    let n: usize = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(20_000);
    let training = rows(2000, 0.0, 1);
    let pairs = PairStatistics::new(&training, &Control::default()).unwrap();
    let models = [("tan", tan(&pairs, Root::First), n), ("2-tree", k_tree(&pairs, 2), n)];
    for (name, structure, n) in models {
        let network = fit(structure.unwrap(), &training);
        for missing in [0.0, 0.3, 0.6] {
            let test = rows(n, missing, 2);
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let time = |_| {
                    let start = Instant::now();
                    let inference = Inference::new(&network);
                    std::hint::black_box(inference.log_joint_rows(&test.columns()[1..]).unwrap());
                    start.elapsed().as_secs_f64() * 1e6 / n as f64
                };
                let best = pool.install(|| (0..10).map(time).fold(f64::INFINITY, f64::min));
                println!("{name}, {:.0} % missing, {threads} threads: {best:.2} us/row", missing * 100.0);
            }
        }
    }
}
