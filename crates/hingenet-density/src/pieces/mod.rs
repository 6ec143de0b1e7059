//! Densities of rows that come in pieces. What compares rows with each other is learnt from a sample: which pairs depend on
//! each other, bandwidths, and the weights of the machine. The densities themselves are those of all rows, counted in bins
//! that are a fraction of a bandwidth wide; with them the machine is trained on the rows of the sample, each left out.
//!
//! Optimal bandwidths shrink as `m^(-1/5)` on the line and as `m^(-1/6)` in the plane, so those that the sample's rules choose
//! shrink like this from its m rows of a class to all.

mod binned;
mod bins;
mod plan;

use crate::columns::Units;
use bins::{MOST_CLASSES, Side, key};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_data::pieces::whole_weights;
use hingenet_data::rows::Dataset;
use hingenet_data::table::Schema;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use bins::BinCounts;
pub use plan::DensityPlan;

/// What is to be counted in every piece.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DensityTask {
    /// Units of the columns.
    units: Units,
    /// Codes of the classes that have rows, ascending.
    present: Vec<usize>,
    /// Bins of the features.
    lines: Vec<Side>,
    /// Pairs i < j of features that some class keeps, and their bins, coarser than those of the features alone.
    pairs: Vec<((usize, usize), [Side; 2])>,
}

/// What some pieces gave: bins of the features, then of the pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct DensitySums {
    /// One for each feature and each pair.
    pub tables: Vec<BinCounts>,
}

impl DensityTask {
    /// Codes of the classes that have rows, ascending.
    pub fn present(&self) -> &[usize] {
        &self.present
    }

    /// Refuses what belongs to no density model of these columns and classes (for what is read from a file).
    pub fn check(&self, schema: &Schema, n_classes: usize) -> Result<()> {
        require_len("feature columns", schema.features.len(), self.units.units.len())?;
        let unit_fits =
            self.units.units.iter().zip(&schema.features).all(|(unit, spec)| unit.fits(&spec.kind));
        let kinds = self.units.kinds();
        let side_fits = |side: &Side, f: usize| kinds.get(f).is_some_and(|kind| side.fits(*kind));
        let pair_fits =
            |((i, j), [a, b]): &((usize, usize), [Side; 2])| i < j && side_fits(a, *i) && side_fits(b, *j);
        let fits = unit_fits
            && self.present.windows(2).all(|w| w[0] < w[1])
            && self.present.iter().all(|c| *c < n_classes)
            && (2..=MOST_CLASSES).contains(&self.present.len())
            && self.lines.len() == kinds.len()
            && self.lines.iter().enumerate().all(|(f, side)| side_fits(side, f))
            && self.pairs.iter().all(pair_fits)
            && self.pairs.windows(2).all(|w| w[0].0 < w[1].0);
        if fits { Ok(()) } else { Err(Error::model_file("the task does not fit the columns")) }
    }

    /// Counts the rows of a piece that has all columns, categories and classes.
    pub fn gather(&self, piece: &Dataset) -> Result<DensitySums> {
        let weights = whole_weights(piece)?;
        let values = self.units.encode(&piece.features)?;
        let place = |m: usize| {
            let code = piece.class.get(m).and_then(|c| self.present.binary_search(&c).ok());
            code.ok_or_else(|| {
                Error::row(m, "its class has no rows in the sample", "fit to all pieces again")
            })
        };
        let kept = (0..piece.n_rows()).filter(|&m| weights[m] > 0);
        let rows = kept.map(|m| Ok((m, place(m)?))).collect::<Result<Vec<(usize, usize)>>>()?;
        let count = |([i, j], [a, b]): &([usize; 2], [Side; 2])| {
            let keyed = rows.iter().filter_map(|&(m, class)| {
                let (x, y) = (values[*i][m], values[*j][m]);
                let is_there = !x.is_nan() && !y.is_nan();
                is_there.then(|| (key(class, [a.bin(x), b.bin(y)]), weights[m]))
            });
            BinCounts::of(keyed.collect())
        };
        let tables: Vec<([usize; 2], [Side; 2])> = self.tables().collect();
        Ok(DensitySums { tables: tables.par_iter().map(count).collect() })
    }

    /// Features and sides of every table: a feature alone has one bin on its second side.
    fn tables(&self) -> impl Iterator<Item = ([usize; 2], [Side; 2])> + '_ {
        let lines = self.lines.iter().enumerate().map(|(f, side)| ([f, f], [*side, ONE]));
        lines.chain(self.pairs.iter().map(|((i, j), sides)| ([*i, *j], *sides)))
    }

    /// Refuses what was not counted for this task (for what is read from a file).
    fn check_sums(&self, sums: &DensitySums) -> Result<()> {
        let mut tables = self.tables();
        require_len("binned tables", tables.by_ref().count(), sums.tables.len())?;
        let n_classes = self.present.len();
        sums.tables.iter().zip(self.tables()).try_for_each(|(t, (_, sides))| t.check(n_classes, sides))
    }
}

/// The second side of a feature alone: every value is in its bin.
const ONE: Side = Side::Steps(f64::INFINITY);

impl DensitySums {
    /// Adds those of other pieces.
    pub fn merge(&mut self, other: &DensitySums) -> Result<()> {
        require_len("binned tables of a piece", self.tables.len(), other.tables.len())?;
        self.tables.par_iter_mut().zip(&other.tables).for_each(|(a, b)| a.merge(b));
        Ok(())
    }

    /// Memory, about.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(|t| 16 * t.keys.len()).sum()
    }
}
