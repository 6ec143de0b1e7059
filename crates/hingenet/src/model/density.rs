//! How the density family is named and fitted: `slb`, `slb-all`, `lu`, `kde-nb`, `kde-tan`, `kde-forest`.

use super::fit::{Cells, fit_rows};
use super::options::{
    CHOSEN, Opt, OptionDefault, OptionInfo, OptionKind, OptionValue, bad_value, option, options,
};
use super::spec::unescaped;
use super::{Dataset, FitOptions, Fitted, Model, ModelSpec};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_data::rows::Rows;
use hingenet_data::table::{Table, UnseenPolicy};
use hingenet_density::estimate::bandwidth::{LineBandwidth, PlaneBandwidth};
use hingenet_density::estimate::kernel::Floor;
use hingenet_density::params::{
    Anchor, Augment, ClassWeights, Criterion, Multiclass, Penalty, Threshold, TrainingFeatures,
};
use hingenet_density::transform::{LogDensity, OwnDensities};
use hingenet_density::{DensityClassifier, Params, Variant};
use std::ops::Bound;

options! { density_setters:
    BANDWIDTH bandwidth: words((LineBandwidth, PlaneBandwidth);
        "plugin" => (LineBandwidth::PlugIn, PlaneBandwidth::PlugIn),
        "normal" => (LineBandwidth::Normal, PlaneBandwidth::Normal),
        "one_stage" => (LineBandwidth::PlugInOneStage, PlaneBandwidth::PlugInOneStage),
        "diagonal" => (LineBandwidth::PlugIn, PlaneBandwidth::Diagonal),
        "product" => (LineBandwidth::Normal, PlaneBandwidth::Product),
        "silverman" => (LineBandwidth::Silverman, PlaneBandwidth::Normal),
        "scott" => (LineBandwidth::Scott, PlaneBandwidth::Normal),
        "lscv" => (LineBandwidth::LeastSquares, PlaneBandwidth::PlugIn)) = "plugin",
        "smoothing: two-stage plug-in or the faster normal-scale rule; plug-in with one stage or with diagonal matrices \
         for pairs, a product of normal-scale kernels, Silverman's and Scott's rules (pairs by the normal scale), \
         least-squares cross-validation (pairs by plug-in)";
    FLOOR floor: number(0.0 ..= 1e3) or "4 (slb, lu), 8 for densities and around an anchor",
        "log densities end where one training point lies this many bandwidths away";
    CLASS_WEIGHTS class_weights: text("none, balanced, or weights such as ill:2;well:1", check_class_weights)
        or "chosen by inner cross-validation; none for densities",
        "whether small classes count as much as large ones";
    SMALL_CLASSES small_classes: words((bool, bool);
        "refuse" => (false, false), "allow" => (true, false), "pairs" => (true, true)) = "refuse",
        "classes with fewer than 4 rows: an error or not; pairs gives those below 20 pair densities too";
}

options! { machine_setters:
    FRACTION fraction: number(0.0 ..= 1.0) or CHOSEN,
        "share of the most dependent (class, pair) combinations that are kept";
    THRESHOLD threshold: text("hsic:V, top:K, bonferroni:P or benjamini_hochberg:P", check_threshold)
        or "none: a fraction is kept",
        "keep combinations by their dependence instead: of at least V, the K largest, or significant at level P";
    CRITERION criterion: words(Criterion; "balanced_error" => Criterion::BalancedError, "error" => Criterion::Error)
        = "balanced_error",
        "what inner cross-validation makes small to choose the fraction, the class weights and c; error is the paper's";
    COST c: number(1e-12 ..= 1e12) or CHOSEN,
        "weight of the margin shortfalls of the support vector machine; 1 is the paper's";
    FEATURES features: words(TrainingFeatures; "leave_one_out" => TrainingFeatures::LeaveOneOut,
        "resubstitution" => TrainingFeatures::Resubstitution, "split" => TrainingFeatures::Split,
        "cross_fit" => TrainingFeatures::CrossFit) = "leave_one_out",
        "where the log densities of the training rows come from; resubstitution is the paper's";
    NORM norm: words(Penalty; "l2" => Penalty::TwoNorm, "l1" => Penalty::OneNorm, "group" => Penalty::GroupNorm)
        = "l2",
        "norm of the weights; l1 makes single terms zero, group all terms of a column or a pair";
    MULTICLASS multiclass: words(Multiclass; "one_vs_rest" => Multiclass::OneVsRest,
        "crammer_singer" => Multiclass::CrammerSinger) = "one_vs_rest",
        "more than two classes: a machine for each against the rest, or one machine of all classes";
    ANCHOR anchor: words(Anchor; "none" => Anchor::None, "nb" => Anchor::NaiveBayes, "tan" => Anchor::Tan) = "none",
        "penalise the distance from kernel naive Bayes or kernel TAN, which small c gives back";
    AUGMENT augment: words(Augment; "none" => Augment::None, "raw" => Augment::Raw,
        "raw_and_products" => Augment::RawAndProducts) = "none",
        "also the numbers themselves, or these and the products of kept pairs, as terms of the machine";
}

/// Without pairs there is no tree to start from.
pub(super) const ANCHOR_OF_LU: OptionInfo = OptionInfo {
    kind: OptionKind::Word(&["none", "nb"]),
    about: "penalise the distance from kernel naive Bayes",
    ..ANCHOR.info
};
/// Without pairs there are no products.
pub(super) const AUGMENT_OF_LU: OptionInfo = OptionInfo {
    kind: OptionKind::Word(&["none", "raw"]),
    about: "also the numbers themselves as terms of the machine",
    ..AUGMENT.info
};

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
    let params = params(fitted.variant, spec, &rows, options)?;
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
            _ => Err(self.unsupported(
                "this model has no log densities",
                "fit a density model such as slb or kde-tan",
            )),
        }
    }
}

