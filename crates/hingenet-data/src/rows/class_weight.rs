//! Weights by class: rows of rare or costly classes can count for more.

use super::Dataset;
use hingenet_base::error::{Error, Result};
use hingenet_base::similar::did_you_mean;
use std::str::FromStr;

/// How much the rows of each class count, on top of their own weights.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassWeight {
    /// All classes get the same total weight; the sum over all rows stays.
    Balanced,
    /// Named classes get these factors, others 1.
    Given(Vec<(String, f64)>),
}

impl FromStr for ClassWeight {
    type Err = Error;

    /// Reads `balanced` or `CLASS=W,CLASS=W,...`.
    fn from_str(text: &str) -> Result<Self> {
        if text == "balanced" {
            return Ok(ClassWeight::Balanced);
        }
        let pair = |part: &str| -> Option<(String, f64)> {
            let (class, weight) = part.rsplit_once('=')?;
            let weight: f64 = weight.trim().parse().ok()?;
            (weight.is_finite() && weight >= 0.0).then(|| (class.trim().to_string(), weight))
        };
        let expected = "`balanced` or CLASS=W,... with finite weights that are not negative";
        let pairs = text.split(',').map(pair).collect::<Option<Vec<_>>>();
        pairs.map(ClassWeight::Given).ok_or_else(|| Error::parameter("class weight", text, expected))
    }
}

impl Dataset {
    /// Multiplies the weight of every row by that of its class.
    pub fn weigh_classes(&mut self, class_weight: &ClassWeight) -> Result<()> {
        let factors = match class_weight {
            ClassWeight::Balanced => self.balanced_factors(),
            ClassWeight::Given(pairs) => self.given_factors(pairs)?,
        };
        let weights = self
            .class
            .iter()
            .enumerate()
            .map(|(m, c)| self.weights.as_ref().map_or(1.0, |w| w[m]) * c.map_or(1.0, |c| factors[c]));
        self.weights = Some(weights.collect());
        self.check()?;
        self.check_weights()
    }

    /// `n / (K n_c)` over the K classes that have rows.
    fn balanced_factors(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.classes.len()];
        for (m, c) in self.class.iter().enumerate() {
            if let Some(c) = c {
                totals[c] += self.weights.as_ref().map_or(1.0, |w| w[m]);
            }
        }
        let total: f64 = totals.iter().sum();
        let present = totals.iter().filter(|t| **t > 0.0).count() as f64;
        totals.iter().map(|t| if *t > 0.0 { total / (present * t) } else { 0.0 }).collect()
    }

    fn given_factors(&self, pairs: &[(String, f64)]) -> Result<Vec<f64>> {
        let mut factors = vec![1.0; self.classes.len()];
        for (name, weight) in pairs {
            let meant = || did_you_mean(name, self.classes.iter().map(String::as_str));
            let expected = || format!("one of the classes {}{}", self.classes.join(", "), meant());
            let unknown = || Error::parameter("class weight", name, expected());
            let c = self.classes.iter().position(|c| c == name).ok_or_else(unknown)?;
            factors[c] = *weight;
        }
        Ok(factors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Codes, Column, Table};

    fn data() -> Dataset {
        let codes = Codes::from_options(2, [0, 0, 0, 1].into_iter().map(Some));
        let class = Column::categorical("y", vec!["a".into(), "b".into()], codes);
        let x = Column::numeric("x", vec![0.0, 1.0, 2.0, 3.0]);
        Dataset::new(Table::new(vec![x, class]).unwrap(), "y", None).unwrap()
    }

    #[test]
    fn balanced_weights_give_every_class_the_same_total() {
        let mut d = data();
        d.weigh_classes(&ClassWeight::Balanced).unwrap();
        let w = d.weights.unwrap();
        assert!((w[..3].iter().sum::<f64>() - 2.0).abs() < 1e-12 && (w[3] - 2.0).abs() < 1e-12);
    }

    #[test]
    fn named_weights_are_read_and_unknown_classes_refused() {
        let mut d = data();
        d.weigh_classes(&"b=3".parse().unwrap()).unwrap();
        assert_eq!(d.weights.unwrap(), [1.0, 1.0, 1.0, 3.0]);
        assert!(data().weigh_classes(&"c=3".parse().unwrap()).is_err());
        assert!(data().weigh_classes(&"b=0".parse().unwrap()).is_err(), "one class would be left");
        assert!("b=-1".parse::<ClassWeight>().is_err() && "b".parse::<ClassWeight>().is_err());
    }
}
