//! Density classifiers asked with what is known: `P(x_j, c | known) = P(c | known) p(x_j | c, known)`, numbers at the nodes
//! of their quadrature.
//!
//! Generative variants know `p(x_j | c, known)`: messages along the forest of the class. The others weigh log densities
//! against each other for a decision, which is no density; of what they know, a column gets by rule
//!
//! ```text
//! p(x_j | c, known) ∝ (Π_k p_c(x_j, x_k))^(1/m)     over the m known columns k that class c has a pair with,
//! p(x_j | c, known) = p_c(x_j)                      where there is none
//! ```
//!
//! the geometric mean of the densities given each of them. A likelihood over states is a mixture over them.

use crate::classifier::DensityClassifier;
use crate::columns::Unit;
use crate::compile::Scratch;
use crate::missing::{Forest, Marginals};
use hingenet_base::error::Result;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_data::belief::Belief;
use hingenet_data::classifier::Classifier;
use hingenet_data::combinations::{Combinations, RowEvidence};
use hingenet_data::table::Table;
use rayon::prelude::*;

/// Most points at which a number is taken when other columns should tell about it.
const POINTS: usize = 24;

/// What follows from one row of known cells and likelihoods over the states of others.
pub struct DensityBeliefs<'a> {
    model: &'a DensityClassifier,
    /// The known cells with each combination of the states that the likelihoods leave.
    rows: Table,
    /// Their cells, feature by feature.
    cells: Vec<Vec<f64>>,
    /// `ln P(class, combination | known)`, K values a combination.
    log_weights: Vec<f64>,
    /// `ln p(class, known)`, for generative variants.
    log_joint: Option<Vec<f64>>,
    marginals: Marginals<'a>,
}

impl DensityClassifier {
    /// What follows from what is known of a row.
    pub fn beliefs(&self, of: &RowEvidence<'_>) -> Result<DensityBeliefs<'_>> {
        let marginals = Marginals::new(self);
        let (known, of_class) = (of.known.as_ref(), &of.of_class);
        let unsure: Vec<usize> = of.likelihoods.iter().map(|(j, _)| *j).collect();
        let scores = |rows: &Table| self.scores_of_states(rows, known, &unsure, &marginals);
        let combinations = Combinations::new(of, scores)?;
        let (log_weights, _) = combinations.weights(&self.log_proba(known)?, of_class)?;
        let joint = |joint: Vec<f64>| -> Result<Vec<f64>> {
            let (weights, seen) = combinations.weights(&joint, of_class)?;
            Ok(over_combinations(&weights, of_class.len()).iter().map(|l| l + seen).collect())
        };
        let log_joint = self.log_joint(known)?.map(joint).transpose()?;
        let cells = self.units.encode(&combinations.rows)?;
        Ok(DensityBeliefs { model: self, rows: combinations.rows, cells, log_weights, log_joint, marginals })
    }

    /// `ln p(c, known)` of each row, K values a row, in the units of the columns; `None` for a machine.
    pub fn log_joint(&self, rows: &Table) -> Result<Option<Vec<f64>>> {
        if !self.variant.is_generative() {
            return Ok(None);
        }
        let cells = self.units.encode(rows)?;
        let used = self.units.used();
        let scale = |r: usize| -> f64 {
            let seen = (0..used.len()).filter(|&f| !cells[f][r].is_nan());
            seen.map(|f| self.units.units[used[f]].log_scale()).sum()
        };
        let row = |(r, scores): (usize, Vec<f64>)| {
            let scale = scale(r);
            self.by_code(scores.into_iter().map(|s| s + scale).collect(), f64::NEG_INFINITY)
        };
        Ok(Some(self.decision_values(rows)?.into_iter().enumerate().flat_map(row).collect()))
    }

    /// `ln p(states of the unsure columns | c, known)`, one column after the other, K values a row; 0 for classes that
    /// take no part.
    fn scores_of_states(
        &self,
        rows: &Table,
        known: &Table,
        unsure: &[usize],
        marginals: &Marginals<'_>,
    ) -> Result<Vec<f64>> {
        let (cells, start) = (self.units.encode(rows)?, self.units.encode(known)?);
        let used = self.units.used();
        let mut scores = Vec::new();
        for r in 0..rows.n_rows() {
            let mut row: Vec<f64> = start.iter().map(|column| column[0]).collect();
            let mut own = vec![0.0; self.n_classes];
            for f in (0..used.len()).filter(|f| unsure.contains(&used[*f])) {
                let state = cells[f][r];
                let scratch = self.scratch(&row);
                for (score, forest) in own.iter_mut().zip(marginals.forests(&scratch)) {
                    *score += forest.log_shares(f)[state as usize];
                }
                row[f] = state;
            }
            scores.extend(self.by_code(own, 0.0));
        }
        Ok(scores)
    }

    fn scratch(&self, row: &[f64]) -> Scratch {
        let mut scratch = Scratch::new(&self.lines, self.n_classes);
        scratch.read(&self.lines, |i| row[i]);
        scratch
    }
}

impl DensityBeliefs<'_> {
    /// `ln P(class | known)`.
    pub fn log_classes(&self) -> Vec<f64> {
        over_combinations(&self.log_weights, self.model.n_classes())
    }

    /// `ln p(class, known)`: probabilities for categories and likelihoods, densities for numbers; `None` for a machine.
    pub fn log_joint(&self) -> Option<&[f64]> {
        self.log_joint.as_deref()
    }

