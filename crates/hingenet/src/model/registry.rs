//! The list of models a user can name, with their options, defaults and ranges.

use crate::error::{Error, Result};

/// The model that is fitted where none is named.
pub const DEFAULT_MODEL: &str = "tan:ml";

/// One model a user can name.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// Name, for example `tan:ml`.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
}

/// One option of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptionInfo {
    /// Name in `key=value`.
    pub key: &'static str,
    /// Value when it is not given.
    pub default: &'static str,
    /// Values allowed.
    pub range: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// All models, in the order they are shown.
pub fn models() -> &'static [ModelInfo] {
    MODELS
}

/// The model with this name, or an error that lists what there is.
pub fn find(name: &str) -> Result<&'static ModelInfo> {
    MODELS.iter().find(|m| m.name == name).ok_or_else(|| Error::Parameter {
        name: "model".into(),
        value: name.into(),
        expected: format!("one of {}", MODELS.iter().map(|m| m.name).collect::<Vec<_>>().join(", ")),
    })
}

const MODELS: &[ModelInfo] = &[ModelInfo {
    name: "majority",
    about: "class frequencies, whatever the features say: the baseline to beat",
    options: &[],
}];
