//! `hingenet fit`

use super::Run;
use crate::options::seconds;
use crate::output::{self, Files};
use crate::reader::LabelledReader;
use crate::session::Session;
use crate::show::count;
use anyhow::Result;
use clap::Args;
use hingenet::model::{ClassWeight, DEFAULT_MODEL, Dataset, FitOptions, Model, ModelSpec, fit};
use hingenet::report::choice_words;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
pub struct Fit {
    /// Rows to learn from: CSV, ARFF, Parquet or Arrow, plain or gzip; - reads stdin
    data: PathBuf,
    /// Column to predict
    #[arg(long, value_name = "COL")]
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
    #[command(flatten)]
    reader: LabelledReader,
}

impl Run for Fit {
    fn files(&self) -> Result<Files> {
        let spec: ModelSpec = self.model.parse()?;
        Ok(Files::default().reads([&self.data]).reads(&spec.files()).writes([&self.output]))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let spec: ModelSpec = self.model.parse()?;
        let class_weight = self.class_weight.as_ref().map(|text| text.parse::<ClassWeight>()).transpose()?;
        let (table, places) = self.reader.labelled(&self.data, &self.target, session)?;
        let read = if self.semi_supervised { Dataset::partly_labelled } else { Dataset::new };
        let mut data = places.locate(read(table, &self.target, self.weights.as_deref()))?;
        self.reader.judge(&data, session)?;
        if let Some(class_weight) = &class_weight {
            places.locate(data.weigh_classes(class_weight))?;
        }
        let options =
            FitOptions { seed: session.seed, max_time: self.max_time, calibrate_sets: self.calibrate_sets };
        let model = fit(&spec, &data, options, &session.control)?;
        session.done();
        tell(&model, session);
        output::write(Some(&self.output), &model.to_bytes()?)?;
        session.wrote(&self.output, &format!(": {}", summary(&model)));
        Ok(())
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
