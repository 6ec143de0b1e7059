//! Which pairs of features a class uses: those that HSIC shows to depend on each other, or the edges of a tree.

pub mod dependence;
pub mod hsic;
pub mod information;
pub mod trees;

pub use dependence::{Dependence, Kept};
