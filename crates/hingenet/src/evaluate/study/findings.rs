//! What is worth knowing about the rows before trusting a model of them: constant, repeated and id-like
//! columns, missing cells, class balance, repeated and contradicting rows, unseen categories.

use crate::model::doubts::{distinct, duplicates, is_id_like};
use crate::model::{Dataset, Doubt, doubts};
use crate::report::{DataFindings, Share};
use hingenet_data::table::{Column, ColumnData, Schema, Table, Unseen, UnseenPolicy};
use std::collections::{BTreeMap, BTreeSet};

/// Sets of columns missing together that are told.
const PATTERNS: usize = 5;

/// Looks at all rows; `unseen` comes from the splits.
pub(super) fn findings(data: &Dataset, unseen: Vec<Unseen>) -> DataFindings {
    let columns = data.features.columns();
    let named = |c: &Column| c.name().to_string();
    let (repeated_rows, contradicting_rows) = repeated_rows(data);
    let patterns = missing_patterns(&data.features);
    DataFindings {
        classes: class_shares(data),
        constant: columns.iter().filter(|c| distinct(c) <= 1).map(named).collect(),
        duplicates: duplicates(columns),
        id_like: columns.iter().filter(|c| is_id_like(c)).map(|c| (named(c), distinct(c))).collect(),
        missing: missing_columns(columns),
        complete_rows: patterns.iter().filter(|(p, _)| p.is_empty()).map(|(_, n)| n).sum(),
        patterns: patterns.into_iter().filter(|(p, _)| !p.is_empty()).take(PATTERNS).collect(),
        unseen,
        repeated_rows,
        contradicting_rows,
        doubts: doubts(data).iter().map(Doubt::to_string).collect(),
        columns: columns.iter().map(|c| super::columns::column_facts(c, data)).collect(),
    }
}

fn class_shares(data: &Dataset) -> Vec<Share> {
    let k = data.classes.len();
    let (mut rows, mut weight) = (vec![0; k], vec![0.0; k]);
    for (m, c) in data.class.iter().enumerate() {
        if let Some(c) = c {
            rows[c] += 1;
            weight[c] += data.weights.as_ref().map_or(1.0, |w| w[m]);
        }
    }
    let total: f64 = weight.iter().sum();
    let share = |c: usize| if total > 0.0 { weight[c] / total } else { 0.0 };
    let class = |c: usize| Share { name: data.classes[c].clone(), count: rows[c], share: share(c) };
    (0..k).map(class).collect()
}

fn missing_columns(columns: &[Column]) -> Vec<Share> {
    let missing = |c: &Column| Share {
        name: c.name().to_string(),
        count: c.n_missing(),
        share: c.n_missing() as f64 / c.len().max(1) as f64,
    };
    let mut found: Vec<Share> = columns.iter().map(missing).filter(|m| m.count > 0).collect();
    found.sort_by_key(|m| std::cmp::Reverse(m.count));
    found
}

/// Sets of columns that are missing together with their number of rows, most frequent first.
fn missing_patterns(table: &Table) -> Vec<(Vec<String>, usize)> {
    let columns: Vec<usize> = (0..table.n_columns()).filter(|&i| table.column(i).n_missing() > 0).collect();
    let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    for m in 0..table.n_rows() {
        let pattern = columns.iter().copied().filter(|&i| table.column(i).is_missing(m)).collect();
        *counts.entry(pattern).or_default() += 1;
    }
    let name = |i: &usize| table.column(*i).name().to_string();
    let mut found: Vec<(Vec<usize>, usize)> = counts.into_iter().collect();
    found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    found.into_iter().map(|(p, n)| (p.iter().map(name).collect(), n)).collect()
}

/// Rows whose features occur more than once, and those that occur with several classes.
fn repeated_rows(data: &Dataset) -> (usize, usize) {
    let columns = data.features.columns();
    let same = |a: usize, b: usize| {
        columns.iter().all(|column| match column.data() {
            ColumnData::Numeric(n) => n.get(a) == n.get(b),
            ColumnData::Categorical(c) => c.codes().get(a) == c.codes().get(b),
        })
    };
    let order = data.content_order();
    let (mut repeated, mut contradicting) = (0, 0);
    for rows in order.chunk_by(|&a, &b| same(a, b)).filter(|rows| rows.len() > 1) {
        repeated += rows.len();
        // a row without a class contradicts nothing
        let classes: BTreeSet<usize> = rows.iter().filter_map(|&m| data.class.get(m)).collect();
        if classes.len() > 1 {
            contradicting += rows.len();
        }
    }
    (repeated, contradicting)
}

