//! Structure learning on rows that a script wrote: `cargo bench --bench dag_learn -- --data FOLDER`. The folder holds
//! `meta.json` (`rows`, `nodes`, `jobs`, `lambda1`, `repeats`) and `x.f64` (row by row). Prints one JSON line a job with
//! the least wall-clock and the least processor time of its runs, from the rows to the graph, and the arcs found.

#![allow(clippy::print_stdout, clippy::disallowed_methods)]

use hingenet_base::control::Control;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_gaussian::StructureMethod;
use hingenet_gaussian::moments::Moments;
use hingenet_gaussian::structure::{Constraints, Method};
use std::path::PathBuf;
use std::time::Instant;

/// Time that the threads of this process have spent on processors (Linux).
fn processor_seconds() -> Option<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let nanoseconds = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    Some(1e-9 * nanoseconds.sum::<f64>())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(at) = arguments.iter().position(|a| a == "--data") else { return };
    let folder = PathBuf::from(&arguments[at + 1]);
    let meta: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("meta.json")).unwrap()).unwrap();
    let size = |key: &str| meta[key].as_u64().unwrap() as usize;
    let bytes = std::fs::read(folder.join("x.f64")).unwrap();
    let values = bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    let x = Matrix::from_vec(size("rows"), size("nodes"), values).unwrap();
    for job in meta["jobs"].as_array().unwrap().iter().filter_map(|j| j.as_str()) {
        let kind = if job == "or" { StructureMethod::Or } else { StructureMethod::Search };
        let lambda1 = meta["lambda1"].as_f64().unwrap();
        let method = Method { kind, lambda1, ..Method::default() };
        let (mut best, mut least) = (f64::INFINITY, f64::INFINITY);
        let mut arcs = Vec::new();
        for _ in 0..size("repeats") {
            let (start, before) = (Instant::now(), processor_seconds());
            let moments = Moments::of_rows(&x, None).unwrap().standardised();
            let free = Constraints::none(x.cols());
            let learnt = method.learn(&moments, &free, &Control::default()).unwrap();
            best = best.min(start.elapsed().as_secs_f64());
            let used = processor_seconds().zip(before).map(|(after, before)| after - before);
            least = least.min(used.unwrap_or(f64::INFINITY));
            arcs = learnt.dag(0.01).unwrap().arcs().collect();
        }
        println!("{}", serde_json::json!({"job": job, "seconds": best, "processor": least, "arcs": arcs}));
    }
}
