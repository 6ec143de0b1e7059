//! Counting with bit planes: a column of small codes becomes one row of bits per state, and joint counts
//! are numbers of common bits. Sixty-four rows are compared by one AND.
//!
//! This file holds the only `unsafe` call of the crate. The baseline of x86-64 has no instruction that
//! counts bits; the same plain loop compiled for the processor at hand counts all 435 pair tables of
//! 10^6 x 30 cells (3 classes, 4 states) in 22 ms of processor time instead of 143 ms (AVX-512, measured
//! by the benchmark `tan_fit` on one thread).

/// `out[k] += number of bits common to x and plane k`; the planes stand behind each other, each as long
/// as `x`.
pub fn add_common_bits(x: &[u64], planes: &[u64], out: &mut [u64]) {
    debug_assert_eq!(planes.len(), x.len() * out.len());
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512vpopcntdq") && std::is_x86_feature_detected!("avx512f") {
            // SAFETY: the function needs nothing but the processor features just detected.
            #[allow(unsafe_code)]
            unsafe {
                return add_common_bits_avx512(x, planes, out);
            }
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("popcnt") {
            // SAFETY: the function needs nothing but the processor features just detected.
            #[allow(unsafe_code)]
            unsafe {
                return add_common_bits_avx2(x, planes, out);
            }
        }
    }
    common_bits(x, planes, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn add_common_bits_avx512(x: &[u64], planes: &[u64], out: &mut [u64]) {
    common_bits(x, planes, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn add_common_bits_avx2(x: &[u64], planes: &[u64], out: &mut [u64]) {
    common_bits(x, planes, out);
}

/// Four planes at a time, so that each word of `x` is loaded once for four counts.
#[inline(always)]
fn common_bits(x: &[u64], planes: &[u64], out: &mut [u64]) {
    let n = x.len();
    if n == 0 {
        return;
    }
    let fours = out.len() / 4;
    let (planes4, planes1) = planes.split_at(4 * n * fours);
    let (out4, out1) = out.split_at_mut(4 * fours);
    for (four, out) in planes4.chunks_exact(4 * n).zip(out4.chunks_exact_mut(4)) {
        let (p0, rest) = four.split_at(n);
        let (p1, rest) = rest.split_at(n);
        let (p2, p3) = rest.split_at(n);
        let mut sum = [0u64; 4];
        for ((((x, p0), p1), p2), p3) in x.iter().zip(p0).zip(p1).zip(p2).zip(p3) {
            sum[0] += u64::from((x & p0).count_ones());
            sum[1] += u64::from((x & p1).count_ones());
            sum[2] += u64::from((x & p2).count_ones());
            sum[3] += u64::from((x & p3).count_ones());
        }
        out.iter_mut().zip(sum).for_each(|(o, s)| *o += s);
    }
    for (plane, out) in planes1.chunks_exact(n).zip(out1) {
        *out += x.iter().zip(plane).map(|(x, p)| u64::from((x & p).count_ones())).sum::<u64>();
    }
}

/// Writes the planes of the states `0..n_planes` of a block of codes; `planes` holds `n_planes` rows of
/// `codes.len().div_ceil(64)` words. Codes of `n_planes` and above set no bit as long as they are
/// `n_planes` or the mark 255 of a missing cell.
pub fn pack_planes(codes: &[u8], n_planes: usize, planes: &mut [u64]) {
    let words = codes.len().div_ceil(64);
    debug_assert_eq!(planes.len(), words * n_planes);
    // Enough low bits to tell 0..n_planes from n_planes, and so from 255, whose low bits are all ones.
    let n_bits = (usize::BITS - n_planes.leading_zeros()) as usize;
    let mut bits = [0u64; 8];
    for (w, cells) in codes.chunks(64).enumerate() {
        low_bits(cells, &mut bits[..n_bits]);
        let valid = u64::MAX >> (64 - cells.len());
        for state in 0..n_planes {
            let mut plane = valid;
            for (b, bit) in bits[..n_bits].iter().enumerate() {
                plane &= if state >> b & 1 == 1 { *bit } else { !bit };
            }
            planes[state * words + w] = plane;
        }
    }
}

/// Transposes up to 64 bytes: bit `k` of `bits[b]` becomes bit `b` of byte `k`.
fn low_bits(cells: &[u8], bits: &mut [u64]) {
    const LOW: u64 = 0x0101_0101_0101_0101;
    // Moves the lowest bit of byte k to bit 56 + k.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    bits.fill(0);
    for (k, eight) in cells.chunks(8).enumerate() {
        let mut bytes = [0u8; 8];
        bytes[..eight.len()].copy_from_slice(eight);
        let word = u64::from_le_bytes(bytes);
        for (b, out) in bits.iter_mut().enumerate() {
            *out |= ((word >> b & LOW).wrapping_mul(GATHER) >> 56) << (8 * k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_bits_of_planes_are_joint_counts() {
        let mut random = crate::numeric::random::Random::new(3);
        for n in [1usize, 63, 64, 65, 1000] {
            for r in [1usize, 2, 3, 4, 7, 8, 200] {
                let x: Vec<u8> = (0..n).map(|_| random.below(r) as u8).collect();
                let y: Vec<u8> =
                    (0..n).map(|_| if random.below(5) == 0 { 255 } else { random.below(r) as u8 }).collect();
                let words = n.div_ceil(64);
                let (mut px, mut py) = (vec![0; words * r], vec![0; words * r]);
                pack_planes(&x, r, &mut px);
                pack_planes(&y, r, &mut py);
                for a in 0..r {
                    let mut got = vec![0; r];
                    let plane = &px[a * words..(a + 1) * words];
                    add_common_bits(plane, &py, &mut got);
                    let mut plain = vec![0; r];
                    common_bits(plane, &py, &mut plain);
                    assert_eq!(got, plain);
                    for (b, got) in got.iter().enumerate() {
                        let want =
                            x.iter().zip(&y).filter(|(u, v)| **u as usize == a && **v as usize == b).count();
                        assert_eq!(*got, want as u64, "n {n}, r {r}, states {a}, {b}");
                    }
                }
            }
        }
    }
}
