//! Rows of two sparse Gaussian networks, one a class, that differ in a few arcs and means: a stand-in for the imaging
//! data of the paper's third experiment, which are not public.

use crate::network::GaussianNetwork;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;

/// Nodes of the stand-in.
pub const NODES: usize = 40;

const ARCS: usize = 80;
/// An arc runs at most this far in the order of the nodes.
const REACH: usize = 12;
const LOST: usize = 8;
const FLIPPED: usize = 8;
const SHIFTED: usize = 6;
const SHIFT: f64 = 0.4;
/// Share of the first class: 50 of 120 subjects.
const FIRST_CLASS: f64 = 50.0 / 120.0;

/// Networks of two classes over the same nodes, in random order.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassNetworks {
    networks: [GaussianNetwork; 2],
}

impl ClassNetworks {
    /// 40 nodes and 80 arcs with weights ±U(0.3, 0.7) and unit noise. The second class lacks 8 arcs, has 8 with the
    /// other sign, and 6 means are shifted by ±0.4.
    pub fn new(seed: u64) -> Result<Self> {
        let mut random = Random::stream(seed, u64::MAX);
        let mut pairs: Vec<(usize, usize)> =
            (0..NODES).flat_map(|i| (i + 1..(i + REACH + 1).min(NODES)).map(move |j| (i, j))).collect();
        random.shuffle(&mut pairs);
        pairs.truncate(ARCS);
        let sign = |random: &mut Random| if random.below(2) == 0 { 1.0 } else { -1.0 };
        let first: Vec<(usize, usize, f64)> =
            pairs.iter().map(|&(i, j)| (i, j, sign(&mut random) * (0.3 + 0.4 * random.uniform()))).collect();
        // The arcs are in random order already.
        let mut second = first[LOST..].to_vec();
        second[..FLIPPED].iter_mut().for_each(|(_, _, w)| *w = -*w);
        let mut shift = vec![0.0; NODES];
        for &j in &random.permutation(NODES)[..SHIFTED] {
            shift[j] = SHIFT * sign(&mut random);
        }
        let place = random.permutation(NODES);
        let networks = [network(&first, &[0.0; NODES], &place)?, network(&second, &shift, &place)?];
        Ok(ClassNetworks { networks })
    }

    /// The network of class 0 or 1.
    pub fn network(&self, class: usize) -> &GaussianNetwork {
        &self.networks[class.min(1)]
    }

    /// A row and its class.
    pub fn row(&self, random: &mut Random) -> (Vec<f64>, usize) {
        let class = usize::from(random.uniform() >= FIRST_CLASS);
        (self.networks[class].sample(random), class)
    }
}

/// Node k of the arcs becomes node `place[k]`.
fn network(arcs: &[(usize, usize, f64)], bias: &[f64], place: &[usize]) -> Result<GaussianNetwork> {
    let (mut theta, mut moved) = (Matrix::zeros(NODES, NODES), vec![0.0; NODES]);
    arcs.iter().for_each(|&(i, j, w)| theta[(place[i], place[j])] = w);
    bias.iter().enumerate().for_each(|(k, b)| moved[place[k]] = *b);
    GaussianNetwork::new(&theta, moved, vec![1.0; NODES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_differ_in_sixteen_arcs_and_six_means() {
        let networks = ClassNetworks::new(3).unwrap();
        let (a, b) = (networks.network(0), networks.network(1));
        assert_eq!((a.dag().arcs().count(), b.dag().arcs().count()), (80, 72));
        let (first, second) = (a.theta(), b.theta());
        let changes = first.data().iter().zip(second.data()).filter(|(x, y)| x != y);
        assert_eq!(changes.clone().count(), 16);
        assert_eq!(changes.filter(|(x, y)| **x == -**y && **y != 0.0).count(), 8);
        assert_eq!(b.bias().iter().filter(|v| v.abs() == 0.4).count(), 6);
        assert_ne!(networks, ClassNetworks::new(4).unwrap());
    }
}
