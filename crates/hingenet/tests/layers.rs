//! The rules of the house: which folder may import which, read off the `use crate::` lines and paths.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the families and everything above them may use beside what [`RULES`] names.
const BASE: &[&str] = &["error", "control", "classifier", "numeric"];

/// Folders that stand below the families; [`BASE`] does not hold for them.
const FOUNDATION: &[&str] =
    &["error", "control", "classifier", "numeric", "graph", "optimise", "table", "encode"];

/// Folder, and what it may import beside itself.
const RULES: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("control", &["error"]),
    ("classifier", &["error", "table"]),
    ("numeric", &["error", "control"]),
    ("graph", &["error", "control"]),
    ("optimise", &["error", "control", "numeric", "classifier"]),
    ("table", &["error", "control", "numeric"]),
    ("encode", &["error", "control", "numeric", "table"]),
    ("discrete", &["table", "encode", "graph", "optimise"]),
    ("density", &["table", "encode", "graph", "optimise"]),
    ("gaussian", &["table", "encode", "graph", "optimise"]),
    ("pool", &["table", "encode", "graph", "optimise", "discrete", "density", "gaussian"]),
    ("model", &["table", "encode", "graph", "optimise", "discrete", "density", "gaussian", "pool"]),
    ("evaluate", &["table", "encode", "model", "report", "discrete", "density", "gaussian"]),
    ("report", &["table", "encode", "model", "graph", "discrete", "density", "gaussian", "pool"]),
];

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The source without its tests and comments: what runs in the library.
fn library_part(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn imports(code: &str) -> BTreeSet<String> {
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    code.split("crate::").skip(1).map(name).filter(|n| n.starts_with(char::is_lowercase)).collect()
}

#[test]
fn imports_point_upwards_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut seen = BTreeSet::new();
    for path in files {
        let inside = path.strip_prefix(&src).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let folder = first.trim_end_matches(".rs");
        if folder == "lib" {
            continue;
        }
        let (_, allowed) =
            RULES.iter().find(|(f, _)| *f == folder).unwrap_or_else(|| panic!("no rule for {folder}"));
        let base: &[&str] = if FOUNDATION.contains(&folder) { &[] } else { BASE };
        seen.insert(folder.to_string());
        for used in imports(&library_part(&std::fs::read_to_string(&path).unwrap())) {
            let fine = used == folder || allowed.contains(&used.as_str()) || base.contains(&used.as_str());
            assert!(fine, "{} imports crate::{used}; `{folder}` may import {allowed:?}", inside.display());
        }
    }
    assert!(seen.len() > 10, "the folders were not found: {seen:?}");
}

#[test]
fn only_readers_and_the_model_folder_touch_files() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    for path in files {
        let inside = path.strip_prefix(&src).unwrap().to_string_lossy().into_owned();
        let may = inside.starts_with("table/read")
            || inside.starts_with("model/file")
            || inside.starts_with("table/write");
        let code = library_part(&std::fs::read_to_string(&path).unwrap());
        for word in ["std::fs", "File::open", "std::env", "process::exit", "std::net", "println!"] {
            assert!(may || !code.contains(word), "{inside} uses {word}");
        }
    }
}
