//! The page of a fitted model: facts, networks, tables of nodes, cuts, curves, and chosen decisions.

use super::{Detail, Page, Section};
use crate::chart::{Axis, Figure, Grid, LegendEntry, Line, LineChart, heat_map, series_styles, waterfall};
use crate::network::network_fragment;
use crate::table::{Cell, DataTable, percent};
use hingenet::report::{
    CurveFigure, Decision, DecisionTerm, HeatMap, ModelReport, NetworkPicture, NodeTable,
};

/// States of a node shown in its table.
const STATES: usize = 25;
/// Nodes whose tables are on the page.
const TABLES: usize = 300;
/// Points of a curve that its table lists.
const TABLE_POINTS: usize = 21;

/// The model as one HTML file. An error can only come from the page's own template.
pub fn model_page(report: &ModelReport) -> Result<String, String> {
    let mut sections = Vec::new();
    sections.extend(networks(report));
    sections.extend(report.class_networks.iter().flat_map(super::network::sections));
    sections.extend(decisions(report));
    sections.extend(curves(report));
    sections.extend(tables(report));
    sections.extend(cuts(report));
    sections.push(facts(report));
    let page = Page {
        title: format!("{} for {}", report.model, report.target),
        kind: "Fitted model".into(),
        facts: report.facts.iter().skip(2).take(4).map(|(name, value)| format!("{name}: {value}")).collect(),
        verdict: String::new(),
        cards: Vec::new(),
        sections,
    };
    page.html().map_err(|e| e.to_string())
}

fn networks(report: &ModelReport) -> Option<Section> {
    if report.networks.is_empty() {
        return None;
    }
    let several = report.networks.len() > 1;
    let mut section = Section::new(
        "network",
        if several { "Networks" } else { "Network" },
        "Nodes are columns, the class is marked. An arc between features means that they depend on each other even \
         when the class is known; dashed arcs come from the class.",
    );
    // tables belong to one network only
    let anchor = if several || report.tables.is_empty() { None } else { Some("node-") };
    if anchor.is_some() {
        section.text.push("A click on a node, or Enter, opens its table of probabilities.".into());
    }
    section.figures = report.networks.iter().enumerate().map(|(k, n)| network(n, k, anchor)).collect();
    Some(section)
}

fn network(picture: &NetworkPicture, number: usize, anchor: Option<&str>) -> Figure {
    let unit = picture.strength.as_deref().unwrap_or("strength");
    let name = |i: usize| picture.nodes[i].name.clone();
    let mut arcs: Vec<_> = picture.arcs.iter().filter(|a| !picture.nodes[a.from].is_class).collect();
    arcs.sort_by(|a, b| b.strength.abs().total_cmp(&a.strength.abs()));
    let mut table = DataTable::new("Arcs between features, strongest first", &["from", "to", unit]);
    table.rows = arcs
        .iter()
        .take(500)
        .map(|a| vec![Cell::text(name(a.from)), Cell::text(name(a.to)), Cell::number(a.strength, 4)])
        .collect();
    let reading = match &picture.strength {
        Some(unit) => format!("The wider an arc, the larger its strength ({unit})."),
        None => "All arcs come from the class: features count independently once the class is known.".into(),
    };
    let mut figure = Figure::new(
        format!("network-{number}"),
        picture.title.clone(),
        reading,
        network_fragment(picture, anchor),
        table,
    );
    figure.is_wide = true;
    figure
}

fn decisions(report: &ModelReport) -> Option<Section> {
    if report.decisions.is_empty() {
        return None;
    }
    let mut section = Section::new(
        "decisions",
        "Decisions explained",
        "Each bar is a term of the score; blue speaks for the class decided for, orange against it, compared with the \
         mean of all classes.",
    );
    section.figures = report.decisions.iter().map(|d| decision(d, &report.classes)).collect();
    Some(section)
}

