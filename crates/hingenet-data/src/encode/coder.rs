//! How one feature column becomes states `0..r`: categories as they are, numbers by cut points. Learnt
//! on training rows, applied to any rows; what training has not seen is missing.

use super::mdl;
use crate::table::{Codes, Column, ColumnData};
use hingenet_base::error::{Error, Result, require, require_len};
use serde::{Deserialize, Serialize};

/// States of one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // said with the variants
pub enum FeatureCoder {
    /// The state is the position in the list of category names; without names every cell has the one state there is, and
    /// the column takes no part.
    Categories { names: Vec<String> },
    /// The state of `x` is the number of cuts below `x`; a cut belongs to the interval below it. The cuts are finite and
    /// strictly ascending.
    Cuts { cuts: Vec<f64> },
}

impl FeatureCoder {
    /// Learns the states from training rows: categories as the column declares them, numbers by MDL
    /// cuts ([`mdl::cuts`]). Rows without a class, without weight or with a missing cell do not count.
    pub fn learn(column: &Column, class: &Codes, n_classes: usize, weights: Option<&[f64]>) -> Result<Self> {
        match column.data() {
            ColumnData::Categorical(c) => Ok(FeatureCoder::Categories { names: c.categories().to_vec() }),
            ColumnData::Numeric(n) => {
                require_len(
                    &format!("class codes for column `{}`", column.name()),
                    column.len(),
                    class.len(),
                )?;
                if let Some(weights) = weights {
                    require_len("sample weights", column.len(), weights.len())?;
                }
                Self::from_cuts(column.name(), mdl::cuts(n.with_nan(), class, n_classes, weights)?)
            }
        }
    }

    /// The intervals between cuts of a column.
    pub fn from_cuts(column: &str, cuts: Vec<f64>) -> Result<Self> {
        let coder = FeatureCoder::Cuts { cuts };
        coder.check().map_err(|_| too_many_states(column))?;
        Ok(coder)
    }

    /// Refuses what no training can have made (for coders read from a file).
    pub fn check(&self) -> Result<()> {
        match self {
            FeatureCoder::Categories { names } => {
                require("categories", names.len(), "at most 65535", names.len() <= Codes::MAX_CATEGORIES)?;
                let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
                require_len("distinct category names", names.len(), distinct.len())
            }
            FeatureCoder::Cuts { cuts } => {
                require("cuts", cuts.len(), "at most 65534", cuts.len() < Codes::MAX_CATEGORIES)?;
                let ascending = cuts.windows(2).all(|w| w[0] < w[1]) && cuts.iter().all(|c| c.is_finite());
                require("cuts", format!("{cuts:?}"), "finite numbers, strictly ascending", ascending)
            }
        }
    }

    /// Number of states r, at least 1 (a feature without categories or cuts has one state).
    pub fn n_states(&self) -> usize {
        match self {
            FeatureCoder::Categories { names } => names.len().max(1),
            FeatureCoder::Cuts { cuts } => cuts.len() + 1,
        }
    }

    /// What state `j` stands for: the category, or the interval such as `(-inf, 2.5]`.
    pub fn state_name(&self, j: usize) -> String {
        match self {
            FeatureCoder::Categories { names } => names.get(j).cloned().unwrap_or_else(|| "(none)".into()),
            FeatureCoder::Cuts { cuts } => {
                let low = j.checked_sub(1).and_then(|k| cuts.get(k)).map_or("-inf".into(), f64::to_string);
                let high = cuts.get(j).map_or("inf)".into(), |cut| format!("{cut}]"));
                format!("({low}, {high}")
            }
        }
    }

    /// The states of a column of the training type. Missing cells stay missing; categories that training
    /// has not seen become missing; numbers outside the training range fall into the end intervals.
    pub fn code_column(&self, column: &Column) -> Result<Codes> {
        match (self, column.data()) {
            (FeatureCoder::Categories { names }, ColumnData::Categorical(_)) if names.is_empty() => {
                Ok(Codes::from_options(1, (0..column.len()).map(|_| Some(0))))
            }
            (FeatureCoder::Categories { names }, ColumnData::Categorical(c)) => Ok(c.recode(names)),
            (FeatureCoder::Cuts { cuts }, ColumnData::Numeric(n)) => {
                let state = |x: f64| cuts.partition_point(|cut| *cut < x);
                Ok(Codes::from_options(self.n_states(), n.iter().map(|x| x.map(state))))
            }
            (_, data) => {
                let (found, expected) = match data {
                    ColumnData::Numeric(_) => ("numbers", "categories"),
                    ColumnData::Categorical(_) => ("categories", "numbers"),
                };
                Err(Error::column(
                    column.name(),
                    format!("holds {found}, but training saw {expected}"),
                    "read the file with the column types of the training table",
                ))
            }
        }
    }
}

fn too_many_states(column: &str) -> Error {
    Error::column(
        column,
        "the class changes so often along this column that more than 65535 intervals are needed",
        "leave the column out with `--ignore`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_named_by_their_cuts() {
        let coder = FeatureCoder::Cuts { cuts: vec![2.5, 4.0] };
        let names: Vec<String> = (0..coder.n_states()).map(|j| coder.state_name(j)).collect();
        assert_eq!(names, ["(-inf, 2.5]", "(2.5, 4]", "(4, inf)"]);
        assert_eq!(FeatureCoder::Cuts { cuts: vec![] }.state_name(0), "(-inf, inf)");
    }

    #[test]
    fn a_cut_belongs_to_the_lower_interval_and_ends_are_open() {
        let coder = FeatureCoder::Cuts { cuts: vec![2.5, 4.0] };
        let x = vec![-1e300, 2.5, 2.6, 4.0, 1e300, f64::NAN];
        let codes: Vec<_> = coder.code_column(&Column::numeric("x", x)).unwrap().iter().collect();
        assert_eq!(codes, [Some(0), Some(0), Some(1), Some(1), Some(2), None]);
    }

    #[test]
    fn unseen_categories_are_missing_and_others_keep_the_training_code() {
        let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let coder = FeatureCoder::Categories { names: names(&["a", "b"]) };
        let cells = [Some(0), Some(1), None, Some(2)];
        let column =
            Column::categorical("x", names(&["b", "new", "a"]), Codes::from_options(3, cells.into_iter()));
        let codes: Vec<_> = coder.code_column(&column).unwrap().iter().collect();
        assert_eq!(codes, [Some(1), None, None, Some(0)]);
        assert!(coder.code_column(&Column::numeric("x", vec![1.0])).unwrap_err().hint().is_some());
    }

    #[test]
    fn hostile_coders_are_refused() {
        assert!(FeatureCoder::Cuts { cuts: vec![1.0, 1.0] }.check().is_err());
        assert!(FeatureCoder::Cuts { cuts: vec![f64::NAN] }.check().is_err());
        assert!(FeatureCoder::Categories { names: vec!["a".into(), "a".into()] }.check().is_err());
        assert!(FeatureCoder::Categories { names: vec![] }.check().is_ok());
    }
}
