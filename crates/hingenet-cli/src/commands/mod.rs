//! The commands, one file each.

mod completions;
mod demo;
mod evaluate;
mod explain;
mod fit;
mod generate;
mod inspect;
mod loglik;
mod models;
mod network;
mod predict;
mod sample;

use crate::session::Session;
use anyhow::Result;
use clap::Subcommand;

/// What the program can do.
#[derive(Subcommand)]
pub enum Command {
    /// Generate data, compare models, write reports and a model: the first thing to run
    Demo(demo::Demo),
    /// Compare models by cross-validation or on a test file
    Evaluate(evaluate::Evaluate),
    /// Fit a model and write it to a file
    Fit(fit::Fit),
    /// Classify rows with a fitted model
    Predict(predict::Predict),
    /// Show the terms that made one decision, largest first
    Explain(explain::Explain),
    /// Show or convert a fitted model
    Inspect(inspect::Inspect),
    /// Draw rows from a generative model
    Sample(sample::Sample),
    /// Log-likelihood of rows under a generative model
    Loglik(loglik::Loglik),
    /// Learn sparse Gaussian networks: who depends on whom, and how classes differ
    Network(network::Network),
    /// Make data of a known kind
    Generate(generate::Generate),
    /// List the models with their options
    Models(models::Models),
    /// Print completions for a shell
    Completions(completions::Completions),
}

impl Command {
    /// Runs the command.
    pub fn run(&self, session: &Session) -> Result<()> {
        match self {
            Command::Demo(c) => c.run(session),
            Command::Evaluate(c) => c.run(session),
            Command::Fit(c) => c.run(session),
            Command::Predict(c) => c.run(session),
            Command::Explain(c) => c.run(session),
            Command::Inspect(c) => c.run(session),
            Command::Sample(c) => c.run(session),
            Command::Loglik(c) => c.run(session),
            Command::Network(c) => c.run(session),
            Command::Generate(c) => c.run(session),
            Command::Models(c) => c.run(session),
            Command::Completions(c) => c.run(),
        }
    }
}
