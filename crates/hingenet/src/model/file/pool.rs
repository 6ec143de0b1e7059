//! The pool in a model file: choices and weights in the header, rows and matrices in sections. The kernel terms
//! keep training rows, so the file holds them.

use super::numbers;
use super::store::{About, agree};
use super::{Container, Section};
use crate::classifier::Classifier;
use crate::error::{Error, Result};
use crate::pool::{PoolClassifier, PoolHeader, PoolParts};
use serde_json::Value;

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
    numbers::pack(&parts.header, out)
}

/// Rebuilds the pool; its own checks refuse what does not fit together.
pub fn unpack(container: &mut Container, about: &About) -> Result<PoolClassifier> {
    let header: PoolHeader = numbers::unpack(about.parameters.clone(), container)?;
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
    Ok(model)
}
