//! Class scores as a linear function of the log-density features (and raw terms). By Lemma 1 of the paper a forest is one
//! such function, so the SVMs and the generative classifiers share it.

pub mod raw;

use crate::structure::Kept;

/// A list of numbers for each term: the values of a feature, or its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct PerTerm {
    /// Of the densities of each class.
    pub classes: Vec<ClassTerms>,
    /// Of the raw terms.
    pub raw: Vec<Vec<f64>>,
}

/// The lists of one class's densities.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassTerms {
    /// Of `log p_y(x_i)`, feature by feature.
    pub marginals: Vec<Vec<f64>>,
    /// Of `log p_y(x_i, x_j)`, kept pair by kept pair.
    pub pairs: Vec<Vec<f64>>,
}

impl PerTerm {
    /// Lists of so many zeros.
    pub fn zeros(length: usize, n_features: usize, kept: &Kept, n_raw: usize) -> Self {
        let lists = |n: usize| vec![vec![0.0; length]; n];
        let of_class =
            |pairs: &Vec<_>| ClassTerms { marginals: lists(n_features), pairs: lists(pairs.len()) };
        PerTerm { classes: kept.of_class.iter().map(of_class).collect(), raw: lists(n_raw) }
    }

    /// All lists, class by class, the raw ones last.
    pub fn lists(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.classes.iter().flat_map(|c| c.marginals.iter().chain(&c.pairs)).chain(&self.raw)
    }

    /// [`Self::lists`] to be changed.
    pub fn lists_mut(&mut self) -> impl Iterator<Item = &mut Vec<f64>> {
        self.classes.iter_mut().flat_map(|c| c.marginals.iter_mut().chain(&mut c.pairs)).chain(&mut self.raw)
    }
}

/// `score_s(x) = base_s + Σ_{y,i} u_{s,y,i} log p_y(x_i) + Σ_{y,ij} v_{s,y,ij} log p_y(x_i, x_j)`,
/// and the raw terms with their weights.
///
/// There are as many scores as classes; an SVM of two classes has one, positive for the second class.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// Score of each output before any term.
    pub base: Vec<f64>,
    /// Weights of each term in the outputs.
    pub weights: PerTerm,
}

impl Scores {
    /// Lemma 1: the log joint density of class forests, weight 1 for edges and `1 - deg(i)` for features, over pairs of which
    /// the edges of the forests are a part.
    pub fn of_forests(log_prior: &[f64], n_features: usize, forests: &Kept, pairs: &Kept) -> Self {
        let mut weights = PerTerm::zeros(log_prior.len(), n_features, pairs, 0);
        for (y, pairs) in pairs.of_class.iter().enumerate() {
            let ClassTerms { marginals, pairs: of_pairs } = &mut weights.classes[y];
            marginals.iter_mut().for_each(|u| u[y] = 1.0);
            let is_edge = |pair: &(usize, usize)| forests.of_class[y].contains(pair);
            for (p, &(i, j)) in pairs.iter().enumerate().filter(|(_, pair)| is_edge(pair)) {
                of_pairs[p][y] = 1.0;
                marginals[i][y] -= 1.0;
                marginals[j][y] -= 1.0;
            }
        }
        Scores { base: log_prior.to_vec(), weights }
    }

    /// Of two scores their difference, positive for the second class.
    pub fn second_against_first(mut self) -> Self {
        for w in self.weights.lists_mut().chain([&mut self.base]) {
            if let [first, second] = w[..] {
                *w = vec![second - first];
            }
        }
        self
    }

    /// Scores of rows, output by output for each row, from the values of the terms.
    pub fn evaluate(&self, features: &PerTerm) -> Vec<Vec<f64>> {
        let n_rows = features.lists().next().map_or(0, Vec::len);
        let mut out = vec![self.base.clone(); n_rows];
        let in_use = |(_, weights): &(_, &Vec<f64>)| weights.iter().any(|w| *w != 0.0);
        for (column, weights) in features.lists().zip(self.weights.lists()).filter(in_use) {
            for (row, t) in out.iter_mut().zip(column) {
                row.iter_mut().zip(weights).for_each(|(s, w)| *s += w * t);
            }
        }
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
