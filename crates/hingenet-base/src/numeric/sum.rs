//! Parallel sums with the same bits for every number of threads: chunks are fixed, and their results
//! are combined in order. (`par_iter().sum()` regroups with the pool and drifts.)

use rayon::prelude::*;

/// Rows per chunk of the parallel sums: enough work for a thread, many more chunks than threads.
pub const CHUNK: usize = 1024;

/// `work(range)` for consecutive ranges of at most `chunk` indices, results in order.
pub fn ordered_chunks<T: Send>(
    n: usize,
    chunk: usize,
    work: impl Fn(std::ops::Range<usize>) -> T + Sync,
) -> Vec<T> {
    let chunks = n.div_ceil(chunk.max(1));
    (0..chunks).into_par_iter().map(|c| work(c * chunk..((c + 1) * chunk).min(n))).collect()
}

/// Adds `x` to `total`, element by element.
#[inline]
pub fn add_into(total: &mut [f64], x: &[f64]) {
    debug_assert_eq!(total.len(), x.len());
    total.iter_mut().zip(x).for_each(|(t, v)| *t += v);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_same_bits_on_1_2_and_8_threads() {
        let f = |i: usize| 1.0 / (1.0 + i as f64).sqrt();
        let sum = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let parts = || ordered_chunks(100_003, CHUNK, |range| range.map(f).sum::<f64>());
            pool.install(parts).into_iter().sum::<f64>().to_bits()
        };
        assert_eq!(sum(1), sum(2));
        assert_eq!(sum(1), sum(8));
    }
}
