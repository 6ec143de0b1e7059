//! The name of a model with its options, as users write it: `tan:ml-bn-svm,lambda=4,gamma=5`.

use hingenet_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::str::FromStr;

/// A model name and options; [`super::find`] knows which there are.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ModelSpec {
    /// Name, for example `tan:ml`.
    pub name: String,
    /// Options given by the user, as text.
    pub options: BTreeMap<String, String>,
}

impl ModelSpec {
    /// Number behind `key`; `default` if it was not given.
    pub fn number(&self, key: &str, default: f64) -> Result<f64> {
        self.parsed(key, "a number").map(|v| v.unwrap_or(default))
    }

    /// Value behind `key`, if it was given.
    pub fn parsed<T: FromStr>(&self, key: &str, expected: &str) -> Result<Option<T>> {
        self.options.get(key).map(|text| text.parse().map_err(|_| self.bad(key, text, expected))).transpose()
    }

    /// Text behind `key`, if it was given.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.options.get(key).map(String::as_str)
    }

    /// The value whose name stands behind `key`; the first one if it was not given.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        let text = self.text(key).or(choices.first().map(|(name, _)| *name)).unwrap_or_default();
        let found = choices.iter().find(|(name, _)| *name == text);
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| self.bad(key, text, &format!("one of {}", names.join(", "))))
    }

    pub(super) fn bad(&self, key: &str, value: &str, expected: &str) -> Error {
        Error::Parameter {
            name: format!("option `{key}` of model `{}`", self.name),
            value: value.into(),
            expected: expected.into(),
        }
    }
}

/// A name in which characters that mean something else in options are written as `%2C`.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

impl FromStr for ModelSpec {
    type Err = Error;

    /// Parses and checks name and option names against the list of models.
    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split(',');
        let name = parts.next().unwrap_or_default().trim().to_string();
        let info = super::find(&name)?;
        let mut options = BTreeMap::new();
        for part in parts {
            let (key, value) = part.split_once('=').ok_or_else(|| Error::Parameter {
                name: format!("option of model `{name}`"),
                value: part.into(),
                expected: "key=value".into(),
            })?;
            let (key, value) = (key.trim().to_string(), value.trim().to_string());
            if !info.options.iter().any(|o| o.key == key) {
                let known: Vec<&str> = info.options.iter().map(|o| o.key).collect();
                return Err(Error::Parameter {
                    name: format!("option of model `{name}`"),
                    value: key,
                    expected: if known.is_empty() {
                        "no options".into()
                    } else {
                        format!("one of {}", known.join(", "))
                    },
                });
            }
            if options.insert(key.clone(), value).is_some() {
                return Err(Error::Parameter {
                    name: format!("option of model `{name}`"),
                    value: key,
                    expected: "each option once".into(),
                });
            }
        }
        Ok(ModelSpec { name, options })
    }
}

impl std::fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        self.options.iter().try_for_each(|(key, value)| write!(f, ",{key}={value}"))
    }
}
