//! `hingenet manual`

use super::Run;
use crate::output;
use crate::session::Session;
use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use std::path::PathBuf;

#[derive(Args)]
pub struct Manual {
    /// Folder for the pages, such as ~/.local/share/man/man1; made if it is not there
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

impl Run for Manual {
    fn run(&self, _: &Session) -> Result<()> {
        output::make_folder(&self.output)?;
        let mut program = crate::Arguments::command().disable_help_subcommand(true);
        // gives commands their full names and the options that all of them share
        program.build();
        for command in std::iter::once(&program).chain(program.get_subcommands()) {
            let man = Man::new(command.clone());
            let mut page = Vec::new();
            man.render(&mut page).context("cannot write a manual page")?;
            output::write(Some(&self.output.join(man.get_filename())), &page)?;
        }
        Ok(())
    }
}
