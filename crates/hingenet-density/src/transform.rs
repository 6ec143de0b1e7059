//! The feature map of SLB as a transformation of tables: class by class the log densities of all features,
//! then those of the kept pairs. New rows are looked up in the tables; a row of the training table gets its
//! exact log densities without itself, because a kernel on top of the row would make it look too typical.

use crate::classifier::DensityClassifier;
use crate::columns::{Columns, Unit};
use crate::compile::Scratch;
use crate::estimate::features::Densities;
use crate::params::Params;
use crate::structure::Kept;
use crate::terms::PerTerm;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::sum::ordered_chunks;
use hingenet_data::rows::Rows;
use hingenet_data::table::Table;
use std::cmp::Ordering;

/// One log density: of which class, and of which table columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogDensity {
    /// The class.
    pub class: usize,
    /// The first column.
    pub first: usize,
    /// The other column of a pair.
    pub second: Option<usize>,
}

/// Log densities of the training rows, each without the row itself; rows in order, to be found by content.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OwnDensities {
    /// The cells, row by row.
    pub cells: Vec<f64>,
    /// The log densities, row by row.
    pub values: Vec<f64>,
    /// Number of rows.
    pub n_rows: usize,
}

impl OwnDensities {
    /// Rows (cells in the units of the model, row by row, sorted) with their log densities.
    pub fn new(cells: Vec<f64>, values: Vec<f64>, n_rows: usize) -> Result<Self> {
        let whole = |v: &[f64]| if n_rows == 0 { v.is_empty() } else { v.len().is_multiple_of(n_rows) };
        if !whole(&cells) || !whole(&values) {
            return Err(Error::data("the log densities of the training rows are not complete", ""));
        }
        Ok(OwnDensities { cells, values, n_rows })
    }

