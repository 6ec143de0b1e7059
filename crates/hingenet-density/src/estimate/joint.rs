//! Class-conditional densities of one feature and of pairs of features, continuous, discrete or mixed, as
//! log-density features with their floors. A missing cell turns a pair into the density of the other
//! feature and a single feature into 0, the log of 1.

use super::bandwidth::{LineBandwidth, Symmetric, normal_scale, normal_scale_plane};
use super::kernel::{LineKde, Own, PlaneKde, one_row};
use super::mixed::Mixed;
use super::sample::{PairSample, Sample};
use crate::columns::{Columns, Kind};
use crate::params::Params;
use hingenet_base::control::Control;
use hingenet_base::error::Result;

/// Fewest rows for data-driven bandwidths; below it the spread of all classes is used.
const FEWEST_ROWS: f64 = 4.0;

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
    /// Smoothed frequencies `(count + α) / (m + α L)`.
    Frequencies {
        /// Weighted count of each value.
        counts: Vec<f64>,
        /// α.
        pseudo_count: f64,
        /// Training rows behind it, ascending.
        rows: Vec<usize>,
        /// Their weights.
        weights: Vec<f64>,
    },
}

impl Marginal {
    /// Estimates the density of feature `i` from the given rows of `columns` (those of one class). Without
    /// an observed row, all rows are used.
    pub fn estimate(columns: &Columns, i: usize, class_rows: &[usize], params: &Params) -> Result<Self> {
        let column = columns.feature(i);
        let observed = |rows: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
            rows.filter(|&r| !column[r].is_nan()).collect()
        };
        let mut rows = observed(&mut class_rows.iter().copied());
        if rows.is_empty() {
            rows = observed(&mut (0..columns.n_rows()));
        }
        let weights: Vec<f64> = rows.iter().map(|&r| columns.weights()[r]).collect();
        match columns.kinds()[i] {
            Kind::Continuous => {
                let sample = Sample::weighted(rows.iter().map(|&r| column[r]).collect(), weights);
                let h = line_bandwidth(&sample, params, columns.least_bandwidth());
                let kde = LineKde::new(&sample, h)?;
                let floor = params.floor.log_value(kde.log_peak(), kde.total());
                Ok(Marginal::Kernel { kde, floor, rows })
            }
            Kind::Discrete(levels) => {
                let mut counts = vec![0.0; levels];
                rows.iter().zip(&weights).for_each(|(&r, w)| counts[column[r] as usize] += w);
                Ok(Marginal::Frequencies { counts, pseudo_count: params.pseudo_count, rows, weights })
            }
        }
    }

    /// Feature values at the queries: floored log densities, 0 where the cell is missing. `own` names the
    /// training row a query is, where its own kernel is to be left out.
    pub fn features(&self, queries: &[f64], own: impl Fn(usize) -> Option<usize>) -> Vec<f64> {
        let floor = self.floor();
        let mut values = self.log_densities_above(floor, queries, own);
        values.iter_mut().zip(queries).filter(|(_, x)| !x.is_nan()).for_each(|(v, _)| *v = v.max(floor));
        values
    }

    /// Smallest log density.
    pub fn floor(&self) -> f64 {
        match self {
            Marginal::Kernel { floor, .. } => *floor,
            Marginal::Frequencies { .. } => f64::NEG_INFINITY,
        }
    }

    /// [`Self::features`] without the floor.
    pub fn log_densities(&self, queries: &[f64], own: impl Fn(usize) -> Option<usize>) -> Vec<f64> {
        self.log_densities_above(f64::NEG_INFINITY, queries, own)
    }

    /// The same for a reader that does not tell values below `least` apart.
    fn log_densities_above(
        &self,
        least: f64,
        queries: &[f64],
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        let seen: Vec<usize> = (0..queries.len()).filter(|&q| !queries[q].is_nan()).collect();
        let mut out = vec![0.0; queries.len()];
        match self {
            Marginal::Kernel { kde, rows, .. } => {
                let x: Vec<f64> = seen.iter().map(|&q| queries[q]).collect();
                let values = kde.log_densities_above(least, &x, |k| omitted(rows, own(seen[k])));
                seen.iter().zip(values).for_each(|(&q, v)| out[q] = v);
            }
            Marginal::Frequencies { counts, pseudo_count, rows, weights } => {
                let total: f64 = counts.iter().sum();
                for q in seen {
                    let less = match omitted(rows, own(q)) {
                        Own::Omit(k) => one_row(weights[k]),
                        Own::Keep => 0.0,
                    };
                    let count = (counts[queries[q] as usize] - less).max(0.0);
                    let m = total - less + pseudo_count * counts.len() as f64;
                    out[q] = ((count + pseudo_count) / m).ln();
                }
            }
        }
        out
    }

    /// The kernel estimate of a continuous feature.
    pub fn kde(&self) -> Option<&LineKde> {
        match self {
            Marginal::Kernel { kde, .. } => Some(kde),
            Marginal::Frequencies { .. } => None,
        }
    }
}

