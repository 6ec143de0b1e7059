//! One class against the rest at a threshold of its probability: a table that a slider moves, and what acting on the
//! probability is worth. Without its script the page shows the table for the answers as they were given.

use super::figures::{self, Drawn};
use super::{Section, Tab};
use crate::table::{Cell, DataTable};
use hingenet::report::{EvaluationReport, ModelResult};
use serde::Serialize;

/// A table with what it needs to follow a threshold.
#[derive(Debug, Clone, Serialize)]
pub struct Panel {
    /// The table of the first model and class.
    table: DataTable,
    /// How often each row was tested.
    repeats: usize,
    /// One a model and class, those of the table first.
    series: Vec<Series>,
}

/// Rows of one class, and of the rest, that reach the thresholds 1 to 99 %, as one model states the probabilities.
#[derive(Debug, Clone, Serialize)]
struct Series {
    model: String,
    class: String,
    /// Rows of the class and of the rest.
    positive: f64,
    negative: f64,
    /// Those that reach each threshold, parted by blanks.
    found: String,
    alarms: String,
}

/// Classes that are offered.
const OFFERED: usize = 8;

/// The section; `classes` (those that have rows) and `drawn` in the order in which they are offered. None without a model that
/// tells rows apart.
pub fn section(report: &EvaluationReport, drawn: &[Drawn], classes: &[usize]) -> Option<Section> {
    let (first, &class) = (drawn.first()?, classes.first()?);
    let offered = &classes[..classes.len().min(OFFERED)];
    let mut section = Section::new(
        "thresholds",
        "Choosing a threshold",
        "Who looks for one class may answer it wherever its probability reaches a threshold: a low one finds more of its \
         rows and raises more false alarms. Intervals are Wilson's, over all tested rows.",
    );
    if offered.len() < classes.len() {
        section.text.push(format!("The {OFFERED} most frequent of {} classes.", classes.len()));
    }
    let result = |d: &Drawn| &report.evaluation.results[d.index];
    let series = drawn.iter().flat_map(|d| offered.iter().map(move |&c| series(result(d), c)));
    section.panel = Some(Panel {
        table: table(result(first), class),
        repeats: report.evaluation.protocol.repeats,
        series: series.collect(),
    });
    let tab = |&c: &usize| Tab {
        id: format!("threshold-{c}"),
        name: report.evaluation.data.classes[c].clone(),
        figures: vec![figures::decision_curve(&report.evaluation, drawn, c)],
        ..Tab::default()
    };
    section.tabs = offered.iter().map(tab).collect();
    Some(section)
}

/// The figures of the answers as they were given.
fn table(result: &ModelResult, c: usize) -> DataTable {
    let k = &result.classes[c];
    let n = &k.counts;
    let caption = format!(
        "{}: {} against the rest, answered where it is the most probable class",
        result.model, k.class
    );
    let mut table = DataTable::new(caption, &["figure", "share %", "95 % from", "95 % to", "rows"]);
    let amount = |n: f64| Cell::amount(n).text;
    let shares = [k.sensitivity, k.specificity, k.ppv, k.npv].map(|p| p.map(|p| (p.value, p.interval)));
    let counted = [
        ("sensitivity: rows of the class that are found", n.true_positives, n.false_negatives),
        ("specificity: other rows left alone", n.true_negatives, n.false_positives),
        ("PPV: answers of the class that are right", n.true_positives, n.false_positives),
        ("NPV: other answers that are right", n.true_negatives, n.false_negatives),
    ];
    for ((name, right, wrong), share) in counted.into_iter().zip(shares) {
        table.rows.push(vec![
            Cell::text(name),
            Cell::optional(share.map(|s| s.0), Cell::percent),
            Cell::optional(share.map(|s| s.1.low), Cell::percent),
            Cell::optional(share.map(|s| s.1.high), Cell::percent),
            Cell { is_number: true, ..Cell::text(format!("{} of {}", amount(right), amount(right + wrong))) },
        ]);
    }
    table
}

fn series(result: &ModelResult, c: usize) -> Series {
    let class = &result.classes[c];
    let list = |of: &dyn Fn(usize) -> f64| {
        (0..class.thresholds.len()).map(|k| of(k).to_string()).collect::<Vec<_>>().join(" ")
    };
    Series {
        model: result.model.clone(),
        class: class.class.clone(),
        positive: class.counts.true_positives + class.counts.false_negatives,
        negative: class.counts.false_positives + class.counts.true_negatives,
        found: list(&|k| class.thresholds[k].true_positives),
        alarms: list(&|k| class.thresholds[k].false_positives),
    }
}
