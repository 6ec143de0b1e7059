//! Seeded random numbers. The generator is named (PCG XSL 128/64) and every draw is defined here, so
//! a seed gives the same stream on every machine and with every version of our dependencies.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng as _, SeedableRng};

/// A stream of random numbers; the same seed and stream number give the same draws for ever.
#[derive(Debug, Clone)]
pub struct Random(Pcg64);

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Random(Pcg64::seed_from_u64(seed))
    }

    /// An independent stream for part `index` of the work of `seed` (a fold, a row, a bootstrap run).
    pub fn stream(seed: u64, index: u64) -> Self {
        // SplitMix64 of both words: neighbouring seeds and indices give unrelated streams.
        let mix = |mut z: u64| {
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Self::new(
            mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ mix(index.wrapping_add(0x3c6e_f372_fe94_f82a)),
        )
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `[0, 1)`, 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..n` without bias (rejection); `n` must be positive.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        debug_assert!(n > 0);
        let limit = u64::MAX - u64::MAX % n;
        loop {
            let x = self.bits();
            if x < limit {
                return (x % n) as usize;
            }
        }
    }

    /// Standard normal (Box-Muller, one draw of each pair).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let u = 1.0 - self.uniform();
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Index drawn with probability proportional to `weights` (non-negative, positive sum).
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.uniform() * weights.iter().sum::<f64>();
        for (i, w) in weights.iter().enumerate() {
            left -= w;
            if left < 0.0 {
                return i;
            }
        }
        weights.iter().rposition(|w| *w > 0.0).unwrap_or(0)
    }

    /// Random order of `0..n` (Fisher-Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }

    /// Shuffles in place (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        // The numbers come from twenty lines of Python integers, written after O'Neill's description of PCG
        // (HMC-CS-2014-0905): eight outputs of a 32-bit generator (increment 0xa17654e46fbe17f3) make state and increment,
        // and `s <- s * 0x2360ed051fc65da44385df649fccf645 + increment` with the output XSL-RR makes the stream.
        let mut r = Random::new(1);
        let first = [r.bits(), r.bits(), r.bits()];
        assert_eq!(first, [0xd701_f5c8_2406_2d47, 0x046d_af9b_8aba_af57, 0x1d28_a998_490d_b5a0]);
        assert_eq!(Random::new(u64::MAX).bits(), 0xd78e_73f2_47b6_8a71);
        assert_eq!(Random::stream(1, 0).bits(), 0xa79f_f4f7_825d_359a);
        assert_eq!(Random::stream(1, 1).bits(), 0x8884_509f_8fbd_cd2f);
        assert_eq!(Random::new(7).uniform(), 4_566_298_534_525.0 / (1u64 << 53) as f64);
        assert_eq!(Random::new(7).permutation(6), [1, 4, 2, 0, 3, 5]);
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut r = Random::new(7);
        let x: Vec<f64> = (0..20_000).map(|_| r.normal()).collect();
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let var = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / x.len() as f64;
        assert!(mean.abs() < 0.03 && (var - 1.0).abs() < 0.04, "{mean} {var}");
    }
}
