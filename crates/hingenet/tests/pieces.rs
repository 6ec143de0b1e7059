//! A table in pieces gives the model of the whole: the same bytes for maximum likelihood, however the rows are dealt and
//! in whatever order the statistics are merged, as they would be on many machines.

use hingenet::evaluate::{Plan, Protocol, TestRows, TestSet, TrainingPieces, compare};
use hingenet::model::{Dataset, FitOptions, Fitted, Gathered, Model, PieceFit, PieceTable, fit};
use hingenet::table::{Codes, Column, ColumnData, Places, ReadOptions, Table, UnseenPolicy};
use hingenet::{Control, Error, Result};
use hingenet_base::numeric::random::Random;
use hingenet_data::pieces::Draw;
use hingenet_gaussian::StructureMethod;
use hingenet_gaussian::structure::{Constraints, SearchParams, TestLearner};
use hingenet_gaussian::study::{StudyParams, study_moments, study_networks};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a table is made.
#[derive(Clone, Copy, Default)]
struct Kind {
    rows: usize,
    gaps: bool,
    weights: bool,
}

/// Numbers, categories and a class that hang together; row 0 alone has the category `rare`, and the class `c` begins late.
fn table(kind: Kind) -> Table {
    let mut random = Random::new(7);
    let n = kind.rows;
    let class: Vec<usize> =
        (0..n).map(|m| if m > 2 * n / 3 { random.below(3) } else { random.below(2) }).collect();
    let gap = |x: f64, random: &mut Random| if kind.gaps && random.below(6) == 0 { f64::NAN } else { x };
    let shift = |m: usize| class[m] as f64;
    let first: Vec<f64> = (0..n).map(|m| random.normal() + shift(m)).collect();
    let a = first.iter().map(|x| gap(*x, &mut random)).collect();
    let b = first.iter().enumerate().map(|(m, x)| (x + shift(m) + random.normal()).round() + 0.0);
    let b: Vec<f64> = b.collect();
    let colour = |m: usize, random: &mut Random| match m {
        0 => Some(3),
        _ if kind.gaps && m.is_multiple_of(5) => None,
        _ => Some(random.below(2) + usize::from(class[m] == 2 || random.below(9) == 0)),
    };
    let colours: Vec<Option<usize>> = (0..n).map(|m| colour(m, &mut random)).collect();
    let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let mut columns = vec![
        Column::numeric("a", a),
        Column::numeric("b", b),
        Column::categorical(
            "colour",
            names(&["blue", "green", "red", "violet"]),
            Codes::from_options(4, colours.into_iter()),
        ),
        Column::numeric("empty", vec![f64::NAN; n]),
        Column::numeric("still", vec![2.5; n]),
        Column::categorical(
            "class",
            names(&["x", "y", "z"]),
            Codes::from_options(3, class.into_iter().map(Some)),
        ),
    ];
    if kind.weights {
        columns.push(Column::numeric("times", (0..n).map(|m| (m % 4) as f64).collect()));
    }
    Table::new(columns).unwrap()
}

/// Some rows as a reader would give them: with the categories that occur in them.
fn piece(table: &Table, rows: &[usize]) -> Table {
    let part = table.rows(rows);
    let as_read = |column: &Column| match column.data() {
        ColumnData::Numeric(_) => column.clone(),
        ColumnData::Categorical(c) => {
            let kept: Vec<String> = c
                .categories()
                .iter()
                .enumerate()
                .filter(|(j, _)| c.codes().iter().any(|x| x == Some(*j)))
                .map(|(_, s)| s.clone())
                .collect();
            Column::categorical(column.name(), kept.clone(), c.recode(&kept))
        }
    };
    Table::new(part.columns().iter().map(as_read).collect()).unwrap()
}

/// The rows dealt at random to so many pieces, of which one is empty if there are more than two.
fn dealt(table: &Table, pieces: usize) -> Vec<Table> {
    let mut random = Random::new(pieces as u64);
    let mut rows = vec![Vec::new(); pieces];
    (0..table.n_rows())
        .for_each(|m| rows[random.below(if pieces > 2 { pieces - 1 } else { pieces })].push(m));
    rows.iter_mut().for_each(|rows| rows.reverse());
    rows.iter().map(|rows| piece(table, rows)).collect()
}

