//! Fisher's z test of a partial correlation, the only question that the learners of this module ask the data:
//!
//! ```text
//! z = sqrt(n − |S| − 3) artanh r_ij·S,    i and j are independent given S at level α iff |z| <= Φ⁻¹(1 − α/2)
//! ```

use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::linalg::{Matrix, dot};
use statrs::distribution::{ContinuousCDF, Normal};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A node with less variance given others than this is constant, or they determine it.
const MIN_VARIANCE: f64 = 1e-9;
/// Tests after which a learner gives up: minutes of work, and such graphs are too dense to be read.
const MOST_TESTS: u64 = 200_000_000;
/// Tests between two looks at whether to stop.
const CHECK: u64 = 4096;

/// Refuses a level outside its range.
pub fn check_alpha(alpha: f64) -> Result<()> {
    require("alpha", alpha, "a number between 0 and 1", alpha > 0.0 && alpha < 1.0)
}

/// Nodes that are held, as the Cholesky factor of their correlations; nodes that the others determine are left out.
pub(in crate::structure) struct Given<'a> {
    correlation: &'a Matrix,
    nodes: Vec<usize>,
    factor: Vec<Vec<f64>>,
}

impl<'a> Given<'a> {
    pub fn new(correlation: &'a Matrix, nodes: &[usize]) -> Self {
        let (kept, factor) = (Vec::with_capacity(nodes.len()), Vec::with_capacity(nodes.len()));
        let mut given = Given { correlation, nodes: kept, factor };
        for &node in nodes {
            let mut row = given.loadings(node);
            let variance = correlation[(node, node)] - dot(&row, &row);
            if variance > MIN_VARIANCE {
                row.push(variance.sqrt());
                given.nodes.push(node);
                given.factor.push(row);
            }
        }
        given
    }

    /// `L⁻¹ R_Si`.
    fn loadings(&self, i: usize) -> Vec<f64> {
        let mut loadings = Vec::with_capacity(self.nodes.len() + 1);
        for (&node, row) in self.nodes.iter().zip(&self.factor) {
            let known = dot(&row[..loadings.len()], &loadings);
            loadings.push((self.correlation[(i, node)] - known) / row[loadings.len()]);
        }
        loadings
    }

    /// Variance of node i given these, of the 1 it has alone.
    pub fn variance(&self, i: usize) -> f64 {
        let loadings = self.loadings(i);
        self.correlation[(i, i)] - dot(&loadings, &loadings)
    }

    /// Correlation of i and j given these; 0 where one of them does not vary.
    fn partial_correlation(&self, i: usize, j: usize) -> f64 {
        let (of_i, of_j) = (self.loadings(i), self.loadings(j));
        let variance =
            |node: usize, loadings: &[f64]| self.correlation[(node, node)] - dot(loadings, loadings);
        let (v_i, v_j) = (variance(i, &of_i), variance(j, &of_j));
        if v_i <= MIN_VARIANCE || v_j <= MIN_VARIANCE {
            return 0.0;
        }
        ((self.correlation[(i, j)] - dot(&of_i, &of_j)) / (v_i * v_j).sqrt()).clamp(-1.0, 1.0)
    }
}

/// What a search for a separating set found.
pub(super) struct Separation {
    /// The first set that makes the two independent.
    pub by: Option<Vec<usize>>,
    /// |z| of it; without one, the smallest of all sets.
    pub strength: f64,
}

/// The tests of one table.
pub(super) struct Tests<'a> {
    pub correlation: &'a Matrix,
    rows: f64,
    critical: f64,
    control: &'a Control,
    done: AtomicU64,
    is_short_of_rows: AtomicBool,
}

impl<'a> Tests<'a> {
    pub fn new(correlation: &'a Matrix, rows: f64, alpha: f64, control: &'a Control) -> Result<Self> {
        check_alpha(alpha)?;
        let critical = Normal::standard().inverse_cdf(1.0 - 0.5 * alpha);
        let (done, is_short_of_rows) = (AtomicU64::new(0), AtomicBool::new(false));
        Ok(Tests { correlation, rows, critical, control, done, is_short_of_rows })
    }

    pub fn nodes(&self) -> usize {
        self.correlation.rows()
    }

