//! `hingenet loglik`

use super::Run;
use crate::output::{self, Files};
use crate::reader::Reader;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use hingenet::model::{Model, RowLikelihood};
use hingenet::table::{Column, Table, UnseenPolicy};
use std::path::PathBuf;

#[derive(Args)]
pub struct Loglik {
    /// Model file of a generative model
    model: PathBuf,
    /// Rows; they may lack columns or cells, and the target. - reads stdin
    data: PathBuf,
    /// CSV file to write; stdout if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reader: Reader,
}

impl Run for Loglik {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads([&self.model, &self.data]).writes_result(self.output.as_ref()))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (rows, places) = self.reader.aligned(&self.data, &model, session)?;
        let values = places.locate(model.log_likelihood(&rows, UnseenPolicy::Missing))?;
        let joint = |r: &RowLikelihood| r.joint.unwrap_or(f64::NAN);
        let table = Table::new(vec![
            Column::numeric("row", (1..=values.len()).map(|m| m as f64).collect()),
            Column::numeric("log_p_features", values.iter().map(|r| r.features).collect()),
            Column::numeric("log_p_with_class", values.iter().map(joint).collect()),
        ])?;
        output::write_table(self.output.as_ref(), &table, session)?;
        session.wrote(self.output.as_ref(), "");
        Ok(())
    }
}
