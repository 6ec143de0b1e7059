//! Smoothed counts n, Eq. (4), and the maximum-likelihood parameters they give, Eq. (3). Counts come
//! from coded rows without missing cells; all tables are marginals of one smoothed sample, so they are
//! consistent in the sense of Eq. (7).

use super::planes::{count_singles, narrow_columns, narrow_features};
use super::{Samples, Structure};
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_data::table::Codes;
use rayon::prelude::*;

/// Rows whose cells are turned into table positions at a time: the positions stay in the first cache.
const BLOCK: usize = 2048;

/// Counts of Eq. (4): `n^i_{j|h} = Σ_m s_m ν^i_{j|h}(x^m) + α/(r_i H_i)`, laid out as the parameters.
///
/// `alpha` is one virtual sample spread evenly over each whole table (`α ≥ 0`), so every table sums to
/// `Σ s_m + α`. Rows must be complete.
pub fn smoothed_counts(structure: &Structure, samples: &Samples, alpha: f64) -> Result<Vec<f64>> {
    require_alpha(alpha)?;
    let mut counts = raw_counts(structure, samples)?;
    smooth(structure, &mut counts, alpha);
    Ok(counts)
}

/// Refuses rows whose variables have other numbers of states than the structure.
pub(super) fn require_same_states(structure: &Structure, samples: &Samples) -> Result<()> {
    require_len("variables of the rows", structure.n_nodes(), samples.card().len())?;
    for (i, (&r, &found)) in structure.card().iter().zip(samples.card()).enumerate() {
        require_len(&format!("states of variable {i}"), r, found)?;
    }
    Ok(())
}

/// [`raw_counts`] of some of the rows.
pub(super) fn raw_counts_of_rows(
    structure: &Structure,
    samples: &Samples,
    rows: &[usize],
) -> Result<Vec<f64>> {
    let columns = samples.columns().iter().map(|c| c.rows(rows)).collect();
    let weights: Option<Vec<f64>> = samples.weights().map(|w| rows.iter().map(|&m| w[m]).collect());
    if weights.as_ref().is_some_and(|w| w.iter().all(|s| *s == 0.0)) {
        return Ok(vec![0.0; structure.n_entries()]);
    }
    raw_counts(structure, &Samples::new(samples.card().to_vec(), columns, weights)?)
}

/// `Σ_m s_m φ(x^m)` without smoothing. Rows must be complete.
pub fn raw_counts(structure: &Structure, samples: &Samples) -> Result<Vec<f64>> {
    require_same_states(structure, samples)?;
    if let Some(i) = (0..structure.n_nodes()).find(|&i| !samples.is_complete(i)) {
        return Err(missing_cell(i));
    }
    let mut counts = vec![0.0; structure.n_entries()];
    let mut tables = split_tables(structure, &mut counts);
    // Whole numbers by bit planes where the class is the only parent, the others by a walk over the rows.
    let mut given_class = narrow_features(samples);
    given_class.retain(|i| structure.dag().parents(i + 1) == [0]);
    if let Some((class, columns)) = narrow_columns(samples, &given_class) {
        for (&i, single) in given_class.iter().zip(count_singles(&class, &columns)) {
            tables[i + 1].copy_from_slice(&single);
        }
    }
    // One task per table, rows in order: the same sums for any number of threads.
    let counted = |i: usize| i > 0 && given_class.binary_search(&(i - 1)).is_ok();
    let rest = tables.into_par_iter().enumerate().filter(|(i, _)| !counted(*i));
    rest.for_each(|(i, table)| count_table(structure, samples, i, table));
    Ok(counts)
}

/// Adds `α/(r_i H_i)` to every entry of every table.
pub fn smooth(structure: &Structure, counts: &mut [f64], alpha: f64) {
    for table in split_tables(structure, counts) {
        let share = alpha / table.len() as f64;
        table.iter_mut().for_each(|n| *n += share);
    }
}

