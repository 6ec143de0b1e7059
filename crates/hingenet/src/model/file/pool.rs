//! The pool in a model file: choices and weights in the header, rows and matrices in sections. The kernel terms
//! keep training rows, so the file holds them.

use super::numbers;
use super::store::{self, About, agree};
use super::{Container, Section};
use crate::model::Model;
use hingenet_base::error::{Error, Result};
use hingenet_data::classifier::Classifier;
use hingenet_data::table::{FeatureKind, FeatureSpec};
use hingenet_pool::{FeatureType, PoolClassifier, PoolHeader, PoolParts, TermModel};
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;

/// Keys in the header of models in place of terms A and G; their sections have the same prefix.
const STAND_INS: [&str; 2] = ["term_a", "term_g"];

/// Header and sections of a fitted pool.
pub fn pack(model: &PoolClassifier, out: &mut Container) -> Result<Value> {
    let parts = model.to_parts();
    for (name, values) in parts.doubles {
        out.put(name, Section::F64(values));
    }
    out.put("training_levels", Section::U32(parts.levels));
    out.put("training_class", Section::U32(parts.class));
    let mut header = numbers::pack(&parts.header, out)?;
    for (term, key) in model.term_models().into_iter().zip(STAND_INS) {
        let Some(stand_in) = term.and_then(|m| (m as &dyn Any).downcast_ref::<Model>()) else { continue };
        let about = out.put_all(&format!("{key}/"), store::pack(stand_in)?);
        if let Value::Object(fields) = &mut header {
            fields.insert(key.into(), about);
        }
    }
    Ok(header)
}

/// Rebuilds the pool; its own checks refuse what does not fit together.
pub fn unpack(container: &mut Container, about: &About) -> Result<PoolClassifier> {
    let mut parameters = about.parameters.clone();
    let abouts = STAND_INS.map(|key| parameters.as_object_mut().and_then(|fields| fields.remove(key)));
    let mut stand_ins = [None, None];
    for ((stand_in, about), key) in stand_ins.iter_mut().zip(abouts).zip(STAND_INS) {
        *stand_in = about.map(|about| unpack_stand_in(container, key, about)).transpose()?;
    }
    let header: PoolHeader = numbers::unpack(parameters, container)?;
    for stand_in in stand_ins.iter().flatten() {
        check_stand_in(stand_in, &header)?;
    }
    let (levels, class) = (container.take_u32("training_levels")?, container.take_u32("training_class")?);
    let double = |name: &'static str| Ok((name, container.take_f64(name)?));
    let doubles = PoolParts::DOUBLES.into_iter().map(double).collect::<Result<_>>()?;
    agree("feature columns", about.schema.features.len(), header.names.len())?;
    let model = PoolClassifier::from_parts(PoolParts { header, levels, class, doubles })
        .map_err(|e| Error::model_file(e.to_string()))?;
    agree("classes", about.classes.len(), model.n_classes())?;
    Ok(model.with_stand_ins(stand_ins.map(|m| m.map(|m| Arc::new(m) as Arc<dyn TermModel>))))
}

/// The model in place of a term. It is no pool itself.
fn unpack_stand_in(container: &mut Container, key: &str, about: Value) -> Result<Model> {
    if about.get("family").and_then(Value::as_str) == Some("pool") {
        return Err(Error::model_file("a term of a pool cannot be a pool"));
    }
    store::unpack(container.take_all(&format!("{key}/"), about))
}

/// A stand-in knows the classes that have training rows, and all columns.
fn check_stand_in(model: &Model, header: &PoolHeader) -> Result<()> {
    agree("classes of a term", header.present.len(), model.classes.len())?;
    let kind = |f: &FeatureSpec| match &f.kind {
        FeatureKind::Numeric => FeatureType::Number,
        FeatureKind::Categorical { categories } => FeatureType::Levels(categories.len()),
    };
    if model.schema.features.iter().map(kind).collect::<Vec<_>>() != header.types {
        return Err(Error::model_file("the columns of a term are not those of its pool"));
    }
    Ok(())
}
