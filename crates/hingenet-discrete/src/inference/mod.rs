//! Exact inference: class scores of rows with or without missing features, log evidence, conditional
//! distributions of any variables, and draws.
//!
//! Trees of features (naive Bayes, TAN) use message passing over the tree; other graphs add parameters
//! when a row is complete and pass messages over a junction tree when it is not. Single queries, rows
//! whose numbers are too far apart for products, and graphs too wide for one junction tree that suits
//! every row use variable elimination in log space.

mod beliefs;
mod elimination;
mod expected;
mod expected_tree;
mod factor;
mod junction;
mod lanes;
mod tree;

pub use beliefs::{Beliefs, Columns, Finding};
pub use elimination::Evidence;
pub(crate) use expected::Expectation;
pub use factor::{Factor, MAX_FACTOR};

use super::Network;
use super::samples::check_codes;
use elimination::Elimination;
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::random::Random;
use hingenet_data::table::Codes;
pub use junction::Cliques;
use junction::JunctionTree;
use rayon::prelude::*;
use std::sync::OnceLock;
use tree::{FeatureTree, MISSING};

/// Rows per parallel task.
const CHUNK: usize = 256;

/// A normalised network prepared for queries.
#[derive(Debug, Clone)]
pub struct Inference<'a> {
    network: &'a Network,
    tree: Option<FeatureTree>,
    /// Made when a query first eliminates.
    order: OnceLock<Vec<usize>>,
    /// Made when a row with missing cells first comes.
    junction: OnceLock<Option<JunctionTree>>,
}

impl<'a> Inference<'a> {
    /// Prepares the tables. The parameters must be normalised, Eq. (2) with equality: marginalising
    /// relies on every row of every table summing to one.
    pub fn new(network: &'a Network) -> Self {
        let tree = FeatureTree::new(network);
        Inference { network, tree, order: OnceLock::new(), junction: OnceLock::new() }
    }

    /// `log P(c, observed features)` for each row and class (K values a row). `features` are the coded
    /// columns of the variables 1..=N; missing cells are summed out exactly.
    pub fn log_joint_rows(&self, features: &[Codes]) -> Result<Vec<f64>> {
        let card = self.network.structure().card();
        let n_rows = check_codes(&card[1..], features)?;
        let mut out = vec![0.0; n_rows * card[0]];
        let chunks = out.par_chunks_mut(CHUNK * card[0]).enumerate();
        chunks.try_for_each(|(chunk, out)| self.log_joint_chunk(features, chunk * CHUNK, out))?;
        Ok(out)
    }

    /// The rows from `start` on, as many as `out` has room for.
    fn log_joint_chunk(&self, features: &[Codes], start: usize, out: &mut [f64]) -> Result<()> {
        let k = self.network.structure().n_classes();
        let n = out.len() / k;
        let rows = transpose(features, start, n);
        let row = |m: usize| &rows[m * features.len()..(m + 1) * features.len()];
        let open: Vec<usize> = match &self.tree {
            Some(tree) => tree.log_joint_rows(&rows, k, out),
            None => {
                let score = |m: &usize| !self.complete_scores(row(*m), &mut out[m * k..(m + 1) * k]);
                let open = (0..n).filter(score).collect();
                self.collected_scores(&rows, open, out)
            }
        };
        open.into_iter().try_for_each(|m| self.eliminated_scores(row(m), &mut out[m * k..(m + 1) * k]))
    }

    /// Class scores `S_c = φ_c(x)ᵀ w` of a complete row; false if a cell is missing.
    fn complete_scores(&self, row: &[u16], out: &mut [f64]) -> bool {
        if row.contains(&MISSING) {
            return false;
        }
        for (c, score) in out.iter_mut().enumerate() {
            *score = self.network.log_joint(|i| if i == 0 { c } else { row[i - 1] as usize });
        }
        true
    }

    /// The chosen rows by the junction tree; returns those it left.
    fn collected_scores(&self, rows: &[u16], chosen: Vec<usize>, out: &mut [f64]) -> Vec<usize> {
        if chosen.is_empty() {
            return chosen;
        }
        let k = self.network.structure().n_classes();
        match self.junction.get_or_init(|| JunctionTree::new(self.network, self.order())) {
            Some(tree) => tree.log_joint_rows(rows, &chosen, k, out),
            None => chosen,
        }
    }

