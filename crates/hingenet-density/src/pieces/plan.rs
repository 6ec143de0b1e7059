//! What a sample decides, the task that follows, and the model of what was counted.

use super::binned::Tables;
use super::bins::Side;
use super::{DensitySums, DensityTask};
use crate::classifier::DensityClassifier;
use crate::columns::{Columns, Units};
use crate::estimate::features::Densities;
use crate::estimate::{Joint, Marginal, narrowed};
use crate::fit::{Choice, TrainingSet, classifier};
use crate::params::{Params, TrainingFeatures};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require_len};
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use std::collections::BTreeSet;

/// Bins for each bandwidth: alone a quarter of it, which widens a kernel by half a per cent of its variance; in the plane
/// two fifths, 1.3 %.
const ALONE: f64 = 0.25;
const IN_PLANE: f64 = 0.4;

/// Most and fewest bins of a pair along the bulk of a feature.
const BINS: (f64, f64) = (64.0, 512.0);
/// The bulk: all but these shares of the rows.
const TAILS: (f64, f64) = (0.005, 0.995);
/// Bytes of a bin, also while pieces are merged, and the share of the memory that all bins may take.
const BIN: f64 = 48.0;
const BINS_SHARE: f64 = 0.25;

/// What a sample of the rows decides of a density model.
#[derive(Debug, Clone)]
pub struct DensityPlan {
    params: Params,
    units: Units,
    columns: Columns,
    choice: Choice,
    densities: Densities,
}

impl DensityPlan {
    /// Learns from a sample whose classes all have rows.
    pub fn new(rows: &Rows<'_>, params: &Params, control: &Control) -> Result<Self> {
        params.check(rows.n_classes())?;
        let (units, columns) = Columns::learn(rows, params, control)?;
        let choice = Choice::of(&columns, params, control)?;
        let densities = Densities::estimate(&columns, &choice.kept, params, control)?;
        Ok(DensityPlan { params: params.clone(), units, columns, choice, densities })
    }

    /// What is to be counted; `present` are the codes of the classes, `class_rows` all their rows.
    pub fn task(&self, present: Vec<usize>, class_rows: &[u64], control: &Control) -> Result<DensityTask> {
        require_len("classes", self.columns.n_classes, present.len())?;
        require_len("rows of classes", self.columns.n_classes, class_rows.len())?;
        let pairs: BTreeSet<(usize, usize)> = self.choice.kept.of_class.iter().flatten().copied().collect();
        let most = self.most_bins(pairs.len(), control);
        let side = |f: usize, step: f64| Side::new(self.columns.kinds[f], step);
        let line = |f: usize| side(f, self.line_step(f, class_rows));
        let pair = |pair: (usize, usize)| {
            let steps = self.pair_steps(pair, class_rows);
            let coarse = |f: usize, step: f64| side(f, step.max(self.bulk(f) / most));
            (pair, [coarse(pair.0, steps[0]), coarse(pair.1, steps[1])])
        };
        Ok(DensityTask {
            units: self.units.clone(),
            present,
            lines: (0..self.columns.n_features()).map(line).collect(),
            pairs: pairs.into_iter().map(pair).collect(),
        })
    }

    /// The model of what was counted.
    pub fn finish(
        self,
        task: &DensityTask,
        sums: DensitySums,
        control: &Control,
    ) -> Result<Fit<DensityClassifier>> {
        // what was gathered may come from a file
        task.check_sums(&sums)?;
        let DensityPlan { params, units, columns, choice, densities } = self;
        let tables = Tables::new(task, sums, &columns);
        let densities = tables.densities(&densities, &choice.kept, &params, control)?;
        let exact = if params.variant.is_generative() {
            let held_out = tables.left_out(&densities, true, true, control)?;
            choice.generative(densities, &held_out, &columns, &params)
        } else {
            let leaves_out = params.training_features != TrainingFeatures::Resubstitution;
            let features = tables.left_out(&densities, leaves_out, false, control)?;
            let set = TrainingSet { densities, features, rows: (0..columns.n_rows()).collect() };
            choice.again().machines(set, &columns, &params, control)?
        };
        classifier(units, exact, &columns, &params, control)
    }

    /// Bins along the bulk of a feature that memory has room for.
    fn most_bins(&self, pairs: usize, control: &Control) -> f64 {
        let tables = (pairs * self.columns.n_classes).max(1) as f64;
        let room = |bytes: u64| (BINS_SHARE * bytes as f64 / (BIN * tables)).sqrt();
        control.memory().map_or(BINS.1, |bytes| room(bytes).clamp(BINS.0, BINS.1))
    }

    /// The range of all rows of the sample but the outermost.
    fn bulk(&self, f: usize) -> f64 {
        let seen: Vec<usize> =
            (0..self.columns.n_rows()).filter(|&r| !self.columns.values[f][r].is_nan()).collect();
        let sample = self.columns.sample(f, &seen);
        sample.quantile(TAILS.1) - sample.quantile(TAILS.0)
    }

    fn line_step(&self, f: usize, class_rows: &[u64]) -> f64 {
        let width = |(y, all): (usize, &u64)| match &self.densities.classes[y].marginals[f] {
            Marginal::Kernel { kde, .. } => narrowed(kde.h(), kde.total, *all as f64),
            Marginal::Frequencies(_) => f64::INFINITY,
        };
        let narrowest = class_rows.iter().enumerate().map(width).fold(f64::INFINITY, f64::min);
        // a constant where no class has a kernel
        if narrowest.is_finite() { ALONE * narrowest.max(self.columns.least_bandwidth) } else { 1.0 }
    }

    /// Steps of a pair: a share of the narrowest kernel, along each axis given the other value.
    fn pair_steps(&self, pair: (usize, usize), class_rows: &[u64]) -> [f64; 2] {
        let mut narrowest = [f64::INFINITY; 2];
        for (y, all) in class_rows.iter().enumerate() {
            let Ok(p) = self.choice.kept.of_class[y].binary_search(&pair) else { continue };
            let widths = match &self.densities.classes[y].joints[p] {
                Joint::Plane { h, kde, .. } => {
                    let h = h.narrowed(kde.total, *all as f64);
                    [(h.det() / h.c).sqrt(), (h.det() / h.a).sqrt()]
                }
                Joint::Mixed(mixed) => [narrowed(mixed.least_bandwidth(), mixed.total(), *all as f64); 2],
                Joint::Table { .. } | Joint::Independent => continue,
            };
            narrowest.iter_mut().zip(widths).for_each(|(n, w)| *n = n.min(w));
        }
        let step = |width: f64| {
            if width.is_finite() { IN_PLANE * width.max(self.columns.least_bandwidth) } else { 1.0 }
        };
        narrowest.map(step)
    }
}
