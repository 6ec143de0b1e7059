//! Discrete Bayesian-network classifiers: naive Bayes, TAN and other structures with covering parents.
//!
//! Internal to `hingenet`: the interface of this crate may change with every version.
//!
//! Letters, the same in every file: variable 0 is the class C with K = r_0 states, features are
//! 1..=N; `i` a node, `r_i` its number of states, `h` a row of its table (the states of its parents as
//! a mixed-radix number, lowest-numbered parent most significant), `j` a state, `m` a sample,
//! `w^i_{j|h}` a log weight. All tables of a network stand behind each other in one vector `w` of
//! length D, nodes in order, each table row by row.
//!
//! Upwards: `samples` are coded rows, `tally` counts states in them; `structure` is a graph with its tables, given
//! or learnt; `network` adds parameters, `normalise` is Algorithm 1, `inference` sums missing features out;
//! `counts` and `em` give maximum likelihood, `margin` the programs with a margin; `fit` chooses options by inner
//! folds, calibrates and makes the `classifier`; `averaged` does the same for averages of networks. `params` are
//! the options of both.
//!
//! Peharz, Tschiatschek, Pernkopf: The Most Generative Maximum Margin Bayesian Networks, ICML 2013.

pub mod averaged;
mod classifier;
pub mod counts;
pub mod em;
pub mod fit;
pub mod inference;
pub mod margin;
mod network;
mod normalise;
mod params;
mod passes;
mod samples;
pub mod structure;
mod tally;

pub use averaged::{AveragedClassifier, fit_averaged};
pub use classifier::DiscreteClassifier;
pub use fit::fit;
pub use network::Network;
pub use normalise::Normaliser;
pub use params::{DiscreteParams, Grid, Learning, MemberRule, MemberTables, StructureKind};
pub use passes::{Aim, Coding, Counted, Made, Next, Pass, PassFit, reserve_counts};
pub use samples::Samples;
pub use structure::Structure;
