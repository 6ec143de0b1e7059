//! Networks learnt for their own sake: one scale for all classes, rows in any order, missing cells, what is known.

use hingenet::Sgbn;
use hingenet::evaluate::{TrueArc, generate, true_arcs};
use hingenet::explore::Explorer;
use hingenet::model::{Dataset, NodeFacts};
use hingenet::report::{Change, NetworkReport};
use hingenet_base::control::Control;
use hingenet_base::graph::Dag;
use hingenet_data::table::{Codes, Column, Table};
use hingenet_gaussian::StructureMethod;
use hingenet_gaussian::structure::{Constraints, SearchParams};
use hingenet_gaussian::study::{
    ContrastParams, NetworkStudy, Resampling, StudyParams, node_names, study_networks,
};
use std::sync::{Arc, Mutex};

fn data(n: usize) -> Dataset {
    Dataset::new(generate("gbn", Some(n), 5).unwrap(), "class", None).unwrap()
}

fn learn(data: &Dataset, params: &StudyParams) -> NetworkStudy {
    let free = Constraints::none(data.features.n_columns());
    let class = Some((&data.class, data.classes.as_slice()));
    study_networks(&data.features, None, class, &free, params, &Control::default()).unwrap()
}

fn search(penalty: f64) -> SearchParams {
    SearchParams { penalty, rounds: 3, ..SearchParams::default() }
}

fn quick(method: StructureMethod) -> StudyParams {
    StudyParams { method, search: search(2.0), ..StudyParams::default() }
}

/// The true graph of the first class.
fn truth() -> Dag {
    let names = node_names(&data(10).features).unwrap();
    let place = |name: &String| names.iter().position(|n| n == name).unwrap();
    let mut parents = vec![Vec::new(); names.len()];
    for arc in true_arcs("gbn", 5).unwrap().unwrap() {
        parents[place(&arc.to)].push(place(&arc.from));
    }
    Dag::new(parents).unwrap()
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    let data = data(90);
    let turned = data.rows(&(0..90).rev().collect::<Vec<_>>());
    for method in [StructureMethod::Search, StructureMethod::Or, StructureMethod::H] {
        let params = StudyParams { resampling: Some((Resampling::Bootstrap, 2)), ..quick(method) };
        let (a, b) = (learn(&data, &params), learn(&turned, &params));
        for (x, y) in a.classes.iter().zip(&b.classes) {
            assert_eq!(x.network, y.network);
            assert_eq!(x.confidence, y.confidence);
        }
    }
}

#[test]
fn the_order_search_errs_less_than_or_on_many_rows() {
    let (data, truth) = (data(1500), truth());
    let errors = |method: StructureMethod| {
        let report = NetworkReport::of_study(&learn(&data, &quick(method)), 0.01, &[], Some(&truth)).unwrap();
        report.networks[0].errors.unwrap().class_total
    };
    assert!(errors(StructureMethod::Search) < errors(StructureMethod::Or));
}

#[test]
fn a_few_missing_cells_change_little() {
    let data = data(800);
    let holed = |(j, column): (usize, &Column)| {
        let mut values = column.as_numeric().unwrap().with_nan().to_vec();
        values
            .iter_mut()
            .enumerate()
            .filter(|(a, _)| (a * 7 + j * 3) % 41 == 0)
            .for_each(|(_, v)| *v = f64::NAN);
        Column::numeric(column.name(), values)
    };
    let table = Table::new(data.features.columns().iter().enumerate().map(holed).collect()).unwrap();
    assert!(table.n_missing() > 500);
    let holed = Dataset { features: table, ..data.clone() };
    let arcs = |data: &Dataset| learn(data, &quick(StructureMethod::Or)).classes[0].network.theta();
    let (a, b) = (arcs(&data), arcs(&holed));
    let differ = a.data().iter().zip(b.data()).filter(|(x, y)| (x.abs() > 0.2) != (y.abs() > 0.2)).count();
    assert!(differ <= 8, "{differ}");
}

