//! The feature columns a model was trained on, and how any other table is brought into that shape:
//! same columns, same order, same category codes. What training has not seen is missing.

use super::category::parse_number;
use super::{Categorical, Codes, Column, ColumnData, Numeric, Table};
use hingenet_base::error::{Error, Result, require, require_len};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// Names and types of feature columns, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Schema {
    /// The features, in the order the model keeps.
    pub features: Vec<FeatureSpec>,
}

/// One feature column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureSpec {
    /// Column name.
    pub name: String,
    /// Column type.
    pub kind: FeatureKind,
}

/// Type of a feature column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // said with the variants
pub enum FeatureKind {
    /// Finite numbers.
    Numeric,
    /// Categories, by their names in code order.
    Categorical { categories: Vec<String> },
}

impl FeatureKind {
    /// The categories; `None` for numbers.
    pub fn categories(&self) -> Option<&[String]> {
        match self {
            FeatureKind::Numeric => None,
            FeatureKind::Categorical { categories } => Some(categories),
        }
    }
}

/// What to do with a category that training has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnseenPolicy {
    /// The cell counts as missing, and is counted in the report.
    #[default]
    Missing,
    /// An error that names column, row and value.
    Error,
}

/// What [`Schema::align`] had to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlignReport {
    /// Features the table lacks; all their cells are missing.
    pub absent: Vec<String>,
    /// Number of columns the schema does not know; they were left out.
    pub extra: usize,
    /// Columns with categories that training has not seen.
    pub unseen: Vec<Unseen>,
}

/// Cells of one column whose category training has not seen.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Unseen {
    /// Column name.
    pub column: String,
    /// Number of such cells.
    pub cells: usize,
    /// The first such category.
    pub first: String,
}

impl Schema {
    /// The columns of a (training) table.
    pub fn of(table: &Table) -> Schema {
        let spec = |column: &Column| FeatureSpec {
            name: column.name().to_string(),
            kind: match column.data() {
                ColumnData::Numeric(_) => FeatureKind::Numeric,
                ColumnData::Categorical(c) => {
                    FeatureKind::Categorical { categories: c.categories().to_vec() }
                }
            },
        };
        Schema { features: table.columns().iter().map(spec).collect() }
    }

    /// Refuses what no table can have (for schemas read from a file): repeated names, repeated or too
    /// many categories.
    pub fn check(&self) -> Result<()> {
        let distinct: BTreeSet<&str> = self.features.iter().map(|spec| spec.name.as_str()).collect();
        require_len("distinct feature names", self.features.len(), distinct.len())?;
        for spec in &self.features {
            if let FeatureKind::Categorical { categories } = &spec.kind {
                let n = categories.len();
                require("categories", n, "at most 65535", n <= Codes::MAX_CATEGORIES)?;
                let distinct: BTreeSet<&String> = categories.iter().collect();
                require_len(&format!("distinct categories of `{}`", spec.name), n, distinct.len())?;
            }
        }
        Ok(())
    }

    /// Brings a table into this shape: columns in schema order, absent ones all missing, others left out,
    /// categories coded as in training.
    ///
    /// A column of numbers where training saw categories is matched by the text of the number (`1`), or
    /// else by the first category of equal value (`1.0`); 0 and 1 are the values of `false` and `true`. A column of texts
    /// where training saw numbers is read as numbers in the same way; a text that is none is an error.
    pub fn align(&self, table: &Table, unseen: UnseenPolicy) -> Result<(Table, AlignReport)> {
        let positions: HashMap<&str, usize> =
            table.columns().iter().enumerate().map(|(i, c)| (c.name(), i)).collect();
        let mut report = AlignReport::default();
        let mut columns = Vec::with_capacity(self.features.len());
        for spec in &self.features {
            match positions.get(spec.name.as_str()) {
                Some(&i) => columns.push(spec.align(table.column(i), unseen, &mut report)?),
                None => {
                    report.absent.push(spec.name.clone());
                    columns.push(spec.all_missing(table.n_rows()).absent());
                }
            }
        }
        let present = self.features.len() - report.absent.len();
        report.extra = table.n_columns().saturating_sub(present);
        let aligned =
            if columns.is_empty() { Table::without_columns(table.n_rows()) } else { Table::new(columns)? };
        Ok((aligned, report))
    }
}

