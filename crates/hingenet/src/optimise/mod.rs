//! Solvers that know no Bayesian networks. Each says above its code which problem it solves, and returns
//! how it ended.

pub mod lasso;
pub mod projection;
