//! Some rows of a table, the same ones however it comes in pieces: those whose content has the smallest hashes. Equal
//! rows go together, with the sum of their weights, so a sample stands for the whole in every proportion. Of a rare class more
//! rows are taken than its share, and weigh less for it: chance must not leave it out.

use super::draw::mixed;
use super::whole_weights;
use crate::rows::Dataset;
use crate::table::{Codes, Column, ColumnData, Table};
use hingenet_base::error::{Error, Result};

/// Rows that every class has in the sample, if the table has them.
pub(crate) const LEAST_ROWS: usize = 100;

/// Rows with the smallest hashes so far, of all and of each class.
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

    /// The rows, in the order of their hashes. Classes have the shares that they have among all rows, whose total weights
    /// are given class by class.
    pub fn finish(self, class_rows: &[u64]) -> Dataset {
        let Dataset { class, weights, .. } = &self.data;
        let taken: Vec<u64> = class_totals(class, weights.as_deref().unwrap_or_default(), class_rows.len());
        let [all, sampled] =
            [class_rows, &taken].map(|rows| rows.iter().map(|n| u128::from(*n)).sum::<u128>());
        let share = |c: usize| {
            let (wanted, found) = (u128::from(class_rows[c]) * sampled, u128::from(taken[c]) * all);
            // a whole table keeps its weights to the bit
            if wanted == found || found == 0 { 1.0 } else { wanted as f64 / found as f64 }
        };
        let shares: Vec<f64> = (0..class_rows.len()).map(share).collect();
        let weigh =
            |(c, w): (Option<usize>, &f64)| c.and_then(|c| shares.get(c)).map_or(*w, |share| share * w);
        let weights = weights.as_ref().map(|weights| class.iter().zip(weights).map(weigh).collect());
        Dataset { weights, ..self.data }
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

    /// One row for all that are equal, and of those the ones with the smallest hashes, of all rows and of each class.
    fn smallest(self) -> Self {
        let RowSample { most, data, hashes } = self;
        let weight = |m: usize| data.weights.as_ref().map_or(1.0, |w| w[m]);
        let mut order: Vec<usize> = (0..hashes.len()).filter(|&m| weight(m) > 0.0).collect();
        order.sort_unstable_by(|&a, &b| hashes[a].cmp(&hashes[b]).then_with(|| data.compare_rows(a, b)));
        let (mut kept, mut weights): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut of_class = vec![0; data.classes.len()];
        for m in order {
            let is_equal = |last: &usize| hashes[*last] == hashes[m] && data.compare_rows(*last, m).is_eq();
            let class = data.class.get(m).unwrap_or_default();
            match (kept.last().filter(|last| is_equal(last)), weights.last_mut()) {
                (Some(_), Some(total)) => *total += weight(m),
                _ if kept.len() >= most && of_class[class] >= LEAST_ROWS.min(most) => {}
                _ => {
                    of_class[class] += 1;
                    kept.push(m);
                    weights.push(weight(m));
                }
            }
        }
        let hashes = kept.iter().map(|&m| hashes[m]).collect();
        RowSample { most, data: Dataset { weights: Some(weights), ..data.rows(&kept) }, hashes }
    }
}

/// Total weight of each class.
fn class_totals(class: &Codes, weights: &[f64], n_classes: usize) -> Vec<u64> {
    let mut totals = vec![0; n_classes];
    for (c, w) in class.iter().zip(weights) {
        if let Some(total) = c.and_then(|c| totals.get_mut(c)) {
            *total += *w as u64;
        }
    }
    totals
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Row m has the number m; the last `rare` rows are of class 1.
    fn table(n: usize, rare: usize) -> Dataset {
        let features = Table::new(vec![Column::numeric("x", (0..n).map(|m| m as f64).collect())]).unwrap();
        let class = Codes::from_options(2, (0..n).map(|m| Some(usize::from(m >= n - rare))));
        Dataset::from_parts("class", features, vec!["a".into(), "b".into()], class, None).unwrap()
    }

    fn numbers(data: &Dataset) -> Vec<f64> {
        data.features.column(0).as_numeric().unwrap().with_nan().to_vec()
    }

    #[test]
    fn a_rare_class_keeps_rows_and_its_share() {
        let data = table(50_000, 130);
        let whole = RowSample::of(&data, 1000).unwrap();
        let mut parts = RowSample::of(&data.rows(&(40_000..50_000).collect::<Vec<_>>()), 1000).unwrap();
        parts
            .merge(&RowSample::of(&data.rows(&(0..40_000).rev().collect::<Vec<_>>()), 1000).unwrap())
            .unwrap();
        let (whole, parts) = (whole.finish(&[49_870, 130]), parts.finish(&[49_870, 130]));
        assert_eq!(numbers(&whole), numbers(&parts));
        assert_eq!(whole.weights, parts.weights);
        let of_class = |c: usize| {
            let rows = whole.class.iter().zip(whole.weights.iter().flatten());
            rows.filter(|(class, _)| *class == Some(c)).map(|(_, w)| *w).collect::<Vec<f64>>()
        };
        let [common, rare] = [0, 1].map(of_class);
        assert_eq!(rare.len(), LEAST_ROWS);
        let [common, rare] = [common, rare].map(|weights| weights.iter().sum::<f64>());
        assert!((rare / (common + rare) - 130.0 / 50_000.0).abs() < 1e-12);
        assert!((common + rare - whole.n_rows() as f64).abs() < 1e-9);
    }

    #[test]
    fn a_table_that_fits_is_taken_whole() {
        let data = table(300, 5);
        let sample = RowSample::of(&data, 1000).unwrap().finish(&[295, 5]);
        assert_eq!(sample.weights, Some(vec![1.0; 300]));
    }
}