/// One after the other or by halves.
fn merged(mut parts: Vec<Gathered>, control: &Control) -> Result<Gathered> {
    while parts.len() > 1 {
        let mut next = Vec::new();
        let mut rest = parts.into_iter().rev();
        while let Some(mut first) = rest.next() {
            if let Some(second) = rest.next() {
                first.merge(second)?;
            }
            next.push(Gathered::from_bytes(&first.to_bytes()?)?);
        }
        parts = next;
    }
    control.check()?;
    parts.pop().ok_or_else(|| Error::data("no pieces", ""))
}

fn in_pieces(spec: &str, pieces: &[Table], weights: Option<&str>) -> Result<Model> {
    let control = Control::default();
    let mut fit = PieceFit::new(&spec.parse()?, "class", weights, FitOptions::default())?;
    loop {
        let task = fit.task()?;
        let gathered =
            pieces.iter().map(|piece| Gathered::of(&task, piece.clone(), &control)).collect::<Result<_>>()?;
        if let Some(model) = fit.advance(merged(gathered, &control)?, &control)? {
            return Ok(model);
        }
    }
}

fn in_memory(spec: &str, table: &Table, weights: Option<&str>) -> Model {
    let data = Dataset::new(table.clone(), "class", weights).unwrap();
    fit(&spec.parse().unwrap(), &data, FitOptions::default(), &Control::default()).unwrap()
}

const LIKELY: [&str; 6] =
    ["nb:ml", "tan:ml", "kdb2:ml", "kdb3:ml,alpha=0.5", "aode:ml", "dag:ml,edges=class->a;a->b;colour->b"];

#[test]
fn maximum_likelihood_has_the_bytes_of_the_whole_table() {
    for (gaps, weights) in [(false, false), (false, true), (true, false), (true, true)] {
        let table = table(Kind { rows: 400, gaps, weights });
        let weights = weights.then_some("times");
        for spec in LIKELY {
            let whole = in_memory(spec, &table, weights).to_bytes().unwrap();
            for pieces in [1, 2, 7, 32] {
                let model = in_pieces(spec, &dealt(&table, pieces), weights).unwrap();
                assert!(
                    model.to_bytes().unwrap() == whole,
                    "{spec} in {pieces} pieces, gaps {gaps}, weights {weights:?}"
                );
            }
        }
    }
}

/// Margins are proven to a gap: the predictions agree, and how the rows are dealt changes nothing.
#[test]
fn margins_do_not_depend_on_the_pieces() {
    let table = table(Kind { rows: 300, ..Kind::default() });
    for spec in
        ["tan:ml-bn-svm,lambda=2,gamma=1", "nb:bn-svm,lambda=1", "nb:mcl", "aode:ml-bn-svm,lambda=1,gamma=1"]
    {
        let first = in_pieces(spec, &dealt(&table, 1), None).unwrap();
        let other = in_pieces(spec, &dealt(&table, 7), None).unwrap();
        assert!(first.to_bytes().unwrap() == other.to_bytes().unwrap(), "{spec}");
        let whole = in_memory(spec, &table, None);
        let classes = |model: &Model| {
            let found = model.predict(&table, Default::default()).unwrap();
            (0..found.len()).map(|m| found.class(m)).collect::<Vec<_>>()
        };
        let objective = |model: &Model| model.facts.solver.as_ref().map_or(0.0, |s| s.objective);
        let (a, b) = (objective(&first), objective(&whole));
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{spec}: {a} and {b}");
        // the temperature of the probabilities comes from folds of other rows; the classes do not depend on it
        let agree = classes(&first).iter().zip(classes(&whole)).filter(|(x, y)| *x == y).count();
        assert!(agree >= 297, "{spec}: {agree} of 300");
    }
}