    fn eliminated_scores(&self, row: &[u16], out: &mut [f64]) -> Result<()> {
        let state = |&j: &u16| (j != MISSING).then_some(j as usize);
        let evidence: Vec<Option<usize>> = std::iter::once(None).chain(row.iter().map(state)).collect();
        let done = elimination::sum_out(self.network, &evidence, &[0], self.order())?;
        out.copy_from_slice(&done.kept.table);
        Ok(())
    }

    /// `log P(evidence)`; `evidence[0]` is the class, `None` is unobserved.
    pub fn log_evidence(&self, evidence: &Evidence) -> Result<f64> {
        self.check(evidence)?;
        Ok(elimination::sum_out(self.network, evidence, &[], self.order())?.kept.table[0])
    }

    /// `log P(query | evidence)` as a table over the query variables that are not observed, ascending.
    pub fn conditional(&self, query: &[usize], evidence: &Evidence) -> Result<Factor> {
        self.check(evidence)?;
        let n = self.network.structure().n_nodes();
        if let Some(v) = query.iter().find(|&&v| v >= n) {
            require_len("query variables below the number of nodes", n, *v)?;
        }
        let mut kept = elimination::sum_out(self.network, evidence, query, self.order())?.kept;
        let total = log_sum_exp(&kept.table);
        if total == f64::NEG_INFINITY {
            return Err(impossible());
        }
        kept.table.iter_mut().for_each(|w| *w -= total);
        Ok(kept)
    }

    /// Prepares draws from `P(everything | evidence)`.
    pub fn sampler(&self, evidence: &Evidence) -> Result<Sampler<'a>> {
        self.check(evidence)?;
        let relevant = elimination::relevant(self.network, &[], evidence);
        let done = elimination::sum_out(self.network, evidence, &[], self.order())?;
        if done.kept.table[0] == f64::NEG_INFINITY {
            return Err(impossible());
        }
        Ok(Sampler { network: self.network, evidence: evidence.to_vec(), done, relevant })
    }

    fn order(&self) -> &[usize] {
        self.order.get_or_init(|| elimination::order_of(self.network))
    }

    fn check(&self, evidence: &Evidence) -> Result<()> {
        let card = self.network.structure().card();
        require_len("variables of the evidence", card.len(), evidence.len())?;
        for (i, (state, r)) in evidence.iter().zip(card).enumerate() {
            let j = state.unwrap_or(0);
            require(&format!("state of variable {i}"), j, &format!("a number below {r}"), j < *r)?;
        }
        Ok(())
    }
}

/// Draws complete assignments given evidence.
#[derive(Debug, Clone)]
pub struct Sampler<'a> {
    network: &'a Network,
    evidence: Vec<Option<usize>>,
    done: Elimination,
    relevant: Vec<bool>,
}

impl Sampler<'_> {
    /// One assignment of all variables: ancestors of the evidence backward from the elimination, the
    /// others from their tables, parents first.
    pub fn draw(&self, random: &mut Random) -> Vec<usize> {
        let s = self.network.structure();
        let mut state = self.evidence.clone();
        self.done.draw(s.card(), &mut state, random);
        for &i in s.dag().topological_order() {
            if !self.relevant[i] {
                let h = s.row_of(i, |p| state[p].unwrap_or_default());
                let weights: Vec<f64> = self.network.row(i, h).iter().map(|w| w.exp()).collect();
                state[i] = Some(random.weighted(&weights));
            }
        }
        state.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// `log P(c, observed features)` for each row and class; see [`Inference::log_joint_rows`].
pub fn log_joint_rows(network: &Network, features: &[Codes]) -> Result<Vec<f64>> {
    Inference::new(network).log_joint_rows(features)
}

/// Rows `start..start + n` of the columns, row by row.
fn transpose(features: &[Codes], start: usize, n: usize) -> Vec<u16> {
    let width = features.len();
    let mut rows = vec![0; width * n];
    for (i, column) in features.iter().enumerate() {
        let cells = rows.iter_mut().skip(i).step_by(width);
        match column {
            Codes::U8(v) => cells.zip(&v[start..start + n]).for_each(|(cell, &c)| {
                *cell = if c == Codes::MISSING_U8 { MISSING } else { u16::from(c) };
            }),
            Codes::U16(v) => cells.zip(&v[start..start + n]).for_each(|(cell, &c)| *cell = c),
        }
    }
    rows
}

pub(crate) fn impossible() -> Error {
    Error::data("the evidence has probability zero in this network", "check the given values")
}
