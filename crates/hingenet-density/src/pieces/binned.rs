//! From bins to densities, and the features of rows of the sample without themselves.

use super::bins::{BinCounts, Side, key, unpacked};
use super::{DensitySums, DensityTask};
use crate::columns::{Columns, Kind};
use crate::estimate::Joint;
use crate::estimate::features::{ClassDensities, Densities};
use crate::params::Params;
use crate::structure::Kept;
use crate::terms::PerTerm;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;

/// A kernel may be no narrower than this share of the bins that it smooths.
const OF_A_BIN: f64 = 0.8;

/// The bins of one feature or pair as rows in their middles, with whole numbers as weights.
struct Table {
    sides: [Side; 2],
    counts: BinCounts,
    rows: Columns,
}

impl Table {
    fn new(kinds: &[Kind], sides: [Side; 2], counts: BinCounts, like: &Columns) -> Self {
        let cells: Vec<(usize, [i32; 2])> = counts.keys.iter().map(|key| unpacked(*key)).collect();
        let side = |s: usize| cells.iter().map(|(_, bins)| sides[s].value(bins[s])).collect();
        let steps = sides[..kinds.len()].iter().filter_map(|side| match side {
            Side::Steps(step) if kinds.len() > 1 => Some(OF_A_BIN * step),
            _ => None,
        });
        let rows = Columns {
            kinds: kinds.to_vec(),
            values: (0..kinds.len()).map(side).collect(),
            class: cells.iter().map(|(class, _)| *class).collect(),
            weights: counts.rows.iter().map(|n| *n as f64).collect(),
            n_classes: like.n_classes,
            least_bandwidth: steps.fold(like.least_bandwidth, f64::max),
        };
        Table { sides, counts, rows }
    }

    /// Rows of a class: keys are in the order of the classes.
    fn of_class(&self, y: usize) -> Vec<usize> {
        let from = |y: usize| self.rows.class.partition_point(|class| *class < y);
        let range: Range<usize> = from(y)..from(y + 1);
        range.collect()
    }

    /// The row that a row of the sample is in.
    fn own(&self, class: usize, [x, y]: [f64; 2]) -> Option<usize> {
        let is_there = !x.is_nan() && !y.is_nan();
        is_there.then(|| self.counts.place(key(class, [self.sides[0].bin(x), self.sides[1].bin(y)])))?
    }
}

/// Bins of all rows, as tables.
pub(super) struct Tables<'a> {
    /// The sample.
    columns: &'a Columns,
    /// Of the features, then of the pairs.
    tables: Vec<Table>,
    pairs: Vec<(usize, usize)>,
}

impl<'a> Tables<'a> {
    /// Bins that fit the task.
    pub fn new(task: &DensityTask, sums: DensitySums, columns: &'a Columns) -> Self {
        let kind = |f: usize| columns.kinds[f];
        let table = |(([i, j], sides), counts): (([usize; 2], [Side; 2]), BinCounts)| {
            let kinds = if i == j { vec![kind(i)] } else { vec![kind(i), kind(j)] };
            Table::new(&kinds, sides, counts, columns)
        };
        let tables = task.tables().zip(sums.tables).map(table).collect();
        Tables { columns, tables, pairs: task.pairs.iter().map(|(pair, _)| *pair).collect() }
    }

    fn of(&self, (i, j): (usize, usize)) -> Option<&Table> {
        if i == j {
            return self.tables.get(i);
        }
        let place = self.pairs.binary_search(&(i, j)).ok()?;
        self.tables.get(self.columns.n_features() + place)
    }

    fn wanted(&self, pair: (usize, usize)) -> Result<&Table> {
        self.of(pair).ok_or_else(|| Error::model_file("a pair was not counted"))
    }

    /// The densities of all rows; those of the sample have the bandwidths.
    pub fn densities(
        &self,
        sampled: &Densities,
        kept: &Kept,
        params: &Params,
        control: &Control,
    ) -> Result<Densities> {
        let class = |(y, sampled): (usize, &ClassDensities)| {
            let marginal = |i: usize| {
                let table = self.wanted((i, i))?;
                sampled.marginals[i].of_more_rows(&table.rows, 0, &table.of_class(y), params)
            };
            let joint = |(p, pair): (usize, &(usize, usize))| {
                control.check()?;
                let table = self.wanted(*pair)?;
                let (sampled, rows) = (Some(&sampled.joints[p]), table.of_class(y));
                Joint::estimate(sampled, &table.rows, (0, 1), &rows, params, control)
            };
            let pairs = kept.of_class[y].clone();
            Ok(ClassDensities {
                marginals: (0..self.columns.n_features())
                    .into_par_iter()
                    .map(marginal)
                    .collect::<Result<_>>()?,
                joints: pairs.par_iter().enumerate().map(joint).collect::<Result<_>>()?,
                pairs,
            })
        };
        let classes = sampled.classes.iter().enumerate().map(class).collect::<Result<_>>()?;
        Ok(Densities { classes, raw: sampled.raw.clone() })
    }

    /// Features of the rows of the sample, each left out of the kernels and, where it is asked, of the counts.
    pub fn left_out(
        &self,
        densities: &Densities,
        kernels: bool,
        counts: bool,
        control: &Control,
    ) -> Result<PerTerm> {
        let Columns { values, class, .. } = self.columns;
        let own = |(i, j): (usize, usize), q: usize| {
            let second = if i == j { 0.0 } else { values[j][q] };
            self.of((i, j))?.own(class[q], [values[i][q], second])
        };
        densities.evaluate(
            values,
            |pair, q| if kernels { own(pair, q) } else { None },
            |pair, q| if counts { own(pair, q) } else { None },
            control,
        )
    }
}
