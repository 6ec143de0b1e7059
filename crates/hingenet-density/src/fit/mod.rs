//! Fitting: rows in, densities, kept pairs and linear class scores out.

mod generative;
pub mod machines;
pub mod search;
mod slb;
mod training;

use crate::calibration::Calibration;
use crate::columns::Columns;
use crate::estimate::features::Densities;
use crate::params::{ClassWeights, Params, Threshold};
use crate::structure::Kept;
use crate::terms::Scores;
use crate::terms::raw::{Linear, Product, RawTerm, Weighted};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::solver::SolverReport;

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

    /// The raw term of a feature and its place among the raw terms, if a score uses it.
    pub fn linear_term(&self, feature: usize) -> Option<(usize, Weighted<Linear>)> {
        self.raw_term(|term| match term {
            RawTerm::Linear(i, linear) if *i == feature => Some(*linear),
            _ => None,
        })
    }

    /// The product of a pair and its place among the raw terms, if a score uses it.
    pub fn product_term(&self, pair: (usize, usize)) -> Option<(usize, Weighted<Product>)> {
        self.raw_term(|term| match term {
            RawTerm::Product(p, product) if *p == pair => Some(*product),
            _ => None,
        })
    }

    fn raw_term<T>(&self, wanted: impl Fn(&RawTerm) -> Option<T>) -> Option<(usize, Weighted<T>)> {
        let terms = self.densities.raw.terms.iter().zip(&self.scores.raw).enumerate();
        let in_use = terms.filter(|(_, (_, weights))| weights.iter().any(|w| *w != 0.0));
        let mut found = in_use.filter_map(|(r, (term, weights))| {
            Some((r, Weighted { term: wanted(term)?, weights: weights.clone() }))
        });
        found.next()
    }
}

/// Fits the variant that the parameters name.
pub fn fit_exact(columns: &Columns, params: &Params, control: &Control) -> Result<ExactModel> {
    params.check(columns.n_classes())?;
    if params.variant.is_generative() {
        generative::fit(columns, params, control)
    } else {
        slb::fit(columns, params, control)
    }
}
