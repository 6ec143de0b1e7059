//! Fitting: rows in, densities, kept pairs and linear class scores out.

mod generative;
pub mod machines;
pub mod search;
mod slb;
mod training;

use super::calibration::Calibration;
use super::columns::Columns;
use super::features::Densities;
use super::scores::Scores;
use super::selection::Kept;
use super::settings::{ClassWeights, Settings, Threshold};
use crate::classifier::SolverReport;
use crate::control::Control;
use crate::error::Result;

pub use training::{TrainingSet, training_set};

/// A fit that still holds the training rows, before it is compiled to tables.
#[derive(Debug, Clone)]
pub struct ExactModel {
    /// Densities of all classes.
    pub densities: Densities,
    /// Pairs of each class.
    pub kept: Kept,
    /// Linear class scores.
    pub scores: Scores,
    /// Probabilities of the scores.
    pub calibration: Calibration,
    /// The threshold that was used or chosen; `None` for generative classifiers.
    pub threshold: Option<Threshold>,
    /// The class weights that were used or chosen; `None` for generative classifiers.
    pub class_weights: Option<ClassWeights>,
    /// How each SVM ended.
    pub reports: Vec<SolverReport>,
}

impl ExactModel {
    /// Outputs at queries given feature by feature, from the exact densities.
    pub fn outputs(&self, queries: &[Vec<f64>], control: &Control) -> Result<Vec<Vec<f64>>> {
        Ok(self.scores.evaluate(&self.densities.features(queries, false, control)?))
    }
}

/// Fits the variant that the settings name.
pub fn fit_exact(columns: &Columns, settings: &Settings, control: &Control) -> Result<ExactModel> {
    settings.check(columns.n_classes())?;
    if columns.class_totals().iter().any(|m| *m < 20.0) {
        control.warn("a class has fewer than 20 rows: it gets no pair densities unless they are asked for");
    }
    if settings.variant.is_generative() {
        generative::fit(columns, settings, control)
    } else {
        slb::fit(columns, settings, control)
    }
}
