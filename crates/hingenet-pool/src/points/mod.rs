//! Rows as points: numbers are standardised (after an optional `asinh` that draws long tails in),
//! categories become indicator columns of height 1/√2, so that two different levels have squared
//! distance 1, as much as half the mean squared distance of two numbers.

pub(crate) mod columns;
pub(crate) mod completion;
pub(crate) mod imputation;
pub(crate) mod moments;
pub(crate) mod prototypes;

use crate::rows::FeatureType;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::encode::{Divisor, Standard};
use hingenet_data::table::{Column, ColumnData, Table};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// No encoded number is further from 0 than this. The kernel matrix of the machine needs squared distances as
/// `e² − 2 e T + T²`: at 10⁶ the square leaves the training cell T four digits, far beyond it none.
const FURTHEST: f64 = 1e6;

/// Most columns of a point with a category of very many levels. Points are dense: 20 000 rows of 3000 columns take half a
/// gigabyte, of an identifier with a level for every row six times as much, to tell no two rows nearer than others.
const MOST_COLUMNS: usize = 3000;
/// Features of at most this many levels always have their columns.
const FEW_LEVELS: usize = 100;

/// Features without columns because they have too many levels: those that no row knows, and then those with most levels, until
/// [`MOST_COLUMNS`] are left. All their levels are one point.
pub(crate) fn too_fine(rows: &Table) -> Vec<usize> {
    let levels = |column: &Column| column.as_categorical().map_or(1, |c| c.categories().len());
    let mut columns: Vec<usize> = rows.columns().iter().map(levels).collect();
    let is_empty = |column: &Column| (0..column.len()).all(|i| column.is_missing(i));
    let mut fine: Vec<usize> =
        (0..columns.len()).filter(|&j| columns[j] > FEW_LEVELS && is_empty(rows.column(j))).collect();
    fine.iter().for_each(|&j| columns[j] = 0);
    while columns.iter().sum::<usize>() > MOST_COLUMNS {
        let most = (0..columns.len()).rev().max_by_key(|&j| columns[j]);
        let Some(j) = most.filter(|&j| columns[j] > FEW_LEVELS) else { break };
        columns[j] = 0;
        fine.push(j);
    }
    fine
}

/// Transform of the numeric features before they are standardised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// The number itself.
    Identity,
    /// `asinh((x − median) / s)`, s the median absolute deviation from the median.
    Asinh,
}

/// How one feature becomes columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// One column, `(t(x) − mean) / sd`.
    Number {
        /// Median and scale of the `asinh`, if it is used.
        centre: Option<(f64, f64)>,
        /// Mean of t(x) over the training rows.
        mean: f64,
        /// Standard deviation of t(x), 1 for a constant.
        sd: f64,
    },
    /// So many indicator columns, for the first of the levels.
    Levels {
        /// Number of columns.
        columns: usize,
    },
}

/// How rows become points; learnt on training rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Encoding {
    pub(crate) scales: Vec<Scale>,
    /// Columns of each feature.
    pub(crate) groups: Vec<Range<usize>>,
}

/// Encoded rows; missing cells hold 0 in all their columns.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    pub(crate) values: Matrix,
    /// Whether a feature is observed, row by row, d values a row.
    pub(crate) observed: Vec<bool>,
    pub(crate) n_features: usize,
}

impl Encoding {
    /// Learns medians, means and deviations. Without `last_level` the last level of every categorical
    /// feature has no column of its own (its column is one minus the others).
    pub(crate) fn learn(rows: &Table, weight: &[f64], transform: Transform, last_level: bool) -> Self {
        let fine = too_fine(rows);
        let scale = |(j, column): (usize, &Column)| match column.data() {
            ColumnData::Numeric(x) => number_scale(x.with_nan(), weight, transform),
            ColumnData::Categorical(_) if fine.contains(&j) => Scale::Levels { columns: 0 },
            ColumnData::Categorical(c) => {
                Scale::Levels { columns: c.categories().len().saturating_sub(usize::from(!last_level)) }
            }
        };
        Self::from_scales(rows.columns().iter().enumerate().map(scale).collect())
    }

    pub(crate) fn from_scales(scales: Vec<Scale>) -> Self {
        let mut groups = Vec::with_capacity(scales.len());
        let mut at = 0;
        for scale in &scales {
            let columns = match scale {
                Scale::Number { .. } => 1,
                Scale::Levels { columns } => *columns,
            };
            groups.push(at..at + columns);
            at += columns;
        }
        Encoding { scales, groups }
    }

    /// Number of columns.
    pub(crate) fn n_columns(&self) -> usize {
        self.groups.last().map_or(0, |g| g.end)
    }

    /// One value per feature as one value per column.
    pub(crate) fn per_column(&self, per_feature: &[f64]) -> Vec<f64> {
        self.groups.iter().zip(per_feature).flat_map(|(g, v)| std::iter::repeat_n(*v, g.len())).collect()
    }