#[test]
fn groups_keep_the_order_of_the_file_and_nodes_without_one_come_last() {
    let study = learn(&data(60), &quick(StructureMethod::Or));
    let mut facts = vec![NodeFacts::default(); 40];
    facts[3].group = Some("b".into());
    facts[9].group = Some("a".into());
    let report = NetworkReport::of_study(&study, 0.01, &facts, None).unwrap();
    assert_eq!(report.groups, ["b", "a", "(other)"]);
    assert_eq!(
        (report.nodes[3].group, report.nodes[9].group, report.nodes[0].group),
        (Some(0), Some(1), Some(2))
    );
    for network in &report.networks {
        let blocks = network.blocks.as_ref().unwrap();
        assert_eq!(blocks.arcs.iter().sum::<usize>(), network.arcs.len());
        assert_eq!(blocks.pairs.iter().sum::<usize>(), 40 * 39);
    }
}

fn contrasted(shuffles: usize) -> StudyParams {
    let contrast = Some(ContrastParams { shuffles, ..ContrastParams::default() });
    StudyParams { contrast, search: SearchParams { rounds: 10, ..search(2.0) }, ..StudyParams::default() }
}

/// Of known differences most are found, and few others, on one thread as on eight; every one has its support.
#[test]
fn known_differences_of_the_classes_are_found() {
    let (mut right, mut wrong, mut known) = (0, 0, 0);
    for seed in 0..4 {
        let table = generate("gbn", Some(700), seed).unwrap();
        let data = Dataset::new(table, "class", None).unwrap();
        let differs = |arc: &&TrueArc| arc.weights[0] != arc.weights[1];
        let truth = true_arcs("gbn", seed).unwrap().unwrap();
        let truth: Vec<[String; 2]> =
            truth.iter().filter(differs).map(|arc| [arc.from.clone(), arc.to.clone()]).collect();
        known += truth.len();
        let study = learn(&data, &contrasted(20));
        let report = NetworkReport::of_study(&study, 0.01, &[], None).unwrap();
        for found in &report.differences {
            assert!((0.0..=1.0).contains(&found.support) && found.z.abs() > 2.0, "{found:?}");
            let is_true = truth.iter().any(|pair| pair.contains(&found.from) && pair.contains(&found.to));
            if is_true { right += 1 } else { wrong += 1 }
        }
        if seed == 0 {
            for threads in [1, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| learn(&data, &contrasted(20))).contrasts, study.contrasts);
            }
        }
    }
    assert!(right * 10 >= known * 9 && wrong * 10 <= right, "{right} of {known}, and {wrong} others");
}

/// A class of a few rows has a network but is not compared, and the others still are.
#[test]
fn a_class_of_few_rows_is_not_compared() {
    let mut data = data(243);
    data.classes = ["a", "rare", "b"].map(String::from).to_vec();
    let class = |m: usize| if m < 3 { 1 } else { 2 * (m % 2) };
    data.class = Codes::from_options(3, (0..243).map(|m| Some(class(m))));
    let report = NetworkReport::of_study(&learn(&data, &contrasted(10)), 0.01, &[], None).unwrap();
    assert_eq!(report.networks.len(), 3);
    let chances: Vec<bool> = report.comparisons.iter().map(|c| c.chance.is_some()).collect();
    assert_eq!(chances, [false, true]);
}

/// The classes of a model are compared as those of a study, given rows with their classes, all columns and no choice.
#[test]
fn the_classes_of_a_model_differ_as_those_of_its_rows() {
    let table = generate("gbn", Some(300), 1).unwrap();
    let data = Dataset::new(table.clone(), "class", None).unwrap();
    let model = Sgbn::search().rounds(2).fit(&data).unwrap();
    let params = ContrastParams { shuffles: 12, ..ContrastParams::default() };
    let judged = |table: &Table, control: &Control| {
        let mut report = NetworkReport::of_model(&model).unwrap().unwrap();
        report.judge(&model, table, params, control).unwrap();
        report
    };
    let free = judged(&table, &Control::default());
    let study = StudyParams { contrast: Some(params), ..StudyParams::default() };
    let expected = NetworkReport::of_study(&learn(&data, &study), 0.01, &[], None).unwrap();
    assert!(!free.differences.is_empty() && free.differences.len() == expected.differences.len());
    for (a, b) in free.differences.iter().zip(&expected.differences) {
        assert_eq!((a.tail, a.head, a.support), (b.tail, b.head, b.support));
        assert!((a.z - b.z).abs() < 1e-9 && (a.weight_second - b.weight_second).abs() < 1e-9, "{a:?} {b:?}");
    }
    assert_eq!(free.expected_false, expected.expected_false);
    assert_eq!(free.comparisons[0].chance, expected.comparisons[0].chance);

    let pictures = Explorer::new(&model).unwrap().differences(&free);
    let drawn: Vec<_> = pictures[0].arcs.iter().map(|a| (a.from - 1, a.to - 1)).collect();
    assert_eq!(drawn.len(), free.differences.len());
    assert!(free.differences.iter().all(|d| drawn.contains(&(d.tail, d.head))));

    let warned: Arc<Mutex<Vec<String>>> = Arc::default();
    let control = Control::default().keeping_warnings(&warned);
    let without_class = judged(&data.features, &control);
    assert!(without_class.expected_false.is_none() && warned.lock().unwrap().is_empty());
    let names: Vec<usize> = (1..table.n_columns()).collect();
    assert!(judged(&table.select(&names), &control).expected_false.is_none());
    assert_eq!(*warned.lock().unwrap(), ["the classes are not compared: `x01` is missing in all rows"]);
}

