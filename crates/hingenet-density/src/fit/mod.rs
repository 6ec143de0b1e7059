//! Fitting: rows in, densities, kept pairs and linear class scores out, then their tables.

mod generative;
pub mod machines;
pub mod search;
mod slb;
mod training;

use crate::calibration::Calibration;
use crate::classifier::{DensityClassifier, Summary};
use crate::columns::Columns;
use crate::compile::{Compiled, compile};
use crate::estimate::features::Densities;
use crate::params::{ClassWeights, Params, Threshold};
use crate::structure::Kept;
use crate::terms::Scores;
use crate::terms::raw::{Linear, Product, RawTerm, Weighted};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::solver::SolverReport;
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use std::collections::BTreeMap;

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

/// Fits the variant that the parameters name and compiles it.
pub fn fit(rows: &Rows<'_>, params: &Params, control: &Control) -> Result<Fit<DensityClassifier>> {
    params.check(rows.n_classes())?;
    let (units, columns) = Columns::learn(rows, params, control)?;
    let exact = fit_exact(&columns, params, control)?;
    let compiled = compile(&exact, &columns, params.floor, params.seed, control)?;
    if compiled.error > 1e-3 {
        control.warn(&format!(
            "lookup tables differ from exact scores by {:.1e} of their standard deviation",
            compiled.error
        ));
    }
    let place = |p: &(usize, usize)| compiled.pairs.iter().position(|t| t.pair == *p);
    let places = |pairs: &Vec<(usize, usize)>| pairs.iter().filter_map(place).collect();
    let class_pairs = exact.kept.of_class.iter().map(places).collect();
    let summary = summary(&exact, &compiled);
    let chosen = chosen(&summary, params);
    let model = DensityClassifier {
        variant: params.variant,
        n_classes: columns.n_classes(),
        units,
        base: exact.scores.base,
        lines: compiled.lines,
        pairs: compiled.pairs,
        class_pairs,
        calibration: exact.calibration,
        summary,
    };
    Ok(Fit { model, reports: exact.reports, chosen })
}

fn summary(exact: &ExactModel, compiled: &Compiled) -> Summary {
    let layers = compiled.pairs.iter().flat_map(|t| &t.layers);
    Summary {
        fraction: match exact.threshold {
            Some(Threshold::Fraction(f)) => Some(f),
            _ => None,
        },
        balanced: exact.class_weights == Some(ClassWeights::Balanced),
        kept: exact.kept.len(),
        table_numbers: compiled.lines.iter().map(|t| t.values.len()).sum::<usize>()
            + layers.map(|l| l.values.len()).sum::<usize>(),
        table_error: compiled.error,
        reports: exact.reports.clone(),
    }
}

/// The fraction of pairs and whether classes were balanced, where that was left to cross-validation.
fn chosen(summary: &Summary, params: &Params) -> BTreeMap<String, f64> {
    let mut chosen = BTreeMap::new();
    if matches!(params.threshold, Threshold::CrossValidated(_)) {
        chosen.extend(summary.fraction.map(|f| ("fraction".to_string(), f)));
    }
    if params.class_weights == ClassWeights::CrossValidated && !params.variant.is_generative() {
        chosen.insert("balanced".into(), f64::from(u8::from(summary.balanced)));
    }
    chosen
}

/// Fits the variant that the parameters name, as exact densities and scores.
pub fn fit_exact(columns: &Columns, params: &Params, control: &Control) -> Result<ExactModel> {
    params.check(columns.n_classes())?;
    if params.variant.is_generative() {
        generative::fit(columns, params, control)
    } else {
        slb::fit(columns, params, control)
    }
}
