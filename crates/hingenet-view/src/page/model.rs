//! The page of a fitted model: facts, networks, tables of nodes, cuts, curves, and chosen decisions.

use super::{Detail, Page, Section, terms};
use crate::chart::{Figure, SeriesStyle, series_styles, waterfall};
use crate::explorer::Exploration;
use crate::network::network_fragment;
use crate::table::{Cell, DataTable, percent, rounded};
use hingenet::report::{Decision, ModelReport, NetworkPicture, NodeTable};

/// States of a node shown in its table.
const STATES: usize = 25;
/// Mark of a probability that no training row is behind.
const UNSEEN: &str = "°";
/// Nodes whose tables are on the page.
const TABLES: usize = 300;

/// The model as one HTML file, with an explorer of it where one is given. An error can only come from the page's own
/// template.
pub fn model_page(report: &ModelReport, exploration: Option<&Exploration>) -> Result<String, String> {
    let mut sections = Vec::new();
    sections.extend(networks(report));
    sections.extend(report.class_networks.iter().flat_map(super::network::sections));
    sections.extend(decisions(report));
    sections
        .extend(report.importance.iter().filter_map(|i| super::importance::section(i, "rows of the table")));
    sections.extend(curves(report));
    sections.extend(tables(report));
    sections.extend(cuts(report));
    sections.push(Section::facts(
        format!("Classes: {}.", report.classes.join(", ")),
        "How the model came about",
        &report.origin,
    ));
    let page = Page {
        title: format!("{} for {}", report.model, report.target),
        kind: "Fitted model".into(),
        facts: report
            .origin
            .facts
            .iter()
            .skip(1)
            .take(4)
            .map(|(name, value)| format!("{name}: {value}"))
            .collect(),
        about: report.about.clone(),
        explorer: exploration.map(Exploration::json),
        is_served: exploration.is_some_and(Exploration::is_served),
        sections,
        ..Page::default()
    };
    page.html().map_err(|e| e.to_string())
}

