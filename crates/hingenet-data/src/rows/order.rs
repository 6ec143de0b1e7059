//! The one order of the training rows, which every fit starts from, so that neither the order of the rows
//! nor their duplication matters, and a weight means the same as repetition.

use super::{Dataset, NumberData};
use crate::table::{Codes, Column, ColumnData, Table};
use hingenet_base::error::Result;
use rayon::slice::ParallelSliceMut;
use std::cmp::Ordering;

impl Dataset {
    /// Drops rows of weight zero, merges equal rows (features and class) into one with the sum of their
    /// weights, and sorts: by class, then by the features in column order; missing cells come last, −0 is 0.
    /// Weights are `None` when all are 1. Classes and categories keep their codes.
    pub(super) fn canonical(&self) -> Dataset {
        let (kept, weights) =
            merged(&self.class, self.weights.as_deref(), |a, b| self.compare_features(a, b));
        let mut data = self.rows(&kept);
        data.features = without_negative_zero(data.features);
        Dataset { weights, ..data }
    }

    /// The rows of positive weight sorted by features, class and weight: an order that depends on the
    /// content of the rows only. Equal rows stand in the order of their weights, so that a sum over them
    /// has the same bits for any order of the file.
    pub fn content_order(&self) -> Vec<usize> {
        let compare =
            |a: usize, b: usize| self.compare_features(a, b).then_with(|| compare_codes(&self.class, a, b));
        sorted(self.n_rows(), compare, |m| self.weights.as_ref().map_or(1.0, |w| w[m]))
    }

    /// The order of two rows: by class, then by features.
    pub(crate) fn compare_rows(&self, a: usize, b: usize) -> Ordering {
        compare_codes(&self.class, a, b).then_with(|| self.compare_features(a, b))
    }

    fn compare_features(&self, a: usize, b: usize) -> Ordering {
        let by_cell = |column: &Column| match column.data() {
            ColumnData::Numeric(n) => compare_numbers(n.get(a), n.get(b)),
            ColumnData::Categorical(c) => compare_codes(c.codes(), a, b),
        };
        self.features.columns().iter().map(by_cell).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl NumberData<'_> {
    /// Merged and sorted rows (see [`super::Rows`]) from those of the caller: the sorted rows are the only copy. The
    /// classes are not looked at, so that a network can be learnt from rows of one class.
    pub fn canonical(&self) -> Result<Dataset> {
        self.check()?;
        let compare = |a: usize, b: usize| {
            let mut cells = self.rows.row(a).iter().zip(self.rows.row(b));
            let seen = |x: &f64| (!x.is_nan()).then_some(*x);
            let differing =
                cells.find_map(|(x, y)| Some(compare_numbers(seen(x), seen(y))).filter(|o| o.is_ne()));
            differing.unwrap_or(Ordering::Equal)
        };
        let (kept, weights) = merged(&self.class, self.weights.as_deref(), compare);
        let features = self.rows.table(self.names.iter().map(String::as_str), kept.iter().copied())?;
        Ok(Dataset {
            target: self.target.clone(),
            features: without_negative_zero(features),
            classes: self.classes.clone(),
            class: self.class.rows(&kept),
            weights,
        })
    }
}

/// The rows of positive weight by content, then weight, then place.
fn sorted(
    n_rows: usize,
    compare: impl Fn(usize, usize) -> Ordering + Sync,
    weight: impl Fn(usize) -> f64 + Sync,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n_rows).filter(|&m| weight(m) > 0.0).collect();
    order.par_sort_unstable_by(|&a, &b| {
        compare(a, b).then_with(|| weight(a).total_cmp(&weight(b))).then(a.cmp(&b))
    });
    order
}

/// The rows sorted by class, then features: the first of every run of equal ones, with the total weight of the run; no
/// weights when all are 1.
fn merged(
    class: &Codes,
    weights: Option<&[f64]>,
    features: impl Fn(usize, usize) -> Ordering + Sync,
) -> (Vec<usize>, Option<Vec<f64>>) {
    let weight = |m: usize| weights.map_or(1.0, |w| w[m]);
    let compare = |a: usize, b: usize| compare_codes(class, a, b).then_with(|| features(a, b));
    let order = sorted(class.len(), compare, weight);
    let (mut kept, mut weights): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
    for m in order {
        match (kept.last(), weights.last_mut()) {
            (Some(&last), Some(total)) if compare(last, m).is_eq() => *total += weight(m),
            _ => {
                kept.push(m);
                weights.push(weight(m));
            }
        }
    }
    let weights = weights.iter().any(|w| *w != 1.0).then_some(weights);
    (kept, weights)
}

fn compare_codes(codes: &Codes, a: usize, b: usize) -> Ordering {
    missing_last(codes.get(a), codes.get(b), |x, y| x.cmp(&y))
}

fn compare_numbers(a: Option<f64>, b: Option<f64>) -> Ordering {
    // + 0.0 makes −0 and 0 equal
    missing_last(a, b, |x, y| (x + 0.0).total_cmp(&(y + 0.0)))
}

fn missing_last<T>(a: Option<T>, b: Option<T>, compare: impl Fn(T, T) -> Ordering) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => compare(a, b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}

