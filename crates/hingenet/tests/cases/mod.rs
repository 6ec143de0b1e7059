//! The golden cases, one file per family. Each file lists what it checks (`CASES`: file name without
//! `.json`, check).

pub mod density;
pub mod discrete;
pub mod gaussian;
pub mod margin;

use serde_json::Value;
use std::path::Path;

/// Checks one golden file; the path is its directory, where `X_ref` and `params_from` resolve.
pub type Check = fn(&Value, &Path);

/// Every known case.
pub const ALL: &[&[(&str, Check)]] = &[discrete::CASES, margin::CASES, density::CASES, gaussian::CASES];

/// A number, or one of the strings `inf`, `-inf`.
pub fn number(v: &Value) -> f64 {
    match v {
        Value::String(s) if s == "inf" => f64::INFINITY,
        Value::String(s) if s == "-inf" => f64::NEG_INFINITY,
        _ => v.as_f64().unwrap_or_else(|| panic!("not a number: {v}")),
    }
}

/// All numbers of nested lists, depth first.
pub fn flat(v: &Value) -> Vec<f64> {
    match v {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        other => vec![number(other)],
    }
}

/// A list of indices.
pub fn indices(v: &Value) -> Vec<usize> {
    flat(v).into_iter().map(|x| x as usize).collect()
}

/// The list below a key.
pub fn list<'a>(v: &'a Value, key: &str) -> &'a Vec<Value> {
    v[key].as_array().unwrap_or_else(|| panic!("`{key}` is not a list"))
}

/// Fails unless `|got - want| <= tol (1 + |want|)`; equal infinities agree.
#[track_caller]
pub fn close(got: f64, want: f64, tol: f64, what: &str) {
    let ok = got == want || (got - want).abs() <= tol * (1.0 + want.abs());
    assert!(ok, "{what}: got {got}, want {want} (tolerance {tol})");
}

/// [`close`], element by element.
#[track_caller]
pub fn all_close(got: &[f64], want: &[f64], tol: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}: lengths");
    for (k, (g, w)) in got.iter().zip(want).enumerate() {
        close(*g, *w, tol, &format!("{what}[{k}]"));
    }
}