    /// Number of tests so far.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed) as usize
    }

    /// Whether a test had too few rows to say anything.
    pub fn is_short_of_rows(&self) -> bool {
        self.is_short_of_rows.load(Ordering::Relaxed)
    }

    /// Whether |z| speaks against independence.
    pub fn is_significant(&self, strength: f64) -> bool {
        strength > self.critical
    }

    /// |z| of a correlation that `held` nodes are taken out of; 0 where there are too few rows to say.
    pub fn z(&self, correlation: f64, held: usize) -> f64 {
        let freedom = self.rows - held as f64 - 3.0;
        if freedom < 1.0 {
            self.is_short_of_rows.store(true, Ordering::Relaxed);
            return 0.0;
        }
        freedom.sqrt() * correlation.abs().atanh()
    }

    /// |z| of i and j given S.
    pub fn strength(&self, i: usize, j: usize, given: &[usize]) -> Result<f64> {
        Ok(self.strengths(&[i], j, given)?[0])
    }

    /// |z| of each of some nodes and j given S.
    pub fn strengths(&self, nodes: &[usize], j: usize, given: &[usize]) -> Result<Vec<f64>> {
        let before = self.done.fetch_add(nodes.len() as u64, Ordering::Relaxed);
        if before / CHECK != (before + nodes.len() as u64) / CHECK {
            self.check(before)?;
        }
        let held = Given::new(self.correlation, given);
        Ok(nodes.iter().map(|&i| self.z(held.partial_correlation(i, j), given.len())).collect())
    }

    fn check(&self, done: u64) -> Result<()> {
        self.control.check()?;
        if done < MOST_TESTS {
            return Ok(());
        }
        let hint = "lower `alpha`, select columns, or use method `search`";
        Err(Error::too_large("the tests of this many neighbours", done as f64, MOST_TESTS as f64, hint))
    }

    /// Looks for a set that separates i and j: `fixed` and so many of the `pool`, in order of size and then of the pool.
    pub fn separate(
        &self,
        (i, j): (usize, usize),
        fixed: &[usize],
        pool: &[usize],
        sizes: std::ops::RangeInclusive<usize>,
    ) -> Result<Separation> {
        let mut weakest = f64::INFINITY;
        let mut by = None;
        for_each_subset(pool, sizes, |subset| {
            let given = [fixed, subset].concat();
            let strength = self.strength(i, j, &given)?;
            let is_separated = !self.is_significant(strength);
            weakest = if is_separated { strength } else { weakest.min(strength) };
            by = is_separated.then_some(given);
            Ok(is_separated)
        })?;
        Ok(Separation { by, strength: weakest })
    }
}

/// Hands subsets of these sizes on, in order of size and then of the pool, until one is enough.
pub(super) fn for_each_subset(
    pool: &[usize],
    sizes: std::ops::RangeInclusive<usize>,
    mut is_enough: impl FnMut(&[usize]) -> Result<bool>,
) -> Result<()> {
    for size in sizes {
        let mut subsets = Subsets::new(pool.len(), size);
        while let Some(places) = subsets.next() {
            if is_enough(&places.iter().map(|&k| pool[k]).collect::<Vec<_>>())? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Subsets of `0..n` of one size, in lexicographic order.
struct Subsets {
    n: usize,
    places: Vec<usize>,
    is_first: bool,
}

impl Subsets {
    fn new(n: usize, size: usize) -> Self {
        Subsets { n, places: (0..size).collect(), is_first: true }
    }

    fn next(&mut self) -> Option<&[usize]> {
        let k = self.places.len();
        if std::mem::take(&mut self.is_first) {
            return (k <= self.n).then_some(&self.places);
        }
        let moved = (0..k).rev().find(|&t| self.places[t] < self.n - k + t)?;
        self.places[moved] += 1;
        for t in moved + 1..k {
            self.places[t] = self.places[t - 1] + 1;
        }
        Some(&self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_come_in_order_and_once() {
        let all = |n: usize, size: usize| {
            let (mut subsets, mut list) = (Subsets::new(n, size), Vec::new());
            while let Some(places) = subsets.next() {
                list.push(places.to_vec());
            }
            list
        };
        assert_eq!(all(4, 2), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]].map(|p| p.to_vec()));
        assert_eq!((all(3, 0).len(), all(0, 0).len(), all(2, 3).len(), all(7, 3).len()), (1, 1, 0, 35));
    }

    /// x2 = x0 + x1 + noise: x0 and x1 are independent, but not given x2. A copy of x0 says no more than x0.
    #[test]
    fn partial_correlations_of_a_collider_and_of_a_copy() {
        let r = 1.0 / 3f64.sqrt();
        let rows = [[1.0, 0.0, r, 1.0], [0.0, 1.0, r, 0.0], [r, r, 1.0, r], [1.0, 0.0, r, 1.0]];
        let correlation = Matrix::from_fn(4, 4, |i, j| rows[i][j]);
        let partial = |i, j, given: &[usize]| Given::new(&correlation, given).partial_correlation(i, j);
        assert_eq!(partial(0, 1, &[]), 0.0);
        assert!((partial(0, 1, &[2]) + 0.5).abs() < 1e-12);
        assert_eq!((partial(0, 3, &[]), partial(0, 2, &[3]), partial(0, 2, &[3, 0])), (1.0, 0.0, 0.0));
        assert!((partial(1, 2, &[0, 3]) - 0.5f64.sqrt()).abs() < 1e-12);
        let control = Control::default();
        let tests = Tests::new(&correlation, 103.0, 0.05, &control).unwrap();
        assert!((tests.strength(0, 2, &[]).unwrap() - 10.0 * r.atanh()).abs() < 1e-12);
        assert!((tests.critical - 1.959963984540054).abs() < 1e-9);
        let few = Tests::new(&correlation, 4.0, 0.05, &control).unwrap();
        assert!(few.strength(0, 2, &[1]).unwrap() == 0.0 && few.is_short_of_rows());
    }
}