impl FeatureSpec {
    /// A column of this type in which every cell is missing.
    pub fn all_missing(&self, n_rows: usize) -> Column {
        match &self.kind {
            FeatureKind::Numeric => Column::numeric(&self.name, vec![f64::NAN; n_rows]),
            FeatureKind::Categorical { categories } => {
                let codes = Codes::from_options(categories.len(), std::iter::repeat_n(None, n_rows));
                Column::categorical(&self.name, categories.clone(), codes)
            }
        }
    }

    fn align(&self, column: &Column, policy: UnseenPolicy, report: &mut AlignReport) -> Result<Column> {
        match (&self.kind, column.data()) {
            (FeatureKind::Numeric, ColumnData::Numeric(_)) => Ok(column.clone()),
            (FeatureKind::Numeric, ColumnData::Categorical(c)) => self.numbers(c),
            (FeatureKind::Categorical { categories }, data) => {
                let codes = match data {
                    ColumnData::Categorical(c) => c.recode(categories),
                    ColumnData::Numeric(n) => codes_of_numbers(n, categories),
                };
                report.unseen.extend(self.unseen(&codes, column, policy)?);
                Ok(Column::categorical(&self.name, categories.clone(), codes))
            }
        }
    }

    /// Texts read as numbers; a column without any present cell passes.
    fn numbers(&self, texts: &Categorical) -> Result<Column> {
        let values = values_of(texts.categories());
        let mut numbers = Vec::with_capacity(texts.codes().len());
        for (i, code) in texts.codes().iter().enumerate() {
            numbers.push(match code {
                None => f64::NAN,
                Some(c) => values[c].ok_or_else(|| {
                    let text = &texts.categories()[c];
                    let problem =
                        format!("column `{}`: `{text}` is not a number, but training saw numbers", self.name);
                    let hint = "correct the cell, or leave it empty if the value is not known (`--na` names other texts for that)";
                    Error::row(i, problem, hint)
                })?,
            });
        }
        Ok(Column::numeric(&self.name, numbers))
    }

    /// Counts the present cells of a column that have no code.
    fn unseen(&self, codes: &Codes, column: &Column, policy: UnseenPolicy) -> Result<Option<Unseen>> {
        let mut found: Option<Unseen> = None;
        for i in (0..codes.len()).filter(|&i| codes.get(i).is_none()) {
            let Some(value) = column.text(i) else { continue };
            if policy == UnseenPolicy::Error {
                let problem = format!("column `{}`: category `{value}` did not occur in training", self.name);
                return Err(Error::row(
                    i,
                    problem,
                    "correct the cell, or let unseen categories count as missing",
                ));
            }
            let unseen = Unseen { column: self.name.clone(), cells: 0, first: value };
            found.get_or_insert(unseen).cells += 1;
        }
        Ok(found)
    }
}

/// The numbers that texts stand for; `false` and `true` are 0 and 1 where there is nothing else.
fn values_of(texts: &[String]) -> Vec<Option<f64>> {
    let truth = |text: &String| match text.to_ascii_lowercase().as_str() {
        "false" => Some(0.0),
        "true" => Some(1.0),
        _ => None,
    };
    let truths: Option<Vec<f64>> = texts.iter().map(truth).collect();
    match truths {
        Some(values) => values.into_iter().map(Some).collect(),
        None => texts.iter().map(|text| parse_number(text)).collect(),
    }
}

