//! Tables as nobody should have them, with every model: a fit is refused with an error about the data, or whatever the
//! model is asked has finite answers. `HINGENET_DEGENERATE=all` fits every model to every table (two minutes of processor
//! time), `HINGENET_DEGENERATE=3/8` to every eighth table, from the third on; without it each table takes its turn with some of the models.

use hingenet::Control;
use hingenet::model::{Dataset, FitOptions, OptionKind, fit, models};
use hingenet::table::{Codes, Column, Table};
use hingenet_base::error::Error;
use hingenet_base::numeric::random::Random;
use hingenet_hostile::answers::problems;
use hingenet_hostile::{peak, processor_time};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

/// Every so many models are tried with a table, unless all are.
const STRIDE: usize = 41;
/// Processor time and memory that a fit and all its answers may take.
const MOST: Duration = Duration::from_secs(60);
const MOST_BYTES: usize = 2 << 30;
const ROWS: usize = 40;

/// A column, made for the classes of the rows.
type Make = fn(&str, &[usize], &mut Random) -> Column;

fn numbers(name: &str, classes: &[usize], mut value: impl FnMut(usize, usize) -> f64) -> Column {
    Column::numeric(name, classes.iter().enumerate().map(|(m, &c)| value(m, c)).collect())
}

fn states(name: &str, classes: &[usize], mut state: impl FnMut(usize, usize) -> Option<usize>) -> Column {
    let found: Vec<Option<usize>> = classes.iter().enumerate().map(|(m, &c)| state(m, c)).collect();
    let n = found.iter().flatten().max().map_or(0, |s| s + 1);
    let names = (0..n).map(|s| format!("s{s}")).collect();
    Column::categorical(name, names, Codes::from_options(n, found.into_iter()))
}

/// Columns that ask for trouble.
const COLUMNS: [(&str, Make); 30] = [
    ("constant number", |n, c, _| numbers(n, c, |_, _| 3.0)),
    ("constant category", |n, c, _| states(n, c, |_, _| Some(0))),
    ("missing number", |n, c, _| numbers(n, c, |_, _| f64::NAN)),
    ("missing category", |n, c, _| states(n, c, |_, _| None)),
    ("one number", |n, c, _| numbers(n, c, |m, _| if m == 0 { 1.0 } else { f64::NAN })),
    ("one category", |n, c, _| states(n, c, |m, _| (m == 0).then_some(0))),
    ("two numbers", |n, c, _| numbers(n, c, |m, _| f64::from(u8::from(m == 1)))),
    ("huge", |n, c, r| numbers(n, c, |_, k| 1e300 * (1.0 + r.uniform() + k as f64))),
    ("tiny", |n, c, r| numbers(n, c, |_, k| 1e-300 * (1.0 + r.uniform() + k as f64))),
    ("huge and tiny", |n, c, r| numbers(n, c, |m, _| if m % 2 == 0 { 1e300 } else { 1e-300 * r.uniform() })),
    ("largest", |n, c, _| numbers(n, c, |m, _| if m % 2 == 0 { f64::MAX } else { f64::MIN })),
    ("denormal", |n, c, _| numbers(n, c, |m, k| (m % 3 + k) as f64 * 5e-324)),
    ("signed zeros", |n, c, _| numbers(n, c, |m, _| if m % 2 == 0 { 0.0 } else { -0.0 })),
    ("nearly constant", |n, c, _| numbers(n, c, |m, _| 1.0 + (m % 5) as f64 * f64::EPSILON)),
    ("shifted", |n, c, r| numbers(n, c, |_, k| 1e15 + r.normal() + k as f64)),
    ("outlier", |n, c, r| numbers(n, c, |m, k| if m == 7 { 1e12 } else { r.normal() + k as f64 })),
    ("number of the row", |n, c, _| numbers(n, c, |m, _| m as f64)),
    ("name of the row", |n, c, _| states(n, c, |m, _| Some(m))),
    ("class as number", |n, c, _| numbers(n, c, |_, k| k as f64)),
    ("class as category", |n, c, _| states(n, c, |_, k| Some(k))),
    ("other classes", |n, c, _| states(n, c, |m, k| Some((k + 1 + m % 2) % 3))),
    ("constant in a class", |n, c, r| numbers(n, c, |_, k| if k == 0 { 2.0 } else { r.normal() })),
    ("missing in a class", |n, c, r| numbers(n, c, |_, k| if k == 0 { f64::NAN } else { r.normal() })),
    ("category missing in a class", |n, c, _| states(n, c, |m, k| (k > 0).then_some(m % 3))),
    ("category of a class", |n, c, _| states(n, c, |m, k| Some(if k == 1 { 2 } else { m % 2 }))),
    ("rare category", |n, c, _| states(n, c, |m, _| Some(usize::from(m == 3)))),
    ("many categories", |n, c, _| states(n, c, |m, _| Some(m / 2))),
    ("mostly missing", |n, c, r| numbers(n, c, |m, _| if m % 9 == 0 { r.normal() } else { f64::NAN })),
    ("ties", |n, c, _| numbers(n, c, |m, k| (m % 2 + k) as f64)),
    ("ordinary", |n, c, r| numbers(n, c, |_, k| r.normal() + k as f64)),
];

