//! The features that machines see: those in use that vary on the rows, standardised.

use super::Machines;
use crate::terms::Scores;
use crate::terms::raw::RawTerm;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::optimise::group_svm::Group;
use std::collections::BTreeMap;

/// The features a term reads: one, or a pair.
type Reads = (usize, Option<usize>);

/// One term in use, with mean and sd (n - 1) on the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standardised {
    /// Place of the term among the lists of [`crate::terms::PerTerm`].
    place: usize,
    reads: Reads,
    mean: f64,
    /// Its standard deviation, by which it is divided; 1 where it keeps its units.
    sd: f64,
}

/// Units of the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// Measured from the mean, in standard deviations.
    Standard,
    /// Measured from the mean, in their own units.
    Own,
}

/// Standardised features of the rows.
#[derive(Debug, Clone)]
pub struct Design {
    /// The terms in use.
    pub columns: Vec<Standardised>,
    /// One row for each training row.
    pub x: Matrix,
}

impl Design {
    /// Scales the terms in use that vary on the rows.
    pub fn new(machines: &Machines<'_>, scaling: Scaling) -> Self {
        let rows = machines.rows;
        let weights: Vec<f64> = rows.iter().map(|&r| machines.columns.weights[r]).collect();
        let lists: Vec<&Vec<f64>> = machines.set.features.lists().collect();
        let scaled = |(place, reads): (usize, Option<Reads>)| {
            let (mean, sd) = mean_and_sd(lists[place], rows, &weights)?;
            let sd = if scaling == Scaling::Own { 1.0 } else { sd };
            Some(Standardised { place, reads: reads?, mean, sd })
        };
        let columns: Vec<Standardised> =
            terms_in_use(machines).into_iter().enumerate().filter_map(scaled).collect();
        let x = Matrix::from_fn(rows.len(), columns.len(), |i, c| {
            let Standardised { place, mean, sd, .. } = columns[c];
            (lists[place][rows[i]] - mean) / sd
        });
        Design { columns, x }
    }

    /// Adds the function `w·x + b` of the standardised features to an output, in the units of the features.
    pub fn add_to(&self, scores: &mut Scores, output: usize, w: &[f64], b: f64) {
        let mut lists: Vec<&mut Vec<f64>> = scores.weights.lists_mut().collect();
        for (c, w) in self.columns.iter().zip(w) {
            lists[c.place][output] += w / c.sd;
        }
        scores.base[output] += b - self.columns.iter().zip(w).map(|(c, w)| w * c.mean / c.sd).sum::<f64>();
    }

    /// The columns of each group: all classes' log densities of one feature with its raw value, or of one pair with its
    /// product. The penalty grows with the root of the size, so that groups compete on equal terms.
    pub fn groups(&self) -> Vec<Group> {
        let mut members: BTreeMap<Reads, Vec<usize>> = BTreeMap::new();
        for (c, column) in self.columns.iter().enumerate() {
            members.entry(column.reads).or_default().push(c);
        }
        let group = |columns: Vec<usize>| Group { penalty: (columns.len() as f64).sqrt(), columns };
        members.into_values().map(group).collect()
    }
}

/// What each term reads, in the order of the lists; `None` for pairs that are not in use.
fn terms_in_use(machines: &Machines<'_>) -> Vec<Option<Reads>> {
    let Machines { available, kept, columns, .. } = machines;
    let mut out = Vec::new();
    for (available, kept) in available.of_class.iter().zip(&kept.of_class) {
        out.extend((0..columns.n_features()).map(|i| Some((i, None))));
        out.extend(available.iter().map(|p| kept.binary_search(p).is_ok().then_some((p.0, Some(p.1)))));
    }
    out.extend(machines.set.densities.raw.iter().map(|term| match term {
        RawTerm::Linear(i, _) => Some((*i, None)),
        RawTerm::Product(p, _) => {
            let in_use = kept.of_class.iter().any(|kept| kept.binary_search(p).is_ok());
            in_use.then_some((p.0, Some(p.1)))
        }
    }));
    out
}

/// Mean and sd of a feature; `None` where it does not vary on the rows.
fn mean_and_sd(values: &[f64], rows: &[usize], weights: &[f64]) -> Option<(f64, f64)> {
    let total: f64 = weights.iter().sum();
    let mean = rows.iter().zip(weights).map(|(&r, w)| w * values[r]).sum::<f64>() / total;
    let square = |(&r, w): (&usize, &f64)| w * (values[r] - mean) * (values[r] - mean);
    let sd = (rows.iter().zip(weights).map(square).sum::<f64>() / (total - 1.0).max(1.0)).sqrt();
    (sd > 1e-12 * (1.0 + mean.abs())).then_some((mean, sd))
}
