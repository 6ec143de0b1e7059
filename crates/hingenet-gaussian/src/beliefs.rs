//! Class networks asked with what is known: mixtures of conditional Gaussians, exact for numbers.
//!
//! A categorical column is a group of indicator nodes. The probability of its states in a class is by rule the density at
//! the indicators of each state, as a share of their sum: `P(s | c, known) = p(s, known | c) / Σ_t p(t, known | c)`. A
//! likelihood over states is a mixture over them with these shares.

use crate::missing::Conditional;
use crate::predict::{GaussianClassifier, class_scores};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::linalg::{Cholesky, Matrix, dot};
use hingenet_base::numeric::log::{argmax, log_sum_exp, softmax};
use hingenet_base::numeric::random::Random;
use hingenet_data::belief::{Belief, Normal, NormalPair};
use hingenet_data::classifier::Classifier;
use hingenet_data::combinations::{Combinations, RowEvidence, with_states};
use hingenet_data::table::{Codes, Table};
use rayon::prelude::*;

/// What follows from one row of known cells and likelihoods over the states of others.
#[derive(Debug, Clone)]
pub struct GaussianBeliefs<'a> {
    model: &'a GaussianClassifier,
    /// The known cells with each combination of the states that the likelihoods leave.
    rows: Table,
    /// `ln P(class, combination | known)`, K values a combination.
    log_weights: Vec<f64>,
    /// `ln p(known)`, numbers in the units of their columns.
    log_evidence: f64,
    /// Means of all nodes given the known ones, for each combination and class as the weights are.
    means: Vec<Vec<f64>>,
    /// How all nodes spread given the known ones, in each class.
    spreads: Vec<Spread>,
}

/// Covariance of the nodes that are not known.
#[derive(Debug, Clone)]
struct Spread {
    /// Place of each node in the covariance; `None` for a known one.
    place: Vec<Option<usize>>,
    covariance: Matrix,
}

impl Spread {
    fn covariance(&self, i: usize, j: usize) -> f64 {
        self.place[i].zip(self.place[j]).map_or(0.0, |at| self.covariance[at])
    }

    fn deviation(&self, j: usize) -> f64 {
        self.covariance(j, j).sqrt()
    }
}

impl GaussianClassifier {
    /// What follows from what is known of a row.
    pub fn beliefs(&self, of: &RowEvidence<'_>) -> Result<GaussianBeliefs<'_>> {
        let (rows, log_weights, log_evidence) = self.weighed(of)?;
        let (means, spreads) = self.conditionals(&rows)?;
        Ok(GaussianBeliefs { model: self, rows, log_weights, log_evidence, means, spreads })
    }

    /// `ln p(known)` alone, see [`GaussianBeliefs::log_evidence`].
    pub fn log_evidence(&self, of: &RowEvidence<'_>) -> Result<f64> {
        Ok(self.weighed(of)?.2)
    }

    /// The known cells with each combination of open states, `ln P(class, combination | known)`, `ln p(known)`.
    fn weighed(&self, of: &RowEvidence<'_>) -> Result<(Table, Vec<f64>, f64)> {
        let combinations = Combinations::new(of, |rows| self.joint_scores(rows))?;
        let (log_weights, seen) = combinations.weights(&self.log_proba(&of.known)?, &of.of_class)?;
        Ok((combinations.rows, log_weights, self.log_density(&of.known)?[0] + seen))
    }

    /// Means of the nodes for each row and class, and their spread in each class; the rows miss the same cells.
    fn conditionals(&self, rows: &Table) -> Result<(Vec<Vec<f64>>, Vec<Spread>)> {
        let x = self.features.encode(rows)?;
        let missing: Vec<bool> = x.row(0).iter().map(|v| v.is_nan()).collect();
        let prepared: Vec<Conditional<'_>> =
            self.networks.iter().map(|g| Conditional::new(g, &missing)).collect::<Result<_>>()?;
        let means = |a: usize| prepared.iter().map(|c| c.complete(x.row(a))).collect::<Vec<_>>();
        let spread = |conditional: &Conditional<'_>| {
            let (nodes, covariance) = conditional.covariance()?;
            let mut place = vec![None; missing.len()];
            nodes.iter().enumerate().for_each(|(at, &j)| place[j] = Some(at));
            Ok(Spread { place, covariance })
        };
        let spreads = prepared.iter().map(spread).collect::<Result<_>>()?;
        Ok(((0..x.rows()).flat_map(means).collect(), spreads))
    }

