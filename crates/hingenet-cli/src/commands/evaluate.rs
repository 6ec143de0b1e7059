//! `hingenet evaluate`

use super::Run;
use super::predict::Gaps;
use crate::options::seconds;
use crate::output::{self, Files};
use crate::page;
use crate::pieces::is_too_large;
use crate::reader::LabelledReader;
use crate::session::Session;
use crate::show;
use anyhow::Result;
use clap::Args;
use hingenet::Error;
use hingenet::evaluate::{Groups, Plan, Protocol, Sweep, TestRows, TestSet, compare, study};
use hingenet::model::{DEFAULT_MODEL, Dataset, ModelSpec};
use hingenet::report::Evaluation;
use hingenet::table::Places;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
pub struct Evaluate {
    /// Rows to evaluate on: CSV, ARFF, Parquet or Arrow, plain or gzip; a folder or a pattern such as 'part-*.csv' for
    /// several files; - reads stdin
    pub(super) data: PathBuf,
    /// Column to predict
    #[arg(long, value_name = "COL")]
    pub(super) target: String,
    /// Model with options, see `hingenet models`; may be given several times
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// Folds of the cross-validation
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    /// Repeat the cross-validation with other folds
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub(super) repeats: usize,
    /// Keep rows with equal values in this column in one fold; it is no feature
    #[arg(long, value_name = "COL")]
    pub(super) groups: Option<String>,
    /// Fit on all of DATA and test on this file instead of cross-validation
    #[arg(long, value_name = "FILE", conflicts_with_all = ["folds", "repeats", "groups"])]
    test: Option<PathBuf>,
    /// Column of sample weights
    #[arg(long, value_name = "COL")]
    pub(super) weights: Option<String>,
    /// Rows without a class join every training part, as in `fit --semi-supervised`, and are not tested; for models that can
    /// learn from them (`:ml` and `:ml-bn-svm` of nb, tan, kdb and dag), beside which `tau=0` leaves them out
    #[arg(long, requires = "models", conflicts_with_all = ["drop_unlabelled", "groups"])]
    pub(super) semi_supervised: bool,
    /// Also blank this share of the test cells at random
    #[arg(long, value_name = "0,0.1,...", value_delimiter = ',')]
    missing: Vec<f64>,
    /// What missing cells of test rows mean, to a pool that has learnt that gaps tell the class; where cells are blanked too
    /// (--missing above 0), all are unknown
    #[arg(long, value_enum, default_value_t = Gaps::AsInTraining)]
    gaps: Gaps,
    /// Learning curve: fit on so many rows of each training part (of DATA, with --test), drawn at random in the proportions of
    /// the classes, the fewer among the more; all other figures are those of the last number
    #[arg(long, value_name = "100,200,...", value_delimiter = ',')]
    pub(super) rows: Vec<usize>,
    /// End each fit after this time, as `fit --max-time` does; a model that has nothing to show then has failed
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    max_time: Option<Duration>,
    /// Evaluate once for each value of an option, in the models that have it
    #[arg(long, value_name = "KEY=V1,V2,...")]
    sweep: Option<String>,
    /// Also print tests of the most accurate model against the others: corrected resampled t-test and Wilcoxon's signed ranks
    #[arg(long)]
    tests: bool,
    /// Write all figures as JSON; - writes them to stdout in place of the table
    #[arg(long, value_name = "FILE|-")]
    pub(super) json: Option<PathBuf>,
    /// Write a page to look at; it also shows accuracies with missing cells if --missing is not given
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    pub(super) reader: LabelledReader,
}

/// Which models are evaluated, and how.
pub(super) struct Asked {
    specs: Vec<ModelSpec>,
    sweep: Option<Sweep>,
    pub(super) protocol: Protocol,
}

impl Run for Evaluate {
    fn files(&self) -> Result<Files> {
        let mut specs = self.specs()?;
        if let Some(sweep) = self.sweep()? {
            specs = sweep.expand(&specs)?.into_iter().map(|swept| swept.spec).collect();
        }
        let of_models: Vec<PathBuf> = specs.iter().flat_map(ModelSpec::files).collect();
        let inputs = std::iter::once(&self.data).chain(&self.test).chain(&of_models);
        self.report.as_ref().map_or(Ok(()), |path| page::check_name(path))?;
        Ok(Files::default().reads(inputs).writes(&self.json).writes(&self.report))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let asked =
            Asked { specs: self.specs()?, sweep: self.sweep()?, protocol: self.protocol(session.seed) };
        asked.protocol.check()?;
        let evaluation = self.evaluate(&asked, session)?;
        session.done();
        if let Some(path) = &self.json {
            output::write(Some(path), (serde_json::to_string(&evaluation)? + "\n").as_bytes())?;
            session.wrote(path, "");
        }
        if [&self.json, &self.report].into_iter().flatten().all(|path| output::is_file(path)) {
            let tests = if self.tests { show::tests(&evaluation) } else { String::new() };
            output::write_text(None, &(show::evaluation(&evaluation) + &tests))?;
        }
        match evaluation.failed.len() {
            0 => Ok(()),
            failed => {
                let hint = "the warnings above say why; the figures of the others stand";
                let problem = match evaluation.curve.len() {
                    0 => format!("{failed} of {} models failed", failed + evaluation.results.len()),
                    n => format!("{failed} of {} points of learning curves failed", failed + n),
                };
                Err(Error::data(problem, hint).into())
            }
        }
    }
}

