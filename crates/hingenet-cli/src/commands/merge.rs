//! `hingenet merge`

use super::Run;
use super::fit::summary;
use crate::output::{self, Files};
use crate::session::Session;
use anyhow::{Context, Result};
use clap::Args;
use hingenet::model::Model;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Merge {
    /// Models of different rows, fitted with `fit --keep-statistics` and `fit --like`
    #[arg(required = true, num_args = 2.., value_name = "MODEL.hgn")]
    models: Vec<PathBuf>,
    /// Model file to write
    #[arg(short, long, value_name = "MODEL.hgn")]
    output: PathBuf,
}

const EXAMPLES: &str = "Examples:
  hingenet fit here.csv --target class --model tan:ml --keep-statistics -o here.hgn
  hingenet fit there.csv --like here.hgn -o there.hgn      the same states, other rows
  hingenet merge here.hgn there.hgn -o both.hgn            no row was shared";

impl Run for Merge {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads(&self.models).writes([&self.output]))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let mut merged: Option<Model> = None;
        for path in &self.models {
            let model = Model::load(path)?;
            merged = Some(match merged {
                None => model,
                Some(all) => {
                    let both = all.merge(&model, &session.control);
                    both.with_context(|| format!("{} cannot be merged", path.display()))?
                }
            });
        }
        let Some(model) = merged else { return Ok(()) };
        session.done();
        output::write(Some(&self.output), &model.to_bytes()?)?;
        session.wrote(&self.output, &format!(": {}", summary(&model)));
        Ok(())
    }
}
