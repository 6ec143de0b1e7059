//! Model files whose content was altered on purpose and whose checksums are right: whatever loads must answer every
//! command with finite numbers or a proper error, within 2 GB of address space and 5 s.
//!
//! `cargo test --release --workspace --test hostile -- --seed 7 --each 1000` alters every model 1000 times.
//!
//! The files are tried in child processes, so that a crash or a hang of one does not hide the others.

#![allow(clippy::print_stdout)] // a child talks to its parent on it

use hingenet::model::{Dataset, FitOptions, fit};
use hingenet::table::{Codes, Column, ReadOptions, Table, read};
use hingenet_base::numeric::random::Random;
use hingenet_hostile::{answers, mutate::Parts};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Address space of a child, in KiB.
const MEMORY: usize = 2 << 20;
/// Time that one file may take, all commands together.
const BUDGET: Duration = Duration::from_secs(5);

/// What to try: `each` alterations of every model, or those of one model from a number on.
struct Plan {
    seed: u64,
    each: usize,
    child: Option<(String, usize)>,
}

impl Plan {
    /// From `--seed S`, `--each N` and, in a child, `--of MODEL --from K`. Words of other test programs are ignored.
    fn of_arguments() -> Self {
        let words: Vec<String> = std::env::args().collect();
        let after = |name: &str| words.iter().position(|w| w == name).and_then(|at| words.get(at + 1));
        let number = |name: &str| after(name).and_then(|text| text.parse().ok());
        let child = after("--of").cloned().zip(number("--from").map(|k: u64| k as usize));
        Plan {
            seed: number("--seed").unwrap_or(20_130_613),
            each: number("--each").map_or(50, |n| n as usize),
            child,
        }
    }
}

/// What came of the alterations of one model.
#[derive(Default)]
struct Tally {
    refused: usize,
    answered: usize,
    problems: Vec<String>,
}

fn main() -> ExitCode {
    let plan = Plan::of_arguments();
    if let Some((name, from)) = &plan.child {
        try_all(&plan, name, *from);
        return ExitCode::SUCCESS;
    }
    let mut all = Tally::default();
    require_all_parts();
    for name in names() {
        let tally = watched(&plan, &name);
        all.refused += tally.refused;
        all.answered += tally.answered;
        all.problems.extend(tally.problems);
    }
    println!(
        "{} altered files refused, {} answered, {} problems",
        all.refused,
        all.answered,
        all.problems.len()
    );
    all.problems.iter().for_each(|problem| println!("{problem}"));
    let tried = all.refused > 0 && all.answered > 0;
    if tried && all.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hingenet/tests/files")
}

/// One model of every kind.
fn names() -> Vec<String> {
    let files = folder().read_dir().unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter_map(|f| Some(f.strip_suffix(".hgn")?.to_string())).collect();
    names.sort();
    assert!(!names.is_empty());
    names.push(WITH_GAPS.into());
    names.extend(made_models().map(|(name, ..)| name.to_string()));
    names
}

/// A model that files of version 0.1.0 do not hold: a pool that has learnt that gaps tell the class.
const WITH_GAPS: &str = "pool-with-gaps";

/// What else they do not hold, by the sections and fields that they lack: statistics that are kept, scores of prediction sets,
/// columns left out, prototypes in place of rows, and where discriminative learning began.
const MADE: [(Extra, &[(&str, &str)]); 4] = [
    (
        Extra::Statistics,
        &[
            ("statistics-nb", "nb:ml"),
            ("statistics-tan", "tan:ml"),
            ("statistics-aode", "aode:ml"),
            ("statistics-sgbn", "sgbn:or,lambda1=20"),
            ("statistics-sgbn-search", "sgbn:search"),
        ],
    ),
    (Extra::Sets, &[("sets-tan", "tan:ml"), ("sets-sgbn", "sgbn:or,lambda1=20"), ("pool", "pool,fast=true")]),
    (Extra::RowNames, &[("row-names-tan", "tan:ml"), ("row-names-pool", "pool,fast=true,a=tan:ml")]),
    (
        Extra::None,
        &[
            ("pool-without-rows", "pool,fast=true,rows=none"),
            ("started-kl", "sgbn:kl,lambda1=20"),
            ("started-mm", "sgbn:mm,lambda1=20"),
        ],
    ),
];

/// Their names and models, and what else they hold.
fn made_models() -> impl Iterator<Item = (&'static str, &'static str, Extra)> {
    MADE.iter().flat_map(|(extra, models)| models.iter().map(|(name, spec)| (*name, *spec, *extra)))
}

/// What a model is fitted with.
#[derive(Clone, Copy, PartialEq)]
enum Extra {
    None,
    Statistics,
    Sets,
    /// A column that names the rows, which discrete models leave out.
    RowNames,
}

/// The file of a model.
fn file(name: &str) -> Vec<u8> {
    if let Some((_, spec, extra)) = made_models().find(|(made, ..)| *made == name) {
        return made(spec, extra);
    }
    match name {
        WITH_GAPS => with_gaps(),
        _ => std::fs::read(folder().join(format!("{name}.hgn"))).unwrap(),
    }
}

