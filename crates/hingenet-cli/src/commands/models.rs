//! `hingenet models`

use super::Run;
use crate::output;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use hingenet::model::{DEFAULT_MODEL, ModelInfo, ModelSpec, models};
use std::fmt::Write;

#[derive(Args)]
pub struct Models {
    /// The model to show; all if none is named
    name: Option<String>,
}

impl Run for Models {
    fn run(&self, _: &Session) -> Result<()> {
        if let Some(name) = &self.name {
            return output::write_text(None, &describe(ModelSpec::new(name)?.info()));
        }
        let mut text = String::from("Write options behind the name: NAME,key=value,...\n\n");
        for model in models() {
            text += &describe(model);
        }
        output::write_text(None, &text)
    }
}

fn describe(model: &ModelInfo) -> String {
    let default = if model.name == DEFAULT_MODEL { " (the default)" } else { "" };
    let mut text = format!("{:<16} {}{default}\n", model.name, model.about);
    for option in model.options {
        let _ = writeln!(text, "  {} (default {}; {}):", option.key, option.default, option.kind);
        let _ = writeln!(text, "    {}", option.about);
    }
    text
}
