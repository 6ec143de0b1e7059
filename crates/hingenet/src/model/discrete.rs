//! How the discrete family is named and fitted: `nb:ml`, `tan:ml`, `kdb2:ml`, `dag:ml,edges=FILE.csv`.

use super::registry::Graph;
use super::{Dataset, ModelSpec};
use crate::control::Control;
use crate::discrete::learn::Root;
use crate::discrete::{DiscreteClassifier, DiscreteParams, StructureKind, fit_ml};
use crate::error::{Error, Result};
use crate::table::read::{ReadOptions, read};
use crate::table::{Column, Table};
use std::path::Path;

/// Fits a discrete model by the rule its name ends with.
pub fn fit(graph: Graph, spec: &ModelSpec, data: &Dataset, control: &Control) -> Result<DiscreteClassifier> {
    let params = params(graph, spec, data, control)?;
    fit_ml(&data.training(), &params, control)
}

/// Whether the fit gives the same bits for any order of the rows, because it adds whole numbers only.
pub fn is_order_free(data: &Dataset) -> bool {
    data.weights.is_none() && data.features.n_missing() == 0
}

fn params(graph: Graph, spec: &ModelSpec, data: &Dataset, control: &Control) -> Result<DiscreteParams> {
    let structure = match graph {
        Graph::Nb => StructureKind::NaiveBayes,
        Graph::Tan => StructureKind::Tan(root(spec)?),
        Graph::Kdb(k) => StructureKind::KTree(k),
        Graph::Dag => StructureKind::Dag { class: data.target.clone(), arcs: arcs(spec, control)? },
    };
    Ok(DiscreteParams::new(structure).alpha(spec.number("alpha", 1.0)?))
}

fn root(spec: &ModelSpec) -> Result<Root> {
    match spec.text("root") {
        None | Some("first") => Ok(Root::First),
        Some("min_params") => Ok(Root::MinParams),
        Some(other) => Err(Error::Parameter {
            name: format!("option `root` of model `{}`", spec.name),
            value: other.into(),
            expected: "first or min_params".into(),
        }),
    }
}

/// The arcs of a CSV file with the columns `from` and `to`.
fn arcs(spec: &ModelSpec, control: &Control) -> Result<Vec<(String, String)>> {
    let file = spec.text("edges").ok_or_else(|| Error::Parameter {
        name: format!("option `edges` of model `{}`", spec.name),
        value: "(absent)".into(),
        expected: "a CSV file with the columns from,to".into(),
    })?;
    let names = vec!["from".to_string(), "to".to_string()];
    let options = ReadOptions { categorical: names, ..ReadOptions::default() };
    let table = read(Path::new(file), &options, control)?.table;
    let (from, to) = (texts(&table, "from")?, texts(&table, "to")?);
    Ok(from.into_iter().zip(to).collect())
}

fn texts(table: &Table, name: &str) -> Result<Vec<String>> {
    let column: &Column = table.by_name(name)?;
    let empty =
        |m: usize| Error::column(name, format!("row {} is empty", m + 1), "give both ends of every arc");
    let cells = column.as_categorical().ok_or_else(|| empty(0))?;
    (0..table.n_rows()).map(|m| cells.get(m).map(String::from).ok_or_else(|| empty(m))).collect()
}
