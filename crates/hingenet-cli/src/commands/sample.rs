//! `hingenet sample`

use super::Run;
use super::query::Facts;
use crate::output::{self, Files};
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use hingenet::model::Model;
use std::path::PathBuf;

#[derive(Args)]
pub struct Sample {
    /// Model file of a generative model
    model: PathBuf,
    /// Number of rows
    #[arg(short, long = "rows", value_name = "N", default_value_t = 1000)]
    n: usize,
    #[command(flatten)]
    facts: Facts,
    /// CSV file to write; stdout if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Run for Sample {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads([&self.model]).writes_result(self.output.as_ref()))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let table =
            Model::load(&self.model)?.sample(self.n, &self.facts.known(), session.seed, &session.control)?;
        output::write_table(self.output.as_ref(), &table, session)?;
        session.wrote(self.output.as_ref(), "");
        Ok(())
    }
}
