//! `hingenet evaluate` of a table that does not fit into memory: some rows are held out and tested, models are fitted to
//! the pieces of the others.

use super::evaluate::{Asked, Evaluate};
use crate::pieces::{Pieces, rows_within};
use crate::session::Session;
use crate::show::count;
use anyhow::Result;
use hingenet::Error;
use hingenet::evaluate::{Protocol, TestRows, TestSet, TrainingPieces};
use hingenet::model::{Dataset, PieceTable};
use hingenet::report::Evaluation;
use hingenet_data::pieces::Draw;

/// Most rows that are held out: a share of them is known to half a point.
const MOST_HELD_OUT: usize = 50_000;
/// Share of the memory that they may take.
const SHARE: f64 = 1.0 / 16.0;

impl Evaluate {
    /// Evaluates on rows that are held out, or on those of the test file.
    pub(super) fn in_pieces(&self, asked: &Asked, session: &Session) -> Result<Evaluation> {
        self.refuse_folds()?;
        let control = &session.control;
        let columns = (Some(&self.target[..]), self.weights.as_deref());
        let pieces = Pieces::open(&self.data, columns, &self.reader, session)?;
        let read = |options: &_, hand_on: &mut dyn FnMut(_) -> _| pieces.read(options, hand_on);
        let table = PieceTable::scan(&self.target, self.weights.as_deref(), &pieces.options, control, &read)?;
        pieces.tell_left_out(session);
        let draw = Draw::new(session.seed, self.held_out_share(&table, &asked.protocol, session))?;
        let (drawn, numbers) = table.drawn(draw, control)?;
        drawn.check()?;
        let in_file = self.test_set(&drawn, session)?;
        let (test, places, without) = match in_file {
            Some((test, places)) => (test, Some(places), None),
            None => (tested(&drawn), None, Some(draw)),
        };
        if without.is_some() {
            let held = count(drawn.n_rows(), "row");
            session.note(&format!(
                "the table does not fit into memory: tested on {held} held out, not on folds"
            ));
        }
        let row_numbers = match &places {
            Some(places) => places.kept(),
            None => Some(&numbers[..]),
        };
        let training = TrainingPieces { table: &table, without };
        self.run_plan(asked, &drawn, TestRows::Pieces(&test, training), row_numbers, session)
    }

    /// Groups and repeats are of cross-validations; learning curves and rows without a class need their rows at hand.
    fn refuse_folds(&self) -> Result<()> {
        let (what, remedy) = if self.groups.is_some() || self.repeats > 1 {
            let remedy = "leave out --groups and --repeats, give test rows of their own (`--test`)";
            ("neither groups nor repeats", remedy)
        } else if !self.rows.is_empty() {
            ("no learning curve", "leave out --rows")
        } else if self.semi_supervised {
            ("no rows without a class", "leave out --semi-supervised")
        } else {
            return Ok(());
        };
        let problem =
            format!("the table does not fit into memory, and rows that are held out of it allow {what}");
        Err(Error::data(problem, format!("{remedy}, or allow more (`--max-memory`)")).into())
    }

    /// As many as a fold has, if they fit.
    fn held_out_share(&self, table: &PieceTable, protocol: &Protocol, session: &Session) -> f64 {
        let most =
            rows_within(SHARE, table.schema().features.len(), &session.control).clamp(1, MOST_HELD_OUT);
        (most as f64 / table.rows.max(1) as f64).min(1.0 / protocol.folds as f64)
    }
}

/// The rows as a test set; all of them have a class.
fn tested(rows: &Dataset) -> TestSet {
    TestSet {
        features: rows.features.clone(),
        class: rows.class.iter().map(Option::unwrap_or_default).collect(),
        weights: rows.weights.clone(),
    }
}
