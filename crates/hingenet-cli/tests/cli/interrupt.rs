//! Ctrl-C ends long work with exit code 130 and leaves no file.

#![cfg(unix)]

use crate::support::Folder;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Sends a signal, such as `INT`.
pub fn signal(child: &Child, name: &str) {
    let status = Command::new("sh").arg("-c").arg(format!("kill -{name} {}", child.id())).status().unwrap();
    assert!(status.success());
}

/// Waits for the exit code, at most a minute.
pub fn exit_code(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("the program did not stop");
}

#[test]
fn a_long_evaluation_stops() {
    let folder = Folder::generated("waveform -n 3000 -o d.csv");
    let line = "evaluate d.csv --target class --model majority --repeats 3000 --json out.json -v";
    let mut child = folder.command(line).spawn().unwrap();
    // the first detail says that the file was read, so the handler is there
    let mut first = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("detail"), "{first}");
    signal(&child, "INT");
    assert_eq!(exit_code(&mut child), Some(130));
    assert_eq!(folder.names(), ["d.csv"]);
}

#[test]
fn a_fit_that_still_reads_stops() {
    let folder = Folder::new();
    let mut child = folder.command("fit - --target y --model majority -o m.hgn").spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let rows = "1.5,a\n2.5,b\n".repeat(10_000);
    // more than a pipe holds: once this is written the program reads, so the handler is there
    input.write_all(b"x,y\n").unwrap();
    (0..20).for_each(|_| input.write_all(rows.as_bytes()).unwrap());
    let feeder = std::thread::spawn(move || while input.write_all(rows.as_bytes()).is_ok() {});
    signal(&child, "INT");
    assert_eq!(exit_code(&mut child), Some(130));
    feeder.join().unwrap();
    assert!(folder.names().is_empty());
}

/// Starts a command that would run for long, interrupts it after two seconds, and says how long it then took to end.
fn time_to_stop(folder: &Folder, line: &str) -> Duration {
    let mut child = folder.command(line).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    signal(&child, "INT");
    let start = Instant::now();
    assert_eq!(exit_code(&mut child), Some(130), "{line}");
    start.elapsed()
}

/// The promise is a second of an idle machine; tests run beside others.
#[test]
fn a_fisher_fit_and_a_prediction_stop_soon() {
    let folder = Folder::generated("waveform -n 4000 -o d.csv");
    let took = time_to_stop(&folder, "fit d.csv --target class --model fisher:or -o m.hgn");
    assert!(took < Duration::from_secs(5), "the fit stopped after {took:?}");
    folder.succeeds("generate waveform -n 3000 -o small.csv");
    folder.succeeds("fit small.csv --target class --model pool,fast=true -o pool.hgn");
    // half of the cells missing, hardly a pattern twice, and more rows than two seconds are enough for
    let mut random = hingenet_base::numeric::random::Random::new(1);
    let header: Vec<String> = (0..21).map(|j| format!("x{j:02}")).collect();
    let mut rows = String::new();
    for _ in 0..60_000 {
        let cell = |_| if random.uniform() < 0.5 { String::new() } else { format!("{:.2}", random.normal()) };
        rows += &((0..21).map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    folder.write("new.csv", (header.join(",") + "\n" + &rows.repeat(10)).as_bytes());
    let took = time_to_stop(&folder, "predict pool.hgn new.csv -o out.csv");
    assert!(took < Duration::from_secs(5), "the prediction stopped after {took:?}");
    assert!(!folder.names().iter().any(|name| name == "m.hgn" || name == "out.csv"));
}
