//! Sums of whole numbers and of their products, which depend neither on the order of the rows nor on how they come in
//! pieces.

use crate::error::{Error, Result, require_len};
use rayon::prelude::*;

/// Largest number that may be summed, in size.
pub const LARGEST: u64 = 1 << 47;
/// Most rows: sums of products of that many numbers stay below 2^127.
pub const MOST_ROWS: u64 = 1 << 31;

/// Sums over rows of whole numbers, one for each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactSums {
    /// Total weight of the rows.
    pub rows: u64,
    /// `Σ u_i`.
    pub sums: Vec<i128>,
    /// `Σ u_i u_j` for `j <= i`, row by row.
    pub products: Vec<i128>,
}

impl ExactSums {
    /// Those of no rows of so many columns.
    pub fn empty(columns: usize) -> Self {
        ExactSums { rows: 0, sums: vec![0; columns], products: vec![0; columns * (columns + 1) / 2] }
    }

    /// Sums of columns, none of whose numbers is beyond [`LARGEST`], with whole weights; refuses weights whose sums of
    /// products might overflow.
    pub fn of(columns: &[Vec<i64>], weights: &[u64]) -> Result<Self> {
        let rows = weights.iter().try_fold(0u64, |sum, w| sum.checked_add(*w)).filter(|n| *n <= MOST_ROWS);
        let rows = rows.ok_or_else(|| {
            let problem = "the rows of a class weigh more than 2^31 together";
            Error::data(problem, "divide all weights by the same number, or give fewer rows")
        })?;
        let is_plain = weights.iter().all(|w| *w == 1);
        let sum =
            |u: &Vec<i64>| u.iter().zip(weights).map(|(u, w)| i128::from(*u) * i128::from(*w)).sum::<i128>();
        let line = |i: usize| {
            let product = |u: &Vec<i64>| match is_plain {
                true => plain_product(&columns[i], u),
                false => {
                    let cells = columns[i].iter().zip(u).zip(weights);
                    cells.map(|((a, b), w)| i128::from(*a) * i128::from(*b) * i128::from(*w)).sum()
                }
            };
            columns[..=i].iter().map(product).collect::<Vec<i128>>()
        };
        Ok(ExactSums {
            rows,
            sums: columns.par_iter().map(sum).collect(),
            products: (0..columns.len()).into_par_iter().flat_map_iter(line).collect(),
        })
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.sums.len()
    }

    /// `Σ u_i u_j`.
    pub fn product(&self, i: usize, j: usize) -> i128 {
        let (i, j) = (i.max(j), i.min(j));
        self.products[i * (i + 1) / 2 + j]
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, other: &ExactSums) -> Result<()> {
        require_len("sums of a piece", self.sums.len(), other.sums.len())?;
        require_len("products of a piece", self.products.len(), other.products.len())?;
        let overflow = || Error::model_file("the sums of the rows overflow");
        self.rows = self.rows.checked_add(other.rows).ok_or_else(overflow)?;
        let own = self.sums.iter_mut().chain(&mut self.products);
        for (a, b) in own.zip(other.sums.iter().chain(&other.products)) {
            *a = a.checked_add(*b).ok_or_else(overflow)?;
        }
        Ok(())
    }

    /// Whether rows of so many columns can have such sums (for what is read from a file): nothing that is computed from
    /// them overflows.
    pub fn is_possible(&self, columns: usize) -> bool {
        let most = i128::from(self.rows.min(MOST_ROWS)) << 47;
        self.sums.len() == columns
            && self.products.len() == columns * (columns + 1) / 2
            && self.sums.iter().all(|s| s.checked_abs().is_some_and(|s| s <= most))
            && self.products.iter().all(|p| p.checked_abs().is_some_and(|p| p >> 47 <= most))
    }

    /// Memory, about.
    pub fn bytes(&self) -> usize {
        16 * (self.sums.len() + self.products.len())
    }
}

/// `Σ a b`.
fn plain_product(a: &[i64], b: &[i64]) -> i128 {
    a.iter().zip(b).map(|(a, b)| i128::from(*a) * i128::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row by row, in any order and in any pieces.
    #[test]
    fn sums_are_those_of_the_rows() {
        let columns = vec![vec![1, -2, 3], vec![1 << 47, 5, -(1 << 47)]];
        let weights = [2, 1, 3];
        let all = ExactSums::of(&columns, &weights).unwrap();
        assert_eq!((all.rows, &all.sums[..]), (6, &[9, (2 - 3) * (1i128 << 47) + 5][..]));
        assert_eq!(all.product(0, 1), (2 - 9) * (1i128 << 47) - 10);
        assert_eq!(all.product(1, 0), all.product(0, 1));
        let part = |rows: &[usize]| {
            let of = |u: &Vec<i64>| rows.iter().map(|&m| u[m]).collect();
            let weights: Vec<u64> = rows.iter().map(|&m| weights[m]).collect();
            ExactSums::of(&columns.iter().map(of).collect::<Vec<_>>(), &weights).unwrap()
        };
        let mut merged = part(&[2]);
        merged.merge(&ExactSums::empty(2)).unwrap();
        merged.merge(&part(&[1, 0])).unwrap();
        assert_eq!(merged, all);
        assert!(all.is_possible(2) && !all.is_possible(1));
        assert!(merged.merge(&ExactSums::empty(1)).is_err());
        merged.products[0] = i128::MIN;
        assert!(!merged.is_possible(2));
    }

    /// Two products of the largest numbers with weights of 2^32 are 2^127, which is a negative number.
    #[test]
    fn weights_whose_products_overflow_are_refused() {
        let largest = vec![vec![1 << 47; 2]];
        let most = ExactSums::of(&largest, &[1 << 30; 2]).unwrap();
        assert_eq!(most.products, [1i128 << 125]);
        for weights in [[1 << 32; 2], [u64::MAX, 1]] {
            let error = ExactSums::of(&largest, &weights).unwrap_err();
            assert!(error.to_string().contains("weigh more than 2^31"), "{error}");
        }
    }
}