/// Networks of the classes from their moments, λ1 given, chosen, or not needed.
#[test]
fn gaussian_networks_have_the_bytes_of_the_whole_table() {
    for weights in [false, true] {
        let table = table(Kind { rows: 400, weights, ..Kind::default() });
        let table = table.split_off("empty").unwrap().1;
        let weights = weights.then_some("times");
        for spec in ["sgbn:or", "sgbn:or,lambda1=20", "sgbn:search", "sgbn:h,lambda1=20"] {
            let whole = in_memory(spec, &table, weights).to_bytes().unwrap();
            for pieces in [1, 2, 7, 32] {
                let model = in_pieces(spec, &dealt(&table, pieces), weights).unwrap();
                assert!(model.to_bytes().unwrap() == whole, "{spec} in {pieces} pieces, weights {weights:?}");
            }
        }
    }
}

/// Models that need rows get a sample of them, all if there are few.
#[test]
fn other_models_learn_from_the_same_rows_however_they_come() {
    let table = table(Kind { rows: 120, ..Kind::default() });
    for spec in ["sgbn:or,lambda1=5", "sgbn:mm,lambda1=5,k=30,nu=0.3", "kde-nb", "majority"] {
        let pieces = in_pieces(spec, &dealt(&table, 7), None).unwrap();
        assert!(pieces.to_bytes().unwrap() == in_memory(spec, &table, None).to_bytes().unwrap(), "{spec}");
    }
}

/// Density models of more rows than a sample has: their densities are those of all rows, however they come.
#[test]
fn densities_of_all_rows_do_not_depend_on_the_pieces() {
    let mut random = Random::new(5);
    let n = 21_500;
    let class: Vec<usize> = (0..n).map(|_| random.below(3)).collect();
    let x: Vec<f64> = class.iter().map(|c| *c as f64 + random.normal()).collect();
    let y: Vec<f64> = x.iter().zip(&class).map(|(x, c)| x * (*c as f64 - 1.0) + random.normal()).collect();
    let names = |r: usize| (0..r).map(|k| format!("s{k}")).collect::<Vec<_>>();
    let levels: Vec<Option<usize>> =
        y.iter().map(|y| Some(usize::from(*y > 0.0) + random.below(2))).collect();
    let class = Codes::from_options(4, class.into_iter().map(Some));
    let columns = vec![
        Column::numeric("x", x),
        Column::numeric("y", y),
        Column::categorical("l", names(3), Codes::from_options(3, levels.into_iter())),
        // the fourth class has no rows
        Column::categorical("class", names(4), class),
    ];
    let table = Table::new(columns).unwrap();
    for spec in ["kde-tan,bandwidth=normal", "slb,fraction=0.5,class_weights=none,bandwidth=normal"] {
        let first = in_pieces(spec, &dealt(&table, 2), None).unwrap();
        let other = in_pieces(spec, &dealt(&table, 7), None).unwrap();
        assert!(first.to_bytes().unwrap() == other.to_bytes().unwrap(), "{spec}");
        assert_eq!(first.facts.rows, n);
        let warning = &first.facts.warnings[0];
        assert!(warning.contains("its densities are those of all rows"), "{warning}");
        let read = Model::from_bytes(&first.to_bytes().unwrap()).unwrap();
        let right = |model: &Model| {
            let found = model.predict(&table, Default::default()).unwrap();
            let want = table.column(3).as_categorical().unwrap().codes();
            (0..n).filter(|&m| Some(found.class(m)) == want.get(m)).count() as f64 / n as f64
        };
        let whole = in_memory(spec, &table, None);
        assert!((right(&read) - right(&whole)).abs() < 0.003, "{} and {}", right(&read), right(&whole));
    }
}

