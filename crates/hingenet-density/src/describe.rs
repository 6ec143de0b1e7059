//! What the tables look like: the contribution of each feature along its values and of each pair over a
//! grid, in original units, with the share of rows expected there, so that a reader sees which parts matter.

use crate::classifier::DensityClassifier;
use crate::columns::Unit;
use crate::compile::{Axis, LineTable};
use crate::terms::class_scores;

/// Positions along a number, alone and in a pair.
const ALONG: usize = 121;
const SIDE: usize = 20;
/// Share of the rows beyond each end of the positions.
const TAIL: f64 = 0.002;

/// Contribution of one feature to the class scores along its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Table column of the feature.
    pub column: usize,
    /// Values of the feature in original units (codes for categories), evenly spaced for numbers.
    pub positions: Vec<f64>,
    /// For each position the contribution to each class score, against the mean of all classes.
    pub scores: Vec<Vec<f64>>,
    /// Share of rows expected around each position, every class counting alike.
    pub share: Vec<f64>,
}

/// Contribution of a pair of features to the class scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// Table columns of the two features.
    pub columns: (usize, usize),
    /// Values of the first feature in original units.
    pub first: Vec<f64>,
    /// Values of the second feature.
    pub second: Vec<f64>,
    /// Contribution to each class score, against the mean of all classes; first feature slowest.
    pub scores: Vec<Vec<f64>>,
    /// Share of rows expected around each place, in the same order.
    pub share: Vec<f64>,
}

impl Curve {
    /// Mean size of the contribution to a class score over the rows expected.
    pub fn strength(&self) -> f64 {
        mean_size(&self.scores, &self.share)
    }
}

impl Surface {
    /// Mean size of the contribution to a class score over the rows expected.
    pub fn strength(&self) -> f64 {
        mean_size(&self.scores, &self.share)
    }
}

fn mean_size(scores: &[Vec<f64>], share: &[f64]) -> f64 {
    let size = |s: &Vec<f64>| s.iter().map(|v| v.abs()).sum::<f64>() / s.len().max(1) as f64;
    scores.iter().zip(share).map(|(s, p)| p * size(s)).sum()
}

/// Outputs less their training mean as class scores, measured from the mean of all classes.
fn relative(outputs: &[f64], centre: &[f64]) -> Vec<f64> {
    let centred: Vec<f64> = outputs.iter().zip(centre).map(|(v, c)| v - c).collect();
    let mut scores = class_scores(&centred);
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    scores.iter_mut().for_each(|s| *s -= mean);
    scores
}

/// Divides by the sum; all alike if there is none.
fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let equal = 1.0 / weights.len().max(1) as f64;
    weights.iter_mut().for_each(|w| *w = if total > 0.0 { *w / total } else { equal });
    weights
}

impl DensityClassifier {
    /// The curve of every feature in use.
    pub fn curves(&self) -> Vec<Curve> {
        let used = self.units.used();
        let curve = |(i, line): (usize, &LineTable)| {
            let positions = self.positions(line, ALONG);
            let (mut scores, mut density) = (Vec::new(), Vec::new());
            for &x in &positions {
                let t = self.log_densities_at(line, x);
                let mut out = vec![0.0; line.centre.len()];
                line.add(x, &t, &mut out);
                scores.push(self.by_code(relative(&out, &line.centre), 0.0));
                density.push(mixture(&t));
            }
            let (column, positions) = (used[i], self.original(i, positions));
            Curve { column, positions, scores, share: normalised(density) }
        };
        self.lines.iter().enumerate().map(curve).collect()
    }

    /// The surface of every pair in use, one at a time: together they may be much larger than the model.
    pub fn surfaces(&self) -> impl ExactSizeIterator<Item = Surface> {
        (0..self.pairs.len()).map(|p| self.surface(p))
    }

    /// The surface of pair `p` of [`Self::pairs`].
    pub fn surface(&self, p: usize) -> Surface {
        let table = &self.pairs[p];
        let (used, (i, j)) = (self.units.used(), table.pair);
        let (first, second) = (self.positions(&self.lines[i], SIDE), self.positions(&self.lines[j], SIDE));
        let along: Vec<Vec<f64>> = second.iter().map(|y| self.log_densities_at(&self.lines[j], *y)).collect();
        let (mut scores, mut density) = (Vec::new(), Vec::new());
        for &x in &first {
            let alone = self.log_densities_at(&self.lines[i], x);
            for (&y, other) in second.iter().zip(&along) {
                let mut out = vec![0.0; table.centre.len()];
                table.add(x, y, &mut out);
                scores.push(self.by_code(relative(&out, &table.centre), 0.0));
                // a class that does not use the pair takes the two features as independent
                let mut t: Vec<f64> = alone.iter().zip(other).map(|(a, b)| a + b).collect();
                table.layers.iter().enumerate().for_each(|(l, layer)| {
                    t[layer.class] = table.log_density(l, x, y);
                });
                density.push(mixture(&t));
            }
        }
        Surface {
            columns: (used[i], used[j]),
            first: self.original(i, first),
            second: self.original(j, second),
            scores,
            share: normalised(density),
        }
    }

    /// Log densities of one feature in all classes.
    pub(crate) fn log_densities_at(&self, line: &LineTable, x: f64) -> Vec<f64> {
        let mut t = vec![0.0; self.n_classes];
        line.log_densities(x, &mut t);
        t
    }

    /// Codes of a discrete feature, or `n` evenly spaced values between the tails of its density.
    fn positions(&self, line: &LineTable, n: usize) -> Vec<f64> {
        let nodes = line.axis.nodes();
        if matches!(line.axis, Axis::Levels(_)) {
            return nodes;
        }
        let density: Vec<f64> = nodes.iter().map(|x| mixture(&self.log_densities_at(line, *x))).collect();
        let cells = nodes.windows(2).zip(density.windows(2));
        let mass: Vec<f64> = cells.map(|(x, p)| 0.5 * (x[1] - x[0]) * (p[0] + p[1])).collect();
        let total: f64 = mass.iter().sum();
        let low = beyond_the_tail(mass.iter(), total).unwrap_or(0);
        let high = nodes.len() - 1 - beyond_the_tail(mass.iter().rev(), total).unwrap_or(0);
        let (low, high) = (nodes[low], nodes[high]);
        (0..n).map(|k| low + (high - low) * k as f64 / (n - 1) as f64).collect()
    }

    /// Positions of feature `i` in the units of its table column.
    fn original(&self, i: usize, positions: Vec<f64>) -> Vec<f64> {
        match &self.units.units[self.units.used()[i]] {
            Unit::Standard(standard) => positions.iter().map(|z| standard.undo(*z)).collect(),
            Unit::Levels(values) => values.clone(),
            Unit::Categories(_) | Unit::Dropped => positions,
        }
    }
}

/// Number of the first cell that reaches beyond the tail.
fn beyond_the_tail<'a>(mass: impl Iterator<Item = &'a f64>, total: f64) -> Option<usize> {
    let mut sum = 0.0;
    mass.enumerate()
        .find(|(_, m)| {
            sum += **m;
            sum > TAIL * total
        })
        .map(|(k, _)| k)
}

/// Mean density over the classes.
fn mixture(log_densities: &[f64]) -> f64 {
    log_densities.iter().map(|t| t.exp()).sum::<f64>() / log_densities.len().max(1) as f64
}