impl Evaluate {
    fn specs(&self) -> Result<Vec<ModelSpec>> {
        if self.models.is_empty() {
            return Ok(default_specs()?);
        }
        self.models.iter().map(|text| Ok(text.parse()?)).collect()
    }

    fn sweep(&self) -> Result<Option<Sweep>> {
        Ok(self.sweep.as_ref().map(|text| text.parse()).transpose()?)
    }

    fn protocol(&self, seed: u64) -> Protocol {
        // a report is worth little without its robustness curve
        let is_default = self.missing.is_empty() && self.report.is_some();
        let missing = if is_default { page::RATES.to_vec() } else { self.missing.clone() };
        Protocol {
            folds: self.folds,
            repeats: self.repeats,
            seed,
            missing,
            rows: self.rows.clone(),
            max_time: self.max_time,
            gaps: self.gaps.into(),
        }
    }

    fn evaluate(&self, asked: &Asked, session: &Session) -> Result<Evaluation> {
        let (mut table, places) = match self.reader.labelled(&self.data, &self.target, session) {
            Ok(rows) => rows,
            Err(error) if is_too_large(&error, &self.data) => {
                return self.in_pieces(asked, session);
            }
            Err(error) => return Err(error),
        };
        let mut groups = None;
        if let Some(column) = &self.groups {
            let (found, rest) = places.locate(Groups::take(table, column))?;
            (groups, table) = (Some(found), rest);
        }
        let read = if self.semi_supervised { Dataset::partly_labelled } else { Dataset::new };
        let data = places.locate(read(table, &self.target, self.weights.as_deref()))?;
        self.reader.judge(&data, session)?;
        let test = self.test_set(&data, session)?;
        let (tested, places) = match &test {
            Some((test, places)) => (TestRows::Set(test), places),
            None => (TestRows::Folds(groups.as_ref()), &places),
        };
        self.run_plan(asked, &data, tested, places.kept(), session)
    }

    /// The figures, and the page if it is asked for.
    pub(super) fn run_plan(
        &self,
        asked: &Asked,
        data: &Dataset,
        tested: TestRows<'_>,
        row_numbers: Option<&[usize]>,
        session: &Session,
    ) -> Result<Evaluation> {
        let Asked { specs, sweep, protocol } = asked;
        let (sweep, keep_answers) = (sweep.as_ref(), self.json.is_some());
        let plan = &Plan { models: specs, sweep, data, tested, protocol, keep_answers, row_numbers };
        let Some(path) = &self.report else {
            return Ok(self.with_names(compare(plan, &session.control)?));
        };
        let mut report = study(plan, &session.control)?;
        report.evaluation = self.with_names(report.evaluation);
        report.reproduction.command = Some(session.command_line.clone());
        session.done();
        page::evaluation(path, &report)?;
        session.wrote(path, "");
        Ok(report.evaluation)
    }

    fn with_names(&self, mut evaluation: Evaluation) -> Evaluation {
        evaluation.data.file = Some(page::file_name(&self.data));
        evaluation.protocol.test_file = self.test.as_deref().map(page::file_name);
        evaluation
    }

    pub(super) fn test_set(&self, data: &Dataset, session: &Session) -> Result<Option<(TestSet, Places)>> {
        let Some(path) = &self.test else { return Ok(None) };
        let (table, places) = self.reader.test_rows(path, data, self.weights.as_deref(), session)?;
        let test = TestSet::new(table, &self.target, self.weights.as_deref(), &data.classes);
        Ok(Some((places.locate(test)?, places)))
    }
}

/// Majority, `nb:ml`, `tan:ml` and the default model.
pub fn default_specs() -> hingenet::Result<Vec<ModelSpec>> {
    ["majority", "nb:ml", "tan:ml", DEFAULT_MODEL].iter().map(|name| ModelSpec::new(name)).collect()
}