/// Density of a pair of features in one class.
#[derive(Debug, Clone)]
pub enum Joint {
    /// Kernel estimate and floor.
    Plane {
        /// The estimate.
        kde: PlaneKde,
        /// Smallest log density.
        floor: f64,
        /// Training rows behind it, ascending.
        rows: Vec<usize>,
    },
    /// Smoothed table `(count + α) / (m + α cells)`, second feature fastest.
    Table {
        /// Weighted counts.
        counts: Vec<f64>,
        /// Values of the second feature.
        columns: usize,
        /// α.
        pseudo_count: f64,
        /// Training rows behind it, ascending.
        rows: Vec<usize>,
        /// Their weights.
        weights: Vec<f64>,
    },
    /// One discrete and one continuous feature.
    Mixed(Mixed),
    /// Too few complete rows: the product of the marginals.
    Independent,
}

impl Joint {
    /// Estimates the density of features i < j from the complete ones among the given rows.
    pub fn estimate(
        columns: &Columns,
        (i, j): (usize, usize),
        class_rows: &[usize],
        params: &Params,
        control: &Control,
    ) -> Result<Self> {
        let (x, y) = (columns.feature(i), columns.feature(j));
        let complete = |r: &usize| !x[*r].is_nan() && !y[*r].is_nan();
        let rows: Vec<usize> = class_rows.iter().copied().filter(complete).collect();
        let weights: Vec<f64> = rows.iter().map(|&r| columns.weights()[r]).collect();
        if weights.iter().sum::<f64>() < FEWEST_ROWS {
            return Ok(Joint::Independent);
        }
        let at = |v: &[f64]| rows.iter().map(|&r| v[r]).collect::<Vec<f64>>();
        match (columns.kinds()[i], columns.kinds()[j]) {
            (Kind::Continuous, Kind::Continuous) => {
                let sample = PairSample::weighted(at(x), at(y), weights);
                let h = plane_bandwidth(&sample, params, columns.least_bandwidth(), control);
                let kde = PlaneKde::new(&sample, h)?;
                let floor = params.floor.log_value(kde.log_peak(), kde.total());
                Ok(Joint::Plane { kde, floor, rows })
            }
            (Kind::Discrete(a), Kind::Discrete(b)) => {
                let mut counts = vec![0.0; a * b];
                rows.iter().zip(&weights).for_each(|(&r, w)| counts[x[r] as usize * b + y[r] as usize] += w);
                Ok(Joint::Table { counts, columns: b, pseudo_count: params.pseudo_count, rows, weights })
            }
            (Kind::Discrete(levels), Kind::Continuous) => {
                let least = columns.least_bandwidth();
                Ok(Joint::Mixed(Mixed::estimate(at(x), levels, at(y), weights, rows, true, params, least)?))
            }
            (Kind::Continuous, Kind::Discrete(levels)) => {
                let least = columns.least_bandwidth();
                Ok(Joint::Mixed(Mixed::estimate(at(y), levels, at(x), weights, rows, false, params, least)?))
            }
        }
    }

    /// Feature values at the queries `(x, y)`; `tx`, `ty` are the values of the two marginals there, used where
    /// the other cell is missing.
    pub fn features(
        &self,
        (x, y): (&[f64], &[f64]),
        (tx, ty): (&[f64], &[f64]),
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        let floor = self.floor();
        let mut values = self.log_densities_above(floor, (x, y), (tx, ty), own);
        let seen = |q: usize| !x[q].is_nan() && !y[q].is_nan();
        values.iter_mut().enumerate().filter(|(q, _)| seen(*q)).for_each(|(_, v)| *v = v.max(floor));
        values
    }

    /// Smallest log density.
    pub fn floor(&self) -> f64 {
        match self {
            Joint::Plane { floor, .. } => *floor,
            Joint::Mixed(mixed) => mixed.floor(),
            Joint::Table { .. } | Joint::Independent => f64::NEG_INFINITY,
        }
    }

