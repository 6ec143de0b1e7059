//! Pages show the numbers of the JSON, hold what they promise, keep names as text and stay small.

use hingenet::Control;
use hingenet::evaluate::{Plan, Protocol, Sweep, compare, generate, study};
use hingenet::model::{Dataset, FitOptions, ModelSpec, NodeFacts, fit};
use hingenet::report::{
    Caption, Change, Curve, CurveFigure, EvaluationReport, HeatMap, Importance, ModelReport, NetworkReport,
};
use hingenet::table::Codes;
use hingenet_gaussian::structure::Constraints;
use hingenet_gaussian::structure::SearchParams;
use hingenet_gaussian::study::{StudyParams, study_networks};
use hingenet_view::{evaluation_page, model_page, network_page};

const HOSTILE: &str = "<img src=x onerror=alert(1)>";

fn specs(names: &[&str]) -> Vec<ModelSpec> {
    names.iter().map(|n| n.parse().unwrap()).collect()
}

fn data(rows: usize) -> Dataset {
    let mut data = Dataset::new(generate("mixed", Some(rows), 1).unwrap(), "class", None).unwrap();
    data.target = HOSTILE.into();
    data.classes[0] = format!("{HOSTILE}0");
    data
}

fn report(names: &[&str], rows: usize) -> EvaluationReport {
    let protocol = Protocol { folds: 3, missing: vec![0.3, 0.6], ..Protocol::default() };
    let data = data(rows);
    study(&Plan::new(&specs(names), &data, &protocol), &Control::default()).unwrap()
}

#[test]
fn the_report_and_the_comparison_have_the_same_figures() {
    let protocol = Protocol { folds: 3, missing: vec![0.3, 0.6], ..Protocol::default() };
    let names = specs(&["majority", "nb:ml"]);
    let data = data(200);
    let mut plain = compare(&Plan::new(&names, &data, &protocol), &Control::default()).unwrap();
    let mut studied = report(&["majority", "nb:ml"], 200).evaluation;
    for result in plain.results.iter_mut().chain(&mut studied.results) {
        (result.fit_seconds, result.predict_seconds) = (0.0, 0.0);
    }
    assert_eq!(plain, studied);
}

#[test]
fn names_from_the_data_stay_text_and_nothing_is_asked_for() {
    let html = evaluation_page(&report(&["majority", "nb:ml"], 200)).unwrap();
    assert!(!html.contains("<img") && html.contains("&lt;img src=x"));
    assert!(!html.contains("src=\"") && !html.contains("url(") && !html.contains("@import"));
    assert!(!html.contains("<link") && !html.contains(" style=\""));
    assert!(html.contains("default-src 'none'"));
    // names of namespaces are no requests; pages inline their pictures and need none
    assert!(!html.replace("http://www.w3.org/2000/svg", "").contains("://"));
}

