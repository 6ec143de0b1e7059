//! Time of Shapley values on one thread: rows of 30 features and two classes, for a model of every kind; prints
//! milliseconds a row, the mean absolute value and the mean standard error.
//!
//! `cargo bench --workspace --profile release --bench explain [-- MODEL...]`

#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use hingenet::model::{Dataset, FitOptions, fit};
use hingenet::table::{Codes, Column, Table, UnseenPolicy};
use hingenet::{Control, Reasons};
use hingenet_base::numeric::random::Random;
use std::time::Instant;

const FEATURES: usize = 30;
const ROWS: usize = 100;

/// Each feature follows its left neighbour and, some more than others, the class.
fn data(n: usize) -> Dataset {
    let mut random = Random::new(1);
    let class: Vec<usize> = (0..n).map(|_| random.below(2)).collect();
    let mut last = vec![0.0; n];
    let mut columns = Vec::new();
    for j in 0..FEATURES {
        for (x, c) in last.iter_mut().zip(&class) {
            *x = 0.7 * *x + random.normal() + 0.3 * (j % 4) as f64 * *c as f64;
        }
        columns.push(Column::numeric(format!("x{j}"), last.clone()));
    }
    let codes = Codes::from_options(2, class.into_iter().map(Some));
    columns.push(Column::categorical("class", vec!["u".into(), "v".into()], codes));
    Dataset::new(Table::new(columns).unwrap(), "class", None).unwrap()
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let all =
        ["nb:ml", "tan:ml", "kdb2:ml", "aode:ml", "kde-tan", "lu", "sgbn:or,lambda1=20", "pool,fast=true"];
    let models = if asked.is_empty() { all.map(String::from).to_vec() } else { asked };
    let data = data(1000);
    let rows = data.features.rows(&(0..ROWS).collect::<Vec<_>>());
    let control = Control::default();
    for name in models {
        let model = fit(&name.parse().unwrap(), &data, FitOptions::default(), &control).unwrap();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let start = Instant::now();
        let explained: Vec<_> = one.install(|| {
            let all = model.explanations(&rows, UnseenPolicy::Missing, Reasons::default(), &control).unwrap();
            all.map(|e| e.unwrap()).collect()
        });
        let time = start.elapsed().as_secs_f64() * 1e3 / ROWS as f64;
        let terms = || explained.iter().flat_map(|e| &e.terms);
        let n = terms().count() as f64;
        let size = terms().map(|t| t.scores[0].abs()).sum::<f64>() / n;
        let error = terms().filter_map(|t| t.standard_error.as_ref()).map(|e| e[0]).sum::<f64>() / n;
        println!("{name}: {time:.2} ms a row, mean absolute value {size:.3}, mean standard error {error:.3}");
    }
}
