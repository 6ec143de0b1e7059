//! Golden vectors: numbers computed independently (conic solvers, R, NumPy). Runs every JSON file below
//! `tests/golden/` and, when `HINGENET_GOLDEN` names a directory, every JSON file below that too. A file
//! name that no case knows is a failure, not a skip.

#![allow(clippy::print_stdout)]

mod cases;

use serde_json::Value;
use std::path::{Path, PathBuf};

fn json_files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            json_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "json") {
            found.push(path);
        }
    }
}

/// Runs every file below `dir`; returns how many were checked and how many wait for their family.
fn run(dir: &Path) -> (usize, usize) {
    let mut files = Vec::new();
    json_files(dir, &mut files);
    let (mut checked, mut pending) = (0, 0);
    for path in &files {
        let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        if cases::PENDING.iter().any(|list| list.contains(&name)) {
            pending += 1;
            continue;
        }
        let case = cases::ALL.iter().flat_map(|list| list.iter()).find(|(known, _)| *known == name);
        let (_, check) = case.unwrap_or_else(|| panic!("{}: no golden case has this name", path.display()));
        let text = std::fs::read_to_string(path).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        check(&value, path.parent().unwrap());
        checked += 1;
    }
    (checked, pending)
}

#[test]
fn every_golden_file_agrees() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let (checked, pending) = run(&own);
    println!("golden: {checked} files checked, {pending} pending");
    assert!(checked > 0);
    if let Ok(dir) = std::env::var("HINGENET_GOLDEN") {
        let (checked, _) = run(Path::new(&dir));
        println!("golden: {checked} more files checked in {dir}");
    }
}
