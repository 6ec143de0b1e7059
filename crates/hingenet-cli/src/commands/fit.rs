//! `hingenet fit`

use super::Run;
use crate::options::seconds;
use crate::output::{self, Files};
use crate::pieces::{Pieces, can_be_read_again, is_too_large, leaves_no_room};
use crate::reader::{LabelledReader, Rows};
use crate::session::Session;
use crate::show::count;
use anyhow::Result;
use clap::Args;
use hingenet::Error;
use hingenet::model::{ClassWeight, DEFAULT_MODEL, Dataset, FitOptions, Model, ModelSpec, PieceFit, fit};
use hingenet::report::choice_words;
use hingenet::table::Table;
use hingenet_data::pieces::piece;
use std::path::PathBuf;
use std::time::Duration;

/// What a fit to rows at hand takes, in tables: they are sorted, coded and counted.
const FIT_BYTES: f64 = 4.0;
/// The same where margins are trained: each row is there a second time, as cells of the network.
const MARGIN_BYTES: f64 = 6.0;

#[derive(Args)]
pub struct Fit {
    /// Rows to learn from: CSV, ARFF, Parquet or Arrow, plain or gzip; a folder or a pattern such as 'part-*.csv' for
    /// several files; - reads stdin
    data: PathBuf,
    /// Column to predict
    #[arg(
        long,
        value_name = "COL",
        default_value = "",
        hide_default_value = true,
        required_unless_present = "like"
    )]
    target: String,
    /// Model with options, see `hingenet models`
    #[arg(long, value_name = "NAME", default_value = DEFAULT_MODEL)]
    model: String,
    /// Model file to write
    #[arg(short, long, value_name = "MODEL.hgn")]
    output: PathBuf,
    /// Column of sample weights
    #[arg(long, value_name = "COL")]
    weights: Option<String>,
    /// Weight of classes: `balanced` or CLASS=W,...
    #[arg(long, value_name = "balanced|CLASS=W,...")]
    class_weight: Option<String>,
    /// Also learn from rows without a class (`:ml` and `:ml-bn-svm` of nb, tan, kdb and dag)
    #[arg(long, conflicts_with = "drop_unlabelled")]
    semi_supervised: bool,
    /// Rules with margins: end the search for options after 60 % of this time (the inner fold under way is finished) and
    /// the fit after all of it, with the best so far, which then depends on the speed of the machine. Other models: give up
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    max_time: Option<Duration>,
    /// Hold back this share of the rows, 5000 at most, for the prediction sets of `predict --coverage`
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.25")]
    calibrate_sets: Option<f64>,
    /// Keep the counts or moments that the model is made of, so that `merge` can join it with models of other rows (models
    /// by maximum likelihood, complete rows)
    #[arg(long)]
    keep_statistics: bool,
    /// Leave counts of fewer rows than this out of the statistics and of the model (what stays: `docs/scale.md`)
    #[arg(long, value_name = "N", requires = "keep_statistics", value_parser = clap::value_parser!(u64).range(2..))]
    least_count: Option<u64>,
    /// Fit the model of this file, which keeps its statistics, to these rows: the same columns, states and classes
    #[arg(long, value_name = "MODEL.hgn", conflicts_with_all = ["target", "model", "weights", "class_weight", "semi_supervised", "calibrate_sets"])]
    like: Option<PathBuf>,
    #[command(flatten)]
    reader: LabelledReader,
}

impl Run for Fit {
    fn files(&self) -> Result<Files> {
        let spec: ModelSpec = self.model.parse()?;
        let reads = [&self.data].into_iter().chain(&self.like);
        Ok(Files::default().reads(reads).reads(&spec.files()).writes([&self.output]))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let spec: ModelSpec = self.model.parse()?;
        let class_weight = self.class_weight.as_ref().map(|text| text.parse::<ClassWeight>()).transpose()?;
        if let Some(like) = &self.like {
            let model = self.like(&Model::load(like)?, session)?;
            return self.write(&model, session);
        }
        let model = match self.reader.labelled(&self.data, &self.target, session) {
            Ok(rows) => self.at_hand(&spec, rows, class_weight.as_ref(), session)?,
            Err(error) if is_too_large(&error, &self.data) => self.in_pieces(&spec, session)?,
            Err(error) => return Err(error),
        };
        self.write(&model, session)
    }
}

impl Fit {
    fn write(&self, model: &Model, session: &Session) -> Result<()> {
        session.done();
        tell(model, session);
        model.reserve_file(&session.control)?;
        output::write(Some(&self.output), &model.to_bytes()?)?;
        session.wrote(&self.output, &format!(": {}", summary(model)));
        Ok(())
    }