    /// What is believed of every column; `None` for one that was constant in training.
    pub fn columns(&self) -> Vec<Option<Belief>> {
        let k = self.model.n_classes();
        let used = self.model.units.used();
        let mut joint: Vec<Vec<f64>> =
            (0..used.len()).map(|f| vec![0.0; self.marginals.nodes(f).len() * k]).collect();
        for a in 0..self.rows.n_rows() {
            let row = self.row(a);
            let scratch = self.model.scratch(&row);
            let forests = self.marginals.forests(&scratch);
            for f in (0..used.len()).filter(|&f| !self.is_number(used[f])) {
                for (y, &c) in self.model.codes().iter().enumerate() {
                    let weight = self.log_weights[a * k + c].exp();
                    let shares = self.shares(&forests[y], &row, f);
                    shares.iter().enumerate().for_each(|(q, p)| joint[f][q * k + c] += weight * p);
                }
            }
        }
        let mut columns = vec![None; self.rows.n_columns()];
        for (f, joint) in joint.into_iter().enumerate() {
            columns[used[f]] = Some(self.belief(used[f], f, joint));
        }
        columns
    }

    /// For every column j `P(x_about, x_j | known)`, a row for each point of column `about`, which is open; a number is taken at
    /// the middle of runs of its nodes. `None` for columns of which nothing is believed and for known numbers.
    pub fn columns_with(&self, about: usize) -> Vec<Option<Vec<f64>>> {
        let (k, codes) = (self.model.n_classes(), self.model.codes());
        let used = self.model.units.used();
        let mut tables = vec![None; self.rows.n_columns()];
        let Ok(f) = used.binary_search(&about) else { return tables };
        let n = self.marginals.nodes(f).len();
        let run =
            if matches!(self.model.units.units[about], Unit::Standard(_)) { n.div_ceil(POINTS) } else { 1 };
        let others: Vec<usize> = (0..used.len()).filter(|&g| g != f && !self.is_number(used[g])).collect();
        // the cells of each combination, and the distribution of the column in each class
        let before = |a: usize| -> (Vec<f64>, Vec<Vec<f64>>) {
            let row = self.row(a);
            let scratch = self.model.scratch(&row);
            let shares = self.marginals.forests(&scratch).iter().map(|y| self.shares(y, &row, f)).collect();
            (row, shares)
        };
        let before: Vec<(Vec<f64>, Vec<Vec<f64>>)> = (0..self.rows.n_rows()).map(before).collect();
        let point = |start: usize| -> Vec<Vec<f64>> {
            let nodes = start..(start + run).min(n);
            let mut sums: Vec<Vec<f64>> =
                others.iter().map(|&g| vec![0.0; self.marginals.nodes(g).len()]).collect();
            for (a, (row, shares)) in before.iter().enumerate() {
                let mass = |own: &Vec<f64>| own[nodes.clone()].iter().sum::<f64>();
                let masses: Vec<f64> = shares.iter().map(mass).collect();
                let mut row = row.clone();
                row[f] = self.marginals.nodes(f)[(nodes.start + nodes.end - 1) / 2];
                let scratch = self.model.scratch(&row);
                let after = self.marginals.forests(&scratch);
                for (y, &c) in codes.iter().enumerate().filter(|(y, _)| masses[*y] > 0.0) {
                    let weight = self.log_weights[a * k + c].exp() * masses[y];
                    for (sum, &g) in sums.iter_mut().zip(&others) {
                        let shares = self.shares(&after[y], &row, g);
                        sum.iter_mut().zip(&shares).for_each(|(s, p)| *s += weight * p);
                    }
                }
            }
            sums
        };
        let points: Vec<Vec<Vec<f64>>> = (0..n).into_par_iter().step_by(run).map(point).collect();
        for (at, &g) in others.iter().enumerate() {
            tables[used[g]] = Some(points.iter().flat_map(|sums| &sums[at]).copied().collect());
        }
        tables
    }

    /// Cells of combination `a`.
    fn row(&self, a: usize) -> Vec<f64> {
        self.cells.iter().map(|cells| cells[a]).collect()
    }

    /// Whether column `j` is a number that is known.
    fn is_number(&self, j: usize) -> bool {
        self.rows.column(j).as_numeric().is_some() && !self.rows.column(j).is_missing(0)
    }

    /// `P(x_f at each node | class, row)`; a state that the row has is certain.
    fn shares(&self, forest: &Forest<'_>, row: &[f64], f: usize) -> Vec<f64> {
        if row[f].is_nan() {
            return forest.log_shares(f).iter().map(|l| l.exp()).collect();
        }
        (0..self.marginals.nodes(f).len()).map(|q| f64::from(u8::from(q == row[f] as usize))).collect()
    }

    fn belief(&self, j: usize, f: usize, joint: Vec<f64>) -> Belief {
        if let Some(numbers) = self.rows.column(j).as_numeric().filter(|_| self.is_number(j)) {
            let joint = self.log_classes().iter().map(|l| l.exp()).collect();
            return Belief::Grid { at: vec![numbers.with_nan()[0]], joint };
        }
        match &self.model.units.units[j] {
            Unit::Standard(standard) => Belief::Grid {
                at: self.marginals.nodes(f).iter().map(|z| standard.undo(*z)).collect(),
                joint,
            },
            Unit::Levels(values) => Belief::Grid { at: values.clone(), joint },
            Unit::Categories(_) | Unit::Dropped => Belief::States(joint),
        }
    }
}

/// The logarithm of each class's sum over the combinations.
fn over_combinations(log_weights: &[f64], k: usize) -> Vec<f64> {
    let of = |c: usize| log_weights.iter().skip(c).step_by(k).copied().collect::<Vec<f64>>();
    (0..k).map(|c| log_sum_exp(&of(c))).collect()
}