/// Maximum-likelihood parameters, Eq. (3): `w = log n - log Σ_j n` in every row. A count of zero gives
/// `-inf`; a row without any count is uniform.
pub fn ml_parameters(structure: &Structure, counts: &[f64]) -> Result<Vec<f64>> {
    require_len("counts", structure.n_entries(), counts.len())?;
    let mut w = counts.to_vec();
    for (i, table) in split_tables(structure, &mut w).into_iter().enumerate() {
        let r = structure.card()[i];
        for row in table.chunks_exact_mut(r) {
            let total: f64 = row.iter().sum();
            if total > 0.0 {
                let log_total = total.ln();
                row.iter_mut().for_each(|n| *n = n.ln() - log_total);
            } else {
                row.fill(-(r as f64).ln());
            }
        }
    }
    Ok(w)
}

/// Refuses a virtual sample size α that is negative or not finite.
pub fn require_alpha(alpha: f64) -> Result<()> {
    require("alpha", alpha, "a finite number >= 0", alpha.is_finite() && alpha >= 0.0)
}

/// One slice per table, in node order.
pub(super) fn split_tables<'a>(structure: &Structure, mut all: &'a mut [f64]) -> Vec<&'a mut [f64]> {
    let mut tables = Vec::with_capacity(structure.n_nodes());
    for i in 0..structure.n_nodes() {
        let (table, rest) = all.split_at_mut(structure.table(i).len());
        tables.push(table);
        all = rest;
    }
    tables
}

fn missing_cell(i: usize) -> Error {
    if i == 0 {
        Error::data("a class label is missing", "remove unlabelled rows, or use a semi-supervised fit")
    } else {
        Error::data(format!("variable {i} has missing cells"), "use the fit for incomplete rows (EM)")
    }
}

/// Adds the rows to node `i`'s table.
fn count_table(structure: &Structure, samples: &Samples, i: usize, table: &mut [f64]) {
    let r = structure.card()[i];
    let own = (i, 1);
    let parents = structure.dag().parents(i).iter().zip(structure.strides(i)).map(|(&p, s)| (p, s * r));
    let digits = std::iter::once(own).chain(parents);
    let digits: Vec<Digit<'_>> =
        digits.map(|(v, scale)| Digit { column: samples.column(v), scale, missing: 0 }).collect();
    tally(&digits, samples.weights(), table);
}

/// Counts of the joint states of some variables, the last one fastest, over the rows where all of them are
/// observed.
pub(super) fn joint_counts(samples: &Samples, variables: &[usize]) -> Vec<f64> {
    // A missing cell counts as one more state, which is left out when the table is read.
    let mut scale = 1;
    let mut digits = Vec::with_capacity(variables.len());
    let mut sizes = Vec::with_capacity(variables.len());
    for &v in variables.iter().rev() {
        let r = samples.card()[v];
        digits.push(Digit { column: samples.column(v), scale, missing: r });
        sizes.push((r, r + usize::from(!samples.is_complete(v))));
        scale *= sizes[sizes.len() - 1].1;
    }
    let mut wide = vec![0.0; scale];
    tally(&digits, samples.weights(), &mut wide);
    if sizes.iter().all(|(r, size)| r == size) {
        return wide;
    }
    let observed = |mut at: usize| {
        sizes.iter().all(|&(r, size)| {
            let state = at % size;
            at /= size;
            state < r
        })
    };
    wide.into_iter().enumerate().filter(|&(at, _)| observed(at)).map(|(_, n)| n).collect()
}

/// One column's share in the position of a row in a table: `scale` times its code.
pub(super) struct Digit<'a> {
    pub column: &'a Codes,
    pub scale: usize,
    /// The code a missing cell counts as.
    pub missing: usize,
}

