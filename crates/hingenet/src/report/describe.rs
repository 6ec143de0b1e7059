//! A fitted model as plain data for its page: facts, pictures, tables, cuts, and the reasons for the
//! decisions about chosen rows.

use super::{
    Curve, Decision, DecisionValue, FeatureCuts, HeatMap, ModelReport, NetworkPicture, NetworkReport,
    NodeTable, Origin, TableRow, density, pool,
};
use crate::model::exchange::NamedNetwork;
use crate::model::{Fitted, Model};
use hingenet_base::error::Result;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::explain::Term;
use hingenet_data::table::{FeatureSpec, Table, UnseenPolicy};
use hingenet_discrete::Structure;
use hingenet_discrete::inference::Inference;
use hingenet_pool::PoolSummary;

/// Rows of a probability table that are told; the others are less probable.
const TABLE_ROWS: usize = 24;
/// Entries of one table that are told.
const TABLE_ENTRIES: usize = 600;
/// Reasons for a decision that are told one by one.
const VALUES: usize = 12;

impl ModelReport {
    /// Everything worth showing about a model. `rows` are numbers of rows of `table` (from 0) to explain.
    pub fn of(model: &Model, table: &Table, rows: &[usize]) -> Result<Self> {
        let mut report = ModelReport {
            model: model.spec.to_string(),
            target: model.target.clone(),
            classes: model.classes.clone(),
            about: about(model),
            origin: Origin { facts: facts(model), warnings: model.facts.warnings.clone() },
            class_networks: NetworkReport::of_model(model)?,
            decisions: rows.iter().map(|&m| Decision::of(model, table, m)).collect::<Result<Vec<_>>>()?,
            ..ModelReport::default()
        };
        match &model.fitted {
            Fitted::Discrete(fitted) => {
                let named = model.network()?;
                let inference = Inference::new(&named.network);
                let nodes = 0..named.variables.len();
                report.tables = nodes
                    .map(|i| node_table(&named, fitted.support(), &inference, i))
                    .collect::<Result<Vec<_>>>()?;
                report.cuts = cuts(model, fitted.coders());
                let title = format!("{} for {}", model.spec, model.target);
                report.networks.push(NetworkPicture::of_network(&named, title)?);
            }
            Fitted::Averaged(fitted) => report.cuts = cuts(model, fitted.coders()),
            Fitted::Density(fitted) => density::describe(&mut report, model, fitted),
            Fitted::Pool(fitted) => pool::describe(&mut report, model, fitted),
            Fitted::Gaussian(_) | Fitted::Majority(_) => {}
        }
        model.answered(Ok(report), ModelReport::is_finite)
    }

    /// Whether every number that is drawn is one.
    fn is_finite(&self) -> bool {
        let points = |points: &[(f64, f64)]| points.iter().all(|(x, y)| x.is_finite() && y.is_finite());
        let curve = |c: &Curve| points(&c.points) && points(&c.band);
        let map = |map: &HeatMap| {
            map.full.is_finite() && map.values.iter().flatten().flatten().all(|v| v.is_finite())
        };
        self.networks.iter().all(NetworkPicture::is_finite)
            && self.curves.iter().all(|f| f.curves.iter().all(curve) && points(&f.shares))
            && self.maps.iter().all(map)
    }
}

impl Decision {
    /// The decision for row `m` (from 0) of a table.
    pub fn of(model: &Model, table: &Table, m: usize) -> Result<Self> {
        let explanation = model.explain(table, m, UnseenPolicy::Missing)?;
        let class = explanation.class();
        let value = |t: &Term| DecisionValue {
            cell: explanation.cell(t.feature),
            value: t.scores[class],
            standard_error: t.standard_error.as_ref().map(|e| e[class]),
        };
        let mut values: Vec<DecisionValue> = explanation.terms.iter().map(value).collect();
        let small = values.split_off(values.len().min(VALUES));
        Ok(Decision {
            row: m + 1,
            class: model.classes[class].clone(),
            probabilities: explanation.log_proba.iter().map(|l| l.exp()).collect(),
            base: explanation.base[class],
            values,
            others: (!small.is_empty()).then(|| (small.len(), small.iter().map(|t| t.value).sum())),
            total: explanation.scores[class],
        })
    }
}

/// What kind of model this is and what it keeps.
fn about(model: &Model) -> Vec<String> {
    let none = "It keeps no training rows.".to_string();
    match &model.fitted {
        Fitted::Majority(_) => vec!["Answers with the frequencies of the classes, whatever the features say.".into()],
        Fitted::Discrete(_) => vec![
            "A Bayesian network: the score of a class is a sum of one term for each column, given its parents.".into(),
            none,
        ],
        Fitted::Averaged(fitted) => vec![
            format!(
                "The average of {} networks; in each of them every feature sees the class and one feature.",
                fitted.coders().len()
            ),
            none,
        ],
        Fitted::Gaussian(_) => vec!["A sparse Gaussian network for each class.".into(), none],
        Fitted::Density(fitted) => vec![
            format!(
                "The score of a class is a sum of terms made of log-densities: {} of single features, {} of pairs.",
                fitted.units.used().len(),
                fitted.pairs().len()
            ),
            "It keeps lookup tables, no training rows.".into(),
        ],
        Fitted::Pool(fitted) => {
            let PoolSummary { kept_rows, support_rows, prototypes, .. } = fitted.summary();
            let rows = kept_rows.max(support_rows);
            let keeps = match prototypes {
                None => format!("It keeps training rows: whoever has the model file can read the {rows} rows in it."),
                Some(of) => format!(
                    "It keeps no training rows, but {} prototypes: means and variances of groups of at least {} rows.",
                    of.count, of.least_rows
                ),
            };
            vec![
                "Four class posteriors multiplied, each raised to a weight that depends on how many features of a row \
                 are missing."
                    .into(),
                keeps,
            ]
        }
    }
}

