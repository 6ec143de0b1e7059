//! Kernel naive Bayes, kernel TAN and kernel forest: log joint densities as class scores.

use super::{Calibration, ExactModel};
use crate::columns::Columns;
use crate::features::Densities;
use crate::scores::Scores;
use crate::selection::Kept;
use crate::settings::{Prior, Settings, Variant};
use crate::structure::{forests, trees};
use hingenet_base::control::Control;
use hingenet_base::error::Result;

pub(super) fn fit(columns: &Columns, settings: &Settings, control: &Control) -> Result<ExactModel> {
    control.progress("learning the structure", 0, 2)?;
    let kept = match settings.variant {
        Variant::KdeTan => trees(columns, settings, control)?,
        Variant::KdeForest => forests(columns, settings, control)?,
        _ => Kept::none(columns.n_classes()),
    };
    control.progress("estimating densities", 1, 2)?;
    let densities = Densities::estimate(columns, &kept, settings, control)?;
    let scores = Scores::of_forests(&log_prior(columns, settings), columns.n_features(), &kept);
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

fn log_prior(columns: &Columns, settings: &Settings) -> Vec<f64> {
    let weights = match &settings.prior {
        Prior::Empirical => columns.class_totals(),
        Prior::Uniform => vec![1.0; columns.n_classes()],
        Prior::Given(p) => p.clone(),
    };
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| (w / total).ln()).collect()
}
