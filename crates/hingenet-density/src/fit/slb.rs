//! SLB, SLB-all and LU: HSIC filter, densities, linear SVM on the log densities (Algorithm 1 of the paper).

use super::machines::train;
use super::search::{choose, class_weights, select, svm_out_of_fold};
use super::training::training_set;
use super::{Calibration, ExactModel};
use crate::columns::Columns;
use crate::params::Params;
use hingenet_base::control::Control;
use hingenet_base::error::Result;

pub(super) fn fit(columns: &Columns, params: &Params, control: &Control) -> Result<ExactModel> {
    control.progress("choosing the pairs", 0, 3)?;
    let choice = choose(columns, params, control)?;
    control.progress("estimating densities", 1, 3)?;
    let thresholds = std::slice::from_ref(&choice.threshold);
    let mut selected = select(columns, thresholds, params, control)?;
    let (kept, anchor) = (selected.kept.swap_remove(0), selected.anchor);
    let set = training_set(columns, &kept, params, control)?;
    control.progress("training", 2, 3)?;
    let weights = class_weights(&choice.class_weights, columns);
    let data = set.machine_rows(columns, (&kept, &kept), anchor.as_ref(), &weights);
    let trained = train(data, params, params.gap, None, control)?;
    let out_of_fold = if choice.out_of_fold.is_empty() {
        svm_out_of_fold(columns, data, params, control)?
    } else {
        choice.out_of_fold
    };
    Ok(ExactModel {
        densities: set.densities,
        kept,
        scores: trained.scores,
        calibration: Calibration::fit(&out_of_fold, columns.class(), columns.weights()),
        threshold: Some(choice.threshold),
        class_weights: Some(choice.class_weights),
        reports: trained.reports,
    })
}
