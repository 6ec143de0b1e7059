//! What every fit must know of the columns before it can code a row: their types, the categories and classes of all
//! pieces, and how values and classes go together.

use super::coded::CodedRows;
use super::{united, whole_weights};
use crate::encode::{BinMoves, ValueCounts};
use crate::rows::Dataset;
use crate::table::{Categorical, Codes, Column, ColumnData, FeatureKind, FeatureSpec, Schema, names_rows};
use hingenet_base::error::{Error, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What the columns of some pieces hold. Rows of weight zero count as rows, but their cells do not.
#[derive(Debug, Clone)]
pub struct TableScan {
    /// Name of the target column.
    pub target: String,
    /// Number of rows.
    pub rows: u64,
    /// Missing cells of all features.
    pub missing: u64,
    /// Class names.
    pub classes: Vec<String>,
    /// Total weight of each class.
    pub class_rows: Vec<u64>,
    /// The features, in order.
    pub columns: Vec<ColumnScan>,
}

/// What one column holds.
#[derive(Debug, Clone)]
pub struct ColumnScan {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub cells: Cells,
    /// Total weight of the rows in which it is observed.
    pub observed: u64,
}

/// Cells of a column.
#[derive(Debug, Clone)]
pub enum Cells {
    /// All missing so far: the type is open.
    Missing,
    /// Numbers, by value and class.
    Numbers(ValueCounts),
    /// Categories, with the number of rows of each.
    #[allow(missing_docs)]
    Categories { names: Vec<String>, rows: Vec<u64> },
    /// Numbers in one piece, categories in another.
    Mixed,
}

impl TableScan {
    /// Scans a piece.
    pub fn of(data: &Dataset) -> Result<Self> {
        Self::keeping(data, None)
    }

    /// Scans a piece, whose rows may be kept as codes.
    pub fn keeping(data: &Dataset, kept: Option<&mut CodedRows>) -> Result<Self> {
        let weights = whole_weights(data)?;
        let mut scan = Self::without_values(data, &weights);
        scan.add_values(data, weights, kept);
        Ok(scan)
    }

    /// Scans another piece: the same as merging its scan, but the values find their bins at once.
    pub fn add(&mut self, data: &Dataset, kept: Option<&mut CodedRows>) -> Result<()> {
        let weights = whole_weights(data)?;
        self.merge(&Self::without_values(data, &weights))?;
        self.add_values(data, weights, kept);
        Ok(())
    }

    /// Counts the numbers of a piece whose names are known.
    fn add_values(&mut self, data: &Dataset, mut weights: Vec<u64>, kept: Option<&mut CodedRows>) {
        if weights.contains(&0) {
            let counted: Vec<usize> = (0..data.n_rows()).filter(|&m| weights[m] > 0).collect();
            weights.retain(|w| *w > 0);
            return self.add_values(&data.rows(&counted), weights, kept);
        }
        let place = |name: &String| self.classes.iter().position(|own| own == name).unwrap_or_default();
        let places: Vec<usize> = data.classes.iter().map(place).collect();
        let class: Vec<u16> = data.class.iter().map(|c| places[c.unwrap_or_default()] as u16).collect();
        let weighted = Some(&weights[..]).filter(|weights| weights.iter().any(|w| *w != 1));
        let count = |scan: &mut ColumnScan, column: &Column, moves: &mut BinMoves| match &mut scan.cells {
            Cells::Numbers(values) => {
                let numbers = column.as_numeric()?;
                Some(match numbers.as_keyed() {
                    Some(keyed) => values.add_keyed(keyed, &class, weighted, moves),
                    None => values.add_cells(numbers.with_nan(), &class, weighted, moves),
                })
            }
            _ => None,
        };
        let columns = self.columns.par_iter_mut().zip(data.features.columns());
        match kept {
            None => columns.for_each(|(scan, column)| drop(count(scan, column, &mut BinMoves::new()))),
            Some(kept) => {
                let moves = kept.moves(columns.len());
                let found = columns.zip(moves).map(|((scan, column), moves)| count(scan, column, moves));
                let found = found.collect();
                kept.add(data, found, weighted);
            }
        }
    }

    /// A piece without what its columns of numbers hold.
    fn without_values(data: &Dataset, weights: &[u64]) -> Self {
        let mut class_rows = vec![0; data.classes.len()];
        data.class.iter().zip(weights).for_each(|(c, w)| class_rows[c.unwrap_or_default()] += w);
        let total = weights.iter().sum();
        let scan = |column: &Column| ColumnScan::of(column, data.classes.len(), weights, total);
        TableScan {
            target: data.target.clone(),
            rows: data.n_rows() as u64,
            missing: data.features.n_missing() as u64,
            classes: data.classes.clone(),
            class_rows,
            columns: data.features.columns().par_iter().map(scan).collect(),
        }
    }

    /// Adds another piece, whose columns must have the same names.
    pub fn merge(&mut self, other: &TableScan) -> Result<()> {
        let names = |scan: &TableScan| scan.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        let (own, others) = (names(self), names(other));
        if own != others {
            let problem = match own.iter().find(|name| !others.contains(name)) {
                Some(name) => format!("column `{name}` is in one piece of the table and not in another"),
                None => match others.iter().find(|name| !own.contains(name)) {
                    Some(name) => format!("column `{name}` is in one piece of the table and not in another"),
                    None => "the columns of the pieces stand in different orders".into(),
                },
            };
            return Err(Error::data(problem, "give all pieces the same columns in the same order"));
        }
        let rows = added(self.rows, other.rows)?;
        let missing = added(self.missing, other.missing)?;
        added(self.total(), other.total())?; // no other count of theirs is larger
        let (classes, of_own, of_other) = united(&self.classes, &other.classes);
        let mut class_rows = vec![0; classes.len()];
        self.class_rows.iter().zip(&of_own).for_each(|(n, &c)| class_rows[c] += n);
        other.class_rows.iter().zip(&of_other).for_each(|(n, &c)| class_rows[c] += n);
        let maps = Maps { n: classes.len(), own: &of_own, other: &of_other };
        self.columns.par_iter_mut().zip(&other.columns).for_each(|(a, b)| a.merge(b, &maps));
        (self.rows, self.missing) = (rows, missing);
        (self.classes, self.class_rows) = (classes, class_rows);
        Ok(())
    }

    /// Refuses counts that no rows have (for what is read from a file): where those of the classes can be added, all can.
    pub fn check_counts(&self) -> Result<()> {
        let total = sum(&self.class_rows)?;
        let fits = |column: &ColumnScan| {
            let is_possible = match &column.cells {
                Cells::Missing | Cells::Mixed => true,
                Cells::Categories { rows, .. } => sum(rows)? <= total,
                Cells::Numbers(values) => values.are_of(&self.class_rows),
            };
            Ok(is_possible && column.observed <= total)
        };
        match self.columns.iter().map(fits).collect::<Result<Vec<bool>>>()?.contains(&false) {
            true => Err(Error::model_file("a column has more cells than there are rows")),
            false => Ok(()),
        }
    }

    /// Total weight of the rows.
    fn total(&self) -> u64 {
        self.class_rows.iter().sum()
    }

    /// Whether a cell is missing in a row that counts.
    pub fn has_gaps(&self) -> bool {
        let total = self.total();
        self.columns.iter().any(|column| column.observed < total)
    }

    /// Columns that hold numbers in one piece and categories in another.
    pub fn mixed(&self) -> Vec<String> {
        let mixed = self.columns.iter().filter(|c| matches!(c.cells, Cells::Mixed));
        mixed.map(|c| c.name.clone()).collect()
    }

    /// The features as a model knows them. A column without any observed cell is one of numbers.
    pub fn schema(&self) -> Schema {
        let kind = |cells: &Cells| match cells {
            Cells::Categories { names, .. } => FeatureKind::Categorical { categories: names.clone() },
            Cells::Missing | Cells::Numbers(_) | Cells::Mixed => FeatureKind::Numeric,
        };
        let feature = |c: &ColumnScan| FeatureSpec { name: c.name.clone(), kind: kind(&c.cells) };
        Schema { features: self.columns.iter().map(feature).collect() }
    }

    /// Smallest and largest number of each column of numbers.
    pub fn ranges(&self) -> BTreeMap<String, [f64; 2]> {
        let range = |column: &ColumnScan| match &column.cells {
            Cells::Numbers(values) => Some((column.name.clone(), values.range()?)),
            _ => None,
        };
        self.columns.iter().filter_map(range).collect()
    }

    /// Memory, about.
    pub fn bytes(&self) -> usize {
        let column = |column: &ColumnScan| match &column.cells {
            Cells::Numbers(values) => values.bytes(),
            Cells::Categories { names, .. } => names.iter().map(|name| 64 + name.len()).sum(),
            Cells::Missing | Cells::Mixed => 0,
        };
        self.columns.iter().map(column).sum()
    }

    /// Refuses columns that are of no type.
    pub fn check_types(&self) -> Result<()> {
        let Some(name) = self.mixed().into_iter().next() else { return Ok(()) };
        let problem = format!("column `{name}` holds numbers in one piece of the table and texts in another");
        Err(Error::data(problem, "say what it is with `--categorical`, or correct the cells"))
    }

    /// Refuses rows that no classifier can be learnt from, in the words of a table in memory.
    pub fn check(&self) -> Result<()> {
        self.check_types()?;
        let present: Vec<usize> = (0..self.classes.len()).filter(|&c| self.class_rows[c] > 0).collect();
        let class = present.iter().map(|&c| Some(c));
        let empty = Dataset {
            target: self.target.clone(),
            features: crate::table::Table::new(
                self.columns
                    .iter()
                    .map(|c| Column::numeric(c.name.clone(), vec![f64::NAN; present.len()]))
                    .collect(),
            )?,
            classes: self.classes.clone(),
            class: Codes::from_options(self.classes.len(), class),
            weights: None,
        };
        empty.check()
    }
}

/// The sum of two counts, which may come from files.
fn added(a: u64, b: u64) -> Result<u64> {
    a.checked_add(b).ok_or_else(|| Error::model_file("no table has so many rows"))
}

fn sum(counts: &[u64]) -> Result<u64> {
    counts.iter().try_fold(0, |sum, n| added(sum, *n))
}

/// Where the classes of two pieces stand among those of both.
struct Maps<'a> {
    n: usize,
    own: &'a [usize],
    other: &'a [usize],
}

