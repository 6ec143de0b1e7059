//! Log densities of one pair of features on a grid, one layer for each class that uses the pair, and their
//! weights in the class scores.

use super::axis::{Axis, Place};
use super::line_table::is_log_density;
use crate::terms::raw::{Product, Weighted};
use hingenet_data::encode::is_moderate;

/// Lookup table of a pair of features.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PairTable {
    /// The features i < j.
    pub pair: (usize, usize),
    /// Nodes along the first feature.
    pub first: Axis,
    /// Nodes along the second feature, less `shear` times the first.
    pub second: Axis,
    /// Slope of the second axis: strongly correlated features have their ridge along an axis, not across
    /// the cells. 0 where a feature is discrete or the correlation is moderate.
    pub shear: f64,
    /// One for each class that uses the pair.
    pub layers: Vec<Layer>,
    /// The product of two numbers, where it is a term of the scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Weighted<Product>>,
    /// Mean contribution of the training rows to each output.
    pub centre: Vec<f64>,
}

/// Log densities of one class.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Layer {
    /// The class.
    pub class: usize,
    /// Smallest log density, applied after interpolation: the values stay smooth and need few nodes.
    pub floor: f64,
    /// Weight in each output.
    pub weights: Vec<f64>,
    /// Log densities without floor, first feature slowest.
    pub values: Vec<f32>,
}

impl PairTable {
    /// Adds the contribution at `(x, y)` to the outputs.
    #[inline]
    pub fn add(&self, x: f64, y: f64, out: &mut [f64]) {
        if let Some(raw) = &self.raw {
            raw.add(raw.term.value(x, y), out);
        }
        self.add_densities(x, y, out);
    }

    /// Adds the contribution of the log densities, by bicubic interpolation.
    #[inline]
    pub fn add_densities(&self, x: f64, y: f64, out: &mut [f64]) {
        let (a, b) = self.places(x, y);
        for layer in &self.layers {
            let t = layer.value(a, b, self.second.len());
            out.iter_mut().zip(&layer.weights).for_each(|(o, w)| *o += w * t);
        }
    }

    /// Floored log density of a layer at `(x, y)`.
    #[inline]
    pub fn log_density(&self, layer: usize, x: f64, y: f64) -> f64 {
        let (a, b) = self.places(x, y);
        self.layers[layer].value(a, b, self.second.len())
    }

    /// Adds the contribution when only one feature is seen, from its log densities in all classes: they take
    /// the place of the pair's. A product stands at its mean, 0.
    #[inline]
    pub fn add_marginal(&self, t: &[f64], out: &mut [f64]) {
        for layer in &self.layers {
            out.iter_mut().zip(&layer.weights).for_each(|(o, w)| *o += w * t[layer.class]);
        }
    }

    #[inline]
    fn places(&self, x: f64, y: f64) -> (Place, Place) {
        (self.first.place(x), self.second.place(y - self.shear * x))
    }

    /// Whether sizes agree and every number is one that training can make.
    pub fn is_valid(&self, n_classes: usize, outputs: usize) -> bool {
        let size = self.first.len().checked_mul(self.second.len());
        let layer_fits = |l: &Layer| {
            l.class < n_classes
                && is_log_density(l.floor)
                && l.weights.len() == outputs
                && l.weights.iter().all(|w| is_moderate(*w))
                && Some(l.values.len()) == size
                && l.values.iter().all(|v| is_log_density(f64::from(*v)))
        };
        self.first.is_valid()
            && self.second.is_valid()
            && is_moderate(self.shear)
            && self.layers.iter().all(layer_fits)
            && self.raw.as_ref().is_none_or(|raw| raw.term.is_valid() && raw.fits(outputs))
            && self.centre.len() == outputs
            && self.centre.iter().all(|v| is_moderate(*v))
    }
}

impl Layer {
    #[inline]
    fn value(&self, a: Place, b: Place, width: usize) -> f64 {
        let mut total = 0.0;
        for (i, wi) in (a.node..a.node + a.count).zip(a.weights) {
            let row = &self.values[i * width + b.node..i * width + b.node + b.count];
            let along: f64 = row.iter().zip(b.weights).map(|(v, w)| f64::from(*v) * w).sum();
            total += wi * along;
        }
        total.max(self.floor)
    }
}
