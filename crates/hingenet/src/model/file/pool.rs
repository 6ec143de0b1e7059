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
use std::sync::Arc;

/// Keys in the header of models in place of terms A and G; their sections have the same prefix.
const STAND_INS: [&str; 2] = ["term_a", "term_g"];

/// Names of the sections of doubles, in the order of [`doubles`].
const DOUBLES: [&str; 11] = [
    "class_counts",
    "coefficients",
    "covariance",
    "covariances",
    "means",
    "pair_counts",
    "points",
    "support",
    "training_numbers",
    "value_counts",
    "weight",
];

fn doubles(parts: &mut PoolParts) -> [&mut Vec<f64>; 11] {
    [
        &mut parts.class_counts,
        &mut parts.coefficients,
        &mut parts.covariance,
        &mut parts.covariances,
        &mut parts.means,
        &mut parts.pair_counts,
        &mut parts.points,
        &mut parts.support,
        &mut parts.numbers,
        &mut parts.value_counts,
        &mut parts.weight,
    ]
}

/// Header and sections of a fitted pool.
pub fn pack(model: &PoolClassifier, out: &mut Container) -> Result<Value> {
    let mut parts = model.to_parts();
    for (name, values) in DOUBLES.iter().zip(doubles(&mut parts)) {
        out.put(*name, Section::F64(std::mem::take(values)));
    }
    out.put("training_levels", Section::U32(parts.levels));
    out.put("training_class", Section::U32(parts.class));
    let mut header = numbers::pack(&parts.header, out)?;
    for (stand_in, key) in model.stand_ins().into_iter().zip(STAND_INS) {
        let Some(stand_in) = stand_in.and_then(|m| m.as_any().downcast_ref::<Model>()) else { continue };
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
    let mut stand_ins = Vec::new();
    for (about, key) in abouts.into_iter().zip(STAND_INS) {
        stand_ins.push(about.map(|about| unpack_stand_in(container, key, about)).transpose()?);
    }
    let header: PoolHeader = numbers::unpack(parameters, container)?;
    for stand_in in stand_ins.iter().flatten() {
        check_stand_in(stand_in, &header)?;
    }
    let mut parts = PoolParts {
        header,
        numbers: Vec::new(),
        levels: container.take_u32("training_levels")?,
        class: container.take_u32("training_class")?,
        weight: Vec::new(),
        points: Vec::new(),
        covariance: Vec::new(),
        support: Vec::new(),
        coefficients: Vec::new(),
        class_counts: Vec::new(),
        value_counts: Vec::new(),
        pair_counts: Vec::new(),
        means: Vec::new(),
        covariances: Vec::new(),
    };
    for (name, values) in DOUBLES.iter().zip(doubles(&mut parts)) {
        *values = container.take_f64(name)?;
    }
    agree("feature columns", about.schema.features.len(), parts.header.names.len())?;
    let model = PoolClassifier::from_parts(parts).map_err(|e| Error::model_file(e.to_string()))?;
    agree("classes", about.classes.len(), model.n_classes())?;
    let mut stand_ins = stand_ins.into_iter().map(|m| m.map(|m| Arc::new(m) as Arc<dyn TermModel>));
    Ok(model.with_stand_ins(stand_ins.next().flatten(), stand_ins.next().flatten()))
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
