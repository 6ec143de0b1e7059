//! `hingenet predict`

use super::Run;
use super::explain;
use crate::output::{Files, TableWriter};
use crate::pieces::rows_within;
use crate::reader::{Reader, Rows};
use crate::session::Session;
use anyhow::Result;
use clap::{Args, ValueEnum};
use hingenet::ShapleyParams;
use hingenet::model::{Model, Predictions};
use hingenet::table::{AlignReport, Codes, Column, Table, UnseenPolicy};
use std::path::PathBuf;

/// Reasons shown by `--explain`.
const TERMS: usize = 3;
/// Cells and rows of a batch: some ten megabytes, and fewer different texts than a column can hold.
const BATCH_CELLS: usize = 1 << 20;
const MOST_ROWS: usize = 1 << 15;
/// Share of the memory for the cells of a batch, which are there as texts and aligned too, and fewest rows of one.
const BATCH_SHARE: f64 = 1.0 / 20.0;
const FEWEST_ROWS: usize = 64;

#[derive(Args)]
pub struct Predict {
    /// Model file made by `hingenet fit`
    model: PathBuf,
    /// Rows to classify: a file, a folder or a pattern such as 'part-*.csv'; they may lack columns or cells. - reads stdin
    data: PathBuf,
    /// CSV file to write; stdout if not given
    #[arg(short, long, value_name = "OUT.csv")]
    output: Option<PathBuf>,
    /// Add the probability of each class
    #[arg(long)]
    proba: bool,
    /// Add the classes among which the true one is with this probability, joined by `|`. Needs a model of
    /// `fit --calibrate-sets`
    #[arg(long, value_name = "0.9")]
    coverage: Option<f64>,
    /// Add the class that each term of a pool would choose alone
    #[arg(long)]
    terms: bool,
    /// Add the three largest reasons for each decision: what its known features add to the log-odds of the class, or the
    /// terms of its score, which are faster
    #[arg(long, value_enum, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "shapley")]
    explain: Option<explain::Kind>,
    /// What to do with categories that training has not seen
    #[arg(long, value_enum, default_value_t = Unseen::Missing)]
    unseen: Unseen,
    /// What a missing cell means, to a pool that has learnt that gaps tell the class
    #[arg(long, value_enum, default_value_t = Gaps::AsInTraining)]
    gaps: Gaps,
    /// Rows that are read, classified and written at a time; if not given, as many as fit some ten megabytes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    batch_rows: Option<u16>,
    #[command(flatten)]
    reader: Reader,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Unseen {
    /// Treat the cell as missing, and say so
    Missing,
    /// Stop with an error
    Error,
}

impl From<Unseen> for UnseenPolicy {
    fn from(unseen: Unseen) -> Self {
        match unseen {
            Unseen::Missing => UnseenPolicy::Missing,
            Unseen::Error => UnseenPolicy::Error,
        }
    }
}

/// What a missing cell means.
#[derive(Clone, Copy, ValueEnum)]
pub enum Gaps {
    // plain comments, since help for each value would make that of all options long
    // it is missing for the reasons for which cells of its column were missing in training: what was learnt of gaps counts
    AsInTraining,
    // it is not known, and nothing follows from that
    Unknown,
}

impl From<Gaps> for hingenet::model::Gaps {
    fn from(gaps: Gaps) -> Self {
        match gaps {
            Gaps::AsInTraining => hingenet::model::Gaps::AsInTraining,
            Gaps::Unknown => hingenet::model::Gaps::Unknown,
        }
    }
}

impl Run for Predict {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads([&self.model, &self.data]).writes_result(self.output.as_ref()))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let mut model = Model::load(&self.model)?;
        model.read_gaps(self.gaps.into());
        let mut output = TableWriter::create(self.output.as_ref())?;
        let (mut unlike, mut n_rows) = (model.unlike(), 0);
        self.reader.batches_for_model(
            &self.data,
            &model,
            self.batch_rows(&model, session),
            session,
            &mut |rows| {
                let (columns, report) = self.columns(&model, &rows, n_rows, session)?;
                unlike.add(&rows.0, &report);
                n_rows += rows.0.n_rows();
                output.add(&Table::new(columns)?)?;
                Ok(())
            },
        )?;
        self.reader.tell(unlike.doubts(), session)?;
        output.finish(session)?;
        session.wrote(self.output.as_ref(), "");
        Ok(())
    }
}