/// Columns that ask for trouble together.
const TOGETHER: [&[&str]; 9] = [
    &["missing number", "missing category"],
    &["huge", "largest", "tiny"],
    &["name of the row", "number of the row"],
    &["class as category", "class as number", "ordinary"],
    &["many categories", "many categories", "many categories"],
    &["nearly constant", "shifted"],
    &["mostly missing", "mostly missing", "mostly missing", "mostly missing"],
    &["denormal", "signed zeros"],
    &["missing in a class", "category missing in a class", "constant in a class"],
];

/// Rows of each class.
const CLASSES: [(&str, &[usize]); 10] = [
    ("one row a class", &[1, 1]),
    ("two rows a class", &[2, 2]),
    ("three rows", &[2, 1]),
    ("a class of one row", &[20, 1]),
    ("a class of two rows", &[2, 20, 20]),
    ("many small classes", &[2; 20]),
    ("classes of one row", &[1; 8]),
    ("one in fifty", &[49, 1]),
    ("an empty class", &[10, 0, 10]),
    ("five rows a class", &[5, 5, 5]),
];

fn codes(sizes: &[usize]) -> Vec<usize> {
    sizes.iter().enumerate().flat_map(|(c, &n)| std::iter::repeat_n(c, n)).collect()
}

fn dataset(columns: &[Make], sizes: &[usize]) -> Dataset {
    let (class, mut random) = (codes(sizes), Random::new(5));
    let column = |(j, make): (usize, &Make)| make(&format!("c{j}"), &class, &mut random);
    let features: Vec<Column> = columns.iter().enumerate().map(column).collect();
    let features = Table::new(features).unwrap();
    let names = (0..sizes.len()).map(|c| format!("k{c}")).collect();
    let class = Codes::from_options(sizes.len(), class.into_iter().map(Some));
    Dataset::from_parts("class", features, names, class, None).unwrap()
}

/// Every table with its name.
fn tables() -> Vec<(String, Dataset)> {
    let ordinary: Make = COLUMNS[29].1;
    let ties: Make = COLUMNS[28].1;
    let category: Make = COLUMNS[24].1;
    let three = [14, 13, 13];
    let mut all = vec![
        ("all columns at once".to_string(), dataset(&COLUMNS.map(|(_, make)| make), &three)),
        ("more columns than rows".to_string(), dataset(&[ordinary; 60], &[4, 4])),
        ("copies of a column".to_string(), dataset(&[ties; 6], &three)),
        ("equal rows".to_string(), dataset(&[COLUMNS[0].1, COLUMNS[1].1], &three)),
    ];
    for (name, make) in COLUMNS {
        all.push((format!("{name} alone"), dataset(&[make], &three)));
        all.push((format!("{name} among others"), dataset(&[ordinary, make, category, ordinary], &three)));
    }
    for names in TOGETHER {
        let make = |name: &&str| COLUMNS.iter().find(|(n, _)| n == name).unwrap().1;
        all.push((names.join(", "), dataset(&names.iter().map(make).collect::<Vec<_>>(), &three)));
    }
    for (name, sizes) in CLASSES {
        all.push((name.to_string(), dataset(&[ordinary, category, ties], sizes)));
    }
    for (name, weight) in [("tiny", 1e-290), ("huge", 1e11), ("uneven", 0.0)] {
        let mut data = dataset(&[ordinary, category, ties], &three);
        let weight = |m: usize| if weight > 0.0 { weight } else { 10f64.powi((m % 9) as i32 - 6) };
        data.weights = Some((0..ROWS).map(weight).collect());
        all.push((format!("{name} weights"), data));
    }
    all
}

fn specs() -> Vec<String> {
    let spec = |name: &str| match name {
        "pool" => "pool,fast=true".to_string(),
        dag if dag.starts_with("dag:") => format!("{dag},edges=class->c0"),
        other => other.to_string(),
    };
    models().iter().map(|m| spec(m.name)).collect()
}

/// Memory is counted for the whole process, so the tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// What is wrong with a fit, with the answers of its model or with what they take; `None` if nothing is.
fn trouble(spec: &str, data: &Dataset, is_refusal: fn(&Error) -> bool) -> Option<String> {
    let (start, mut found) = (processor_time(), None);
    let bytes = peak(|| {
        let answered = catch_unwind(AssertUnwindSafe(|| wrong_answer(spec, data, is_refusal)));
        found = answered.unwrap_or_else(|_| Some("panics".into()));
    });
    let taken = processor_time() - start;
    if taken > MOST || bytes > MOST_BYTES {
        found.get_or_insert(format!("took {:.0} s and {bytes} bytes", taken.as_secs_f64()));
    }
    found
}

