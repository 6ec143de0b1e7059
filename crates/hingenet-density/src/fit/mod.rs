//! Fitting: rows in, densities, kept pairs and linear class scores out, then their tables.

mod exact;
pub mod machines;
mod memory;
pub mod search;
mod training;

use crate::classifier::{DensityClassifier, Summary};
use crate::columns::{Columns, Units};
use crate::compile::{Compiled, compile};
use crate::params::{ClassWeights, Params, Threshold};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use std::collections::BTreeMap;

pub(crate) use exact::Choice;
pub use exact::{ExactModel, fit_exact};
pub(crate) use memory::LESS;
pub use training::TrainingSet;

use exact::log_prior;
use search::Rule;

/// Fits the variant that the parameters name and compiles it.
pub fn fit(rows: &Rows<'_>, params: &Params, control: &Control) -> Result<Fit<DensityClassifier>> {
    params.check(rows.n_classes())?;
    let (units, columns) = Columns::learn(rows, params, control)?;
    let exact = fit_exact(&columns, params, control)?;
    classifier(units, exact, &columns, params, control)
}

/// Compiles a fit; `columns` are rows it was made of.
pub(crate) fn classifier(
    units: Units,
    exact: ExactModel,
    columns: &Columns,
    params: &Params,
    control: &Control,
) -> Result<Fit<DensityClassifier>> {
    let compiled = compile(&exact, columns, params.floor, params.seed, control)?;
    if compiled.error > 1e-3 {
        control.warn(&format!(
            "lookup tables differ from exact scores by {:.1e} of their standard deviation",
            compiled.error
        ));
    }
    let place = |p: &(usize, usize)| compiled.pairs.iter().position(|t| t.pair == *p);
    let classes = exact.densities.classes.iter();
    let class_pairs = classes.map(|c| c.pairs.iter().filter_map(place).collect()).collect();
    let summary = summary(&exact, &compiled);
    let chosen = exact.used.as_ref().map_or_else(BTreeMap::new, |used| chosen(used, params));
    let model = DensityClassifier {
        variant: params.variant,
        n_classes: columns.n_classes,
        units,
        base: exact.scores.base,
        lines: compiled.lines,
        pairs: compiled.pairs,
        class_pairs,
        calibration: exact.calibration,
        absent: Vec::new(),
        summary,
    };
    Ok(Fit { model, reports: exact.reports, chosen })
}

fn summary(exact: &ExactModel, compiled: &Compiled) -> Summary {
    let layers = compiled.pairs.iter().flat_map(|t| &t.layers);
    Summary {
        fraction: match exact.used {
            Some((Threshold::Fraction(f), _)) => Some(f),
            _ => None,
        },
        balanced: matches!(&exact.used, Some((_, rule)) if rule.class_weights == ClassWeights::Balanced),
        kept: exact.densities.classes.iter().map(|c| c.pairs.len()).sum(),
        table_numbers: compiled.lines.iter().map(|t| t.values.len()).sum::<usize>()
            + layers.map(|l| l.values.len()).sum::<usize>(),
        table_error: compiled.error,
        reports: exact.reports.clone(),
    }
}

/// The fraction of pairs, whether classes were balanced, and C, where that was left to cross-validation.
fn chosen((threshold, rule): &(Threshold, Rule), params: &Params) -> BTreeMap<String, f64> {
    let mut chosen = BTreeMap::new();
    if let (Threshold::CrossValidated, Threshold::Fraction(f)) = (params.threshold, *threshold) {
        chosen.insert("fraction".to_string(), f);
    }
    if params.class_weights == ClassWeights::CrossValidated {
        let balanced = rule.class_weights == ClassWeights::Balanced;
        chosen.insert("balanced".into(), f64::from(u8::from(balanced)));
    }
    if params.cost.is_none() {
        chosen.insert("c".into(), rule.cost);
    }
    chosen
}
