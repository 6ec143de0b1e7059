//! The one way of rows from files to tables: a file adds its rows to the [`Piece`] at hand until that is full or the file
//! ends, full pieces are handed on, and the last one is what is left. A whole table is one piece without bound. Files of
//! one table have the same columns, in any order; a piece goes on where a file ends, unless the next one declares other types.

use super::builder::{ColumnBuilder, Role};
use super::context::Context;
use super::options::{Format, ReadOptions, ReadResult, Source};
use super::places::{Lines, Places};
use super::{Input, arff, csv};
use crate::table::Table;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows after which the control is told, and asked for the memory of more.
const TOLD: usize = 4096;
/// What is asked for, and how to need less.
const THE_TABLE: &str = "the table";
const LESS: &str = "leave columns out (`--ignore`), give fewer rows, or allow more (`--max-memory`)";
const SAME_COLUMNS: &str = "the files of one table have the same columns: mend the file, or leave it out";

/// What is read, and how.
pub(super) struct Order<'a> {
    /// Name of the table: that of its file, or of all its files together.
    pub(super) table: &'a str,
    /// Names of the files.
    pub(super) files: Arc<[String]>,
    /// Rows of a piece, at least one.
    pub(super) most_rows: usize,
    /// Rows of a table in several files, 0 if not known.
    pub(super) total: usize,
    pub(super) options: &'a ReadOptions,
    pub(super) control: &'a Control,
}

/// A file whose columns are known.
pub(super) struct Opened<'a> {
    pub(super) names: Vec<String>,
    pub(super) roles: Vec<Role>,
    /// The delimiter found, for CSV.
    pub(super) delimiter: Option<u8>,
    /// Number of rows, 0 if not known.
    pub(super) n_rows: usize,
    pub(super) rows: Box<dyn FileRows + 'a>,
}

/// The rows of a file, in order.
pub(super) trait FileRows {
    /// Adds rows until the piece is full (true) or the file ends.
    fn fill(&mut self, piece: &mut Piece<'_>) -> Result<bool>;
}

/// Hands on the rows of the sources, which are the files of the order, piece by piece.
pub(super) fn for_each<'s>(
    order: &Order<'_>,
    sources: impl Iterator<Item = Source<'s>>,
    each: &mut dyn FnMut(ReadResult) -> Result<()>,
) -> Result<()> {
    order.options.check()?;
    let mut piece = Piece::new(order);
    for (number, source) in sources.enumerate() {
        let input = Input::open(source, order.options)?;
        let file = input.file.clone();
        let context = &Context::new(&file, order.options);
        piece.check_format(input.format, context)?;
        let Opened { names, roles, delimiter, n_rows, mut rows } = open(input, context, &piece)?;
        let places = piece.matched(&names, context)?;
        piece.check_declared(&places, &roles, context)?;
        if piece.rows.n_rows > 0 && piece.has_other_types(&places, &roles) {
            each(piece.take()?)?;
        }
        piece.begin(number, names, roles, places);
        piece.delimiter = delimiter;
        piece.total = if order.files.len() == 1 { n_rows } else { order.total };
        piece.reserve_all()?;
        while rows.fill(&mut piece)? {
            each(piece.take()?)?;
        }
    }
    match (piece.rows.n_rows, piece.done) {
        (0, 0) => Err(no_rows(order.table)),
        (0, _) => Ok(()),
        _ => each(piece.finish()?),
    }
}

pub(super) fn no_rows(table: &str) -> Error {
    Error::File {
        file: table.into(),
        line: None,
        problem: "there are columns, but no rows".into(),
        hint: "give at least one row of data below the header; lines must end in LF or CRLF".into(),
    }
}

fn open<'a>(input: Input<'a>, context: &'a Context<'a>, piece: &Piece<'a>) -> Result<Opened<'a>> {
    let control = piece.order.control;
    match input.format {
        // what parts cells in the first file does so in all
        Format::Csv => csv::open(input, context.options.delimiter.or(piece.delimiter), context),
        Format::Arff => arff::open(input, context),
        #[cfg(feature = "parquet")]
        Format::Parquet => super::parquet::open_parquet(input, context, control),
        #[cfg(feature = "parquet")]
        Format::Arrow => super::parquet::open_arrow(input, context, control),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet | Format::Arrow => Err(context.file(
            None,
            "this build reads no Parquet or Arrow files",
            "build with the feature `parquet`, or convert the file to CSV",
        )),
    }
}

