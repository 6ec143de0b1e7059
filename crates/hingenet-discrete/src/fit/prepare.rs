//! Coded rows and a graph: where every way of setting parameters starts.

use crate::counts::{self, require_alpha};
use crate::em::{EM, fit_em};
use crate::params::{DiscreteParams, StructureKind};
use crate::samples::code_columns;
use crate::structure::{PairStatistics, dag_from_names, k_tree, tan};
use crate::{Network, Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::graph::with_names;
use hingenet_base::solver::SolverReport;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::rows::Rows;
use hingenet_data::table::Column;
use rayon::prelude::*;

/// Coded training rows and the graph learnt from them.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// States of the features.
    pub coders: Vec<FeatureCoder>,
    /// Coded rows, the class first.
    pub samples: Samples,
    /// Graph and numbers of states.
    pub structure: Structure,
    /// `Σ s_m φ(x^m)` over the rows where the node of a table and its parents are observed, laid out as the parameters:
    /// what the tables rest on.
    pub support: Vec<f64>,
}

/// Learns states and graph. Errors: bad parameters, arcs that name no column or form a cycle.
pub fn prepare(rows: &Rows<'_>, params: &DiscreteParams, control: &Control) -> Result<Prepared> {
    require_alpha(params.alpha)?;
    let k = rows.n_classes();
    let learn = |column: &Column| match column.as_categorical() {
        Some(categories) if categories.names_weighted_rows(rows.weights()) => {
            Ok(naming_rows(column.name(), control))
        }
        _ => FeatureCoder::learn(column, rows.class(), k, rows.weights()),
    };
    let coders: Vec<FeatureCoder> = rows.features().columns().par_iter().map(learn).collect::<Result<_>>()?;
    control.check()?;
    let mut columns = vec![rows.class().clone()];
    columns.extend(code_columns(&coders, rows.features())?);
    let card = std::iter::once(k).chain(coders.iter().map(FeatureCoder::n_states)).collect();
    let samples = Samples::new(card, columns, rows.weights().map(<[f64]>::to_vec))?;
    let features = rows.features().columns().iter().map(|c| c.name().to_string());
    prepared(coders, samples, params, features, control)
}

/// The states of a column that names the rows: a table of its names would draw all arcs and all margins to itself.
pub(crate) fn naming_rows(column: &str, control: &Control) -> FeatureCoder {
    control.warn(&format!("column `{column}` names the rows and takes no part"));
    FeatureCoder::Categories { names: Vec::new() }
}

/// Learns the graph of coded rows, whose features have these names.
pub(crate) fn prepared(
    coders: Vec<FeatureCoder>,
    samples: Samples,
    params: &DiscreteParams,
    features: impl Iterator<Item = String>,
    control: &Control,
) -> Result<Prepared> {
    let (structure, counts) = match learnt(&params.structure, &samples, control)? {
        Some(found) => found,
        None => (given(&params.structure, samples.card().to_vec(), features)?, None),
    };
    counts::reserve_tables(&structure, control)?;
    let support = match counts {
        Some(counts) => counts,
        None if samples.has_missing() => counts::available_counts(&structure, &samples)?,
        None => counts::raw_counts(&structure, &samples)?,
    };
    Ok(Prepared { coders, samples, structure, support })
}

impl Prepared {
    /// The network of maximum likelihood, Eq. (3): in closed form from complete rows, by EM, whose report is the
    /// second value, if cells are missing.
    pub fn maximum_likelihood(
        &self,
        params: &DiscreteParams,
        control: &Control,
    ) -> Result<(Network, Option<SolverReport>)> {
        if self.samples.has_missing() {
            let em = fit_em(&self.structure, &self.samples.merged()?, params.alpha, EM, control)?;
            if !em.report.converged {
                control.warn(&format!(
                    "EM for missing cells stopped after {} iterations before it converged",
                    em.report.iterations
                ));
            }
            return Ok((em.network, Some(em.report)));
        }
        Ok((Network::likely(self.structure.clone(), &self.support, params.alpha)?, None))
    }

    /// The graph of a part of the rows; a given graph stays.
    pub fn learn_again(&self, rows: &Samples, kind: &StructureKind, control: &Control) -> Result<Structure> {
        Ok(learnt(kind, rows, control)?.map_or_else(|| self.structure.clone(), |(structure, _)| structure))
    }
}

/// The graph and, where they were counted on the way, the raw counts of its tables; `None` for a graph that is
/// not learnt.
fn learnt(
    kind: &StructureKind,
    samples: &Samples,
    control: &Control,
) -> Result<Option<(Structure, Option<Vec<f64>>)>> {
    if let StructureKind::NaiveBayes | StructureKind::Dag { .. } = kind {
        return Ok(None);
    }
    let pairs = PairStatistics::new(samples, control)?;
    let structure = learnt_from(kind, &pairs)?;
    let counts = pairs.counts_of(&structure);
    Ok(Some((structure, counts)))
}

/// The graph that pairs of features give; naive Bayes where none is learnt.
pub(crate) fn learnt_from(kind: &StructureKind, pairs: &PairStatistics) -> Result<Structure> {
    match kind {
        StructureKind::NaiveBayes | StructureKind::Dag { .. } => {
            Structure::naive_bayes(pairs.card().to_vec())
        }
        StructureKind::Tan(root) => tan(pairs, *root),
        StructureKind::KTree(k) => k_tree(pairs, *k),
    }
}

/// A graph that is not learnt: the arcs that are named, else naive Bayes.
pub(crate) fn given(
    kind: &StructureKind,
    card: Vec<usize>,
    features: impl Iterator<Item = String>,
) -> Result<Structure> {
    let StructureKind::Dag { class, arcs } = kind else { return Structure::naive_bayes(card) };
    let names: Vec<String> = std::iter::once(class.clone()).chain(features).collect();
    Structure::new(card, dag_from_names(&names, arcs)?).map_err(|e| with_names(e, &names))
}
