//! Densities of the training rows and the features the SVM is trained on.

use super::machines::MachineRows;
use crate::columns::Columns;
use crate::estimate::features::{ClassFeatures, Densities, Features};
use crate::params::{Params, TrainingFeatures};
use crate::structure::Kept;
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
    pub features: Features,
    /// Rows for the SVM.
    pub rows: Vec<usize>,
}

impl TrainingSet {
    /// The rows as machines see them that use the pairs `kept` among those `available`.
    pub fn machine_rows<'a>(
        &'a self,
        columns: &'a Columns,
        (available, kept): (&'a Kept, &'a Kept),
        anchor: Option<&'a Kept>,
        class_weights: &'a [f64],
    ) -> MachineRows<'a> {
        MachineRows {
            features: &self.features,
            raw: &self.densities.raw,
            class: columns.class(),
            weights: columns.weights(),
            rows: &self.rows,
            available,
            kept,
            anchor,
            class_weights,
        }
    }
}

/// Makes the training features in the asked way.
pub fn training_set(
    columns: &Columns,
    kept: &Kept,
    params: &Params,
    control: &Control,
) -> Result<TrainingSet> {
    let all: Vec<usize> = (0..columns.n_rows()).collect();
    match params.training_features {
        TrainingFeatures::LeaveOneOut | TrainingFeatures::Resubstitution => {
            let densities = Densities::estimate(columns, kept, params, control)?;
            let leave = params.training_features == TrainingFeatures::LeaveOneOut;
            let features = densities.features(columns.features(), leave, control)?;
            Ok(TrainingSet { densities, features, rows: all })
        }
        TrainingFeatures::Split => {
            let half = columns.folds(2, params.seed.wrapping_add(17));
            let (learn, rows) = split(&half, 1);
            let densities = Densities::estimate(&columns.subset(&learn), kept, params, control)?;
            let features = densities.features(columns.features(), false, control)?;
            Ok(TrainingSet { densities, features, rows })
        }
        TrainingFeatures::CrossFit => {
            let densities = Densities::estimate(columns, kept, params, control)?;
            let mut features = cross_fitted(columns, kept, params, control)?;
            // Raw terms are not estimated.
            features.raw = densities.raw.values(columns.features());
            Ok(TrainingSet { densities, features, rows: all })
        }
    }
}

fn cross_fitted(columns: &Columns, kept: &Kept, params: &Params, control: &Control) -> Result<Features> {
    let n = columns.n_rows();
    let fold = columns.folds(CROSS_FIT_FOLDS, params.seed.wrapping_add(29));
    let empty = |pairs: usize| ClassFeatures {
        marginals: vec![vec![0.0; n]; columns.n_features()],
        pairs: vec![vec![0.0; n]; pairs],
    };
    let classes = kept.of_class.iter().map(|p| empty(p.len())).collect();
    let mut out = Features { n_rows: n, classes, raw: Vec::new() };
    for f in 0..CROSS_FIT_FOLDS {
        let (learn, held) = split(&fold, f);
        let densities = Densities::estimate(&columns.subset(&learn), kept, params, control)?;
        let part = densities.features(columns.subset(&held).features(), false, control)?;
        for (to, from) in out.classes.iter_mut().zip(&part.classes) {
            let targets = to.marginals.iter_mut().chain(to.pairs.iter_mut());
            for (target, source) in targets.zip(from.marginals.iter().chain(&from.pairs)) {
                held.iter().zip(source).for_each(|(&r, v)| target[r] = *v);
            }
        }
    }
    Ok(out)
}