impl ColumnScan {
    /// A column, without its numbers; `total` is that of the weights.
    fn of(column: &Column, n_classes: usize, weights: &[u64], total: u64) -> Self {
        let observed = match column.n_missing() {
            0 => total,
            _ => (0..column.len()).filter(|&m| !column.is_missing(m)).map(|m| weights[m]).sum(),
        };
        let cells = match column.data() {
            ColumnData::Numeric(_) if observed == 0 => Cells::Missing,
            ColumnData::Numeric(_) => Cells::Numbers(ValueCounts::new(n_classes)),
            ColumnData::Categorical(c) => Cells::categories(c, weights),
        };
        ColumnScan { name: column.name().into(), cells, observed }
    }

    fn merge(&mut self, other: &ColumnScan, classes: &Maps<'_>) {
        self.observed += other.observed;
        let placed = |values: &ValueCounts, map: &[usize]| values.with_classes(classes.n, map);
        self.cells = match (std::mem::replace(&mut self.cells, Cells::Mixed), &other.cells) {
            (a, Cells::Numbers(b)) if a.has_no_cell() => Cells::Numbers(placed(b, classes.other)),
            (Cells::Missing, b) => b.clone(),
            (Cells::Numbers(mut a), b) if b.has_no_cell() || matches!(b, Cells::Numbers(_)) => {
                if !classes.own.iter().copied().eq(0..classes.n) {
                    a = placed(&a, classes.own);
                }
                if let Cells::Numbers(b) = b {
                    a.merge(b, classes.other);
                }
                Cells::Numbers(a)
            }
            (a @ Cells::Categories { .. }, Cells::Missing) => a,
            (Cells::Categories { names: a, rows: in_a }, Cells::Categories { names: b, rows: in_b }) => {
                let (names, of_a, of_b) = united(&a, b);
                let mut rows = vec![0; names.len()];
                in_a.iter().zip(of_a).chain(in_b.iter().zip(of_b)).for_each(|(n, j)| rows[j] += n);
                Cells::Categories { names, rows }
            }
            _ => Cells::Mixed,
        };
    }

