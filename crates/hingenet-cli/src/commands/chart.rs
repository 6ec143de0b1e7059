//! `hingenet chart`

use super::Run;
use crate::failure::usage;
use crate::output::{self, Files};
use crate::session::Session;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use hingenet::Error;
use hingenet::report::NetworkReport;
use hingenet_view::chart::Drawing;
use hingenet_view::network::{matrices_svg, moved_svg, networks_svg};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub struct Chart {
    /// What to draw, as JSON (see below), or the JSON of `hingenet network`; - reads stdin
    drawing: PathBuf,
    /// What of networks to draw
    #[arg(long, value_enum)]
    show: Option<Show>,
    /// SVG file to write; stdout if not given
    #[arg(short, long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
}

/// A view of networks.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Show {
    /// The networks and how they differ
    Networks,
    /// The arcs as matrices, with blocks of the groups of nodes
    Matrix,
    /// What discriminative learning moved (the field `moved`, as `inspect --format json` has it)
    Moved,
}

/// Most bytes of a drawing: half a million points, and an end to what has none.
const MOST_BYTES: u64 = 16 << 20;

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
        output::write(self.output.as_ref(), self.drawn(&self.text()?)?.as_bytes())?;
        session.wrote(self.output.as_ref(), "");
        Ok(())
    }
}

impl Chart {
    /// The picture; JSON with a list of networks is that of `hingenet network`.
    fn drawn(&self, text: &str) -> Result<String> {
        let json: Value = serde_json::from_str(text).map_err(|problem| self.bad(&problem))?;
        if json.get("networks").is_some_and(Value::is_array) {
            let report = NetworkReport::from_json(text).with_context(|| self.name())?;
            return Ok(match self.show {
                None | Some(Show::Networks) => networks_svg(&report),
                Some(Show::Matrix) => matrices_svg(&report),
                Some(Show::Moved) if report.moved.is_empty() => {
                    let problem = format!("{}: no parameter moved", self.name());
                    return Err(Error::data(problem, "the field `moved` lists them").into());
                }
                Some(Show::Moved) => moved_svg(&report),
            });
        }
        if self.show.is_some() {
            return Err(usage(
                "--show is for networks",
                "give the JSON of `hingenet network`, or leave it out",
            ));
        }
        let drawing: Drawing = serde_json::from_value(json).map_err(|problem| self.bad(&problem))?;
        Ok(drawing.svg())
    }

    fn bad(&self, problem: &serde_json::Error) -> Error {
        Error::data(format!("{}: {problem}", self.name()), "`hingenet chart --help` has an example")
    }

    /// What the drawing comes from, for people.
    fn name(&self) -> String {
        match output::is_file(&self.drawing) {
            true => self.drawing.display().to_string(),
            false => "standard input".into(),
        }
    }

    fn text(&self) -> Result<String> {
        let mut text = String::new();
        let source: Box<dyn Read> = match output::is_file(&self.drawing) {
            true => Box::new(File::open(&self.drawing).with_context(|| self.cannot_read())?),
            false => Box::new(std::io::stdin().lock()),
        };
        source.take(MOST_BYTES + 1).read_to_string(&mut text).with_context(|| self.cannot_read())?;
        if text.len() as u64 > MOST_BYTES {
            let problem = format!("{}: a drawing has 16 MB at most", self.name());
            return Err(Error::data(problem, "draw fewer points, or a sample of them").into());
        }
        Ok(text)
    }

    fn cannot_read(&self) -> String {
        format!("cannot read {}", self.name())
    }
}
