//! Raw columns next to the log densities (Fan, Feng, Jiang, Tong: Feature Augmentation via Nonparametrics and Selection,
//! JASA 2016): the standardised value of a number, and the product of two of them where a pair is kept. A missing
//! value stands at the training mean of its term, where the term is 0; beyond the training rows a value is held at
//! the last one seen, as the densities are held at their floor.

use crate::columns::{Columns, Kind};
use crate::params::Augment;
use crate::structure::Kept;
use hingenet_data::encode::is_moderate;

/// The values seen in training.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Range {
    low: f64,
    high: f64,
}

impl Range {
    fn of(values: &[f64]) -> Self {
        let seen = || values.iter().copied().filter(|x| !x.is_nan());
        let (low, high) = (seen().fold(f64::INFINITY, f64::min), seen().fold(f64::NEG_INFINITY, f64::max));
        if low <= high { Range { low, high } } else { Range { low: 0.0, high: 0.0 } }
    }

    fn hold(&self, x: f64) -> f64 {
        x.max(self.low).min(self.high)
    }

    fn is_valid(&self) -> bool {
        is_moderate(self.low) && is_moderate(self.high) && self.low <= self.high
    }
}

/// `x_i` of a number in standardised units.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Linear {
    range: Range,
}

impl Linear {
    /// The term at `x`; 0 where it is missing.
    #[inline]
    pub fn value(&self, x: f64) -> f64 {
        if x.is_nan() { 0.0 } else { self.range.hold(x) }
    }

    /// Whether every number is one that training can make.
    pub fn is_valid(&self) -> bool {
        self.range.is_valid()
    }
}

/// `x_i x_j - mean` of two numbers in standardised units.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Product {
    first: Range,
    second: Range,
    mean: f64,
}

impl Product {
    /// The term at `(x, y)`; 0 where one of them is missing.
    #[inline]
    pub fn value(&self, x: f64, y: f64) -> f64 {
        if x.is_nan() || y.is_nan() { 0.0 } else { self.first.hold(x) * self.second.hold(y) - self.mean }
    }

    /// Whether every number is one that training can make.
    pub fn is_valid(&self) -> bool {
        self.first.is_valid() && self.second.is_valid() && is_moderate(self.mean)
    }

    fn learn(columns: &Columns, (i, j): (usize, usize)) -> Self {
        let (x, y) = (&columns.values[i], &columns.values[j]);
        let mut product = Product { first: Range::of(x), second: Range::of(y), mean: 0.0 };
        let (mut sum, mut total) = (0.0, 0.0);
        for ((x, y), w) in x.iter().zip(y).zip(&columns.weights) {
            if !x.is_nan() && !y.is_nan() {
                sum += w * x * y;
                total += w;
            }
        }
        if total > 0.0 {
            product.mean = sum / total;
        }
        product
    }
}

/// A term with its weight in each output.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Weighted<T> {
    /// The term.
    pub term: T,
    /// Weight in each output.
    pub weights: Vec<f64>,
}

impl<T> Weighted<T> {
    /// Adds a value of the term to the outputs.
    #[inline]
    pub fn add(&self, value: f64, out: &mut [f64]) {
        out.iter_mut().zip(&self.weights).for_each(|(o, w)| *o += w * value);
    }

    /// Whether the weights are finite and as many as the outputs.
    pub fn fits(&self, outputs: usize) -> bool {
        self.weights.len() == outputs && self.weights.iter().all(|w| is_moderate(*w))
    }
}

/// One raw term and the features it reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RawTerm {
    /// A column.
    Linear(usize, Linear),
    /// The product of a pair i < j.
    Product((usize, usize), Product),
}

impl RawTerm {
    /// Values at queries given feature by feature.
    pub fn values(&self, queries: &[Vec<f64>]) -> Vec<f64> {
        match self {
            RawTerm::Linear(i, linear) => queries[*i].iter().map(|x| linear.value(*x)).collect(),
            RawTerm::Product((i, j), product) => {
                queries[*i].iter().zip(&queries[*j]).map(|(x, y)| product.value(*x, *y)).collect()
            }
        }
    }
}

/// All numbers, then the products of the pairs that some class keeps, in their order. Discrete features have none: their
/// frequencies already give every value a weight of its own.
pub fn raw_terms(columns: &Columns, kept: &Kept, augment: Augment) -> Vec<RawTerm> {
    let is_number = |i: usize| columns.kinds[i] == Kind::Continuous;
    let mut terms = Vec::new();
    if augment != Augment::None {
        let linear = |i: usize| RawTerm::Linear(i, Linear { range: Range::of(&columns.values[i]) });
        terms.extend((0..columns.n_features()).filter(|&i| is_number(i)).map(linear));
    }
    if augment == Augment::RawAndProducts {
        let mut pairs: Vec<(usize, usize)> = kept.of_class.iter().flatten().copied().collect();
        pairs.sort_unstable();
        pairs.dedup();
        let product = |pair: (usize, usize)| RawTerm::Product(pair, Product::learn(columns, pair));
        terms.extend(pairs.into_iter().filter(|p| is_number(p.0) && is_number(p.1)).map(product));
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_value_stands_at_the_mean_of_its_term() {
        let (x, y) = (vec![-1.0, 0.0, 1.0, 2.0], vec![0.5, f64::NAN, 1.5, -2.0]);
        let kinds = vec![Kind::Continuous; 2];
        let columns = Columns::raw(kinds, vec![x.clone(), y.clone()], vec![0, 0, 1, 1], 2).unwrap();
        let kept = Kept { of_class: vec![vec![], vec![(0, 1)]] };
        let raw = raw_terms(&columns, &kept, Augment::RawAndProducts);
        let values_at =
            |queries: &[Vec<f64>]| raw.iter().map(|term| term.values(queries)).collect::<Vec<_>>();
        let values = values_at(&[x, y]);
        assert_eq!(values[0], [-1.0, 0.0, 1.0, 2.0]);
        assert_eq!(values[1][1], 0.0);
        assert_eq!(values[2][1], 0.0);
        assert!(values[2].iter().sum::<f64>().abs() < 1e-12);
        // Far away a value is the last one seen.
        let far = values_at(&[vec![1e150], vec![-1e150]]);
        assert_eq!((far[0][0], far[1][0]), (2.0, -2.0));
    }
}
