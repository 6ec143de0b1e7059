//! `hingenet chart`

use super::Run;
use crate::output::{self, Files};
use crate::session::Session;
use anyhow::{Context, Result};
use clap::Args;
use hingenet::Error;
use hingenet_view::chart::Drawing;
use std::io::Read;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub struct Chart {
    /// What to draw, as JSON (see below); - reads stdin
    drawing: PathBuf,
    /// SVG file to write; stdout if not given
    #[arg(short, long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
}

const EXAMPLE: &str =
    "The JSON has a label, the axes x and y (label; low, high and ticks if you like) and series (name,
points; band for intervals, scatter for points that no line joins):
  {\"label\": \"Error by rows\", \"x\": {\"label\": \"rows\"}, \"y\": {\"label\": \"error, %\"},
   \"series\": [{\"name\": \"slb\", \"points\": [[200, 8.4], [600, 4.8]]}]}";

impl Run for Chart {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads([&self.drawing]).writes_result(self.output.as_ref()))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let text = self.text()?;
        let drawing: Drawing = serde_json::from_str(&text).map_err(|problem| {
            let name = if output::is_file(&self.drawing) {
                self.drawing.display().to_string()
            } else {
                "standard input".into()
            };
            Error::data(format!("{name}: {problem}"), "`hingenet chart --help` has an example")
        })?;
        output::write(self.output.as_ref(), drawing.svg().as_bytes())?;
        session.wrote(self.output.as_ref(), "");
        Ok(())
    }
}

impl Chart {
    fn text(&self) -> Result<String> {
        if output::is_file(&self.drawing) {
            return std::fs::read_to_string(&self.drawing)
                .with_context(|| format!("cannot read {}", self.drawing.display()));
        }
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).context("cannot read standard input")?;
        Ok(text)
    }
}