    fn part<'a>(&self, of: &'a [f64], r: usize) -> &'a [f64] {
        let width = of.len().checked_div(self.n_rows).unwrap_or(0);
        &of[r * width..(r + 1) * width]
    }

    /// Log densities of the training row with these cells.
    fn find(&self, row: &[f64]) -> Option<&[f64]> {
        let (mut low, mut high) = (0, self.n_rows);
        while low < high {
            let middle = low + (high - low) / 2;
            match compare(self.part(&self.cells, middle), row) {
                Ordering::Equal => return Some(self.part(&self.values, middle)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// Order of encoded rows; missing cells are equal to each other, and −0 is 0.
fn compare(a: &[f64], b: &[f64]) -> Ordering {
    let key = |x: f64| if x.is_nan() { f64::NAN } else { x + 0.0 };
    a.iter().zip(b).map(|(x, y)| key(*x).total_cmp(&key(*y))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

impl DensityClassifier {
    /// The log densities in the order [`Self::log_densities`] gives them.
    pub fn log_density_list(&self) -> Vec<LogDensity> {
        let used = self.units.used();
        let of_class = |class: usize| {
            let single = used.iter().map(move |&first| LogDensity { class, first, second: None });
            let pair = |&p: &usize| {
                let (i, j) = self.pairs[p].pair;
                LogDensity { class, first: used[i], second: Some(used[j]) }
            };
            single.chain(self.class_pairs[class].iter().map(pair)).collect::<Vec<_>>()
        };
        (0..self.n_classes).flat_map(of_class).collect()
    }

    /// Log densities of every row in the units of the columns, row by row. Of a pair with a missing cell the
    /// other one's density is left, of nothing 0.
    pub fn log_densities(&self, rows: &Table, own: &OwnDensities) -> Result<Vec<f64>> {
        let cells = self.units.encode(rows)?;
        if own.n_rows > 0 {
            require_len("cells of a training row", cells.len() * own.n_rows, own.cells.len())?;
            require_len("log densities of a training row", self.n_outputs() * own.n_rows, own.values.len())?;
        }
        let chunks = ordered_chunks(rows.n_rows(), 256, |range| {
            let mut scratch = Scratch::new(&self.lines, self.n_classes);
            range.flat_map(|r| self.row_densities(&cells, r, own, &mut scratch)).collect::<Vec<_>>()
        });
        Ok(chunks.into_iter().flatten().collect())
    }

    /// Number of log densities of a row.
    fn n_outputs(&self) -> usize {
        self.n_classes * self.units.used().len() + self.class_pairs.iter().map(Vec::len).sum::<usize>()
    }

    fn row_densities(&self, cells: &[Vec<f64>], r: usize, own: &OwnDensities, s: &mut Scratch) -> Vec<f64> {
        s.row.iter_mut().zip(cells).for_each(|(x, column)| *x = column[r]);
        if let Some(known) = own.find(&s.row) {
            return known.to_vec();
        }
        s.read(&self.lines, |i| cells[i][r]);
        self.listed(
            &s.row,
            |y, i| s.log_density[i][y],
            |y, p| self.pair_density(self.class_pairs[y][p], y, s),
        )
    }

    /// Log densities of a row in the units of the columns, in the order of [`Self::log_density_list`]: of each class those of its
    /// features, then those of its pairs.
    fn listed(
        &self,
        row: &[f64],
        single: impl Fn(usize, usize) -> f64,
        pair: impl Fn(usize, usize) -> f64,
    ) -> Vec<f64> {
        let scale = self.log_scales(row);
        let mut out = Vec::with_capacity(self.n_outputs());
        for y in 0..self.n_classes {
            out.extend(scale.iter().enumerate().map(|(i, shift)| single(y, i) + shift));
            out.extend(self.class_pairs[y].iter().enumerate().map(|(p, &place)| {
                let (i, j) = self.pairs[place].pair;
                pair(y, p) + scale[i] + scale[j]
            }));
        }
        out
    }

    fn pair_density(&self, p: usize, y: usize, s: &Scratch) -> f64 {
        let table = &self.pairs[p];
        let (i, j) = table.pair;
        match (s.row[i].is_nan(), s.row[j].is_nan()) {
            (false, false) => {
                let layer = table.layers.iter().position(|l| l.class == y);
                layer.map_or(0.0, |l| table.log_density(l, s.row[i], s.row[j]))
            }
            // the log densities of a missing cell are 0
            _ => s.log_density[i][y] + s.log_density[j][y],
        }
    }

    /// What turns a log density of each feature into one of its column; 0 where the cell is missing.
    fn log_scales(&self, row: &[f64]) -> Vec<f64> {
        let used = self.units.units.iter().filter(|unit| **unit != Unit::Dropped);
        row.iter().zip(used).map(|(x, unit)| if x.is_nan() { 0.0 } else { unit.log_scale() }).collect()
    }

    /// Exact log densities of the training rows, each row left out of its own class. `rows` are those
    /// of the fit.
    pub fn own_densities(&self, rows: &Rows<'_>, params: &Params, control: &Control) -> Result<OwnDensities> {
        let (units, columns) = Columns::learn(rows, params, &control.quiet().on_warning(|_| ()))?;
        if units != self.units {
            return Err(Error::data("these are not the training rows", "give the rows of the fit"));
        }
        let of_class = |pairs: &Vec<usize>| pairs.iter().map(|&p| self.pairs[p].pair).collect();
        let kept = Kept { of_class: self.class_pairs.iter().map(of_class).collect() };
        let densities = Densities::estimate(&columns, &kept, params, control)?;
        let features = densities.features(&columns.values, true, control)?;
        Ok(self.by_content(&columns, &features))
    }

    /// Rows of equal cells in one entry: of every class that has such a row, the densities without it.
    fn by_content(&self, columns: &Columns, features: &PerTerm) -> OwnDensities {
        let row = |r: usize| columns.values.iter().map(|f| f[r]).collect::<Vec<f64>>();
        let mut order: Vec<(Vec<f64>, usize)> = (0..columns.n_rows()).map(|r| (row(r), r)).collect();
        order.sort_by(|a, b| compare(&a.0, &b.0).then(a.1.cmp(&b.1)));
        let mut own = OwnDensities::default();
        for equal in order.chunk_by(|a, b| compare(&a.0, &b.0).is_eq()) {
            let (cells, first) = &equal[0];
            let of_class =
                |y: usize| equal.iter().find(|(_, r)| columns.class[*r] == y).map_or(*first, |(_, r)| *r);
            let rows: Vec<usize> = (0..self.n_classes).map(of_class).collect();
            own.cells.extend(cells);
            own.values.extend(self.listed(
                cells,
                |y, i| features.classes[y].marginals[i][rows[y]],
                |y, p| features.classes[y].pairs[p][rows[y]],
            ));
            own.n_rows += 1;
        }
        own
    }
}
