//! `hingenet demo`

use super::Run;
use super::fit::summary;
use crate::failure::as_called;
use crate::output;
use crate::page;
use crate::session::Session;
use crate::show;
use anyhow::Result;
use clap::Args;
use hingenet::Control;
use hingenet::evaluate::{Plan, Protocol, Sweep, compare, generate_within, study};
use hingenet::model::{Dataset, FitOptions, Model, ModelSpec, fit};
use hingenet::report::{Evaluation, ModelReport, ModelResult};
use hingenet::table::Table;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Shares of test cells that are blanked; the table shows those of [`SHOWN_RATES`].
const RATES: [f64; 7] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9];
const SHOWN_RATES: [f64; 2] = [0.3, 0.6];

#[derive(Args)]
pub struct Demo {
    /// Folder for the data, the reports and the model; made if it is not there
    #[arg(short, long, value_name = "FOLDER", default_value = "hingenet-demo")]
    output: PathBuf,
}

/// One generated data set of the demo.
struct Part {
    generator: &'static str,
    rows: usize,
    about: &'static str,
    /// Whether its report shows what margins cost; quick only where no cells are missing.
    with_margins: bool,
}

const PARTS: [Part; 2] = [
    Part {
        generator: "waveform",
        rows: 3000,
        about: "waveform-21: 21 noisy readings of two mixed waves; neighbours depend on each other",
        with_margins: true,
    },
    Part {
        generator: "mixed",
        rows: 3000,
        about: "mixed: the state of pumps from numbers and categories, 8 % of all cells missing",
        with_margins: false,
    },
];

/// Rows of the file to predict.
const NEW_ROWS: usize = 12;
/// One model of each kind that is quick enough to watch.
const MODELS: [&str; 6] = ["majority", "nb:ml", "tan:ml", "aode:ml", "sgbn:search", "pool"];
/// The one that is kept and explained: a single network is the easiest to look at.
const SHOWN: &str = "tan:ml";

/// The margin-trained network whose accuracy and likelihood the reports compare, and how strongly the margin
/// counts.
const MARGIN_MODEL: &str = "nb:ml-bn-svm,gamma=1";
const MARGIN_WEIGHTS: &str = "lambda=0,0.3,1,3";

impl Run for Demo {
    fn run(&self, session: &Session) -> Result<()> {
        let start = Instant::now();
        output::make_folder(&self.output)?;
        let specs = MODELS.iter().map(|name| name.parse()).collect::<hingenet::Result<Vec<ModelSpec>>>()?;
        for part in &PARTS {
            let text = part.compare(&self.output, &specs, session)?;
            session.done();
            output::write_text(None, &text)?;
        }
        let model = self.fit(&SHOWN.parse()?, session)?;
        self.write_new_rows(session)?;
        let text = self.ending(&model, &show::seconds(start.elapsed().as_secs_f64()));
        output::write_text(None, &as_called(&text))
    }
}

impl Demo {
    /// Fits a model to the mixed table and writes it.
    fn fit(&self, spec: &ModelSpec, session: &Session) -> Result<Model> {
        let table = PARTS[1].table(session)?;
        let data = Dataset::new(table.clone(), "class", None)?;
        let model =
            fit(spec, &data, FitOptions { seed: session.seed, ..FitOptions::default() }, &session.control)?;
        model.reserve_file(&session.control)?;
        output::write(Some(&self.output.join("mixed.hgn")), &model.to_bytes()?)?;
        session.done();
        let rows: Vec<usize> = (0..3).collect();
        let report = ModelReport::of(&model, &data.features, &rows)?;
        let exploration = page::exploration(&model, &report, Some(&table), None)?;
        page::model(Some(&self.output.join("mixed-model.html")), &report, exploration.as_ref())?;
        Ok(model)
    }

    /// Rows of the mixed kind as they come later: without the class and without one of the columns.
    fn write_new_rows(&self, session: &Session) -> Result<()> {
        let seed = session.seed.wrapping_add(1);
        let rows = generate_within(PARTS[1].generator, Some(NEW_ROWS), seed, &session.control)?;
        let (_, rows) = rows.split_off("class")?;
        let known: Vec<usize> = (1..rows.n_columns()).collect();
        output::write_table(Some(&self.output.join("new.csv")), &rows.select(&known), session)
    }

    fn ending(&self, model: &Model, time: &str) -> String {
        let folder = self.output.display();
        format!(
            "Accuracy has its 95 % interval; `at 30 %` is the accuracy when 30 % of the test cells are missing.\n\
             Written in {} to {folder}{slash}:\n\
             \x20 mixed-model.html          a model to ask: open it in a browser, click what you know\n\
             \x20 waveform.csv, mixed.csv   the data\n\
             \x20 waveform.html, mixed.html reports to look at: open them in a browser\n\
             \x20 mixed.hgn                 the fitted model ({})\n\
             \x20 new.csv                   rows of the same kind that lack the class and a column\n\n\
             Next, see why the model decides as it does, then try your own data:\n\
             \x20 hingenet explain {} {} --row 1\n\
             \x20 hingenet evaluate DATA.csv --target COLUMN\n",
            time.trim(),
            summary(model),
            self.output.join("mixed.hgn").display(),
            self.output.join("mixed.csv").display(),
            slash = std::path::MAIN_SEPARATOR,
        )
    }
}

/// What the margin costs in likelihood: the same folds, once for each weight of the margin.
fn trade_off(data: &Dataset, protocol: &Protocol, session: &Session) -> Result<Evaluation> {
    let (models, sweep) = ([MARGIN_MODEL.parse()?], MARGIN_WEIGHTS.parse::<Sweep>()?);
    let protocol = Protocol { missing: Vec::new(), ..protocol.clone() };
    let plan = Plan { sweep: Some(&sweep), ..Plan::new(&models, data, &protocol) };
    Ok(compare(&plan, &without_news(session))?)
}

impl Part {
    fn table(&self, session: &Session) -> Result<Table> {
        Ok(generate_within(self.generator, Some(self.rows), session.seed, &session.control)?)
    }

    fn compare(&self, folder: &Path, specs: &[ModelSpec], session: &Session) -> Result<String> {
        let table = self.table(session)?;
        output::write_table(Some(&folder.join(format!("{}.csv", self.generator))), &table, session)?;
        let protocol = Protocol { seed: session.seed, missing: RATES.to_vec(), ..Protocol::default() };
        let data = Dataset::new(table, "class", None)?;
        let mut report = study(&Plan::new(specs, &data, &protocol), &without_news(session))?;
        if self.with_margins {
            report.add_trade_off(&trade_off(&data, &protocol, session)?);
        }
        report.evaluation.data.file = Some(format!("{}.csv", self.generator));
        report.reproduction.command = Some(session.command_line.clone());
        page::evaluation(&folder.join(format!("{}.html", self.generator)), &report)?;
        let header =
            ["model", "accuracy %", "bal. error %", "log-loss", "at 30 %", "at 60 %", "fit", "predict"];
        let row = |r: &ModelResult| {
            let mut cells = show::main_figures(r);
            let shown = r.missing.iter().filter(|p| SHOWN_RATES.contains(&p.rate));
            cells.splice(4..5, shown.map(|p| show::percent(p.accuracy)));
            cells[2] = show::percent(r.balanced_error.mean);
            cells
        };
        Ok(format!(
            "{} ({} rows)\n{}\n",
            self.about,
            self.rows,
            show::table(&header, report.evaluation.results.iter().map(row))
        ))
    }
}

/// The tables follow within seconds: no line for each model before them.
fn without_news(session: &Session) -> Control {
    session.control.clone().on_news(|_| ())
}
