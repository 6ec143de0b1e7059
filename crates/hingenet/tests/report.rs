//! Reports say what the models hold: numbers of a small table that can be worked out by hand.

use hingenet::Control;
use hingenet::model::{Dataset, FitOptions, Model, fit};
use hingenet::report::{ArcChange, Importance, ModelReport, NetworkPicture};
use hingenet::table::{Codes, Column, Table, UnseenPolicy};
use std::f64::consts::LN_2;

/// A fair coin `a`, its copy `b` and a number `x` that tells the class; each case ten times.
fn table() -> Table {
    let cases = (0..40).map(|m| (m % 2, m / 2 % 2, m as f64 / 100.0));
    let (class, coin): (Vec<_>, Vec<_>) = cases.clone().map(|(c, u, _)| (Some(c), Some(u))).unzip();
    let states = |names: [&str; 2]| names.map(String::from).to_vec();
    let codes = |list: &[Option<usize>]| Codes::from_options(2, list.iter().copied());
    Table::new(vec![
        Column::categorical("a", states(["heads", "tails"]), codes(&coin)),
        Column::categorical("b", states(["heads", "tails"]), codes(&coin)),
        Column::numeric("x", cases.map(|(c, _, small)| 2.0 * c as f64 + small).collect()),
        Column::categorical("class", states(["no", "yes"]), codes(&class)),
    ])
    .unwrap()
}

fn fitted(name: &str) -> Model {
    let data = Dataset::new(table(), "class", None).unwrap();
    fit(&name.parse().unwrap(), &data, FitOptions::default(), &Control::default()).unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn arcs_of_a_discrete_network_are_as_strong_as_their_information() {
    let picture = NetworkPicture::of_model(&fitted("tan:ml,alpha=0")).unwrap();
    let names: Vec<&str> = picture.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["class", "a", "b", "x"]);
    assert!(picture.nodes.iter().all(|n| n.is_class == (n.name == "class")));
    assert!(picture.is_directed && picture.strength.is_some());
    let strength = |from: usize, to: usize| {
        let ends = [(from, to), (to, from)];
        picture.arcs.iter().find(|arc| ends.contains(&(arc.from, arc.to))).map(|arc| arc.strength)
    };
    assert_eq!([1, 2, 3].map(|feature| strength(0, feature)), [Some(0.0); 3]);
    assert!(close(strength(1, 2).unwrap(), LN_2), "a coin and its copy share ln 2: {picture:?}");
    assert_eq!(picture.arcs.len(), 5);
}

#[test]
fn the_report_of_a_discrete_network_has_its_tables_cuts_and_decisions() {
    let model = fitted("tan:ml,alpha=0");
    let report = ModelReport::of(&model, &table(), &[0, 7]).unwrap();
    assert_eq!((report.target.as_str(), report.classes.len(), report.tables.len()), ("class", 2, 4));
    assert!(report.tables[0].rows[0].probabilities.iter().all(|p| close(*p, 0.5)));
    for row in report.tables.iter().flat_map(|table| &table.rows) {
        assert!(close(row.probabilities.iter().sum(), 1.0), "{row:?}");
    }
    let cut = report.cuts.iter().find(|c| c.feature == "x").unwrap();
    assert!(cut.cuts.len() == 1 && (0.38..2.02).contains(&cut.cuts[0]), "{cut:?}");
    let predicted = model.predict(&table(), UnseenPolicy::Error).unwrap();
    for (decision, (m, class)) in report.decisions.iter().zip([(0, "no"), (7, "yes")]) {
        assert_eq!((decision.row, decision.class.as_str()), (m + 1, class));
        let probabilities: Vec<f64> = predicted.row(m).iter().map(|l| l.exp()).collect();
        assert_eq!(decision.probabilities, probabilities);
        let others = decision.others.map_or(0.0, |(_, sum)| sum);
        let sum = decision.base + decision.values.iter().map(|v| v.value).sum::<f64>() + others;
        assert!(close(sum, decision.total), "{decision:?}");
    }
}

