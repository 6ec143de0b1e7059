//! The pool beside each of its terms alone, on small samples of tables:
//!
//! ```sh
//! cargo run --release --example pool_terms ROWS SAMPLES [--posteriors LINES.jsonl] FILE.csv...
//! ```
//!
//! The target is the column `class`. A line for each sample: file, rows, sample, and log-loss and accuracy of the pool and its terms
//! on at most 300 other rows, complete ones and with 30, 60 and 90 % of the cells blanked. With `--posteriors` the log posteriors of
//! the terms are written too: what `experiments/pool_prior.py` learns from.

#![allow(clippy::print_stdout)]

use hingenet::model::{Dataset, FitOptions, Predictions, fit};
use hingenet::table::{ReadOptions, Table, UnseenPolicy, read};
use hingenet::{Control, Error};
use hingenet_base::numeric::random::Random;
use std::error::Error as AnyError;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

const MOST_TESTED: usize = 300;
const RATES: [f64; 4] = [0.0, 0.3, 0.6, 0.9];
/// Least log probability that counts: a class that the sample has not is never predicted.
const FLOOR: f64 = -30.0;

/// A sample of a table.
struct Sample<'a> {
    file: &'a str,
    rows: usize,
    number: usize,
}

/// Test rows at one rate, as the pool and its terms judge them.
struct Judged {
    rate: f64,
    /// Share of blanked cells of each row.
    missing: Vec<f64>,
    /// The pool first.
    by: Vec<(&'static str, Predictions)>,
}

fn main() -> Result<(), Box<dyn AnyError>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [rows, samples, files @ ..] = &words[..] else { return Err("ROWS SAMPLES FILE.csv...".into()) };
    let (lines, files) = match files {
        [option, lines, files @ ..] if option == "--posteriors" => (Some(Path::new(lines)), files),
        _ => (None, files),
    };
    let (rows, samples): (usize, usize) = (rows.parse()?, samples.parse()?);
    for file in files {
        let table = read(Path::new(file), &ReadOptions::default(), &Control::default())?.table;
        let data = Dataset::new(table, "class", None)?;
        for number in 0..samples {
            let sample = Sample { file, rows, number };
            match judge(&data, &sample) {
                Ok((test, judged)) => {
                    println!("{file} {rows} {number}{}", figures(&test, &judged));
                    lines.map_or(Ok(()), |path| write_posteriors(path, &sample, &test, &judged))?;
                }
                Err(error) => println!("# {file} {rows} {number}: {error}"),
            }
        }
    }
    Ok(())
}

fn judge(data: &Dataset, sample: &Sample) -> Result<(Dataset, Vec<Judged>), Error> {
    let order = Random::stream(sample.number as u64, 99).permutation(data.n_rows());
    let (train, rest) = order.split_at(sample.rows.min(data.n_rows() * 4 / 5));
    let test = data.rows(&rest[..rest.len().min(MOST_TESTED)]);
    let control = Control::default();
    let model = fit(&"pool".parse()?, &data.rows(train), FitOptions::default(), &control)?;
    let at_rate = |(stream, rate): (usize, f64)| -> Result<Judged, Error> {
        let mut random = Random::stream(sample.number as u64, 1000 + stream as u64);
        let (rows, missing) = blanked(&test.features, rate, &mut random);
        let (pool, terms) = model.predict_terms(&rows, UnseenPolicy::Missing, &control)?;
        Ok(Judged { rate, missing, by: std::iter::once(("pool", pool)).chain(terms).collect() })
    };
    let judged = RATES.into_iter().enumerate().map(at_rate).collect::<Result<Vec<_>, _>>()?;
    Ok((test, judged))
}

/// The rows without a share of their cells, and the share that each of them lost.
fn blanked(rows: &Table, rate: f64, random: &mut Random) -> (Table, Vec<f64>) {
    let (mut rows, d) = (rows.clone(), rows.n_columns());
    let mut missing = vec![0.0; rows.n_rows()];
    for (i, missing) in missing.iter_mut().enumerate() {
        for j in (0..d).filter(|_| random.uniform() < rate).collect::<Vec<_>>() {
            rows.blank(i, j);
            *missing += 1.0 / d as f64;
        }
    }
    (rows, missing)
}

fn figures(test: &Dataset, judged: &[Judged]) -> String {
    let mut line = String::new();
    for Judged { rate, by, .. } in judged {
        line += &format!(" | {:.0} %", 100.0 * rate);
        for (name, of) in by {
            let of_row = |m: usize| test.class.get(m).map(|y| (-of.row(m)[y].max(FLOOR), of.class(m) == y));
            let found: Vec<(f64, bool)> = (0..of.len()).filter_map(of_row).collect();
            let n = found.len() as f64;
            let loss = found.iter().map(|(loss, _)| loss).sum::<f64>() / n;
            let accuracy = found.iter().filter(|(_, right)| *right).count() as f64 / n;
            line += &format!(" {name} {loss:.5} {accuracy:.5}");
        }
    }
    line
}

/// A line for each rate: log posteriors term by term and class by class, row by row.
fn write_posteriors(
    path: &Path,
    sample: &Sample,
    test: &Dataset,
    judged: &[Judged],
) -> Result<(), Box<dyn AnyError>> {
    let mut out = OpenOptions::new().append(true).create(true).open(path)?;
    let classes: Vec<Option<usize>> = (0..test.n_rows()).map(|m| test.class.get(m)).collect();
    for Judged { rate, missing, by } in judged {
        let of_row =
            |m: usize| by[1..].iter().flat_map(move |(_, of)| of.row(m).iter().map(|v| v.max(FLOOR)));
        let posteriors: Vec<f64> = (0..test.n_rows()).flat_map(of_row).collect();
        let terms: Vec<&str> = by[1..].iter().map(|(name, _)| *name).collect();
        let line = serde_json::json!({
            "file": sample.file, "rows": sample.rows, "sample": sample.number, "rate": rate, "terms": terms,
            "classes": test.classes.len(), "class": classes, "missing": missing, "posteriors": posteriors,
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}