    fn joint_scores(&self, rows: &Table) -> Result<Vec<f64>> {
        let (x, unwatched) = (self.features.encode(rows)?, Control::default());
        Ok(class_scores(&self.networks, &self.prior, None, &x, &unwatched)?.concat())
    }
}

impl GaussianBeliefs<'_> {
    /// `ln P(class | known)`.
    pub fn log_classes(&self) -> Vec<f64> {
        let k = self.model.prior.len();
        let of = |c: usize| self.log_weights.iter().skip(c).step_by(k).copied().collect::<Vec<f64>>();
        (0..k).map(|c| log_sum_exp(&of(c))).collect()
    }

    /// `ln p(known)`: probabilities for categories and likelihoods, densities for numbers.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// What is believed of column `j`, together with the class.
    pub fn column(&self, j: usize) -> Result<Belief> {
        self.column_by(j, self.model.prior.len(), &|_, class| class)
    }

    /// What is believed of column `j`, together with the state of the categorical column `other`, which a likelihood left
    /// open. The states stand where the classes do.
    pub fn column_with(&self, j: usize, other: usize) -> Result<Belief> {
        let Some(states) = self.rows.column(other).as_categorical() else {
            return Err(Error::data(format!("column {other} has no states"), ""));
        };
        let state = |a: usize, _: usize| states.codes().get(a).unwrap_or(0);
        self.column_by(j, states.categories().len(), &state)
    }

    /// Columns `i` and `j`, which are numbers, together.
    pub fn pair(&self, i: usize, j: usize) -> Result<Vec<NormalPair>> {
        let k = self.model.prior.len();
        let nodes = [self.node(i)?, self.node(j)?];
        let units = nodes.map(|node| &self.model.features.nodes()[node]);
        let both = |at: usize| [0, 1].map(|e| units[e].mean + units[e].scale * self.means[at][nodes[e]]);
        let pair = |(at, log_weight): (usize, &f64)| {
            let spread = &self.spreads[at % k];
            let deviation = nodes.map(|node| spread.deviation(node));
            let product = deviation[0] * deviation[1];
            NormalPair {
                weight: log_weight.exp(),
                mean: both(at),
                sd: [0, 1].map(|e| units[e].scale * deviation[e]),
                correlation: if product > 0.0 {
                    spread.covariance(nodes[0], nodes[1]) / product
                } else {
                    0.0
                },
            }
        };
        Ok(self.log_weights.iter().enumerate().map(pair).collect())
    }

    /// Column `j` together with one of `n` labels of each combination and class.
    fn column_by(&self, j: usize, n: usize, label: &dyn Fn(usize, usize) -> usize) -> Result<Belief> {
        match self.rows.column(j).as_categorical() {
            Some(column) => self.states(j, column.categories().len(), n, label),
            None => self.numbers(j, label),
        }
    }

    fn states(&self, j: usize, r: usize, n: usize, label: &dyn Fn(usize, usize) -> usize) -> Result<Belief> {
        let k = self.model.prior.len();
        let mut joint = vec![0.0; r * n];
        let mut add = |a: usize, shares: &dyn Fn(usize, usize) -> f64| {
            for (s, c) in (0..r).flat_map(|s| (0..k).map(move |c| (s, c))) {
                joint[s * n + label(a, c)] += self.log_weights[a * k + c].exp() * shares(s, c);
            }
        };
        for a in 0..self.rows.n_rows() {
            match self.rows.column(j).as_categorical().and_then(|c| c.codes().get(a)) {
                Some(seen) => add(a, &|s, _| f64::from(u8::from(s == seen))),
                None => {
                    let each = with_states(&self.rows.one_row(a)?, j, r)?;
                    let scores = self.model.joint_scores(&each)?;
                    let of_class = |c: usize| {
                        let mut shares: Vec<f64> = scores.iter().skip(c).step_by(k).copied().collect();
                        softmax(&mut shares);
                        shares
                    };
                    let shares: Vec<Vec<f64>> = (0..k).map(of_class).collect();
                    add(a, &|s, c| shares[c][s]);
                }
            }
        }
        Ok(Belief::States(joint))
    }

    /// The node of a column of numbers.
    fn node(&self, j: usize) -> Result<usize> {
        let node = self.model.features.nodes().iter().position(|n| n.column == j);
        node.ok_or_else(|| Error::data(format!("column {j} has no node"), ""))
    }

    fn numbers(&self, j: usize, label: &dyn Fn(usize, usize) -> usize) -> Result<Belief> {
        let k = self.model.prior.len();
        let node = self.node(j)?;
        let unit = &self.model.features.nodes()[node];
        let normal = |(at, log_weight): (usize, &f64)| Normal {
            class: label(at / k, at % k),
            weight: log_weight.exp(),
            mean: unit.mean + unit.scale * self.means[at][node],
            sd: unit.scale * self.spreads[at % k].deviation(node),
        };
        Ok(Belief::Number(self.log_weights.iter().enumerate().map(normal).collect()))
    }

    /// The most probable class and combination, and in it the mean of every number, which is also its mode, and the most
    /// probable state of every other column; a row as in training.
    pub fn most_probable(&self) -> Result<(usize, Table)> {
        let k = self.model.prior.len();
        let best = argmax(&self.log_weights);
        let (row, class) = (self.rows.one_row(best / k)?, best % k);
        let decoded = self.model.features.decode(&self.means[best..=best])?;
        let own = |j: usize| if row.column(j).is_missing(0) { decoded.column(j) } else { row.column(j) };
        Ok((class, Table::new((0..row.n_columns()).map(|j| own(j).clone()).collect())?))
    }

    /// `n` rows with their classes given everything known, each from its own random stream; a category is the one with the
    /// largest indicator.
    pub fn draw(&self, n: usize, seed: u64) -> Result<(Table, Codes)> {
        let k = self.model.prior.len();
        let x = self.model.features.encode(&self.rows)?;
        let missing: Vec<bool> = x.row(0).iter().map(|v| v.is_nan()).collect();
        let spread = |network| -> Result<(Vec<usize>, Option<Cholesky>)> {
            let (nodes, covariance) = Conditional::new(network, &missing)?.covariance()?;
            let factor = if nodes.is_empty() { None } else { Some(Cholesky::new(&covariance)?) };
            Ok((nodes, factor))
        };
        let spreads: Vec<(Vec<usize>, Option<Cholesky>)> =
            self.model.networks.iter().map(spread).collect::<Result<_>>()?;
        let weights: Vec<f64> = self.log_weights.iter().map(|w| w.exp()).collect();
        let draw = |a: usize| {
            let mut random = Random::stream(seed, a as u64);
            let at = random.weighted(&weights);
            let mut row = self.means[at].clone();
            let (nodes, factor) = &spreads[at % k];
            let z: Vec<f64> = nodes.iter().map(|_| random.normal()).collect();
            if let Some(factor) = factor {
                for (i, &node) in nodes.iter().enumerate() {
                    row[node] += dot(&factor.factor().row(i)[..=i], &z[..=i]);
                }
            }
            (at, row)
        };
        let drawn: Vec<(usize, Vec<f64>)> = (0..n).into_par_iter().map(draw).collect();
        let (from, rows): (Vec<usize>, Vec<Vec<f64>>) = drawn.into_iter().unzip();
        let decoded = self.model.features.decode(&rows)?;
        let known = self.rows.rows(&from.iter().map(|at| at / k).collect::<Vec<_>>());
        let own =
            |j: usize| if self.rows.column(j).is_missing(0) { decoded.column(j) } else { known.column(j) };
        let table = Table::new((0..known.n_columns()).map(|j| own(j).clone()).collect())?;
        Ok((table, Codes::from_options(k, from.iter().map(|at| Some(at % k)))))
    }
}
