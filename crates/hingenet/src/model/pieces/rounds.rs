//! All rounds of a fit on this machine. One thread reads pieces while the others gather from those that are there.

use super::{Gathered, PieceFit, Task};
use crate::model::Model;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::table::{Places, ReadOptions, Table};
use std::sync::mpsc::sync_channel;

/// Pieces that wait: one is read while one is looked at.
const WAITING: usize = 1;

/// A piece, and where its rows come from.
pub type Piece = (Table, Places);

/// Reads a table with options and hands its pieces on, each once.
pub type Read<'a> = &'a (dyn Fn(&ReadOptions, &mut dyn FnMut(Piece) -> Result<()>) -> Result<()> + Sync);

impl PieceFit {
    /// Carries out all rounds on the pieces that `read` hands on, as often as it is asked. The options are those given
    /// until the types of the columns are known, and then also say those.
    pub fn fit(mut self, options: &ReadOptions, control: &Control, read: Read<'_>) -> Result<Model> {
        let control = &self.options.timed(&self.spec, control);
        let (mut gathered, mut options) = columns(&self.task, options, control, read)?;
        loop {
            if let Some(model) = self.advance(gathered, control)? {
                return Ok(model);
            }
            options.schema = self.schema().cloned();
            gathered = round(&self.task, &options, control, read)?;
        }
    }
}

/// The first round, and the options that say which columns are categories in all pieces.
pub(super) fn columns(
    task: &Task,
    options: &ReadOptions,
    control: &Control,
    read: Read<'_>,
) -> Result<(Gathered, ReadOptions)> {
    let mut options = ReadOptions { target: Some(task.target.clone()), ..options.clone() };
    options.numeric.extend(task.weights.clone());
    loop {
        let gathered = round(task, &options, control, read)?;
        let mixed = gathered.mixed();
        if mixed.iter().all(|name| options.categorical.contains(name)) {
            return Ok((gathered, options));
        }
        // in some pieces of the column all texts are numbers
        options.categorical.extend(mixed);
    }
}

/// One round.
pub(super) fn round(
    task: &Task,
    options: &ReadOptions,
    control: &Control,
    read: Read<'_>,
) -> Result<Gathered> {
    let (sender, pieces) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            // nobody receives any more after an error there, which is the one to tell
            read(options, &mut |piece| sender.send(piece).map_err(|_| Error::Interrupted))
        });
        let mut all: Option<Gathered> = None;
        let found = pieces.into_iter().try_for_each(|(piece, places): Piece| {
            match &mut all {
                None => all = Some(places.locate(task.gather(piece, control))?),
                Some(all) => places.locate(task.gather_more(all, piece, control))?,
            }
            let bytes = all.as_ref().map_or(0, Gathered::size);
            let hint = "leave out columns with very many values, use nb:ml, or allow more (`--max-memory`)";
            control.reserve(bytes as f64, "what is counted in the table", hint)
        });
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        found?;
        read?;
        all.ok_or_else(|| Error::data("there are no rows", "give at least two rows of different classes"))
    })
}