/// A pool of more rows than a sample has: its kernel terms are those of the sample, the others those of all rows, however they
/// come. (That these are the counts and moments of all rows is shown beside them.)
#[test]
fn a_pool_of_many_rows_does_not_depend_on_the_pieces() {
    let mut random = Random::new(5);
    let n = 20_400;
    let class: Vec<usize> = (0..n).map(|_| random.below(2)).collect();
    let number = |shift: f64, random: &mut Random| -> Vec<f64> {
        class.iter().map(|c| shift * *c as f64 + random.normal()).collect()
    };
    let columns = vec![
        Column::numeric("a", number(3.0, &mut random)),
        Column::numeric("b", number(1.0, &mut random)),
        Column::categorical(
            "class",
            vec!["x".into(), "y".into()],
            Codes::from_options(2, class.iter().map(|c| Some(*c))),
        ),
    ];
    let table = Table::new(columns).unwrap();
    let bytes = |pieces: usize| in_pieces("pool,fast=true", &dealt(&table, pieces), None).unwrap();
    let (one, three) = (bytes(1), bytes(3));
    assert!(one.to_bytes().unwrap() == three.to_bytes().unwrap());
    assert_eq!(one.facts.rows, n);
    assert!(
        one.facts.warnings.iter().any(|w| w.contains("the other terms are those of all rows")),
        "{:?}",
        one.facts.warnings
    );
    let back = Model::from_bytes(&one.to_bytes().unwrap()).unwrap();
    let rows = table.rows(&(0..50).collect::<Vec<_>>());
    let answers = |model: &Model| model.predict(&rows, UnseenPolicy::Error).unwrap().log_proba;
    assert_eq!(answers(&back), answers(&one));
}

/// Readers that guess types take a column without any cell for one of texts.
#[test]
fn a_column_without_any_cell_in_a_piece_has_the_type_of_the_others() {
    let table = table(Kind { rows: 60, ..Kind::default() });
    let halves = [piece(&table, &(0..30).collect::<Vec<_>>()), piece(&table, &(30..60).collect::<Vec<_>>())];
    let with = |table: &Table, column: Column| {
        let columns = table.columns().iter();
        let columns = columns.map(|c| if c.name() == column.name() { column.clone() } else { c.clone() });
        Table::new(columns.collect()).unwrap()
    };
    let none = Codes::from_options(0, std::iter::repeat_n(None, 30));
    let empty = with(&halves[1], Column::categorical("a", Vec::new(), none));
    let missing = with(&halves[1], Column::numeric("a", vec![f64::NAN; 30]));
    for spec in ["tan:ml", "sgbn:or,lambda1=5"] {
        let wanted =
            in_pieces(spec, &[halves[0].clone(), missing.clone()], None).unwrap().to_bytes().unwrap();
        for pieces in [[halves[0].clone(), empty.clone()], [empty.clone(), halves[0].clone()]] {
            assert!(in_pieces(spec, &pieces, None).unwrap().to_bytes().unwrap() == wanted, "{spec}");
        }
    }
}

#[test]
fn pieces_that_do_not_fit_together_are_refused() {
    let table = table(Kind { rows: 60, ..Kind::default() });
    let whole = piece(&table, &(0..60).collect::<Vec<_>>());
    let control = Control::default();
    let with = |column: Column| {
        let columns = whole
            .columns()
            .iter()
            .map(|c| if c.name() == column.name() { column.clone() } else { c.clone() });
        Table::new(columns.collect()).unwrap()
    };
    let texts = with(Column::categorical("a", vec!["low".into()], Codes::U8(vec![0; 60])));
    let error = in_pieces("tan:ml", &[whole.clone(), texts], None).unwrap_err().to_string();
    assert!(error.contains("`a`") && error.contains("texts"), "{error}");
    let fewer = whole.clone().split_off("b").unwrap().1;
    let error = in_pieces("tan:ml", &[whole.clone(), fewer], None).unwrap_err().to_string();
    assert!(error.contains("`b`") && error.contains("not in another"), "{error}");
    let one_class = piece(
        &table,
        &(0..60).filter(|&m| table.by_name("class").unwrap().text(m).unwrap() == "x").collect::<Vec<_>>(),
    );
    assert!(in_pieces("nb:ml", &[one_class], None).unwrap_err().to_string().contains("one class only"));
    let halves = with(Column::numeric("b", vec![0.5; 60]));
    let task = PieceFit::new(&"nb:ml".parse().unwrap(), "class", Some("b"), FitOptions::default())
        .unwrap()
        .task()
        .unwrap();
    assert!(Gathered::of(&task, halves, &control).unwrap_err().to_string().contains("whole"));
    let task = PieceFit::new(&"nb:ml".parse().unwrap(), "class", None, FitOptions::default())
        .unwrap()
        .task()
        .unwrap();
    let bytes =
        Gathered::of(&task, whole.clone(), &control).unwrap_or_else(|e| panic!("{e}")).to_bytes().unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(Gathered::from_bytes(&damaged).is_err());
        assert!(Gathered::from_bytes(&bytes[..at]).is_err());
    }
    assert!(Gathered::of(&bytes, whole, &control).is_err() && Model::from_bytes(&bytes).is_err());
}