fn networks(report: &ModelReport) -> Option<Section> {
    if report.networks.is_empty() {
        return None;
    }
    let several = report.networks.len() > 1;
    let text = if report.networks.iter().all(|n| n.is_directed) {
        "Nodes are columns, the class is marked. An arc between features means that they depend on each other even \
         when the class is known; dashed arcs come from the class."
    } else {
        "Nodes are columns. A line joins two columns whose joint density has a term of its own in the score."
    };
    let mut section = Section::new("network", if several { "Networks" } else { "Network" }, text);
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
    let (caption, ends) = match picture.is_directed {
        true => ("Arcs between features, strongest first", ["from", "to"]),
        false => ("Pairs of features, strongest first", ["first", "second"]),
    };
    let mut table = DataTable::new(caption, &[ends[0], ends[1], unit]);
    table.rows = arcs
        .iter()
        .take(500)
        .map(|a| vec![Cell::text(name(a.from)), Cell::text(name(a.to)), Cell::number(a.strength, 4)])
        .collect();
    let reading = match &picture.strength {
        Some(unit) if picture.is_directed => format!("The wider an arc, the larger its strength ({unit})."),
        Some(unit) => format!("The wider a line, the more the pair counts ({unit})."),
        None if !picture.is_directed => "No pair of features has a term of its own.".into(),
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
    let text = "From the log-odds of the class when nothing is known to those of the row: each bar is what one known feature adds, \
         averaged over all orders in which the features could become known (its Shapley value). Blue speaks for the class \
         decided for, orange against it. Log-odds are ln P/(1 − P): 0 is even, 2.2 is 90 %, 4.6 is 99 %.";
    let mut section = Section::about(&report.decisions, "decisions", "Decisions explained", text)?;
    section.figures = report.decisions.iter().map(|d| decision(d, &report.classes)).collect();
    Some(section)
}

fn decision(d: &Decision, classes: &[String]) -> Figure {
    let others = d.others.map(|(n, sum)| (format!("{n} smaller ones"), sum));
    let steps: Vec<(String, f64)> = std::iter::once(("nothing known".to_string(), d.base))
        .chain(d.values.iter().map(|v| (v.cell.clone(), v.value)))
        .chain(others)
        .collect();
    let mut table = DataTable::new("What each known feature adds", &["feature", "log-odds"]);
    let rows = steps.iter().cloned().chain([("total".to_string(), d.total)]);
    table.rows = rows.map(|(name, v)| vec![Cell::text(name), Cell::number(v, 4)]).collect();
    let mut ranked: Vec<(&String, f64)> = classes.iter().zip(d.probabilities.iter().copied()).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let probable: Vec<String> =
        ranked.iter().take(4).map(|(c, p)| format!("{c} {} %", percent(*p))).collect();
    let estimated = match d.values.iter().filter_map(|v| v.standard_error).reduce(f64::max) {
        Some(e) => {
            format!(" The values are means over random orders; their standard error is at most {e:.3}.")
        }
        None => String::new(),
    };
    Figure::new(
        format!("decision-{}", d.row),
        format!("Row {}: {}", d.row, d.class),
        format!("Probabilities: {}.{estimated}", probable.join(", ")),
        waterfall(
            &format!("Reasons for row {}", d.row),
            &format!("log-odds of {}", d.class),
            &steps,
            d.total,
        ),
        table,
    )
}

fn curves(report: &ModelReport) -> Option<Section> {
    if report.curves.is_empty() && report.maps.is_empty() {
        return None;
    }
    let mut section = Section::new("terms", "Terms of the score", "");
    section.text = report.terms.clone();
    let classes: Vec<&str> = report.classes.iter().map(String::as_str).collect();
    let styles = series_styles(&classes);
    section.figures = report
        .curves
        .iter()
        .enumerate()
        .map(|(k, f)| terms::curve_figure(f, k, &|name: &str| style_of(name, &classes, &styles)))
        .collect();
    section.figures.extend(report.maps.iter().enumerate().map(|(k, m)| terms::heat_figure(m, k)));
    Some(section)
}

/// A class looks the same in all figures.
fn style_of(name: &str, classes: &[&str], styles: &[SeriesStyle]) -> Option<SeriesStyle> {
    classes.iter().position(|c| *c == name).map(|c| styles[c])
}

fn tables(report: &ModelReport) -> Option<Section> {
    let text = "The probability of each state of a node for each state of its parents.";
    let mut section = Section::about(&report.tables, "tables", "Probability tables", text)?;
    if report.tables.iter().any(|t| t.rows.iter().any(|row| !row.support.is_empty())) {
        section.text.push(format!(
            "Training rows are those (their weight) that have these states of the parents. {UNSEEN} marks what no training row \
             had: such a number comes from smoothing alone."
        ));
    }
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
    let is_supported = node.rows.iter().any(|row| !row.support.is_empty());
    if is_supported {
        table.header.push("training rows".into());
    }
    table.rows = node
        .rows
        .iter()
        .map(|row| {
            let mut cells: Vec<Cell> = row.given.iter().map(|g| Cell::text(g.clone())).collect();
            if cells.is_empty() {
                cells.push(Cell::text("probability"));
            }
            let seen = |s: usize| row.support.get(s).is_none_or(|n| *n > 0.0);
            cells.extend(row.probabilities.iter().take(STATES).enumerate().map(|(s, p)| {
                let cell = Cell::number(*p, 4);
                if seen(s) { cell } else { cell.marked(UNSEEN) }
            }));
            if is_supported {
                cells.push(Cell::digits(row.support.iter().sum()));
            }
            cells
        })
        .collect();
    Detail { id: format!("node-{number}"), name: node.node.clone(), note: notes.join("; "), table }
}

fn cuts(report: &ModelReport) -> Option<Section> {
    let text = "A number counts by the interval it falls into; a cut belongs to the interval below it. A column without cuts \
         tells nothing about the class by itself.";
    let mut section = Section::about(&report.cuts, "cuts", "Intervals of numbers", text)?;
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

/// A number with at most seven significant digits, without trailing zeros.
fn digits(x: f64) -> String {
    rounded(x, 6).to_string()
}
