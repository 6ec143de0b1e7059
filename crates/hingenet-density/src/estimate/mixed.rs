//! Joint density of a discrete and a continuous feature: `p(x, a) = P(a) p(x|a)`, where p(x|a) is a kernel
//! estimate on the rows with value a, shrunk towards the density of all rows.

use super::counts::Counts;
use super::kernel::{LineKde, Own};
use super::marginal::{line_bandwidth, omitted};
use super::sample::Sample;
use crate::columns::Columns;
use crate::params::Params;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::log_add;

/// Density of one discrete and one continuous feature in one class.
#[derive(Debug, Clone)]
pub struct Mixed {
    /// Whether the discrete feature is the first of the pair.
    discrete_first: bool,
    cells: Vec<Option<Cell>>,
    whole: LineKde,
    levels: Counts,
    shrinkage: f64,
    floor: f64,
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
    /// of the values centred within the cells, rescaled by `(m/m_a)^(1/5)` for the cell of m_a rows.
    pub(super) fn estimate(
        columns: &Columns,
        (discrete, levels): (usize, usize),
        continuous: usize,
        rows: Vec<usize>,
        params: &Params,
    ) -> Result<Self> {
        let code = |r: usize| columns.feature(discrete)[r] as usize;
        let (weights, least) = (columns.weights_of(&rows), columns.least_bandwidth());
        let x: Vec<f64> = rows.iter().map(|&r| columns.feature(continuous)[r]).collect();
        let of_level = |l: usize| (0..rows.len()).filter(|&k| code(rows[k]) == l).collect::<Vec<usize>>();
        let members: Vec<Vec<usize>> = (0..levels).map(of_level).collect();
        let part = |ks: &[usize]| {
            Sample::weighted(ks.iter().map(|&k| x[k]).collect(), ks.iter().map(|&k| weights[k]).collect())
        };
        let mut centred = x.clone();
        for ks in members.iter().filter(|ks| !ks.is_empty()) {
            let mean = part(ks).mean();
            ks.iter().for_each(|&k| centred[k] -= mean);
        }
        let pooled = Sample::weighted(centred, weights.clone());
        let h = line_bandwidth(&pooled, params, least);
        let whole = Sample::weighted(x.clone(), weights.clone());
        let whole = LineKde::new(&whole, line_bandwidth(&whole, params, least))?;
        let cell = |ks: &Vec<usize>| {
            let sample = part(ks);
            let widened = h * (pooled.total() / sample.total()).powf(0.2);
            Ok(Cell { kde: LineKde::new(&sample, widened)?, rows: ks.clone() })
        };
        let cells = members.iter().map(|ks| (!ks.is_empty()).then(|| cell(ks)).transpose());
        let cells = cells.collect::<Result<Vec<Option<Cell>>>>()?;
        let floor = params.floor.log_value(LineKde::new(&pooled, h)?.log_peak(), pooled.total());
        let levels = Counts::new(levels, rows, weights, params.pseudo_count, code);
        let discrete_first = discrete < continuous;
        Ok(Mixed { discrete_first, cells, whole, levels, shrinkage: params.shrinkage, floor })
    }

    /// Log densities at complete queries, in the order of the pair.
    pub(super) fn log_densities(
        &self,
        x: &[f64],
        y: &[f64],
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        let (codes, values) = if self.discrete_first { (x, y) } else { (y, x) };
        let place = |q: usize| omitted(self.levels.rows(), own(q));
        let whole = self.whole.log_densities(values, place);
        (0..codes.len()).map(|q| self.log_density(codes[q] as usize, values[q], whole[q], place(q))).collect()
    }

    /// Only kernels are left out, the counts stay (see `Densities::features`).
    fn log_density(&self, level: usize, x: f64, log_whole: f64, own: Own) -> f64 {
        let count = self.levels.count(level);
        let log_cell = match &self.cells[level] {
            Some(cell) => {
                let in_cell = match own {
                    Own::Omit(k) => cell.rows.binary_search(&k).map_or(Own::Keep, Own::Omit),
                    Own::Keep => Own::Keep,
                };
                count.ln() + cell.kde.log_densities(&[x], |_| in_cell)[0]
            }
            None => f64::NEG_INFINITY,
        };
        let log_shrunk =
            if self.shrinkage > 0.0 { self.shrinkage.ln() + log_whole } else { f64::NEG_INFINITY };
        self.levels.log_share(level, None) + log_add(log_cell, log_shrunk) - (count + self.shrinkage).ln()
    }

    /// Smallest log density.
    pub(super) fn floor(&self) -> f64 {
        self.floor
    }

    /// Smallest bandwidth of the continuous feature.
    pub(crate) fn least_bandwidth(&self) -> f64 {
        self.cells.iter().flatten().map(|c| c.kde.h()).fold(self.whole.h(), f64::min)
    }

    /// Whether the first feature of the pair is the discrete one.
    pub(crate) fn discrete_first(&self) -> bool {
        self.discrete_first
    }
}
