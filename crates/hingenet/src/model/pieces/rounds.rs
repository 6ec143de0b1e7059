//! All rounds of a fit on this machine. One thread reads pieces while the others gather from those that are there.

use super::{Findings, Gathered, Known, PieceFit, Plan, Task, Work};
use crate::model::registry::{Recipe, Rule};
use crate::model::{FitOptions, Model, ModelSpec, gaussian};
use hingenet_base::ahead::make_ahead;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::pieces::{CodedRows, CodedTable};
use hingenet_data::table::{Codes, Places, ReadOptions, Table};
use hingenet_discrete::{Coding, Counted, Pass, reserve_counts};
use hingenet_gaussian::is_of_moments;
use std::sync::Mutex;

/// A piece, and where its rows come from.
pub type Piece = (Table, Places);

/// Reads a table with options and hands its pieces on, each once.
pub type Read<'a> = &'a (dyn Fn(&ReadOptions, &mut dyn FnMut(Piece) -> Result<()>) -> Result<()> + Sync);

/// A table that comes past again in every round.
#[derive(Clone, Copy)]
pub(super) struct Rounds<'a> {
    pub(super) control: &'a Control,
    pub(super) read: Read<'a>,
}

/// Share of the memory that rows may take which are kept as codes; beyond it they stand in a temporary file.
const KEPT_SHARE: f64 = 1.0 / 16.0;

impl PieceFit {
    /// Carries out all rounds on the pieces that `read` hands on, as often as it is asked. The options are those given
    /// until the types of the columns are known, and then also say those.
    pub fn fit(mut self, options: &ReadOptions, control: &Control, read: Read<'_>) -> Result<Model> {
        let control = &self.options.timed(&self.spec, control);
        let mut kept = self.counts_codes().then(|| rows_to_keep(control));
        let rounds = Rounds { control, read };
        let (mut gathered, mut options) = rounds.columns(&self.task, kept.as_mut(), options)?;
        let mut coded = None;
        loop {
            if let Some(model) = self.advance(gathered, control)? {
                return Ok(model);
            }
            options.schema = self.schema().cloned();
            if let (Work::Count { coding, .. }, Some(kept)) = (&self.task.work, kept.take()) {
                match kept.finish(&coding.coders) {
                    Ok(table) => coded = Some(table),
                    Err(reason) => control.warn(&format!("every round reads the table again: {reason}")),
                }
            }
            gathered = match (&self.task.work, coded.take()) {
                (Work::Count { coding, pass, .. }, Some(mut table)) => {
                    let counted = count_kept(coding, pass, &mut table, self.rows_to_count(control), control)?;
                    if self.can_pass(&counted) {
                        return self.passing(counted, &Mutex::new(table), control);
                    }
                    coded = Some(table);
                    Gathered(Findings::Count(counted))
                }
                _ => rounds.round(&self.task, None, &options)?,
            };
        }
    }

    /// Distinct rows to keep where all rows can come past again.
    fn rows_to_count(&self, control: &Control) -> usize {
        match &self.known {
            Some(Known { plan: Plan::Passes(passes), .. }) if passes.can_pass() => {
                passes.enough_rows(control)
            }
            _ => usize::MAX,
        }
    }

    /// Whether there are more distinct rows than were kept, and the model can be learnt from all of them as they come past.
    fn can_pass(&self, counted: &Counted) -> bool {
        match &self.known {
            Some(Known { plan: Plan::Passes(passes), .. }) => {
                self.task.least < 2 && passes.can_pass() && passes.is_part(counted)
            }
            _ => false,
        }
    }

    /// The model of coded rows that come past.
    fn passing(&self, kept: Counted, table: &Mutex<CodedTable>, control: &Control) -> Result<Model> {
        let control = &control.keeping_warnings(&self.warnings);
        let Known { whole, plan: Plan::Passes(passes), .. } = self.known()? else {
            return Err(Error::model_file("there is nothing to count"));
        };
        Ok(self.of_counts(whole, passes.passing(kept, table, control)?))
    }

