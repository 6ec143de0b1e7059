//! Rows some of which have no class: ML-BN-SVM, and maximum likelihood, which is ML-BN-SVM with λ = 0.

use super::select::{FOLDS, calibrated, select_point};
use super::{Choice, Prepared, choose, prepare};
use crate::margin::MarginParams;
use crate::margin::semi_supervised::{SemiParams, fit_semi_supervised, split};
use crate::params::{DiscreteParams, Learning};
use crate::samples::code_columns;
use crate::{DiscreteClassifier, Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use hingenet_data::table::{Codes, Table};

/// Weights τ that are tried, ties to the smaller.
const TAU: [f64; 4] = [0.0, 0.1, 0.3, 1.0];

/// States and graph come from the labelled rows; λ and γ are chosen on them as without the others; τ, unless
/// given, by inner folds of the labelled rows with all unlabelled rows at hand.
pub(super) fn fit(
    rows: &Rows<'_>,
    discrete: &DiscreteParams,
    learning: Option<&Learning>,
    control: &Control,
) -> Result<Fit<DiscreteClassifier>> {
    let (known, unknown) = split(rows.class());
    let prepared = prepare(&rows.part(&known)?, discrete, control)?;
    let likely =
        Learning::MlBnSvm { params: MarginParams { lambda: 0.0, ..MarginParams::default() }, grid: None };
    let Choice { learning, mut chosen, .. } =
        choose(&prepared, discrete, learning.unwrap_or(&likely), control)?;
    let Learning::MlBnSvm { params, .. } = learning else {
        return Err(Error::data("this rule needs a class label in every row", "use :ml or :ml-bn-svm"));
    };
    let weights = rows.weights().map(|w| unknown.iter().map(|&m| w[m]).collect());
    let unlabelled = coded(&prepared, &rows.features().rows(&unknown), weights)?;
    let quiet = control.quiet();
    let rough = params.for_calibration();
    let ready = |rows: &Samples| {
        Ok((rows.joined(&unlabelled)?, prepared.learn_again(rows, &discrete.structure, &quiet)?))
    };
    let fit = |(rows, structure): &(Samples, Structure), tau: &f64| {
        let semi = SemiParams { tau: *tau, tolerance: 1e-3, ..SemiParams::default() };
        Ok(fit_semi_supervised(rows, structure, &rough, &semi, &quiet)?.network)
    };
    let tau = match discrete.tau {
        Some(tau) => tau,
        None => {
            let tau = select_point(&prepared.samples, &ready, &TAU, FOLDS, &fit, control)?;
            chosen.insert("tau".into(), tau);
            tau
        }
    };
    let all = prepared.samples.joined(&unlabelled)?;
    let semi = SemiParams { tau, ..SemiParams::default() };
    let found = fit_semi_supervised(&all, &prepared.structure, &params, &semi, control)?;
    let temperature = if params.lambda > 0.0 {
        calibrated(&prepared.samples, &|rows| fit(&ready(rows)?, &tau), control)?
    } else {
        1.0
    };
    let model = DiscreteClassifier::new(prepared.coders, found.network, temperature)?
        .with_support(prepared.support)?;
    Ok(Fit { model, reports: vec![found.report], chosen })
}

/// Unlabelled rows in the states of the labelled ones; a category that these lack is a missing cell.
fn coded(prepared: &Prepared, features: &Table, weights: Option<Vec<f64>>) -> Result<Samples> {
    let card = prepared.samples.card().to_vec();
    let mut columns = vec![Codes::from_options(card[0], (0..features.n_rows()).map(|_| None))];
    columns.extend(code_columns(&prepared.coders, features)?);
    Samples::new(card, columns, weights)
}
