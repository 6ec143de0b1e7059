//! The public face stays small enough to learn: what `hingenet` exports is counted, name by name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Items (types, functions, constants) that the crate may export.
const MOST: usize = 120;

/// Names of the public items of a module file and of the public modules below it.
fn exported(file: &Path, names: &mut BTreeSet<String>) {
    let text = std::fs::read_to_string(file).unwrap();
    // Unit tests and macros stand at the end of a file or inside braces; public items begin a line, those of an
    // inline module after four blanks.
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let folder = match file.file_stem().and_then(|s| s.to_str()) {
        Some("lib" | "mod") => file.parent().unwrap().to_path_buf(),
        _ => file.with_extension(""),
    };
    let mut rest = text;
    while let Some(at) = rest.find("pub ") {
        let before = &rest[..at];
        // what the documentation hides is there for tests
        let starts_line = !before.ends_with("#[doc(hidden)]\n")
            && before.rsplit('\n').next().is_some_and(|line| line.is_empty() || is_inline(line, text));
        rest = &rest[at + 4..];
        if starts_line {
            item(rest, &folder, names);
        }
    }
}

/// Whether a line begins inside an inline module of the root.
fn is_inline(before: &str, text: &str) -> bool {
    before == "    " && text.contains("pub mod table {")
}

fn item(text: &str, folder: &Path, names: &mut BTreeSet<String>) {
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty());
    let (kind, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match kind {
        "mod" if text[..text.find(['{', ';']).unwrap()].trim() == format!("mod {name}") => {
            if text[4 + name.len()..].starts_with(';') {
                exported(&module(folder, name), names);
            }
        }
        "use" => {
            let list = &text[4..text.find(';').unwrap()];
            assert!(!list.contains('*'), "a glob hides what is exported: {list}");
            let leaves = list.rsplit_once('{').map_or(list, |(_, inner)| inner.trim_end_matches('}'));
            let leaf = |path: &str| path.rsplit("::").next().unwrap_or_default().trim().to_string();
            names.extend(leaves.split(',').map(leaf).filter(|n| !n.is_empty()));
        }
        "struct" | "enum" | "trait" | "fn" | "const" | "static" | "type" => {
            names.insert(name.to_string());
        }
        other => panic!("what is `pub {other} {name}`?"),
    }
}

fn module(folder: &Path, name: &str) -> PathBuf {
    let file = folder.join(format!("{name}.rs"));
    if file.exists() { file } else { folder.join(name).join("mod.rs") }
}

#[test]
fn the_face_has_at_most_120_items() {
    let mut names = BTreeSet::new();
    exported(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"), &mut names);
    for name in ["Table", "read", "Dataset", "fit", "Model", "Control", "Error", "compare", "ModelReport"] {
        assert!(names.contains(name), "{name} is not exported, or the count is wrong: {names:?}");
    }
    assert!(names.len() <= MOST, "{} items: {names:?}", names.len());
}

/// Whole inner crates are not handed on: their interfaces are not promised.
#[test]
fn no_inner_crate_is_exported_whole() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    for line in text.lines().filter(|l| l.starts_with("pub use hingenet_")) {
        assert!(line.matches("::").count() >= 2, "{line}");
    }
}
