//! The pool beside each of its terms alone, on small samples of tables:
//!
//! ```sh
//! cargo run --release --example pool_terms ROWS SAMPLES FILE.csv...
//! ```
//!
//! The target is the column `class`. A line for each sample: file, rows, sample, and log-loss and accuracy of the pool and its terms
//! on at most 600 other rows.

#![allow(clippy::print_stdout)]

use hingenet::model::{Dataset, FitOptions, Predictions, fit};
use hingenet::table::{ReadOptions, UnseenPolicy, read};
use hingenet::{Control, Error};
use hingenet_base::numeric::random::Random;
use std::path::Path;

const MOST_TESTED: usize = 600;
/// Least log probability that counts: a class that the sample has not is never predicted.
const FLOOR: f64 = -30.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [rows, samples, files @ ..] = &words[..] else { return Err("ROWS SAMPLES FILE.csv...".into()) };
    let (rows, samples): (usize, usize) = (rows.parse()?, samples.parse()?);
    for file in files {
        let table = read(Path::new(file), &ReadOptions::default(), &Control::default())?.table;
        let data = Dataset::new(table, "class", None)?;
        for sample in 0..samples {
            match line(&data, rows, sample) {
                Ok(found) => println!("{file} {rows} {sample}{found}"),
                Err(error) => println!("# {file} {rows} {sample}: {error}"),
            }
        }
    }
    Ok(())
}

fn line(data: &Dataset, rows: usize, sample: usize) -> Result<String, Error> {
    let order = Random::stream(sample as u64, 99).permutation(data.n_rows());
    let (train, rest) = order.split_at(rows.min(data.n_rows() * 4 / 5));
    let test = data.rows(&rest[..rest.len().min(MOST_TESTED)]);
    let control = Control::default();
    let model = fit(&"pool".parse()?, &data.rows(train), FitOptions::default(), &control)?;
    let (pool, terms) = model.predict_terms(&test.features, UnseenPolicy::Missing, &control)?;
    let figures = |name: &str, of: &Predictions| {
        let of_row = |m: usize| test.class.get(m).map(|y| (-of.row(m)[y].max(FLOOR), of.class(m) == y));
        let found: Vec<(f64, bool)> = (0..of.len()).filter_map(of_row).collect();
        let n = found.len() as f64;
        let loss = found.iter().map(|(loss, _)| loss).sum::<f64>() / n;
        let accuracy = found.iter().filter(|(_, right)| *right).count() as f64 / n;
        format!(" {name} {loss:.5} {accuracy:.5}")
    };
    let alone = terms.iter().map(|(name, of)| figures(name, of));
    Ok(std::iter::once(figures("pool", &pool)).chain(alone).collect())
}
