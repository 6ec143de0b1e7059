//! Hilbert-Schmidt independence criterion of pairs of features: which pairs depend on each other within a
//! class (step 1 of SLB). Exact values cost O(n²) a pair; low-rank factors give all pairs at once.

mod exact;
mod low_rank;
mod significance;
mod width;

pub use exact::{Hsic, exact_hsic};
pub use low_rank::{AllPairs, DEFAULT_RESIDUAL, Factor, all_pairs};
pub use significance::{GammaTest, benjamini_hochberg, bonferroni, gamma_test, permutation_p_value};
pub use width::{DependenceKernel, Median, Width};

/// Which estimate of the criterion is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Estimator {
    /// `n⁻² Tr(KHLH)`, the V-statistic.
    VStatistic,
    /// `(n-1)⁻² Tr(KHLH)`, as printed in the paper.
    Biased,
    /// The U-statistic of Song et al.; may be negative.
    Unbiased,
}

/// Position of the pair i < j in the list (0,1), (0,2), ..., (d-2,d-1).
pub fn pair_index(d: usize, i: usize, j: usize) -> usize {
    debug_assert!(i < j && j < d);
    i * (2 * d - i - 1) / 2 + (j - i - 1)
}

/// All pairs i < j below d, in the order of [`pair_index`].
pub fn pairs(d: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..d).flat_map(move |i| (i + 1..d).map(move |j| (i, j)))
}
