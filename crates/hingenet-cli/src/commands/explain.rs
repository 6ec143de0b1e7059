//! `hingenet explain`

use super::predict::Unseen;
use crate::failure::usage;
use crate::options::Reader;
use crate::output;
use crate::session::Session;
use crate::show;
use anyhow::Result;
use clap::{Args, ValueEnum};
use hingenet::model::Model;
use hingenet::table::{ColumnData, Table, UnseenPolicy};
use hingenet::{Explanation, ExplanationKind, Term};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

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

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Explain {
    pub fn run(&self, session: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let rows = self.reader.for_model(&self.data, &model, session)?;
        if self.row == 0 || self.row > rows.n_rows() {
            return Err(usage(
                format!("--row {}: there is no such row", self.row),
                format!("rows are counted from 1 to {}", rows.n_rows()),
            ));
        }
        let decision = Decision::new(&model, &rows, self.row - 1, self.unseen.into())?;
        let text = match self.format {
            Format::Text => decision.fully(self.row),
            Format::Json => serde_json::to_string_pretty(&decision.json(self.row))? + "\n",
        };
        output::write(None, text.as_bytes())
    }
}

/// One decision with everything needed to tell it.
pub struct Decision<'a> {
    model: &'a Model,
    /// The row, in the shape the model knows.
    row: Table,
    explanation: Explanation,
    log_proba: Vec<f64>,
    class: usize,
    /// Missing features with the information each would give, largest first; `None` if the model cannot say.
    next: Option<Vec<(usize, f64)>>,
}

impl<'a> Decision<'a> {
    /// Classifies and explains row `m`; terms are sorted, largest first.
    pub fn new(model: &'a Model, rows: &Table, m: usize, unseen: UnseenPolicy) -> Result<Self> {
        let one = rows.rows(&[m]);
        let predictions = model.predict(&one, unseen)?;
        let class = predictions.class(0);
        let mut explanation = model.explain(&one, 0, unseen)?;
        let mut terms = std::mem::take(&mut explanation.terms);
        terms.sort_by(|a, b| {
            let size = |t: &Term| explanation.effect(t, class).abs();
            size(b).total_cmp(&size(a))
        });
        explanation.terms = terms;
        let (row, _) = model.schema.align(&one, unseen)?;
        let next = model.next_measurements(&one, 0, unseen)?;
        Ok(Decision { model, row, explanation, log_proba: predictions.log_proba, class, next })
    }

    /// The largest terms in one line.
    pub fn shortly(&self, n: usize) -> String {
        let term =
            |t: &Term| format!("{} {:+.2}", self.cell(t.feature), self.explanation.effect(t, self.class));
        self.explanation.terms.iter().take(n).map(term).collect::<Vec<_>>().join("; ")
    }

    /// All terms, as a table.
    fn fully(&self, number: usize) -> String {
        let classes = &self.model.classes;
        let name = &classes[self.class];
        let mut text = format!("row {number}: {} = {name}\n\n", self.model.target);
        let probability = |(c, l): (usize, &f64)| vec![classes[c].clone(), format!("{:.4}", l.exp())];
        text += &show::table(&["class", "probability"], self.log_proba.iter().enumerate().map(probability));
        let head = match self.explanation.kind {
            ExplanationKind::Additive => format!("score for {name}, against the mean of all classes"),
            ExplanationKind::LeaveOneOut => format!("change of the log-odds of {name} by this feature"),
        };
        let explanation = &self.explanation;
        let base = explanation.level(&explanation.base, self.class);
        let mut rows = vec![vec!["(before any feature)".to_string(), signed(base)]];
        let row = |t: &Term| vec![self.term(t), signed(explanation.effect(t, self.class))];
        rows.extend(explanation.terms.iter().map(row));
        text += "\n";
        text += &show::table(&["term", &head], rows);
        if let Some(next) = self.next.as_ref().filter(|next| !next.is_empty()) {
            let row =
                |(j, bits): &(usize, f64)| vec![self.row.column(*j).name().to_string(), format!("{bits:.4}")];
            text += "\n";
            text +=
                &show::table(&["what to measure next", "expected information (nats)"], next.iter().map(row));
        }
        text
    }

    /// The same as data.
    fn json(&self, number: usize) -> Value {
        let explanation = &self.explanation;
        let classes = self.model.classes.iter().zip(&self.log_proba);
        let term = |t: &Term| {
            json!({
                "feature": self.row.column(t.feature).name(),
                "value": self.value(t.feature),
                "given": t.given.iter().map(|&g| self.row.column(g).name()).collect::<Vec<_>>(),
                "effect": explanation.effect(t, self.class),
            })
        };
        let kind = match explanation.kind {
            ExplanationKind::Additive => "score_against_mean",
            ExplanationKind::LeaveOneOut => "log_odds_change",
        };
        let next = self.next.as_ref().map(|next| {
            let one =
                |(j, nats): &(usize, f64)| json!({"feature": self.row.column(*j).name(), "information": nats});
            next.iter().map(one).collect::<Vec<_>>()
        });
        json!({
            "row": number,
            "class": self.model.classes[self.class],
            "probabilities": classes.map(|(c, l)| (c.clone(), json!(l.exp()))).collect::<Map<_, _>>(),
            "kind": kind,
            "base": explanation.level(&explanation.base, self.class),
            "terms": explanation.terms.iter().map(term).collect::<Vec<_>>(),
            "next": next,
        })
    }

    fn term(&self, term: &Term) -> String {
        let given: Vec<String> = term.given.iter().map(|&g| self.cell(g)).collect();
        let own = self.cell(term.feature);
        if given.is_empty() { own } else { format!("{own} given {}", given.join(", ")) }
    }

    fn cell(&self, feature: usize) -> String {
        let column = self.row.column(feature);
        let value = match column.data() {
            ColumnData::Numeric(n) => n.get(0).map(|x| x.to_string()),
            ColumnData::Categorical(c) => c.get(0).map(str::to_string),
        };
        format!("{} = {}", column.name(), value.unwrap_or("(missing)".into()))
    }

    fn value(&self, feature: usize) -> Value {
        match self.row.column(feature).data() {
            ColumnData::Numeric(n) => n.get(0).map_or(Value::Null, |x| json!(x)),
            ColumnData::Categorical(c) => c.get(0).map_or(Value::Null, |x| json!(x)),
        }
    }
}

fn signed(x: f64) -> String {
    format!("{x:+.4}")
}