#[test]
fn importance_is_the_mean_of_the_values_of_the_class_decided_for() {
    let model = fitted("nb:ml");
    let importance = Importance::of(&model, &table(), 3, &Control::default()).unwrap();
    assert_eq!(importance.rows, table().n_rows().min(100));
    assert!(importance.features.is_sorted_by(|a, b| a.mean >= b.mean));
    for feature in &importance.features {
        let j = model.schema.features.iter().position(|f| f.name == feature.feature).unwrap();
        let size = |m: usize| {
            let explanation = model.explain(&table(), m, UnseenPolicy::Error).unwrap();
            let class = explanation.class();
            explanation.terms.iter().find(|t| t.feature == j).map_or(0.0, |t| t.scores[class].abs())
        };
        let sizes: Vec<f64> = (0..importance.rows).map(size).collect();
        let n = sizes.len() as f64;
        let mean = sizes.iter().sum::<f64>() / n;
        let variance = sizes.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n;
        assert!(close(feature.mean, mean) && close(feature.sd, variance.sqrt()), "{feature:?}");
        assert!(feature.dots.len() <= importance.rows && feature.dots.iter().all(|d| d.values.len() == 2));
        assert!(feature.dots.iter().all(|d| (0.0..=1.0).contains(&d.level)));
    }
}

#[test]
fn the_report_of_the_pool_ranks_features_by_what_they_tell() {
    let report = ModelReport::of(&fitted("pool,fast=true"), &table(), &[]).unwrap();
    let [weights, information] = &report.curves[..] else { panic!("{:?}", report.curves) };
    assert!(weights.curves.len() >= 3 && weights.curves.iter().all(|c| c.points.last().unwrap().0 == 100.0));
    assert_eq!(information.places[0], "x");
    let points = &information.curves[0].points;
    assert!((points[0].1 - LN_2).abs() < 0.1, "x tells the whole class: {points:?}");
    assert!(points[1].1.abs() < 0.1 && points[2].1.abs() < 0.1, "a coin tells nothing: {points:?}");
}

#[test]
fn the_networks_of_two_classes_differ_by_the_arcs_listed() {
    let report = ModelReport::of(&fitted("sgbn:or,lambda1=1"), &table(), &[]).unwrap();
    let networks = report.class_networks.unwrap();
    assert_eq!(networks.networks.len(), 2);
    let [difference] = &networks.comparisons[..] else { panic!("{:?}", networks.comparisons) };
    for (k, weight) in [|a: &ArcChange| a.arc.first, |a: &ArcChange| a.arc.second].into_iter().enumerate() {
        let mut listed: Vec<f64> = difference.arcs.iter().map(weight).filter(|w| *w != 0.0).collect();
        let mut held: Vec<f64> = networks.networks[k].arcs.iter().map(|arc| arc.weight).collect();
        listed.sort_by(f64::total_cmp);
        held.sort_by(f64::total_cmp);
        assert_eq!(listed, held, "class {k}");
    }
}

/// What a probability rests on stands beside it: Eq. (4) with the counts of the page gives the numbers of the page.
#[test]
fn tables_tell_the_rows_behind_them() {
    let model = fitted("tan:ml");
    for table in &ModelReport::of(&model, &Table::default(), &[]).unwrap().tables {
        assert_eq!(table.rows.len(), table.total_rows);
        let cells = (table.states.len() * table.total_rows) as f64;
        assert_eq!(table.rows.iter().flat_map(|row| &row.support).sum::<f64>(), 40.0, "{}", table.node);
        for row in &table.rows {
            let total: f64 = row.support.iter().sum();
            let smoothed = |n: &f64| (n + 1.0 / cells) / (total + 1.0 / table.total_rows as f64);
            assert!(row.support.iter().zip(&row.probabilities).all(|(n, p)| close(smoothed(n), *p)));
        }
    }
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/complete-tan_ml.hgn");
    let old = ModelReport::of(&Model::load(old).unwrap(), &Table::default(), &[]).unwrap();
    assert!(!old.tables.is_empty() && old.tables.iter().flat_map(|t| &t.rows).all(|r| r.support.is_empty()));
}