/// Rows that are not handed on yet.
pub(super) struct Piece<'a> {
    order: &'a Order<'a>,
    format: Option<Format>,
    delimiter: Option<u8>,
    /// Columns of the first file, and where they stand in it.
    known: HashMap<String, usize>,
    /// In the order of the file at hand.
    pub(super) columns: Vec<ColumnBuilder>,
    /// Where each of them stands in the first file.
    places: Vec<usize>,
    rows: Lines,
    /// Whether some cell has a comma that can mark nothing but decimals.
    decimal_commas: bool,
    /// Rows that were handed on, and rows of the table (0 if not known).
    done: usize,
    total: usize,
}

impl<'a> Piece<'a> {
    fn new(order: &'a Order<'a>) -> Self {
        Piece {
            order,
            format: None,
            delimiter: None,
            known: HashMap::new(),
            columns: Vec::new(),
            places: Vec::new(),
            rows: Lines::default(),
            decimal_commas: false,
            done: 0,
            total: 0,
        }
    }

    fn first_file(&self) -> &str {
        self.order.files.first().map_or(self.order.table, String::as_str)
    }

    fn check_format(&mut self, format: Format, context: &Context<'_>) -> Result<()> {
        let first = *self.format.get_or_insert(format);
        if first == format {
            return Ok(());
        }
        let problem = format!("this is a file of {format:?}, but {} is one of {first:?}", self.first_file());
        Err(context.file(None, problem, "the files of one table have one format"))
    }

    /// Where the columns of a file stand in the first one, which must have the same.
    fn matched(&mut self, names: &[String], context: &Context<'_>) -> Result<Vec<usize>> {
        if self.columns.is_empty() {
            self.known = names.iter().cloned().zip(0..).collect();
        }
        let first = self.first_file();
        let place = |name: &String| {
            self.known.get(name).copied().ok_or_else(|| {
                let problem = format!("there is a column `{name}`, which {first} does not have");
                context.file(None, problem, SAME_COLUMNS)
            })
        };
        let places = names.iter().map(place).collect::<Result<Vec<_>>>()?;
        match self
            .columns
            .iter()
            .find(|column| places.len() < self.known.len() && !names.contains(&column.name))
        {
            None => Ok(places),
            Some(absent) => {
                let problem = format!("there is no column `{}`, which {first} has", absent.name);
                Err(context.file(None, problem, SAME_COLUMNS))
            }
        }
    }

    /// The columns so far, each where it stands in the first file.
    fn in_first_order(&self) -> Vec<Option<&ColumnBuilder>> {
        let mut ordered = vec![None; self.columns.len()];
        self.places.iter().zip(&self.columns).for_each(|(&place, column)| ordered[place] = Some(column));
        ordered
    }

    /// Refuses lists of values that are not those of the first file: codes would mean something else.
    fn check_declared(&self, places: &[usize], roles: &[Role], context: &Context<'_>) -> Result<()> {
        let so_far = self.in_first_order();
        for (&place, role) in places.iter().zip(roles) {
            let Some(Some(column)) = so_far.get(place) else { continue };
            let declared = matches!(role, Role::Declared(_)) || matches!(column.role, Role::Declared(_));
            if declared && column.role != *role {
                let problem =
                    format!("attribute `{}` is not declared as in {}", column.name, self.first_file());
                return Err(context.file(
                    None,
                    problem,
                    "declare the same values in the same order in every file",
                ));
            }
        }
        Ok(())
    }

    fn has_other_types(&self, places: &[usize], roles: &[Role]) -> bool {
        let so_far = self.in_first_order();
        places
            .iter()
            .zip(roles)
            .any(|(&place, role)| so_far[place].is_some_and(|column| column.role != *role))
    }

