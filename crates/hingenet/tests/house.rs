//! What stands around the code: pages name files that exist, packages hold what they should.

use std::path::Path;
use std::process::Command;

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

/// The crates that go to the registry: those that do not say otherwise.
fn published() -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let names = std::fs::read_dir(&crates).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let goes_out = |name: &String| {
        let manifest = std::fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
        !manifest.contains("publish = false")
    };
    names.filter(goes_out).collect()
}

#[test]
fn packages_hold_sources_readme_and_licences_and_no_tests() {
    let packages = published();
    assert!(packages.len() >= 10, "{packages:?}");
    for package in packages {
        let list = Command::new(env!("CARGO"))
            .args(["package", "--list", "--allow-dirty", "--offline", "-p", &package])
            .output()
            .unwrap();
        assert!(list.status.success(), "{package}: {}", String::from_utf8_lossy(&list.stderr));
        let list = String::from_utf8(list.stdout).unwrap().replace('\\', "/");
        let files: Vec<&str> = list.lines().collect();
        for file in ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(files.contains(&file), "{package} lacks {file}");
        }
        let stray =
            files.iter().find(|f| f.contains('/') && !f.starts_with("src/") && !f.starts_with("examples/"));
        assert_eq!(stray, None, "{package} holds a file that is no source");
    }
}

#[test]
fn the_citation_names_this_version() {
    let citation = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CITATION.cff");
    let line = format!("\nversion: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(std::fs::read_to_string(citation).unwrap().contains(&line), "CITATION.cff lacks{line}");
}
