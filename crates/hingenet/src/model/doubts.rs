//! What looks wrong with a table before anything is learnt from it: columns that name rows, dates and numbers read as
//! categories, constant and repeated columns, columns that give the class away, targets that are numbers, rare classes.
//! Nothing here is certain, so nothing is changed: each doubt says what mends it.

use super::Dataset;
use hingenet_data::table::{Categorical, Column, ColumnData, ID_ROWS, parse_number};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Share of the texts of a column that must look alike.
const ALIKE: f64 = 0.9;
/// Fewer rows than this say nothing about a column that decides the class.
const LEAK_ROWS: usize = 50;
/// A column that decides the class has at least this many rows for each value: else it may name rows.
const LEAK_ROWS_PER_VALUE: usize = 5;
/// A class with fewer rows is rare.
const FEW_ROWS: usize = 5;
/// Targets with at least this many different numbers are doubted.
const MANY_NUMBERS: usize = 20;
/// Longest unit, in characters.
const UNIT_LENGTH: usize = 6;
/// Fewer different numbers with one ending are names of categories (`5th`, `6th`).
const UNIT_VALUES: usize = 8;
/// Columns or classes that a doubt names.
const NAMED: usize = 5;

/// Something that looks wrong, and what mends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// What looks wrong, with the names of the columns or classes.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}

/// Looks at the rows.
pub fn doubts(data: &Dataset) -> Vec<Doubt> {
    let mut kinds: Vec<(Kind, Vec<String>)> = Kind::ALL.map(|kind| (kind, Vec::new())).to_vec();
    for column in data.features.columns() {
        if let Some((_, names)) = kinds.iter_mut().find(|(kind, _)| kind.fits(column, data)) {
            names.push(column.name().to_string());
        }
    }
    let mut found: Vec<Doubt> = target_doubt(data).into_iter().collect();
    found.extend(kinds.iter().filter(|(_, names)| !names.is_empty()).map(|(kind, names)| kind.doubt(names)));
    // that constants repeat each other follows from what is told of them
    let mut repeated = duplicates(data.features.columns());
    repeated.retain(|(column, _)| {
        !kinds.iter().any(|(kind, names)| matches!(kind, Kind::Constant) && names.contains(column))
    });
    found.extend(repeats(&repeated));
    found.extend(rare_classes(data));
    found
}

/// What can be wrong with a column; the first that fits is told.
#[derive(Clone, Copy)]
enum Kind {
    Leak,
    Date,
    DecimalComma,
    Unit,
    Id,
    Code,
    Constant,
}

impl Kind {
    const ALL: [Kind; 7] =
        [Kind::Constant, Kind::Date, Kind::DecimalComma, Kind::Unit, Kind::Id, Kind::Leak, Kind::Code];

    fn fits(self, column: &Column, data: &Dataset) -> bool {
        let texts = |looks: fn(&str) -> bool| column.as_categorical().is_some_and(|c| most_look(c, looks));
        match self {
            Kind::Constant => is_constant(column),
            Kind::Date => texts(is_date),
            Kind::DecimalComma => texts(is_decimal_comma),
            Kind::Unit => column.as_categorical().is_some_and(has_unit),
            Kind::Id => is_id_like(column),
            Kind::Leak => decides(column, data),
            Kind::Code => is_code(column),
        }
    }

    fn doubt(self, names: &[String]) -> Doubt {
        let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
        let (list, rest) = (shown.join("`, `"), names.len() - shown.len());
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let columns = if names.len() == 1 { "column" } else { "columns" };
        let option = shown.join(",");
        let (one, many, remedy) = match self {
            Kind::Leak => (
                "decides the class of every row by itself",
                "decide the class of every row by themselves",
                format!("if that is only known once the class is, leave out with --ignore {option}"),
            ),
            Kind::Date => (
                "holds dates, which are read as categories",
                "hold dates, which are read as categories",
                format!(
                    "turn them into numbers such as days since a date, or leave out with --ignore {option}"
                ),
            ),
            Kind::DecimalComma => (
                "holds numbers with decimal commas, which are read as categories",
                "hold numbers with decimal commas, which are read as categories",
                "read text files with --decimal , or write the numbers with decimal points".into(),
            ),
            Kind::Unit => (
                "holds numbers with a unit, which are read as categories",
                "hold numbers with a unit, which are read as categories",
                format!("write the numbers alone, or leave out with --ignore {option}"),
            ),
            Kind::Id => (
                "names or numbers the rows and tells nothing about new ones",
                "name or number the rows and tell nothing about new ones",
                format!("leave out with --ignore {option}"),
            ),
            Kind::Code => (
                "looks like codes rather than quantities",
                "look like codes rather than quantities",
                format!(
                    "read as categories with --categorical {option}, or leave out with --ignore {option}"
                ),
            ),
            Kind::Constant => (
                "has no two different values",
                "have no two different values",
                format!("leave out with --ignore {option}"),
            ),
        };
        let what = if names.len() == 1 { one } else { many };
        Doubt { problem: format!("{columns} `{list}`{more} {what}"), remedy }
    }
}

