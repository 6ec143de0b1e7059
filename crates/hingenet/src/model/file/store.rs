//! What of a model goes where in its file, and every check a file must pass to become a model again. All families go
//! one way: plain data whose shape stands in the header ([`Container::put_plain`]) and named arrays ([`Container::put`]).
//! All numbers that decide anything stand in sections, so they come back bit by bit.

use super::Container;
use crate::model::pieces::Kept;
use crate::model::{Facts, Fitted, Majority, Model, ModelSpec};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_data::table::{Codes, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The readable part of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    program: String,
    family: String,
    model: ModelSpec,
    target: String,
    pub(super) classes: Vec<String>,
    pub(super) schema: Schema,
    facts: Facts,
    parameters: Value,
    /// Shape of the scores of prediction sets, whose numbers stand behind [`SETS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sets: Option<Value>,
}

/// Before the names of the sections of prediction sets.
const SETS: &str = "sets/";
/// Sections of statistics that are kept.
const TASK: &str = "statistics/task";
const GATHERED: &str = "statistics/gathered";

/// A family in a file that is more than plain data. What does not fit together is refused by [`Self::restore`]; what does
/// not fit the classes and columns of the model, by [`check`].
pub(super) trait Stored: Sized {
    /// Puts the arrays into sections; the rest comes back for the header.
    fn store(&self, out: &mut Container) -> Result<Value>;

    /// Takes it out again.
    fn restore(header: Value, from: &mut Container, about: &About) -> Result<Self>;
}

/// A model as header and sections.
pub fn pack(model: &Model) -> Result<Container> {
    let mut container = Container::new(Value::Null);
    let out = &mut container;
    let (family, parameters) = match &model.fitted {
        Fitted::Majority(m) => ("majority", m.store(out)?),
        Fitted::Discrete(m) => ("discrete", m.store(out)?),
        Fitted::Averaged(m) => ("averaged", m.store(out)?),
        Fitted::Density(m) => ("density", out.put_plain(m)?),
        Fitted::Gaussian(m) => ("gaussian", out.put_plain(m)?),
        Fitted::Pool(m) => ("pool", m.store(out)?),
    };
    let sets = model.sets.as_ref().map(|sets| {
        let mut own = Container::new(Value::Null);
        own.about = own.put_plain(sets)?;
        Ok(container.put_all(SETS, own))
    });
    if let Some(kept) = &model.kept {
        container.put(TASK, &kept.task);
        container.put(GATHERED, &kept.gathered);
    }
    let about = About {
        program: concat!("hingenet ", env!("CARGO_PKG_VERSION")).into(),
        family: family.into(),
        model: model.spec.clone(),
        target: model.target.clone(),
        classes: model.classes.clone(),
        schema: model.schema.clone(),
        facts: model.facts.clone(),
        parameters,
        sets: sets.transpose()?,
    };
    container.about = serde_json::to_value(about).map_err(|e| Error::model_file(e.to_string()))?;
    Ok(container)
}

/// The header of a model file, once its names are checked.
pub fn checked_header(about: Value) -> Result<Value> {
    readable(about.clone())?;
    Ok(about)
}

fn readable(about: Value) -> Result<About> {
    let about: About =
        serde_json::from_value(about).map_err(|e| Error::model_file(format!("header: {e}")))?;
    check_names(&about)?;
    Ok(about)
}

/// A model from header and sections; nothing is believed.
pub fn unpack(mut container: Container) -> Result<Model> {
    let mut about = readable(std::mem::take(&mut container.about))?;
    let sets = about.sets.take().map(|shape| {
        let mut own = container.take_all(SETS, Value::Null);
        let sets = own.take_plain(shape)?;
        own.require_empty().map(|()| sets)
    });
    let fitted = restored(&mut container, &mut about).map_err(damaged)?;
    let kept = match container.has(TASK) {
        true => Some(Box::new(Kept { task: container.take(TASK)?, gathered: container.take(GATHERED)? })),
        false => None,
    };
    container.require_empty()?;
    let model = Model {
        spec: about.model,
        target: about.target,
        classes: about.classes,
        schema: about.schema,
        facts: about.facts,
        fitted,
        sets: sets.transpose()?,
        kept,
    };
    check(&model).map_err(damaged)?;
    Ok(model)
}

fn restored(from: &mut Container, about: &mut About) -> Result<Fitted> {
    let header = std::mem::take(&mut about.parameters);
    Ok(match about.family.as_str() {
        "majority" => Fitted::Majority(Stored::restore(header, from, about)?),
        "discrete" => Fitted::Discrete(Stored::restore(header, from, about)?),
        "averaged" => Fitted::Averaged(Stored::restore(header, from, about)?),
        "density" => Fitted::Density(from.take_plain(header)?),
        "gaussian" => Fitted::Gaussian(from.take_plain(header)?),
        "pool" => Fitted::Pool(Box::new(Stored::restore(header, from, about)?)),
        other => return Err(Error::model_file(format!("unknown family `{other}`"))),
    })
}

/// Whatever does not fit in a file is damage of the file.
fn damaged(error: Error) -> Error {
    match error {
        Error::ModelFile { .. } => error,
        other => Error::model_file(other.to_string()),
    }
}

/// The one place that ties what a family holds to the classes and the columns of the model: behind it every index and
/// every size is known to fit.
fn check(model: &Model) -> Result<()> {
    require_len("classes", model.classes.len(), model.fitted.classifier().n_classes())?;
    model.sets.as_ref().map_or(Ok(()), |sets| sets.check(model.schema.features.len()))?;
    model.kept.as_ref().map_or(Ok(()), |kept| kept.check(model))?;
    match &model.fitted {
        // these are made from the columns of the schema
        Fitted::Majority(_) | Fitted::Discrete(_) | Fitted::Averaged(_) | Fitted::Pool(_) => Ok(()),
        Fitted::Density(m) => m.check(&model.schema),
        Fitted::Gaussian(m) => m.check(&model.schema),
    }
}

/// Refuses a description where a family has none.
pub(super) fn require_none(header: &Value) -> Result<()> {
    if header.is_null() {
        Ok(())
    } else {
        Err(Error::model_file("this family has no parameters in the header"))
    }
}

impl Stored for Majority {
    fn store(&self, out: &mut Container) -> Result<Value> {
        out.put("log_prior", &self.log_prior);
        Ok(Value::Null)
    }

    fn restore(header: Value, from: &mut Container, _: &About) -> Result<Self> {
        require_none(&header)?;
        let log_prior: Vec<f64> = from.take("log_prior")?;
        let sums_to_one = log_sum_exp(&log_prior).abs() < 1e-6;
        if !(sums_to_one && log_prior.iter().all(|p| *p <= 1e-9)) {
            return Err(Error::model_file("class frequencies are not log probabilities that sum to one"));
        }
        Ok(Majority { log_prior })
    }
}

/// Distinct, complete names: two classes or more, features that are not the target.
fn check_names(about: &About) -> Result<()> {
    let classes: BTreeSet<&String> = about.classes.iter().collect();
    if classes.len() < 2 || classes.len() != about.classes.len() || classes.len() > Codes::MAX_CATEGORIES {
        return Err(Error::model_file("the class names are not at least two distinct names"));
    }
    about.schema.check().map_err(damaged)?;
    if about.schema.features.iter().any(|f| f.name == about.target) {
        return Err(Error::model_file("the target is among the features"));
    }
    Ok(())
}
