//! A table that comes in pieces: what is gathered from each, merged in any order, and finished with the result that the
//! whole table gives in memory, bit by bit. Everything counted is a whole number, and nothing depends on where one
//! piece ends and the next begins.

mod coded;
mod columns;
mod draw;
mod sample;

pub use coded::{CodedPiece, CodedRows, CodedTable};
pub use columns::{Cells, ColumnScan, TableScan};
pub use draw::{Draw, hash_bytes};
pub(crate) use sample::LEAST_ROWS;
pub use sample::{RowSample, joined};

use crate::rows::Dataset;
use crate::table::{Table, category_order};
use hingenet_base::error::{Error, Result};

/// Rows that are enough to choose options on, and to learn from for models that need their rows at hand: distinct ones,
/// chosen by their content.
pub const MOST_ROWS: usize = 20_000;

/// A piece split into features, class and weights. It may lack classes, or rows.
pub fn piece(table: Table, target: &str, weights: Option<&str>) -> Result<Dataset> {
    let data = Dataset::unchecked(table, target, weights)?;
    data.require_labels()?;
    Ok(data)
}

/// The weight of each row as a whole number. Sums of others would depend on the order of the pieces.
pub fn whole_weights(data: &Dataset) -> Result<Vec<u64>> {
    let Some(weights) = &data.weights else { return Ok(vec![1; data.n_rows()]) };
    /// Sums of more rows than anybody has stay exact.
    const MOST: f64 = (1u64 << 32) as f64;
    let whole = |(m, w): (usize, &f64)| match w.fract() == 0.0 && (0.0..=MOST).contains(w) {
        true => Ok(*w as u64),
        false => Err(Error::row(
            m,
            format!("the weight {w} is not a whole number from 0 to 2^32"),
            "a table that is read in pieces takes whole weights only: multiply and round them, or allow more memory (`--max-memory`)",
        )),
    };
    weights.iter().enumerate().map(whole).collect()
}

/// Names that two pieces know, and where those of each stand among them. Lists that are equal stay as they are: they
/// may be declared in an order of their own.
pub fn united(a: &[String], b: &[String]) -> (Vec<String>, Vec<usize>, Vec<usize>) {
    let mut all = a.to_vec();
    if a != b {
        all.extend_from_slice(b);
        all.sort_unstable();
        all.dedup();
        category_order(&mut all);
    }
    let places: std::collections::HashMap<&str, usize> =
        all.iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
    let of = |names: &[String]| names.iter().map(|name| places[name.as_str()]).collect();
    let (of_a, of_b) = (of(a), of(b));
    (all, of_a, of_b)
}