/// The same table with 0 for −0: of equal rows it must not matter which one was kept.
fn without_negative_zero(table: Table) -> Table {
    let is_negative_zero = |x: &f64| *x == 0.0 && x.is_sign_negative();
    let clean = |column: &Column| match column.data() {
        ColumnData::Numeric(n) if n.with_nan().iter().any(is_negative_zero) => {
            Column::numeric(column.name(), n.with_nan().iter().map(|x| x + 0.0).collect())
        }
        _ => column.clone(),
    };
    let columns: Vec<Column> = table.columns().iter().map(clean).collect();
    // Names and lengths are those of a checked table, so this cannot fail.
    Table::new(columns).unwrap_or(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::NumberRows;
    use proptest::prelude::*;

    type Row = (Option<i8>, Option<usize>, usize, u8);

    /// Rows (number, category, class, whole weight) as a data set.
    fn dataset(rows: &[Row], weights: Option<Vec<f64>>) -> Dataset {
        let number = |x: Option<i8>| x.map_or(f64::NAN, |x| if x < 0 { -0.0 } else { f64::from(x) });
        let x = Column::numeric("x", rows.iter().map(|r| number(r.0)).collect());
        let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let c = Column::categorical("c", names.clone(), Codes::from_options(3, rows.iter().map(|r| r.1)));
        Dataset {
            target: "y".into(),
            features: Table::new(vec![x, c]).unwrap(),
            classes: names,
            class: Codes::from_options(3, rows.iter().map(|r| Some(r.2))),
            weights,
        }
    }

    fn weighted(rows: &[Row]) -> Dataset {
        dataset(rows, Some(rows.iter().map(|r| f64::from(r.3)).collect()))
    }

    fn repeated(rows: &[Row]) -> Dataset {
        let all: Vec<Row> = rows.iter().flat_map(|r| std::iter::repeat_n(*r, r.3.into())).collect();
        dataset(&all, None)
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let row = (prop::option::of(-1i8..3), prop::option::of(0usize..3), 0usize..3, 0u8..4);
        prop::collection::vec(row, 0..20)
    }

    proptest! {
        /// Weights give the same data set as repetition, whatever the order of the rows.
        #[test]
        fn weights_equal_repetition_in_any_order(rows in rows(), turn in 0usize..20) {
            let mut turned = rows.clone();
            turned.rotate_left(turn % rows.len().max(1));
            turned.reverse();
            let expected = weighted(&rows).canonical();
            prop_assert_eq!(&repeated(&turned).canonical(), &expected);
            prop_assert_eq!(&weighted(&turned).canonical(), &expected);
        }

        /// No total weight is lost, no two rows are equal, and a second pass changes nothing.
        #[test]
        fn rows_are_distinct_and_keep_their_weight(rows in rows()) {
            let data = weighted(&rows).canonical();
            let n: f64 = (0..data.n_rows()).map(|m| data.weights.as_ref().map_or(1.0, |w| w[m])).sum();
            prop_assert_eq!(n, rows.iter().map(|r| f64::from(r.3)).sum::<f64>());
            let compare = |m: usize| compare_codes(&data.class, m - 1, m).then_with(|| data.compare_features(m - 1, m));
            prop_assert!((1..data.n_rows()).all(|m| compare(m).is_lt()));
            prop_assert_eq!(&data.canonical(), &data);
        }
    }

    proptest! {
        /// Rows of numbers that are read in place give the data set their table gives.
        #[test]
        fn rows_in_place_give_the_same_data_set(
            rows in prop::collection::vec((prop::option::of(-1i8..2), prop::option::of(0i8..2), 0usize..2, 0u8..3), 1..20)
        ) {
            let number = |x: Option<i8>| x.map_or(f64::NAN, |x| if x < 0 { -0.0 } else { f64::from(x) });
            let cells: Vec<f64> = rows.iter().flat_map(|r| [number(r.0), number(r.1)]).collect();
            let data = NumberData {
                target: "y".into(),
                rows: NumberRows::new(&cells, 2).unwrap(),
                names: vec!["a".into(), "b".into()],
                classes: vec!["0".into(), "1".into()],
                class: Codes::from_options(2, rows.iter().map(|r| Some(r.2))),
                weights: Some(rows.iter().map(|r| f64::from(r.3)).collect()),
            };
            prop_assume!(data.dataset().is_ok());
            prop_assert_eq!(data.canonical().unwrap(), data.dataset().unwrap().canonical());
        }
    }

    #[test]
    fn sums_of_weights_have_the_same_bits_in_any_order() {
        let rows = [(Some(1), Some(0), 0, 1); 4];
        let sum = |w: [f64; 4]| dataset(&rows, Some(w.to_vec())).canonical().weights;
        assert_eq!(sum([0.1, 0.2, 0.3, 1e16]), sum([1e16, 0.3, 0.1, 0.2]));
    }

    #[test]
    fn zero_keeps_no_sign() {
        let data = dataset(&[(Some(-1), None, 0, 1), (Some(0), None, 1, 1)], None).canonical();
        let x = data.features.column(0).as_numeric().map(|n| n.with_nan().to_vec());
        assert!(x.is_some_and(|x| x.iter().all(|x| x.is_sign_positive())));
    }
}
