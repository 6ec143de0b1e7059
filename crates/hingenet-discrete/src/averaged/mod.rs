//! Averaged one-dependence networks: one network per feature X_s, in which X_s depends on the class and
//! every other feature on the class and X_s; `P(c, z) = mean_s P_s(c, z)`. Each is C1 (X_s covers the others),
//! normalised alone, and exact with missing features, so the average is.
//!
//! Webb, Boughton, Wang: Not so naive Bayes, Machine Learning 58, 2005.

mod fit;
mod shared;
mod stars;

pub use fit::fit_averaged;
pub(crate) use fit::fit_averaged_rows;
pub use shared::fit_shared_tables;
pub use stars::{Counts, Numbering, Smoothing, Stars, one_dependence};

/// An average as a classifier (`aode`); what each observed feature adds to the log posterior are its terms.
pub type AveragedClassifier = crate::classifier::CodedClassifier<Stars>;
