//! How rows to predict differ from those of training: numbers far outside what training has seen, categories it has not
//! seen. The model answers all the same, so each doubt says what to look at.

use super::{Dataset, Doubt, Model};
use hingenet_base::error::Result;
use hingenet_data::table::{AlignReport, ColumnData, Schema, Table, Unseen, UnseenPolicy};
use std::collections::BTreeMap;

/// Columns that a doubt names.
const NAMED: usize = 5;

/// The smallest and the largest number of each column that has any.
pub(super) type Ranges = BTreeMap<String, [f64; 2]>;

impl Model {
    /// What looks wrong with rows to predict; `report` is what aligning them with the columns of training found.
    pub fn doubts(&self, rows: &Table, report: &AlignReport) -> Vec<Doubt> {
        let mut unlike = self.unlike();
        unlike.add(rows, report);
        unlike.doubts()
    }

    /// The same for rows that come in batches.
    pub fn unlike(&self) -> Unlike<'_> {
        Unlike::new(&self.facts.ranges, &self.schema)
    }
}

/// The same for rows to test models on that are fitted to `data`.
pub fn doubts_of_test_rows(data: &Dataset, rows: &Table) -> Result<Vec<Doubt>> {
    let (ranges, schema) = (data.features.ranges(), Schema::of(&data.features));
    let (_, report) = schema.align(rows, UnseenPolicy::Missing)?;
    let mut unlike = Unlike::new(&ranges, &schema);
    unlike.add(rows, &report);
    Ok(unlike.doubts())
}

/// How rows differ from those of training, added up over batches with the same columns.
pub struct Unlike<'m> {
    /// What training saw.
    ranges: &'m Ranges,
    schema: &'m Schema,
    n_rows: usize,
    /// Rows with numbers farther from the range of training than the range is wide.
    n_far: usize,
    /// Columns of the rows, and the farthest of such numbers.
    farthest: Vec<(String, Option<f64>)>,
    /// Columns with categories that training has not seen.
    unseen: BTreeMap<String, Unseen>,
}

impl<'m> Unlike<'m> {
    fn new(ranges: &'m Ranges, schema: &'m Schema) -> Self {
        let (farthest, unseen) = (Vec::new(), BTreeMap::new());
        Unlike { ranges, schema, n_rows: 0, n_far: 0, farthest, unseen }
    }

    /// Adds rows; `report` is what aligning them with the columns of training found.
    pub fn add(&mut self, rows: &Table, report: &AlignReport) {
        self.n_rows += rows.n_rows();
        self.add_far(rows);
        for Unseen { column, cells, first } in &report.unseen {
            let none = || Unseen { column: column.clone(), cells: 0, first: first.clone() };
            self.unseen.entry(column.clone()).or_insert_with(none).cells += cells;
        }
    }

    fn add_far(&mut self, rows: &Table) {
        if self.farthest.is_empty() {
            self.farthest = rows.columns().iter().map(|column| (column.name().to_string(), None)).collect();
        }
        let mut is_far = vec![false; rows.n_rows()];
        for (column, (_, farthest)) in rows.columns().iter().zip(&mut self.farthest) {
            let Some(range) = self.ranges.get(column.name()).filter(|[low, high]| low < high) else {
                continue;
            };
            let ColumnData::Numeric(numbers) = column.data() else { continue };
            let far = |x: &f64| beyond(*range, *x) > 1.0;
            for (m, x) in numbers.iter().enumerate().filter_map(|(m, x)| x.filter(far).map(|x| (m, x))) {
                is_far[m] = true;
                *farthest = farthest.filter(|known| beyond(*range, *known) >= beyond(*range, x)).or(Some(x));
            }
        }
        self.n_far += is_far.iter().filter(|far| **far).count();
    }

    /// What looks wrong with all of them.
    pub fn doubts(&self) -> Vec<Doubt> {
        let unseen = self.schema.features.iter().filter_map(|spec| self.unseen.get(&spec.name));
        self.outside().into_iter().chain(unseen.map(|unseen| unseen_doubt(unseen, self.n_rows))).collect()
    }

    fn outside(&self) -> Option<Doubt> {
        let told = |(name, x): &(String, Option<f64>)| {
            let ([low, high], x) = (self.ranges.get(name)?, (*x)?);
            Some(format!("`{name}` (as far as {x}; training saw {low} to {high})"))
        };
        let mut columns: Vec<String> = self.farthest.iter().filter_map(told).collect();
        let more = columns.len().saturating_sub(NAMED);
        columns.truncate(NAMED);
        let list = columns.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() };
        (self.n_far > 0).then(|| Doubt {
            problem: format!(
                "{} of {} lie far outside the range of training in {list}",
                self.n_far,
                if self.n_rows == 1 { "1 row".into() } else { format!("{} rows", self.n_rows) }
            ),
            remedy: "check the units; what a model says about such rows is guesswork".into(),
        })
    }
}

/// How far a number lies outside of a range, in widths of the range.
fn beyond([low, high]: [f64; 2], x: f64) -> f64 {
    ((low - x).max(x - high) / (high - low)).max(0.0)
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
    use hingenet_data::table::Column;

    fn doubt(training: Vec<f64>, rows: Vec<f64>) -> Option<String> {
        let table = |values| Table::new(vec![Column::numeric("size", values)]).unwrap();
        let (training, rows) = (table(training), table(rows));
        let (ranges, schema) = (training.ranges(), Schema::of(&training));
        let doubts = |batches: &[Table]| {
            let mut unlike = Unlike::new(&ranges, &schema);
            batches.iter().for_each(|rows| unlike.add(rows, &AlignReport::default()));
            unlike.doubts()
        };
        let one_by_one: Vec<Table> = (0..rows.n_rows()).map(|m| rows.rows(&[m])).collect();
        assert_eq!(doubts(&one_by_one), doubts(std::slice::from_ref(&rows)), "in batches");
        doubts(&[rows]).first().map(Doubt::to_string)
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
