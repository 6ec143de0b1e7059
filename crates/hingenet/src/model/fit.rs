//! From a data set and a model name to a fitted model.

use super::{Dataset, Facts, Fitted, Majority, Model, ModelSpec};
use crate::control::Control;
use crate::error::Result;
use crate::table::Schema;

/// What a fit needs beside data and model name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FitOptions {
    /// Seed of every random choice.
    pub seed: u64,
}

/// Fits the named model. Rows of weight zero are dropped, equal rows merged and all rows sorted first
/// ([`Dataset::canonical`]), so that row order and duplication never matter.
pub fn fit(spec: &ModelSpec, data: &Dataset, options: FitOptions, control: &Control) -> Result<Model> {
    control.check()?;
    super::find(&spec.name)?;
    let facts = Facts {
        rows: data.n_rows(),
        missing_cells: data.features.n_missing(),
        seed: options.seed,
        ..Facts::default()
    };
    let data = data.canonical();
    let fitted = Fitted::Majority(Majority::fit(&data.training()));
    Ok(Model {
        spec: spec.clone(),
        target: data.target.clone(),
        classes: data.classes.clone(),
        schema: Schema::of(&data.features),
        facts,
        fitted,
    })
}
