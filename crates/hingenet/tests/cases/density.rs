//! Golden cases of the density family.

use super::Check;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[];

/// What waits for its code.
pub const PENDING: &[&str] =
    &["bandwidth_1d", "bandwidth_2d", "hsic", "mi_tree", "slb_pipeline", "svm_linear"];
