//! Options that several commands share.

use crate::session::Session;
use crate::show::count;
use anyhow::Result;
use clap::Args;
use hingenet::Error;
use hingenet::model::{Dataset, Model, doubts};
use hingenet::table::{
    Column, ColumnData, FeatureKind, FeatureSpec, Places, ReadOptions, Schema, Source, Table, read,
};
use std::path::Path;
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

/// How data files are read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading data")]
pub struct Reader {
    /// Columns to read as categories whatever they look like
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    categorical: Vec<String>,
    /// Columns that must hold numbers
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    numeric: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Cell delimiter of text files: one character or `tab`; found out from the header if not given
    #[arg(long, value_name = "C", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// Texts that stand for a missing cell, instead of ?, NA, NaN, null; an empty cell is always missing
    #[arg(long, value_name = "TOKEN,...", value_delimiter = ',')]
    na: Option<Vec<String>>,
    /// Refuse data that look wrong (names of rows, dates, decimal commas, a column that gives the class away ...) instead of
    /// warning
    #[arg(long)]
    strict: bool,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [one] if one.is_ascii() => Ok(*one),
        _ => Err("give one ASCII character, or `tab`".into()),
    }
}

impl Reader {
    /// What the library's reader is asked to do.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            ignore: self.ignore.clone(),
            delimiter: self.delimiter,
            missing: self.na.clone(),
            ..ReadOptions::default()
        }
    }

    /// Reads rows to learn from.
    pub fn labelled(&self, data: &Path, target: &str, session: &Session) -> Result<Rows> {
        read_table(data, &ReadOptions { target: Some(target.into()), ..self.options() }, session)
    }

    /// Tells what looks wrong with the rows, or refuses them.
    pub fn judge(&self, data: &Dataset, session: &Session) -> Result<()> {
        for doubt in doubts(data) {
            if self.strict {
                return Err(Error::data(doubt.problem, doubt.remedy + ", or leave out --strict").into());
            }
            session.warn(&doubt.to_string());
        }
        Ok(())
    }

    /// Reads rows that have no target.
    pub fn unlabelled(&self, data: &Path, session: &Session) -> Result<Rows> {
        read_table(data, &self.options(), session)
    }

    /// Reads rows for a fitted model: its columns with its types, as far as they are there.
    pub fn for_model(&self, data: &Path, model: &Model, session: &Session) -> Result<Rows> {
        read_table(data, &ReadOptions { schema: Some(model.schema.clone()), ..self.options() }, session)
    }

    /// The same with the target, if it is there.
    pub fn for_model_with_target(&self, data: &Path, model: &Model, session: &Session) -> Result<Rows> {
        let mut schema = model.schema.clone();
        let kind = FeatureKind::Categorical { categories: model.classes.clone() };
        schema.features.push(FeatureSpec { name: model.target.clone(), kind });
        read_table(data, &ReadOptions { schema: Some(schema), ..self.options() }, session)
    }

    /// Reads rows to test on: the columns of the training rows with their types, target and weights.
    pub fn test_rows(
        &self,
        data: &Path,
        train: &Dataset,
        weights: Option<&str>,
        session: &Session,
    ) -> Result<Rows> {
        let mut options = self.options();
        options.schema = Some(Schema::of(&train.features));
        options.target = Some(train.target.clone());
        options.numeric.extend(weights.map(String::from));
        read_table(data, &options, session)
    }
}

/// A table and where its rows come from, for errors that are found later.
pub type Rows = (Table, Places);

fn read_table(data: &Path, options: &ReadOptions, session: &Session) -> Result<Rows> {
    let source = if data == Path::new("-") {
        Source::reader("standard input", std::io::stdin().lock())
    } else {
        Source::from(data)
    };
    let result = read(source, options, &session.control)?;
    session.done();
    for note in &result.notes {
        if note.is_warning() { session.warn(&note.to_string()) } else { session.note(&note.to_string()) }
    }
    if let Some(d) = result.delimiter {
        session.detail(&format!("{}: cells are separated by {:?}", data.display(), d as char));
    }
    for column in result.table.columns() {
        session.detail(&describe(column));
    }
    if !result.skipped.is_empty() {
        session.detail(&format!("columns not used: {}", result.skipped.join(", ")));
    }
    Ok((result.table, result.places))
}

fn describe(column: &Column) -> String {
    let kind = match column.data() {
        ColumnData::Numeric(_) => "numbers".to_string(),
        ColumnData::Categorical(c) => count(c.categories().len(), "category"),
    };
    format!("column `{}`: {kind}, {} missing", column.name(), count(column.n_missing(), "cell"))
}

/// A time given in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    number.ok_or_else(|| "a number of seconds, 0 or more".into())
}