/// Rows learnt later or elsewhere, in the states of the first fit, count as if they had been there.
#[test]
fn models_that_keep_their_statistics_can_be_merged() {
    let control = Control::default();
    let table = table(Kind { rows: 400, ..Kind::default() }).split_off("empty").unwrap().1;
    let of = |rows: std::ops::Range<usize>| {
        Dataset::new(table.rows(&rows.collect::<Vec<_>>()), "class", None).unwrap()
    };
    let keep = FitOptions { keep_statistics: true, ..FitOptions::default() };
    for spec in LIKELY.iter().chain(&["sgbn:search", "sgbn:or,lambda1=20"]) {
        let spec = spec.parse().unwrap();
        let first = fit(&spec, &of(0..400), keep, &control).unwrap();
        assert_eq!(first.fitted, fit(&spec, &of(0..400), FitOptions::default(), &control).unwrap().fitted);
        let first = Model::from_bytes(&first.to_bytes().unwrap()).unwrap();
        assert!(first.keeps_statistics());
        let parts = [of(0..130), of(130..320), of(320..400)];
        let [a, b, c] = parts.map(|part| first.fit_like(&part, &control).unwrap());
        let one = a.merge(&b, &control).unwrap().merge(&c, &control).unwrap();
        let other = c.merge(&a, &control).unwrap().merge(&b, &control).unwrap();
        assert!(one.to_bytes().unwrap() == first.to_bytes().unwrap(), "{spec}");
        assert!(one.to_bytes().unwrap() == other.to_bytes().unwrap(), "{spec}");
        assert_eq!((a.facts.rows, one.facts.rows), (130, 400));
    }
    let tan = |options| fit(&"tan:ml".parse().unwrap(), &of(0..400), options, &control).unwrap();
    let halves = fit(&"tan:ml".parse().unwrap(), &of(0..200), keep, &control).unwrap();
    assert!(tan(keep).merge(&halves, &control).unwrap_err().to_string().contains("differ"));
    // counts of its own tables every network has
    let plain = tan(FitOptions::default());
    let more = plain.fit_like(&of(0..100), &control).unwrap();
    let both = plain.merge(&more, &control).unwrap();
    assert_eq!((both.facts.rows, both.keeps_statistics()), (500, true));
    let mut many = both.clone();
    many.facts.rows = (1 << 63) + 5;
    let error = many.merge(&many, &control).unwrap_err();
    assert!(
        matches!(&error, Error::ModelFile { problem, .. } if problem.contains("so many rows")),
        "{error}"
    );
    let again = plain.fit_like(&of(0..400), &control).unwrap();
    assert_eq!(again.fitted, plain.fitted);
    let aode = fit(&"aode:ml".parse().unwrap(), &of(0..400), FitOptions::default(), &control).unwrap();
    assert!(aode.fit_like(&of(0..100), &control).unwrap_err().to_string().contains("does not keep"));
    let gaps =
        Dataset::new(self::table(Kind { rows: 90, gaps: true, ..Kind::default() }), "class", None).unwrap();
    for (spec, data) in [
        ("tan:ml-bn-svm,lambda=1,gamma=1", &of(0..90)),
        ("tan:ml", &gaps),
        ("pool", &of(0..90)),
        ("sgbn:or", &of(0..90)),
    ] {
        let error = fit(&spec.parse().unwrap(), data, keep, &control).unwrap_err().to_string();
        assert!(error.contains("keeps no statistics"), "{spec}: {error}");
    }
    assert!(tan(keep).fit_like(&gaps, &control).is_err());
}

