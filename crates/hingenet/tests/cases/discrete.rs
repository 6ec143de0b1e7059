//! Golden cases of the discrete family.

use super::{Check, indices, list};
use hingenet::graph::Dag;
use serde_json::Value;
use std::path::Path;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[("c1", c1), ("datasets", datasets)];

/// What waits for its code.
pub const PENDING: &[&str] = &[
    "counts",
    "loglik",
    "mcl_mm",
    "mdl",
    "missing",
    "normalise",
    "objective11",
    "optimum",
    "projection",
    "soft_hinge",
    "tan",
];

/// The graph of a case.
pub fn dag(case: &Value) -> Dag {
    Dag::new(list(case, "parents").iter().map(indices).collect()).unwrap()
}

fn c1(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let dag = dag(case);
        let covering = dag.covering_parents(0);
        assert_eq!(covering.is_ok(), case["is_c1"].as_bool().unwrap(), "{case}");
        let children: Vec<usize> = (0..dag.len()).filter(|&i| dag.has_arc(0, i)).collect();
        assert_eq!(children, indices(&case["class_children"]));
        for i in children {
            let want = indices(&case["covering_parents"][i.to_string()]);
            assert_eq!(dag.covering_parent(i).into_iter().collect::<Vec<_>>(), want, "node {i} of {case}");
        }
    }
}

/// Rows that other files refer to by `X_ref`; nothing to check but that they are there.
fn datasets(file: &Value, _: &Path) {
    assert!(!file["datasets"].as_object().unwrap().is_empty());
}
