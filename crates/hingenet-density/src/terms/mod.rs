//! Class scores as a linear function of the log-density features (and raw terms). By Lemma 1 of the paper a forest is one
//! such function, so the SVMs and the generative classifiers share it.

pub mod raw;

use crate::estimate::features::{FeatureId, Features};
use crate::structure::Kept;

/// `score_s(x) = base_s + Σ_{y,i} u_{s,y,i} log p_y(x_i) + Σ_{y,ij} v_{s,y,ij} log p_y(x_i, x_j)`,
/// and the raw terms with their weights.
///
/// There are as many scores as classes; an SVM of two classes has one, positive for the second class.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// Score of each output before any term.
    pub base: Vec<f64>,
    /// `[class][feature][output]`.
    pub marginals: Vec<Vec<Vec<f64>>>,
    /// `[class][kept pair][output]`.
    pub pairs: Vec<Vec<Vec<f64>>>,
    /// `[raw term][output]`.
    pub raw: Vec<Vec<f64>>,
}

impl Scores {
    /// All coefficients zero.
    pub fn zeros(outputs: usize, n_features: usize, kept: &Kept, n_raw: usize) -> Self {
        Scores {
            base: vec![0.0; outputs],
            marginals: kept.of_class.iter().map(|_| vec![vec![0.0; outputs]; n_features]).collect(),
            pairs: kept.of_class.iter().map(|p| vec![vec![0.0; outputs]; p.len()]).collect(),
            raw: vec![vec![0.0; outputs]; n_raw],
        }
    }

    /// Lemma 1: the log joint density of class forests, weight 1 for edges and `1 - deg(i)` for features.
    pub fn of_forests(log_prior: &[f64], n_features: usize, forests: &Kept) -> Self {
        Self::of_forests_among(log_prior, n_features, forests, forests)
    }

    /// The same over pairs of which the edges of the forests are a part.
    pub fn of_forests_among(log_prior: &[f64], n_features: usize, forests: &Kept, pairs: &Kept) -> Self {
        let mut scores = Self::zeros(log_prior.len(), n_features, pairs, 0);
        scores.base.copy_from_slice(log_prior);
        for (y, pairs) in pairs.of_class.iter().enumerate() {
            scores.marginals[y].iter_mut().for_each(|u| u[y] = 1.0);
            let is_edge = |pair: &(usize, usize)| forests.of_class[y].contains(pair);
            for (p, &(i, j)) in pairs.iter().enumerate().filter(|(_, pair)| is_edge(pair)) {
                scores.pairs[y][p][y] = 1.0;
                scores.marginals[y][i][y] -= 1.0;
                scores.marginals[y][j][y] -= 1.0;
            }
        }
        scores
    }

    /// Of two scores their difference, positive for the second class.
    pub fn second_against_first(mut self) -> Self {
        let difference = |w: &mut Vec<f64>| {
            if let [first, second] = w[..] {
                *w = vec![second - first];
            }
        };
        difference(&mut self.base);
        self.marginals.iter_mut().chain(&mut self.pairs).flatten().for_each(difference);
        self.raw.iter_mut().for_each(difference);
        self
    }

    /// Weights of one feature in the outputs.
    pub fn weights_mut(&mut self, id: FeatureId) -> &mut [f64] {
        match id {
            FeatureId::Marginal { class, feature } => &mut self.marginals[class][feature],
            FeatureId::Pair { class, place } => &mut self.pairs[class][place],
            FeatureId::Raw(term) => &mut self.raw[term],
        }
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    /// Scores of rows, output by output for each row.
    pub fn evaluate(&self, features: &Features) -> Vec<Vec<f64>> {
        let mut out = vec![self.base.clone(); features.n_rows];
        let mut add = |column: &[f64], weights: &[f64]| {
            if weights.iter().any(|w| *w != 0.0) {
                for (row, t) in out.iter_mut().zip(column) {
                    row.iter_mut().zip(weights).for_each(|(s, w)| *s += w * t);
                }
            }
        };
        for (y, class) in features.classes.iter().enumerate() {
            class.marginals.iter().zip(&self.marginals[y]).for_each(|(t, w)| add(t, w));
            class.pairs.iter().zip(&self.pairs[y]).for_each(|(t, w)| add(t, w));
        }
        features.raw.iter().zip(&self.raw).for_each(|(t, w)| add(t, w));
        out
    }
}

/// One score for each class: an output `D` of a two-class SVM becomes `(-D/2, D/2)`.
pub fn class_scores(outputs: &[f64]) -> Vec<f64> {
    match outputs {
        [d] => vec![-0.5 * d, 0.5 * d],
        many => many.to_vec(),
    }
}
