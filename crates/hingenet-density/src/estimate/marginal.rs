//! Class-conditional density of one feature, continuous or discrete, as a log-density feature with its floor. A missing
//! cell gives 0, the log of 1.

use super::bandwidth::LineBandwidth;
use super::counts::{Counts, place};
use super::kernel::LineKde;
use super::sample::Sample;
use crate::columns::{Columns, Kind};
use crate::params::Params;
use hingenet_base::error::Result;

/// Fewest rows for data-driven bandwidths; below it the spread of all classes is used.
pub(super) const FEWEST_ROWS: f64 = 4.0;

/// Density of one feature in one class.
#[derive(Debug, Clone)]
pub enum Marginal {
    /// Kernel estimate and floor.
    Kernel {
        /// The estimate.
        kde: LineKde,
        /// Smallest log density.
        floor: f64,
        /// Training rows behind it, ascending.
        rows: Vec<usize>,
    },
    /// Smoothed frequencies.
    Frequencies(Counts),
}

impl Marginal {
    /// Estimates the density of feature `i` from the given rows of `columns` (those of one class). Without
    /// an observed row, all rows are used.
    pub fn estimate(columns: &Columns, i: usize, class_rows: &[usize], params: &Params) -> Result<Self> {
        let rule = |sample: &Sample| line_bandwidth(sample, params, columns.least_bandwidth);
        Self::with_bandwidth(columns, i, class_rows, params, rule)
    }

    /// The same feature's density from more rows than this one has.
    pub(crate) fn of_more_rows(
        &self,
        columns: &Columns,
        i: usize,
        class_rows: &[usize],
        params: &Params,
    ) -> Result<Self> {
        let narrower = |sample: &Sample| match self {
            Marginal::Kernel { kde, .. } => {
                narrowed(kde.h(), kde.total, sample.total).max(columns.least_bandwidth)
            }
            Marginal::Frequencies(_) => columns.least_bandwidth,
        };
        Self::with_bandwidth(columns, i, class_rows, params, narrower)
    }

    fn with_bandwidth(
        columns: &Columns,
        i: usize,
        class_rows: &[usize],
        params: &Params,
        bandwidth: impl FnOnce(&Sample) -> f64,
    ) -> Result<Self> {
        let column = &columns.values[i];
        let seen = |r: &usize| !column[*r].is_nan();
        let mut rows: Vec<usize> = class_rows.iter().copied().filter(seen).collect();
        if rows.is_empty() {
            rows = (0..columns.n_rows()).filter(seen).collect();
        }
        let sample = columns.sample(i, &rows);
        match columns.kinds[i] {
            Kind::Continuous => {
                let kde = LineKde::new(&sample, bandwidth(&sample))?;
                let floor = params.floor.log_value(kde.log_peak, kde.total);
                Ok(Marginal::Kernel { kde, floor, rows })
            }
            Kind::Discrete(levels) => {
                let level = |r: usize| column[r] as usize;
                Ok(Marginal::Frequencies(Counts::new(levels, rows, sample.weights, level)))
            }
        }
    }

    /// Feature values at the queries: floored log densities, 0 where the cell is missing. `own` names the
    /// training row a query is, where its own kernel is to be left out.
    pub fn features(&self, queries: &[f64], own: impl Fn(usize) -> Option<usize>) -> Vec<f64> {
        self.log_densities_above(self.floor(), queries, own)
    }

    /// Smallest log density.
    pub fn floor(&self) -> f64 {
        match self {
            Marginal::Kernel { floor, .. } => *floor,
            Marginal::Frequencies(_) => f64::NEG_INFINITY,
        }
    }

    /// [`Self::features`] with the floor `least` in place of its own.
    pub(crate) fn log_densities_above(
        &self,
        least: f64,
        queries: &[f64],
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        let seen: Vec<usize> = (0..queries.len()).filter(|&q| !queries[q].is_nan()).collect();
        let x: Vec<f64> = seen.iter().map(|&q| queries[q]).collect();
        let values = match self {
            Marginal::Kernel { kde, rows, .. } => {
                kde.log_densities_above(least, [&x], |k| place(rows, own(seen[k])))
            }
            Marginal::Frequencies(counts) => {
                x.iter().zip(&seen).map(|(x, &q)| counts.log_share(*x as usize, own(q))).collect()
            }
        };
        let mut out = vec![0.0; queries.len()];
        seen.iter().zip(values).for_each(|(&q, v)| out[q] = v.max(least));
        out
    }

    /// The bandwidth of a continuous feature.
    pub fn bandwidth(&self) -> Option<f64> {
        match self {
            Marginal::Kernel { kde, .. } => Some(kde.h()),
            Marginal::Frequencies(_) => None,
        }
    }
}

/// The bandwidth of a sample of `m` rows for all of them: optimal ones fall with the fifth root.
pub(crate) fn narrowed(h: f64, m: f64, all: f64) -> f64 {
    h * (m / all).min(1.0).powf(0.2)
}

/// Bandwidth of one variable, at least `least`. Fewer than four rows say nothing about their spread: the
/// normal scale with the spread of all rows (1 in standardised units) is used.
pub(super) fn line_bandwidth(sample: &Sample, params: &Params, least: f64) -> f64 {
    if sample.total < FEWEST_ROWS {
        return (4.0 / (3.0 * sample.total)).powf(0.2).max(least);
    }
    let duplicates = sample.total - sample.n_distinct() as f64;
    let rule = match params.line {
        // With many ties the criterion falls without limit as h falls.
        LineBandwidth::LeastSquares if duplicates > sample.total / 10.0 => LineBandwidth::Normal,
        rule => rule,
    };
    let h = rule.choose(sample);
    let fallback = || if least > 0.0 { least } else { 1e-3 };
    if h.is_finite() && h > 0.0 { h.max(least) } else { fallback() }
}
