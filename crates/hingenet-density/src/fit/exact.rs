//! The fit of a variant as exact densities and linear scores, which still holds the training rows: SLB, SLB-all and LU (HSIC
//! filter, densities, linear SVM on the log densities: Algorithm 1 of the paper), and kernel naive Bayes, TAN and forest (log
//! joint densities as class scores).

use super::TrainingSet;
use super::machines::Machines;
use super::memory;
use super::search::{Rule, choose, class_weights, out_of_fold, select};
use crate::calibration::Calibration;
use crate::columns::Columns;
use crate::estimate::features::Densities;
use crate::params::{PAPERS_COST, Params, Threshold, Variant};
use crate::structure::Kept;
use crate::structure::trees::{forests, trees};
use crate::terms::raw::{RawTerm, Weighted};
use crate::terms::{PerTerm, Scores};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::solver::SolverReport;

/// A fit that still holds the training rows, before it is compiled to tables.
#[derive(Debug, Clone)]
pub struct ExactModel {
    /// Densities of all classes and their pairs.
    pub densities: Densities,
    /// Linear class scores.
    pub scores: Scores,
    /// Probabilities of the scores.
    pub calibration: Calibration,
    /// The threshold and the machine that were used or chosen; `None` for generative classifiers.
    pub used: Option<(Threshold, Rule)>,
    /// How each SVM ended.
    pub reports: Vec<SolverReport>,
}

impl ExactModel {
    /// Outputs at queries given feature by feature, from the exact densities.
    pub fn outputs(&self, queries: &[Vec<f64>], control: &Control) -> Result<Vec<Vec<f64>>> {
        Ok(self.scores.evaluate(&self.densities.features(queries, false, control)?))
    }

    /// The wanted raw term and its place among the raw terms, if a score uses it.
    pub(crate) fn raw_term<T>(&self, wanted: impl Fn(&RawTerm) -> Option<T>) -> Option<(usize, Weighted<T>)> {
        let terms = self.densities.raw.iter().zip(&self.scores.weights.raw).enumerate();
        let in_use = terms.filter(|(_, (_, weights))| weights.iter().any(|w| *w != 0.0));
        let mut found = in_use.filter_map(|(r, (term, weights))| {
            Some((r, Weighted { term: wanted(term)?, weights: weights.clone() }))
        });
        found.next()
    }
}

/// Fits the variant that the parameters name, as exact densities and scores.
pub fn fit_exact(columns: &Columns, params: &Params, control: &Control) -> Result<ExactModel> {
    let choice = Choice::of(columns, params, control)?;
    if params.variant.is_generative() {
        memory::reserve(columns, &choice.kept, params, control)?;
        let densities = Densities::estimate(columns, &choice.kept, params, control)?;
        // Scores without the row itself stand for those of new rows.
        let held_out = densities.held_out_features(&columns.values, control)?;
        return Ok(choice.generative(densities, &held_out, columns, params));
    }
    let set = TrainingSet::new(columns, &choice.kept, params, control)?;
    choice.machines(set, columns, params, control)
}

/// What comparing the rows with each other chose.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// Pairs of each class.
    pub kept: Kept,
    anchor: Option<Kept>,
    /// The threshold and the machine; `None` for generative classifiers.
    used: Option<(Threshold, Rule)>,
    /// Outputs of the rows under them while they were held out; empty if there are none.
    outputs: Vec<Vec<f64>>,
}

impl Choice {
    /// The same choice for other densities: the outputs of the search are not theirs.
    pub fn again(self) -> Self {
        Choice { outputs: Vec::new(), ..self }
    }

    pub fn of(columns: &Columns, params: &Params, control: &Control) -> Result<Self> {
        params.check(columns.n_classes)?;
        if !params.variant.is_generative() {
            let ((threshold, rule), outputs) = choose(columns, params, control)?;
            let (mut kept, anchor) = select(columns, &[threshold], params, control)?;
            return Ok(Choice { kept: kept.swap_remove(0), anchor, used: Some((threshold, rule)), outputs });
        }
        let kept = match params.variant {
            Variant::KdeTan => trees(columns, params, control)?,
            Variant::KdeForest => forests(columns, params, control)?,
            _ => Kept::none(columns.n_classes),
        };
        Ok(Choice { kept, anchor: None, used: None, outputs: Vec::new() })
    }

    /// Machines on the features of the rows.
    pub fn machines(
        self,
        set: TrainingSet,
        columns: &Columns,
        params: &Params,
        control: &Control,
    ) -> Result<ExactModel> {
        let given =
            || Rule { cost: params.cost.unwrap_or(PAPERS_COST), class_weights: params.class_weights.clone() };
        let rule = self.used.as_ref().map_or_else(given, |(_, rule)| rule.clone());
        let machines = Machines {
            set: &set,
            columns,
            rows: &set.rows,
            available: &self.kept,
            kept: &self.kept,
            anchor: self.anchor.as_ref(),
            class_weights: &class_weights(&rule.class_weights, &columns.class_totals()),
            cost: rule.cost,
            params,
            gap: params.gap,
            control,
        };
        let trained = machines.train(&[])?;
        let outputs = if self.outputs.is_empty() { out_of_fold(&machines)? } else { self.outputs };
        Ok(ExactModel {
            calibration: Calibration::fit(&outputs, &columns.class, &columns.weights),
            densities: set.densities,
            scores: trained.scores,
            used: self.used,
            reports: trained.reports,
        })
    }

    /// Log joint densities as scores; `held_out` are the features of the rows, each left out.
    pub fn generative(
        self,
        densities: Densities,
        held_out: &PerTerm,
        columns: &Columns,
        params: &Params,
    ) -> ExactModel {
        let totals = columns.class_totals();
        let prior = log_prior(&totals, &class_weights(&params.class_weights, &totals));
        let scores = Scores::of_forests(&prior, columns.n_features(), &self.kept, &self.kept);
        let outputs = scores.evaluate(held_out);
        ExactModel {
            calibration: Calibration::fit(&outputs, &columns.class, &columns.weights),
            densities,
            scores,
            used: None,
            reports: Vec::new(),
        }
    }
}

/// Logarithms of the shares of the classes, each class counting by its weight.
pub(super) fn log_prior(totals: &[f64], class_weights: &[f64]) -> Vec<f64> {
    let weighted: Vec<f64> = totals.iter().zip(class_weights).map(|(n, w)| n * w).collect();
    let total: f64 = weighted.iter().sum();
    weighted.iter().map(|n| (n / total).ln()).collect()
}