fn decision(d: &Decision, classes: &[String]) -> Figure {
    let base = d.is_additive.then(|| ("before any feature".to_string(), d.base));
    let others = d.others.map(|(n, sum)| (format!("{n} smaller terms"), sum));
    let terms = |name: &dyn Fn(&DecisionTerm) -> String| -> Vec<(String, f64)> {
        let terms = d.terms.iter().map(|t| (name(t), t.score));
        base.iter().cloned().chain(terms).chain(others.clone()).collect()
    };
    let steps = terms(&|t| t.cell.clone());
    let total = d.is_additive.then_some(d.total);
    let mut table = DataTable::new("Terms", &["term", "score"]);
    let in_full = terms(&|t| match t.given.as_slice() {
        [] => t.cell.clone(),
        given => format!("{} given {}", t.cell, given.join(", ")),
    });
    let rows = in_full.into_iter().chain(total.map(|t| ("total".to_string(), t)));
    table.rows = rows.map(|(name, v)| vec![Cell::text(name), Cell::number(v, 4)]).collect();
    let mut ranked: Vec<(&String, f64)> = classes.iter().zip(d.probabilities.iter().copied()).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let probable: Vec<String> =
        ranked.iter().take(4).map(|(c, p)| format!("{c} {} %", percent(*p))).collect();
    let reading = if d.is_additive {
        format!(
            "The terms, each given the parents of its feature, add up to the score. Probabilities: {}.",
            probable.join(", ")
        )
    } else {
        format!(
            "Each term is what the log-odds lose without that feature. Probabilities: {}.",
            probable.join(", ")
        )
    };
    Figure::new(
        format!("decision-{}", d.row),
        format!("Row {}: {}", d.row, d.class),
        reading,
        waterfall(&format!("Terms of row {}", d.row), "score, nats", &steps, total),
        table,
    )
}

fn curves(report: &ModelReport) -> Option<Section> {
    if report.curves.is_empty() && report.maps.is_empty() {
        return None;
    }
    let mut section = Section::new(
        "terms",
        "Terms of the score",
        "What a single feature, or a pair, adds to the score of a class.",
    );
    section.figures = report.curves.iter().enumerate().map(|(k, f)| curve_figure(f, k)).collect();
    section.figures.extend(report.maps.iter().enumerate().map(|(k, m)| heat_figure(m, k)));
    Some(section)
}

