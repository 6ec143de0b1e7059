//! `hingenet impute`

use super::Run;
use crate::output::{self, Files};
use crate::reader::Reader;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use hingenet::model::Model;
use hingenet::table::{Column, Table, UnseenPolicy};
use std::path::PathBuf;

#[derive(Args)]
pub struct Impute {
    /// Model file of a generative model
    model: PathBuf,
    /// Rows; they may lack columns or cells. - reads stdin
    data: PathBuf,
    /// CSV file to write; stdout if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write how sure each completion is: standard deviation of a number, probability of a category
    #[arg(long, value_name = "FILE")]
    spread: Option<PathBuf>,
    #[command(flatten)]
    reader: Reader,
}

impl Run for Impute {
    fn files(&self) -> Result<Files> {
        let files = Files::default().reads([&self.model, &self.data]).writes(&self.spread);
        Ok(files.writes_result(self.output.as_ref()))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (rows, places) = self.reader.aligned(&self.data, &model, session)?;
        let (completed, spread) =
            places.locate(model.impute(&rows, UnseenPolicy::Missing, &session.control))?;
        // the class is not completed: `predict` does that
        let class: Option<&Column> = rows.position(&model.target).map(|at| rows.column(at));
        let columns = completed.columns().iter().chain(class).cloned().collect();
        output::write_table(self.output.as_ref(), &Table::new(columns)?, session)?;
        session.wrote(self.output.as_ref(), "");
        if self.spread.is_some() {
            output::write_table(self.spread.as_ref(), &spread, session)?;
            session.wrote(self.spread.as_ref(), "");
        }
        Ok(())
    }
}