    /// Whether its categories name the rows (see [`Categorical::names_rows`]).
    pub fn names_rows(&self) -> bool {
        match &self.cells {
            Cells::Categories { rows, .. } => {
                names_rows(rows.iter().filter(|n| **n > 0).count(), self.observed as f64)
            }
            _ => false,
        }
    }
}

impl Cells {
    /// Whether there is nothing that speaks for a type: no cell, even of a column of texts.
    fn has_no_cell(&self) -> bool {
        match self {
            Cells::Missing => true,
            Cells::Categories { names, .. } => names.is_empty(),
            Cells::Numbers(_) | Cells::Mixed => false,
        }
    }

    fn categories(column: &Categorical, weights: &[u64]) -> Self {
        let mut rows = vec![0; column.categories().len()];
        for (code, w) in column.codes().iter().zip(weights) {
            if let Some(code) = code {
                rows[code] += w;
            }
        }
        Cells::Categories { names: column.categories().to_vec(), rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A piece with two classes, a column of numbers and one of words.
    fn scan() -> TableScan {
        let names = |names: [&str; 2]| names.map(String::from).to_vec();
        let codes = || Codes::from_options(2, [0, 1, 1].map(Some).into_iter());
        let columns = vec![
            Column::numeric("x", vec![1.0, 2.0, f64::NAN]),
            Column::categorical("word", names(["a", "b"]), codes()),
        ];
        let features = crate::table::Table::new(columns).unwrap();
        TableScan::of(&Dataset::from_parts("y", features, names(["p", "q"]), codes(), None).unwrap()).unwrap()
    }

    #[test]
    fn pieces_of_more_rows_than_can_be_counted_are_not_added() {
        let alter: [fn(&mut TableScan); 3] = [
            |scan| scan.rows = u64::MAX - 1,
            |scan| scan.missing = u64::MAX,
            |scan| scan.class_rows[1] = u64::MAX - 1,
        ];
        for alter in alter {
            let mut many = scan();
            alter(&mut many);
            let error = many.merge(&scan()).unwrap_err().to_string();
            assert!(error.contains("no table has so many rows"), "{error}");
        }
        let mut two = scan();
        two.merge(&scan()).unwrap();
        assert_eq!((two.rows, two.missing, two.total()), (6, 2, 6));
        two.check_counts().unwrap();
    }

    #[test]
    fn a_column_has_no_more_cells_than_there_are_rows() {
        let numbers = |rows: Vec<u64>| {
            let (low, high) = (vec![1.0, 2.0], vec![1.0, 2.0]);
            Cells::Numbers(
                ValueCounts::from_arrays(2, &crate::encode::ValueArrays { shift: 0, low, high, rows })
                    .unwrap(),
            )
        };
        let words =
            |rows: [u64; 2]| Cells::Categories { names: vec!["a".into(), "b".into()], rows: rows.into() };
        let with = |column: usize, cells: Cells| {
            let mut scan = scan();
            scan.columns[column].cells = cells;
            scan.check_counts()
        };
        assert!(with(0, numbers(vec![1, 1, 0, 1])).is_ok() && with(1, words([3, 0])).is_ok());
        for cells in [numbers(vec![1, 1, 1, 1]), numbers(vec![0, u64::MAX, 1, 1])] {
            assert!(with(0, cells).unwrap_err().to_string().contains("more cells than there are rows"));
        }
        for rows in [[3, 1], [u64::MAX, 1]] {
            assert!(with(1, words(rows)).is_err(), "{rows:?}");
        }
        let mut observed = scan();
        observed.columns[1].observed = 4;
        assert!(observed.check_counts().is_err());
        let mut classes = scan();
        classes.class_rows = vec![u64::MAX, 1];
        assert!(classes.check_counts().is_err());
    }
}
