//! Other ways to the same optima, slow and independent: what the solvers of the library are held against.

pub mod conic;
pub mod projected;
pub mod projection;
