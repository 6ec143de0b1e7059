//! Learning the graph from coded rows: pairwise statistics given the class, tree-augmented naive Bayes,
//! k-trees, and graphs given by the user. Every learnt graph satisfies Condition 1.

mod information;
mod ktree;
mod pairs;
mod tan;
mod user;

pub(crate) use hingenet_base::graph::with_names;
pub use ktree::k_tree;
pub use pairs::PairStatistics;
pub use tan::{Root, tan};
pub use user::dag_from_names;