    /// Whether the named model is made of counts of all rows, if no cell is missing: pieces give the model that the table
    /// gives in memory, whatever its size.
    pub fn counts_all(spec: &ModelSpec) -> bool {
        matches!(spec.info().recipe, Recipe::Discrete(_, Rule::Ml) | Recipe::Averaged { margin: false })
    }

    /// Whether the parameters of the named model come from rows that pass by, if no cell is missing: pieces solve the program of
    /// all rows, whatever the size of the table; options that are open are chosen on the rows that memory keeps.
    pub fn passes_over(spec: &ModelSpec) -> bool {
        matches!(spec.info().recipe, Recipe::Discrete(_, rule) if rule != Rule::Ml)
    }

    /// Whether the networks of the named model are learnt from moments of all rows, if no cell is missing: pieces give the model
    /// that the table gives in memory, whatever its size.
    pub fn sums_moments(spec: &ModelSpec) -> bool {
        let Recipe::Gaussian { structure, learning, fisher } = spec.info().recipe else { return false };
        is_of_moments(&gaussian::params(structure, learning, fisher, spec, FitOptions::default()))
    }

    /// Whether all rounds but the first count coded rows.
    fn counts_codes(&self) -> bool {
        matches!(self.spec.info().recipe, Recipe::Discrete(..) | Recipe::Averaged { .. })
    }
}

fn rows_to_keep(control: &Control) -> CodedRows {
    CodedRows::new(control.memory().map_or(usize::MAX, |bytes| (bytes as f64 * KEPT_SHARE) as usize))
}

/// A round of counting on rows that are kept as codes.
fn count_kept(
    coding: &Coding,
    pass: &Pass,
    table: &mut CodedTable,
    most_rows: usize,
    control: &Control,
) -> Result<Counted> {
    // rows of weight 0 are not kept
    let mut all = Counted::default();
    let (mut done, total) = (0, table.n_rows());
    table.read_ahead(&mut |piece| {
        control.progress("counting rows", done, total)?;
        done += piece.0.first().map_or(0, Codes::len);
        coding.count_kept(pass, piece, &mut all, control)?;
        if all.is_of_rows && all.sparse.len() / 2 > most_rows {
            all.keep_smallest(most_rows);
        }
        reserve_counts(all.bytes() as f64, control)
    })?;
    all.require_exact()?;
    if all.is_of_rows {
        all.keep_smallest(most_rows);
    }
    Ok(all)
}

impl Rounds<'_> {
    /// The first round, and the options that say which columns are categories in all pieces.
    pub(super) fn columns(
        self,
        task: &Task,
        mut kept: Option<&mut CodedRows>,
        options: &ReadOptions,
    ) -> Result<(Gathered, ReadOptions)> {
        let mut options = ReadOptions { target: Some(task.target.clone()), ..options.clone() };
        options.numeric.extend(task.weights.clone());
        loop {
            // values are counted here, and no other round does that
            let keyed = ReadOptions { keyed: true, ..options.clone() };
            let gathered = self.round(task, kept.as_deref_mut(), &keyed)?;
            let mixed = gathered.mixed();
            if mixed.iter().all(|name| options.categorical.contains(name)) {
                if let (Some(kept), Findings::Columns(scan)) = (kept, &gathered.0) {
                    kept.end(scan);
                }
                return Ok((gathered, options));
            }
            // in some pieces of the column all texts are numbers
            options.categorical.extend(mixed);
            if let Some(kept) = &mut kept {
                **kept = rows_to_keep(self.control);
            }
        }
    }

    /// One round.
    pub(super) fn round(
        self,
        task: &Task,
        mut kept: Option<&mut CodedRows>,
        options: &ReadOptions,
    ) -> Result<Gathered> {
        let Rounds { control, read } = self;
        let mut all: Option<Gathered> = None;
        make_ahead(|hand| read(options, hand), &mut |(piece, places): Piece| {
            places.locate(task.gather_into(&mut all, piece, kept.as_deref_mut(), control))?;
            reserve_counts(all.as_ref().map_or(0, Gathered::size) as f64, control)
        })?;
        all.ok_or_else(|| Error::data("there are no rows", "give at least two rows of different classes"))
    }
}
