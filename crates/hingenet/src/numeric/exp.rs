//! The exponential of many numbers at once. Kernel models spend most of their time in `exp`; this one is
//! plain arithmetic without branches, so the compiler turns the loop into vector instructions.

/// Adding and subtracting this rounds to the nearest integer and leaves it in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `x ← e^x` for every `x <= 0`, with a relative error below 1e-14. Below −708 the result is that of
/// −708 (about 3e-308), which no sum with a term of size one can feel.
pub fn exp_nonpositive(x: &mut [f64]) {
    x.iter_mut().for_each(|v| *v = exp_one(*v));
}

#[inline(always)]
fn exp_one(x: f64) -> f64 {
    let x = x.clamp(-708.0, 0.5);
    let rounded = x * std::f64::consts::LOG2_E + ROUND;
    let k = rounded - ROUND;
    // e^x = 2^k (e^(r/4))^4 with |r| <= ln 2 / 2: nine terms of the series are enough
    let r = 0.25 * ((x - k * LN2_HIGH) - k * LN2_LOW);
    let r2 = r * r;
    let low = 1.0 + r + r2 * (0.5 + r * (1.0 / 6.0));
    let high =
        (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * ((1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0));
    let p = low + (r2 * r2) * high;
    let p2 = p * p;
    let p4 = p2 * p2;
    // the integer k stands in the lowest bits of `rounded`: shifted, it is added to the exponent
    f64::from_bits(p4.to_bits().wrapping_add(rounded.to_bits() << 52))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_exact_exponential() {
        let mut worst: f64 = 0.0;
        for i in 0..70_000 {
            let x = -0.01 * i as f64 + 0.000_37 * (i % 7) as f64;
            let mut v = [x.min(0.0)];
            exp_nonpositive(&mut v);
            worst = worst.max((v[0] / x.min(0.0).exp() - 1.0).abs());
        }
        assert!(worst < 1e-14, "{worst}");
    }

    #[test]
    fn the_ends_are_one_and_almost_zero() {
        let mut v = [0.0, -1e300, f64::NEG_INFINITY, -750.0];
        exp_nonpositive(&mut v);
        assert_eq!(v[0], 1.0);
        assert!(v[1..].iter().all(|x| *x > 0.0 && *x < 1e-300));
    }
}