/// A model of rows with some of the columns of the query.
fn made(spec: &str, extra: Extra) -> Vec<u8> {
    let mut random = Random::new(5);
    let class: Vec<usize> = (0..120).map(|i| i % 3).collect();
    let mut number = |shift: f64| class.iter().map(|c| shift * *c as f64 + random.normal()).collect();
    let numbers = [("a", number(1.0)), ("b", number(0.5))].map(|(name, x)| Column::numeric(name, x));
    let names = |names: [&str; 3]| names.map(String::from).to_vec();
    let colours = class.iter().map(|c| Some((c + random.below(2)) % 3));
    let colour =
        Column::categorical("colour", names(["blue", "green", "red"]), Codes::from_options(3, colours));
    let kind = Column::categorical(
        "kind",
        (0..class.len()).map(|m| format!("row {m:03}")).collect(),
        Codes::from_options(class.len(), (0..class.len()).map(Some)),
    );
    let columns = numbers.into_iter().chain([colour]).chain((extra == Extra::RowNames).then_some(kind));
    let features = Table::new(columns.collect()).unwrap();
    let class = Codes::from_options(3, class.into_iter().map(Some));
    let data = Dataset::from_parts("class", features, names(["high", "low", "mid"]), class, None).unwrap();
    let options = FitOptions {
        keep_statistics: extra == Extra::Statistics,
        calibrate_sets: (extra == Extra::Sets).then_some(0.3),
        ..FitOptions::default()
    };
    let model = fit(&spec.parse().unwrap(), &data, options, &hingenet::Control::default()).unwrap();
    model.to_bytes().unwrap()
}

fn with_gaps() -> Vec<u8> {
    let mut random = Random::new(3);
    let class: Vec<usize> = (0..160).map(|i| i % 2).collect();
    let mut number = |c: &usize, gaps: f64| match random.uniform() < gaps {
        true => f64::NAN,
        false => *c as f64 + random.normal(),
    };
    let columns = vec![
        Column::numeric("a", class.iter().map(|c| number(c, 0.05 + 0.7 * *c as f64)).collect()),
        Column::numeric("b", class.iter().map(|c| number(c, 0.1)).collect()),
    ];
    let names = ["low", "mid"].map(String::from).to_vec();
    let class = Codes::from_options(2, class.into_iter().map(Some));
    let data = Dataset::from_parts("class", Table::new(columns).unwrap(), names, class, None).unwrap();
    let spec = "pool,fast=true".parse().unwrap();
    let model = fit(&spec, &data, FitOptions::default(), &hingenet::Control::default()).unwrap();
    assert!(model.pool_summary().unwrap().gaps.is_some());
    model.to_bytes().unwrap()
}

/// Every part that a file may have is in one of them, or nothing would be said of it.
fn require_all_parts() {
    let files: Vec<Vec<u8>> = names().iter().map(|name| file(name)).collect();
    for part in [
        "statistics/task",
        "statistics/gathered",
        "sets/numbers",
        "prototype_",
        "left_out",
        "\"start\"",
        "term_a/",
        "gaps/",
    ] {
        let has = |file: &Vec<u8>| file.windows(part.len()).any(|bytes| bytes == part.as_bytes());
        assert!(files.iter().any(has), "no model has `{part}`");
    }
}

/// Rows with missing cells, unseen categories and numbers far outside.
fn query() -> Table {
    let control = hingenet::Control::default();
    let all = read(folder().join("query.csv").as_path(), &ReadOptions::default(), &control).unwrap().table;
    all.rows(&(0..all.n_rows()).step_by(5).collect::<Vec<_>>())
}

/// The work of a child: says the number of every alteration before and its outcome after.
fn try_all(plan: &Plan, name: &str, from: usize) {
    let parts = Parts::of(&file(name)).unwrap();
    let (query, stream) =
        (query(), name.bytes().fold(0u64, |h, b| h.wrapping_mul(31).wrapping_add(b.into())));
    for k in from..plan.each {
        println!("{k}");
        let mut random = Random::stream(plan.seed, stream.wrapping_add((k as u64) << 32));
        let file = parts.altered(&mut random).seal();
        let start = Instant::now();
        let (loads, mut problems) = answers::problems(&file, &query);
        if start.elapsed() > BUDGET {
            problems.push(format!("took {:.1} s", start.elapsed().as_secs_f64()));
        }
        problems.iter().for_each(|problem| println!("{problem}"));
        println!("{}", if loads { "answered" } else { "refused" });
    }
}

/// Children until all alterations of a model are tried; one that dies or hangs is a problem of the file at hand.
fn watched(plan: &Plan, name: &str) -> Tally {
    let mut tally = Tally::default();
    let mut from = 0;
    while from < plan.each {
        let (mut child, lines) = start(plan, name, from);
        let mut done = true;
        loop {
            let line = match lines.recv_timeout(12 * BUDGET) {
                Ok(line) => line,
                Err(_) if done && child.wait().is_ok_and(|status| status.success()) => return tally,
                Err(_) => break,
            };
            match (line.as_str(), line.parse::<usize>()) {
                (_, Ok(k)) => (from, done) = (k + 1, false),
                ("refused", _) => (tally.refused, done) = (tally.refused + 1, true),
                ("answered", _) => (tally.answered, done) = (tally.answered + 1, true),
                _ => tally.problems.push(format!("{name} {}: {line}", from - 1)),
            }
        }
        // the child may be gone already
        let _ = child.kill();
        let status = child.wait().unwrap();
        tally.problems.push(format!("{name} {}: died or took too long ({status})", from.saturating_sub(1)));
    }
    tally
}

/// A child with its lines of standard output.
fn start(plan: &Plan, name: &str, from: usize) -> (Child, Receiver<String>) {
    let limits = format!("ulimit -v {MEMORY} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limits]).arg(std::env::current_exe().unwrap());
    command.args(["--seed", &plan.seed.to_string(), "--each", &plan.each.to_string()]);
    command.args(["--of", name, "--from", &from.to_string()]).env("RAYON_NUM_THREADS", "1");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let (output, (send, receive)) = (child.stdout.take().unwrap(), channel());
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    (child, receive)
}
