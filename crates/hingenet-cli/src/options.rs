//! Options that several commands share.

use crate::reader::Reader;
use clap::Args;
use hingenet_gaussian::study::ContrastParams;
use std::time::Duration;

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Number of threads; 0 means one for each processor. Results do not depend on it
    #[arg(long, global = true, value_name = "N", default_value_t = 0, help_heading = "General")]
    pub threads: usize,
    /// Seed of every random choice
    #[arg(long, global = true, value_name = "S", default_value_t = 0, help_heading = "General")]
    pub seed: u64,
    /// Memory that one step may take, such as 500M or 4G; three quarters of the machine's if not given
    #[arg(long, global = true, value_name = "SIZE", value_parser = bytes, help_heading = "General")]
    pub max_memory: Option<u64>,
    /// No progress, notes and warnings
    #[arg(long, short, global = true, help_heading = "General")]
    pub quiet: bool,
    /// Say which decisions were taken (column types, for example)
    #[arg(long, short, global = true, conflicts_with = "quiet", help_heading = "General")]
    pub verbose: bool,
}

/// How rows are read for a fitted model, and the classes of a Gaussian model compared on those that have their class.
#[derive(Debug, Clone, Args)]
pub struct Comparison {
    /// For a Gaussian model and rows with their class: shuffle the classes N times to see which differences between their
    /// networks are more than chance; 0 leaves that out
    #[arg(long, value_name = "N", default_value_t = ContrastParams::default().shuffles)]
    shuffles: usize,
    #[command(flatten)]
    pub reader: Reader,
}

impl Comparison {
    /// How differences are judged, unless they are left out.
    pub fn params(&self) -> Option<ContrastParams> {
        (self.shuffles > 0).then(|| ContrastParams { shuffles: self.shuffles, ..ContrastParams::default() })
    }
}

/// A number of bytes with an optional K, M, G or T (thousands of the unit before).
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B') {
        "" => 1.0,
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return Err("give a number of bytes such as 500M or 4G".into()),
    };
    match digits.parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok((n * unit) as u64),
        _ => Err("give a number of bytes such as 500M or 4G".into()),
    }
}

/// A time given in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    number.ok_or_else(|| "a number of seconds, 0 or more".into())
}
