//! Nested plain data in a model file: the shape goes into the header, every floating-point number into one section
//! in the order of the shape, so that it comes back bit by bit and the header stays small.

use super::Container;
use hingenet_base::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Key of the object that stands for a list of numbers (its count) or for one number (null). No field of ours
/// has this name.
const NUMBERS: &str = "#";
/// The section of the numbers.
const SECTION: &str = "numbers";

impl Container {
    /// The shape of `value`, for the header; its floating-point numbers, if any, become a section.
    pub fn put_plain<T: Serialize>(&mut self, value: &T) -> Result<Value> {
        let plain = serde_json::to_value(value).map_err(|e| Error::model_file(e.to_string()))?;
        let mut numbers = Vec::new();
        let shape = extract(plain, &mut numbers);
        if !numbers.is_empty() {
            self.put(SECTION, &numbers);
        }
        Ok(shape)
    }

    /// The value of a shape and its numbers.
    pub fn take_plain<T: DeserializeOwned>(&mut self, shape: Value) -> Result<T> {
        let numbers: Vec<f64> = if self.has(SECTION) { self.take(SECTION)? } else { Vec::new() };
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(Error::model_file("a number is not finite"));
        }
        let mut rest = numbers.iter().copied();
        let plain = restore(shape, &mut rest)?;
        if rest.next().is_some() {
            return Err(Error::model_file("there are more numbers than places for them"));
        }
        serde_json::from_value(plain).map_err(|e| Error::model_file(format!("parameters: {e}")))
    }
}

fn extract(value: Value, numbers: &mut Vec<f64>) -> Value {
    match value {
        Value::Array(items) if items.iter().any(Value::is_f64) && items.iter().all(Value::is_number) => {
            numbers.extend(items.iter().filter_map(Value::as_f64));
            json!({ NUMBERS: items.len() })
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|v| extract(v, numbers)).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, v)| (key, extract(v, numbers))).collect())
        }
        Value::Number(n) if n.is_f64() => {
            numbers.extend(n.as_f64());
            json!({ NUMBERS: null })
        }
        other => other,
    }
}

fn restore(shape: Value, numbers: &mut impl Iterator<Item = f64>) -> Result<Value> {
    match shape {
        Value::Object(fields) => match fields.get(NUMBERS) {
            Some(count) if fields.len() == 1 => take(count, numbers),
            _ => {
                let restored = fields.into_iter().map(|(key, v)| Ok((key, restore(v, numbers)?)));
                Ok(Value::Object(restored.collect::<Result<Map<_, _>>>()?))
            }
        },
        Value::Array(items) => {
            Ok(Value::Array(items.into_iter().map(|v| restore(v, numbers)).collect::<Result<_>>()?))
        }
        other => Ok(other),
    }
}

/// One number for null, else a list of that many.
fn take(count: &Value, numbers: &mut impl Iterator<Item = f64>) -> Result<Value> {
    let mut next = || numbers.next().map(|x| json!(x)).ok_or_else(|| Error::model_file("numbers are absent"));
    match (count, count.as_u64()) {
        (Value::Null, _) => next(),
        (_, Some(n)) => (0..n).map(|_| next()).collect::<Result<Vec<_>>>().map(Value::Array),
        _ => Err(Error::model_file("a list of numbers has no count")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    struct Nested {
        weights: Vec<f64>,
        one: f64,
        whole: Vec<usize>,
        none: Option<f64>,
        rows: Vec<Vec<f64>>,
        single: Vec<f32>,
    }

    #[test]
    fn nested_data_comes_back_bit_by_bit() {
        let value = Nested {
            weights: vec![0.1 + 0.2, -0.0, 1e-310, 3.0],
            one: std::f64::consts::PI,
            whole: vec![3, 0, 7],
            none: None,
            rows: vec![vec![], vec![1.0 / 3.0], vec![2.0, 5.0]],
            single: vec![0.1, 2.5],
        };
        let mut container = Container::new(Value::Null);
        let shape = container.put_plain(&value).unwrap();
        let back: Nested = container.take_plain(shape.clone()).unwrap();
        assert_eq!(back, value);
        assert_eq!(back.weights[1].to_bits(), value.weights[1].to_bits());
        let mut short = Container::new(Value::Null);
        short.put(SECTION, &[1.0]);
        assert!(short.take_plain::<Nested>(shape).is_err());
    }

    #[test]
    fn numbers_that_do_not_fit_their_places_are_refused() {
        for (shape, numbers, problem) in [
            (json!([{NUMBERS: 2}, {NUMBERS: null}]), &[1.0, 2.0][..], "numbers are absent"),
            (json!({NUMBERS: 1}), &[1.0, 2.0], "more numbers than places"),
            (json!({NUMBERS: null}), &[f64::NAN], "a number is not finite"),
            (json!({NUMBERS: null}), &[f64::INFINITY], "a number is not finite"),
            (json!({NUMBERS: -1}), &[1.0], "has no count"),
            (json!({NUMBERS: 1, "more": 2}), &[1.0], "more numbers than places"),
        ] {
            let mut container = Container::new(Value::Null);
            container.put(SECTION, numbers);
            let error = container.take_plain::<Value>(shape).unwrap_err().to_string();
            assert!(error.contains(problem), "`{error}` is not `{problem}`");
        }
        // a field that has the name is a field where it does not stand alone
        let object = json!({NUMBERS: 1, "more": 2});
        assert_eq!(Container::new(Value::Null).take_plain::<Value>(object.clone()).unwrap(), object);
        let error = Container::new(Value::Null).take_plain::<Vec<f64>>(json!("text")).unwrap_err();
        assert!(error.to_string().contains("parameters: "), "{error}");
    }
}
