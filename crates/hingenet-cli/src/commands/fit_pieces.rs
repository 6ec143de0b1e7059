//! `hingenet fit` of a table that does not fit into memory: read in pieces, once for each round of statistics.

use super::fit::Fit;
use crate::session::Session;
use anyhow::Result;
use hingenet::model::{Dataset, Model, ModelSpec, PieceFit};
use hingenet::table::{Batches, ReadOptions, ReadResult};
use hingenet::{Control, Error};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that are looked at before all others.
const FIRST_ROWS: usize = 4096;
/// Rows read at a time, if they are few columns.
const MOST_ROWS: usize = 1 << 16;
/// Share of the memory for one piece: several are on their way at a time, each as cells, aligned and coded.
const SHARE: f64 = 1.0 / 32.0;

/// Whether an error says that a table is too large for the memory allowed, so that it can be read in pieces.
pub fn is_too_large(error: &anyhow::Error, data: &Path) -> bool {
    let is_table = |what: &str| what == "the table";
    data != Path::new("-")
        && error.downcast_ref().is_some_and(|e| matches!(e, Error::Memory { what, .. } if is_table(what)))
}

impl Fit {
    /// Fits to the pieces.
    pub(super) fn in_pieces(&self, spec: &ModelSpec, session: &Session) -> Result<Model> {
        if self.semi_supervised || self.class_weight.is_some() {
            return Err(Error::Unsupported {
                model: spec.name().into(),
                problem: "the table does not fit into memory, and read in pieces it allows neither class weights nor rows without a class"
                    .into(),
                hint: "leave out --class-weight and --semi-supervised, or allow more (`--max-memory`)".into(),
            }
            .into());
        }
        session.detail("the table does not fit into memory: it is read in pieces");
        let mut options = ReadOptions { target: Some(self.target.clone()), ..self.reader.plain.options() };
        let control = &session.control;
        let batches = Batches::of(&self.data, &options)?;
        let first = first_piece(&batches, control)?;
        if first.notes.iter().any(|note| note.to_string().contains("decimal commas")) {
            options.decimal = Some(b',');
        }
        let most_rows = rows_at_a_time(first.table.n_columns(), control);
        self.judge_first(first, session)?;
        let left_out = AtomicUsize::new(0);
        let fit = PieceFit::new(spec, &self.target, self.weights.as_deref(), self.options(session))?;
        let model = fit.fit(&options, control, &|options, hand_on| {
            left_out.store(0, Ordering::Relaxed);
            batches.with(options.clone()).for_each(most_rows, control, &mut |piece| {
                let n_rows = piece.table.n_rows();
                let (table, places) = self.reader.labelled_rows((piece.table, piece.places), &self.target)?;
                left_out.fetch_add(n_rows - table.n_rows(), Ordering::Relaxed);
                hand_on((table, places))
            })
        })?;
        self.reader.tell_left_out(left_out.into_inner(), session);
        Ok(model)
    }

    /// Tells what looks wrong with the first rows, or refuses them.
    fn judge_first(&self, first: ReadResult, session: &Session) -> Result<()> {
        let rows = self.reader.labelled_rows((first.table, first.places), &self.target)?.0;
        // too few rows to judge are no reason to refuse all
        match Dataset::new(rows, &self.target, self.weights.as_deref()) {
            Ok(data) => self.reader.judge(&data, session),
            Err(_) => Ok(()),
        }
    }
}

/// The first rows.
fn first_piece(batches: &Batches, control: &Control) -> hingenet::Result<ReadResult> {
    let mut first = None;
    let end = batches.for_each(FIRST_ROWS, control, &mut |piece| {
        first = Some(piece);
        Err(Error::Interrupted) // no more
    });
    match (first, end) {
        (Some(first), _) => Ok(first),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => {
            Err(Error::data("there are no rows", "give at least two rows of different classes"))
        }
    }
}

/// Rows of so many columns that fit into a share of the memory.
fn rows_at_a_time(columns: usize, control: &Control) -> usize {
    let bytes = control.memory().map_or(f64::INFINITY, |bytes| bytes as f64 * SHARE);
    ((bytes / (8.0 * columns.max(1) as f64)) as usize).clamp(256, MOST_ROWS)
}
