//! `hingenet predict`

use super::Run;
use super::explain;
use crate::output::{self, Files};
use crate::reader::Reader;
use crate::session::Session;
use anyhow::Result;
use clap::{Args, ValueEnum};
use hingenet::ShapleyParams;
use hingenet::model::{Model, Predictions};
use hingenet::table::{Codes, Column, Table, UnseenPolicy};
use std::path::PathBuf;

/// Reasons shown by `--explain`.
const TERMS: usize = 3;

#[derive(Args)]
pub struct Predict {
    /// Model file made by `hingenet fit`
    model: PathBuf,
    /// Rows to classify; they may lack columns or cells. - reads stdin
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

impl Run for Predict {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads([&self.model, &self.data]).writes_result(self.output.as_ref()))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let (rows, places) = self.reader.for_model(&self.data, &model, session)?;
        let (predictions, terms) = if self.terms {
            places.locate(model.predict_terms(&rows, self.unseen.into(), &session.control))?
        } else {
            let predicted = model.predict_watched(&rows, self.unseen.into(), &session.control);
            (places.locate(predicted)?, Vec::new())
        };
        session.control.check()?;
        session.done();
        self.reader.compare(&model, &rows, &predictions.report, session)?;
        let mut columns = answer(&model, &predictions, self.proba);
        if let Some(coverage) = self.coverage {
            columns.push(sets(&model, &model.prediction_sets(&predictions, coverage)?));
        }
        if self.terms && terms.is_empty() {
            session.note(&format!("{} has no terms of its own; --terms adds nothing", model.spec.name()));
        }
        columns.extend(terms.iter().map(|(name, p)| classes(&model, p, format!("prediction_{name}"))));
        if let Some(kind) = self.explain {
            columns.push(self.explanations(&model, &rows, kind, session)?);
        }
        output::write_table(self.output.as_ref(), &Table::new(columns)?, session)?;
        session.wrote(self.output.as_ref(), "");
        Ok(())
    }
}

impl Predict {
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

/// Row number, predicted class and, if asked for, class probabilities.
fn answer(model: &Model, predictions: &Predictions, proba: bool) -> Vec<Column> {
    let n = predictions.len();
    let mut columns = vec![
        Column::numeric("row", (1..=n).map(|m| m as f64).collect()),
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
