//! Sums and normalisation in log space. `lse(v) = ln Σ exp(v)` is always computed with the maximum
//! subtracted; `-inf` is a legal value (probability zero), NaN is not.

/// `ln Σ_j exp(v_j)`; `-inf` for an empty slice or one that is all `-inf`.
#[inline]
pub fn log_sum_exp(v: &[f64]) -> f64 {
    let max = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max.is_infinite() {
        return max;
    }
    max + v.iter().map(|x| (x - max).exp()).sum::<f64>().ln()
}

/// `ln(e^a + e^b)`.
#[inline]
pub fn log_add(a: f64, b: f64) -> f64 {
    let (hi, lo) = if a >= b { (a, b) } else { (b, a) };
    if lo == f64::NEG_INFINITY { hi } else { hi + (lo - hi).exp().ln_1p() }
}

/// A sum beyond this has lost the digits of `ln Σ exp` that a probability needs.
const COARSE: f64 = 1e8;

/// Shifts `v` so that `lse(v) = 0` and returns the old `lse`. A slice that is all `-inf` stays.
#[inline]
pub fn log_normalise(v: &mut [f64]) -> f64 {
    let total = log_sum_exp(v);
    if total.is_finite() {
        v.iter_mut().for_each(|x| *x -= total);
        if total.abs() > COARSE {
            let left = log_sum_exp(v);
            v.iter_mut().for_each(|x| *x -= left);
        }
    }
    total
}

/// Turns log weights into probabilities that sum to one, in place; returns the old `lse`.
#[inline]
pub fn softmax(v: &mut [f64]) -> f64 {
    let total = log_normalise(v);
    v.iter_mut().for_each(|x| *x = x.exp());
    total
}

/// Index of the largest value, ties to the smallest index.
#[inline]
pub fn argmax(v: &[f64]) -> usize {
    let mut best = 0;
    for (i, x) in v.iter().enumerate() {
        if *x > v[best] {
            best = i;
        }
    }
    best
}

/// Mutual information (nats) of the row and the column of a table of weights with `k` columns.
pub fn mutual_information(table: &[f64], k: usize) -> f64 {
    let n: f64 = table.iter().sum();
    let mut class = vec![0.0; k];
    table.chunks_exact(k).for_each(|row| class.iter_mut().zip(row).for_each(|(t, v)| *t += v));
    let mut information = 0.0;
    for row in table.chunks_exact(k) {
        let state: f64 = row.iter().sum();
        for (v, c) in row.iter().zip(&class).filter(|(v, _)| **v > 0.0) {
            let by_chance = state * c;
            // Products of tiny shares vanish where their logarithms do not.
            let log_ratio = if by_chance > f64::MIN_POSITIVE {
                (v * n / by_chance).ln()
            } else {
                v.ln() + n.ln() - state.ln() - c.ln()
            };
            information += v / n * log_ratio;
        }
    }
    information
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_of_tables() {
        let ln2 = 2f64.ln();
        assert!((mutual_information(&[1.0, 0.0, 0.0, 1.0], 2) - ln2).abs() < 1e-15);
        assert!(mutual_information(&[1.0, 2.0, 3.0, 2.0, 4.0, 6.0], 3).abs() < 1e-15);
        assert!(mutual_information(&[1.0, 1e-200, 1e-200, 1e-300], 2).abs() < 1e-15);
    }

    #[test]
    fn huge_and_tiny_values_do_not_overflow() {
        assert!((log_sum_exp(&[1000.0, 1000.0]) - (1000.0 + 2f64.ln())).abs() < 1e-12);
        assert!((log_sum_exp(&[-1000.0, -1001.0]) - (-1000.0 + (1.0 + (-1f64).exp()).ln())).abs() < 1e-12);
        assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
        assert_eq!(log_sum_exp(&[f64::NEG_INFINITY; 3]), f64::NEG_INFINITY);
        assert_eq!(log_add(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert!((log_add(-3.0, 2.0) - log_sum_exp(&[-3.0, 2.0])).abs() < 1e-15);
    }

    #[test]
    fn scores_of_any_size_become_probabilities() {
        for size in [0.0, 1e3, 1e10, 1e17, 1e300] {
            let mut v = [size, size, -size, size];
            log_normalise(&mut v);
            assert!((v.iter().map(|x| x.exp()).sum::<f64>() - 1.0).abs() < 1e-12, "{size}: {v:?}");
        }
    }

    #[test]
    fn ties_go_to_the_smallest_index() {
        assert_eq!(argmax(&[1.0, 2.0, 2.0]), 1);
    }
}
