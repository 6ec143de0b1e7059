//! Pages to look at: written beside the results, each one HTML file that needs nothing else.

use crate::failure::usage;
use crate::options::Comparison;
use crate::output;
use crate::session::Session;
use anyhow::{Result, anyhow};
use hingenet::explore::Explorer;
use hingenet::model::{Knowledge, Model, NodeFacts};
use hingenet::report::{EvaluationReport, ModelReport};
use hingenet::table::Table;
use hingenet_data::file::{self, Target};
use hingenet_view::explorer::{Exploration, ROWS};
use std::path::{Path, PathBuf};

/// Shares of test cells blanked for the robustness curve of a report when none were asked for.
pub const RATES: [f64; 6] = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9];

/// Writes the page of an evaluation.
pub fn evaluation(path: &PathBuf, report: &EvaluationReport) -> Result<()> {
    let html = hingenet_view::evaluation_page(report).map_err(|e| anyhow!("the report failed: {e}"))?;
    output::write(Some(path), html.as_bytes())
}

/// Refuses to write a page to a file that no browser would open.
pub fn check_name(path: &Path) -> Result<()> {
    let is_page =
        path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html") || e.eq_ignore_ascii_case("htm"));
    let is_stream = || !output::is_file(path) || matches!(file::target(path), Ok(Target::Stream(_)));
    if is_page || is_stream() {
        return Ok(());
    }
    let problem = format!("--report {}: the report is a page in HTML", path.display());
    Err(usage(problem, "let the name end in .html; a browser can print the page to PDF"))
}

/// Writes the page of a model, to stdout if no file is given; with an explorer of the model where there is one.
pub fn model(path: Option<&PathBuf>, report: &ModelReport, exploration: Option<&Exploration>) -> Result<()> {
    let html = hingenet_view::model_page(report, exploration).map_err(|e| anyhow!("the page failed: {e}"))?;
    output::write(path, html.as_bytes())
}

/// What the page of a model says, with the differences of its classes judged on these rows.
pub fn judged(
    mut report: ModelReport,
    model: &Model,
    rows: &Table,
    comparison: &Comparison,
    session: &Session,
) -> Result<ModelReport> {
    if let (Some(networks), Some(params)) = (&mut report.class_networks, comparison.params()) {
        networks.judge(model, rows, params, &session.control)?;
    }
    Ok(report)
}

/// The explorer of a page that needs nothing else, with the first of these rows to pick from and with the coordinates of
/// a file of nodes; `None` for a model that only the program itself can ask.
pub fn exploration(
    model: &Model,
    report: &ModelReport,
    rows: Option<&Table>,
    nodes: Option<&Path>,
) -> Result<Option<Exploration>> {
    let explorer = Explorer::new(model)?;
    let rows = rows.map(|table| explorer.rows(table, ROWS)).transpose()?;
    let exploration = Exploration::offline(&explorer, rows)?;
    let nodes = node_facts(model, nodes)?;
    Ok(exploration.map(|e| e.comparing(&explorer, report.class_networks.as_ref()).at(&nodes)))
}

/// What a file says about the features of a model.
pub fn node_facts(model: &Model, nodes: Option<&Path>) -> Result<Vec<NodeFacts>> {
    let names: Vec<String> = model.schema.features.iter().map(|f| f.name.clone()).collect();
    Ok(Knowledge::read(&names, nodes, None, None)?.facts)
}

/// The page of a model whose questions this program answers, with the first of these rows to pick from.
pub fn served(
    explorer: &Explorer<'_>,
    report: &ModelReport,
    rows: Option<&Table>,
    nodes: &[NodeFacts],
    token: &str,
) -> Result<String> {
    let rows = rows.map(|table| explorer.rows(table, ROWS)).transpose()?;
    let exploration = Exploration::served(explorer, rows, token)?.at(nodes);
    let exploration = exploration.comparing(explorer, report.class_networks.as_ref());
    hingenet_view::model_page(report, Some(&exploration)).map_err(|e| anyhow!("the page failed: {e}"))
}

/// Name of a file without its folder: reports should not tell how a computer is organised.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
}
