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
use crate::missing::Marginals;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::{log_normalise, log_sum_exp};
use hingenet_data::belief::Belief;
use hingenet_data::classifier::Classifier;
use hingenet_data::combinations::Combinations;
use hingenet_data::table::Table;

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
    /// Takes the known cells of the only row of a table (as in training), likelihoods over the states of categorical
    /// columns, and one over the classes.
    pub fn beliefs(
        &self,
        known: &Table,
        likelihoods: &[(usize, Vec<f64>)],
        of_class: &[f64],
    ) -> Result<DensityBeliefs<'_>> {
        let marginals = Marginals::new(self);
        let unsure: Vec<usize> = likelihoods.iter().map(|(j, _)| *j).collect();
        let combinations = Combinations::new(known, likelihoods, of_class.len(), |rows| {
            self.scores_of_states(rows, known, &unsure, &marginals)
        })?;
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
                for (score, shares) in own.iter_mut().zip(self.log_shares(&row, f, marginals)) {
                    *score += shares[state as usize];
                }
                row[f] = state;
            }
            scores.extend(self.by_code(own, 0.0));
        }
        Ok(scores)
    }

    /// For each class `ln P(x_f at each node | c, the cells of a row)`; feature f is missing in the row.
    fn log_shares(&self, row: &[f64], f: usize, marginals: &Marginals<'_>) -> Vec<Vec<f64>> {
        let mut scratch = Scratch::new(&self.lines, self.n_classes);
        scratch.read(&self.lines, |i| row[i]);
        let (_, log_weights) = marginals.nodes(f);
        let of_class = |class: usize| {
            let mut shares = if self.variant.is_generative() {
                marginals.along(class, f, &scratch)
            } else {
                marginals.pooled_along(class, f, &scratch)
            };
            shares.iter_mut().zip(log_weights).for_each(|(s, w)| *s += w);
            log_normalise(&mut shares);
            shares
        };
        (0..self.n_classes).map(of_class).collect()
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

    /// What is believed of column `j`; `None` for one that was constant in training.
    pub fn column(&self, j: usize) -> Option<Belief> {
        let unit = &self.model.units.units[j];
        let f = self.model.units.used().binary_search(&j).ok()?;
        let (k, codes) = (self.model.n_classes(), self.model.codes());
        let column = self.rows.column(j);
        if let Some(number) = column.as_numeric().filter(|_| !column.is_missing(0)) {
            let joint = self.log_classes().iter().map(|l| l.exp()).collect();
            return Some(Belief::Grid { at: vec![number.with_nan()[0]], joint });
        }
        let nodes = self.marginals.nodes(f).0;
        let mut joint = vec![0.0; nodes.len() * k];
        for a in 0..self.rows.n_rows() {
            let row: Vec<f64> = self.cells.iter().map(|cells| cells[a]).collect();
            let weight = |c: usize| self.log_weights[a * k + c].exp();
            if !row[f].is_nan() {
                (0..k).for_each(|c| joint[row[f] as usize * k + c] += weight(c));
                continue;
            }
            for (shares, &c) in self.model.log_shares(&row, f, &self.marginals).iter().zip(&codes) {
                shares.iter().enumerate().for_each(|(q, l)| joint[q * k + c] += weight(c) * l.exp());
            }
        }
        Some(match unit {
            Unit::Standard(standard) => {
                Belief::Grid { at: nodes.iter().map(|z| standard.undo(*z)).collect(), joint }
            }
            Unit::Levels(values) => Belief::Grid { at: values.clone(), joint },
            Unit::Categories(_) | Unit::Dropped => Belief::States(joint),
        })
    }
}

/// The logarithm of each class's sum over the combinations.
fn over_combinations(log_weights: &[f64], k: usize) -> Vec<f64> {
    let of = |c: usize| log_weights.iter().skip(c).step_by(k).copied().collect::<Vec<f64>>();
    (0..k).map(|c| log_sum_exp(&of(c))).collect()
}
