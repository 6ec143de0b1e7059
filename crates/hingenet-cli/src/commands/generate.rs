//! `hingenet generate`

use super::Run;
use crate::failure::usage;
use crate::output::{self, Files};
use crate::session::Session;
use crate::show::count;
use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;
use hingenet::evaluate::{GENERATORS, TrueArc, generate_within, true_arcs};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = list())]
pub struct Generate {
    /// What to make (see the list below)
    #[arg(value_parser = PossibleValuesParser::new(GENERATORS.iter().map(|g| g.name)), hide_possible_values = true)]
    generator: String,
    /// Number of rows
    #[arg(short, long = "rows", value_name = "N")]
    n: Option<usize>,
    /// CSV file to write; stdout if not given. The target is last and named `class`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write the true arcs (from,to) of the first class, for generators that have them (gbn)
    #[arg(long, value_name = "EDGES.csv")]
    truth: Option<PathBuf>,
}

fn list() -> String {
    let line = |g: &hingenet::evaluate::Generator| {
        format!("  {:<12} {} ({} rows)\n", g.name, g.about, g.default_rows)
    };
    format!("Generators:\n{}", GENERATORS.iter().map(line).collect::<String>())
}

impl Run for Generate {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().writes_result(self.output.as_ref()).writes(&self.truth))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let arcs = true_arcs(&self.generator, session.seed)?;
        if self.truth.is_some() && arcs.is_none() {
            return Err(usage(
                format!("--truth: {} has no network behind it", self.generator),
                "leave it out",
            ));
        }
        let table = generate_within(&self.generator, self.n, session.seed, &session.control)?;
        output::write_table(self.output.as_ref(), &table, session)?;
        session.wrote(self.output.as_ref(), &format!(" ({})", count(table.n_rows(), "row")));
        if let (Some(path), Some(arcs)) = (&self.truth, arcs) {
            let line = |TrueArc { from, to, weights: [first, second] }: &TrueArc| {
                format!("{from},{to},{first},{second}\n")
            };
            let head = "from,to,weight_first,weight_second\n".to_string();
            let text: String = std::iter::once(head).chain(arcs.iter().map(line)).collect();
            output::write(Some(path), text.as_bytes())?;
            session.wrote(path, &format!(" ({})", count(arcs.len(), "arc")));
        }
        Ok(())
    }
}