/// Codes of numbers in a dictionary of texts: the text form first, else the first category of equal value.
fn codes_of_numbers(numbers: &Numeric, categories: &[String]) -> Codes {
    let mut by_value: HashMap<u64, usize> = HashMap::new();
    let key = |x: f64| (x + 0.0).to_bits(); // −0 and 0 are one value
    for (j, (text, value)) in categories.iter().zip(values_of(categories)).enumerate() {
        let Some(x) = value else { continue };
        let first = by_value.entry(key(x)).or_insert(j);
        if *text == x.to_string() {
            *first = j;
        }
    }
    let code = |x: f64| by_value.get(&key(x)).copied();
    Codes::from_options(categories.len(), numbers.iter().map(|x| x.and_then(code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, categories: &[&str], cells: &[Option<usize>]) -> Column {
        let categories: Vec<String> = categories.iter().map(|s| s.to_string()).collect();
        let codes = Codes::from_options(categories.len(), cells.iter().copied());
        Column::categorical(name, categories, codes)
    }

    fn schema() -> Schema {
        let x = Column::numeric("x", vec![1.0, 2.0]);
        Schema::of(&Table::new(vec![x, text("c", &["1", "1.0", "b"], &[Some(0), Some(2)])]).unwrap())
    }

    #[test]
    fn a_table_with_other_columns_gets_the_training_shape() {
        let extra = Column::numeric("extra", vec![0.0, 0.0]);
        let c = text("c", &["b", "new"], &[Some(1), Some(0)]);
        let (table, report) =
            schema().align(&Table::new(vec![extra, c]).unwrap(), UnseenPolicy::Missing).unwrap();
        assert_eq!(Schema::of(&table), schema());
        assert_eq!((report.absent, report.extra), (vec!["x".to_string()], 1));
        assert_eq!(report.unseen, [Unseen { column: "c".into(), cells: 1, first: "new".into() }]);
        assert_eq!(table.column(0).n_missing(), 2);
        assert!(table.rows(&[1]).column(0).is_absent() && !table.column(1).is_absent());
        assert_eq!(table.column(1).as_categorical().unwrap().get(1), Some("b"));
        assert!(table.column(1).is_missing(0));
    }

    #[test]
    fn hostile_schemas_are_refused() {
        assert!(schema().check().is_ok());
        let mut twice = schema();
        twice.features.push(twice.features[0].clone());
        assert!(twice.check().is_err());
        let repeated = FeatureKind::Categorical { categories: vec!["a".into(), "a".into()] };
        assert!(Schema { features: vec![FeatureSpec { name: "c".into(), kind: repeated }] }.check().is_err());
        let many = FeatureKind::Categorical { categories: (0..65536).map(|i| i.to_string()).collect() };
        assert!(Schema { features: vec![FeatureSpec { name: "c".into(), kind: many }] }.check().is_err());
    }

    #[test]
    fn unseen_categories_are_an_error_on_request() {
        let c = text("c", &["b", "new"], &[Some(0), Some(1)]);
        let error = schema().align(&Table::new(vec![c]).unwrap(), UnseenPolicy::Error).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("`c`") && message.contains("row 2") && message.contains("`new`"),
            "{message}"
        );
        assert!(error.hint().is_some());
    }

    #[test]
    fn types_that_differ_from_training_are_matched_by_value() {
        let x = text("x", &["2.5", "3"], &[Some(1), None]);
        let c = Column::numeric("c", vec![1.0, 7.0]);
        let (table, report) =
            schema().align(&Table::new(vec![x, c]).unwrap(), UnseenPolicy::Missing).unwrap();
        assert_eq!(table.column(0).as_numeric().unwrap().get(0), Some(3.0));
        assert_eq!(table.column(1).as_categorical().unwrap().get(0), Some("1"));
        assert_eq!(report.unseen.len(), 1);
    }

    #[test]
    fn zero_and_one_are_false_and_true() {
        let schema =
            Schema::of(&Table::new(vec![text("b", &["False", "True"], &[Some(0), Some(1)])]).unwrap());
        let numbers = Column::numeric("b", vec![1.0, 0.0, f64::NAN, 2.0]);
        let (table, report) =
            schema.align(&Table::new(vec![numbers]).unwrap(), UnseenPolicy::Missing).unwrap();
        let codes: Vec<Option<usize>> = table.column(0).as_categorical().unwrap().codes().iter().collect();
        assert_eq!(codes, [Some(1), Some(0), None, None]);
        assert_eq!(report.unseen, [Unseen { column: "b".into(), cells: 1, first: "2".into() }]);
        let trained = Schema::of(&Table::new(vec![Column::numeric("b", vec![0.0, 1.0])]).unwrap());
        let truths = text("b", &["true", "false"], &[Some(1), Some(0), None]);
        let (table, _) = trained.align(&Table::new(vec![truths]).unwrap(), UnseenPolicy::Missing).unwrap();
        assert_eq!(table.column(0).as_numeric().unwrap().get(1), Some(1.0));
    }

    #[test]
    fn text_in_a_numeric_feature_is_an_error_unless_all_is_missing() {
        let x = text("x", &["low"], &[None, Some(0)]);
        let error = schema().align(&Table::new(vec![x]).unwrap(), UnseenPolicy::Missing).unwrap_err();
        assert!(error.to_string().contains("row 2: column `x`: `low`"), "{error}");
        let x = text("x", &[], &[None, None]);
        let (table, _) = schema().align(&Table::new(vec![x]).unwrap(), UnseenPolicy::Missing).unwrap();
        assert_eq!(table.column(0).as_numeric().unwrap().get(0), None);
    }
}
