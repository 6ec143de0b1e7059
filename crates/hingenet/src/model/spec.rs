//! The name of a model with its options, as users write it: `tan:ml-bn-svm,lambda=4,gamma=5`.

use super::options::{OptionValue, bad_value};
use super::registry::{ModelInfo, find};
use super::{discrete, pool};
use hingenet_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

/// A model and its options: what was parsed has passed the checks of every option.
///
/// ```
/// use hingenet::model::ModelSpec;
/// let spec: ModelSpec = "tan:ml-bn-svm,lambda=4.0".parse()?;
/// assert_eq!((spec.name(), spec.to_string().as_str()), ("tan:ml-bn-svm", "tan:ml-bn-svm,lambda=4"));
/// assert!("tan:ml-bn-svm,lambda=-1".parse::<ModelSpec>().is_err());
/// # Ok::<(), hingenet::Error>(())
/// ```
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct ModelSpec {
    info: &'static ModelInfo,
    values: BTreeMap<&'static str, OptionValue>,
}

/// A spec as model files hold it.
#[derive(serde::Serialize, serde::Deserialize)]
struct Written {
    name: String,
    options: BTreeMap<String, String>,
}

impl TryFrom<Written> for ModelSpec {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self> {
        let mut spec = ModelSpec::new(&written.name)?;
        written.options.iter().try_for_each(|(key, value)| spec.set(key, value))?;
        Ok(spec)
    }
}

impl From<ModelSpec> for Written {
    fn from(spec: ModelSpec) -> Self {
        let options = spec.values.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Written { name: spec.name().into(), options }
    }
}

impl PartialEq for ModelSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.values == other.values
    }
}

impl ModelSpec {
    /// The named model with every option at its default.
    pub fn new(name: &str) -> Result<Self> {
        Ok(ModelSpec { info: find(name)?, values: BTreeMap::new() })
    }

    /// Name, for example `tan:ml`.
    pub fn name(&self) -> &'static str {
        self.info.name
    }

    /// What is known about the model and its options.
    pub fn info(&self) -> &'static ModelInfo {
        self.info
    }

    /// Sets an option that has not been set; refuses names and values that the model does not have.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let bad = |expected: String| Error::Parameter {
            name: format!("option of model `{}`", self.name()),
            value: key.into(),
            expected,
        };
        let option = self.info.option(key).ok_or_else(|| bad(self.info.keys(key)))?;
        if self.values.contains_key(option.key) {
            return Err(bad("each option once".into()));
        }
        let refused = |expected: String| bad_value(option.key, self.name(), value, &expected);
        let parsed = option.kind.parse(value).map_err(refused)?;
        self.values.insert(option.key, parsed);
        Ok(())
    }

    /// Files that a fit of this model reads beside the data: arcs, patterns of gaps.
    pub fn files(&self) -> Vec<PathBuf> {
        let own = discrete::arcs_file(self).into_iter().chain(pool::gaps_file(self));
        own.chain(pool::stand_ins(self).iter().flat_map(ModelSpec::files)).collect()
    }

    /// Sets an option that the model has and that has not been set; leaves the spec as it is otherwise.
    pub(super) fn set_open(&mut self, key: &str, value: &str) -> Result<()> {
        match self.info.option(key) {
            Some(option) if !self.values.contains_key(option.key) => self.set(key, value),
            _ => Ok(()),
        }
    }

    pub(super) fn value(&self, key: &str) -> Option<&OptionValue> {
        self.values.get(key)
    }
}

/// A name in which characters that mean something else (in options, in BIF) are written as `%2C`; `None` if it is none.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok().filter(|d| !d.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

impl FromStr for ModelSpec {
    type Err = Error;

    /// Reads `name,key=value,...` and checks every part against the declared models and options.
    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split(',');
        let mut spec = ModelSpec::new(parts.next().unwrap_or_default().trim())?;
        for part in parts {
            let (key, value) = part.split_once('=').ok_or_else(|| Error::Parameter {
                name: format!("option of model `{}`", spec.name()),
                value: part.into(),
                expected: "key=value".into(),
            })?;
            spec.set(key.trim(), value.trim())?;
        }
        Ok(spec)
    }
}

impl std::fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())?;
        self.values.iter().try_for_each(|(key, value)| write!(f, ",{key}={value}"))
    }
}
