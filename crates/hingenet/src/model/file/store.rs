//! What of a model goes where in its file, and every check a file must pass to become a model again.
//! All numbers that decide anything stand in sections, so they come back bit by bit.

use super::{Container, Section, averaged, discrete, numbers, pool};
use crate::model::{Facts, Fitted, Majority, Model, ModelSpec};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_data::classifier::Classifier;
use hingenet_data::table::{Codes, FeatureKind, Schema};
use hingenet_density::DensityClassifier;
use hingenet_gaussian::GaussianClassifier;
use serde::de::DeserializeOwned;
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
    pub(super) facts: Facts,
    pub(super) parameters: Value,
}

/// A model as header and sections.
pub fn pack(model: &Model) -> Result<Container> {
    let mut container = Container::new(Value::Null);
    let (family, parameters) = match &model.fitted {
        Fitted::Majority(m) => {
            container.put("log_prior", Section::F64(m.log_prior.clone()));
            ("majority", Value::Null)
        }
        Fitted::Discrete(m) => ("discrete", discrete::pack(m, &mut container)?),
        Fitted::Averaged(m) => ("averaged", averaged::pack(m, &mut container)?),
        Fitted::Density(m) => ("density", numbers::pack(m, &mut container)?),
        Fitted::Gaussian(m) => ("gaussian", numbers::pack(m, &mut container)?),
        Fitted::Pool(m) => ("pool", pool::pack(m, &mut container)?),
    };
    let about = About {
        program: concat!("hingenet ", env!("CARGO_PKG_VERSION")).into(),
        family: family.into(),
        model: model.spec.clone(),
        target: model.target.clone(),
        classes: model.classes.clone(),
        schema: model.schema.clone(),
        facts: model.facts.clone(),
        parameters,
    };
    container.about = serde_json::to_value(about).map_err(|e| Error::model_file(e.to_string()))?;
    Ok(container)
}

/// A model from header and sections; nothing is believed.
pub fn unpack(mut container: Container) -> Result<Model> {
    let about: About = parse(std::mem::take(&mut container.about), "header")?;
    check_names(&about)?;
    let fitted = match about.family.as_str() {
        "majority" => Fitted::Majority(unpack_majority(&mut container, &about)?),
        "discrete" => Fitted::Discrete(discrete::unpack(&mut container, &about)?),
        "averaged" => Fitted::Averaged(averaged::unpack(&mut container, &about)?),
        "density" => Fitted::Density(unpack_density(&mut container, &about)?),
        "gaussian" => Fitted::Gaussian(unpack_gaussian(&mut container, &about)?),
        "pool" => Fitted::Pool(Box::new(pool::unpack(&mut container, &about)?)),
        other => return Err(Error::model_file(format!("unknown family `{other}`"))),
    };
    container.require_empty()?;
    Ok(Model {
        spec: about.model,
        target: about.target,
        classes: about.classes,
        schema: about.schema,
        facts: about.facts,
        fitted,
    })
}

fn unpack_majority(container: &mut Container, about: &About) -> Result<Majority> {
    let log_prior = container.take_f64("log_prior")?;
    agree("class frequencies", about.classes.len(), log_prior.len())?;
    require_log_distribution("class frequencies", &log_prior)?;
    Ok(Majority { log_prior })
}

fn unpack_density(container: &mut Container, about: &About) -> Result<DensityClassifier> {
    let model: DensityClassifier = numbers::unpack(about.parameters.clone(), container)?;
    model.check()?;
    agree("classes", about.classes.len(), model.n_classes())?;
    agree("feature columns", about.schema.features.len(), model.units().n_columns())?;
    Ok(model)
}

fn unpack_gaussian(container: &mut Container, about: &About) -> Result<GaussianClassifier> {
    let model: GaussianClassifier = numbers::unpack(about.parameters.clone(), container)?;
    agree("classes", about.classes.len(), model.n_classes())?;
    agree("feature columns", about.schema.features.len(), model.features().columns())?;
    Ok(model)
}

/// Distinct, complete names: two classes or more, features that are not the target.
fn check_names(about: &About) -> Result<()> {
    let classes: BTreeSet<&String> = about.classes.iter().collect();
    if classes.len() < 2 || classes.len() != about.classes.len() || classes.len() > Codes::MAX_CATEGORIES {
        return Err(Error::model_file("the class names are not at least two distinct names"));
    }
    let mut names = BTreeSet::from([about.target.as_str()]);
    for feature in &about.schema.features {
        if !names.insert(&feature.name) {
            return Err(Error::model_file(format!("the column name `{}` occurs twice", feature.name)));
        }
        if let FeatureKind::Categorical { categories } = &feature.kind {
            let distinct: BTreeSet<&String> = categories.iter().collect();
            if distinct.len() != categories.len() || categories.len() > Codes::MAX_CATEGORIES {
                return Err(Error::model_file(format!(
                    "the categories of `{}` are not distinct",
                    feature.name
                )));
            }
        }
    }
    Ok(())
}

/// Reads a part of the header.
pub(super) fn parse<T: DeserializeOwned>(value: Value, what: &str) -> Result<T> {
    serde_json::from_value(value).map_err(|e| Error::model_file(format!("{what}: {e}")))
}

/// Sizes inside a file that must agree.
pub(super) fn agree(what: &str, expected: usize, found: usize) -> Result<()> {
    require_len(what, expected, found).map_err(|e| Error::model_file(e.to_string()))
}

/// Log probabilities: not NaN, not above 0, summing to one.
fn require_log_distribution(what: &str, v: &[f64]) -> Result<()> {
    let total = hingenet_base::numeric::log::log_sum_exp(v);
    if v.iter().all(|x| *x <= 1e-9) && total.abs() < 1e-6 {
        Ok(())
    } else {
        Err(Error::model_file(format!("{what} are not log probabilities that sum to one")))
    }
}
