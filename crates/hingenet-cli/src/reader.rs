//! How commands read tables, and what they say about them: notes of the reader, and what looks wrong with the rows.

use crate::session::Session;
use crate::show::count;
use anyhow::Result;
use clap::Args;
use hingenet::Error;
use hingenet::model::{Dataset, Doubt, Model, doubts, doubts_of_test_rows};
use hingenet::table::{
    AlignReport, Column, FeatureKind, FeatureSpec, Places, ReadOptions, ReadResult, Schema, Source, Table,
    UnseenPolicy, read,
};
use hingenet_base::similar::similar;
use hingenet_data::table::{Batches, Note, read_pieces};
use std::collections::BTreeSet;
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
    fn with_class(&self, rows: Rows, target: &str, session: &Session) -> Result<Rows> {
        let n_rows = rows.0.n_rows();
        let rows = self.labelled_rows(rows, target)?;
        self.tell_left_out(n_rows - rows.0.n_rows(), session);
        Ok(rows)
    }

    /// The same without a word.
    pub fn labelled_rows(&self, (table, places): Rows, target: &str) -> hingenet::Result<Rows> {
        let class = table.by_name(target)?;
        let kept: Vec<usize> = (0..table.n_rows()).filter(|&m| !class.is_missing(m)).collect();
        match self.drop_unlabelled && kept.len() < table.n_rows() {
            true => Ok((table.rows(&kept), places.rows(&kept))),
            false => Ok((table, places)),
        }
    }

    /// Says how many rows have no class.
    pub fn tell_left_out(&self, rows: usize, session: &Session) {
        if rows > 0 {
            session.note(&format!("{} without a class left out", count(rows, "row")));
        }
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
            decimal: self.decimal,
            no_header: self.no_header,
            missing: self.na.clone(),
            ..ReadOptions::default()
        }
    }

    /// Tells what looks wrong; the first doubt is an error with `--strict`.
    pub fn tell(&self, doubts: Vec<Doubt>, session: &Session) -> Result<()> {
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

    /// The same, told how they differ from the rows of training.
    pub fn aligned(&self, data: &Path, model: &Model, session: &Session) -> Result<Rows> {
        let rows = self.for_model_with_target(data, model, session)?;
        self.align(model, &rows, session)?;
        Ok(rows)
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
        let result = match data == Path::new("-") {
            true => read(standard_input(), options, &session.control)?,
            false => Batches::of(data, options)?.read(&session.control)?,
        };
        session.done();
        let mut found = Found::default();
        found.add(&result, session);
        self.tell_found(found, data, session)?;
        Ok(result)
    }

    /// Reads rows for a fitted model in batches of so many, each handed on as it comes: the model's columns with its types,
    /// as far as they are there.
    pub fn batches_for_model(
        &self,
        data: &Path,
        model: &Model,
        most_rows: usize,
        session: &Session,
        each: &mut dyn FnMut(Rows) -> Result<()>,
    ) -> Result<()> {
        let options = ReadOptions { schema: Some(model.schema.clone()), ..self.options() };
        let (mut found, mut failure) = (Found::default(), None);
        let mut take = |batch: ReadResult| {
            if found.n_batches == 0 {
                self.compare_columns(&model.schema, &batch, session)?;
            }
            found.add(&batch, session);
            each((batch.table, batch.places))
        };
        // the reader knows errors of the library only
        let mut each = |batch: ReadResult| {
            take(batch).map_err(|e| {
                failure = Some(e);
                Error::Interrupted
            })
        };
        let read = match data == Path::new("-") {
            true => read_pieces(standard_input(), &options, most_rows, &session.control, &mut each),
            false => Batches::of(data, &options)?.for_each(most_rows, &session.control, &mut each),
        };
        match failure {
            Some(failure) => return Err(failure),
            None => read?,
        }
        session.done();
        if found.n_batches > 1 {
            session.detail(&format!("rows were read in {} batches of {most_rows}", found.n_batches));
        }
        self.tell_found(found, data, session)
    }

    /// Tells what the reader has to say about a table.
    fn tell_found(&self, mut found: Found, data: &Path, session: &Session) -> Result<()> {
        found.settle();
        for (note, _) in &found.notes {
            match note.is_warning() {
                true if self.strict => {
                    return Err(Error::data(note.to_string(), "mend the data, or leave out --strict").into());
                }
                true => session.warn(&note.to_string()),
                false => session.note(&note.to_string()),
            }
        }
        if let Some(d) = found.delimiter {
            session.detail(&format!("{}: cells are separated by {:?}", data.display(), d as char));
        }
        found.columns.iter().for_each(|column| session.detail(&column.describe()));
        if !found.skipped.is_empty() {
            session.detail(&format!("columns not used: {}", found.skipped.join(", ")));
        }
        Ok(())
    }
}

