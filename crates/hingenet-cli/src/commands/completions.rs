//! `hingenet completions`

use super::Run;
use crate::output;
use crate::session::Session;
use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

#[derive(Args)]
pub struct Completions {
    /// Shell to write completions for
    shell: Shell,
}

impl Run for Completions {
    fn run(&self, _: &Session) -> Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Arguments::command(), "hingenet", &mut text);
        output::write(None, &text)
    }
}
