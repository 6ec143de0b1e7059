//! Log densities of one feature in all classes, on the nodes of an axis.

use super::axis::Axis;
use crate::terms::raw::{Linear, Weighted};
use hingenet_data::encode::is_moderate;

/// `log p_y(x_i)` of one feature for all classes, and what it contributes to the scores.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LineTable {
    /// The nodes.
    pub axis: Axis,
    /// Log densities without floor, node by node, class fastest.
    pub values: Vec<f64>,
    /// Smallest log density of each class, applied after interpolation: the values stay smooth.
    pub floors: Vec<f64>,
    /// Weight of each class's log density in each output, class by class, output fastest.
    pub weights: Vec<f64>,
    /// The raw value of a number, where it is a term of the scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Weighted<Linear>>,
    /// Mean contribution of the training rows to each output.
    pub centre: Vec<f64>,
}

impl LineTable {
    /// Writes the log densities of all classes at `x`.
    #[inline]
    pub fn log_densities(&self, x: f64, out: &mut [f64]) {
        let k = out.len();
        let place = self.axis.place(x);
        out.fill(0.0);
        for (node, weight) in (place.node..place.node + place.count).zip(place.weights) {
            for (y, t) in out.iter_mut().enumerate() {
                *t += weight * self.values[node * k + y];
            }
        }
        out.iter_mut().zip(&self.floors).for_each(|(t, floor)| *t = t.max(*floor));
    }

    /// Adds the contribution of the value `x` with log densities `t` to the outputs; a missing value has NaN and 0.
    #[inline]
    pub fn add(&self, x: f64, t: &[f64], out: &mut [f64]) {
        if let Some(raw) = &self.raw {
            raw.add(raw.term.value(x), out);
        }
        let s = out.len();
        for (y, value) in t.iter().enumerate() {
            for k in 0..s {
                out[k] += self.weights[y * s + k] * value;
            }
        }
    }

    /// Whether sizes agree and every number is one that training can make.
    pub fn is_valid(&self, n_classes: usize, outputs: usize) -> bool {
        self.axis.is_valid()
            && self.axis.len().checked_mul(n_classes) == Some(self.values.len())
            && self.floors.len() == n_classes
            && n_classes.checked_mul(outputs) == Some(self.weights.len())
            && self.centre.len() == outputs
            && self.raw.as_ref().is_none_or(|raw| raw.term.is_valid() && raw.fits(outputs))
            && self.values.iter().chain(&self.floors).all(|v| is_log_density(*v))
            && self.weights.iter().chain(&self.centre).all(|v| is_moderate(*v))
    }
}

/// Largest log density of a value or a pair: the narrowest bandwidth, 1e-3, allows 12.
const DENSEST: f64 = 100.0;

/// Whether training can have made such a log density: its exponential, and any sum of them, is finite.
pub(super) fn is_log_density(value: f64) -> bool {
    is_moderate(value) && value <= DENSEST
}
