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

/// What `cargo tree` prints for these arguments: packages with their features, sorted, each once.
#[cfg(target_os = "linux")]
fn dependencies(arguments: &[&str]) -> std::collections::BTreeSet<String> {
    let common = ["tree", "--locked", "--prefix", "none", "--format", "{p} {f}"];
    let tree = Command::new(env!("CARGO")).args(common).args(arguments).output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).unwrap();
    text.lines().map(|line| line.trim_end_matches(" (*)").to_string()).collect()
}

/// Another feature of one of them would compile everything that stands on it twice, in minutes. `./test` runs on Linux.
#[cfg(target_os = "linux")]
#[test]
fn the_wheel_and_the_tests_share_one_build_of_the_dependencies() {
    let wheel = dependencies(&["-p", "hingenet-python", "--features", "beside-tests", "-e", "normal,build"]);
    let tests = dependencies(&["--workspace", "-e", "normal,build,dev"]);
    let apart: Vec<&String> =
        wheel.difference(&tests).filter(|line| !line.starts_with("hingenet-python ")).collect();
    assert!(wheel.len() > 100 && apart.is_empty(), "features that no test has: {apart:?}");
}

#[test]
fn every_crate_says_where_it_lives_and_what_it_is() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() >= 12);
    for package in packages {
        let name = package["name"].as_str().unwrap();
        assert_eq!(package["repository"], env!("CARGO_PKG_REPOSITORY"), "{name}");
        assert_eq!(package["homepage"], env!("CARGO_PKG_HOMEPAGE"), "{name}");
        for field in ["description", "documentation", "license", "rust_version"] {
            assert!(package[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
        }
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"), "{name}");
    }
}

#[test]
fn the_citation_names_this_version_and_the_repository() {
    let citation = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CITATION.cff");
    let citation = std::fs::read_to_string(citation).unwrap();
    let version = format!("version: {}", env!("CARGO_PKG_VERSION"));
    let repository = format!("repository-code: \"{}\"", env!("CARGO_PKG_REPOSITORY"));
    for line in [version, repository] {
        assert!(citation.lines().any(|l| l == line), "CITATION.cff lacks {line}");
    }
}
