//! How commands read tables, and what they say about them: notes of the reader, and what looks wrong with the rows.

use crate::session::Session;
use crate::show::count;
use anyhow::Result;
use clap::Args;
use hingenet::Error;
use hingenet::model::{Dataset, Doubt, Model, doubts, doubts_of_test_rows};
use hingenet::table::{
    AlignReport, Column, ColumnData, FeatureKind, FeatureSpec, Places, ReadOptions, ReadResult, Schema,
    Source, Table, UnseenPolicy, read,
};
use hingenet_base::similar::similar;
use std::path::Path;

/// Columns that a message names.
const NAMED: usize = 10;

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
    /// Decimal mark of text files, `.` or `,`; if not given, the point, and also the comma where it can be nothing else
    #[arg(long, value_name = "C", value_parser = decimal)]
    decimal: Option<u8>,
    /// The first line of a CSV file is a row, not names: the columns are c1, c2, ...
    #[arg(long)]
    no_header: bool,
    /// Texts that stand for a missing cell, instead of ?, NA, NaN, null; an empty cell is always missing
    #[arg(long, value_name = "TOKEN,...", value_delimiter = ',', allow_hyphen_values = true)]
    na: Option<Vec<String>>,
    /// Refuse data that look wrong (names of rows, dates, a column that gives the class away, rows unlike those of
    /// training ...) instead of warning
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

fn decimal(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [mark @ (b'.' | b',')] => Ok(*mark),
        _ => Err("give . or ,".into()),
    }
}

/// How rows to learn from are read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading data")]
pub struct LabelledReader {
    /// How any rows are read.
    #[command(flatten)]
    pub plain: Reader,
    /// Leave out rows without a class, and say how many
    #[arg(long)]
    drop_unlabelled: bool,
}

impl LabelledReader {
    /// Reads rows to learn from.
    pub fn labelled(&self, data: &Path, target: &str, session: &Session) -> Result<Rows> {
        let options = ReadOptions { target: Some(target.into()), ..self.plain.options() };
        let ReadResult { table, places, .. } = self.plain.read(data, &options, session)?;
        self.with_class((table, places), target, session)
    }

    /// Tells what looks wrong with the rows, or refuses them.
    pub fn judge(&self, data: &Dataset, session: &Session) -> Result<()> {
        self.plain.tell(doubts(data), session)
    }

    /// Reads rows to test on: the columns of the training rows with their types, target and weights.
    pub fn test_rows(
        &self,
        data: &Path,
        train: &Dataset,
        weights: Option<&str>,
        session: &Session,
    ) -> Result<Rows> {
        let mut options = self.plain.options();
        let schema = Schema::of(&train.features);
        options.schema = Some(schema.clone());
        options.target = Some(train.target.clone());
        options.numeric.extend(weights.map(String::from));
        let found = self.plain.read(data, &options, session)?;
        self.plain.compare_columns(&schema, &found, session)?;
        let (table, places) = self.with_class((found.table, found.places), &train.target, session)?;
        self.plain.tell(places.locate(doubts_of_test_rows(train, &table))?, session)?;
        Ok((table, places))
    }

    /// The rows, without those that have no class if that is asked for.
    fn with_class(&self, (table, places): Rows, target: &str, session: &Session) -> Result<Rows> {
        let class = table.by_name(target)?;
        let kept: Vec<usize> = (0..table.n_rows()).filter(|&m| !class.is_missing(m)).collect();
        let left_out = table.n_rows() - kept.len();
        if !self.drop_unlabelled || left_out == 0 {
            return Ok((table, places));
        }
        session.note(&format!("{} without a class left out", count(left_out, "row")));
        Ok((table.rows(&kept), places.rows(&kept)))
    }
}

impl Reader {
    /// What the library's reader is asked to do.
    fn options(&self) -> ReadOptions {
        ReadOptions {
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            ignore: self.ignore.clone(),
            delimiter: self.delimiter,
            decimal: self.decimal,
            no_header: self.no_header,
            missing: self.na.clone(),
            ..ReadOptions::default()
        }
    }

    /// Tells what looks wrong; the first doubt is an error with `--strict`.
    fn tell(&self, doubts: Vec<Doubt>, session: &Session) -> Result<()> {
        for doubt in doubts {
            if self.strict {
                return Err(Error::data(doubt.problem, doubt.remedy + ", or leave out --strict").into());
            }
            session.warn(&doubt.to_string());
        }
        Ok(())
    }

