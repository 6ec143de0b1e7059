//! What the rows look like: classes and missing cells.

use crate::chart::{Bar, Figure, SeriesStyle, bar_chart, stacked_bars};
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

/// What each of the first `most` columns holds: type, range or categories, missing cells, values by class.
pub fn columns(findings: &DataFindings, most: usize) -> DataTable {
    let mut table = DataTable::new(
        "Feature columns of the data",
        &["column", "type", "different values", "range", "missing cells", "missing %", "values by class"],
    );
    let rows = findings.classes.iter().map(|c| c.count).sum::<usize>().max(1) as f64;
    table.rows = findings
        .columns
        .iter()
        .take(most)
        .map(|c| {
            let bins: Vec<&[f64]> = c.bins.iter().map(|b| b.classes.as_slice()).collect();
            let short = |x: f64| Cell::digits(x).text;
            let range = c.range.map(|(low, high)| format!("{} to {}", short(low), short(high)));
            vec![
                Cell::text(c.name.clone()),
                Cell::text(if c.is_numeric { "numbers" } else { "categories" }),
                Cell::number(c.distinct as f64, 0),
                Cell { is_number: true, ..Cell::text(range.unwrap_or("–".into())) },
                Cell::number(c.missing as f64, 0),
                Cell::percent(c.missing as f64 / rows),
                Cell::picture(stacked_bars(&format!("Values of {} by class", c.name), &bins)),
            ]
        })
        .collect();
    table
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