    /// [`Self::features`] without the floor.
    pub fn log_densities(
        &self,
        queries: (&[f64], &[f64]),
        marginals: (&[f64], &[f64]),
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        self.log_densities_above(f64::NEG_INFINITY, queries, marginals, own)
    }

    /// The same for a reader that does not tell values below `least` apart.
    pub(crate) fn log_densities_above(
        &self,
        least: f64,
        (x, y): (&[f64], &[f64]),
        (tx, ty): (&[f64], &[f64]),
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        // A marginal's value at a missing cell is 0, so the sum is the value of the observed one, or 0.
        let mut out: Vec<f64> = tx.iter().zip(ty).map(|(a, b)| a + b).collect();
        let seen: Vec<usize> = (0..x.len()).filter(|&q| !x[q].is_nan() && !y[q].is_nan()).collect();
        let at = |v: &[f64]| seen.iter().map(|&q| v[q]).collect::<Vec<f64>>();
        let values = match self {
            Joint::Independent => return out,
            Joint::Plane { kde, rows, .. } => {
                kde.log_densities_above(least, &at(x), &at(y), |k| omitted(rows, own(seen[k])))
            }
            Joint::Mixed(mixed) => mixed.log_densities(&at(x), &at(y), |k| own(seen[k])),
            Joint::Table { counts, columns, pseudo_count, rows, weights } => {
                let total: f64 = counts.iter().sum();
                let value = |&q: &usize| {
                    let less = match omitted(rows, own(q)) {
                        Own::Omit(k) => one_row(weights[k]),
                        Own::Keep => 0.0,
                    };
                    let count = (counts[x[q] as usize * columns + y[q] as usize] - less).max(0.0);
                    ((count + pseudo_count) / (total - less + pseudo_count * counts.len() as f64)).ln()
                };
                seen.iter().map(value).collect::<Vec<f64>>()
            }
        };
        seen.iter().zip(values).for_each(|(&q, v)| out[q] = v);
        out
    }
}

/// Which kernel to leave out for a training row: its place among the rows behind the estimate.
pub(super) fn omitted(rows: &[usize], own: Option<usize>) -> Own {
    match own.and_then(|r| rows.binary_search(&r).ok()) {
        Some(k) => Own::Omit(k),
        None => Own::Keep,
    }
}

/// Bandwidth of one variable, at least `least`. Fewer than four rows say nothing about their spread: the
/// normal scale with the spread of all rows (1 in standardised units) is used.
pub(super) fn line_bandwidth(sample: &Sample, params: &Params, least: f64) -> f64 {
    if sample.total() < FEWEST_ROWS {
        return (4.0 / (3.0 * sample.total())).powf(0.2).max(least);
    }
    let duplicates = sample.total() - sample.n_distinct() as f64;
    let rule = match params.line {
        // With many ties the criterion falls without limit as h falls.
        LineBandwidth::LeastSquares if duplicates > sample.total() / 10.0 => LineBandwidth::Normal,
        rule => rule,
    };
    let h = rule.choose(sample);
    let fallback = || if least > 0.0 { least } else { 1e-3 };
    if h.is_finite() && h > 0.0 { h.max(least) } else { fallback() }
}

/// Bandwidth matrix of two variables with eigenvalues at least `least²`. A constant variable gets a spike, a
/// collinear pair the normal scale of a slightly widened covariance.
fn plane_bandwidth(sample: &PairSample, params: &Params, least: f64, control: &Control) -> Symmetric {
    let bounded = |h: Symmetric| h.with_eigenvalues_at_least(least * least);
    let [a, b] = sample.axes();
    if a.is_constant() || b.is_constant() {
        let spread = |s: &Sample| normal_scale(s).max(least).max(1e-12);
        let (h1, h2) = (spread(a), spread(b));
        return Symmetric { a: h1 * h1, b: 0.0, c: h2 * h2 };
    }
    let [s11, s12, s22] = sample.covariance();
    if s12.abs() > (1.0 - 1e-10) * (s11 * s22).sqrt() {
        control.warn("two features are collinear within a class: their densities use a widened covariance");
        let h = normal_scale_plane(sample);
        return bounded(Symmetric { a: h.a * (1.0 + 1e-4), b: h.b, c: h.c * (1.0 + 1e-4) });
    }
    let h = params.plane.choose(sample);
    if h.is_positive_definite() { bounded(h) } else { bounded(normal_scale_plane(sample)) }
}