/// The settings of a density classifier.
pub(super) fn params(
    variant: Variant,
    spec: &ModelSpec,
    rows: &Rows<'_>,
    options: FitOptions,
) -> Result<Params> {
    let anchor = ANCHOR.of(spec);
    let (line, plane) = BANDWIDTH.of(spec);
    let (tiny_classes, pairs_in_small_classes) = SMALL_CLASSES.of(spec);
    let default = Params::new(variant);
    // Around an anchor the floor is that of the generative classifier that it starts from.
    let floor = if anchor == Anchor::None { default.floor } else { Params::new(Variant::KdeTan).floor };
    let mut params = Params {
        line,
        plane,
        tiny_classes,
        pairs_in_small_classes,
        anchor,
        floor: FLOOR.of(spec).map_or(floor, Floor::Bandwidths),
        criterion: CRITERION.of(spec),
        cost: COST.of(spec),
        penalty: NORM.of(spec),
        multiclass: multiclass(spec, anchor, rows.n_classes())?,
        augment: AUGMENT.of(spec),
        training_features: FEATURES.of(spec),
        seed: options.seed,
        ..default
    };
    if let Some(threshold) = threshold(spec)? {
        params.threshold = threshold;
    }
    if let Some(text) = CLASS_WEIGHTS.of(spec) {
        params.class_weights = class_weights(&text, spec, rows)?;
    }
    Ok(params)
}

/// Which pairs are kept; `None` leaves the choice to inner cross-validation.
fn threshold(spec: &ModelSpec) -> Result<Option<Threshold>> {
    match (FRACTION.of(spec), THRESHOLD.of(spec)) {
        (fraction, None) => Ok(fraction.map(Threshold::Fraction)),
        (None, Some(text)) => Ok(written_threshold(&text)),
        (Some(_), Some(text)) => {
            Err(bad_value(THRESHOLD.info.key, spec.name(), &text, "nothing beside a fraction"))
        }
    }
}

fn check_threshold(text: &str) -> Result<(), String> {
    let expected = "hsic:V (0 or more), top:K, bonferroni:P or benjamini_hochberg:P (between 0 and 1)";
    written_threshold(text).map(|_| ()).ok_or(expected.into())
}

/// A threshold such as `bonferroni:0.05`.
fn written_threshold(text: &str) -> Option<Threshold> {
    let (kind, value) = text.split_once(':')?;
    let number = || value.trim().parse::<f64>().ok();
    let level = || number().filter(|p| *p > 0.0 && *p < 1.0);
    match kind.trim() {
        "hsic" => number().filter(|v| v.is_finite() && *v >= 0.0).map(Threshold::Lambda),
        "top" => value.trim().parse().ok().map(Threshold::TopK),
        "bonferroni" => level().map(Threshold::Bonferroni),
        "benjamini_hochberg" => level().map(Threshold::BenjaminiHochberg),
        _ => None,
    }
}

/// The machines of more than two classes; around an anchor it is always the one of all classes.
fn multiclass(spec: &ModelSpec, anchor: Anchor, n_classes: usize) -> Result<Multiclass> {
    let chosen = MULTICLASS.of(spec);
    if anchor == Anchor::None {
        return Ok(chosen);
    }
    if MULTICLASS.is_given(spec) && n_classes > 2 && chosen != Multiclass::CrammerSinger {
        let (key, expected) = (MULTICLASS.info.key, "crammer_singer with an anchor");
        return Err(bad_value(key, spec.name(), "one_vs_rest", expected));
    }
    Ok(Multiclass::CrammerSinger)
}

/// What `class_weights` expects.
const WEIGHTS: &str = "none, balanced, or weights by class such as ill:2;well:1";

fn check_class_weights(text: &str) -> Result<(), String> {
    let is_word = matches!(text, "none" | "balanced");
    if is_word || written_weights(text).is_some() { Ok(()) } else { Err(WEIGHTS.into()) }
}

/// Weights by class such as `ill:2;well:1`.
fn written_weights(text: &str) -> Option<Vec<(String, f64)>> {
    let one = |part: &str| {
        let (name, weight) = part.rsplit_once(':')?;
        let weight: f64 = weight.trim().parse().ok()?;
        (weight.is_finite() && weight > 0.0).then_some((unescaped(name.trim())?, weight))
    };
    text.split(';').filter(|part| !part.trim().is_empty()).map(one).collect()
}

/// Class weights of a machine, and factors of the class prior of densities: `none`, `balanced`, or weights by name such as
/// `ill:2;well:1`.
fn class_weights(text: &str, spec: &ModelSpec, rows: &Rows<'_>) -> Result<ClassWeights> {
    match text {
        "none" => return Ok(ClassWeights::None),
        "balanced" => return Ok(ClassWeights::Balanced),
        _ => {}
    }
    let bad = || bad_value(CLASS_WEIGHTS.info.key, spec.name(), text, WEIGHTS);
    let mut weights = vec![1.0; rows.n_classes()];
    for (name, weight) in written_weights(text).ok_or_else(bad)? {
        weights[rows.classes().iter().position(|c| *c == name).ok_or_else(bad)?] = weight;
    }
    Ok(ClassWeights::Given(weights))
}