/// Categories of each fold that no other fold has; `fold` is that of each row.
pub(super) fn unseen_in_folds(features: &Table, fold: &[usize]) -> Vec<Unseen> {
    let column = |column: &Column| {
        let c = column.as_categorical()?;
        // Folds and number of cells of each category.
        let mut seen: Vec<(BTreeSet<usize>, usize)> = vec![Default::default(); c.categories().len()];
        for (code, &f) in c.codes().iter().zip(fold).filter_map(|(code, f)| Some((code?, f))) {
            seen[code].0.insert(f);
            seen[code].1 += 1;
        }
        let alone = || (0..seen.len()).filter(|&j| seen[j].0.len() == 1);
        let first = c.categories()[alone().next()?].clone();
        let cells = alone().map(|j| seen[j].1).sum();
        Some(Unseen { column: column.name().to_string(), cells, first })
    };
    features.columns().iter().filter_map(column).collect()
}

/// Categories of test rows that the training rows lack.
pub(super) fn unseen_in_test(train: &Table, test: &Table) -> Vec<Unseen> {
    let aligned = Schema::of(train).align(test, UnseenPolicy::Missing);
    aligned.map(|(_, report)| report.unseen).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_data::table::Codes;

    fn categorical(name: &str, k: usize, codes: impl Iterator<Item = Option<usize>>) -> Column {
        Column::categorical(name, (0..k).map(|j| format!("v{j}")).collect(), Codes::from_options(k, codes))
    }

    fn dataset(columns: Vec<Column>) -> Dataset {
        let n = columns[0].len();
        Dataset {
            target: "y".into(),
            features: Table::new(columns).unwrap(),
            classes: vec!["a".into(), "b".into()],
            class: Codes::from_options(2, (0..n).map(|m| Some(m % 4 / 3))),
            weights: None,
        }
    }

    #[test]
    fn each_kind_of_column_is_found() {
        let n = 40;
        let number = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
        let data = dataset(vec![
            Column::numeric("row number", number(&|m| 1000.0 + m as f64)),
            Column::numeric("measured", number(&|m| (m as f64).sin())),
            Column::numeric("copy", number(&|m| (m as f64).sin())),
            Column::numeric("same", number(&|_| 3.0)),
            Column::numeric("half", number(&|m| if m % 2 == 0 { f64::NAN } else { m as f64 * 0.5 })),
            categorical("name", n, (0..n).map(Some)),
            categorical("kind", 2, (0..n).map(|m| (m % 2 == 1).then_some(m % 3 / 2))),
        ]);
        let found = findings(&data, Vec::new());
        assert_eq!(found.constant, ["same"]);
        assert_eq!(found.duplicates, [("copy".to_string(), "measured".to_string())]);
        assert_eq!(found.id_like, [("row number".to_string(), n), ("name".to_string(), n)]);
        assert_eq!(found.missing.iter().map(|m| m.count).collect::<Vec<_>>(), [20, 20]);
        assert_eq!(found.patterns, [(vec!["half".to_string(), "kind".to_string()], 20)]);
        assert_eq!(found.complete_rows, 20);
        assert_eq!((found.classes[0].count, found.classes[1].share), (30, 0.25));
        assert_eq!((found.repeated_rows, found.contradicting_rows), (0, 0));
    }

    #[test]
    fn repeated_rows_with_different_classes_contradict() {
        let data = dataset(vec![categorical("x", 2, [0, 1, 1, 0, 0, 1, 1, 1].map(Some).into_iter())]);
        // classes a a a b a a a b: x = 0 has a, b, a; x = 1 has a a a a b
        let found = findings(&data, Vec::new());
        assert_eq!((found.repeated_rows, found.contradicting_rows), (8, 8));
    }

    #[test]
    fn a_category_of_one_fold_only_is_unseen_there() {
        let table = Table::new(vec![categorical("x", 3, [0, 1, 0, 1, 2, 2].map(Some).into_iter())]).unwrap();
        let found = unseen_in_folds(&table, &[0, 0, 1, 1, 1, 1]);
        assert_eq!((found.len(), found[0].cells, found[0].first.as_str()), (1, 2, "v2"));
    }
}
