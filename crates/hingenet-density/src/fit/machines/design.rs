//! The features that machines see: those in use that vary on the rows, standardised.

use super::MachineRows;
use crate::estimate::features::FeatureId;
use crate::terms::raw::RawTerm;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::optimise::group_svm::Group;
use std::collections::BTreeMap;

/// One feature in use, with mean and sd (n - 1) on the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standardised {
    /// Which feature.
    pub id: FeatureId,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation, by which it is divided; 1 where it keeps its units.
    pub sd: f64,
}

/// Units of the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// Measured from the mean, in standard deviations.
    Standard,
    /// Measured from the mean, in their own units.
    Own,
}

/// Standardised features of the rows.
#[derive(Debug, Clone)]
pub struct Design {
    /// The features in use.
    pub columns: Vec<Standardised>,
    /// One row for each training row.
    pub x: Matrix,
}

/// A linear function of the features, in their own units.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Features with their coefficients.
    pub coefficients: Vec<(FeatureId, f64)>,
    /// Value where every feature is 0.
    pub base: f64,
}

impl Design {
    /// Scales the features in use that vary on the rows.
    pub fn new(data: &MachineRows<'_>, scaling: Scaling) -> Self {
        let weights: Vec<f64> = data.rows.iter().map(|&r| data.weights[r]).collect();
        let scaled = |id: FeatureId| standardised(id, data.features.column(id), data.rows, &weights);
        let mut columns: Vec<Standardised> = features_in_use(data).into_iter().filter_map(scaled).collect();
        if scaling == Scaling::Own {
            columns.iter_mut().for_each(|c| c.sd = 1.0);
        }
        let values: Vec<&[f64]> = columns.iter().map(|c| data.features.column(c.id)).collect();
        let x = Matrix::from_fn(data.rows.len(), columns.len(), |i, c| {
            (values[c][data.rows[i]] - columns[c].mean) / columns[c].sd
        });
        Design { columns, x }
    }

    /// The function `w·x + b` of the standardised features in the units of the features.
    pub fn terms(&self, w: &[f64], b: f64) -> Terms {
        let coefficients = self.columns.iter().zip(w).map(|(c, w)| (c.id, w / c.sd)).collect();
        let base = b - self.columns.iter().zip(w).map(|(c, w)| w * c.mean / c.sd).sum::<f64>();
        Terms { coefficients, base }
    }
}

/// The columns of each group: all classes' log densities of one feature with its raw value, or of one pair with its
/// product. The penalty grows with the root of the size, so that groups compete on equal terms.
pub fn groups(data: &MachineRows<'_>, columns: &[Standardised]) -> Vec<Group> {
    let mut members: BTreeMap<(usize, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (c, column) in columns.iter().enumerate() {
        let key = match column.id {
            FeatureId::Marginal { feature, .. } => (feature, None),
            FeatureId::Pair { class, place } => {
                let (i, j) = data.available.of_class[class][place];
                (i, Some(j))
            }
            FeatureId::Raw(term) => match data.raw.terms[term] {
                RawTerm::Linear(i, _) => (i, None),
                RawTerm::Product((i, j), _) => (i, Some(j)),
            },
        };
        members.entry(key).or_default().push(c);
    }
    let group = |columns: Vec<usize>| Group { penalty: (columns.len() as f64).sqrt(), columns };
    members.into_values().map(group).collect()
}

/// Class by class all single features and the pairs in use, then the raw terms in use.
fn features_in_use(data: &MachineRows<'_>) -> Vec<FeatureId> {
    let mut out = Vec::new();
    for (class, features) in data.features.classes.iter().enumerate() {
        out.extend((0..features.marginals.len()).map(|feature| FeatureId::Marginal { class, feature }));
        let kept = &data.kept.of_class[class];
        let pairs = data.available.of_class[class].iter().enumerate();
        let in_use = pairs.filter(|(_, pair)| kept.binary_search(pair).is_ok());
        out.extend(in_use.map(|(place, _)| FeatureId::Pair { class, place }));
    }
    let in_use = |term: &RawTerm| match term {
        RawTerm::Linear(..) => true,
        RawTerm::Product(pair, _) => data.kept.of_class.iter().any(|kept| kept.binary_search(pair).is_ok()),
    };
    out.extend((0..data.raw.terms.len()).filter(|&r| in_use(&data.raw.terms[r])).map(FeatureId::Raw));
    out
}

/// Mean and sd of a feature; `None` where it does not vary on the rows.
fn standardised(id: FeatureId, values: &[f64], rows: &[usize], weights: &[f64]) -> Option<Standardised> {
    let total: f64 = weights.iter().sum();
    let mean = rows.iter().zip(weights).map(|(&r, w)| w * values[r]).sum::<f64>() / total;
    let square = |(&r, w): (&usize, &f64)| w * (values[r] - mean) * (values[r] - mean);
    let sd = (rows.iter().zip(weights).map(square).sum::<f64>() / (total - 1.0).max(1.0)).sqrt();
    (sd > 1e-12 * (1.0 + mean.abs())).then_some(Standardised { id, mean, sd })
}
