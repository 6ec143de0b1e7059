//! Joint density of a discrete and a continuous feature: `p(x, a) = P(a) p(x|a)`, where p(x|a) is a kernel
//! estimate on the rows with value a, shrunk towards the density of all rows.

use super::counts::{Counts, place};
use super::kernel::LineKde;
use super::marginal::{line_bandwidth, narrowed};
use crate::columns::Columns;
use crate::params::Params;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::log_add;

/// Weight κ of the density of all rows in the densities given a discrete value, in rows.
const SHRINKAGE: f64 = 5.0;

/// Density of one discrete and one continuous feature in one class.
#[derive(Debug, Clone)]
pub struct Mixed {
    /// Whether the discrete feature is the first of the pair.
    pub(crate) discrete_first: bool,
    cells: Vec<Option<Cell>>,
    whole: LineKde,
    /// Bandwidth of the values centred within the cells.
    pooled: f64,
    levels: Counts,
    pub(super) floor: f64,
}

/// Rows with one value of the discrete feature.
#[derive(Debug, Clone)]
struct Cell {
    kde: LineKde,
    /// Place of each row of the cell among the rows of the class.
    rows: Vec<usize>,
}

impl Mixed {
    /// Estimates from rows where both features are seen, the discrete one with its number of levels. The bandwidth is that
    /// of the values centred within the cells, rescaled by `(m/m_a)^(1/5)` for the cell of m_a rows; with the density of a
    /// sample it is that of the sample, narrowed.
    pub(super) fn like(
        sampled: Option<&Mixed>,
        columns: &Columns,
        (discrete, levels): (usize, usize),
        continuous: usize,
        rows: Vec<usize>,
        params: &Params,
    ) -> Result<Self> {
        let code = |r: usize| columns.values[discrete][r] as usize;
        let all = columns.sample(continuous, &rows);
        let of_level = |l: usize| (0..rows.len()).filter(|&k| code(rows[k]) == l).collect::<Vec<usize>>();
        let members: Vec<Vec<usize>> = (0..levels).map(of_level).collect();
        let mut pooled = all.clone();
        for ks in members.iter().filter(|ks| !ks.is_empty()) {
            let mean = all.part(ks).mean();
            ks.iter().for_each(|&k| pooled.values[k] -= mean);
        }
        let least = columns.least_bandwidth;
        let [h, h_whole] = match sampled {
            Some(mixed) => {
                [mixed.pooled, mixed.whole.h()].map(|h| narrowed(h, mixed.whole.total, all.total).max(least))
            }
            None => [&pooled, &all].map(|sample| line_bandwidth(sample, params, least)),
        };
        let whole = LineKde::new(&all, h_whole)?;
        let cell = |ks: &Vec<usize>| {
            let sample = all.part(ks);
            let widened = h * (pooled.total / sample.total).powf(0.2);
            Ok(Cell { kde: LineKde::new(&sample, widened)?, rows: ks.clone() })
        };
        let cells = members.iter().map(|ks| (!ks.is_empty()).then(|| cell(ks)).transpose());
        let cells = cells.collect::<Result<Vec<Option<Cell>>>>()?;
        let floor = params.floor.log_value(LineKde::new(&pooled, h)?.log_peak, pooled.total);
        let levels = Counts::new(levels, rows, all.weights, code);
        Ok(Mixed { discrete_first: discrete < continuous, cells, whole, pooled: h, levels, floor })
    }

    /// Log densities at complete queries, in the order of the pair. Only kernels are left out, the counts stay (see
    /// `Densities::features`).
    pub(super) fn log_densities(
        &self,
        x: &[f64],
        y: &[f64],
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        let (codes, values) = if self.discrete_first { (x, y) } else { (y, x) };
        let own = |q: usize| place(&self.levels.rows, own(q));
        let whole = self.whole.log_densities([values], own);
        let log_density = |q: usize| {
            let level = codes[q] as usize;
            let count = self.levels.counts[level];
            let log_cell = self.cells[level].as_ref().map_or(f64::NEG_INFINITY, |cell| {
                count.ln() + cell.kde.log_densities([&[values[q]]], |_| place(&cell.rows, own(q)))[0]
            });
            self.levels.log_share(level, None) + log_add(log_cell, SHRINKAGE.ln() + whole[q])
                - (count + SHRINKAGE).ln()
        };
        (0..codes.len()).map(log_density).collect()
    }

    /// Total weight of the rows behind the density.
    pub(crate) fn total(&self) -> f64 {
        self.whole.total
    }

    /// Smallest bandwidth of the continuous feature.
    pub(crate) fn least_bandwidth(&self) -> f64 {
        self.cells.iter().flatten().map(|c| c.kde.h()).fold(self.whole.h(), f64::min)
    }
}
