//! How the density family is named and fitted: `slb`, `slb-all`, `lu`, `kde-nb`, `kde-tan`, `kde-forest`.

use super::{Dataset, FitOptions, ModelSpec};
use crate::control::Control;
use crate::density::bandwidth::{LineBandwidth, PlaneBandwidth};
use crate::density::kernel::Floor;
use crate::density::settings::{ClassWeights, Penalty, Threshold, TrainingFeatures};
use crate::density::{DensityClassifier, Settings, Variant};
use crate::error::Result;
use std::collections::BTreeMap;

/// Fits a density classifier; also what inner cross-validation chose.
pub fn fit(
    variant: Variant,
    spec: &ModelSpec,
    data: &Dataset,
    options: FitOptions,
    control: &Control,
) -> Result<(DensityClassifier, BTreeMap<String, f64>)> {
    let model = DensityClassifier::fit(&data.training(), &settings(variant, spec, options)?, control)?;
    let mut chosen = BTreeMap::new();
    if variant == Variant::Slb && spec.text("fraction").is_none() {
        chosen.extend(model.summary().fraction.map(|f| ("fraction".to_string(), f)));
    }
    if !variant.is_generative() && spec.text("class_weights").is_none() {
        chosen.insert("balanced".into(), f64::from(u8::from(model.summary().balanced)));
    }
    Ok((model, chosen))
}

fn settings(variant: Variant, spec: &ModelSpec, options: FitOptions) -> Result<Settings> {
    let mut settings = Settings { seed: options.seed, ..Settings::new(variant) };
    if let Some(r) = spec.parsed("floor", "a number")? {
        settings.floor = Floor::Bandwidths(r);
    }
    if let Some(fraction) = spec.parsed("fraction", "a number from 0 to 1")? {
        settings.threshold = Threshold::Fraction(fraction);
    }
    if spec.text("class_weights").is_some() {
        let choices = [("none", false), ("balanced", true)];
        let balanced = spec.choice("class_weights", &choices)?;
        settings.class_weights = if balanced { ClassWeights::Balanced } else { ClassWeights::None };
    }
    settings.cost = spec.number("c", settings.cost)?;
    settings.penalty = spec.choice("penalty", &[("l2", Penalty::TwoNorm), ("l1", Penalty::OneNorm)])?;
    settings.training_features = spec.choice(
        "features",
        &[
            ("leave_one_out", TrainingFeatures::LeaveOneOut),
            ("resubstitution", TrainingFeatures::Resubstitution),
            ("split", TrainingFeatures::Split),
            ("cross_fit", TrainingFeatures::CrossFit),
        ],
    )?;
    (settings.line, settings.plane) = spec.choice(
        "bandwidth",
        &[
            ("plugin", (LineBandwidth::PlugIn, PlaneBandwidth::PlugIn)),
            ("normal", (LineBandwidth::Normal, PlaneBandwidth::Normal)),
        ],
    )?;
    Ok(settings)
}
