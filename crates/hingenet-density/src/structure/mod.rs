//! Which pairs of features a class uses: those that HSIC shows to depend on each other, or the edges of a tree.

pub mod dependence;
pub mod hsic;
pub mod trees;

pub use dependence::{Dependence, Kept};

/// Position of the pair i < j in the list (0,1), (0,2), ..., (d-2,d-1).
pub fn pair_index(d: usize, i: usize, j: usize) -> usize {
    debug_assert!(i < j && j < d);
    i * (2 * d - i - 1) / 2 + (j - i - 1)
}

/// All pairs i < j below d, in the order of [`pair_index`].
pub fn pairs(d: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..d).flat_map(move |i| (i + 1..d).map(move |j| (i, j)))
}
