//! `hingenet explain`

use super::Run;
use super::predict::Unseen;
use crate::failure::usage;
use crate::options::Reader;
use crate::output::{self, Files};
use crate::session::Session;
use crate::show;
use anyhow::Result;
use clap::{Args, ValueEnum};
use hingenet::model::Model;
use hingenet::table::ColumnData;
use hingenet::{Explanation, ExplanationKind, Term};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Args)]
pub struct Explain {
    /// Model file made by `hingenet fit`
    model: PathBuf,
    /// Rows, one of which to explain; - reads stdin
    data: PathBuf,
    /// Row to explain, counted from 1
    #[arg(long, value_name = "N")]
    row: usize,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// What to do with categories that training has not seen
    #[arg(long, value_enum, default_value_t = Unseen::Missing)]
    unseen: Unseen,
    #[command(flatten)]
    reader: Reader,
}

impl Run for Explain {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads([&self.model, &self.data]).writes_result(None))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let rows = self.reader.for_model(&self.data, &model, session)?;
        if self.row == 0 || self.row > rows.n_rows() {
            return Err(usage(
                format!("--row {}: there is no such row", self.row),
                format!("rows are counted from 1 to {}", rows.n_rows()),
            ));
        }
        let explanation = model.explain(&rows, self.row - 1, self.unseen.into())?;
        let text = match self.format {
            Format::Text => fully(&model, &explanation, self.row),
            Format::Json => serde_json::to_string_pretty(&json(&model, &explanation, self.row))? + "\n",
        };
        output::write(None, text.as_bytes())
    }
}

/// The largest terms in one line.
pub fn shortly(explanation: &Explanation, n: usize) -> String {
    let class = explanation.class();
    let term = |t: &Term| format!("{} {:+.2}", explanation.cell(t.feature), explanation.effect(t, class));
    explanation.terms.iter().take(n).map(term).collect::<Vec<_>>().join("; ")
}

/// All terms, as a table.
fn fully(model: &Model, explanation: &Explanation, number: usize) -> String {
    let class = explanation.class();
    let name = &model.classes[class];
    let mut text = format!("row {number}: {} = {name}\n\n", model.target);
    let probability = |(c, l): (&String, &f64)| vec![c.clone(), format!("{:.4}", l.exp())];
    let classes = model.classes.iter().zip(&explanation.log_proba);
    text += &show::table(&["class", "probability"], classes.map(probability));
    let head = match explanation.kind {
        ExplanationKind::Additive => format!("score for {name}, against the mean of all classes"),
        ExplanationKind::LeaveOneOut => format!("change of the log-odds of {name} by this feature"),
    };
    let base = explanation.level(&explanation.base, class);
    let mut rows = vec![vec!["(before any feature)".to_string(), format!("{base:+.4}")]];
    let row = |t: &Term| vec![term(explanation, t), format!("{:+.4}", explanation.effect(t, class))];
    rows.extend(explanation.terms.iter().map(row));
    text += "\n";
    text += &show::table(&["term", &head], rows);
    if let Some(next) = explanation.next.as_ref().filter(|next| !next.is_empty()) {
        let row = |(j, nats): &(usize, f64)| vec![feature(explanation, *j).to_string(), format!("{nats:.4}")];
        text += "\n";
        text += &show::table(&["what to measure next", "expected information (nats)"], next.iter().map(row));
    }
    text
}

/// The same as data.
fn json(model: &Model, explanation: &Explanation, number: usize) -> Value {
    let class = explanation.class();
    let classes = model.classes.iter().zip(&explanation.log_proba);
    let term = |t: &Term| {
        json!({
            "feature": feature(explanation, t.feature),
            "value": value(explanation, t.feature),
            "given": t.given.iter().map(|&g| feature(explanation, g)).collect::<Vec<_>>(),
            "effect": explanation.effect(t, class),
        })
    };
    let kind = match explanation.kind {
        ExplanationKind::Additive => "score_against_mean",
        ExplanationKind::LeaveOneOut => "log_odds_change",
    };
    let next = explanation.next.as_ref().map(|next| {
        let one =
            |(j, nats): &(usize, f64)| json!({"feature": feature(explanation, *j), "information": nats});
        next.iter().map(one).collect::<Vec<_>>()
    });
    json!({
        "row": number,
        "class": model.classes[class],
        "probabilities": classes.map(|(c, l)| (c.clone(), json!(l.exp()))).collect::<Map<_, _>>(),
        "kind": kind,
        "base": explanation.level(&explanation.base, class),
        "terms": explanation.terms.iter().map(term).collect::<Vec<_>>(),
        "next": next,
    })
}

fn term(explanation: &Explanation, term: &Term) -> String {
    let given: Vec<String> = term.given.iter().map(|&g| explanation.cell(g)).collect();
    let own = explanation.cell(term.feature);
    if given.is_empty() { own } else { format!("{own} given {}", given.join(", ")) }
}

fn feature(explanation: &Explanation, at: usize) -> &str {
    explanation.row.column(at).name()
}

fn value(explanation: &Explanation, at: usize) -> Value {
    match explanation.row.column(at).data() {
        ColumnData::Numeric(n) => json!(n.get(0)),
        ColumnData::Categorical(c) => json!(c.get(0)),
    }
}
