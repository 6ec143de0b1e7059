//! Choosing inside a fit, once for all families: [`draw`] takes some of many rows, [`folds`] deals them, [`race`] scores options on held-out rows,
//! [`criterion`] says what a good score is, [`calibration`] turns scores into probabilities. Knows no model: what is
//! fitted is a closure of the family.

pub mod calibration;
pub mod criterion;
pub mod draw;
pub mod folds;
pub mod race;

use hingenet_base::solver::SolverReport;
use std::collections::BTreeMap;

/// What a fit of any family gives.
#[derive(Debug, Clone)]
pub struct Fit<M> {
    /// The fitted model.
    pub model: M,
    /// How each of its solvers ended.
    pub reports: Vec<SolverReport>,
    /// Options that were chosen by inner folds, by name.
    pub chosen: BTreeMap<String, f64>,
}

impl<M> Fit<M> {
    /// The same fit with its model as part of another.
    pub fn map<N>(self, wrap: impl FnOnce(M) -> N) -> Fit<N> {
        Fit { model: wrap(self.model), reports: self.reports, chosen: self.chosen }
    }
}
