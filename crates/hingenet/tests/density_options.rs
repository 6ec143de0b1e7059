//! Every way to choose pairs, and every rule of smoothing, by its name: on classes that differ in their dependencies only,
//! each has to find them.

use hingenet::evaluate::{Plan, Protocol, TestRows, TestSet, compare, generate};
use hingenet::model::{Dataset, FitOptions, ModelSpec, fit};
use hingenet_base::control::Control;
use hingenet_data::table::Table;

fn rows(table: &Table, from: usize, to: usize) -> Table {
    table.rows(&(from..to).collect::<Vec<_>>())
}

/// Error of each model: 300 rows to fit on, 1000 others of the same networks.
fn errors(names: &[&str]) -> Vec<f64> {
    let table = generate("forest", Some(1300), 1).unwrap();
    let data = Dataset::new(rows(&table, 0, 300), "class", None).unwrap();
    let test = TestSet::new(rows(&table, 300, 1300), "class", None, &data.classes).unwrap();
    let models: Vec<ModelSpec> = names.iter().map(|name| name.parse().unwrap()).collect();
    let protocol = Protocol::default();
    let plan = Plan { tested: TestRows::Set(&test), ..Plan::new(&models, &data, &protocol) };
    let found = compare(&plan, &Control::default()).unwrap();
    assert!(found.failed.is_empty(), "{:?}", found.failed);
    found.results.iter().map(|r| 1.0 - r.accuracy.mean).collect()
}

/// Single columns tell these classes apart badly, pairs well: a choice that missed the pairs would stay near `lu`.
#[test]
fn every_choice_of_pairs_finds_those_that_matter() {
    let names = [
        "lu,class_weights=none",
        "slb,class_weights=none,threshold=top:20,c=1",
        "slb,class_weights=none,threshold=hsic:0.005,c=1",
        "slb,class_weights=none,threshold=bonferroni:0.05,c=1",
        "slb,class_weights=none,threshold=benjamini_hochberg:0.05,c=1",
        "slb,class_weights=none,fraction=0.05,c=1",
        "slb,class_weights=none,criterion=error,c=1",
        "slb,class_weights=none,criterion=error,features=resubstitution,c=1",
    ];
    let found = errors(&names);
    for (name, error) in names.iter().zip(&found).skip(1) {
        assert!(*error < 0.6 * found[0], "{name}: {error}, lu: {}", found[0]);
    }
}

/// Rules of smoothing change curves a little: none may lose what the others find, and each is a rule of its own.
#[test]
fn every_rule_of_smoothing_classifies_as_well_as_the_others() {
    let rules = ["plugin", "normal", "one_stage", "diagonal", "product", "silverman", "scott", "lscv"];
    let names = rules.map(|rule| format!("slb,class_weights=none,c=1,threshold=top:20,bandwidth={rule}"));
    let found = errors(&names.each_ref().map(String::as_str));
    for (rule, error) in rules.iter().zip(&found) {
        assert!((error - found[0]).abs() < 0.04, "{rule}: {error}, plugin: {}", found[0]);
    }
    let data = Dataset::new(generate("forest", Some(120), 2).unwrap(), "class", None).unwrap();
    let answers = |rule: &str| {
        let spec = format!("slb,class_weights=none,c=1,threshold=top:5,bandwidth={rule}").parse().unwrap();
        let model = fit(&spec, &data, FitOptions::default(), &Control::default()).unwrap();
        model.predict(&data.features, Default::default()).unwrap().log_proba
    };
    let all = rules.map(answers);
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate().skip(i + 1) {
            assert_ne!(a, b, "{} and {} are the same", rules[i], rules[j]);
        }
    }
}

/// One class has a tenth of the rows: what misclassification chooses is not what the balanced error chooses.
#[test]
fn the_criterion_reaches_the_search() {
    let table = generate("forest", Some(3000), 3).unwrap();
    let class = table.by_name("class").unwrap().as_categorical().unwrap().codes().clone();
    let rare: Vec<usize> = (0..3000).filter(|&m| class.get(m) == Some(0) || m % 9 == 0).collect();
    let data = Dataset::new(table.rows(&rare[..500]), "class", None).unwrap();
    let chosen = |name: &str| {
        let model = fit(&name.parse().unwrap(), &data, FitOptions::default(), &Control::default()).unwrap();
        model.facts.chosen
    };
    let balanced = chosen("slb,bandwidth=normal");
    assert_eq!(chosen("slb,bandwidth=normal,criterion=balanced_error"), balanced);
    assert_ne!(chosen("slb,bandwidth=normal,criterion=error"), balanced);
}
