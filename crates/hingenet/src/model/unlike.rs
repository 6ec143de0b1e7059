//! How rows to predict differ from those of training: numbers far outside what training has seen, categories it has not
//! seen. The model answers all the same, so each doubt says what to look at.

use super::{Dataset, Doubt, Model};
use hingenet_base::error::Result;
use hingenet_data::table::{AlignReport, Column, ColumnData, Schema, Table, Unseen, UnseenPolicy};
use std::collections::BTreeMap;

/// Columns that a doubt names.
const NAMED: usize = 5;

/// The smallest and the largest number of each column that has any.
pub(super) type Ranges = BTreeMap<String, [f64; 2]>;

/// The ranges of the columns of numbers.
pub(super) fn ranges(table: &Table) -> Ranges {
    let range = |column: &Column| {
        let mut values = column.as_numeric()?.iter().flatten();
        let first = values.next()?;
        let [low, high] = values.fold([first, first], |[low, high], x| [low.min(x), high.max(x)]);
        Some((column.name().to_string(), [low, high]))
    };
    table.columns().iter().filter_map(range).collect()
}

impl Model {
    /// What looks wrong with rows to predict; `report` is what aligning them with the columns of training found.
    pub fn doubts(&self, rows: &Table, report: &AlignReport) -> Vec<Doubt> {
        unlike(&self.facts.ranges, rows, report)
    }
}

/// The same for rows to test models on that are fitted to `data`.
pub fn doubts_of_test_rows(data: &Dataset, rows: &Table) -> Result<Vec<Doubt>> {
    let (_, report) = Schema::of(&data.features).align(rows, UnseenPolicy::Missing)?;
    Ok(unlike(&ranges(&data.features), rows, &report))
}

/// How rows differ from those of training, whose columns had these ranges.
fn unlike(ranges: &Ranges, rows: &Table, report: &AlignReport) -> Vec<Doubt> {
    let unseen = report.unseen.iter().map(|unseen| unseen_doubt(unseen, rows.n_rows()));
    outside(ranges, rows).into_iter().chain(unseen).collect()
}

/// Rows with numbers farther from the range of training than the range is wide.
fn outside(ranges: &Ranges, rows: &Table) -> Option<Doubt> {
    let mut is_far = vec![false; rows.n_rows()];
    let mut columns = Vec::new();
    for column in rows.columns() {
        let Some(&[low, high]) = ranges.get(column.name()).filter(|[low, high]| low < high) else { continue };
        let ColumnData::Numeric(numbers) = column.data() else { continue };
        let beyond = |x: f64| ((low - x).max(x - high) / (high - low)).max(0.0);
        let far =
            numbers.iter().enumerate().filter_map(|(m, x)| x.filter(|x| beyond(*x) > 1.0).map(|x| (m, x)));
        let mut farthest: Option<f64> = None;
        for (m, x) in far {
            is_far[m] = true;
            farthest = farthest.filter(|known| beyond(*known) >= beyond(x)).or(Some(x));
        }
        let told = |x: f64| format!("`{}` (as far as {x}; training saw {low} to {high})", column.name());
        columns.extend(farthest.map(told));
    }
    let n = is_far.iter().filter(|far| **far).count();
    let more = columns.len().saturating_sub(NAMED);
    columns.truncate(NAMED);
    let list = columns.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() };
    (n > 0).then(|| Doubt {
        problem: format!(
            "{n} of {} lie far outside the range of training in {list}",
            if rows.n_rows() == 1 { "1 row".into() } else { format!("{} rows", rows.n_rows()) }
        ),
        remedy: "check the units; what a model says about such rows is guesswork".into(),
    })
}

fn unseen_doubt(unseen: &Unseen, n_rows: usize) -> Doubt {
    let Unseen { column, cells, first } = unseen;
    Doubt {
        problem: format!(
            "column `{column}`: {cells} of {n_rows} cells hold categories that training has not seen (`{first}` first) and \
             count as missing"
        ),
        remedy: "check that categories are written as in training".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(training: Vec<f64>, rows: Vec<f64>) -> Option<String> {
        let table = |values| Table::new(vec![Column::numeric("size", values)]).unwrap();
        let found = unlike(&ranges(&table(training)), &table(rows), &AlignReport::default());
        found.first().map(Doubt::to_string)
    }

    #[test]
    fn rows_beyond_the_range_by_more_than_its_width_are_counted() {
        let training = vec![1.5, f64::NAN, 2.0, 1.7];
        assert_eq!(doubt(training.clone(), vec![1.0, 2.5, f64::NAN]), None, "half a width beyond is near");
        let found = doubt(training, vec![160.0, 1.6, 175.0, -3.0]).unwrap();
        assert!(
            found.starts_with("3 of 4 rows") && found.contains("as far as 175; training saw 1.5 to 2"),
            "{found}"
        );
    }

    #[test]
    fn columns_that_never_varied_say_nothing() {
        assert_eq!(doubt(vec![2.0, 2.0], vec![3.0]), None);
        assert_eq!(doubt(vec![f64::NAN], vec![3.0]), None);
    }
}
