//! Explanations from the tables: a curve for each feature, a surface for each pair, and for one row the
//! terms that add up to its scores.

use super::predict::{DensityClassifier, Scratch};
use super::scores::class_scores;
use crate::classifier::{Explanation, ExplanationKind, Term};

/// Contribution of one feature to the class scores along its values, in original units.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Table column of the feature.
    pub column: usize,
    /// Values of the feature (codes for categories).
    pub positions: Vec<f64>,
    /// For each position the centred contribution to each class score.
    pub scores: Vec<Vec<f64>>,
}

/// Contribution of a pair of features to the class scores, in original units.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// Table columns of the two features.
    pub columns: (usize, usize),
    /// Values of the first feature.
    pub first: Vec<f64>,
    /// Values of the second feature, less `slope` times the first feature's distance from its mean.
    pub second: Vec<f64>,
    /// Slope of the second axis, not 0 for strongly correlated features only.
    pub slope: f64,
    /// Centred contribution to each class score, first feature slowest.
    pub scores: Vec<Vec<f64>>,
}

/// Terms of the one row of encoded `cells`: additive for a complete row, else the change of the scores when
/// each observed feature alone is treated as missing. Terms are measured from their training mean.
pub(super) fn explain(model: &DensityClassifier, cells: &[Vec<f64>]) -> Explanation {
    let mut scratch = Scratch::new(model);
    let outputs = model.outputs(cells, 0, None, &mut scratch);
    if cells.iter().any(|c| c[0].is_nan()) {
        return leave_one_out(model, cells, &outputs);
    }
    let used = model.units.used();
    let mut base = model.base.clone();
    let mut terms = Vec::new();
    for (i, line) in model.lines.iter().enumerate() {
        let mut value = vec![0.0; base.len()];
        line.add(&scratch.log_density[i], &mut value);
        terms.push(Term { feature: used[i], given: vec![], scores: centred(value, &line.centre, &mut base) });
    }
    for table in &model.pairs {
        let (i, j) = table.pair;
        let mut value = vec![0.0; base.len()];
        table.add(scratch.row[i], scratch.row[j], &mut value);
        let scores = centred(value, &table.centre, &mut base);
        terms.push(Term { feature: used[j], given: vec![used[i]], scores });
    }
    Explanation {
        kind: ExplanationKind::Additive,
        base: class_scores(&base),
        terms,
        scores: class_scores(&outputs),
    }
}

/// Takes the mean off a contribution, adds it to the base, and turns outputs into class scores.
fn centred(mut value: Vec<f64>, centre: &[f64], base: &mut [f64]) -> Vec<f64> {
    for ((v, c), b) in value.iter_mut().zip(centre).zip(base) {
        *v -= c;
        *b += c;
    }
    class_scores(&value)
}

fn leave_one_out(model: &DensityClassifier, cells: &[Vec<f64>], outputs: &[f64]) -> Explanation {
    let mut scratch = Scratch::new(model);
    let used = model.units.used();
    let seen: Vec<usize> = (0..cells.len()).filter(|&i| !cells[i][0].is_nan()).collect();
    let terms = seen
        .iter()
        .map(|&i| {
            let without = model.outputs(cells, 0, Some(i), &mut scratch);
            let change: Vec<f64> = outputs.iter().zip(&without).map(|(a, b)| a - b).collect();
            Term { feature: used[i], given: vec![], scores: class_scores(&change) }
        })
        .collect();
    let nothing: Vec<Vec<f64>> = cells.iter().map(|_| vec![f64::NAN]).collect();
    let base = model.outputs(&nothing, 0, None, &mut scratch);
    Explanation {
        kind: ExplanationKind::LeaveOneOut,
        base: class_scores(&base),
        terms,
        scores: class_scores(outputs),
    }
}

impl DensityClassifier {
    /// The curve of every feature in use.
    pub fn curves(&self) -> Vec<Curve> {
        let used = self.units.used();
        let curve = |(i, line): (usize, &super::compile::LineTable)| {
            let k = self.n_classes;
            let scores = (0..line.axis.len()).map(|node| {
                let mut value: Vec<f64> = line.centre.iter().map(|c| -c).collect();
                let at_node = &line.values[node * k..(node + 1) * k];
                let t: Vec<f64> = at_node.iter().zip(&line.floors).map(|(t, floor)| t.max(*floor)).collect();
                line.add(&t, &mut value);
                class_scores(&value)
            });
            Curve {
                column: used[i],
                positions: self.original(i, line.axis.nodes()),
                scores: scores.collect(),
            }
        };
        self.lines.iter().enumerate().map(curve).collect()
    }

    /// The surface of every pair in use.
    pub fn surfaces(&self) -> Vec<Surface> {
        let used = self.units.used();
        self.pairs
            .iter()
            .map(|table| {
                let (i, j) = table.pair;
                let scores = (0..table.first.len() * table.second.len()).map(|node| {
                    let value = table.at_node(node);
                    class_scores(&value.iter().zip(&table.centre).map(|(v, c)| v - c).collect::<Vec<_>>())
                });
                Surface {
                    columns: (used[i], used[j]),
                    first: self.original(i, table.first.nodes()),
                    second: self.original(j, table.second.nodes()),
                    slope: table.shear * self.scale(j) / self.scale(i),
                    scores: scores.collect(),
                }
            })
            .collect()
    }

    /// Standard deviation behind feature `i`; 1 for discrete ones.
    fn scale(&self, i: usize) -> f64 {
        (-self.units.units()[self.units.used()[i]].log_scale()).exp()
    }

    /// Positions of feature `i` in the units of its table column.
    fn original(&self, i: usize, nodes: Vec<f64>) -> Vec<f64> {
        use super::columns::Unit;
        match &self.units.units()[self.units.used()[i]] {
            Unit::Standard { mean, sd } => nodes.iter().map(|z| mean + sd * z).collect(),
            Unit::Levels(values) => values.clone(),
            Unit::Categories(_) | Unit::Dropped => nodes,
        }
    }
}