/// Number of distinct observed values.
pub(crate) fn distinct(column: &Column) -> usize {
    match column.data() {
        ColumnData::Numeric(n) => {
            let mut values: Vec<f64> = n.iter().flatten().map(|v| v + 0.0).collect();
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            values.len()
        }
        ColumnData::Categorical(c) => c.n_distinct(),
    }
}

/// Whether no two observed values differ.
fn is_constant(column: &Column) -> bool {
    let ColumnData::Numeric(n) = column.data() else { return distinct(column) <= 1 };
    let mut values = n.iter().flatten();
    let first = values.next();
    values.all(|v| Some(v) == first)
}

/// Categories that name nearly every row, or whole numbers that count the rows.
pub(crate) fn is_id_like(column: &Column) -> bool {
    let observed = column.len() - column.n_missing();
    if observed < ID_ROWS {
        return false;
    }
    match column.data() {
        ColumnData::Categorical(c) => c.names_rows(),
        ColumnData::Numeric(n) => {
            let range = || {
                let wider = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
                let (low, high) = n.iter().flatten().fold((f64::INFINITY, f64::NEG_INFINITY), wider);
                high - low
            };
            let whole = n.iter().flatten().all(|v| v.fract() == 0.0);
            whole && range() < 2.0 * observed as f64 && distinct(column) == observed
        }
    }
}

/// Columns with the same cells as an earlier one.
pub(crate) fn duplicates(columns: &[Column]) -> Vec<(String, String)> {
    let mut first: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let alike = first.entry(content_hash(column)).or_default();
        match alike.iter().find(|&&j| columns[j].data() == column.data()) {
            Some(&j) => found.push((column.name().to_string(), columns[j].name().to_string())),
            None => alike.push(i),
        }
    }
    found
}

/// Columns that repeat others, with those.
fn repeats(repeated: &[(String, String)]) -> Option<Doubt> {
    if let [(column, first)] = repeated {
        return Some(Doubt {
            problem: format!("column `{column}` repeats column `{first}`"),
            remedy: format!("leave one out with --ignore {column}"),
        });
    }
    let shown = &repeated[..repeated.len().min(NAMED)];
    let pairs: Vec<String> =
        shown.iter().map(|(column, first)| format!("`{column}` (as `{first}`)")).collect();
    let names: Vec<&str> = shown.iter().map(|(column, _)| column.as_str()).collect();
    let rest = repeated.len() - shown.len();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!repeated.is_empty()).then(|| Doubt {
        problem: format!("columns {}{more} repeat others", pairs.join(", ")),
        remedy: format!("leave out with --ignore {}", names.join(",")),
    })
}

fn content_hash(column: &Column) -> u64 {
    let mut hasher = DefaultHasher::new();
    match column.data() {
        ColumnData::Numeric(n) => n.iter().for_each(|v| v.map(|v| (v + 0.0).to_bits()).hash(&mut hasher)),
        ColumnData::Categorical(c) => c.codes().iter().for_each(|code| code.hash(&mut hasher)),
    }
    hasher.finish()
}

/// Whether most texts of a column look like something.
fn most_look(column: &Categorical, looks: fn(&str) -> bool) -> bool {
    let texts = column.categories();
    let alike = texts.iter().filter(|text| looks(text.trim())).count();
    alike > 0 && alike as f64 >= ALIKE * texts.len() as f64
}

/// Three numbers between `-`, `/` or `.`, a year of four digits first or last, and perhaps a time.
fn is_date(text: &str) -> bool {
    let day = text.split([' ', 'T']).next().unwrap_or_default();
    ['-', '/', '.'].iter().any(|&mark| {
        let parts: Vec<&str> = day.split(mark).collect();
        let is = |part: &str, digits: std::ops::RangeInclusive<usize>, most: u32| {
            let number = part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse::<u32>().ok()).flatten();
            digits.contains(&part.len()) && number.is_some_and(|n| n <= most)
        };
        let small = |part: &str| is(part, 1..=2, 31);
        match parts[..] {
            [a, b, c] => small(b) && ((is(a, 4..=4, 2999) && small(c)) || (small(a) && is(c, 4..=4, 2999))),
            _ => false,
        }
    })
}

/// Digits, a comma, digits.
fn is_decimal_comma(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    unsigned.split_once(',').is_some_and(|(whole, fraction)| digits(whole) && digits(fraction))
}