/// Counts of few rows are in neither the statistics nor the model.
#[test]
fn counts_of_few_rows_are_not_kept_if_they_are_not_to_be() {
    let table = table(Kind { rows: 400, ..Kind::default() }).split_off("empty").unwrap().1;
    let data = Dataset::new(table, "class", None).unwrap();
    let control = Control::default();
    let keep = |least_count| FitOptions { keep_statistics: true, least_count, ..FitOptions::default() };
    for spec in ["nb:ml", "tan:ml", "aode:ml"] {
        let spec = spec.parse().unwrap();
        let told = |model: &Model| {
            let Fitted::Discrete(network) = &model.fitted else { return Vec::new() };
            network.support().unwrap().iter().copied().filter(|n| *n > 0.0).collect::<Vec<f64>>()
        };
        let (all, some) =
            (fit(&spec, &data, keep(0), &control).unwrap(), fit(&spec, &data, keep(5), &control).unwrap());
        assert!(told(&some).iter().all(|n| *n >= 5.0), "{spec}");
        assert!(spec.name() == "aode:ml" || told(&all).iter().any(|n| *n < 5.0), "{spec}");
        assert!(some.facts.warnings.iter().any(|w| w.contains("fewer than 5 rows are left out")), "{spec}");
        assert_ne!(some.fitted, all.fitted);
        let rare = Dataset::rows(&data, &(0..400).filter(|m| m % 7 == 0).collect::<Vec<_>>());
        let more = some.fit_like(&rare, &control).unwrap();
        assert!(told(&more).iter().all(|n| *n >= 5.0), "{spec}");
        assert_eq!(some.merge(&more, &control).unwrap().facts.rows, 400 + rare.n_rows());
        assert!(some.merge(&all, &control).is_err(), "another least count");
    }
    // one row has the category `violet`
    let spec = "sgbn:or,lambda1=20".parse().unwrap();
    let error = fit(&spec, &data, keep(5), &control).unwrap_err().to_string();
    assert!(error.contains("category `violet` of column `colour` has fewer than 5 rows"), "{error}");
    assert!(fit(&spec, &data, keep(0), &control).is_ok());
    let unkept = FitOptions { least_count: 5, ..FitOptions::default() };
    assert!(PieceFit::new(&spec, "class", None, unkept).is_err());
}

/// Takes a piece.
type Take<'a> = &'a mut dyn FnMut((Table, Places)) -> Result<()>;

/// Hands on a table in pieces of so many rows.
fn hand_on(table: &Table, rows: usize) -> impl Fn(&ReadOptions, Take<'_>) -> Result<()> {
    let places: Vec<usize> = (0..table.n_rows()).collect();
    let pieces: Vec<Table> = places.chunks(rows).map(|rows| piece(table, rows)).collect();
    move |_, hand_on| pieces.iter().try_for_each(|piece| hand_on((piece.clone(), Places::default())))
}

