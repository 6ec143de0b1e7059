//! Solvers that know no Bayesian networks. Each says above its code which problem it solves, and returns
//! how it ended.

pub mod cone;
pub mod conjugate_gradient;
pub mod crammer_singer;
pub mod group_svm;
mod interior;
pub mod lasso;
pub mod lbfgs;
pub mod linear_svm;
mod multiclass_certificate;
mod multiclass_interior;
pub mod newton_cg;
pub mod spectral;
pub mod squared_hinge;
mod svm_certificate;
mod svm_interior;
mod svm_polish;