fn curve_figure(figure: &CurveFigure, number: usize) -> Figure {
    let names: Vec<&str> = figure.curves.iter().map(|c| c.name.as_str()).collect();
    let styles = series_styles(&names);
    let points = || figure.curves.iter().flat_map(|c| c.points.iter());
    let x = Axis::over(&figure.x, points().map(|p| p.0));
    let y = Axis::over(
        &figure.y,
        points()
            .map(|p| p.1)
            .chain(figure.curves.iter().flat_map(|c| c.band.iter().flat_map(|b| [b.0, b.1]))),
    );
    let mut chart = LineChart::new(figure.title.clone(), x, y);
    let line =
        |(c, style): (&'_ hingenet::report::Curve, &crate::chart::SeriesStyle)| (c.name.clone(), *style);
    let legend: Vec<(String, crate::chart::SeriesStyle)> =
        figure.curves.iter().zip(&styles).map(line).collect();
    chart.lines = figure
        .curves
        .iter()
        .zip(&styles)
        .map(|(c, style)| Line {
            name: &c.name,
            style: *style,
            points: &c.points,
            band: &c.band,
            markers: false,
            dashed: false,
            labels: Vec::new(),
        })
        .collect();
    let mut table = DataTable::new(
        format!("{}, some of its points", figure.title),
        &["curve", figure.x.as_str(), figure.y.as_str()],
    );
    for curve in &figure.curves {
        let step = curve.points.len().div_ceil(TABLE_POINTS).max(1);
        for (x, y) in curve.points.iter().step_by(step) {
            table.rows.push(vec![Cell::text(curve.name.clone()), Cell::number(*x, 4), Cell::number(*y, 4)]);
        }
    }
    Figure::new(format!("curve-{number}"), figure.title.clone(), figure.reading.clone(), chart.svg(), table)
        .with_legend(legend.into_iter().map(|(name, style)| LegendEntry::new(name, style)).collect())
}

fn heat_figure(map: &HeatMap, number: usize) -> Figure {
    let text = |v: &f64| format!("{v:.2}");
    let grid = Grid {
        label: map.title.clone(),
        x: &map.x,
        y: &map.y,
        columns: &map.columns,
        rows: &map.rows,
        values: &map.values,
        texts: map.values.iter().map(|row| row.iter().map(text).collect()).collect(),
        full: map.values.iter().flatten().map(|v| v.abs()).fold(0.0, f64::max),
    };
    let mut table = DataTable { caption: map.title.clone(), header: vec![map.y.clone()], rows: Vec::new() };
    table.header.extend(map.columns.iter().cloned());
    table.rows = map
        .rows
        .iter()
        .zip(&map.values)
        .map(|(name, row)| {
            let mut cells = vec![Cell::text(name.clone())];
            cells.extend(row.iter().map(|v| Cell::number(*v, 4)));
            cells
        })
        .collect();
    Figure::new(format!("map-{number}"), map.title.clone(), map.reading.clone(), heat_map(&grid), table)
}

fn tables(report: &ModelReport) -> Option<Section> {
    if report.tables.is_empty() {
        return None;
    }
    let mut section = Section::new(
        "tables",
        "Probability tables",
        "The probability of each state of a node for each state of its parents.",
    );
    if report.tables.len() > TABLES {
        section.text.push(format!("The first {TABLES} of {} nodes.", report.tables.len()));
    }
    section.details = report.tables.iter().take(TABLES).enumerate().map(|(i, t)| detail(t, i)).collect();
    Some(section)
}

fn detail(node: &NodeTable, number: usize) -> Detail {
    let mut notes = Vec::new();
    if node.is_class {
        notes.push("the class".to_string());
    }
    notes.push(match node.parents.as_slice() {
        [] => "no parents".to_string(),
        parents => format!("given {}", parents.join(", ")),
    });
    if node.states.len() > STATES {
        notes.push(format!("the first {STATES} of {} states", node.states.len()));
    }
    if node.rows.len() < node.total_rows {
        notes.push(format!("the {} most probable of {} rows", node.rows.len(), node.total_rows));
    }
    let mut table = DataTable {
        caption: format!("P({} | parents)", node.node),
        header: node.parents.clone(),
        rows: Vec::new(),
    };
    if node.parents.is_empty() {
        table.header.push("".into());
    }
    table.header.extend(node.states.iter().take(STATES).cloned());
    table.rows = node
        .rows
        .iter()
        .map(|row| {
            let mut cells: Vec<Cell> = row.given.iter().map(|g| Cell::text(g.clone())).collect();
            if cells.is_empty() {
                cells.push(Cell::text("probability"));
            }
            cells.extend(row.probabilities.iter().take(STATES).map(|p| Cell::number(*p, 4)));
            cells
        })
        .collect();
    Detail { id: format!("node-{number}"), name: node.node.clone(), note: notes.join("; "), table }
}

fn cuts(report: &ModelReport) -> Option<Section> {
    if report.cuts.is_empty() {
        return None;
    }
    let mut section = Section::new(
        "cuts",
        "Intervals of numbers",
        "A number counts by the interval it falls into; a cut belongs to the interval below it. A column without cuts \
         tells nothing about the class by itself.",
    );
    let mut table = DataTable::new("Cut points", &["column", "intervals", "cuts"]);
    table.rows = report
        .cuts
        .iter()
        .map(|c| {
            let first: Vec<String> = c.cuts.iter().take(40).map(|c| digits(*c)).collect();
            let more = if c.cuts.len() > 40 { ", …" } else { "" };
            vec![
                Cell::text(c.feature.clone()),
                Cell::number(c.cuts.len() as f64 + 1.0, 0),
                Cell::text(format!("{}{more}", first.join(", "))),
            ]
        })
        .collect();
    section.tables.push(table);
    Some(section)
}

fn facts(report: &ModelReport) -> Section {
    let mut section = Section::new("facts", "Facts", format!("Classes: {}.", report.classes.join(", ")));
    section.text.extend(report.warnings.iter().map(|w| format!("Warning: {w}")));
    let mut table = DataTable::new("How the model came about", &["fact", "value"]);
    table.rows = report
        .facts
        .iter()
        .map(|(name, value)| vec![Cell::text(name.clone()), Cell::text(value.clone())])
        .collect();
    section.tables.push(table);
    section
}

/// A number with at most seven significant digits, without trailing zeros.
fn digits(x: f64) -> String {
    let rounded: f64 = format!("{x:.6e}").parse().unwrap_or(x);
    rounded.to_string()
}
