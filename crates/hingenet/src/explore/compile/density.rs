//! Density models: their own tables, which keep no training rows. `engine/density.js` looks up, adds and integrates.

use super::{floats, singles};
use hingenet_base::error::{Error, Result};
use hingenet_density::DensityClassifier;
use serde_json::{Value, json};

/// The model as it is written, its large tables as bytes; facts of the fit stay behind.
pub(super) fn program(model: &DensityClassifier, cards: &[usize]) -> Result<Value> {
    let written = |e: serde_json::Error| Error::data(format!("the tables cannot be written: {e}"), "");
    let mut tables = serde_json::to_value(model).map_err(written)?;
    drop_field(&mut tables, "summary");
    for line in members(&mut tables["lines"]) {
        drop_field(line, "centre");
        line["values"] = floats(&numbers(&line["values"])).into();
    }
    for pair in members(&mut tables["pairs"]) {
        drop_field(pair, "centre");
        for layer in members(&mut pair["layers"]) {
            layer["values"] = singles(&numbers(&layer["values"])).into();
        }
    }
    let generative = model.variant.is_generative();
    Ok(json!({ "kind": "density", "cards": cards, "generative": generative, "tables": tables }))
}

fn members(list: &mut Value) -> impl Iterator<Item = &mut Value> {
    list.as_array_mut().into_iter().flatten()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn drop_field(object: &mut Value, name: &str) {
    object.as_object_mut().and_then(|fields| fields.remove(name));
}