#[test]
fn all_sections_are_there_and_the_page_is_small() {
    let mut report = report(&["majority", "nb:ml", "tan:ml"], 1000);
    let sweep: Sweep = "alpha=0.1,1,10".parse().unwrap();
    let (models, data) = (specs(&["nb:ml"]), data(200));
    let protocol = Protocol { folds: 3, ..Protocol::default() };
    let plan = Plan { sweep: Some(&sweep), ..Plan::new(&models, &data, &protocol) };
    report.add_trade_off(&compare(&plan, &Control::default()).unwrap());
    assert_eq!(report.trade_offs[0].points.len(), 3);
    let html = evaluation_page(&report).unwrap();
    for id in [
        "models",
        "mistakes",
        "thresholds",
        "columns",
        "importance",
        "robustness",
        "trade-off",
        "ranking",
        "probabilities",
        "margins",
        "data",
        "reproduce",
    ] {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
}

/// Sixty classes and eight models on a thousand rows: the worst that a page should bear.
#[test]
fn a_page_of_many_classes_and_models_is_small_too() {
    let mut data = data(1000);
    data.classes = (0..60).map(|c| format!("class number {c}")).collect();
    data.class = Codes::from_options(60, (0..1000).map(|m| Some(m % 60)));
    let names: Vec<String> = (1..=8).map(|k| format!("nb:ml,alpha={k}")).collect();
    let models = specs(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let protocol = Protocol { folds: 3, missing: vec![0.3, 0.6], ..Protocol::default() };
    let report = study(&Plan::new(&models, &data, &protocol), &Control::default()).unwrap();
    let html = evaluation_page(&report).unwrap();
    assert!(html.contains("frequent of 60 classes") && html.len() < 2_000_000, "{} bytes", html.len());
}

fn caption(title: &str) -> Caption {
    Caption { title: title.into(), reading: "r".into(), x: "x".into(), y: "y".into() }
}

#[test]
fn the_model_page_has_network_tables_cuts_and_decisions() {
    let data = data(300);
    let model = fit(&specs(&["tan:ml"])[0], &data, FitOptions::default(), &Control::default()).unwrap();
    let mut report = ModelReport::of(&model, &data.features, &[0, 1]).unwrap();
    let curve = Curve { name: "a".into(), points: vec![(0.0, 1.0), (1.0, 2.0)], band: Vec::new() };
    report.curves.push(CurveFigure {
        caption: caption(HOSTILE),
        curves: vec![curve],
        places: Vec::new(),
        shares: Vec::new(),
    });
    report.maps.push(HeatMap {
        caption: caption("map"),
        columns: vec!["a".into(), HOSTILE.into()],
        rows: vec!["b".into()],
        values: vec![vec![Some(1.0), None]],
        full: 1.0,
    });
    report.importance = Some(Importance::of(&model, &data.features, 1, &Control::default()).unwrap());
    let html = model_page(&report, None).unwrap();
    for id in ["network", "decisions", "importance", "terms", "tables", "cuts", "facts"] {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    assert_eq!(html.matches("<details class=\"item\"").count(), report.tables.len());
    assert!(!html.contains("<img") && html.len() < 2_000_000);
    for decision in &report.decisions {
        let others = decision.others.map_or(0.0, |(_, sum)| sum);
        let sum = decision.base + decision.values.iter().map(|v| v.value).sum::<f64>() + others;
        assert!((sum - decision.total).abs() < 1e-9);
    }
    for table in &report.tables {
        for row in &table.rows {
            assert!((row.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{}", table.node);
            assert_eq!(row.given.len(), table.parents.len());
        }
    }
}

fn report_of(name: &str, data: &Dataset) -> ModelReport {
    let model = fit(&specs(&[name])[0], data, FitOptions::default(), &Control::default()).unwrap();
    ModelReport::of(&model, &data.features, &[0]).unwrap()
}

#[test]
fn gaussian_models_have_a_network_for_each_class_and_their_difference() {
    let data = Dataset::new(generate("ringnorm", Some(120), 1).unwrap(), "class", None).unwrap();
    let report = report_of("sgbn:or,lambda1=20", &data);
    let html = model_page(&report, None).unwrap();
    assert!(html.contains("<section id=\"network\""));
    let pictures = html.matches("class=\"network").count();
    // one a class, the difference, one matrix a class
    assert_eq!(pictures - html.matches("aria-hidden=\"true\" class=\"network").count(), 5);
}

#[test]
fn density_models_have_curves_bars_and_maps() {
    let data = data(300);
    let report = report_of("kde-forest", &data);
    let html = model_page(&report, None).unwrap();
    assert!(!html.contains("<img") && html.len() < 2_000_000);
    assert_eq!(report.networks.len(), 1);
    assert!(!report.networks[0].is_directed && report.networks[0].arcs.iter().all(|a| a.strength > 0.0));
    let bars = report.curves.iter().filter(|c| !c.places.is_empty()).count();
    assert!(bars > 0 && bars < report.curves.len(), "the table has numbers and categories");
    assert_eq!(html.matches("<figure id=\"curve-").count(), report.curves.len());
    assert_eq!(html.matches("<figure id=\"map-").count(), report.maps.len());
    assert!(!report.maps.is_empty());
    for figure in &report.curves {
        let n = figure.curves[0].points.len();
        // scores are against the mean of all classes, and all three classes are shown
        for k in 0..n {
            let sum: f64 = figure.curves.iter().map(|c| c.points[k].1).sum();
            assert!(sum.abs() < 1e-9, "{}: {sum}", figure.caption.title);
        }
        assert!((figure.shares.iter().map(|s| s.1).sum::<f64>() - 1.0).abs() < 1e-9);
    }
    for map in &report.maps {
        assert!(map.values.len() == map.rows.len() && map.values[0].len() == map.columns.len());
        assert!(map.full > 0.0 && map.values.iter().flatten().flatten().all(|v| v.is_finite()));
    }
}

#[test]
fn the_pool_shows_its_weights_and_says_that_it_keeps_rows() {
    let data = data(150);
    let report = report_of("pool,fast=true", &data);
    let weights = &report.curves[0];
    assert_eq!(weights.curves.len(), 4);
    assert!(weights.curves.iter().all(|c| c.points.len() == 5 && c.points.iter().all(|p| p.1 >= 0.0)));
    let html = model_page(&report, None).unwrap();
    assert!(html.contains("It keeps training rows") && html.contains("kernel machine"));
    assert!(!model_page(&report_of("nb:ml", &data), None).unwrap().contains("It keeps training rows"));
}

#[test]
fn a_page_of_networks_keeps_names_as_text_and_tells_changes_without_colour() {
    let table = generate("gbn", Some(150), 1).unwrap();
    let mut data = Dataset::new(table, "class", None).unwrap();
    data.classes[1] = HOSTILE.into();
    let search = SearchParams { rounds: 2, ..SearchParams::default() };
    let params = StudyParams { search, ..StudyParams::default() };
    let class = Some((&data.class, data.classes.as_slice()));
    let free = Constraints::none(40);
    let study = study_networks(&data.features, None, class, &free, &params, &Control::default()).unwrap();
    let facts: Vec<NodeFacts> = (0..40)
        .map(|k| NodeFacts { group: Some(format!("{HOSTILE}{}", k / 10)), ..NodeFacts::default() })
        .collect();
    let report = NetworkReport::of_study(&study, 0.01, &facts, None).unwrap();
    let html = network_page(&report).unwrap();
    assert!(!html.contains("<img") && html.contains("&lt;img src=x") && !html.contains(" style=\""));
    assert!(html.len() < 2_000_000, "{}", html.len());
    let difference = &report.comparisons[0];
    for (change, class, sign) in [(Change::Gained, "gained", "+"), (Change::Lost, "lost", "−")] {
        let signs = html.matches(&format!("<text class=\"sign {class}\"")).count();
        // one more in the legend
        assert_eq!(signs, difference.count(change) + 1, "{sign}");
    }
    let arcs: usize = report.networks.iter().map(|n| n.arcs.len()).sum();
    assert_eq!(html.matches("fill-opacity=\"").count(), arcs, "a square of a matrix for each arc");
}

#[test]
fn a_model_without_network_has_a_page_too() {
    let data = data(60);
    let model = fit(&specs(&["majority"])[0], &data, FitOptions::default(), &Control::default()).unwrap();
    let html = model_page(&ModelReport::of(&model, &data.features, &[0]).unwrap(), None).unwrap();
    assert!(html.contains("<section id=\"facts\""));
}
