//! Loops compiled for the widest vector instructions of the processor, and an exponential the compiler
//! can put into such loops (the one of the standard library is a call per number).

/// Runs `work` compiled for the best instruction set found at run time. What it calls must be inlined to
/// profit, so mark helpers `#[inline(always)]`.
#[inline]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

pub use pulp::{Simd, WithSimd};

/// Runs work that is written in vectors, with those of the processor.
#[inline]
pub fn wide<W: WithSimd>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(work)
}

/// ln 2 in two parts, the first with zeros at its end: its product with an exponent is exact.
const LN2_HI: f64 = 6.931_471_803_691_238e-1;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;

/// Below this argument [`exp`] returns 0 (the true value is below 1e-307).
const LOWEST: f64 = -708.0;

/// `1/13!`, ..., `1/1!`, `1/0!`.
const TAYLOR: [f64; 14] = {
    let (mut c, mut factorial, mut k) = ([1.0; 14], 1.0, 1);
    while k < 14 {
        factorial *= k as f64;
        c[13 - k] = 1.0 / factorial;
        k += 1;
    }
    c
};
/// `1/21`, `1/19`, ..., `1/3`.
const ARTANH: [f64; 10] = {
    let (mut c, mut k) = ([0.0; 10], 0);
    while k < 10 {
        c[k] = 1.0 / (21 - 2 * k) as f64;
        k += 1;
    }
    c
};

/// The polynomial with these coefficients, that of the highest power first. Written out, step by step: the compiler does
/// not put the steps of an inner loop into vectors, which made sums of kernels three times slower.
macro_rules! horner {
    ($x:ident, $coefficients:ident, $first:literal $($next:literal)+) => {{
        let p = $coefficients[$first];
        $(let p = p * $x + $coefficients[$next];)+
        p
    }};
}

/// `e^x` for `x <= 709`, relative error below 4e-16, without branches; 0 below -708.
///
/// `x = k ln 2 + r` with integer k and |r| <= ln 2 / 2; `e^r` by its Taylor polynomial of degree 13
/// (remainder 5e-18) and `2^k` by adding k to the exponent bits.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    const ROUND: f64 = 6755399441055744.0; // 1.5 · 2^52: adding it rounds to an integer in the low bits
    let y = if x < LOWEST { LOWEST } else { x };
    let shifted = y * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (y - k * LN2_HI) - k * LN2_LO;
    let p = horner!(r, TAYLOR, 0 1 2 3 4 5 6 7 8 9 10 11 12 13);
    let scaled = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < LOWEST { 0.0 } else { scaled }
}

/// [`exp`] with fused multiply-adds, relative error below 1e-15: faster where the processor has them, very slow in code
/// that is not compiled for them, so call it only in loops that are inlined into [`vectorised`].
///
/// `e^r` by the polynomial of degree 11 that interpolates it at Chebyshev nodes (error 5e-18), in Estrin's order: few
/// steps depend on each other.
#[inline(always)]
pub fn fused_exp(x: f64) -> f64 {
    const ROUND: f64 = 6755399441055744.0;
    const C: [f64; 12] = [
        1.0,
        1.0,
        5.000_000_000_000_018e-1,
        1.666_666_666_666_668e-1,
        4.166_666_666_648_795e-2,
        8.333_333_333_319_59e-3,
        1.388_888_895_235_286_3e-3,
        1.984_126_989_007_64e-4,
        2.480_148_544_156_131_3e-5,
        2.755_724_088_722_987e-6,
        2.763_265_472_252_779e-7,
        2.511_004_920_481_866e-8,
    ];
    let y = if x < LOWEST { LOWEST } else { x };
    let shifted = y.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2_LO, k.mul_add(-LN2_HI, y));
    let (r2, pair) = (r * r, |k: usize| r.mul_add(C[k + 1], C[k]));
    let r4 = r2 * r2;
    let low = r4.mul_add(r2.mul_add(pair(6), pair(4)), r2.mul_add(pair(2), pair(0)));
    let p = (r4 * r4).mul_add(r2.mul_add(pair(10), pair(8)), low);
    let scaled = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
    if x < LOWEST { 0.0 } else { scaled }
}

/// `ln x` for positive normal numbers, relative error below 1e-15, without branches.
///
/// `x = 2^k m` with m in [√½, √2); `ln m = 2 artanh f`, f = (m − 1) / (m + 1), by its series up to f^21 (remainder 1e-18).
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd; // bits of √½
    const TWO_52: u64 = 0x4330_0000_0000_0000; // bits of 2^52: its low bits count ones
    const BIAS: u64 = 1023;
    // k + 1023 by an unsigned shift: vectors have no signed one.
    let biased = x.to_bits().wrapping_sub(ROOT_HALF).wrapping_add(BIAS << 52) >> 52;
    let k = f64::from_bits(TWO_52 | biased) - (4_503_599_627_370_496.0 + BIAS as f64);
    let m = f64::from_bits(x.to_bits().wrapping_sub(biased.wrapping_sub(BIAS) << 52));
    let f = (m - 1.0) / (m + 1.0);
    let s = f * f;
    let p = horner!(s, ARTANH, 0 1 2 3 4 5 6 7 8 9);
    k * LN2_HI + (2.0 * f + (2.0 * f * s * p + k * LN2_LO))
}

/// `x ← e^x` for all numbers (at most 709).
pub fn exp_in_place(x: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || x.iter_mut().for_each(|v| *v = fused_exp(*v)),
    );
}

/// Numbers a loop works on together.
pub const LANES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for k in 0..200_000 {
            let x = -700.0 + 0.0071 * k as f64;
            if x < 709.0 {
                let (a, b) = (exp(x), x.exp());
                assert!((a - b).abs() <= 4.5e-16 * b, "{x}: {a} {b}");
            }
        }
        assert_eq!(exp(-1e9), 0.0);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn ln_agrees_with_the_standard_library() {
        for k in 0..400_000 {
            let x = 10f64.powf(-300.0 + 0.0015 * k as f64);
            let near_one = 0.5 + 5e-6 * k as f64;
            for x in [x, near_one] {
                assert!((ln(x) - x.ln()).abs() <= 1e-15 * x.ln().abs(), "{x}: {} {}", ln(x), x.ln());
            }
        }
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn the_fused_exponential_agrees_with_the_standard_library() {
        let x: Vec<f64> = (0..150_000).map(|k| -707.0 + 0.0094 * k as f64).filter(|x| *x < 709.0).collect();
        let mut got = vec![0.0; x.len()];
        vectorised(
            #[inline(always)]
            || {
                for (g, x) in got.iter_mut().zip(&x) {
                    *g = fused_exp(*x);
                }
            },
        );
        for (g, x) in got.iter().zip(&x) {
            assert!((g - x.exp()).abs() <= 1e-15 * x.exp(), "{x}: {g} {}", x.exp());
        }
        assert_eq!((fused_exp(-1e9), fused_exp(0.0), fused_exp(f64::NEG_INFINITY)), (0.0, 1.0, 0.0));
    }
}