/// Two classes by chance differ in next to nothing, however many arcs the networks learnt apart gain and lose.
#[test]
fn classes_by_chance_do_not_differ() {
    let (mut reported, mut apart) = (0, 0);
    for seed in 0..6 {
        let table = generate("gbn", Some(240), seed).unwrap();
        let mut data = Dataset::new(table, "class", None).unwrap();
        data.class = Codes::from_options(2, (0..240).map(|m| Some(m * 7 % 13 % 2)));
        let report = NetworkReport::of_study(&learn(&data, &contrasted(20)), 0.01, &[], None).unwrap();
        reported += report.differences.len();
        let comparison = &report.comparisons[0];
        apart += comparison.count(Change::Gained) + comparison.count(Change::Lost);
        let chance = comparison.chance.unwrap();
        let found = (comparison.count(Change::Gained) + comparison.count(Change::Lost)) as f64;
        assert!((chance.gained + chance.lost) / found > 0.6 && chance.asked > 50, "{chance:?}, {found}");
        assert_eq!(report.expected_false, Some(chance.expected_false));
    }
    assert!(reported <= 2 && apart > 100, "{reported} reported, {apart} apart");
}

#[test]
fn a_direction_that_is_forbidden_is_not_open() {
    let x: Vec<f64> = (0..50).map(|a| f64::from(a * 37 % 50)).collect();
    let y = x.iter().enumerate().map(|(a, v)| v + f64::from(a as u32 * 13 % 7)).collect();
    let table = Table::new(vec![Column::numeric("x", x), Column::numeric("y", y)]).unwrap();
    let open = |forbidden: &[(usize, usize)]| {
        let known = Constraints::new(2, forbidden, &[], None).unwrap();
        let params = quick(StructureMethod::Search);
        let study = study_networks(&table, None, None, &known, &params, &Control::default()).unwrap();
        let report = NetworkReport::of_study(&study, 0.01, &[], None).unwrap();
        let arc = &report.networks[0].arcs[0];
        (arc.from.clone(), arc.is_compelled)
    };
    assert!(!open(&[]).1);
    assert_eq!(open(&[(1, 0)]), ("x".to_string(), true));
    assert_eq!(open(&[(0, 1)]), ("y".to_string(), true));
}

#[test]
fn bad_settings_and_facts_are_refused() {
    let data = data(40);
    let free = Constraints::none(40);
    let class = Some((&data.class, data.classes.as_slice()));
    let bad = [
        StudyParams { lambda1: Some(0.0), ..quick(StructureMethod::Or) },
        StudyParams { lambda1: Some(1.0), ..quick(StructureMethod::Search) },
        StudyParams { search: search(f64::NAN), ..StudyParams::default() },
        StudyParams { cutoff: -1.0, ..StudyParams::default() },
        StudyParams { resampling: Some((Resampling::Bootstrap, 0)), ..StudyParams::default() },
        contrasted(9),
        StudyParams { contrast: Some(ContrastParams { level: 1.0, shuffles: 10 }), ..StudyParams::default() },
    ];
    for params in bad {
        assert!(study_networks(&data.features, None, class, &free, &params, &Control::default()).is_err());
    }
    let few = Constraints::none(3);
    let fine = StudyParams::default();
    assert!(study_networks(&data.features, None, class, &few, &fine, &Control::default()).is_err());
}
