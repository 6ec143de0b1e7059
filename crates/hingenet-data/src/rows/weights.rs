//! Which sample weights can be learnt from: checked once, where training rows are made.

use crate::table::Codes;
use hingenet_base::error::{Error, Result, require_len};
use std::ops::RangeInclusive;

/// Weights that count. Weights are numbers of rows: their sums over the rows of a table are counts that 53 bits hold, and
/// every family has been fitted at both ends.
const WEIGHTS: RangeInclusive<f64> = 1e-12..=1e12;

/// How much heavier than all other rows of its class together a row may be. Numbers have 16 digits: the other rows would
/// vanish from every sum, and with them all spread.
const DOMINANCE: f64 = 1e12;

/// Weights must be finite, not negative and not all zero.
pub fn check_weights(weights: &[f64], n_rows: usize) -> Result<()> {
    require_len("sample weights", n_rows, weights.len())?;
    if let Some(m) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        let problem = format!("the weight is {}", weights[m]);
        return Err(Error::row(m, problem, "weights are finite and not negative"));
    }
    if weights.iter().all(|w| *w == 0.0) {
        return Err(Error::data("all sample weights are zero", "give at least one row a positive weight"));
    }
    Ok(())
}

/// The same for rows to learn from, whose weights must also leave every fit finite.
pub(super) fn check_sample_weights(weights: &[f64], class: &Codes) -> Result<()> {
    check_weights(weights, class.len())?;
    if let Some(m) = weights.iter().position(|w| *w > 0.0 && !WEIGHTS.contains(w)) {
        let hint = "weights are 0 or between 1e-12 and 1e12; multiply or divide all by the same number";
        return Err(Error::row(m, format!("the weight is {:e}", weights[m]), hint));
    }
    let mut classes: Vec<Group> = Vec::new();
    for (m, weight) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        let c = class.get(m).map_or(0, |c| c + 1);
        if classes.len() <= c {
            classes.resize(c + 1, Group::default());
        }
        classes[c].add(m, *weight);
    }
    match classes.iter().find(|c| c.others > 0.0 && c.heaviest > DOMINANCE * c.others) {
        None => Ok(()),
        Some(c) => Err(Error::row(
            c.row,
            format!(
                "the weight is {:e}, and all other rows of the class together have {:e}",
                c.heaviest, c.others
            ),
            "a row may weigh 1e12 times the others at most: correct the weight, or give rows that do not count weight 0",
        )),
    }
}

/// The heaviest row of a class, and the weight of all its others.
#[derive(Clone, Default)]
struct Group {
    row: usize,
    heaviest: f64,
    others: f64,
}

impl Group {
    fn add(&mut self, row: usize, weight: f64) {
        if weight > self.heaviest {
            (self.row, self.others) = (row, self.others + self.heaviest);
            self.heaviest = weight;
        } else {
            self.others += weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(weights: &[f64]) -> String {
        let class = Codes::from_options(2, (0..weights.len()).map(|m| Some(m % 2)));
        check_sample_weights(weights, &class).err().map_or(String::new(), |e| e.to_string())
    }

    #[test]
    fn weights_that_no_fit_can_hold_are_refused_with_their_row() {
        assert_eq!(refused(&[1.0, 1e12, 2.0, 1e12, 0.0, 1e11]), "");
        assert_eq!(refused(&[1e-12, 1.0, 1e-12, 1e-9, 0.0, 1.0]), "", "small ones beside others are fine");
        assert_eq!(refused(&[1e12, 1.0]), "", "a class of one row has no others");
        assert!(refused(&[1.0, 1.0, 1.0, -1.0]).starts_with("row 4: the weight is -1"));
        assert!(refused(&[1.0, 1e13, 1.0, 1.0]).starts_with("row 2: the weight is 1e13"));
        assert!(refused(&[1.0, 1.0, 1e-13, 1.0]).starts_with("row 3: the weight is 1e-13"));
        let heavy = refused(&[0.125, 1.0, 1e12, 1.0, 0.125]);
        assert_eq!(heavy, "row 3: the weight is 1e12, and all other rows of the class together have 2.5e-1");
    }
}
