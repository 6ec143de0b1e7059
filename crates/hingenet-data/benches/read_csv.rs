//! Speed of the CSV reader on one thread: 1 million rows (or the number given) of 30 columns, a third
//! numbers with few distinct values, a third numbers that rarely repeat, a third categories. The file is
//! made in memory. Run with `cargo bench --bench read_csv [-- ROWS]`.

#![allow(clippy::print_stdout)]

use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::table::{Format, ReadOptions, Source, read};
use std::io::Write;
use std::time::Instant;

const COLUMNS: usize = 30;

fn main() {
    let rows = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(1_000_000);
    let text = file(rows);
    let megabytes = text.len() as f64 / 1e6;
    println!("{rows} rows, {COLUMNS} columns, {megabytes:.0} MB");
    let target = Some("class".into());
    let options = ReadOptions { format: Some(Format::Csv), target, ..ReadOptions::default() };
    for _ in 0..3 {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let source = Source::reader("bench", text.as_slice());
        let table = read(source, &options, &Control::default()).expect("the generated file is valid").table;
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!((table.n_rows(), table.n_columns()), (rows, COLUMNS));
        report("elapsed", seconds, megabytes, rows);
        if let (Some(before), Some(after)) = (cpu, cpu_seconds()) {
            report("processor", after - before, megabytes, rows);
        }
    }
}

fn report(what: &str, seconds: f64, megabytes: f64, rows: usize) {
    let per_cell = 1e9 * seconds / (rows * COLUMNS) as f64;
    println!("{what}: {seconds:.2} s, {:.0} MB/s, {per_cell:.1} ns a cell", megabytes / seconds);
}

/// Processor time of this thread where the system tells it: fair on a busy machine.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(|ns: f64| ns / 1e9)
}

fn file(rows: usize) -> Vec<u8> {
    let mut random = Random::new(1);
    let mut text = Vec::new();
    for j in 0..COLUMNS - 1 {
        let _ = write!(text, "x{j},");
    }
    text.extend_from_slice(b"class\n");
    for _ in 0..rows {
        for j in 0..COLUMNS {
            let u = random.uniform();
            let _ = match j % 3 {
                0 => write!(text, "{:.1}", (u * 200.0).floor() / 10.0),
                1 => write!(text, "{:.5}", (u - 0.5) * 200.0),
                _ => write!(text, "category {}", (u * u * 50.0) as usize),
            };
            text.push(if j + 1 < COLUMNS { b',' } else { b'\n' });
        }
    }
    text
}
