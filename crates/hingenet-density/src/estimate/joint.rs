//! Class-conditional density of a pair of features, continuous, discrete or mixed, as a log-density feature with its
//! floor. A missing cell leaves the density of the other feature.

use super::bandwidth::{Symmetric, normal_scale, normal_scale_plane};
use super::counts::{Counts, place};
use super::kernel::PlaneKde;
use super::marginal::FEWEST_ROWS;
use super::mixed::Mixed;
use super::sample::{PairSample, Sample};
use crate::columns::{Columns, Kind};
use crate::params::Params;
use hingenet_base::control::Control;
use hingenet_base::error::Result;

/// Density of a pair of features in one class.
#[derive(Debug, Clone)]
pub enum Joint {
    /// Kernel estimate and floor.
    Plane {
        /// The estimate.
        kde: PlaneKde,
        /// Its bandwidth matrix.
        h: Symmetric,
        /// Smallest log density.
        floor: f64,
        /// Training rows behind it, ascending.
        rows: Vec<usize>,
    },
    /// Smoothed frequencies of the cells of both, second feature fastest.
    Table {
        /// The frequencies.
        counts: Counts,
        /// Values of the second feature.
        columns: usize,
    },
    /// One discrete and one continuous feature.
    Mixed(Mixed),
    /// Too few complete rows: the product of the marginals.
    Independent,
}

/// What to do where two columns have too many categories for a table of both.
pub(crate) const FINE_COLUMNS: &str =
    "leave out columns with very many categories (`--ignore`), or allow more memory (`--max-memory`)";

impl Joint {
    /// Estimates the density of features i < j from the complete ones among the given rows. Where they are more rows than those
    /// of a sample, `sampled` is the density of that: it stays a product of marginals, and bandwidths are its, narrowed.
    pub fn estimate(
        sampled: Option<&Joint>,
        columns: &Columns,
        (i, j): (usize, usize),
        class_rows: &[usize],
        params: &Params,
        control: &Control,
    ) -> Result<Self> {
        if let Some(Joint::Independent) = sampled {
            return Ok(Joint::Independent);
        }
        let (x, y) = (&columns.values[i], &columns.values[j]);
        let complete = |r: &usize| !x[*r].is_nan() && !y[*r].is_nan();
        let rows: Vec<usize> = class_rows.iter().copied().filter(complete).collect();
        let sample = PairSample { axes: [i, j].map(|f| columns.sample(f, &rows)) };
        if sample.total() < FEWEST_ROWS {
            return Ok(Joint::Independent);
        }
        Ok(match (columns.kinds[i], columns.kinds[j]) {
            (Kind::Continuous, Kind::Continuous) => {
                let least = columns.least_bandwidth;
                let h = match sampled {
                    Some(Joint::Plane { h, kde, .. }) => {
                        h.narrowed(kde.total, sample.total()).with_eigenvalues_at_least(least * least)
                    }
                    _ => plane_bandwidth(&sample, params, least, control),
                };
                let kde = PlaneKde::new(&sample, h)?;
                let floor = params.floor.log_value(kde.log_peak, kde.total);
                Joint::Plane { kde, h, floor, rows }
            }
            (Kind::Discrete(a), Kind::Discrete(b)) => {
                let (what, cells) =
                    (format!("the table of columns with {a} and {b} categories"), a as f64 * b as f64);
                control.reserve(8.0 * cells, what, FINE_COLUMNS)?;
                let cell = |r: usize| x[r] as usize * b + y[r] as usize;
                let counts = Counts::new(a * b, rows, sample.weights().to_vec(), cell);
                Joint::Table { counts, columns: b }
            }
            (Kind::Discrete(levels), Kind::Continuous) => {
                Joint::Mixed(Mixed::like(mixed(sampled), columns, (i, levels), j, rows, params)?)
            }
            (Kind::Continuous, Kind::Discrete(levels)) => {
                Joint::Mixed(Mixed::like(mixed(sampled), columns, (j, levels), i, rows, params)?)
            }
        })
    }

    /// Feature values at the queries `(x, y)`; `tx`, `ty` are the values of the two marginals there, used where
    /// the other cell is missing.
    pub fn features(
        &self,
        at: (&[f64], &[f64]),
        alone: (&[f64], &[f64]),
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        self.log_densities_above(self.floor(), at, alone, own)
    }

    /// Smallest log density.
    pub fn floor(&self) -> f64 {
        match self {
            Joint::Plane { floor, .. } | Joint::Mixed(Mixed { floor, .. }) => *floor,
            Joint::Table { .. } | Joint::Independent => f64::NEG_INFINITY,
        }
    }

    /// [`Self::features`] with the floor `least` in place of its own.
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
            Joint::Independent => at(&out),
            Joint::Plane { kde, rows, .. } => {
                kde.log_densities_above(least, [&at(x), &at(y)], |k| place(rows, own(seen[k])))
            }
            Joint::Mixed(mixed) => mixed.log_densities(&at(x), &at(y), |k| own(seen[k])),
            Joint::Table { counts, columns } => {
                let cell = |q: usize| x[q] as usize * columns + y[q] as usize;
                seen.iter().map(|&q| counts.log_share(cell(q), own(q))).collect()
            }
        };
        seen.iter().zip(values).for_each(|(&q, v)| out[q] = v.max(least));
        out
    }
}

fn mixed(joint: Option<&Joint>) -> Option<&Mixed> {
    match joint {
        Some(Joint::Mixed(mixed)) => Some(mixed),
        _ => None,
    }
}

/// Bandwidth matrix of two variables with eigenvalues at least `least²`. A constant variable gets a spike, a
/// collinear pair the normal scale of a slightly widened covariance.
fn plane_bandwidth(sample: &PairSample, params: &Params, least: f64, control: &Control) -> Symmetric {
    let bounded = |h: Symmetric| h.with_eigenvalues_at_least(least * least);
    if sample.axes.iter().any(Sample::is_constant) {
        let [a, c] = sample.axes.each_ref().map(|s| normal_scale(s).max(least).max(1e-12).powi(2));
        return Symmetric { a, b: 0.0, c };
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
