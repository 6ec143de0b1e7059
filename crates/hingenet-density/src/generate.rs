//! Synthetic classes of section 5.1 of the paper: Gaussian and heavier-tailed networks in which each node
//! depends on one parent (`forest`) or three (`bn`). What the paper leaves open is fixed here and said.

use hingenet_base::error::{Result, require};
use hingenet_base::numeric::random::Random;

/// How a node depends on its parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependence {
    /// `N(sum of parents, 1)`.
    Simple,
    /// With probability 1/2 the sum of the parents plus t with 5 degrees of freedom, else one of two normal
    /// distributions; the choice is drawn for each row.
    Complex,
}

/// Two networks, one for each class, over the same features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Networks {
    classes: [Network; 2],
    dependence: Dependence,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Network {
    /// Nodes, parents first.
    order: Vec<usize>,
    parents: Vec<Vec<usize>>,
}

impl Networks {
    /// Forests: for each class its own random order; nine of twenty nodes are roots (the first and others at random),
    /// every other node has one parent among its predecessors.
    pub fn forest(n_features: usize, dependence: Dependence, seed: u64) -> Result<Self> {
        require("features", n_features, "a number >= 2", n_features >= 2)?;
        let roots = (n_features * 9 + 10) / 20;
        let network = |class: u64| {
            let mut random = Random::stream(seed, class);
            let order = random.permutation(n_features);
            let mut later: Vec<usize> = (1..n_features).collect();
            random.shuffle(&mut later);
            later.truncate(roots.max(1) - 1);
            let mut parents = vec![Vec::new(); n_features];
            for at in 1..n_features {
                if !later.contains(&at) {
                    parents[order[at]] = vec![order[random.below(at)]];
                }
            }
            Network { order, parents }
        };
        Ok(Networks { classes: [network(0), network(1)], dependence })
    }

    /// Networks with three parents: one random order for both classes, the first six of twenty nodes are roots, every
    /// later node draws three parents among its predecessors. With `share_third` a third of all nodes, at
    /// random, have the same parents in both classes.
    pub fn bn(n_features: usize, dependence: Dependence, share_third: bool, seed: u64) -> Result<Self> {
        require("features", n_features, "a number >= 4", n_features >= 4)?;
        let roots = ((n_features * 6 + 10) / 20).max(3);
        let mut random = Random::stream(seed, 2);
        let order = random.permutation(n_features);
        let n_shared = if share_third { (n_features as f64 / 3.0).round() as usize } else { 0 };
        let shared: Vec<usize> = random.permutation(n_features).into_iter().take(n_shared).collect();
        let mut draw = |at: usize| {
            let mut before = order[..at].to_vec();
            random.shuffle(&mut before);
            before.truncate(3);
            before
        };
        let mut parents = [vec![Vec::new(); n_features], vec![Vec::new(); n_features]];
        for at in roots..n_features {
            let node = order[at];
            parents[0][node] = draw(at);
            parents[1][node] = if shared.contains(&node) { parents[0][node].clone() } else { draw(at) };
        }
        let classes = parents.map(|parents| Network { order: order.clone(), parents });
        Ok(Networks { classes, dependence })
    }

    /// Parents of every node in the network of class `y`.
    pub fn parents(&self, y: usize) -> &[Vec<usize>] {
        &self.classes[y.min(1)].parents
    }

    /// Draws a row of class `y` (0 or 1).
    pub fn row(&self, y: usize, random: &mut Random) -> Vec<f64> {
        let network = &self.classes[y.min(1)];
        let mut x = vec![0.0; network.order.len()];
        for &node in &network.order {
            let z: Vec<f64> = network.parents[node].iter().map(|&p| x[p]).collect();
            x[node] = match (self.dependence, z.len()) {
                (Dependence::Simple, _) | (_, 0) => z.iter().sum::<f64>() + random.normal(),
                (Dependence::Complex, _) => complex(&z, random),
            };
        }
        x
    }
}

/// Half of the draws: the sum of the parents plus t₅. The others: one parent z, `N(z ± 1, 1)`; three parents,
/// `N(z1 + z2, 1)` or `N(z2 + z3, 1)`.
fn complex(z: &[f64], random: &mut Random) -> f64 {
    if random.uniform() < 0.5 {
        return z.iter().sum::<f64>() + student5(random);
    }
    let first = random.uniform() < 0.5;
    let centre = match z {
        [a, b, c] => {
            if first {
                a + b
            } else {
                b + c
            }
        }
        one => one.iter().sum::<f64>() + if first { 1.0 } else { -1.0 },
    };
    centre + random.normal()
}

fn student5(random: &mut Random) -> f64 {
    let chi: f64 = (0..5).map(|_| random.normal().powi(2)).sum();
    random.normal() / (chi / 5.0).sqrt()
}
