//! The ground floor of `hingenet`; internal, its interface may change with every version.
//!
//! Errors, how a caller watches and stops long work, numbers, graphs and solvers. Knows no table and no model.

pub mod ahead;
pub mod control;
pub mod error;
pub mod graph;
pub mod numeric;
pub mod optimise;
pub mod similar;
pub mod solver;
