//! Smoothed counts n, Eq. (4), and the maximum-likelihood parameters they give, Eq. (3). Counts come
//! from coded rows without missing cells; all tables are marginals of one smoothed sample, so they are
//! consistent in the sense of Eq. (7).

use super::tally::{add_joint_counts, count_singles, narrow_columns, narrow_features};
use super::{Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require, require_len};
use rayon::prelude::*;

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

/// Largest number up to which sums of rows are exact.
const MOST_ROWS: f64 = (1u64 << 53) as f64;

/// Whether so many rows can have been counted (for what is read from a file).
pub fn is_count(n: &f64) -> bool {
    (0.0..=MOST_ROWS).contains(n) && n.fract() == 0.0
}

/// Refuses rows whose variables have other numbers of states than the structure.
pub(super) fn require_same_states(structure: &Structure, samples: &Samples) -> Result<()> {
    require_len("variables of the rows", structure.n_nodes(), samples.card().len())?;
    for (i, (&r, &found)) in structure.card().iter().zip(samples.card()).enumerate() {
        require_len(&format!("states of variable {i}"), r, found)?;
    }
    Ok(())
}

/// Numbers that a fit holds for each entry of the tables: its count, the parameter and its logarithm, the model file, and
/// what is read back of it before it is saved.
const NUMBERS_OF_ENTRY: f64 = 6.0;

/// Asks for the memory of a network with these tables.
pub(super) fn reserve_tables(structure: &Structure, control: &Control) -> Result<()> {
    let entries = structure.n_entries();
    let hint = "use tan or nb, leave out columns with very many values, or allow more (`--max-memory`)";
    control.reserve(
        8.0 * NUMBERS_OF_ENTRY * entries as f64,
        format!("a network with {entries} parameters"),
        hint,
    )
}

/// `Σ_m s_m φ(x^m)` without smoothing. Rows must be complete.
pub fn raw_counts(structure: &Structure, samples: &Samples) -> Result<Vec<f64>> {
    let mut counts = vec![0.0; structure.n_entries()];
    add_raw_counts(structure, samples, &mut counts)?;
    Ok(counts)
}

/// The same, added to the counts of other rows.
pub(super) fn add_raw_counts(structure: &Structure, samples: &Samples, counts: &mut [f64]) -> Result<()> {
    require_same_states(structure, samples)?;
    require_len("counts", structure.n_entries(), counts.len())?;
    samples.require_labels()?;
    if let Some(i) = (0..structure.n_nodes()).find(|&i| !samples.is_complete(i)) {
        let problem = format!("variable {i} has missing cells");
        return Err(Error::data(problem, "use the fit for incomplete rows (EM)"));
    }
    let mut tables = split_tables(structure, counts);
    // Whole numbers by bit planes where the class is the only parent, the others by a walk over the rows.
    let mut given_class = narrow_features(samples);
    given_class.retain(|i| structure.dag().parents(i + 1) == [0]);
    if let Some((class, columns)) = narrow_columns(samples, &given_class) {
        for (&i, single) in given_class.iter().zip(count_singles(&class, &columns)) {
            tables[i + 1].iter_mut().zip(single).for_each(|(t, n)| *t += n);
        }
    }
    // One task per table, rows in order: the same sums for any number of threads.
    let counted = |i: usize| i > 0 && given_class.binary_search(&(i - 1)).is_ok();
    let rest = tables.into_par_iter().enumerate().filter(|(i, _)| !counted(*i));
    rest.for_each(|(i, table)| add_joint_counts(samples, &family(structure, i), table));
    Ok(())
}

/// For each table the counts of the rows where the node and all its parents are observed.
pub(super) fn available_counts(structure: &Structure, samples: &Samples) -> Result<Vec<f64>> {
    let mut counts = vec![0.0; structure.n_entries()];
    add_available_counts(structure, samples, &mut counts)?;
    Ok(counts)
}

/// The same, added to the counts of other rows.
pub(super) fn add_available_counts(
    structure: &Structure,
    samples: &Samples,
    counts: &mut [f64],
) -> Result<()> {
    require_same_states(structure, samples)?;
    require_len("counts", structure.n_entries(), counts.len())?;
    let tables = split_tables(structure, counts).into_par_iter().enumerate();
    tables.for_each(|(i, table)| add_joint_counts(samples, &family(structure, i), table));
    Ok(())
}

/// The parents of node `i`, then `i`: the digits of the positions in its table.
fn family(structure: &Structure, i: usize) -> Vec<usize> {
    structure.dag().parents(i).iter().copied().chain([i]).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::graph::Dag;
    use hingenet_data::table::Codes;

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
