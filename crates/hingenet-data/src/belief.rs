//! What is believed of one column, given what is known of others: always together with the class, so that families need
//! to say nothing else.

/// A column and the class.
#[derive(Debug, Clone, PartialEq)]
pub enum Belief {
    /// `P(state, class)`, a value for each class, state by state.
    States(Vec<f64>),
    /// A number: normal distributions whose weights add up to 1.
    Number(Vec<Normal>),
    /// A number on a grid.
    Grid {
        /// The points, ascending.
        at: Vec<f64>,
        /// `P(point, class)`, a value for each class, point by point.
        joint: Vec<f64>,
    },
}

impl Belief {
    /// Number of states or points, with `k` values each; 0 for normal distributions.
    pub fn points(&self, k: usize) -> usize {
        match self {
            Belief::States(joint) | Belief::Grid { joint, .. } => joint.len() / k.max(1),
            Belief::Number(_) => 0,
        }
    }
}

/// A normal distribution that holds in one class, with its share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normal {
    /// Class.
    pub class: usize,
    /// Probability of the class and of what else this distribution supposes.
    pub weight: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation; 0 where the number is certain.
    pub sd: f64,
}

/// A bivariate normal distribution with its share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalPair {
    /// Probability of what this distribution supposes.
    pub weight: f64,
    /// Means.
    pub mean: [f64; 2],
    /// Standard deviations.
    pub sd: [f64; 2],
    /// Correlation.
    pub correlation: f64,
}

/// Mean and standard deviation of a mixture.
pub fn moments(normals: &[Normal]) -> (f64, f64) {
    let mean = normals.iter().map(|n| n.weight * n.mean).sum::<f64>();
    let variance = normals.iter().map(|n| n.weight * (n.sd * n.sd + (n.mean - mean).powi(2))).sum::<f64>();
    (mean, variance.sqrt())
}

/// Mean and standard deviation of points with `k` masses each.
pub fn grid_moments(at: &[f64], joint: &[f64], k: usize) -> (f64, f64) {
    let mass = || at.iter().zip(joint.chunks_exact(k)).map(|(x, row)| (x, row.iter().sum::<f64>()));
    let mean = mass().map(|(x, p)| p * x).sum::<f64>();
    (mean, mass().map(|(x, p)| p * (x - mean).powi(2)).sum::<f64>().sqrt())
}