/// Whether an error speaks of the data.
fn is_about_data(error: &Error) -> bool {
    !matches!(error, Error::Numeric { .. } | Error::Parameter { .. } | Error::Shape { .. })
}

/// Whether an error speaks of the data, or of an option (some do not go with others).
fn is_about_data_or_options(error: &Error) -> bool {
    is_about_data(error) || matches!(error, Error::Parameter { .. })
}

/// What is wrong with a fit or with the answers of its model.
fn wrong_answer(spec: &str, data: &Dataset, is_refusal: fn(&Error) -> bool) -> Option<String> {
    let model = match fit(&spec.parse().unwrap(), data, FitOptions::default(), &Control::default()) {
        Ok(model) => model,
        // a table without the column that the graph names
        Err(Error::Graph { .. } | Error::Column { .. }) if spec.starts_with("dag:") => return None,
        Err(e) if e.to_string().is_empty() => return Some("the fit fails without a word".into()),
        Err(e) if is_refusal(&e) => return None,
        Err(e) => return Some(format!("the fit fails: {e}")),
    };
    let bytes = match model.to_bytes() {
        Ok(bytes) => bytes,
        Err(e) => return Some(format!("cannot be saved: {e}")),
    };
    let (loads, found) = problems(&bytes, &data.features);
    if !loads {
        return Some("its file is refused".into());
    }
    found.into_iter().next()
}

/// Whether a table is to be tried with a model, by their numbers.
fn chosen() -> impl Fn(usize, usize) -> bool {
    let (first, step) = match std::env::var("HINGENET_DEGENERATE").as_deref() {
        Err(_) => (0, 0),
        Ok("all") => (0, 1),
        Ok(part) => {
            let (first, of) = part.split_once('/').expect("`all`, or a part such as `3/8`");
            (first.parse::<usize>().unwrap() - 1, of.parse().unwrap())
        }
    };
    move |table, model| match step {
        0 => (table + model) % STRIDE == 0,
        _ => table % step == first,
    }
}

#[test]
fn degenerate_tables_are_refused_or_answered() {
    let _turn = TURN.lock();
    let (tables, specs, is_chosen) = (tables(), specs(), chosen());
    let (mut tried, mut wrong) = (0, Vec::new());
    for (t, (name, data)) in tables.iter().enumerate() {
        let start = processor_time();
        for (_, spec) in specs.iter().enumerate().filter(|(s, _)| is_chosen(t, *s)) {
            tried += 1;
            wrong
                .extend(trouble(spec, data, is_about_data).map(|what| format!("{spec} on `{name}`: {what}")));
        }
        eprintln!("{t} `{name}`: {:.0} s, {} wrong", (processor_time() - start).as_secs_f64(), wrong.len());
    }
    assert_eq!(tables.len(), 86);
    eprintln!("{tried} fits, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The least and the largest values of an option that are allowed, as far as there are any.
fn extremes(kind: &OptionKind) -> Vec<String> {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    match kind {
        OptionKind::Number(low, high) => {
            let low = match low {
                Included(x) => *x,
                Excluded(x) => x.next_up(),
                Unbounded => f64::MIN,
            };
            let high = match high {
                Included(x) => *x,
                Excluded(x) => x.next_down(),
                Unbounded => f64::MAX,
            };
            [low, high].iter().map(|x| format!("{x:e}")).collect()
        }
        OptionKind::Whole(low, usize::MAX) => vec![low.to_string()],
        OptionKind::Whole(low, high) => vec![low.to_string(), high.to_string()],
        OptionKind::Word(_) | OptionKind::Text { .. } => Vec::new(),
    }
}

/// Every value that an option may have gives a model, or an error about the data or about an option.
#[test]
fn extreme_options_are_refused_or_answered() {
    let _turn = TURN.lock();
    let [ordinary, ties, category] = [29, 28, 24].map(|at| COLUMNS[at].1);
    let data = dataset(&[ordinary, category, ties, ordinary], &[14, 13, 13]);
    let (mut tried, mut wrong) = (0, Vec::new());
    for (model, spec) in models().iter().zip(specs()) {
        let start = processor_time();
        for option in model.options {
            for value in extremes(&option.kind) {
                let spec = format!("{spec},{}={value}", option.key);
                tried += 1;
                wrong.extend(
                    trouble(&spec, &data, is_about_data_or_options).map(|what| format!("{spec}: {what}")),
                );
            }
        }
        eprintln!("{spec}: {:.1} s, {} wrong", (processor_time() - start).as_secs_f64(), wrong.len());
    }
    eprintln!("{tried} fits, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
