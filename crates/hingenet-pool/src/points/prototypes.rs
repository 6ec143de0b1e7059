//! Groups of training rows in place of the rows: each group of a class becomes one prototype, with the means and variances
//! of its points and their weight. No row can be read from them, as each stands for a number of rows that is asked for.

use super::{Encoding, Scale};
use crate::rows::Labelled;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::linalg::Matrix;

/// Most prototypes: beyond it groups grow with the table.
const MOST: usize = 2000;

/// Prototypes, sorted by class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Prototypes {
    /// Mean point of each group.
    pub(crate) means: Matrix,
    /// Variances within each group, one column per feature; 0 for categories, whose means are shares.
    pub(crate) variances: Matrix,
    /// Total weight of each group.
    pub(crate) weight: Vec<f64>,
    /// Different rows of each group.
    pub(crate) sizes: Vec<usize>,
    pub(crate) class: Vec<usize>,
    pub(crate) n_classes: usize,
}

/// Refuses classes that have fewer different rows than a group must have.
pub(crate) fn require_groups(rows: &Labelled, least: usize) -> Result<()> {
    for (class, range) in rows.classes.iter().zip(rows.class_ranges()) {
        if range.len() < least {
            return Err(Error::data(
                format!(
                    "class `{class}` has {} different rows, fewer than a group must have ({least})",
                    range.len()
                ),
                "leave the class out, or allow smaller groups (`group`)",
            ));
        }
    }
    Ok(())
}

impl Prototypes {
    /// Groups of at least `least` rows of one class: rows are halved where they spread most in the metric (λ of each
    /// feature), as long as both halves are large enough.
    pub(crate) fn new(
        encoding: &Encoding,
        points: &Matrix,
        rows: &Labelled,
        metric: &[f64],
        least: usize,
    ) -> Self {
        let least = least.max(rows.len().div_ceil(MOST));
        let metric = encoding.per_column(metric);
        let mut groups = Vec::new();
        for (c, range) in rows.class_ranges().into_iter().enumerate() {
            let halving = Halving { points, weight: &rows.weight, metric: &metric, least };
            halving.split(range.collect(), &mut |group| groups.push((c, group)));
        }
        let d = encoding.scales.len();
        let mut found = Prototypes {
            means: Matrix::zeros(groups.len(), points.cols()),
            variances: Matrix::zeros(groups.len(), d),
            weight: Vec::new(),
            sizes: groups.iter().map(|(_, group)| group.len()).collect(),
            class: groups.iter().map(|(c, _)| *c).collect(),
            n_classes: rows.n_classes(),
        };
        for (k, (_, group)) in groups.iter().enumerate() {
            let (mean, variance) = moments(points, &rows.weight, group);
            for (j, scale) in encoding.scales.iter().enumerate() {
                if let Scale::Number { .. } = scale {
                    found.variances[(k, j)] = variance[encoding.groups[j].start];
                }
            }
            found.means.row_mut(k).copy_from_slice(&mean);
            found.weight.push(group.iter().map(|&i| rows.weight[i]).sum());
        }
        found
    }

    pub(crate) fn len(&self) -> usize {
        self.class.len()
    }
}

struct Halving<'a> {
    points: &'a Matrix,
    weight: &'a [f64],
    metric: &'a [f64],
    least: usize,
}

impl Halving<'_> {
    /// Hands out the groups that some rows (ascending) fall into.
    fn split(&self, mut rows: Vec<usize>, each: &mut impl FnMut(Vec<usize>)) {
        let (_, variance) = moments(self.points, self.weight, &rows);
        let spread = |a: &usize| self.metric[*a] * variance[*a];
        let widest = (0..variance.len()).rev().max_by(|a, b| spread(a).total_cmp(&spread(b)));
        let Some(a) = widest.filter(|a| rows.len() >= 2 * self.least && spread(a) > 0.0) else {
            return each(rows);
        };
        // rows are sorted by their content: neither their order in the table nor threads decide among equal ones
        rows.sort_by(|&i, &k| self.points[(i, a)].total_cmp(&self.points[(k, a)]).then(i.cmp(&k)));
        let mut upper = rows.split_off(rows.len() / 2);
        rows.sort_unstable();
        upper.sort_unstable();
        self.split(rows, each);
        self.split(upper, each);
    }
}

/// Weighted mean and variance of every column over some rows.
fn moments(points: &Matrix, weight: &[f64], rows: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let total: f64 = rows.iter().map(|&i| weight[i]).sum();
    let mean_of = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        let mut sums = vec![0.0; points.cols()];
        for &i in rows {
            sums.iter_mut().enumerate().for_each(|(a, sum)| *sum += weight[i] * of(i, a));
        }
        sums.iter().map(|sum| sum / total).collect()
    };
    let mean = mean_of(&|i, a| points[(i, a)]);
    let variance = mean_of(&|i, a| (points[(i, a)] - mean[a]).powi(2));
    (mean, variance)
}