/// Nearly all of 12 000 rows are distinct, more than a small memory keeps: options are chosen on those that it keeps, and the
/// parameters come from all, to the objective that they have in memory; pieces of the same size give the same bytes.
#[test]
fn margins_of_more_rows_than_fit_are_learnt_as_the_rows_come_past() {
    let mut random = Random::new(3);
    let n = 12_000;
    let class: Vec<usize> = (0..n).map(|_| random.below(3)).collect();
    let names = |r: usize| (0..r).map(|k| format!("s{k}")).collect::<Vec<_>>();
    let mut columns: Vec<Column> = (0..9)
        .map(|j| {
            let cell = |&c: &usize, random: &mut Random| match random.below(3 + j) {
                0 => (c + j) % 5,
                _ => random.below(5),
            };
            let cells: Vec<usize> = class.iter().map(|c| cell(c, &mut random)).collect();
            Column::categorical(
                format!("x{j}"),
                names(5),
                Codes::from_options(5, cells.into_iter().map(Some)),
            )
        })
        .collect();
    let class = Codes::from_options(3, class.into_iter().map(Some));
    columns.push(Column::categorical("class", names(3), class));
    let table = Table::new(columns).unwrap();
    let options = ReadOptions::default();
    let fit_pieces = |spec: &str, rows: usize| {
        let told = Arc::new(AtomicUsize::new(0));
        let heard = told.clone();
        let control = Control::default().within_memory(8 << 20).on_news(move |news| {
            heard.fetch_add(
                usize::from(news.contains("each step passes over all 12000 rows")),
                Ordering::Relaxed,
            );
        });
        let fit = PieceFit::new(&spec.parse().unwrap(), "class", None, FitOptions::default()).unwrap();
        let model = fit.fit(&options, &control, &hand_on(&table, rows)).unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 1, "{spec}");
        model
    };
    let solver = |model: &Model| model.facts.solver.clone().unwrap();
    for (spec, gap) in [
        ("tan:ml-bn-svm,lambda=4,gamma=2", 1e-3),
        ("tan:ml-bn-svm,lambda=4,gamma=2,gap=1e-6", 1e-6),
        ("nb:ml-bn-svm,lambda=0.5,gamma=1", 1e-3),
        ("kdb2:bn-svm,lambda=0.1", 1e-3),
        ("tan:mcl,iterations=30", 1e-4),
    ] {
        let pieces = fit_pieces(spec, 1000);
        assert!(fit_pieces(spec, 1000).to_bytes().unwrap() == pieces.to_bytes().unwrap(), "{spec}");
        let (whole, other) = (in_memory(spec, &table, None), fit_pieces(spec, 777));
        let want = solver(&whole);
        for model in [&pieces, &other] {
            let found = solver(model);
            let apart = (found.objective - want.objective).abs() / want.objective.abs();
            assert!(apart <= gap, "{spec}: {found:?} and {want:?}");
        }
    }
    let open = fit_pieces("tan:ml-bn-svm", 1000);
    assert!(open.facts.chosen.contains_key("lambda"), "{:?}", open.facts.chosen);
}

/// The rows that are drawn are those of their numbers in pieces of any size, and models are fitted to all others.
#[test]
fn rows_that_are_held_out_are_tested_and_not_learnt_from() {
    let whole = table(Kind { rows: 400, weights: true, ..Kind::default() });
    let (control, draw) = (Control::default(), Draw::new(3, 0.25).unwrap());
    let weights = Some("times");
    let chosen: Vec<usize> = (0..400).filter(|&m| draw.takes(m as u64)).collect();
    let others: Vec<usize> = (0..400).filter(|&m| !draw.takes(m as u64)).collect();
    let all = Dataset::new(whole.clone(), "class", weights).unwrap();
    let spec = "tan:ml".parse().unwrap();
    let want = fit(&spec, &all.rows(&others), FitOptions::default(), &control).unwrap();
    for rows in [7, 90, 400] {
        let read = hand_on(&whole, rows);
        let table = PieceTable::scan("class", weights, &ReadOptions::default(), &control, &read).unwrap();
        assert_eq!((table.rows, table.missing_cells), (400, all.features.n_missing()));
        let (drawn, numbers) = table.drawn(draw, &control).unwrap();
        assert_eq!((&drawn, &numbers), (&all.rows(&chosen), &chosen), "in pieces of {rows}");
        let found = table.fit(&spec, FitOptions::default(), Some(draw), &control).unwrap();
        assert_eq!(found.to_bytes().unwrap(), want.to_bytes().unwrap(), "in pieces of {rows}");
        let everything = table.fit(&spec, FitOptions::default(), None, &control).unwrap();
        assert_eq!(everything.to_bytes().unwrap(), in_memory("tan:ml", &whole, weights).to_bytes().unwrap());

        let class = chosen.iter().map(|&m| all.class.get(m).unwrap()).collect();
        let test = TestSet { features: drawn.features.clone(), class, weights: drawn.weights.clone() };
        let protocol = Protocol::default();
        let (models, rest) = ([spec.clone()], all.rows(&others));
        let in_pieces = TestRows::Pieces(&test, TrainingPieces { table: &table, without: Some(draw) });
        let plan = Plan { tested: in_pieces, ..Plan::new(&models, &drawn, &protocol) };
        let at_hand = Plan { tested: TestRows::Set(&test), ..Plan::new(&models, &rest, &protocol) };
        let (a, b) = (compare(&plan, &control).unwrap(), compare(&at_hand, &control).unwrap());
        assert_eq!((a.data.rows, a.protocol.test_rows), (400, Some(chosen.len())));
        assert_eq!(a.results[0].accuracy, b.results[0].accuracy);
        assert_eq!(a.results[0].log_loss, b.results[0].log_loss);
    }
}