    /// Fits to rows that are all at hand, or again to the pieces of their table where that gives the same model, or solves the
    /// same program, in less memory.
    fn at_hand(
        &self,
        spec: &ModelSpec,
        rows: Rows,
        class_weight: Option<&ClassWeight>,
        session: &Session,
    ) -> Result<Model> {
        // pieces take neither these nor weights that are no whole numbers
        let can_be_pieces = can_be_read_again(&self.data)
            && !self.semi_supervised
            && self.class_weight.is_none()
            && self.calibrate_sets.is_none()
            && self.weights.is_none()
            && rows.0.n_missing() == 0;
        let told = "a fit to all rows at once would take too much memory";
        if can_be_pieces && self.needs_too_much(spec, &rows.0, session) {
            drop(rows);
            session.detail(told);
            return self.in_pieces(spec, session);
        }
        match self.in_memory(spec, rows, class_weight, session) {
            Err(error)
                if can_be_pieces && PieceFit::sums_moments(spec) && leaves_no_room(&error, &self.data) =>
            {
                session.detail(told);
                self.in_pieces(spec, session)
            }
            made => made,
        }
    }

    /// Whether a fit to the rows at hand would take more memory than is allowed. Fits that ask for what they take say so
    /// themselves.
    fn needs_too_much(&self, spec: &ModelSpec, rows: &Table, session: &Session) -> bool {
        let tables = if PieceFit::counts_all(spec) {
            FIT_BYTES
        } else if PieceFit::passes_over(spec) {
            MARGIN_BYTES
        } else {
            return false;
        };
        let bytes = tables * rows.bytes() as f64;
        session.control.memory().is_some_and(|most| bytes > most as f64)
    }

    /// Fits another model to the rows.
    fn like(&self, model: &Model, session: &Session) -> Result<Model> {
        let (table, places) = self.reader.plain.for_model_with_target(&self.data, model, session)?;
        let data = places.locate(piece(table, &model.target, None))?;
        Ok(places.locate(model.fit_like(&data, &session.control))?)
    }

    /// Fits to rows that are all at hand.
    fn in_memory(
        &self,
        spec: &ModelSpec,
        (table, places): Rows,
        class_weight: Option<&ClassWeight>,
        session: &Session,
    ) -> Result<Model> {
        let read = if self.semi_supervised { Dataset::partly_labelled } else { Dataset::new };
        let mut data = places.locate(read(table, &self.target, self.weights.as_deref()))?;
        self.reader.judge(&data, session)?;
        if let Some(class_weight) = class_weight {
            places.locate(data.weigh_classes(class_weight))?;
        }
        Ok(fit(spec, &data, self.options(session), &session.control)?)
    }

    /// Fits to the pieces of a table that does not fit into memory.
    fn in_pieces(&self, spec: &ModelSpec, session: &Session) -> Result<Model> {
        if self.semi_supervised || self.class_weight.is_some() {
            return Err(Error::Unsupported {
                model: spec.name().into(),
                problem: "the table does not fit into memory, and read in pieces it allows neither class weights nor rows without a class"
                    .into(),
                hint: "leave out --class-weight and --semi-supervised, or allow more (`--max-memory`)".into(),
            }
            .into());
        }
        let columns = (Some(&self.target[..]), self.weights.as_deref());
        let pieces = Pieces::open(&self.data, columns, &self.reader, session)?;
        let fit = PieceFit::new(spec, &self.target, self.weights.as_deref(), self.options(session))?;
        let model =
            fit.fit(&pieces.options, &session.control, &|options, hand_on| pieces.read(options, hand_on))?;
        pieces.tell_left_out(session);
        Ok(model)
    }

    fn options(&self, session: &Session) -> FitOptions {
        FitOptions {
            seed: session.seed,
            max_time: self.max_time,
            calibrate_sets: self.calibrate_sets,
            keep_statistics: self.keep_statistics,
            least_count: self.least_count.unwrap_or(0),
        }
    }
}

/// Name and size of a model in a few words.
pub fn summary(model: &Model) -> String {
    format!(
        "{}, {}, {}, {}",
        model.spec,
        count(model.facts.rows, "row"),
        count(model.schema.features.len(), "feature"),
        count(model.classes.len(), "class")
    )
}

/// What the fit has to say beside its warnings, which the session has told: rows held back, options chosen, how the solver
/// ended.
fn tell(model: &Model, session: &Session) {
    if model.calibration_rows() > 0 {
        let held = count(model.calibration_rows(), "row");
        session.note(&format!("held back {held} to calibrate prediction sets"));
    }
    for (key, value) in &model.facts.chosen {
        let (option, value) = choice_words(key, *value);
        session.note(&format!("chose {option} = {value}"));
    }
    if let Some(solver) = &model.facts.solver {
        let end = if solver.converged { "converged" } else { "stopped before it converged" };
        let text = format!("{} {end} after {} iterations", solver.method, solver.iterations);
        if solver.converged { session.detail(&text) } else { session.warn(&text) }
    }
}
