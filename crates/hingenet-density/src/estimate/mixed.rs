//! Joint density of a discrete and a continuous feature: `p(x, a) = P(a) p(x|a)`, where p(x|a) is a kernel
//! estimate on the rows with value a, shrunk towards the density of all rows.

use super::joint::{line_bandwidth, omitted};
use super::kernel::{LineKde, Own};
use super::sample::Sample;
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
    /// Weighted count of each value.
    counts: Vec<f64>,
    pseudo_count: f64,
    shrinkage: f64,
    floor: f64,
    rows: Vec<usize>,
}

/// Rows with one value of the discrete feature.
#[derive(Debug, Clone)]
struct Cell {
    kde: LineKde,
    /// Place of each row of the class within the cell.
    rows: Vec<usize>,
}

impl Mixed {
    /// Estimates from complete rows: codes `a` below `levels` and values `x`. The bandwidth is that of the
    /// values centred within the cells, rescaled by `(m/m_a)^(1/5)` for the cell of m_a rows.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn estimate(
        a: Vec<f64>,
        levels: usize,
        x: Vec<f64>,
        weights: Vec<f64>,
        rows: Vec<usize>,
        discrete_first: bool,
        params: &Params,
        least: f64,
    ) -> Result<Self> {
        let of_level = |l: usize| (0..a.len()).filter(|&k| a[k] as usize == l).collect::<Vec<usize>>();
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
        let mut cells = Vec::with_capacity(levels);
        let mut counts = Vec::with_capacity(levels);
        for ks in &members {
            let sample = part(ks);
            counts.push(sample.total());
            cells.push(if ks.is_empty() {
                None
            } else {
                let widened = h * (pooled.total() / sample.total()).powf(0.2);
                Some(Cell { kde: LineKde::new(&sample, widened)?, rows: ks.clone() })
            });
        }
        let peak = LineKde::new(&pooled, h)?.log_peak();
        let floor = params.floor.log_value(peak, pooled.total());
        let (pseudo_count, shrinkage) = (params.pseudo_count, params.shrinkage);
        Ok(Mixed { discrete_first, cells, whole, counts, pseudo_count, shrinkage, floor, rows })
    }

    /// Log densities at complete queries, in the order of the pair.
    pub(crate) fn log_densities(
        &self,
        x: &[f64],
        y: &[f64],
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        let (codes, values) = if self.discrete_first { (x, y) } else { (y, x) };
        let place = |q: usize| omitted(&self.rows, own(q));
        let whole = self.whole.log_densities(values, place);
        (0..codes.len()).map(|q| self.log_density(codes[q] as usize, values[q], whole[q], place(q))).collect()
    }

    /// Only kernels are left out, the counts stay (see `Densities::features`).
    fn log_density(&self, level: usize, x: f64, log_whole: f64, own: Own) -> f64 {
        let (count, cells) = (self.counts[level], self.counts.len() as f64);
        let total: f64 = self.counts.iter().sum();
        let log_value = ((count + self.pseudo_count) / (total + self.pseudo_count * cells)).ln();
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
        log_value + log_add(log_cell, log_shrunk) - (count + self.shrinkage).ln()
    }

    /// Smallest log density.
    pub(crate) fn floor(&self) -> f64 {
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