/// Adds the weight of every row (1 without weights) to its position in `table`, rows in order.
pub(super) fn tally(digits: &[Digit<'_>], weights: Option<&[f64]>, table: &mut [f64]) {
    let n_rows = digits.first().map_or(0, |d| d.column.len());
    let mut position = [0u32; BLOCK];
    let mut whole = vec![0u32; if weights.is_none() { table.len() } else { 0 }];
    for start in (0..n_rows).step_by(BLOCK) {
        let rows = start..(start + BLOCK).min(n_rows);
        let position = &mut position[..rows.len()];
        position.fill(0);
        for digit in digits {
            add_digit(digit, rows.clone(), position);
        }
        match weights {
            Some(weights) => {
                for (&k, s) in position.iter().zip(&weights[rows]) {
                    table[k as usize] += s;
                }
            }
            None => position.iter().for_each(|&k| whole[k as usize] += 1),
        }
        // Whole numbers below 2^53 add exactly, so it does not matter when they are handed over.
        if start % (BLOCK << 19) == 0 {
            hand_over(&mut whole, table);
        }
    }
    hand_over(&mut whole, table);
}

fn hand_over(whole: &mut [u32], table: &mut [f64]) {
    for (n, t) in table.iter_mut().zip(whole) {
        *n += f64::from(std::mem::take(t));
    }
}

/// `position += scale * code` for some rows of a column.
fn add_digit(digit: &Digit<'_>, rows: std::ops::Range<usize>, position: &mut [u32]) {
    let (scale, missing) = (digit.scale as u32, digit.missing as u32);
    match digit.column {
        Codes::U8(v) => {
            for (p, &c) in position.iter_mut().zip(&v[rows]) {
                *p += scale * if c == Codes::MISSING_U8 { missing } else { u32::from(c) };
            }
        }
        Codes::U16(v) => {
            for (p, &c) in position.iter_mut().zip(&v[rows]) {
                *p += scale * if c == Codes::MISSING_U16 { missing } else { u32::from(c) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::graph::Dag;

    fn samples(weights: Option<Vec<f64>>) -> Samples {
        let columns = vec![Codes::U8(vec![0, 1, 1]), Codes::U8(vec![2, 0, 2])];
        Samples::new(vec![2, 3], columns, weights).unwrap()
    }

    #[test]
    fn one_virtual_sample_is_spread_over_each_whole_table() {
        let s = Structure::naive_bayes(vec![2, 3]).unwrap();
        let n = smoothed_counts(&s, &samples(None), 6.0).unwrap();
        assert_eq!(n, [4.0, 5.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0]);
    }

    #[test]
    fn rows_without_data_are_uniform_and_zero_counts_have_probability_zero() {
        let s = Structure::new(vec![2, 3], Dag::new(vec![vec![1], vec![]]).unwrap()).unwrap();
        let n = smoothed_counts(&s, &samples(None), 0.0).unwrap();
        let w = ml_parameters(&s, &n).unwrap();
        assert_eq!(w[2..4], [-(2f64.ln()); 2]);
        assert_eq!(w[0], f64::NEG_INFINITY);
    }

    #[test]
    fn a_weight_of_two_equals_two_rows() {
        let s = Structure::naive_bayes(vec![2, 3]).unwrap();
        let n = raw_counts(&s, &samples(Some(vec![1.0, 2.0, 0.0]))).unwrap();
        assert_eq!(n, [1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
    }

    #[test]
    fn missing_cells_and_bad_alpha_are_refused() {
        let s = Structure::naive_bayes(vec![2, 3]).unwrap();
        assert!(smoothed_counts(&s, &samples(None), f64::NAN).is_err());
        assert!(smoothed_counts(&s, &samples(None), -1.0).is_err());
        let columns = vec![Codes::U8(vec![0, 1]), Codes::U8(vec![2, Codes::MISSING_U8])];
        let gap = Samples::new(vec![2, 3], columns, None).unwrap();
        assert!(raw_counts(&s, &gap).unwrap_err().to_string().contains("missing"));
    }
}
