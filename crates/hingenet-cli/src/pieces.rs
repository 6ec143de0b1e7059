//! Tables that do not fit into memory: read in pieces, once for each round of statistics.

use crate::reader::LabelledReader;
use crate::session::Session;
use anyhow::Result;
use hingenet::model::Dataset;
use hingenet::table::{Batches, Codes, Column, Places, ReadOptions, ReadResult, Table};
use hingenet::{Control, Error};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that are looked at before all others, and how few they may be where memory is scarce.
const FIRST_ROWS: usize = 4096;
const LEAST_ROWS: usize = 256;
/// Rows read at a time, if they are few columns: so many that a column's values find their bins in a near cache more than once.
const MOST_ROWS: usize = 1 << 18;
/// Share of the memory for one piece: several are on their way at a time, each as cells, aligned and coded.
const SHARE: f64 = 1.0 / 20.0;

/// Whether an error says that a table is too large for the memory allowed, so that it can be read in pieces.
pub fn is_too_large(error: &anyhow::Error, data: &Path) -> bool {
    let is_table = |what: &str| what == "the table";
    can_be_read_again(data)
        && error.downcast_ref().is_some_and(|e| matches!(e, Error::Memory { what, .. } if is_table(what)))
}

/// Whether an error says that a table fits, and what is made of it does not.
pub fn leaves_no_room(error: &anyhow::Error, data: &Path) -> bool {
    can_be_read_again(data) && matches!(error.downcast_ref(), Some(Error::Memory { .. }))
}

pub fn can_be_read_again(data: &Path) -> bool {
    data != Path::new("-")
}

/// A table that is read in pieces.
pub struct Pieces<'a> {
    batches: Batches,
    /// How the first round reads it.
    pub options: ReadOptions,
    /// None where the rows have no classes.
    target: Option<&'a str>,
    reader: &'a LabelledReader,
    most_rows: usize,
    left_out: AtomicUsize,
    control: &'a Control,
}

/// Name of the one class of rows that have none, and of its column: no file has a column without a name.
pub const ALL_ROWS: &str = "";

impl<'a> Pieces<'a> {
    /// Looks at the first rows, tells what looks wrong with them, or refuses them.
    pub fn open(
        data: &Path,
        (target, weights): (Option<&'a str>, Option<&str>),
        reader: &'a LabelledReader,
        session: &'a Session,
    ) -> Result<Self> {
        session.detail("the table does not fit into memory: it is read in pieces");
        let control = &session.control;
        let mut options = ReadOptions { target: target.map(String::from), ..reader.plain.options() };
        let batches = Batches::of(data, &options)?;
        let first = first_piece(&batches, FIRST_ROWS, control)?;
        if first.notes.iter().any(|note| note.to_string().contains("decimal commas")) {
            options.decimal = Some(b',');
        }
        let most_rows = rows_at_a_time(first.table.n_columns(), control);
        let pieces =
            Pieces { batches, options, target, reader, most_rows, left_out: AtomicUsize::new(0), control };
        let rows = pieces.labelled((first.table, first.places))?.0;
        // too few rows to judge are no reason to refuse all
        if let Some(Ok(data)) = target.map(|target| Dataset::new(rows, target, weights)) {
            reader.judge(&data, session)?;
        }
        Ok(pieces)
    }

    /// Hands on all pieces, read with these options.
    pub fn read(
        &self,
        options: &ReadOptions,
        hand_on: &mut dyn FnMut((Table, Places)) -> hingenet::Result<()>,
    ) -> hingenet::Result<()> {
        self.left_out.store(0, Ordering::Relaxed);
        let options = ReadOptions { target: self.target.map(String::from), ..options.clone() };
        self.batches.with(options).for_each(self.most_rows, self.control, &mut |piece| {
            let n_rows = piece.table.n_rows();
            let rows = self.labelled((piece.table, piece.places))?;
            self.left_out.fetch_add(n_rows - rows.0.n_rows(), Ordering::Relaxed);
            hand_on(rows)
        })
    }

    /// Says how many rows have no class.
    pub fn tell_left_out(&self, session: &Session) {
        self.reader.tell_left_out(self.left_out.load(Ordering::Relaxed), session);
    }

    /// The rows of a piece that have a class; without a target all are of one.
    fn labelled(&self, (table, places): (Table, Places)) -> hingenet::Result<(Table, Places)> {
        match self.target {
            Some(target) => self.reader.labelled_rows((table, places), target),
            None => {
                let class = Codes::from_options(1, (0..table.n_rows()).map(|_| Some(0)));
                let class = Column::categorical(ALL_ROWS, vec![ALL_ROWS.into()], class);
                let columns = table.columns().iter().cloned().chain([class]).collect();
                Ok((Table::new(columns)?, places))
            }
        }
    }
}

/// The first rows, fewer if so many do not fit: before the types of the columns are known, cells are texts, which take more.
fn first_piece(batches: &Batches, rows: usize, control: &Control) -> hingenet::Result<ReadResult> {
    let mut first = None;
    let end = batches.for_each(rows, control, &mut |piece| {
        first = Some(piece);
        Err(Error::Interrupted) // no more
    });
    match (first, end) {
        (Some(first), _) => Ok(first),
        (None, Err(Error::Memory { .. })) if rows > LEAST_ROWS => first_piece(batches, rows / 4, control),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => {
            Err(Error::data("there are no rows", "give at least two rows of different classes"))
        }
    }
}

/// Rows of so many columns that fit into a share of the memory.
fn rows_at_a_time(columns: usize, control: &Control) -> usize {
    rows_within(SHARE, columns, control).clamp(LEAST_ROWS, MOST_ROWS)
}

/// Rows of so many columns that fit into this share of the memory.
pub fn rows_within(share: f64, columns: usize, control: &Control) -> usize {
    let bytes = control.memory().map_or(f64::INFINITY, |bytes| bytes as f64 * share);
    (bytes / (8.0 * columns.max(1) as f64)) as usize
}
