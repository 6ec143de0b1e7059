//! Loops compiled for the widest vector instructions of the processor, and an exponential the compiler
//! can put into such loops (the one of the standard library is a call per number).

/// Runs `work` compiled for the best instruction set found at run time. What it calls must be inlined to
/// profit, so mark helpers `#[inline(always)]`.
#[inline]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// Below this argument [`exp`] returns 0 (the true value is below 1e-307).
const LOWEST: f64 = -708.0;

/// `e^x` for `x <= 709`, relative error below 4e-16, without branches; 0 below -708.
///
/// `x = k ln 2 + r` with integer k and |r| <= ln 2 / 2; `e^r` by its Taylor polynomial of degree 13
/// (remainder 5e-18) and `2^k` by adding k to the exponent bits.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    const ROUND: f64 = 6755399441055744.0; // 1.5 · 2^52: adding it rounds to an integer in the low bits
    const LN2_HI: f64 = 6.931_471_803_691_238e-1;
    const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;
    let y = if x < LOWEST { LOWEST } else { x };
    let shifted = y * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (y - k * LN2_HI) - k * LN2_LO;
    let mut p = 1.0 / 6_227_020_800.0;
    p = p * r + 1.0 / 479_001_600.0;
    p = p * r + 1.0 / 39_916_800.0;
    p = p * r + 1.0 / 3_628_800.0;
    p = p * r + 1.0 / 362_880.0;
    p = p * r + 1.0 / 40_320.0;
    p = p * r + 1.0 / 5_040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    let scaled = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < LOWEST { 0.0 } else { scaled }
}

/// [`exp`] with fused multiply-add: about two thirds of its time inside [`vectorised`] on processors that
/// have the instruction, but slow outside of it.
#[inline(always)]
pub fn fused_exp(x: f64) -> f64 {
    const ROUND: f64 = 6755399441055744.0;
    const LN2_HI: f64 = 6.931_471_803_691_238e-1;
    const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;
    const TERMS: [f64; 13] = [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let y = if x < LOWEST { LOWEST } else { x };
    let shifted = y.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2_LO, k.mul_add(-LN2_HI, y));
    let mut p = 1.0 / 6_227_020_800.0;
    for term in TERMS {
        p = r.mul_add(p, term);
    }
    let scaled = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < LOWEST { 0.0 } else { scaled }
}

/// `x ← e^x` for all numbers (at most 709).
pub fn exp_in_place(x: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || x.iter_mut().for_each(|v| *v = fused_exp(*v)),
    );
}

/// `Σ_i w_i e^{u_i}` in eight running sums, so that the order is fixed and the additions overlap.
#[inline(always)]
pub fn weighted_exp_sum(u: &[f64], w: &[f64]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (u8s, w8s) = (u.chunks_exact(8), w.chunks_exact(8));
    let tail: f64 = u8s.remainder().iter().zip(w8s.remainder()).map(|(u, w)| w * exp(*u)).sum();
    for (u, w) in u8s.zip(w8s) {
        for k in 0..8 {
            sums[k] += w[k] * exp(u[k]);
        }
    }
    let pairs = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
    (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]) + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for k in 0..200_000 {
            let x = -700.0 + 0.0071 * k as f64;
            if x < 709.0 {
                let b = x.exp();
                for a in [exp(x), fused_exp(x)] {
                    assert!((a - b).abs() <= 4.5e-16 * b, "{x}: {a} {b}");
                }
            }
        }
        assert_eq!(exp(-1e9), 0.0);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn the_vectorised_sum_is_the_sum() {
        let u: Vec<f64> = (0..37).map(|i| -0.3 * i as f64).collect();
        let w: Vec<f64> = (0..37).map(|i| 1.0 + (i % 3) as f64).collect();
        let want: f64 = u.iter().zip(&w).map(|(u, w)| w * u.exp()).sum();
        let got = vectorised(|| weighted_exp_sum(&u, &w));
        assert!((got - want).abs() < 1e-13 * want);
    }
}
