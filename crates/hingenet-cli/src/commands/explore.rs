//! `hingenet explore`

use super::Run;
use crate::browser;
use crate::failure::usage;
use crate::options::Comparison;
use crate::output::{self, Files};
use crate::page;
use crate::session::Session;
use anyhow::{Context, Result};
use clap::Args;
use hingenet::explore::Explorer;
use hingenet::model::Model;
use hingenet::report::ModelReport;
use hingenet::table::Table;
use hingenet_serve::Server;
use std::path::PathBuf;

#[derive(Args)]
pub struct Explore {
    /// Model file made by `hingenet fit`
    model: PathBuf,
    /// Rows to pick from in the page; they may lack columns or cells, and the target. - reads stdin
    data: Option<PathBuf>,
    /// Port to listen on; a free one if not given. No other machine can reach it
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Print the address only, and open no browser
    #[arg(long)]
    no_open: bool,
    /// Coordinates of the features (columns node,x,y and z), where the page shows them
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    #[command(flatten)]
    comparison: Comparison,
}

impl Run for Explore {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads(std::iter::once(&self.model).chain(&self.data).chain(&self.nodes)))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let rows = self.rows(&model, session)?;
        let explorer = Explorer::new(&model)?;
        let server = self.server()?;
        let report = self.report(&model, rows.as_ref(), session)?;
        let nodes = page::node_facts(&model, self.nodes.as_deref())?;
        let html = page::served(&explorer, &report, rows.as_ref(), &nodes, server.token())?;
        session.control.check()?;
        let url = server.url();
        output::write(None, format!("{url}\n").as_bytes())?;
        session.note("the page asks this program, which only this machine can reach; Ctrl-C ends it");
        if !self.no_open && browser::can_be_seen() {
            browser::open(&url)
                .unwrap_or_else(|_| session.note("no browser could be started: open the address in one"));
        }
        let answer = |question: &str| explorer.answer(question).map_err(|error| error.to_string());
        server.run(html, answer, || session.control.check().is_err()).context("the server has failed")
    }
}

impl Explore {
    fn rows(&self, model: &Model, session: &Session) -> Result<Option<Table>> {
        let Some(data) = &self.data else { return Ok(None) };
        Ok(Some(self.comparison.reader.aligned(data, model, session)?.0))
    }

    fn report(&self, model: &Model, rows: Option<&Table>, session: &Session) -> Result<ModelReport> {
        let report = ModelReport::of(model, &Table::default(), &[])?;
        let Some(rows) = rows else { return Ok(report) };
        page::judged(report, model, rows, &self.comparison, session)
    }

    fn server(&self) -> Result<Server> {
        Server::bind(self.port).map_err(|error| {
            let problem = format!("cannot listen on port {} of 127.0.0.1: {error}", self.port);
            usage(problem, "leave out --port to take a free one")
        })
    }
}
