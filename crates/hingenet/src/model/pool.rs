//! How the pool is named and fitted: `pool,a=tan:ml-bn-svm,mask=block`. The options of a model that stands in
//! for a term follow its name behind `+`: `pool,a=tan:ml-bn-svm+lambda=4+gamma=5`.

use super::registry::Recipe;
use super::{FitOptions, Model, ModelSpec, find};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::rows::Rows;
use hingenet_data::table::{Column, FeatureKind, ReadOptions, Table, read};
use hingenet_pool::{
    self, Labelled, MaskSampler, PoolClassifier, PoolParams, StandIns, TermModel, TermRecipe,
};
use std::any::Any;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Fits the pool with its options.
pub(super) fn fit(
    spec: &ModelSpec,
    rows: &Rows,
    options: FitOptions,
    control: &Control,
) -> Result<PoolClassifier> {
    let params = PoolParams {
        consistent: spec.choice("consistent", &[("false", false), ("true", true)])?,
        fast: spec.choice("fast", &[("false", false), ("true", true)])?,
        draws: spec.parsed("draws", "a whole number")?.unwrap_or(PoolParams::default().draws),
        masks: masks(spec, rows.features(), control)?,
    };
    let recipe = |key: &str, own: &str| {
        let named = spec.text(key).filter(|name| *name != own);
        named.map(|name| Named::new(name, rows.target(), options)).transpose()
    };
    let (a, g) = (recipe("a", "aode")?, recipe("g", "gaussian")?);
    let stand_ins = StandIns {
        averaged: a.as_ref().map(|r| r as &dyn TermRecipe),
        gaussian: g.as_ref().map(|r| r as &dyn TermRecipe),
    };
    hingenet_pool::fit_with(rows, &params, stand_ins, options.seed, control)
}

fn masks(spec: &ModelSpec, features: &Table, control: &Control) -> Result<MaskSampler> {
    match spec.text("mask") {
        None | Some("mcar") => Ok(MaskSampler::Independent),
        Some("block") => Ok(MaskSampler::Block),
        Some(file) => {
            let table = read(Path::new(file), &ReadOptions::default(), control)?.table;
            let find = |c: &Column| table.by_name(c.name());
            let columns = features.columns().iter().map(find).collect::<Result<Vec<_>>>()?;
            let pattern = |m: usize| columns.iter().map(|c| c.is_missing(m)).collect();
            Ok(MaskSampler::Patterns((0..table.n_rows()).map(pattern).collect()))
        }
    }
}

/// A model of the list in place of a term.
struct Named {
    spec: ModelSpec,
    target: String,
    options: FitOptions,
}

impl Named {
    fn new(text: &str, target: &str, options: FitOptions) -> Result<Self> {
        let spec: ModelSpec = text.replace('+', ",").parse()?;
        if spec.name == "pool" {
            return Err(Error::Parameter {
                name: "term of model `pool`".into(),
                value: spec.name,
                expected: "another model".into(),
            });
        }
        Ok(Named { spec, target: target.into(), options })
    }

    /// The spec with what the model of all rows has chosen, where that can be written as options.
    fn settled(&self, model: &Model) -> Result<ModelSpec> {
        let info = find(&self.spec.name)?;
        let mut spec = self.spec.clone();
        if !matches!(info.recipe, Recipe::Density(_)) {
            let known = |key: &str| info.options.iter().any(|o| o.key == key);
            for (key, value) in model.facts.chosen.iter().filter(|(key, _)| known(key)) {
                spec.options.entry(key.clone()).or_insert_with(|| value.to_string());
            }
        }
        Ok(spec)
    }
}

impl TermRecipe for Named {
    fn fit(
        &self,
        rows: &Labelled,
        settled: Option<&dyn TermModel>,
        control: &Control,
    ) -> Result<Arc<dyn TermModel>> {
        let settled = settled.and_then(|m| (m as &dyn Any).downcast_ref::<Model>());
        let mut spec = settled.map_or_else(|| Ok(self.spec.clone()), |model| self.settled(model))?;
        if find(&spec.name)?.options.iter().any(|o| o.key == "small_classes") {
            // Folds may leave a few rows of a class, and the other terms know it too.
            spec.options.entry("small_classes".into()).or_insert_with(|| "allow".into());
        }
        Ok(Arc::new(super::fit(&spec, &rows.dataset(&self.target)?, self.options, control)?))
    }
}

impl TermModel for Model {
    fn name(&self) -> String {
        self.spec.to_string()
    }

    fn scores(&self, rows: &Table) -> Result<Vec<f64>> {
        self.fitted.classifier().log_proba(with_categories_of(self, rows)?.as_ref())
    }

    fn equals(&self, other: &dyn TermModel) -> bool {
        (other as &dyn Any).downcast_ref::<Model>() == Some(self)
    }
}

/// The rows with the model's names of the categories: files of version 0.1.0 hold terms that number them.
fn with_categories_of<'a>(model: &Model, rows: &'a Table) -> Result<Cow<'a, Table>> {
    let mut columns = Cow::Borrowed(rows.columns());
    for (j, spec) in model.schema.features.iter().enumerate() {
        if let (FeatureKind::Categorical { categories }, Some(c)) =
            (&spec.kind, rows.column(j).as_categorical())
            && c.categories() != categories
        {
            let column = Column::categorical(&spec.name, categories.clone(), c.codes().clone());
            columns.to_mut()[j] = column;
        }
    }
    match columns {
        Cow::Borrowed(_) => Ok(Cow::Borrowed(rows)),
        Cow::Owned(columns) => Table::new(columns).map(Cow::Owned),
    }
}