impl Predict {
    fn batch_rows(&self, model: &Model, session: &Session) -> usize {
        let columns = model.schema.features.len().max(1);
        let fitting = (BATCH_CELLS / columns).min(rows_within(BATCH_SHARE, columns, &session.control));
        self.batch_rows.map_or(fitting.clamp(FEWEST_ROWS, MOST_ROWS), usize::from)
    }

    /// What is written about a batch of rows, before which there are `n_before` others, and how it was aligned.
    fn columns(
        &self,
        model: &Model,
        (rows, places): &Rows,
        n_before: usize,
        session: &Session,
    ) -> Result<(Vec<Column>, AlignReport)> {
        let (predictions, terms) = if self.terms {
            places.locate(model.predict_terms(rows, self.unseen.into(), &session.control))?
        } else {
            let predicted = model.predict_watched(rows, self.unseen.into(), &session.control);
            (places.locate(predicted)?, Vec::new())
        };
        session.control.check()?;
        let mut columns = answer(model, &predictions, n_before, self.proba);
        if let Some(coverage) = self.coverage {
            columns.push(sets(model, &model.prediction_sets(&predictions, coverage)?));
        }
        if self.terms && terms.is_empty() {
            session.note(&format!("{} has no terms of its own; --terms adds nothing", model.spec.name()));
        }
        columns.extend(terms.iter().map(|(name, p)| classes(model, p, format!("prediction_{name}"))));
        if let Some(kind) = self.explain {
            columns.push(self.explanations(model, rows, kind, session)?);
        }
        Ok((columns, predictions.report))
    }

    fn explanations(
        &self,
        model: &Model,
        rows: &Table,
        kind: explain::Kind,
        session: &Session,
    ) -> Result<Column> {
        let mut texts = Vec::with_capacity(rows.n_rows());
        let reasons = kind.reasons(ShapleyParams::default().evaluations, session);
        for explanation in model.explanations(rows, self.unseen.into(), reasons, &session.control)? {
            session.control.check()?;
            texts.push(explain::shortly(&explanation?, TERMS));
        }
        Ok(text_column("explanation", &texts))
    }
}

/// Row number, predicted class and, if asked for, class probabilities of rows before which there are `n_before` others.
fn answer(model: &Model, predictions: &Predictions, n_before: usize, proba: bool) -> Vec<Column> {
    let n = predictions.len();
    let mut columns = vec![
        Column::numeric("row", (1..=n).map(|m| (n_before + m) as f64).collect()),
        classes(model, predictions, "prediction".into()),
    ];
    if proba {
        let of_class = |c: usize| (0..n).map(|m| predictions.row(m)[c].exp()).collect();
        let named = model.classes.iter().enumerate();
        columns.extend(named.map(|(c, name)| Column::numeric(format!("p_{name}"), of_class(c))));
    }
    columns
}

/// A column of the predicted classes.
fn classes(model: &Model, predictions: &Predictions, name: String) -> Column {
    let codes = (0..predictions.len()).map(|m| Some(predictions.class(m)));
    Column::categorical(name, model.classes.clone(), Codes::from_options(model.classes.len(), codes))
}

/// A column of prediction sets: names of classes joined by `|`, where a `|` or `\` of a name stands behind a `\`. A set
/// without classes is an empty cell.
fn sets(model: &Model, belongs: &[bool]) -> Column {
    let names: Vec<String> =
        model.classes.iter().map(|name| name.replace('\\', r"\\").replace('|', r"\|")).collect();
    let set = |row: &[bool]| {
        let members: Vec<&str> =
            names.iter().zip(row).filter(|(_, belongs)| **belongs).map(|(name, _)| name.as_str()).collect();
        members.join("|")
    };
    text_column("set", &belongs.chunks(model.classes.len()).map(set).collect::<Vec<_>>())
}

/// A column of free text; an empty text is a missing cell.
fn text_column(name: &str, texts: &[String]) -> Column {
    let mut distinct: Vec<String> = texts.iter().filter(|text| !text.is_empty()).cloned().collect();
    distinct.sort();
    distinct.dedup();
    let codes = Codes::from_options(distinct.len(), texts.iter().map(|t| distinct.binary_search(t).ok()));
    Column::categorical(name, distinct, codes)
}
