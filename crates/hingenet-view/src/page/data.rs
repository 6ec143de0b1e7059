//! The part of an evaluation about its rows and columns.

use super::{Section, figures};
use crate::chart::class_colours;
use crate::table::{Cell, DataTable};
use hingenet::report::{EvaluationReport, Share};

/// Columns with a line of their own.
const COLUMNS: usize = 120;

/// Classes, missing cells and what else is worth knowing.
pub fn section(report: &EvaluationReport) -> Section {
    let f = &report.findings;
    let mut section = Section::new("data", "About the data", "");
    section.text.clear();
    section.text.extend(findings(report));
    section.figures.push(figures::class_balance(f));
    section.figures.extend(figures::missing_columns(f));
    if !f.patterns.is_empty() {
        let mut table =
            DataTable::new("Columns that are missing together, most frequent first", &["columns", "rows"]);
        table.rows =
            f.patterns.iter().map(|(p, n)| vec![Cell::text(listed(p)), Cell::number(*n as f64, 0)]).collect();
        section.tables.push(table);
    }
    section
}

/// What each column holds.
pub fn columns(report: &EvaluationReport) -> Section {
    let f = &report.findings;
    let (all, shown) = (f.columns.len(), COLUMNS.min(f.columns.len()));
    let mut text = "Each bar is an interval of numbers, from the smallest to the largest, or a category; its height is the number \
                    of rows, its colours are their classes. A column whose colours change from bar to bar tells the class."
        .to_string();
    if shown < all {
        text += &format!(" The first {shown} of {all} columns.");
    }
    let mut section = Section::new("columns", "Columns", text);
    section.keys = class_keys(&f.classes);
    section.tables.push(figures::columns(f, COLUMNS));
    section
}

/// The colours of the classes; those that share one stand together.
fn class_keys(classes: &[Share]) -> Vec<(String, String)> {
    let colours = class_colours(classes.len());
    let swatch = |colour: usize| {
        format!(
            "<svg viewBox=\"0 0 12 12\" width=\"12\" height=\"12\" aria-hidden=\"true\"><path class=\"bar s{colour}\" d=\"M0 0h12v12h-12z\"/></svg>"
        )
    };
    let mut keys: Vec<(String, String)> = Vec::new();
    for (k, same) in colours.chunk_by(|a, b| a == b).enumerate() {
        let name =
            if same.len() == 1 { classes[k].name.clone() } else { format!("{} other classes", same.len()) };
        keys.push((swatch(same[0]), name));
    }
    keys
}

/// What is worth knowing, a sentence each.
fn findings(report: &EvaluationReport) -> Vec<String> {
    let f = &report.findings;
    let mut text = Vec::new();
    if !f.constant.is_empty() {
        text.push(format!("Constant columns, which cannot help: {}.", listed(&f.constant)));
    }
    if !f.duplicates.is_empty() {
        let pairs: Vec<String> = f.duplicates.iter().map(|(a, b)| format!("{a} repeats {b}")).collect();
        text.push(format!("Repeated columns, which count twice in naive Bayes: {}.", listed(&pairs)));
    }
    if !f.id_like.is_empty() {
        let names: Vec<String> = f.id_like.iter().map(|(c, n)| format!("{c} ({n} values)")).collect();
        text.push(format!(
            "Columns that look like names or numbers of rows; leave them out with --ignore: {}.",
            listed(&names)
        ));
    }
    if !f.unseen.is_empty() {
        let names: Vec<String> = f
            .unseen
            .iter()
            .map(|u| format!("{} ({} cells, for example “{}”)", u.column, u.cells, u.first))
            .collect();
        text.push(format!(
            "Categories of test rows that the fit had not seen, counted as missing: {}.",
            listed(&names)
        ));
    }
    if f.repeated_rows > 0 {
        text.push(format!(
            "{} rows have the same features as another row, {} of them with another class: no model can get all of those right.",
            f.repeated_rows, f.contradicting_rows
        ));
    }
    if !f.missing.is_empty() {
        let rows = report.evaluation.data.rows;
        text.push(format!("{} of {rows} rows have no missing cell.", f.complete_rows));
    }
    if text.is_empty() {
        text.push("No constant, repeated or id-like columns, no missing cells, no repeated rows.".into());
    }
    text
}

/// The first names, and how many there are.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let first = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{first} and {} more", names.len() - SHOWN) } else { first }
}
