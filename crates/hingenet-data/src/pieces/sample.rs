//! Some rows of a table, the same ones however it comes in pieces: those whose content has the smallest hashes. Equal
//! rows go together, with the sum of their weights, so a sample stands for the whole in every proportion.

use super::draw::mixed;
use super::whole_weights;
use crate::rows::Dataset;
use crate::table::{Column, ColumnData, Table};
use hingenet_base::error::{Error, Result};

/// Rows with the smallest hashes so far.
#[derive(Debug, Clone)]
pub struct RowSample {
    most: usize,
    /// The rows, with their weights.
    data: Dataset,
    hashes: Vec<u64>,
}

impl RowSample {
    /// At most so many rows of a piece that has all classes and categories of the table.
    pub fn of(data: &Dataset, most: usize) -> Result<Self> {
        let weights = whole_weights(data)?.into_iter().map(|w| w as f64).collect();
        let hashes = (0..data.n_rows()).map(|m| hash_of(data, m)).collect();
        let data = Dataset { weights: Some(weights), ..data.clone() };
        Ok(RowSample { most, data, hashes }.smallest())
    }

    /// Adds a sample of another piece.
    pub fn merge(&mut self, other: &RowSample) -> Result<()> {
        self.data = joined(&self.data, &other.data)?;
        self.hashes.extend_from_slice(&other.hashes);
        let all =
            std::mem::replace(self, RowSample { most: 0, data: other.data.rows(&[]), hashes: Vec::new() });
        *self = all.smallest();
        Ok(())
    }

    /// The rows, in the order of their hashes.
    pub fn finish(self) -> Dataset {
        self.data
    }

    /// Memory, about.
    pub fn bytes(&self) -> usize {
        8 * self.hashes.len() * (self.data.features.n_columns() + 3)
    }

    /// Most rows.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The rows so far.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// One row for all that are equal, and of those the ones with the smallest hashes.
    fn smallest(self) -> Self {
        let RowSample { most, data, hashes } = self;
        let weight = |m: usize| data.weights.as_ref().map_or(1.0, |w| w[m]);
        let mut order: Vec<usize> = (0..hashes.len()).filter(|&m| weight(m) > 0.0).collect();
        order.sort_unstable_by(|&a, &b| hashes[a].cmp(&hashes[b]).then_with(|| data.compare_rows(a, b)));
        let (mut kept, mut weights): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        for m in order {
            let is_equal = |last: &usize| hashes[*last] == hashes[m] && data.compare_rows(*last, m).is_eq();
            match (kept.last().filter(|last| is_equal(last)), weights.last_mut()) {
                (Some(_), Some(total)) => *total += weight(m),
                _ if kept.len() == most => break,
                _ => {
                    kept.push(m);
                    weights.push(weight(m));
                }
            }
        }
        let hashes = kept.iter().map(|&m| hashes[m]).collect();
        RowSample { most, data: Dataset { weights: Some(weights), ..data.rows(&kept) }, hashes }
    }
}

/// A hash of the content of a row: its class and its cells, by the codes of the whole table.
fn hash_of(data: &Dataset, m: usize) -> u64 {
    let mut state = mixed(data.class.get(m).map_or(0, |c| c as u64 + 1));
    for column in data.features.columns() {
        let word = match column.data() {
            ColumnData::Numeric(n) => n.get(m).map_or(1, |x| (x + 0.0).to_bits()),
            ColumnData::Categorical(c) => c.codes().get(m).map_or(0, |code| code as u64 + 1),
        };
        state = mixed(state ^ word);
    }
    state
}

/// The rows of one piece, then those of another. Both have weights, or none.
pub fn joined(a: &Dataset, b: &Dataset) -> Result<Dataset> {
    let pairs = a.features.columns().iter().zip(b.features.columns());
    let columns = pairs.map(|(x, y)| x.joined(y)).collect::<Option<Vec<Column>>>();
    let class = a.class.joined(&b.class);
    let is_same = a.classes == b.classes && a.features.n_columns() == b.features.n_columns();
    let (Some(columns), true) = (columns, is_same) else {
        return Err(Error::data("the pieces have different columns", "give all pieces the same columns"));
    };
    let weights = a.weights.as_ref().zip(b.weights.as_ref()).map(|(a, b)| [&a[..], b].concat());
    let features = Table::new(columns)?;
    Ok(Dataset { features, class, weights, ..a.clone() })
}
