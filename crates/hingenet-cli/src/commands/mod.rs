//! The commands, one file each.

mod chart;
mod completions;
mod demo;
mod evaluate;
mod evaluate_pieces;
mod explain;
mod explore;
mod fit;
mod generate;
mod impute;
mod inspect;
mod loglik;
mod manual;
mod merge;
mod models;
mod network;
mod predict;
mod query;
mod sample;

use crate::output::Files;
use crate::session::Session;
use anyhow::Result;
use clap::Subcommand;

/// One command.
trait Run {
    /// The files that it reads and writes, checked before the work starts; none if it says nothing.
    fn files(&self) -> Result<Files> {
        Ok(Files::default())
    }

    /// Does the work.
    fn run(&self, session: &Session) -> Result<()>;
}

/// What the program can do.
#[derive(Subcommand)]
pub enum Command {
    /// Generate data, compare models, write reports and a model: the first thing to run
    Demo(demo::Demo),
    /// Compare models by cross-validation or on a test file
    Evaluate(evaluate::Evaluate),
    /// Fit a model and write it to a file
    Fit(fit::Fit),
    /// Join models of different rows that keep their statistics
    Merge(merge::Merge),
    /// Classify rows with a fitted model
    Predict(predict::Predict),
    /// Show what made one decision: what each known feature adds, largest first
    Explain(explain::Explain),
    /// Ask a model: what follows for the class and any column from what you know, and what to measure next
    Query(query::Query),
    /// Open a model in the browser: click what you know, see what follows
    Explore(explore::Explore),
    /// Show or convert a fitted model
    Inspect(inspect::Inspect),
    /// Draw rows from a generative model
    Sample(sample::Sample),
    /// Complete missing cells by what the known ones of their row say
    Impute(impute::Impute),
    /// Log-likelihood of rows under a generative model
    Loglik(loglik::Loglik),
    /// Learn sparse Gaussian networks: who depends on whom, and how classes differ
    Network(network::Network),
    /// Make data of a known kind
    Generate(generate::Generate),
    /// Draw lines and points that you have as JSON, as an SVG file with legend
    Chart(chart::Chart),
    /// List the models with their options
    Models(models::Models),
    /// Print completions for a shell
    Completions(completions::Completions),
    /// Write manual pages: one for the program, one for each command
    Manual(manual::Manual),
}

impl Command {
    /// Runs the command, unless a file that it would write is one that it reads or cannot be written.
    pub fn run(&self, session: &Session) -> Result<()> {
        let command = self.command();
        command.files()?.check()?;
        command.run(session)
    }

    fn command(&self) -> &dyn Run {
        match self {
            Command::Demo(c) => c,
            Command::Evaluate(c) => c,
            Command::Fit(c) => c,
            Command::Merge(c) => c,
            Command::Predict(c) => c,
            Command::Explain(c) => c,
            Command::Query(c) => c,
            Command::Explore(c) => c,
            Command::Inspect(c) => c,
            Command::Sample(c) => c,
            Command::Impute(c) => c,
            Command::Loglik(c) => c,
            Command::Network(c) => c,
            Command::Generate(c) => c,
            Command::Chart(c) => c,
            Command::Models(c) => c,
            Command::Completions(c) => c,
            Command::Manual(c) => c,
        }
    }
}
