//! Tests of independence: the gamma approximation of the null distribution, and corrections for many tests.

/// Gamma approximation of the null distribution of `n HSIC_v`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GammaTest {
    /// Mean E of HSIC_v under independence.
    pub mean: f64,
    /// Variance V of HSIC_v under independence.
    pub variance: f64,
    /// Shape `E²/V`.
    pub shape: f64,
    /// Scale `nV/E`.
    pub scale: f64,
    /// Natural logarithm of the p-value: exact also where the p-value underflows.
    pub log_p: f64,
}

impl GammaTest {
    /// The p-value.
    pub fn p(&self) -> f64 {
        self.log_p.exp()
    }
}

/// Test from the statistic and, for each kernel matrix, the mean entry a and the squared norm of the
/// centred matrix, `b + a² - 2c = |HKH|²_F / n²`:
/// `E = (1-a_K)(1-a_L)/n`, `V = 2(n-4)(n-5)/(n(n-1)(n-2)(n-3)) (..)_K (..)_L`. `None` below six rows or when a
/// variable is constant.
pub fn gamma_test(n: f64, v_statistic: f64, k: (f64, f64), l: (f64, f64)) -> Option<GammaTest> {
    if n < 6.0 {
        return None;
    }
    let mean = (1.0 - k.0) * (1.0 - l.0) / n;
    let variance = 2.0 * (n - 4.0) * (n - 5.0) / (n * (n - 1.0) * (n - 2.0) * (n - 3.0)) * k.1 * l.1;
    if !(mean > 0.0 && variance > 0.0) {
        return None;
    }
    let (shape, scale) = (mean * mean / variance, n * variance / mean);
    Some(GammaTest { mean, variance, shape, scale, log_p: log_gamma_tail(shape, n * v_statistic / scale) })
}

/// `ln Q(a, x)`, the logarithm of the regularised upper incomplete gamma function.
fn log_gamma_tail(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let log_front = a * x.ln() - x - statrs::function::gamma::ln_gamma(a);
    if x < a + 1.0 {
        // 1 - P by the series of P.
        let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
        while term > 1e-17 * sum {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        return (-(log_front + sum.ln()).exp().min(1.0)).ln_1p();
    }
    // Continued fraction of Q by the modified Lentz method.
    let mut b = x + 1.0 - a;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut value = d;
    for i in 1..10_000 {
        let an = -(i as f64) * (i as f64 - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        let factor = d * c;
        value *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    log_front + value.ln()
}

/// Bonferroni: keeps hypothesis t when `p_t <= alpha / T`; takes logarithms of the p-values.
pub fn bonferroni(log_p: &[f64], alpha: f64) -> Vec<bool> {
    let limit = alpha.ln() - (log_p.len() as f64).ln();
    log_p.iter().map(|p| *p <= limit).collect()
}

/// Benjamini-Hochberg: the largest k with `p_(k) <= k q / T`; keeps the k smallest p-values (and ties of the
/// last); takes logarithms of the p-values.
pub fn benjamini_hochberg(log_p: &[f64], q: f64) -> Vec<bool> {
    let mut sorted = log_p.to_vec();
    sorted.sort_by(f64::total_cmp);
    let limit = |k: usize| q.ln() + ((k + 1) as f64).ln() - (log_p.len() as f64).ln();
    match (0..sorted.len()).rev().find(|&k| sorted[k] <= limit(k)) {
        Some(k) => log_p.iter().map(|p| *p <= sorted[k]).collect(),
        None => vec![false; log_p.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gamma_tail_agrees_with_known_values() {
        // Q(1, x) = e^-x; Q(2, x) = (1 + x) e^-x.
        for x in [0.1, 1.0, 5.0, 50.0, 900.0] {
            assert!((log_gamma_tail(1.0, x) + x).abs() < 1e-12 * (1.0 + x), "{x}");
            assert!((log_gamma_tail(2.0, x) - (1.0 + x).ln() + x).abs() < 1e-12 * (1.0 + x), "{x}");
        }
    }

    #[test]
    fn benjamini_hochberg_contains_bonferroni() {
        let log_p: Vec<f64> = [0.001, 0.2, 0.012, 0.04, 0.8, 0.0001].iter().map(|p: &f64| p.ln()).collect();
        let (few, many) = (bonferroni(&log_p, 0.05), benjamini_hochberg(&log_p, 0.05));
        assert_eq!(few, [true, false, false, false, false, true]);
        assert_eq!(many, [true, false, true, false, false, true]);
    }
}
