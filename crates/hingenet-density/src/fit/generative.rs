//! Kernel naive Bayes, kernel TAN and kernel forest: log joint densities as class scores.

use super::{Calibration, ExactModel};
use crate::columns::Columns;
use crate::estimate::features::Densities;
use crate::params::{Params, Prior, Variant};
use crate::structure::Kept;
use crate::structure::trees::{forests, trees};
use crate::terms::Scores;
use hingenet_base::control::Control;
use hingenet_base::error::Result;

pub(super) fn fit(columns: &Columns, params: &Params, control: &Control) -> Result<ExactModel> {
    control.progress("learning the structure", 0, 2)?;
    let kept = match params.variant {
        Variant::KdeTan => trees(columns, params, control)?,
        Variant::KdeForest => forests(columns, params, control)?,
        _ => Kept::none(columns.n_classes()),
    };
    control.progress("estimating densities", 1, 2)?;
    let densities = Densities::estimate(columns, &kept, params, control)?;
    let scores = Scores::of_forests(&log_prior(columns, params), columns.n_features(), &kept);
    // Scores without the row itself stand for those of new rows.
    let held_out = scores.evaluate(&densities.held_out_features(columns.features(), control)?);
    Ok(ExactModel {
        densities,
        kept,
        scores,
        calibration: Calibration::fit(&held_out, columns.class(), columns.weights()),
        threshold: None,
        class_weights: None,
        reports: Vec::new(),
    })
}

fn log_prior(columns: &Columns, params: &Params) -> Vec<f64> {
    let weights = match &params.prior {
        Prior::Empirical => columns.class_totals(),
        Prior::Uniform => vec![1.0; columns.n_classes()],
        Prior::Given(p) => p.clone(),
    };
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| (w / total).ln()).collect()
}