    /// Goes on with the rows of the next file.
    fn begin(&mut self, file: usize, names: Vec<String>, roles: Vec<Role>, places: Vec<usize>) {
        let so_far = std::mem::take(&mut self.places).into_iter().zip(std::mem::take(&mut self.columns));
        let mut so_far: HashMap<usize, ColumnBuilder> = so_far.collect();
        let column = |((name, role), place): ((String, Role), &usize)| match so_far.remove(place) {
            Some(column) if column.role == role => column,
            _ => ColumnBuilder::new(name, role),
        };
        self.columns = names.into_iter().zip(roles).zip(&places).map(column).collect();
        self.places = places;
        self.rows.file = file;
    }

    /// Rows that it has room for.
    #[cfg(feature = "parquet")]
    pub(super) fn room(&self) -> usize {
        self.order.most_rows.saturating_sub(self.rows.n_rows).max(1)
    }

    /// Counts a row of a text that starts at this line; whether the piece is full now.
    #[inline]
    pub(super) fn line_done(&mut self, line: u64) -> Result<bool> {
        self.rows.push(line);
        if (self.done + self.rows.n_rows).is_multiple_of(TOLD) {
            self.tell()?;
            self.reserve(0.0)?;
        }
        Ok(self.rows.n_rows >= self.order.most_rows)
    }

    /// Counts rows of a file that has no lines, the first of which has this number; whether the piece is full now.
    #[cfg(feature = "parquet")]
    pub(super) fn rows_done(&mut self, first: u64, n_rows: usize) -> bool {
        self.rows.push_rows(first, n_rows);
        self.rows.n_rows >= self.order.most_rows
    }

    /// Tells the control how many rows there are.
    pub(super) fn tell(&self) -> Result<()> {
        self.order.control.progress("reading rows", self.done + self.rows.n_rows, self.total)
    }

    /// Asks for the memory of the columns with so many bytes more: a small file can hold a huge table.
    pub(super) fn reserve(&self, more: f64) -> Result<()> {
        let bytes = self.columns.iter().map(|c| c.bytes() as f64).sum::<f64>() + more;
        self.order.control.reserve(bytes, THE_TABLE, LESS)
    }

    /// Asks for the memory of all rows of a table that is read whole and says how many they are, before the first is read.
    fn reserve_all(&self) -> Result<()> {
        if self.order.most_rows < self.total || self.total == 0 {
            return Ok(());
        }
        self.order.control.reserve(self.bytes_of(self.total), THE_TABLE, LESS)
    }

    /// Memory of so many rows, at least.
    fn bytes_of(&self, n_rows: usize) -> f64 {
        self.columns.iter().map(|column| column.bytes_of(n_rows)).sum()
    }

    /// The rows as a table, with its notes; others may follow.
    fn take(&mut self) -> Result<ReadResult> {
        let next = self.columns.iter().map(ColumnBuilder::next).collect();
        let places = self.places.clone();
        let done = self.finish();
        (self.columns, self.places) = (next, places);
        done
    }

    /// The rows as a table, with its notes.
    fn finish(&mut self) -> Result<ReadResult> {
        self.reserve(0.0)?;
        let columns = std::mem::take(&mut self.places).into_iter().zip(std::mem::take(&mut self.columns));
        let mut columns: Vec<(usize, ColumnBuilder)> = columns.collect();
        columns.sort_by_key(|(place, _)| *place);
        let free_commas = self.order.options.decimal.is_none() && self.delimiter.is_some_and(|d| d != b',');
        self.decimal_commas |= columns.iter().any(|(_, column)| column.has_decimal_commas(free_commas));
        let (mut notes, mut typed, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        let is_one_file = self.order.files.len() == 1;
        for (_, column) in columns {
            if column.role == Role::Skip {
                skipped.push(column.name.clone());
            }
            typed.extend(column.finish(self.decimal_commas, is_one_file, &mut notes)?);
        }
        let rows = self.rows.take();
        self.done += rows.n_rows;
        let table = if typed.is_empty() { Table::without_columns(rows.n_rows) } else { Table::new(typed)? };
        let (file, files) = (self.order.table.into(), self.order.files.clone());
        let places = Places { file, files, rows, kept: None };
        Ok(ReadResult { table, notes, delimiter: self.delimiter, skipped, places })
    }
}
