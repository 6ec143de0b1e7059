//! Numbers without statistics: log-space sums, sums whose bits do not depend on the number of
//! threads or on the pieces of a table, seeded random numbers, small dense linear algebra. Knows nothing else of ours.

pub mod bits;
pub mod exact;
pub mod linalg;
pub mod log;
pub mod random;
pub mod simd;
pub mod sum;
