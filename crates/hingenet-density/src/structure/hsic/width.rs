//! Kernels of the criterion and their widths: the Gaussian kernel with the median rule, and equality for
//! discrete values.

use crate::estimate::sample::Sample;
use hingenet_base::numeric::simd::exp;

/// A bounded kernel with k(u, u) = 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DependenceKernel {
    /// `exp(-(u - v)² / (2σ²))`.
    Gaussian {
        /// The width σ.
        sigma: f64,
    },
    /// `1[u = v]`.
    Equality,
}

impl DependenceKernel {
    /// `k(u, v)`.
    #[inline(always)]
    pub fn value(&self, u: f64, v: f64) -> f64 {
        match self {
            DependenceKernel::Gaussian { sigma } => {
                let t = (u - v) / sigma;
                exp(-0.5 * t * t)
            }
            DependenceKernel::Equality => f64::from(u8::from(u == v)),
        }
    }

    /// The Gaussian kernel of a sample, `σ² = ½ median_{i<j} (x_i - x_j)²`. Where the median distance is 0: equality if there are at most ten
    /// distinct values, else a thousandth of the standard deviation.
    pub fn of(sample: &Sample) -> DependenceKernel {
        let sigma = (0.5 * median_squared_distance(sample)).sqrt();
        if sigma > 0.0 {
            DependenceKernel::Gaussian { sigma }
        } else if sample.n_distinct() <= 10 {
            DependenceKernel::Equality
        } else {
            DependenceKernel::Gaussian { sigma: 1e-3 * sample.sd() }
        }
    }
}

/// Median over i < j of `(x_i - x_j)²` (the mean of the two central ones if their number is even), exactly, in O(n log n):
/// sort, then bisect on the distance (over the bits of the number, so the result is a distance that occurs) and count
/// pairs with two pointers.
fn median_squared_distance(sample: &Sample) -> f64 {
    let n = sample.total;
    let pairs = n * (n - 1.0) / 2.0;
    if pairs < 1.0 {
        return 0.0;
    }
    let sorted = sample.sorted();
    let (low, high) = (((pairs - 1.0) / 2.0).floor(), ((pairs - 1.0) / 2.0).ceil());
    let below = distance_at(&sorted, low);
    let above = if pairs_within(&sorted, below) > high { below } else { next_distance(&sorted, below) };
    0.5 * (below * below + above * above)
}

/// The smallest pairwise distance above `reach`; `reach` if there is none.
fn next_distance(sorted: &Sample, reach: f64) -> f64 {
    let x = &sorted.values;
    let (mut first, mut next) = (0, f64::INFINITY);
    for i in 0..x.len() {
        while x[i] - x[first] > reach {
            first += 1;
        }
        // The left neighbour just out of reach.
        if first > 0 {
            next = next.min(x[i] - x[first - 1]);
        }
    }
    if next.is_finite() { next } else { reach }
}

/// The distance at 0-based position `k` of all pairwise distances.
fn distance_at(sorted: &Sample, k: f64) -> f64 {
    let x = &sorted.values;
    let range = x[x.len() - 1] - x[0];
    let (mut low, mut high) = (0u64, range.to_bits());
    // Invariant: at most k pairs lie below `low`, more than k at or below `high`.
    while low < high {
        let middle = low + (high - low) / 2;
        if pairs_within(sorted, f64::from_bits(middle)) > k {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    f64::from_bits(high)
}

/// Number of pairs (weights counting as repetitions) at distance at most `reach`.
fn pairs_within(sorted: &Sample, reach: f64) -> f64 {
    let (x, w) = (&sorted.values, &sorted.weights);
    let (mut first, mut window, mut count) = (0, 0.0, 0.0);
    for i in 0..x.len() {
        while x[i] - x[first] > reach {
            window -= w[first];
            first += 1;
        }
        // Left neighbours in reach, and pairs of repetitions of this row.
        count += w[i] * window + 0.5 * (w[i] * (w[i] - 1.0)).max(0.0);
        window += w[i];
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_distance_is_that_of_all_pairs() {
        let x = [3.0, -1.0, 0.5, 0.5, 7.25, 2.0, 2.0, 2.0];
        let mut squares: Vec<f64> = Vec::new();
        for i in 0..x.len() {
            for j in 0..i {
                squares.push((x[i] - x[j]) * (x[i] - x[j]));
            }
        }
        squares.sort_by(f64::total_cmp);
        let sample = Sample::new(x.to_vec());
        let merged = Sample::weighted(vec![3.0, -1.0, 0.5, 7.25, 2.0], vec![1.0, 1.0, 2.0, 1.0, 3.0]);
        for s in [&sample, &merged] {
            assert_eq!(median_squared_distance(s), 0.5 * (squares[13] + squares[14]));
        }
    }
}
