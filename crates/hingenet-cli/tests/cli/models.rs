//! The list of models and the demo.

use crate::support::Folder;
use insta::assert_snapshot;

#[test]
fn models_are_listed_with_their_options() {
    assert_snapshot!(Folder::new().succeeds("models"));
}

#[test]
fn the_demo_compares_models_and_says_what_to_type_next() {
    let folder = Folder::new();
    let shown = folder.succeeds("demo");
    assert!(shown.lines().all(|l| l.chars().count() <= 100), "{shown}");
    assert_snapshot!(shown);
    assert_eq!(folder.names(), ["hingenet-demo"]);
    for name in ["mixed.csv", "mixed.hgn", "waveform.csv"] {
        assert!(!folder.read(&format!("hingenet-demo/{name}")).is_empty());
    }
    // the next command works
    folder.succeeds("explain hingenet-demo/mixed.hgn hingenet-demo/mixed.csv --row 1");
}
