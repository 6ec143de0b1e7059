//! How the density family is named and fitted: `slb`, `slb-all`, `lu`, `kde-nb`, `kde-tan`, `kde-forest`.

use super::fit::{Cells, fit_rows};
use super::spec::unescaped;
use super::{Dataset, FitOptions, Fitted, Model, ModelSpec};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use hingenet_data::table::{Table, UnseenPolicy};
use hingenet_density::estimate::bandwidth::{LineBandwidth, PlaneBandwidth};
use hingenet_density::estimate::kernel::Floor;
use hingenet_density::params::{
    Anchor, Augment, ClassWeights, Multiclass, Penalty, Prior, Threshold, TrainingFeatures,
};
use hingenet_density::transform::{LogDensity, OwnDensities};
use hingenet_density::{DensityClassifier, Params, Variant};

/// Fits a density classifier.
pub fn fit(
    variant: Variant,
    spec: &ModelSpec,
    rows: &Rows<'_>,
    options: FitOptions,
    control: &Control,
) -> Result<Fit<DensityClassifier>> {
    hingenet_density::fit(rows, &params(variant, spec, rows, options)?, control)
}

/// Fits the feature map of SLB alone: the model `slb` (whose tables give the log densities of new rows) and,
/// unless `resubstitution` is asked for, the log densities of the training rows without themselves.
pub fn fit_log_densities(
    spec: &ModelSpec,
    data: &Dataset,
    options: FitOptions,
    control: &Control,
) -> Result<(Model, OwnDensities)> {
    let rows = Rows::of(data)?;
    let cells = Cells { rows: data.n_rows(), missing: data.features.n_missing() };
    let model = fit_rows(spec, &rows, cells, options, control)?;
    let fitted = model.densities()?;
    let params = params(fitted.variant(), spec, &rows, options)?;
    let own = match params.training_features {
        TrainingFeatures::Resubstitution => OwnDensities::default(),
        _ => fitted.own_densities(&rows, &params, control)?,
    };
    Ok((model, own))
}

impl Model {
    /// Names of the log densities of [`Model::log_densities`]: class, column and, of a pair, other column.
    pub fn log_density_list(&self) -> Result<Vec<LogDensity>> {
        Ok(self.densities()?.log_density_list())
    }

    /// Log densities of every row of a table, row by row, as the density model sees them.
    pub fn log_densities(&self, table: &Table, own: &OwnDensities, unseen: UnseenPolicy) -> Result<Vec<f64>> {
        let (rows, _) = self.schema.align(table, unseen)?;
        self.densities()?.log_densities(&rows, own)
    }

    /// The density model behind this one.
    pub fn densities(&self) -> Result<&DensityClassifier> {
        match &self.fitted {
            Fitted::Density(fitted) => Ok(fitted),
            _ => Err(Error::Unsupported {
                model: self.spec.to_string(),
                problem: "this model has no log densities".into(),
                hint: "fit a density model such as slb or kde-tan".into(),
            }),
        }
    }
}

fn params(variant: Variant, spec: &ModelSpec, rows: &Rows<'_>, options: FitOptions) -> Result<Params> {
    let mut params = Params { seed: options.seed, ..Params::new(variant) };
    params.anchor =
        spec.choice("anchor", &[("none", Anchor::None), ("nb", Anchor::NaiveBayes), ("tan", Anchor::Tan)])?;
    if params.anchor != Anchor::None {
        // The floor of the generative classifier that it starts from.
        params.floor = Params::new(Variant::KdeTan).floor;
    }
    if let Some(r) = spec.parsed("floor", "a number")? {
        params.floor = Floor::Bandwidths(r);
    }
    if let Some(fraction) = spec.parsed("fraction", "a number from 0 to 1")? {
        params.threshold = Threshold::Fraction(fraction);
    }
    if let Some(text) = spec.text("class_weights") {
        (params.class_weights, params.prior) = class_weights(text, spec, rows)?;
    }
    params.cost = spec.number("c", params.cost)?;
    params.penalty = spec.choice(
        "penalty",
        &[("l2", Penalty::TwoNorm), ("l1", Penalty::OneNorm), ("group", Penalty::GroupNorm)],
    )?;
    params.multiclass = multiclass(spec, params.anchor, rows.n_classes())?;
    (params.tiny_classes, params.pairs_in_small_classes) = spec.choice(
        "small_classes",
        &[("refuse", (false, false)), ("allow", (true, false)), ("pairs", (true, true))],
    )?;
    params.augment = spec.choice(
        "augment",
        &[("none", Augment::None), ("raw", Augment::Raw), ("raw_and_products", Augment::RawAndProducts)],
    )?;
    params.training_features = spec.choice(
        "features",
        &[
            ("leave_one_out", TrainingFeatures::LeaveOneOut),
            ("resubstitution", TrainingFeatures::Resubstitution),
            ("split", TrainingFeatures::Split),
            ("cross_fit", TrainingFeatures::CrossFit),
        ],
    )?;
    (params.line, params.plane) = spec.choice(
        "bandwidth",
        &[
            ("plugin", (LineBandwidth::PlugIn, PlaneBandwidth::PlugIn)),
            ("normal", (LineBandwidth::Normal, PlaneBandwidth::Normal)),
        ],
    )?;
    Ok(params)
}

/// The machines of more than two classes; around an anchor it is always the one of all classes.
fn multiclass(spec: &ModelSpec, anchor: Anchor, n_classes: usize) -> Result<Multiclass> {
    let choices = [("one_vs_rest", Multiclass::OneVsRest), ("crammer_singer", Multiclass::CrammerSinger)];
    let chosen = spec.choice("multiclass", &choices)?;
    match (anchor, spec.text("multiclass")) {
        (Anchor::None, _) => Ok(chosen),
        (_, Some(text)) if n_classes > 2 && chosen != Multiclass::CrammerSinger => {
            Err(spec.bad("multiclass", text, "crammer_singer with an anchor"))
        }
        _ => Ok(Multiclass::CrammerSinger),
    }
}

/// Class weights of a machine, and the class prior they mean for densities: `none`, `balanced`, or weights by
/// name such as `ill:2;well:1`.
fn class_weights(text: &str, spec: &ModelSpec, rows: &Rows<'_>) -> Result<(ClassWeights, Prior)> {
    let expected = "none, balanced, or weights by class such as ill:2;well:1";
    let bad = || spec.bad("class_weights", text, expected);
    match text {
        "none" => return Ok((ClassWeights::None, Prior::Empirical)),
        "balanced" => return Ok((ClassWeights::Balanced, Prior::Uniform)),
        _ => {}
    }
    let mut weights = vec![1.0; rows.n_classes()];
    for part in text.split(';').filter(|part| !part.trim().is_empty()) {
        let (name, weight) = part.rsplit_once(':').ok_or_else(bad)?;
        let name = unescaped(name.trim()).ok_or_else(bad)?;
        let class = rows.classes().iter().position(|c| *c == name).ok_or_else(bad)?;
        let weight: f64 = weight.trim().parse().map_err(|_| bad())?;
        if !(weight.is_finite() && weight > 0.0) {
            return Err(bad());
        }
        weights[class] = weight;
    }
    let mut prior: Vec<f64> = rows.class_totals().iter().zip(&weights).map(|(n, w)| n * w).collect();
    let total: f64 = prior.iter().sum();
    prior.iter_mut().for_each(|p| *p /= total);
    Ok((ClassWeights::Given(weights), Prior::Given(prior)))
}
