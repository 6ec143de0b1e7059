//! How the discrete family is named and fitted: `nb:ml`, `tan:ml`, `kdb2:ml`, `dag:ml,edges=FILE.csv`.

use super::registry::{Graph, Rule};
use super::{Dataset, ModelSpec};
use crate::control::Control;
use crate::discrete::learn::Root;
use crate::discrete::margin::bn_svm::Norm;
use crate::discrete::margin::conditional::Form;
use crate::discrete::margin::{MarginParams, Solver};
use crate::discrete::{
    AveragedClassifier, DiscreteParams, Learning, Learnt, MemberRule, StructureKind, fit_averaged,
    fit_discrete,
};
use crate::error::{Error, Result};
use crate::table::read::{ReadOptions, read};
use crate::table::{Column, Table};
use std::collections::BTreeMap;
use std::path::Path;

/// Fits a discrete model by the rule its name ends with.
pub fn fit(graph: Graph, rule: Rule, spec: &ModelSpec, data: &Dataset, control: &Control) -> Result<Learnt> {
    let params = params(graph, spec, data, control)?;
    fit_discrete(&data.training(), &params, &learning(rule, spec)?, control)
}

/// Fits an average of one-dependence networks.
pub fn fit_average(
    margin: bool,
    spec: &ModelSpec,
    data: &Dataset,
    control: &Control,
) -> Result<(AveragedClassifier, BTreeMap<String, f64>)> {
    let rule = if margin {
        let (lambda, gamma) = (spec.parsed("lambda", "a number")?, spec.parsed("gamma", "a number")?);
        MemberRule::MlBnSvm { lambda, gamma }
    } else {
        MemberRule::MaximumLikelihood
    };
    fit_averaged(&data.training(), spec.number("alpha", 1.0)?, rule, control)
}

/// Whether the fit gives the same bits for any order of the rows, because it adds whole numbers only.
pub fn is_order_free(rule: Rule, data: &Dataset) -> bool {
    rule == Rule::Ml && data.weights.is_none() && data.features.n_missing() == 0
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
    spec.choice("root", &[("first", Root::First), ("min_params", Root::MinParams)])
}

fn learning(rule: Rule, spec: &ModelSpec) -> Result<Learning> {
    let form = || spec.choice("form", &[("exact", Form::Exact), ("tables", Form::Tables)]);
    let iterations = || Ok::<_, Error>(spec.parsed("iterations", "a whole number")?.unwrap_or(150));
    let number = |key: &str| spec.parsed::<f64>(key, "a number");
    let yes_no = |key: &str, first: bool| {
        spec.choice(
            key,
            &[(if first { "true" } else { "false" }, first), (if first { "false" } else { "true" }, !first)],
        )
    };
    Ok(match rule {
        Rule::Ml => Learning::MaximumLikelihood,
        Rule::Mcl => Learning::Conditional {
            form: form()?,
            ridge: spec.number("ridge", 0.0)?,
            iterations: iterations()?,
        },
        Rule::Mm => Learning::Margin {
            lambda: number("lambda")?,
            kappa: number("kappa")?,
            form: form()?,
            iterations: iterations()?,
            early_stopping: yes_no("early_stopping", false)?,
        },
        Rule::BnSvm => Learning::BnSvm {
            lambda: number("lambda")?,
            norm: spec.choice("norm", &[("l2", Norm::Squared), ("l1", Norm::Absolute)])?,
        },
        Rule::MlBnSvm => Learning::MlBnSvm {
            lambda: number("lambda")?,
            gamma: number("gamma")?,
            params: MarginParams {
                smooth: yes_no("smooth", true)?,
                solver: spec.choice(
                    "solver",
                    &[
                        ("auto", Solver::Auto),
                        ("interior", Solver::Interior),
                        ("lbfgs", Solver::Lbfgs),
                        ("projected", Solver::Projected),
                        ("conic", Solver::Conic),
                    ],
                )?,
                ..MarginParams::default()
            },
        },
    })
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
