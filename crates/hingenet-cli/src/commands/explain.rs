//! `hingenet explain`

use super::Run;
use super::predict::{Gaps, Unseen};
use crate::failure::usage;
use crate::output::{self, Files};
use crate::page;
use crate::reader::Reader;
use crate::session::Session;
use crate::show;
use anyhow::Result;
use clap::{Args, ValueEnum};
use hingenet::model::Model;
use hingenet::table::ColumnData;
use hingenet::{Explanation, ExplanationKind, Reasons, ShapleyParams, Term};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Which reasons to give.
#[derive(Clone, Copy, ValueEnum)]
pub enum Kind {
    /// Shapley values: what each known feature adds to the log-odds of the class; they add up for every model
    Shapley,
    /// The terms of the class scores; of models or rows where they do not add up, what hiding one feature changes
    Terms,
}

impl Kind {
    /// The reasons, with the work they may cost.
    pub fn reasons(self, evaluations: usize, session: &Session) -> Reasons {
        match self {
            Kind::Shapley => Reasons::Shapley(ShapleyParams { evaluations, seed: session.seed }),
            Kind::Terms => Reasons::Terms,
        }
    }
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
    /// Which reasons to give
    #[arg(long, value_enum, default_value_t = Kind::Shapley)]
    kind: Kind,
    /// How often the model may be asked for Shapley values, about: all subsets of the known features if there are
    /// no more, else random orders (--seed), and a standard error is given
    #[arg(long, value_name = "N", default_value_t = ShapleyParams::default().evaluations)]
    evaluations: usize,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// What to do with categories that training has not seen
    #[arg(long, value_enum, default_value_t = Unseen::Missing)]
    unseen: Unseen,
    /// What a missing cell means, to a pool that has learnt that gaps tell the class
    #[arg(long, value_enum, default_value_t = Gaps::AsInTraining)]
    gaps: Gaps,
    #[command(flatten)]
    reader: Reader,
}

impl Run for Explain {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads([&self.model, &self.data]).writes_result(None))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let mut model = Model::load(&self.model)?;
        model.read_gaps(self.gaps.into());
        let (rows, places) = self.reader.for_model(&self.data, &model, session)?;
        if self.row == 0 || self.row > rows.n_rows() {
            return Err(usage(
                format!("--row {}: there is no such row", self.row),
                format!("rows are counted from 1 to {}", rows.n_rows()),
            ));
        }
        let at = self.row - 1;
        let row = (rows.one_row(at)?, places.rows(&[at]));
        self.reader.align(&model, &row, session)?;
        let (row, places) = row;
        let reasons = self.kind.reasons(self.evaluations, session);
        let explained = model
            .explanations(&row, self.unseen.into(), reasons, &session.control)
            .and_then(|mut found| found.next().transpose());
        let Some(explanation) = places.locate(explained)? else { return Ok(()) };
        match self.format {
            Format::Text => output::write_text(None, &fully(&model, &explanation, self.row)),
            Format::Json => {
                let mut found = json(&model, &explanation, self.row);
                found["file"] = json!(page::file_name(&self.data));
                output::write(None, output::json(&found)?.as_bytes())
            }
        }
    }
}

/// The largest reasons in one line.
pub fn shortly(explanation: &Explanation, n: usize) -> String {
    let class = explanation.class();
    let term = |t: &Term| format!("{} {:+.2}", explanation.cell(t.feature), explanation.effect(t, class));
    explanation.terms.iter().take(n).map(term).collect::<Vec<_>>().join("; ")
}

/// All reasons, as a table.
fn fully(model: &Model, explanation: &Explanation, number: usize) -> String {
    let class = explanation.class();
    let name = &model.classes[class];
    let mut text = format!("row {number}: {} = {name}\n\n", model.target);
    let probability = |(c, l): (&String, &f64)| vec![c.clone(), format!("{:.4}", l.exp())];
    let classes = model.classes.iter().zip(&explanation.log_proba);
    text += &show::table(&["class", "probability"], classes.map(probability));
    text += "\n";
    text += &match explanation.kind {
        ExplanationKind::Shapley => values(explanation, name),
        ExplanationKind::Additive => {
            terms(explanation, &format!("score for {name}, against the mean of all classes"))
        }
        ExplanationKind::LeaveOneOut => {
            terms(explanation, &format!("change of the log-odds of {name} by this feature"))
        }
    };
    if let Some(next) = explanation.next.as_ref().filter(|next| !next.is_empty()) {
        let row = |(j, nats): &(usize, f64)| vec![feature(explanation, *j).to_string(), format!("{nats:.4}")];
        text += "\n";
        text += &show::table(&["what to measure next", "expected information (nats)"], next.iter().map(row));
    }
    text
}