/// An option that inner cross-validation chose and its value, as a user would write them.
pub fn choice_words(key: &str, value: f64) -> (&str, String) {
    match key {
        "balanced" => ("class_weights", if value > 0.0 { "balanced" } else { "none" }.into()),
        _ => (key, value.to_string()),
    }
}

/// Facts of the fit as (name, value).
fn facts(model: &Model) -> Vec<(String, String)> {
    let facts = &model.facts;
    let mut list = vec![
        ("model".to_string(), model.spec.to_string()),
        ("target".to_string(), format!("{} ({} classes)", model.target, model.classes.len())),
        ("features".to_string(), model.schema.features.len().to_string()),
        ("trained on".to_string(), format!("{} rows, {} cells missing", facts.rows, facts.missing_cells)),
        ("seed".to_string(), facts.seed.to_string()),
    ];
    list.extend(facts.chosen.iter().map(|(key, value)| {
        let (option, value) = choice_words(key, *value);
        (format!("chosen {option}"), value)
    }));
    if let Fitted::Discrete(fitted) = &model.fitted {
        let structure = fitted.network().structure();
        let between = structure.dag().arcs().filter(|(from, to)| *from > 0 && *to > 0).count();
        list.push(("arcs between features".to_string(), between.to_string()));
        list.push(("parameters".to_string(), structure.n_entries().to_string()));
    }
    if let Fitted::Density(fitted) = &model.fitted {
        let summary = &fitted.summary;
        list.push(("terms of pairs".to_string(), format!("{} (class, pair) combinations", summary.kept)));
        list.push(("numbers in tables".to_string(), summary.table_numbers.to_string()));
        let error = format!("{:.1e} of the standard deviation of a score", summary.table_error);
        list.push(("error of the tables".to_string(), error));
    }
    if let Some(t) = model.temperature().filter(|t| *t != 1.0) {
        list.push(("temperature".to_string(), format!("{t:.4}")));
    }
    if let Some(solver) = &facts.solver {
        let end = if solver.converged { "converged" } else { "stopped before it converged" };
        let gap = solver.gap.map(|g| format!(", gap {g:.1e}")).unwrap_or_default();
        let text = format!("{}: {end} after {} iterations{gap}", solver.method, solver.iterations);
        list.push(("solver".to_string(), text));
    }
    list
}

fn cuts(model: &Model, coders: &[FeatureCoder]) -> Vec<FeatureCuts> {
    let features = model.schema.features.iter().zip(coders);
    let cuts = |(spec, coder): (&FeatureSpec, &FeatureCoder)| match coder {
        FeatureCoder::Cuts { cuts } => Some(FeatureCuts { feature: spec.name.clone(), cuts: cuts.clone() }),
        FeatureCoder::Categories { .. } => None,
    };
    features.filter_map(cuts).collect()
}

/// The table of node `i`, or its most probable rows.
fn node_table(
    named: &NamedNetwork,
    support: Option<&[f64]>,
    inference: &Inference<'_>,
    i: usize,
) -> Result<NodeTable> {
    let (names, network) = (&named.variables, &named.network);
    let structure = network.structure();
    let parents = structure.dag().parents(i);
    let given = |h: usize| -> Vec<String> {
        let state =
            |(&p, &stride): (&usize, &usize)| names[p].states[h / stride % structure.card()[p]].clone();
        parents.iter().zip(structure.strides(i)).map(state).collect()
    };
    let total_rows = structure.n_rows(i);
    let shown = total_rows.min(TABLE_ROWS).min((TABLE_ENTRIES / structure.card()[i]).max(1));
    let behind = |h: usize| {
        let (r, from) = (structure.card()[i], structure.table(i).start);
        support.map(|n| n[from + h * r..from + (h + 1) * r].to_vec()).unwrap_or_default()
    };
    let row = |h: usize| TableRow {
        given: given(h),
        probabilities: network.row(i, h).iter().map(|w| w.exp()).collect(),
        support: behind(h),
    };
    Ok(NodeTable {
        node: names[i].name.clone(),
        is_class: i == 0,
        parents: parents.iter().map(|&p| names[p].name.clone()).collect(),
        states: names[i].states.clone(),
        rows: told_rows(inference, structure, i, shown)?.into_iter().map(row).collect(),
        total_rows,
    })
}

/// Numbers of the `shown` most probable rows of node `i`'s table; all of them in order if they are few.
fn told_rows(inference: &Inference<'_>, structure: &Structure, i: usize, shown: usize) -> Result<Vec<usize>> {
    let mut rows: Vec<usize> = (0..structure.n_rows(i)).collect();
    if rows.len() > shown {
        // a factor lists its variables in ascending order, the last one fastest: so do the rows
        let unknown = vec![None; structure.n_nodes()];
        let log_p = inference.conditional(structure.dag().parents(i), &unknown)?.table;
        rows.sort_by(|&a, &b| log_p[b].total_cmp(&log_p[a]).then(a.cmp(&b)));
        rows.truncate(shown);
    }
    Ok(rows)
}