/// Rows are kept as codes while the columns are looked at, so that the table is read once, and its model is that of the whole.
#[test]
fn a_table_is_read_once_for_all_rounds_of_counting() {
    for (gaps, weights) in [(false, false), (false, true), (true, false), (true, true)] {
        let table = table(Kind { rows: 400, gaps, weights });
        let weights = weights.then_some("times");
        for spec in LIKELY.iter().chain(&["nb:mcl"]) {
            let alike = in_pieces(spec, &dealt(&table, 2), weights).unwrap().to_bytes().unwrap();
            for rows in [23, 400] {
                let (read, times) = (hand_on(&table, rows), AtomicUsize::new(0));
                let counted = |options: &ReadOptions, hand_on: Take<'_>| {
                    times.fetch_add(1, Ordering::Relaxed);
                    read(options, hand_on)
                };
                let fit =
                    PieceFit::new(&spec.parse().unwrap(), "class", weights, FitOptions::default()).unwrap();
                let model = fit.fit(&ReadOptions::default(), &Control::default(), &counted).unwrap();
                assert!(
                    model.to_bytes().unwrap() == alike,
                    "{spec}, gaps {gaps}, weights {weights:?}, pieces of {rows}"
                );
                assert_eq!(times.into_inner(), 1, "{spec}");
            }
        }
    }
}

/// Networks learnt from the moments of pieces are those of the rows, up to the grid that makes the moments whole numbers.
#[test]
fn networks_are_learnt_from_pieces() {
    let whole = hingenet::evaluate::generate("gbn", Some(300), 5).unwrap();
    let control = Control::default();
    let data = Dataset::new(whole.clone(), "class", None).unwrap();
    let free = Constraints::none(data.features.n_columns());
    let read = hand_on(&whole, 70);
    let table = PieceTable::scan("class", None, &ReadOptions::default(), &control, &read).unwrap();
    let moments = table.moments(&control).unwrap();
    for method in [StructureMethod::Search, StructureMethod::Or, StructureMethod::Tests(TestLearner::Pc)] {
        let search = SearchParams { rounds: 3, ..SearchParams::default() };
        let params = StudyParams { method, search, ..StudyParams::default() };
        let class = Some((&data.class, &data.classes[..]));
        let want = study_networks(&data.features, None, class, &free, &params, &control).unwrap();
        let found = study_moments(&moments, Some(&data.classes), &free, &params, &control).unwrap();
        assert_eq!(found.classes.len(), 2);
        for (a, b) in found.classes.iter().zip(&want.classes) {
            assert_eq!((&a.class, a.rows), (&b.class, b.rows));
            assert_eq!(a.network.dag(), b.network.dag(), "{method:?}");
            let apart = a.structure.theta.data().iter().zip(b.structure.theta.data());
            assert!(apart.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) < 1e-6, "{method:?}");
            assert!(
                (a.log_likelihood - b.log_likelihood).abs() < 1e-6 * b.log_likelihood.abs(),
                "{method:?}"
            );
        }
        let asked = StudyParams { contrast: Some(Default::default()), ..params };
        assert!(study_moments(&moments, Some(&data.classes), &free, &asked, &control).is_err());
    }
    let gaps = table_with_gaps();
    let read = hand_on(&gaps, 50);
    let table = PieceTable::scan("class", None, &ReadOptions::default(), &control, &read).unwrap();
    let error = table.moments(&control).err().unwrap().to_string();
    assert!(error.contains("missing cells"), "{error}");
}

fn table_with_gaps() -> Table {
    table(Kind { rows: 120, gaps: true, ..Kind::default() })
}