fn standard_input() -> Source<'static> {
    Source::reader("standard input", std::io::stdin().lock())
}

/// What reading a table has found, added up over its batches.
#[derive(Default)]
struct Found {
    n_batches: usize,
    /// Names of the columns.
    names: Vec<String>,
    /// Each with the number of batches that have it.
    notes: Vec<(Note, usize)>,
    delimiter: Option<u8>,
    skipped: Vec<String>,
    /// Empty unless somebody wants to know.
    columns: Vec<Facts>,
}

/// What a column holds.
struct Facts {
    name: String,
    /// None for numbers.
    categories: Option<BTreeSet<String>>,
    n_missing: usize,
}

impl Found {
    fn add(&mut self, batch: &ReadResult, session: &Session) {
        self.n_batches += 1;
        self.names = batch.table.columns().iter().map(|column| column.name().to_string()).collect();
        batch.notes.iter().for_each(|note| self.add_note(note));
        self.delimiter = batch.delimiter;
        self.skipped.clone_from(&batch.skipped);
        if !session.is_verbose() {
            return;
        }
        if self.columns.is_empty() {
            self.columns = batch.table.columns().iter().map(Facts::new).collect();
        }
        self.columns.iter_mut().zip(batch.table.columns()).for_each(|(facts, column)| facts.add(column));
    }

    /// Of notes about a cell the first one of each column stays; lists of columns grow.
    fn add_note(&mut self, note: &Note) {
        let is_same = |known: &Note| match (known, note) {
            (Note::AllMissing { column: a }, Note::AllMissing { column: b })
            | (Note::LargeInteger { column: a, .. }, Note::LargeInteger { column: b, .. })
            | (Note::MostlyNumbers { column: a, .. }, Note::MostlyNumbers { column: b, .. }) => a == b,
            (Note::DecimalCommas { .. }, Note::DecimalCommas { .. }) => true,
            (known, note) => known == note,
        };
        match self.notes.iter_mut().find(|(known, _)| is_same(known)) {
            None => self.notes.push((note.clone(), 1)),
            Some((known, n_batches)) => {
                *n_batches += 1;
                if let (Note::DecimalCommas { columns }, Note::DecimalCommas { columns: more }) =
                    (known, note)
                {
                    let new: Vec<String> =
                        more.iter().filter(|name| !columns.contains(name)).cloned().collect();
                    columns.extend(new);
                }
            }
        }
    }

    /// Leaves what is to be told, in the order of the columns: one without cells in some batches may have some in others.
    fn settle(&mut self) {
        let place = |name: &str| self.names.iter().position(|known| known == name);
        self.notes.retain(|(note, n)| !matches!(note, Note::AllMissing { .. }) || *n == self.n_batches);
        for (note, _) in &mut self.notes {
            if let Note::DecimalCommas { columns } = note {
                columns.sort_by_key(|name| place(name));
            }
        }
        self.notes.sort_by_key(|(note, _)| place(about(note)));
    }
}

/// The column that a note is about, or the first of them.
fn about(note: &Note) -> &str {
    match note {
        Note::AllMissing { column }
        | Note::LargeInteger { column, .. }
        | Note::MostlyNumbers { column, .. } => column,
        Note::DecimalCommas { columns } => columns.first().map_or("", String::as_str),
        Note::IntegerCodes { columns } => columns.first().map_or("", |(name, _)| name),
        _ => "",
    }
}

impl Facts {
    fn new(column: &Column) -> Self {
        let categories = column.as_categorical().map(|_| BTreeSet::new());
        Facts { name: column.name().into(), categories, n_missing: 0 }
    }

    fn add(&mut self, column: &Column) {
        self.n_missing += column.n_missing();
        if let (Some(known), Some(texts)) = (&mut self.categories, column.as_categorical()) {
            known.extend(texts.categories().iter().cloned());
        }
    }

    fn describe(&self) -> String {
        let kind = match &self.categories {
            None => "numbers".to_string(),
            Some(categories) => count(categories.len(), "category"),
        };
        format!("column `{}`: {kind}, {} missing", self.name, count(self.n_missing, "cell"))
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
