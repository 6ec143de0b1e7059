//! Synthetic classes of section 5.1 of the paper: Gaussian and heavier-tailed networks in which each node
//! depends on one parent (`forest`) or three (`bn`). What the paper leaves open is fixed here and said.
//!
//! Open are the number of roots, how parents are chosen, and which third is shared. The numbers of roots (nine of twenty nodes
//! of a forest, six of a network with three parents) were fitted by eye to the errors that the paper prints for n = 400, with few
//! replicates, and the six with [`Orders::Common`]; agreement with its tables is in part the work of that fit.

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

/// In which orders the two networks of [`Networks::bn`] are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// One for each class: the networks are independent, as the paper says. A feature is then a root in one class and far
    /// from any root in the other, so single features tell much: naive Bayes errs far less than the paper prints.
    Independent,
    /// One for both classes, which so have the same roots: the networks differ in their arcs only. Nearer to the printed
    /// errors, though no variant that was tried matches all columns of the table.
    Common,
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

    /// Networks with three parents: in a random order the first six of twenty nodes are roots, every later node draws
    /// three parents among its predecessors. With `share_third` a third of all nodes, at random, have the same
    /// parents in both classes.
    pub fn bn(
        n_features: usize,
        dependence: Dependence,
        orders: Orders,
        share_third: bool,
        seed: u64,
    ) -> Result<Self> {
        require("features", n_features, "a number >= 4", n_features >= 4)?;
        let classes = match orders {
            Orders::Common => of_one_order(n_features, share_third, seed),
            Orders::Independent => {
                let first = Network::three_parents(n_features, &vec![None; n_features], seed, 0);
                let mut shared: Vec<Option<Vec<usize>>> = vec![None; n_features];
                if share_third {
                    for node in third(n_features, &mut Random::stream(seed, 3)) {
                        shared[node] = Some(first.parents[node].clone());
                    }
                }
                let second = Network::three_parents(n_features, &shared, seed, 1);
                [first, second]
            }
        };
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

/// Roots of a network with three parents, of so many nodes.
fn n_roots(n_features: usize) -> usize {
    ((n_features * 6 + 10) / 20).max(3)
}

/// The nodes that have the same parents in both classes.
fn third(n_features: usize, random: &mut Random) -> Vec<usize> {
    let n_shared = (n_features as f64 / 3.0).round() as usize;
    random.permutation(n_features).into_iter().take(n_shared).collect()
}

/// Three nodes of those before, fewer if there are fewer.
fn draw_parents(before: &[usize], random: &mut Random) -> Vec<usize> {
    let mut before = before.to_vec();
    random.shuffle(&mut before);
    before.truncate(3);
    before
}

impl Network {
    /// A network of its own random order, in which some nodes have the parents that are given (perhaps none); the first
    /// of the others in that order are roots, until there are as many as there should be.
    fn three_parents(n_features: usize, given: &[Option<Vec<usize>>], seed: u64, class: u64) -> Self {
        let mut random = Random::stream(seed, class);
        let order = parents_first(&random.permutation(n_features), given);
        let given_roots = given.iter().flatten().filter(|parents| parents.is_empty()).count();
        let mut roots_left = n_roots(n_features).saturating_sub(given_roots);
        let mut parents = vec![Vec::new(); n_features];
        for (at, &node) in order.iter().enumerate() {
            match &given[node] {
                Some(known) => parents[node].clone_from(known),
                // a node with fewer than three before it has to be a root
                None if roots_left > 0 || at < 3 => roots_left = roots_left.saturating_sub(1),
                None => parents[node] = draw_parents(&order[..at], &mut random),
            }
        }
        Network { order, parents }
    }
}

/// The nodes in the given order, but each after the parents that are given for it.
fn parents_first(order: &[usize], given: &[Option<Vec<usize>>]) -> Vec<usize> {
    let (mut sorted, mut waiting) = (Vec::with_capacity(order.len()), order.to_vec());
    while !waiting.is_empty() {
        let is_free = |node: &usize| given[*node].iter().flatten().all(|parent| sorted.contains(parent));
        // the given arcs come from one network, so there is always a free node
        let next = waiting.iter().position(is_free).unwrap_or_default();
        sorted.push(waiting.remove(next));
    }
    sorted
}

/// Two networks of one random order: the same roots, parents drawn for each class.
fn of_one_order(n_features: usize, share_third: bool, seed: u64) -> [Network; 2] {
    let mut random = Random::stream(seed, 2);
    let order = random.permutation(n_features);
    // the permutation is drawn in any case, so that the rest does not depend on whether it is used
    let mut shared = third(n_features, &mut random);
    shared.truncate(if share_third { shared.len() } else { 0 });
    let mut parents = [vec![Vec::new(); n_features], vec![Vec::new(); n_features]];
    for at in n_roots(n_features)..n_features {
        let node = order[at];
        parents[0][node] = draw_parents(&order[..at], &mut random);
        parents[1][node] = match shared.contains(&node) {
            true => parents[0][node].clone(),
            false => draw_parents(&order[..at], &mut random),
        };
    }
    parents.map(|parents| Network { order: order.clone(), parents })
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const N: usize = 20;

    fn arcs(networks: &Networks, y: usize) -> Vec<(usize, usize)> {
        let parents = networks.parents(y).iter().enumerate();
        parents.flat_map(|(node, list)| list.iter().map(move |p| (*p, node))).collect()
    }

    proptest! {
        /// Parents come before their children, a node has none or three, and there are as many roots as are wanted.
        #[test]
        fn networks_are_what_they_are_said_to_be(seed in 0u64..500, shared: bool, common: bool) {
            let orders = if common { Orders::Common } else { Orders::Independent };
            let networks = Networks::bn(N, Dependence::Simple, orders, shared, seed).unwrap();
            for network in &networks.classes {
                let place = |node: usize| network.order.iter().position(|x| *x == node).unwrap();
                for (node, parents) in network.parents.iter().enumerate() {
                    prop_assert!(parents.is_empty() || parents.len() == 3);
                    prop_assert!(parents.iter().all(|p| place(*p) < place(node)));
                }
                let roots = network.parents.iter().filter(|p| p.is_empty()).count();
                prop_assert!(roots == 6 || (shared && (6..=9).contains(&roots)), "{roots}");
            }
            let same = (0..N).filter(|&v| networks.parents(0)[v] == networks.parents(1)[v]).count();
            prop_assert!(!shared || same >= 7, "{same}");
        }
    }

    /// Share of nodes that are roots in both classes, and of arcs that both classes have, over many networks.
    fn common(orders: Orders, shared: bool) -> (f64, f64) {
        let (mut roots, mut both, mut all) = (0, 0, 0);
        for seed in 0..400 {
            let networks = Networks::bn(N, Dependence::Simple, orders, shared, seed).unwrap();
            let is_root = |y: usize, v: usize| networks.parents(y)[v].is_empty();
            roots += (0..N).filter(|&v| is_root(0, v) && is_root(1, v)).count();
            let second = arcs(&networks, 1);
            both += arcs(&networks, 0).iter().filter(|arc| second.contains(arc)).count();
            all += second.len();
        }
        (roots as f64 / (400 * N) as f64, both as f64 / all as f64)
    }

    /// Of independent networks a node is a root in both by chance, 0.3², and an arc is in both by chance, 42/380; common
    /// orders have the same roots always; a third of the arcs more are in both where a third of the nodes share them.
    #[test]
    fn networks_are_independent_unless_something_is_shared() {
        let (roots, arcs) = common(Orders::Independent, false);
        assert!((roots - 0.09).abs() < 0.01 && (arcs - 42.0 / 380.0).abs() < 0.015, "{roots} {arcs}");
        let (roots, _) = common(Orders::Common, false);
        assert!((roots - 0.3).abs() < 1e-12, "{roots}");
        for orders in [Orders::Independent, Orders::Common] {
            let (apart, joined) = (common(orders, false).1, common(orders, true).1);
            assert!(joined > apart + 0.15, "{orders:?}: {apart} {joined}");
        }
    }
}
