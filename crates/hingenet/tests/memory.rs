//! Memory that comes to its end in the middle of a fit: whichever reservation is refused, the error says so, and the old model
//! file is as it was.

use hingenet::model::{Dataset, FitOptions, PieceFit, fit};
use hingenet::table::{Codes, Column, Places, ReadOptions, Source, Table, read};
use hingenet::{Control, Error, Result};
use hingenet_base::numeric::random::Random;

/// Two numbers and two categories that lean on the class.
fn data() -> Dataset {
    let mut random = Random::new(3);
    let class: Vec<usize> = (0..60).map(|m| m % 2).collect();
    let mut number = || class.iter().map(|c| *c as f64 + random.normal()).collect();
    let (a, b) = (Column::numeric("a", number()), Column::numeric("b", number()));
    let names = || ["p", "q"].map(String::from).to_vec();
    let codes = |shift: usize| Codes::from_options(2, class.iter().map(|c| Some((c + shift) % 2)));
    let categories =
        [("c", 1), ("d", 0)].map(|(name, shift)| Column::categorical(name, names(), codes(shift)));
    let features = Table::new([a, b].into_iter().chain(categories).collect()).unwrap();
    Dataset::from_parts("class", features, names(), codes(0), None).unwrap()
}

/// How many reservations are refused in turn, each as the first one, before some work is done.
fn refusals(mut work: impl FnMut(&Control) -> Result<()>) -> usize {
    let mut granted = 0;
    loop {
        match work(&Control::default().granting(granted)) {
            Ok(()) => return granted,
            Err(Error::Memory { limit: None, hint, .. }) if !hint.is_empty() => granted += 1,
            Err(other) => panic!("after {granted} reservations: {other}"),
        }
    }
}

#[test]
fn whichever_reservation_is_refused_a_fit_ends_with_an_error_and_leaves_the_old_file() {
    let (data, folder) = (data(), tempfile::tempdir().unwrap());
    let file = folder.path().join("m.hgn");
    for spec in [
        "slb,bandwidth=normal",
        "kde-tan",
        "sgbn:or",
        "sgbn:mm,lambda1=20",
        "fisher:or,lambda1=20",
        "pool,fast=true",
    ] {
        std::fs::write(&file, "old").unwrap();
        let spec = spec.parse().unwrap();
        let refused = refusals(|control| {
            let saved = fit(&spec, &data, FitOptions::default(), control).and_then(|model| model.save(&file));
            let is_old = std::fs::read(&file).unwrap() == b"old";
            assert_eq!(is_old, saved.is_err(), "{spec}");
            saved
        });
        assert!(refused > 0, "{spec} reserves nothing");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1, "{spec}");
    }
}

/// A fit in pieces asks for what it has gathered after every piece.
#[test]
fn whichever_reservation_is_refused_a_fit_in_pieces_ends_with_an_error() {
    let Dataset { features, classes, class, .. } = data();
    let columns = features.columns().iter().cloned().chain([Column::categorical("class", classes, class)]);
    let table = Table::new(columns.collect()).unwrap();
    let refused = refusals(|control| {
        let fit = PieceFit::new(&"tan:ml".parse()?, "class", None, FitOptions::default())?;
        let hand_on = |_: &ReadOptions, take: &mut dyn FnMut((Table, Places)) -> Result<()>| {
            (0..60)
                .step_by(20)
                .try_for_each(|m| take((table.rows(&(m..m + 20).collect::<Vec<_>>()), Places::default())))
        };
        fit.fit(&ReadOptions::default(), control, &hand_on).map(drop)
    });
    assert!(refused >= 3, "{refused}");
}

#[test]
fn whichever_reservation_is_refused_a_reader_ends_with_an_error() {
    let rows: String = (0..20_000).map(|m| format!("{m},c{}\n", m % 3)).collect();
    let text = format!("x,y\n{rows}");
    let refused = refusals(|control| {
        let source = Source::reader("rows.csv", text.as_bytes());
        read(source, &ReadOptions::default(), control).map(|found| assert_eq!(found.table.n_rows(), 20_000))
    });
    assert!(refused > 1, "{refused}");
}