/// Numbers of which most have the same few letters or signs behind them: `12 %`, `3.5kg`.
fn has_unit(column: &Categorical) -> bool {
    let unit = |text: &String| {
        let number = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let unit = text[number.len()..].trim();
        let is_number = parse_number(number).is_some() || is_decimal_comma(number);
        (is_number && (1..=UNIT_LENGTH).contains(&unit.chars().count())).then(|| unit.to_string())
    };
    let texts = column.categories();
    let Some(first) = texts.iter().find_map(unit) else { return false };
    let alike = texts.iter().filter(|text| unit(text).as_ref() == Some(&first)).count();
    alike >= UNIT_VALUES && alike as f64 >= ALIKE * texts.len() as f64
}

/// Many whole numbers of the same five digits or more that come again and again, as post codes do.
fn is_code(column: &Column) -> bool {
    let ColumnData::Numeric(n) = column.data() else { return false };
    let mut values = n.iter().flatten();
    let Some(first) = values.next() else { return false };
    let digits = |v: f64| v.abs().log10().floor();
    let like_first = |v: f64| v.fract() == 0.0 && v >= 1e4 && digits(v) == digits(first);
    if !like_first(first) || !values.all(like_first) {
        return false;
    }
    let different = distinct(column);
    different >= MANY_NUMBERS && 2 * different <= column.len() - column.n_missing()
}

/// Whether the values alone tell the class of every row: one class for each category, or for each stretch of numbers.
fn decides(column: &Column, data: &Dataset) -> bool {
    let n = data.class.len();
    if n < LEAK_ROWS || column.n_missing() > 0 || data.class.iter().any(|c| c.is_none()) {
        return false;
    }
    match column.data() {
        ColumnData::Categorical(c) => {
            let mut class = vec![None; c.categories().len()];
            let agrees = c
                .codes()
                .iter()
                .zip(data.class.iter())
                .all(|(code, own)| code.is_some_and(|code| class[code].get_or_insert(own) == &own));
            agrees && LEAK_ROWS_PER_VALUE * distinct(column) <= n
        }
        ColumnData::Numeric(x) => {
            let mut stretches = vec![(f64::INFINITY, f64::NEG_INFINITY); data.classes.len()];
            for (v, class) in x.iter().flatten().zip(data.class.iter()) {
                if let Some((low, high)) = class.and_then(|c| stretches.get_mut(c)) {
                    (*low, *high) = (low.min(v), high.max(v));
                }
            }
            stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
            stretches.windows(2).all(|w| w[0].1 < w[1].0)
        }
    }
}

/// A target of many different numbers is to be estimated, not classified.
fn target_doubt(data: &Dataset) -> Option<Doubt> {
    let numbers: Option<Vec<f64>> = data.classes.iter().map(|c| c.parse::<f64>().ok()).collect();
    let k = data.classes.len();
    let is_quantity = |numbers: Vec<f64>| {
        k >= MANY_NUMBERS && (numbers.iter().any(|v| v.fract() != 0.0) || k * MANY_NUMBERS >= data.n_rows())
    };
    numbers.is_some_and(is_quantity).then(|| Doubt {
        problem: format!("the target `{}` has {k} different numbers, and each becomes a class", data.target),
        remedy: "cut it into a few classes first; quantities are estimated by regression, which this is not"
            .into(),
    })
}

