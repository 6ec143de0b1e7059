//! Graphs in which a child of the class has no covering parent: which rules learn on them, how well, and what the others say.

use hingenet::evaluate::{Plan, Protocol, compare, generate};
use hingenet::model::{Dataset, FitOptions, ModelSpec, fit};
use hingenet_base::control::Control;
use hingenet_data::table::{Table, UnseenPolicy};

/// `class = a0 a1 or b0 b1`: every bit of a pair has the class and the other pair as parents, in no covering order.
const EDGES: &str =
    "class->a0;class->b0;class->a1;a0->a1;b0->a1;class->b1;b0->b1;a0->b1;class->irrelevant;class->correlated";

fn spec(rule: &str) -> ModelSpec {
    format!("dag:{rule},edges={EDGES}").parse().unwrap()
}

fn corral(n: usize) -> Table {
    generate("corral", Some(n), 3).unwrap()
}

#[test]
fn rules_of_tables_learn_on_any_graph_and_are_as_accurate_as_likelihood() {
    let data = Dataset::new(corral(400), "class", None).unwrap();
    let rules = ["ml", "mcl,form=tables", "mm,form=tables", "mm,form=tables,early_stopping=true"];
    let models = rules.map(spec);
    let protocol = Protocol::default();
    let found = compare(&Plan::new(&models, &data, &protocol), &Control::default()).unwrap();
    assert!(found.failed.is_empty(), "{:?}", found.failed);
    let accuracy: Vec<f64> = found.results.iter().map(|r| r.accuracy.mean).collect();
    assert!(accuracy.iter().all(|a| *a > 0.95 && *a >= accuracy[0] - 0.02), "{rules:?}: {accuracy:?}");
}

/// They are probability models too: the joint of all rows sums to one, and blanked cells are summed out.
#[test]
fn tables_are_normalised_without_a_covering_parent() {
    let data = Dataset::new(corral(200), "class", None).unwrap();
    for rule in ["mcl,form=tables", "mm,form=tables"] {
        let model = fit(&spec(rule), &data, FitOptions::default(), &Control::default()).unwrap();
        // every combination of the six bits, once
        let mut rows = std::collections::BTreeMap::new();
        let many = corral(20_000);
        for m in 0..many.n_rows() {
            let code = |j: usize| many.columns()[j].as_categorical().unwrap().codes().get(m);
            rows.entry((0..6).map(code).collect::<Vec<_>>()).or_insert(m);
        }
        assert_eq!(rows.len(), 64);
        let (_, features) = many.rows(&rows.into_values().collect::<Vec<_>>()).split_off("class").unwrap();
        let found = model.log_likelihood(&features, UnseenPolicy::Missing).unwrap();
        let total: f64 = found.iter().map(|row| row.features.exp()).sum();
        assert!((total - 1.0).abs() < 1e-9, "{rule}: {total}");
    }
}

#[test]
fn the_other_rules_say_which_node_is_in_the_way_and_what_works() {
    let data = Dataset::new(corral(100), "class", None).unwrap();
    for rule in ["mcl", "mm", "bn-svm", "ml-bn-svm", "ml-bn-svm,lambda=1,gamma=1,alpha=1"] {
        let error =
            fit(&spec(rule), &data, FitOptions::default(), &Control::default()).unwrap_err().to_string();
        let parts = ["covering parent", "form=tables", ":ml"];
        assert!(parts.iter().all(|part| error.contains(part)), "{rule}: {error}");
    }
}