    /// Columns of the features that are observed in a pattern, or of those that are not.
    pub(crate) fn columns<'a>(
        &'a self,
        pattern: &'a [bool],
        observed: bool,
    ) -> impl Iterator<Item = usize> + 'a {
        let groups = self.groups.iter().zip(pattern);
        groups.filter(move |(_, o)| **o == observed).flat_map(|(group, _)| group.clone())
    }

    /// The rows as points.
    pub(crate) fn encode(&self, rows: &Table) -> Encoded {
        let (n, d) = (rows.n_rows(), self.scales.len());
        let mut values = Matrix::zeros(n, self.n_columns());
        let mut observed = vec![false; n * d];
        for (j, (column, scale)) in rows.columns().iter().zip(&self.scales).enumerate() {
            let first = self.groups[j].start;
            match (column.data(), scale) {
                (ColumnData::Numeric(x), Scale::Number { centre, mean, sd }) => {
                    for (i, &x) in x.with_nan().iter().enumerate().filter(|(_, x)| !x.is_nan()) {
                        let z = (transformed(x, *centre) - mean) / sd;
                        values[(i, first)] = z.clamp(-FURTHEST, FURTHEST);
                        observed[i * d + j] = true;
                    }
                }
                (ColumnData::Categorical(c), Scale::Levels { columns }) => {
                    for (i, code) in c.codes().iter().enumerate() {
                        observed[i * d + j] = code.is_some();
                        if let Some(code) = code.filter(|code| code < columns) {
                            values[(i, first + code)] = std::f64::consts::FRAC_1_SQRT_2;
                        }
                    }
                }
                _ => debug_assert!(false, "the type of feature {j} differs from training"),
            }
        }
        Encoded { values, observed, n_features: d }
    }
}

impl Encoded {
    pub(crate) fn len(&self) -> usize {
        self.values.rows()
    }

    /// Which features of row `i` are observed.
    pub(crate) fn pattern(&self, i: usize) -> &[bool] {
        &self.observed[i * self.n_features..(i + 1) * self.n_features]
    }

    /// Number of observed features of row `i`.
    pub(crate) fn n_observed(&self, i: usize) -> usize {
        self.pattern(i).iter().filter(|o| **o).count()
    }

    /// Row numbers with equal patterns next to each other, so that work for a pattern can be shared.
    pub(crate) fn by_pattern(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.pattern(a).cmp(self.pattern(b)).then(a.cmp(&b)));
        order
    }
}

/// Types a row must have to be encoded by these scales.
pub(crate) fn types_fit(types: &[FeatureType], scales: &[Scale], last_level: bool) -> bool {
    types.len() == scales.len()
        && types.iter().zip(scales).all(|(t, s)| match (t, s) {
            (FeatureType::Number, Scale::Number { mean, sd, centre }) => {
                let finite = |v: f64| v.is_finite();
                finite(*mean)
                    && finite(*sd)
                    && *sd > 0.0
                    && centre.is_none_or(|(m, s)| finite(m) && finite(s) && s > 0.0)
            }
            (FeatureType::Levels(count), Scale::Levels { columns }) => {
                let all = if last_level { *count } else { count.saturating_sub(1) };
                *columns == all || (*columns == 0 && *count > FEW_LEVELS)
            }
            _ => false,
        })
}

fn number_scale(x: &[f64], weight: &[f64], transform: Transform) -> Scale {
    let centre = match transform {
        Transform::Identity => None,
        Transform::Asinh => Some(median_and_deviation(x, weight)),
    };
    let values: Vec<f64> = x.iter().map(|x| transformed(*x, centre)).collect();
    let standard = Standard::learn(&values, Some(weight), Divisor::Whole);
    Scale::Number { centre, mean: standard.mean, sd: if standard.is_constant() { 1.0 } else { standard.sd } }
}

fn transformed(x: f64, centre: Option<(f64, f64)>) -> f64 {
    match centre {
        None => x,
        // asinh itself overflows near the largest number
        Some((median, s)) => ((x - median) / s).clamp(-1e300, 1e300).asinh(),
    }
}

/// Median and median absolute deviation from it (the mean deviation if that is 0, at least 1e-12).
fn median_and_deviation(x: &[f64], weight: &[f64]) -> (f64, f64) {
    let median = weighted_median(x, weight);
    let deviations: Vec<f64> =
        x.iter().map(|x| if x.is_nan() { *x } else { (x - median).abs().min(f64::MAX) }).collect();
    let mad = weighted_median(&deviations, weight);
    let s = if mad > 1e-12 { mad } else { Standard::learn(&deviations, Some(weight), Divisor::Whole).mean };
    (median, s.max(1e-12))
}

/// Median of the observed values with weights: the middle value, or half-way between the two middle ones, as if
/// every value stood there as often as its weight says.
fn weighted_median(x: &[f64], weight: &[f64]) -> f64 {
    let mut x: Vec<(f64, f64)> = x.iter().copied().zip(weight.iter().copied()).collect();
    x.retain(|(v, _)| !v.is_nan());
    x.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * x.iter().map(|(_, s)| s).sum::<f64>();
    let mut below = 0.0;
    for (i, (v, s)) in x.iter().enumerate() {
        below += s;
        if below > half {
            return *v;
        }
        if below == half {
            return x.get(i + 1).map_or(*v, |next| 0.5 * v + 0.5 * next.0);
        }
    }
    x.last().map_or(0.0, |last| last.0)
}
