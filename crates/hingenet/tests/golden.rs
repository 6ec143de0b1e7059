//! Golden vectors: numbers computed independently (conic solvers, R, NumPy). Runs every JSON file below
//! `tests/golden/` and, when `HINGENET_GOLDEN` names a directory, every JSON file below that too. A file
//! that no case knows and a case without its file are failures, not skips.

mod cases;

use serde_json::Value;
use std::collections::BTreeSet;
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

/// Runs every file below `dir`; returns the names of the cases that were checked.
fn run(dir: &Path) -> BTreeSet<&'static str> {
    let mut files = Vec::new();
    json_files(dir, &mut files);
    files.iter().map(|path| check(path)).collect()
}

fn check(path: &Path) -> &'static str {
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
    let (name, check) = known().find(|(name, _)| *name == stem).unwrap_or_else(|| {
        panic!("{}: no golden case has this name", path.display());
    });
    let text = std::fs::read_to_string(path).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    check(&value, path.parent().unwrap());
    name
}

fn known() -> impl Iterator<Item = (&'static str, cases::Check)> {
    cases::ALL.iter().flat_map(|list| list.iter().copied())
}

#[test]
fn every_case_has_its_golden_file_and_agrees() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let checked = run(&own);
    let without: Vec<&str> = known().map(|(name, _)| name).filter(|name| !checked.contains(name)).collect();
    assert!(without.is_empty(), "golden files are gone: {without:?}");
    if let Ok(dir) = std::env::var("HINGENET_GOLDEN") {
        run(Path::new(&dir));
    }
}
