//! From bytes to rows that can be learnt from; internal to `hingenet`, its interface may change with every version.
//!
//! [`table`] reads typed columns, [`encode`] learns categories, cuts and scales, [`information`] says what coded
//! columns tell of each other, [`rows`] proves that rows can be learnt from, [`pieces`] gathers what is learnt from a table that comes in pieces, [`select`] deals folds, searches and
//! calibrates, [`classifier`] says what every fitted family can do, [`explain`] why a row got its class, [`belief`] what is
//! believed of a column, [`combinations`] what an unsure row is a mixture of, [`mod@file`] writes.
//! Knows no model.

pub mod belief;
pub mod classifier;
pub mod combinations;
pub mod encode;
pub mod explain;
pub mod file;
pub mod information;
pub mod memory;
pub mod pieces;
pub mod rows;
pub mod select;
pub mod table;
