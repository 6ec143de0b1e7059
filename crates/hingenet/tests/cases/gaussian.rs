//! Golden cases of the gaussian family.

use super::Check;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[];

/// What waits for its code.
pub const PENDING: &[&str] = &[
    "dag_constraint",
    "edge_errors",
    "h_sgbn",
    "kl_objective",
    "kl_training",
    "likelihood_fisher",
    "mm_training",
    "or_sgbn",
    "order_lp",
    "weighted_lasso",
];
