//! Hilbert-Schmidt independence criterion of pairs of features: which pairs depend on each other within a
//! class (step 1 of SLB). Low-rank factors of the kernel matrices give the V-statistics `n⁻² Tr(KHLH)` of all pairs at once.

mod low_rank;
mod significance;
mod width;

pub use low_rank::{AllPairs, DEFAULT_RESIDUAL, all_pairs};
pub use significance::{GammaTest, benjamini_hochberg, bonferroni, gamma_test};
pub use width::DependenceKernel;
