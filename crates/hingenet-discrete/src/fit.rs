//! From a training table to a maximum-likelihood classifier: states of the features, graph, counts or EM.
//! Everything is learnt on the rows given.

use super::counts::{self, require_alpha};
use super::em::{EmParams, fit_em};
use super::learn::{PairStatistics, Root, dag_from_names, k_tree, tan, with_names};
use super::{DiscreteClassifier, Network, Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_data::classifier::{Training, check_weights};
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::Codes;
use rayon::prelude::*;

/// Which graph to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StructureKind {
    /// The class is the only parent of every feature.
    NaiveBayes,
    /// Tree-augmented naive Bayes.
    Tan(Root),
    /// k-tree with the given number of feature parents, 1 to 4.
    KTree(usize),
    /// Arcs `(from, to)` by column name; `class` is the name of the target.
    Dag {
        /// Name of the target column.
        class: String,
        /// Arcs by name.
        arcs: Vec<(String, String)>,
    },
}

/// Settings of a discrete fit.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscreteParams {
    /// The graph.
    pub structure: StructureKind,
    /// Virtual sample size α of Eq. (4), at least 0; 0 makes what was never seen impossible.
    pub alpha: f64,
    /// When EM stops, if cells are missing.
    pub em: EmParams,
}

impl DiscreteParams {
    /// The structure with the defaults α = 1 and EM to 1e-8.
    pub fn new(structure: StructureKind) -> Self {
        DiscreteParams { structure, alpha: 1.0, em: EmParams::default() }
    }

    /// Virtual sample size α.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }
}

/// Coded training rows and the graph learnt from them: where every way of setting parameters starts.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// States of the features.
    pub coders: Vec<FeatureCoder>,
    /// Coded rows, the class first.
    pub samples: Samples,
    /// Graph and numbers of states.
    pub structure: Structure,
    /// `Σ s_m φ(x^m)`, if it is a by-product of learning the graph.
    counts: Option<Vec<f64>>,
}

/// Learns states and graph. Errors: no rows, fewer than two classes, an unlabelled row, bad weights, bad
/// parameters, arcs that name no column or form a cycle.
pub fn prepare(training: &Training<'_>, params: &DiscreteParams, control: &Control) -> Result<Prepared> {
    require_alpha(params.alpha)?;
    check_rows(training)?;
    let class = training.class;
    let k = training.classes.len();
    let learn = |column| FeatureCoder::learn(column, class, k, training.weights);
    let coders: Vec<FeatureCoder> =
        training.features.columns().par_iter().map(learn).collect::<Result<_>>()?;
    control.check()?;
    let mut columns = vec![class.clone()];
    columns.extend(code_columns(&coders, training.features)?);
    let card = std::iter::once(k).chain(coders.iter().map(FeatureCoder::n_states)).collect();
    let samples = Samples::new(card, columns, training.weights.map(<[f64]>::to_vec))?;
    let (structure, counts) = learn_structure(&samples, training, params, control)?;
    Ok(Prepared { coders, samples, structure, counts })
}

/// Fits the parameters by maximum likelihood, Eq. (3): in closed form from complete rows, by EM if cells
/// are missing.
pub fn fit_ml(
    training: &Training<'_>,
    params: &DiscreteParams,
    control: &Control,
) -> Result<DiscreteClassifier> {
    let prepared = prepare(training, params, control)?;
    let (counts, w, report) = prepared.maximum_likelihood(params, control)?;
    drop(counts);
    let network = Network::new(prepared.structure, w)?;
    DiscreteClassifier::new(prepared.coders, network, 1.0, report)
}

