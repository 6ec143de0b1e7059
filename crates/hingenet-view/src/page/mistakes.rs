//! The part of an evaluation about mistakes: which classes are taken for which, and which rows.

use super::figures::{self, Drawn};
use super::{Detail, Section, Tab};
use crate::table::{Cell, DataTable};
use hingenet::report::{EvaluationReport, ModelResult};

/// Confusion matrices, figures of each class and the rows that were answered wrongly.
pub fn section(report: &EvaluationReport, drawn: &[Drawn]) -> Section {
    let classes = &report.evaluation.data.classes;
    let mut section =
        Section::new("mistakes", "Mistakes", "Which classes are taken for which, over all test rows.");
    section.tabs = drawn
        .iter()
        .map(|d| Tab {
            id: format!("mistakes-{}", d.index),
            name: d.study.model.clone(),
            figures: vec![figures::confusion(d, &report.evaluation.results[d.index].confusion, classes)],
            tables: vec![class_table(&report.evaluation.results[d.index])],
            ..Tab::default()
        })
        .collect();
    section.details = drawn.iter().filter(|d| !d.is_baseline()).filter_map(wrong_rows).collect();
    section
}

/// Each class against the rest, as the model answers.
fn class_table(result: &ModelResult) -> DataTable {
    let mut table = DataTable::new(
        format!(
            "{}: each class against the rest, with 95 % intervals and true and false positives and negatives",
            result.model
        ),
        &["class", "sensitivity %", "specificity %", "PPV %", "NPV %", "TP", "FP", "FN", "TN"],
    );
    for k in figures::most_frequent(&result.confusion).into_iter().map(|c| &result.classes[c]) {
        let shares = [k.sensitivity, k.specificity, k.ppv, k.npv].map(|p| match p {
            Some(p) => Cell::percent_interval(p.value, p.interval.low, p.interval.high),
            None => Cell::optional(None, Cell::percent),
        });
        let n = &k.counts;
        let counts = [n.true_positives, n.false_positives, n.false_negatives, n.true_negatives];
        let cells = shares.into_iter().chain(counts.map(Cell::amount));
        table.rows.push(std::iter::once(Cell::text(k.class.clone())).chain(cells).collect());
    }
    table
}

/// The rows that a model got wrong; none if there are none.
fn wrong_rows(d: &Drawn) -> Option<Detail> {
    let (listed, all) = (&d.study.mistakes, d.study.n_mistakes);
    let mut table = DataTable::new(
        format!("Test rows that {} answered wrongly, the least probable true classes first", d.study.model),
        &["row", "true class", "its probability %", "answer", "its probability %", "fold"],
    );
    table.rows = listed
        .iter()
        .map(|m| {
            vec![
                Cell::number(m.row as f64, 0),
                Cell::text(m.class.clone()),
                Cell::percent(m.of_class),
                Cell::text(m.answer.clone()),
                Cell::percent(m.of_answer),
                Cell::number(m.fold as f64, 0),
            ]
        })
        .collect();
    let note = if listed.len() < all {
        format!("the worst {} of {all}, by number in the file", listed.len())
    } else {
        format!("all {all}, by number in the file")
    };
    (!listed.is_empty()).then(|| Detail {
        id: format!("wrong-{}", d.index),
        name: format!("Rows that {} got wrong", d.study.model),
        note,
        table,
    })
}
