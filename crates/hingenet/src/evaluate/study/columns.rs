//! What each column holds, and how its values are spread over the classes.

use crate::model::Dataset;
use crate::model::doubts::distinct;
use crate::report::{ColumnBin, ColumnFacts};
use hingenet_data::table::{Categorical, Column, ColumnData, Numeric};

/// Bins of a histogram.
const BINS: usize = 12;

/// The facts of one feature column.
pub(super) fn column_facts(column: &Column, data: &Dataset) -> ColumnFacts {
    let (range, bins) = match column.data() {
        ColumnData::Numeric(numbers) => {
            let range = range(numbers);
            (range, range.map_or(Vec::new(), |ends| interval_bins(numbers, ends, data)))
        }
        ColumnData::Categorical(categories) => (None, category_bins(categories, data)),
    };
    ColumnFacts {
        name: column.name().to_string(),
        range,
        is_numeric: column.as_numeric().is_some(),
        distinct: distinct(column),
        missing: column.n_missing(),
        bins,
    }
}

fn range(numbers: &Numeric) -> Option<(f64, f64)> {
    numbers.iter().flatten().fold(None, |ends, x| {
        let (low, high) = ends.unwrap_or((x, x));
        Some((low.min(x), high.max(x)))
    })
}

/// Intervals of equal width from the smallest to the largest number.
fn interval_bins(numbers: &Numeric, (low, high): (f64, f64), data: &Dataset) -> Vec<ColumnBin> {
    // halves, because the distance of the ends may overflow
    let width = (high / 2.0 - low / 2.0) / BINS as f64 * 2.0;
    let n = if width > 0.0 { BINS } else { 1 };
    let bin =
        |x: f64| if width > 0.0 { (((x / 2.0 - low / 2.0) / width * 2.0) as usize).min(n - 1) } else { 0 };
    let end = |k: usize| if k == n { high } else { low + k as f64 * width };
    let names = (0..n).map(|k| format!("{} to {}", end(k), end(k + 1))).collect();
    filled(names, data, |m| numbers.get(m).map(bin))
}

/// All categories in their order, or the most frequent ones and all others together.
fn category_bins(column: &Categorical, data: &Dataset) -> Vec<ColumnBin> {
    let names = column.categories();
    if names.len() <= BINS {
        return filled(names.to_vec(), data, |m| column.codes().get(m));
    }
    let mut rows = vec![0usize; names.len()];
    column.codes().iter().flatten().for_each(|code| rows[code] += 1);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&code| (std::cmp::Reverse(rows[code]), code));
    let mut place = vec![BINS - 1; names.len()];
    order.iter().take(BINS - 1).enumerate().for_each(|(k, &code)| place[code] = k);
    let mut shown: Vec<String> = order.iter().take(BINS - 1).map(|&code| names[code].clone()).collect();
    shown.push(format!("{} others", names.len() - BINS + 1));
    filled(shown, data, |m| column.codes().get(m).map(|code| place[code]))
}

/// Bins with the weight of the rows of each class whose place they are.
fn filled(names: Vec<String>, data: &Dataset, place: impl Fn(usize) -> Option<usize>) -> Vec<ColumnBin> {
    let empty = |name: String| ColumnBin { name, classes: vec![0.0; data.classes.len()] };
    let mut bins: Vec<ColumnBin> = names.into_iter().map(empty).collect();
    for (m, class) in data.class.iter().enumerate() {
        if let (Some(k), Some(c)) = (place(m), class) {
            bins[k].classes[c] += data.weights.as_ref().map_or(1.0, |w| w[m]);
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_data::table::{Codes, Table};
    use proptest::prelude::*;

    fn dataset(column: Column) -> Dataset {
        let n = column.len();
        let class = Codes::from_options(2, (0..n).map(|m| Some(m % 2)));
        let classes = vec!["a".into(), "b".into()];
        Dataset {
            target: "y".into(),
            features: Table::new(vec![column]).unwrap(),
            classes,
            class,
            weights: None,
        }
    }

    fn facts(column: Column) -> ColumnFacts {
        let data = dataset(column);
        column_facts(data.features.column(0), &data)
    }

    #[test]
    fn of_many_categories_the_rare_ones_stand_together() {
        let codes = (0..60).map(|m| Some(if m < 30 { m % 3 } else { m - 30 }));
        let names = (0..30).map(|j| format!("v{j}")).collect();
        let found = facts(Column::categorical("x", names, Codes::from_options(30, codes)));
        assert_eq!((found.bins.len(), found.distinct, found.range), (12, 30, None));
        assert_eq!((found.bins[0].name.as_str(), found.bins[11].name.as_str()), ("v0", "19 others"));
        assert_eq!(found.bins[11].classes.iter().sum::<f64>(), 19.0);
    }

    proptest! {
        /// Every present cell falls into one bin, however large or equal the numbers are.
        #[test]
        fn bins_hold_every_number(cells in prop::collection::vec(prop_oneof![
            Just(f64::NAN), Just(f64::MAX), Just(f64::MIN), Just(7.0), -1e3..1e3f64
        ], 1..50)) {
            let present = cells.iter().filter(|x| !x.is_nan()).count();
            let found = facts(Column::numeric("x", cells.clone()));
            let held: f64 = found.bins.iter().flat_map(|b| &b.classes).sum();
            prop_assert_eq!(held, present as f64);
            prop_assert_eq!(found.missing, cells.len() - present);
            prop_assert_eq!(found.range.is_some(), present > 0);
        }
    }
}
