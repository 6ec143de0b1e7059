//! How the pool is named and fitted: `pool,a=tan:ml-bn-svm,mask=block`. The options of a model that stands in
//! for a term follow its name behind `+`: `pool,a=tan:ml-bn-svm+lambda=4+gamma=5`.

use super::options::{Opt, OptionDefault, OptionInfo, OptionKind, OptionValue, option, options};
use super::registry::Recipe;
use super::{FitOptions, Model, ModelSpec};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::rows::Rows;
use hingenet_data::table::{Column, FeatureKind, ReadOptions, Table, read};
use hingenet_pool::{self, Labelled, MaskSampler, PoolClassifier, PoolParams, TermModel, TermRecipe};
use std::any::Any;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

options! { pool_setters:
    FAST fast: flag() = false, "fewer rows and candidates in every search: faster, slightly less accurate";
    CONSISTENT consistent: flag() = false, "one joint kernel density for all patterns of missing features";
    DRAWS draws: whole(1 ..= 1000) = 10, "completions of a row with missing features in the kernel machine";
    ROWS rows: words(bool; "all" => true, "none" => false) = "all",
        "what the kernel terms keep: training rows, or prototypes that stand for groups of them";
    GROUP group: whole(2 ..= 1_000_000) = 5, "with rows=none: fewest different rows of a class that a prototype stands for";
    AVERAGED a: text("aode, or any other model, its options behind `+`: tan:ml-bn-svm+lambda=4", check_averaged)
        or "aode",
        "the averaged network, or a model in its place";
    GAUSSIAN g: text("gaussian, or any other model, its options behind `+`: sgbn:search", check_gaussian)
        or "gaussian",
        "the shrunk Gaussians, or a model in their place";
    MASK mask: text("mcar, block, or a data file whose empty cells show what is missing", |_| Ok(())) or "mcar",
        "gaps on which the weights are fitted: single cells, neighbouring columns, or patterns you give";
}

/// Names of the pool's own terms.
const OWN_AVERAGED: &str = "aode";
const OWN_GAUSSIAN: &str = "gaussian";

fn check_averaged(text: &str) -> Result<(), String> {
    stand_in(text, OWN_AVERAGED).map(|_| ()).map_err(|e| format!("aode or another model ({e})"))
}

fn check_gaussian(text: &str) -> Result<(), String> {
    stand_in(text, OWN_GAUSSIAN).map(|_| ()).map_err(|e| format!("gaussian or another model ({e})"))
}

/// The model in place of a term, with its options behind `+`; `None` is the pool's own.
fn stand_in(text: &str, own: &str) -> Result<Option<ModelSpec>> {
    if text == own {
        return Ok(None);
    }
    let spec: ModelSpec = text.replace('+', ",").parse()?;
    if spec.name() == "pool" {
        return Err(Error::Parameter {
            name: "term of model `pool`".into(),
            value: spec.name().into(),
            expected: "another model".into(),
        });
    }
    Ok(Some(spec))
}

/// Fits the pool with its options.
pub(super) fn fit(
    spec: &ModelSpec,
    rows: &Rows,
    options: FitOptions,
    control: &Control,
) -> Result<PoolClassifier> {
    let params = PoolParams {
        consistent: CONSISTENT.of(spec),
        fast: FAST.of(spec),
        draws: DRAWS.of(spec),
        group: (!ROWS.of(spec)).then(|| GROUP.of(spec)),
        masks: masks(spec, rows.features(), control)?,
        seed: options.seed,
    };
    let recipe = |term: &Opt<Option<String>>, own: &str| {
        let spec = term.of(spec).map_or(Ok(None), |text| stand_in(&text, own))?;
        let named = spec.map(|spec| Named { spec, target: rows.target().to_string(), options });
        Ok::<_, Error>(named.map(|named| -> Box<TermRecipe> {
            Box::new(move |rows, settled, control| named.fit(rows, settled, control))
        }))
    };
    let (a, g) = (recipe(&AVERAGED, OWN_AVERAGED)?, recipe(&GAUSSIAN, OWN_GAUSSIAN)?);
    hingenet_pool::fit(rows, &params, [a.as_deref(), g.as_deref()], control)
}

/// The models in place of terms.
pub(super) fn stand_ins(spec: &ModelSpec) -> Vec<ModelSpec> {
    let model = |(term, own): (&Opt<Option<String>>, &str)| stand_in(&term.of(spec)?, own).ok()?;
    [(&AVERAGED, OWN_AVERAGED), (&GAUSSIAN, OWN_GAUSSIAN)].into_iter().filter_map(model).collect()
}

/// The file that shows the patterns of gaps.
pub(super) fn gaps_file(spec: &ModelSpec) -> Option<PathBuf> {
    MASK.of(spec).filter(|text| !["mcar", "block"].contains(&text.as_str())).map(PathBuf::from)
}

fn masks(spec: &ModelSpec, features: &Table, control: &Control) -> Result<MaskSampler> {
    match gaps_file(spec) {
        None if MASK.of(spec).as_deref() == Some("block") => Ok(MaskSampler::Block),
        None => Ok(MaskSampler::Independent),
        Some(file) => {
            let table = read(file.as_path(), &ReadOptions::default(), control)?.table;
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
    /// The spec with what the model of all rows has chosen, where that can be written as options.
    fn settled(&self, model: &Model) -> Result<ModelSpec> {
        let mut spec = self.spec.clone();
        if !matches!(spec.info().recipe, Recipe::Density(_)) {
            for (key, value) in &model.facts.chosen {
                spec.set_open(key, &value.to_string())?;
            }
        }
        Ok(spec)
    }

    fn fit(
        &self,
        rows: &Labelled,
        settled: Option<&dyn TermModel>,
        control: &Control,
    ) -> Result<Arc<dyn TermModel>> {
        let settled = settled.and_then(|m| (m as &dyn Any).downcast_ref::<Model>());
        let mut spec = settled.map_or_else(|| Ok(self.spec.clone()), |model| self.settled(model))?;
        // Folds may leave a few rows of a class, and the other terms know it too.
        spec.set_open("small_classes", "allow")?;
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
