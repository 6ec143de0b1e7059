//! The pages that lead through the code name files that exist.

use std::path::Path;

/// Paths in backticks that begin with `crates/` and end with `.rs`.
fn files_named_in(page: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(page)).unwrap();
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|t| t.starts_with("crates/") && t.ends_with(".rs")).map(String::from).collect()
}

#[test]
fn every_file_named_in_the_guides_to_the_code_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, at_least) in [("ARCHITECTURE.md", 15), ("docs/equations.md", 35)] {
        let files = files_named_in(page);
        assert!(files.len() >= at_least, "{page} names {} files", files.len());
        for file in files {
            assert!(root.join(&file).is_file(), "{page} names {file}, which is not there");
        }
    }
}