/// From the log-odds without any feature to those of the row.
fn values(explanation: &Explanation, class: &str) -> String {
    let c = explanation.class();
    let is_sampled = explanation.terms.iter().any(|t| t.standard_error.is_some());
    let odds = |name: &str, odds: f64| vec![name.to_string(), format!("{odds:+.4}")];
    let row = |t: &Term| {
        let mut row = odds(&explanation.cell(t.feature), t.scores[c]);
        row.extend(t.standard_error.as_ref().map(|e| format!("{:.4}", e[c])));
        row
    };
    let rows = std::iter::once(odds("(nothing known)", explanation.base[c]))
        .chain(explanation.terms.iter().map(row))
        .chain([odds("(all of these)", explanation.scores[c])]);
    let head = format!("log-odds of {class}");
    let head = ["feature", &head, "standard error"];
    show::table(&head[..if is_sampled { 3 } else { 2 }], rows)
}

fn terms(explanation: &Explanation, head: &str) -> String {
    let class = explanation.class();
    let base = explanation.level(&explanation.base, class);
    let row = |t: &Term| vec![term(explanation, t), format!("{:+.4}", explanation.effect(t, class))];
    let rows = std::iter::once(vec!["(before any feature)".to_string(), format!("{base:+.4}")])
        .chain(explanation.terms.iter().map(row));
    show::table(&["term", head], rows)
}

/// The same as data.
fn json(model: &Model, explanation: &Explanation, number: usize) -> Value {
    let class = explanation.class();
    let classes = model.classes.iter().zip(&explanation.log_proba);
    let next = explanation.next.as_ref().map(|next| {
        let one =
            |(j, nats): &(usize, f64)| json!({"feature": feature(explanation, *j), "information": nats});
        next.iter().map(one).collect::<Vec<_>>()
    });
    let mut out = json!({
        "row": number,
        "target": model.target,
        "model": model.spec.to_string(),
        "class": model.classes[class],
        "probabilities": classes.map(|(c, l)| (c.clone(), json!(l.exp()))).collect::<Map<_, _>>(),
        "kind": match explanation.kind {
            ExplanationKind::Shapley => "shapley",
            ExplanationKind::Additive => "score_against_mean",
            ExplanationKind::LeaveOneOut => "log_odds_change",
        },
        "base": explanation.level(&explanation.base, class),
        "next": next,
    });
    if explanation.kind == ExplanationKind::Shapley {
        let value = |t: &Term| {
            let mut one = json!({
                "feature": feature(explanation, t.feature),
                "cell": cell(explanation, t.feature),
                "value": t.scores[class],
            });
            t.standard_error.iter().for_each(|e| one["standard_error"] = json!(e[class]));
            one
        };
        out["values"] = explanation.terms.iter().map(value).collect();
        out["total"] = json!(explanation.scores[class]);
    } else {
        let term = |t: &Term| {
            json!({
                "feature": feature(explanation, t.feature),
                "value": cell(explanation, t.feature),
                "given": t.given.iter().map(|&g| feature(explanation, g)).collect::<Vec<_>>(),
                "effect": explanation.effect(t, class),
            })
        };
        out["terms"] = explanation.terms.iter().map(term).collect();
    }
    out
}

fn term(explanation: &Explanation, term: &Term) -> String {
    let given: Vec<String> = term.given.iter().map(|&g| explanation.cell(g)).collect();
    let own = explanation.cell(term.feature);
    if given.is_empty() { own } else { format!("{own} given {}", given.join(", ")) }
}

fn feature(explanation: &Explanation, at: usize) -> &str {
    explanation.row.column(at).name()
}

fn cell(explanation: &Explanation, at: usize) -> Value {
    match explanation.row.column(at).data() {
        ColumnData::Numeric(n) => json!(n.get(0)),
        ColumnData::Categorical(c) => json!(c.get(0)),
    }
}
