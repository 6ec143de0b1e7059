//! From bytes to rows that can be learnt from; internal to `hingenet`, its interface may change with every version.
//!
//! [`table`] reads typed columns, [`encode`] learns categories, cuts and scales, [`classifier`] says what every fitted
//! family can do. Knows no model.

pub mod classifier;
pub mod encode;
pub mod table;