impl Prepared {
    /// Smoothed counts (expected ones if cells are missing), the parameters they give, and how EM ended.
    #[allow(clippy::type_complexity)]
    pub fn maximum_likelihood(
        &self,
        params: &DiscreteParams,
        control: &Control,
    ) -> Result<(Vec<f64>, Vec<f64>, Option<hingenet_base::solver::SolverReport>)> {
        if self.samples.has_missing() {
            let em = fit_em(&self.structure, &self.samples, params.alpha, params.em, control)?;
            if !em.report.converged {
                control.warn(&format!(
                    "EM for missing cells stopped after {} iterations before it converged",
                    em.report.iterations
                ));
            }
            return Ok((em.counts, em.network.w().to_vec(), Some(em.report)));
        }
        let mut n = match &self.counts {
            Some(counts) => counts.clone(),
            None => counts::raw_counts(&self.structure, &self.samples)?,
        };
        counts::smooth(&self.structure, &mut n, params.alpha);
        let w = counts::ml_parameters(&self.structure, &n)?;
        Ok((n, w, None))
    }
}

/// The graph and, where they were counted on the way, the raw counts of its tables.
fn learn_structure(
    samples: &Samples,
    training: &Training<'_>,
    params: &DiscreteParams,
    control: &Control,
) -> Result<(Structure, Option<Vec<f64>>)> {
    let card = samples.card().to_vec();
    let from_pairs = |learn: &dyn Fn(&PairStatistics) -> Result<Structure>| {
        let pairs = PairStatistics::new(samples, control)?;
        let structure = learn(&pairs)?;
        let counts = pairs.counts_of(&structure);
        Ok((structure, counts))
    };
    match &params.structure {
        StructureKind::NaiveBayes => Ok((Structure::naive_bayes(card)?, None)),
        StructureKind::Tan(root) => from_pairs(&|pairs| tan(pairs, *root)),
        StructureKind::KTree(k) => from_pairs(&|pairs| k_tree(pairs, *k)),
        StructureKind::Dag { class, arcs } => {
            let features = training.features.columns().iter().map(|c| c.name().to_string());
            let names: Vec<String> = std::iter::once(class.clone()).chain(features).collect();
            let dag = dag_from_names(&names, arcs)?;
            Ok((Structure::new(card, dag).map_err(|e| with_names(e, &names))?, None))
        }
    }
}

/// The states of every column. A feature with one state is never in doubt, so it is never missing.
pub(super) fn code_columns(
    coders: &[FeatureCoder],
    rows: &hingenet_data::table::Table,
) -> Result<Vec<Codes>> {
    require_len("feature columns", coders.len(), rows.n_columns())?;
    let code = |(coder, column): (&FeatureCoder, &hingenet_data::table::Column)| match coder.n_states() {
        1 => Ok(Codes::U8(vec![0; rows.n_rows()])),
        _ => coder.code_column(column),
    };
    coders.par_iter().zip(rows.columns()).map(code).collect()
}

fn check_rows(training: &Training<'_>) -> Result<()> {
    let n = training.features.n_rows();
    if n == 0 || training.class.is_empty() {
        return Err(Error::data("there are no rows", "give at least two rows of different classes"));
    }
    require_len("class labels", n, training.class.len())?;
    if let Some(weights) = training.weights {
        check_weights(weights, n)?;
    }
    if training.class.has_missing() {
        let row = training.class.iter().position(|c| c.is_none()).unwrap_or_default();
        return Err(Error::data(
            format!("row {} has no class label", row + 1),
            "remove unlabelled rows, or ask for a semi-supervised fit",
        ));
    }
    let weight = |m: usize| training.weights.map_or(1.0, |w| w[m]);
    let mut seen = training.class.iter().enumerate().filter(|(m, _)| weight(*m) > 0.0).filter_map(|(_, c)| c);
    let first = seen.next();
    if seen.all(|c| Some(c) == first) {
        let name = first.and_then(|c| training.classes.get(c)).cloned().unwrap_or_default();
        return Err(Error::data(
            format!("the target has one class only (`{name}`)"),
            "a classifier needs rows of at least two classes",
        ));
    }
    Ok(())
}