    /// Reads rows that have no target.
    pub fn unlabelled(&self, data: &Path, session: &Session) -> Result<Rows> {
        let ReadResult { table, places, .. } = self.read(data, &self.options(), session)?;
        Ok((table, places))
    }

    /// Reads rows for a fitted model: its columns with its types, as far as they are there.
    pub fn for_model(&self, data: &Path, model: &Model, session: &Session) -> Result<Rows> {
        self.columns_of(model, model.schema.clone(), data, session)
    }

    /// The same with the target, if it is there.
    pub fn for_model_with_target(&self, data: &Path, model: &Model, session: &Session) -> Result<Rows> {
        let mut schema = model.schema.clone();
        let kind = FeatureKind::Categorical { categories: model.classes.clone() };
        schema.features.push(FeatureSpec { name: model.target.clone(), kind });
        self.columns_of(model, schema, data, session)
    }

    /// Tells how rows differ from those of training; `report` is what aligning them has found.
    pub fn compare(
        &self,
        model: &Model,
        rows: &Table,
        report: &AlignReport,
        session: &Session,
    ) -> Result<()> {
        self.tell(model.doubts(rows, report), session)
    }

    /// The same for rows that have not been aligned yet.
    pub fn align(&self, model: &Model, (rows, places): &Rows, session: &Session) -> Result<()> {
        let (_, report) = places.locate(model.schema.align(rows, UnseenPolicy::Missing))?;
        self.compare(model, rows, &report, session)
    }

    fn columns_of(&self, model: &Model, schema: Schema, data: &Path, session: &Session) -> Result<Rows> {
        let found = self.read(data, &ReadOptions { schema: Some(schema), ..self.options() }, session)?;
        self.compare_columns(&model.schema, &found, session)?;
        Ok((found.table, found.places))
    }

    /// Refuses a file with none of the columns of training; tells which are absent.
    fn compare_columns(&self, schema: &Schema, found: &ReadResult, session: &Session) -> Result<()> {
        let names = || schema.features.iter().map(|f| f.name.as_str());
        let absent: Vec<&str> = names().filter(|name| found.table.position(name).is_none()).collect();
        if absent.is_empty() {
            return Ok(());
        }
        let of = schema.features.len();
        if absent.len() == of {
            let problem = format!("the file has none of the {} of training", count(of, "column"));
            let hint = format!(
                "training saw {}; the file has {}. Is this the right file? See `--delimiter` and `--no-header` too",
                listed(&names().collect::<Vec<_>>()),
                listed(&found.skipped.iter().map(String::as_str).collect::<Vec<_>>())
            );
            return Err(Error::File { file: found.places.file.clone(), line: None, problem, hint }.into());
        }
        let problem = format!(
            "{} of {} of training {} as missing: {}",
            absent.len(),
            count(of, "column"),
            if absent.len() == 1 { "is not in the file and counts" } else { "are not in the file and count" },
            listed(&absent)
        );
        let meant = |name: &&str| {
            let other = similar(name, found.skipped.iter().map(String::as_str))?;
            Some(format!("is `{other}` of the file meant to be `{name}`?"))
        };
        let remedy = absent.iter().find_map(meant).unwrap_or("add them if you have them".into());
        self.tell(vec![Doubt { problem, remedy }], session)
    }

    fn read(&self, data: &Path, options: &ReadOptions, session: &Session) -> Result<ReadResult> {
        let source = if data == Path::new("-") {
            Source::reader("standard input", std::io::stdin().lock())
        } else {
            Source::from(data)
        };
        let result = read(source, options, &session.control)?;
        session.done();
        for note in &result.notes {
            match note.is_warning() {
                true if self.strict => {
                    return Err(Error::data(note.to_string(), "mend the data, or leave out --strict").into());
                }
                true => session.warn(&note.to_string()),
                false => session.note(&note.to_string()),
            }
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
        Ok(result)
    }
}

/// A table and where its rows come from, for errors that are found later.
pub type Rows = (Table, Places);

/// The first names, and how many more there are.
fn listed(names: &[&str]) -> String {
    let shown = &names[..names.len().min(NAMED)];
    let rest = names.len() - shown.len();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    if names.is_empty() { "no others".into() } else { format!("`{}`{more}", shown.join("`, `")) }
}

fn describe(column: &Column) -> String {
    let kind = match column.data() {
        ColumnData::Numeric(_) => "numbers".to_string(),
        ColumnData::Categorical(c) => count(c.categories().len(), "category"),
    };
    format!("column `{}`: {kind}, {} missing", column.name(), count(column.n_missing(), "cell"))
}
