//! Densities of the training rows and the features the SVM is trained on.

use super::memory;
use crate::columns::Columns;
use crate::estimate::features::Densities;
use crate::params::{Params, TrainingFeatures};
use crate::structure::Kept;
use crate::terms::PerTerm;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_data::select::folds::split;

/// Folds of cross-fitted features.
const CROSS_FIT_FOLDS: usize = 5;

/// Densities for prediction, features of the training rows, and the rows the SVM may see.
pub struct TrainingSet {
    /// Densities for prediction.
    pub densities: Densities,
    /// Features of all training rows.
    pub features: PerTerm,
    /// Rows for the SVM.
    pub rows: Vec<usize>,
}

impl TrainingSet {
    /// Makes the training features in the asked way.
    pub fn new(columns: &Columns, kept: &Kept, params: &Params, control: &Control) -> Result<Self> {
        memory::reserve(columns, kept, params, control)?;
        let mut rows: Vec<usize> = (0..columns.n_rows()).collect();
        let densities = if params.training_features == TrainingFeatures::Split {
            let (learn, others) = split(&columns.folds(2, params.seed.wrapping_add(17)), 1);
            rows = others;
            Densities::estimate(&columns.subset(&learn), kept, params, control)?
        } else {
            Densities::estimate(columns, kept, params, control)?
        };
        let features = match params.training_features {
            TrainingFeatures::CrossFit => cross_fitted(columns, kept, &densities, params, control)?,
            how => densities.features(&columns.values, how == TrainingFeatures::LeaveOneOut, control)?,
        };
        Ok(TrainingSet { densities, features, rows })
    }
}

fn cross_fitted(
    columns: &Columns,
    kept: &Kept,
    whole: &Densities,
    params: &Params,
    control: &Control,
) -> Result<PerTerm> {
    let fold = columns.folds(CROSS_FIT_FOLDS, params.seed.wrapping_add(29));
    let mut out = PerTerm::zeros(columns.n_rows(), columns.n_features(), kept, 0);
    for f in 0..CROSS_FIT_FOLDS {
        let (learn, held) = split(&fold, f);
        let densities = Densities::estimate(&columns.subset(&learn), kept, params, control)?;
        let part = densities.features(&columns.subset(&held).values, false, control)?;
        for (target, source) in out.lists_mut().zip(part.lists()) {
            held.iter().zip(source).for_each(|(&r, v)| target[r] = *v);
        }
    }
    // Raw terms are not estimated.
    out.raw = whole.raw_values(&columns.values);
    Ok(out)
}
