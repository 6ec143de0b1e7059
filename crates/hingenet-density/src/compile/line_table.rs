//! Log densities of one feature in all classes, on the nodes of an axis.

use super::axis::Axis;
use crate::terms::raw::{Linear, Weighted};

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

    /// Whether sizes agree and every number is finite.
    pub fn is_valid(&self, n_classes: usize, outputs: usize) -> bool {
        self.axis.is_valid()
            && self.values.len() == self.axis.len() * n_classes
            && self.floors.len() == n_classes
            && self.weights.len() == n_classes * outputs
            && self.centre.len() == outputs
            && self.raw.as_ref().is_none_or(|raw| raw.term.is_valid() && raw.fits(outputs))
            && [&self.values, &self.floors, &self.weights, &self.centre]
                .into_iter()
                .flatten()
                .all(|v| v.is_finite())
    }
}
