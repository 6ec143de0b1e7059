//! `hingenet explain`

use super::predict::Unseen;
use crate::failure::usage;
use crate::options::Reader;
use crate::output;
use crate::session::Session;
use crate::show;
use anyhow::Result;
use clap::Args;
use hingenet::model::Model;
use hingenet::table::{ColumnData, Table, UnseenPolicy};
use hingenet::{Explanation, ExplanationKind, Term};
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
    /// What to do with categories that training has not seen
    #[arg(long, value_enum, default_value_t = Unseen::Missing)]
    unseen: Unseen,
    #[command(flatten)]
    reader: Reader,
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
        output::write(None, decision.fully(self.row).as_bytes())
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
}

impl<'a> Decision<'a> {
    /// Classifies and explains row `m`; terms are sorted, largest first.
    pub fn new(model: &'a Model, rows: &Table, m: usize, unseen: UnseenPolicy) -> Result<Self> {
        let one = rows.rows(&[m]);
        let predictions = model.predict(&one, unseen)?;
        let class = predictions.class(0);
        let mut explanation = model.explain(&one, 0, unseen)?;
        let size = |t: &Term| t.against_mean(class).abs();
        explanation.terms.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let (row, _) = model.schema.align(&one, unseen)?;
        Ok(Decision { model, row, explanation, log_proba: predictions.log_proba, class })
    }

    /// The largest terms in one line.
    pub fn shortly(&self, n: usize) -> String {
        let term = |t: &Term| format!("{} {:+.2}", self.cell(t.feature), t.against_mean(self.class));
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
        let base = Term { feature: 0, given: Vec::new(), scores: self.explanation.base.clone() };
        let mut rows = vec![vec!["(before any feature)".to_string(), signed(base.against_mean(self.class))]];
        rows.extend(
            self.explanation.terms.iter().map(|t| vec![self.term(t), signed(t.against_mean(self.class))]),
        );
        text += "\n";
        text += &show::table(&["term", &head], rows);
        text
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
}

fn signed(x: f64) -> String {
    format!("{x:+.4}")
}
