//! What the rows look like: classes and missing cells.

use crate::chart::{Bar, Figure, SeriesStyle, bar_chart};
use crate::table::{Cell, DataTable, percent};
use hingenet::report::{DataFindings, Share};

/// Bars of a chart.
const BARS: usize = 20;

/// How often each class occurs.
pub fn class_balance(findings: &DataFindings) -> Figure {
    let mut classes: Vec<_> = findings.classes.iter().collect();
    classes.sort_by(|a, b| b.share.total_cmp(&a.share));
    let bar = |c: &&Share| Bar {
        label: c.name.clone(),
        value: c.share,
        text: format!("{} % ({})", percent(c.share), c.count),
    };
    let bars: Vec<Bar> = classes.iter().take(BARS).map(bar).collect();
    let mut table = DataTable::new("Classes", &["class", "rows", "share of the weight %"]);
    table.rows = classes
        .iter()
        .map(|c| vec![Cell::text(c.name.clone()), Cell::number(c.count as f64, 0), Cell::percent(c.share)])
        .collect();
    let more = if classes.len() > BARS {
        format!(" The {BARS} most frequent of {} classes.", classes.len())
    } else {
        String::new()
    };
    Figure::new(
        "class-balance",
        "Class balance",
        format!("Share of the rows (and their number) in each class.{more}"),
        bar_chart("Share of each class", &bars, SeriesStyle { colour: 0, marker: 0 }),
        table,
    )
}

/// Where cells are missing.
pub fn missing_columns(findings: &DataFindings) -> Option<Figure> {
    if findings.missing.is_empty() {
        return None;
    }
    let bar =
        |m: &Share| Bar { label: m.name.clone(), value: m.share, text: format!("{} %", percent(m.share)) };
    let bars: Vec<Bar> = findings.missing.iter().take(BARS).map(bar).collect();
    let mut table = DataTable::new("Missing cells", &["column", "cells", "share %"]);
    table.rows = findings
        .missing
        .iter()
        .take(200)
        .map(|m| vec![Cell::text(m.name.clone()), Cell::number(m.count as f64, 0), Cell::percent(m.share)])
        .collect();
    let n = findings.missing.len();
    let more = if n > BARS { format!(" The {BARS} worst of {n} columns.") } else { String::new() };
    Some(Figure::new(
        "missing-columns",
        "Missing cells by column",
        format!("Share of the cells of a column that are missing.{more}"),
        bar_chart("Missing cells by column", &bars, SeriesStyle { colour: 4, marker: 0 }),
        table,
    ))
}
