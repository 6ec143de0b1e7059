//! The feature map of SLB: for each class first `log p_y(x_i)` for all features, then `log p_y(x_i, x_j)` for the
//! kept pairs; then raw columns, where they are asked for.

use super::{Joint, Marginal};
use crate::columns::Columns;
use crate::params::Params;
use crate::structure::Kept;
use crate::terms::raw::{RawTerm, raw_terms};
use crate::terms::{ClassTerms, PerTerm};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use rayon::prelude::*;

/// Densities of one class.
#[derive(Debug, Clone)]
pub struct ClassDensities {
    /// One for each feature.
    pub marginals: Vec<Marginal>,
    /// Kept pairs i < j.
    pub pairs: Vec<(usize, usize)>,
    /// One for each kept pair.
    pub joints: Vec<Joint>,
}

/// Densities of all classes, and the raw terms next to them.
#[derive(Debug, Clone)]
pub struct Densities {
    /// One for each class.
    pub classes: Vec<ClassDensities>,
    /// Raw terms.
    pub raw: Vec<RawTerm>,
}

impl Densities {
    /// Estimates all univariate and the kept bivariate densities of every class, and the raw terms.
    pub fn estimate(columns: &Columns, kept: &Kept, params: &Params, control: &Control) -> Result<Self> {
        let total = columns.n_classes * columns.n_features() + kept.len();
        let steps = control.steps("estimating densities", total)?;
        let classes = (0..columns.n_classes)
            .map(|y| {
                let rows = columns.rows_of(y);
                let marginal = |i: usize| {
                    let marginal = Marginal::estimate(columns, i, &rows, params)?;
                    steps.done().map(|()| marginal)
                };
                let marginals =
                    (0..columns.n_features()).into_par_iter().map(marginal).collect::<Result<Vec<_>>>()?;
                let pairs = kept.of_class[y].clone();
                let joint = |pair: &(usize, usize)| {
                    let joint = Joint::estimate(None, columns, *pair, &rows, params, control)?;
                    steps.done().map(|()| joint)
                };
                let joints = pairs.par_iter().map(joint).collect::<Result<Vec<_>>>()?;
                Ok(ClassDensities { marginals, pairs, joints })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Densities { classes, raw: raw_terms(columns, kept, params.augment) })
    }

    /// Values of the raw terms at queries given feature by feature.
    pub(crate) fn raw_values(&self, queries: &[Vec<f64>]) -> Vec<Vec<f64>> {
        self.raw.iter().map(|term| term.values(queries)).collect()
    }

    /// Feature values of queries, given feature by feature. With `leave_one_out` query q is training row q and its own
    /// kernel is left out. Its share of a count is not: all rows with a value have the same count, so one less in the
    /// own class would tell a machine the class of the row, upside down.
    pub fn features(&self, queries: &[Vec<f64>], leave_one_out: bool, control: &Control) -> Result<PerTerm> {
        self.evaluate(queries, |_, q| leave_one_out.then_some(q), |_, _| None, control)
    }

    /// Feature values of the training rows, each left out of kernels and counts: what a score that was not trained on them
    /// would be for new rows.
    pub fn held_out_features(&self, rows: &[Vec<f64>], control: &Control) -> Result<PerTerm> {
        self.evaluate(rows, |_, q| Some(q), |_, q| Some(q), control)
    }

    /// The same, where `own_kernel` and `own_count` tell which training row of a density a query is: of features (i, j), with
    /// j = i for one alone, query q.
    pub(crate) fn evaluate(
        &self,
        queries: &[Vec<f64>],
        own_kernel: impl Fn((usize, usize), usize) -> Option<usize> + Sync,
        own_count: impl Fn((usize, usize), usize) -> Option<usize> + Sync,
        control: &Control,
    ) -> Result<PerTerm> {
        let total = self.classes.iter().map(|class| class.marginals.len() + class.pairs.len()).sum();
        let steps = control.steps("reading densities", total)?;
        let single = |(i, (p, x)): (usize, (&Marginal, &Vec<f64>))| {
            let values = match p {
                Marginal::Kernel { .. } => p.features(x, |q| own_kernel((i, i), q)),
                Marginal::Frequencies(_) => p.features(x, |q| own_count((i, i), q)),
            };
            steps.done().map(|()| values)
        };
        let classes = self
            .classes
            .iter()
            .map(|class| {
                let marginals = class
                    .marginals
                    .par_iter()
                    .zip(queries)
                    .enumerate()
                    .map(single)
                    .collect::<Result<Vec<_>>>()?;
                let value = |(&(i, j), joint): (&(usize, usize), &Joint)| {
                    let (at, alone) =
                        ((&queries[i][..], &queries[j][..]), (&marginals[i][..], &marginals[j][..]));
                    let values = match joint {
                        Joint::Table { .. } => joint.features(at, alone, |q| own_count((i, j), q)),
                        _ => joint.features(at, alone, |q| own_kernel((i, j), q)),
                    };
                    steps.done().map(|()| values)
                };
                let pairs =
                    class.pairs.par_iter().zip(&class.joints).map(value).collect::<Result<Vec<_>>>()?;
                Ok(ClassTerms { marginals, pairs })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(PerTerm { classes, raw: self.raw_values(queries) })
    }
}