/// Classes with next to no rows.
fn rare_classes(data: &Dataset) -> Option<Doubt> {
    let mut rows = vec![0; data.classes.len()];
    data.class.iter().flatten().for_each(|c| rows[c] += 1);
    let rare: Vec<String> = (0..rows.len())
        .filter(|&c| rows[c] < FEW_ROWS)
        .map(|c| format!("`{}` ({})", data.classes[c], rows[c]))
        .collect();
    let rest = rare.len().saturating_sub(NAMED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!rare.is_empty()).then(|| Doubt {
        problem: format!(
            "too few rows to learn or judge the class {}{more}",
            rare[..rare.len() - rest].join(", ")
        ),
        remedy: "add rows, or merge rare classes".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_data::table::{Codes, Table};

    const N: usize = 60;

    fn texts(name: &str, text: impl Fn(usize) -> String) -> Column {
        let cells: Vec<String> = (0..N).map(text).collect();
        let mut categories = cells.clone();
        categories.sort();
        categories.dedup();
        let code = |cell: &String| categories.iter().position(|c| c == cell);
        let codes = Codes::from_options(categories.len(), cells.iter().map(code));
        Column::categorical(name, categories, codes)
    }

    fn numbers(name: &str, value: impl Fn(usize) -> f64) -> Column {
        Column::numeric(name, (0..N).map(value).collect())
    }

    /// Rows of the classes a and b in turn.
    fn dataset(columns: Vec<Column>) -> Dataset {
        Dataset {
            target: "y".into(),
            features: Table::new(columns).unwrap(),
            classes: vec!["a".into(), "b".into()],
            class: Codes::from_options(2, (0..N).map(|m| Some(m % 2))),
            weights: None,
        }
    }

    fn told(columns: Vec<Column>) -> Vec<String> {
        doubts(&dataset(columns)).iter().map(Doubt::to_string).collect()
    }

    #[test]
    fn each_doubt_names_its_columns_and_its_remedy() {
        let spread = |m: usize| (m * 37 % 60) as f64;
        let cases: Vec<(Column, &str)> = vec![
            (texts("born", |m| format!("19{:02}-0{}-1{}", m % 37, m % 9 + 1, m % 9)), "dates"),
            (texts("seen", |m| format!("{}.{}.2020 10:00", m % 28 + 1, m % 12 + 1)), "dates"),
            (texts("size", |m| format!("{},{}", m * 7 % 23, m % 10)), "decimal commas"),
            (texts("mass", |m| format!("{}.5 kg", m * 7 % 23)), "numbers with a unit"),
            (texts("share", |m| format!("{}%", m * 7 % 23)), "numbers with a unit"),
            (texts("name", |m| format!("Mr {m}")), "names or numbers the rows"),
            (numbers("row", |m| m as f64 + 1.0), "names or numbers the rows"),
            (numbers("zip", |m| 10_000.0 + 997.0 * (spread(m) / 2.0).floor()), "codes"),
            (numbers("same", |_| 2.0), "no two different values"),
            (
                texts("verdict", |m| ["guilty", "free", "fled", "free"][m % 4].replace("fled", "guilty")),
                "decides",
            ),
            (numbers("score", |m| (m % 2) as f64 * 100.0 + spread(m) / 7.0), "decides"),
        ];
        for (column, problem) in cases {
            let name = column.name().to_string();
            let found = told(vec![column]);
            assert!(found.len() == 1 && found[0].contains(problem), "{name}: {found:?}");
            assert!(found[0].contains(&format!("`{name}`")), "{found:?}");
            assert!(
                problem == "decimal commas" || found[0].contains(&format!("--ignore {name}")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn ordinary_columns_are_not_doubted() {
        let found = told(vec![
            numbers("age", |m| (20 + m * 13 % 50) as f64),
            numbers("income", |m| 900.0 * (1.0 + (m * 17 % 60) as f64)),
            numbers("year", |m| 1950.0 + (m * 7 % 50) as f64),
            numbers("grade", |m| (m * 5 % 7) as f64),
            texts("colour", |m| ["red", "green", "blue"][m % 3].into()),
            texts("version", |m| format!("1.{}.{}", m / 2 % 4, m % 3)),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn constants_are_told_once() {
        let found = told(vec![
            numbers("a", |m| (m * 37 % 60) as f64 * 0.5),
            numbers("one", |_| 1.0),
            numbers("two", |_| 1.0),
        ]);
        assert!(found.len() == 1 && found[0].contains("`one`, `two`"), "{found:?}");
    }

    #[test]
    fn repeated_columns_rare_classes_and_quantities_as_target_are_told() {
        let mut data = dataset(vec![
            numbers("a", |m| (m * 37 % 60) as f64 * 0.5),
            numbers("b", |m| (m * 37 % 60) as f64 * 0.5),
        ]);
        data.classes.push("c".into());
        let found: Vec<String> = doubts(&data).iter().map(Doubt::to_string).collect();
        assert!(found.len() == 2 && found[0].contains("`b` repeats column `a`"), "{found:?}");
        assert!(found[1].contains("`c` (0)"), "{found:?}");
        data.classes = (0..30).map(|c| format!("{}.5", c)).collect();
        data.class = Codes::from_options(30, (0..N).map(|m| Some(m % 30)));
        assert!(doubts(&data)[0].problem.contains("30 different numbers"), "{:?}", doubts(&data));
    }

    #[test]
    fn columns_that_repeat_others_share_one_line() {
        let columns =
            (0..9).map(|j| numbers(&format!("x{j}"), move |m| ((m * 37 + j % 2) % 60) as f64 * 0.5));
        let found = told(columns.collect());
        assert_eq!(found.len(), 1, "{found:?}");
        let told = "columns `x2` (as `x0`), `x3` (as `x1`), `x4` (as `x0`), `x5` (as `x1`), `x6` (as `x0`) and 2 more repeat others";
        assert_eq!(found[0], format!("{told}; leave out with --ignore x2,x3,x4,x5,x6"));
    }

    #[test]
    fn many_columns_share_one_line() {
        let columns =
            (0..8).map(|j| texts(&format!("id{j}"), move |m| format!("{}", (m * 7 + j) * 31 % 101 + 1000)));
        let found = told(columns.collect());
        assert!(found.len() == 1 && found[0].contains("`id4` and 3 more name"), "{found:?}");
    }
}
