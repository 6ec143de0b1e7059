//! How often states occur together in coded rows, whatever the graph: row by row, for all pairs among some columns at a
//! time (`groups`), or by bit planes for columns with few states (`planes`).

mod groups;
mod planes;

pub(crate) use groups::{group_counts, groups, is_shared};
pub(crate) use planes::{count_pairs, count_singles, narrow_columns, narrow_features};

use crate::Samples;
use hingenet_data::table::Codes;

/// Rows whose cells are turned into table positions at a time: the positions stay in the first cache.
const BLOCK: usize = 2048;

/// Counts of the joint states of some variables, the last one fastest, over the rows where all of them are
/// observed.
pub(crate) fn joint_counts(samples: &Samples, variables: &[usize]) -> Vec<f64> {
    let size = variables.iter().map(|&v| samples.card()[v]).product();
    let mut table = vec![0.0; size];
    add_joint_counts(samples, variables, &mut table);
    table
}

/// The same, added to a table.
pub(crate) fn add_joint_counts(samples: &Samples, variables: &[usize], table: &mut [f64]) {
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
    if sizes.iter().all(|(r, size)| r == size) {
        return tally(&digits, samples.weights(), table);
    }
    let mut wide = vec![0.0; scale];
    tally(&digits, samples.weights(), &mut wide);
    let observed = |mut at: usize| {
        sizes.iter().all(|&(r, size)| {
            let state = at % size;
            at /= size;
            state < r
        })
    };
    let kept = wide.into_iter().enumerate().filter(|&(at, _)| observed(at));
    table.iter_mut().zip(kept).for_each(|(t, (_, n))| *t += n);
}

/// One column's share in the position of a row in a table: `scale` times its code.
pub(crate) struct Digit<'a> {
    column: &'a Codes,
    scale: usize,
    /// The code a missing cell counts as.
    missing: usize,
}

impl<'a> Digit<'a> {
    /// A column without missing cells.
    pub(crate) fn complete(column: &'a Codes, scale: usize) -> Self {
        Digit { column, scale, missing: 0 }
    }

    /// `position += scale * code` for some rows of the column.
    pub(crate) fn add(&self, rows: std::ops::Range<usize>, position: &mut [u32]) {
        let (scale, missing) = (self.scale as u32, self.missing as u32);
        match self.column {
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
}

/// Adds the weight of every row (1 without weights) to its position in `table`, rows in order.
fn tally(digits: &[Digit<'_>], weights: Option<&[f64]>, table: &mut [f64]) {
    let n_rows = digits.first().map_or(0, |d| d.column.len());
    let mut position = [0u32; BLOCK];
    // Small numbers are added faster, but a table far larger than the rows is not worth passing over twice more.
    let mut whole = vec![0u32; if weights.is_none() && table.len() <= n_rows { table.len() } else { 0 }];
    for start in (0..n_rows).step_by(BLOCK) {
        let rows = start..(start + BLOCK).min(n_rows);
        let position = &mut position[..rows.len()];
        position.fill(0);
        for digit in digits {
            digit.add(rows.clone(), position);
        }
        match weights {
            Some(weights) => {
                for (&k, s) in position.iter().zip(&weights[rows]) {
                    table[k as usize] += s;
                }
            }
            None if whole.is_empty() => position.iter().for_each(|&k| table[k as usize] += 1.0),
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
