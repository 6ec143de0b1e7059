//! The feature map of SLB: for each class first `log p_y(x_i)` for all features, then `log p_y(x_i, x_j)` for the
//! kept pairs.

use super::columns::Columns;
use super::estimate::{Joint, Marginal};
use super::selection::Kept;
use super::settings::Settings;
use crate::control::Control;
use crate::error::Result;
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

/// Densities of all classes.
#[derive(Debug, Clone)]
pub struct Densities {
    /// One for each class.
    pub classes: Vec<ClassDensities>,
}

/// Feature values of rows, class by class.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Number of rows.
    pub n_rows: usize,
    /// One for each class.
    pub classes: Vec<ClassFeatures>,
}

/// Feature values of one class's densities.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassFeatures {
    /// `log p_y(x_i)`, feature by feature.
    pub marginals: Vec<Vec<f64>>,
    /// `log p_y(x_i, x_j)`, kept pair by kept pair.
    pub pairs: Vec<Vec<f64>>,
}

impl ClassFeatures {
    /// Column `c`: the features first, then the pairs.
    pub fn column(&self, c: usize) -> &[f64] {
        let d = self.marginals.len();
        if c < d { &self.marginals[c] } else { &self.pairs[c - d] }
    }
}

impl Densities {
    /// Estimates all univariate and the kept bivariate densities of every class.
    pub fn estimate(columns: &Columns, kept: &Kept, settings: &Settings, control: &Control) -> Result<Self> {
        let classes = (0..columns.n_classes())
            .map(|y| {
                let rows = columns.rows_of(y);
                let marginals = (0..columns.n_features())
                    .into_par_iter()
                    .map(|i| Marginal::estimate(columns, i, &rows, settings))
                    .collect::<Result<Vec<_>>>()?;
                let pairs = kept.of_class[y].clone();
                let joint = |pair: &(usize, usize)| {
                    control.check()?;
                    Joint::estimate(columns, *pair, &rows, settings, control)
                };
                let joints = pairs.par_iter().map(joint).collect::<Result<Vec<_>>>()?;
                Ok(ClassDensities { marginals, pairs, joints })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Densities { classes })
    }

    /// Feature values of queries, given feature by feature. With `leave_one_out` query q is training row q
    /// and its own kernel is left out.
    pub fn features(&self, queries: &[Vec<f64>], leave_one_out: bool, control: &Control) -> Result<Features> {
        let n_rows = queries.first().map_or(0, Vec::len);
        let own = |q: usize| leave_one_out.then_some(q);
        let classes = self
            .classes
            .iter()
            .map(|class| {
                let marginals: Vec<Vec<f64>> =
                    class.marginals.par_iter().zip(queries).map(|(p, x)| p.features(x, own)).collect();
                let value = |(&(i, j), joint): (&(usize, usize), &Joint)| {
                    control.check()?;
                    Ok(joint.features((&queries[i], &queries[j]), (&marginals[i], &marginals[j]), own))
                };
                let pairs =
                    class.pairs.par_iter().zip(&class.joints).map(value).collect::<Result<Vec<_>>>()?;
                Ok(ClassFeatures { marginals, pairs })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Features { n_rows, classes })
    }
}
