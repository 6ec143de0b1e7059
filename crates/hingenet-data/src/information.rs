//! Mutual information of coded columns from tables of counts, in nats, by raw relative frequencies.

/// `I(A; B | C)` from the counts `n(c, a, b)`, class by class, each `r_a` rows of `r_b`:
/// `Σ n(c,a,b)/n log [ n(c,a,b) n(c) / (n(c,a) n(c,b)) ]`.
pub fn conditional(table: &[f64], r_a: usize, r_b: usize) -> f64 {
    let total: f64 = table.iter().sum();
    if total <= 0.0 {
        return 0.0;
    }
    let mut column = vec![0.0; r_b];
    let mut sum = 0.0;
    for slice in table.chunks_exact(r_a * r_b) {
        let n_c: f64 = slice.iter().sum();
        column.fill(0.0);
        for row in slice.chunks_exact(r_b) {
            column.iter_mut().zip(row).for_each(|(t, n)| *t += n);
        }
        for row in slice.chunks_exact(r_b) {
            let n_ca: f64 = row.iter().sum();
            sum += row.iter().zip(&column).map(|(&n, &n_cb)| term(n, n_c, n_ca, n_cb)).sum::<f64>();
        }
    }
    settle(sum / total)
}

/// `I(A; B)` from the counts `n(a, b)`, rows of `r_b`.
pub fn mutual(table: &[f64], r_b: usize) -> f64 {
    conditional(table, table.len() / r_b, r_b)
}

/// `n log [ n n_c / (n_ca n_cb) ]`, zero for n = 0.
pub fn term(n: f64, n_c: f64, n_ca: f64, n_cb: f64) -> f64 {
    if n > 0.0 { n * ((n / n_ca) * (n_c / n_cb)).ln() } else { 0.0 }
}

/// Not negative and rounded to 12 decimals, so that ties do not depend on the order of summation.
pub fn settle(information: f64) -> f64 {
    (information.max(0.0) * 1e12).round() / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_columns_have_no_information_and_equal_ones_their_entropy() {
        assert_eq!(conditional(&[2.0, 4.0, 3.0, 6.0], 2, 2), 0.0);
        assert!((conditional(&[5.0, 0.0, 0.0, 5.0], 2, 2) - 2f64.ln()).abs() < 1e-12);
        assert!((mutual(&[5.0, 0.0, 0.0, 5.0], 2) - 2f64.ln()).abs() < 1e-12);
        assert_eq!(conditional(&[0.0; 4], 2, 2), 0.0);
    }
}
