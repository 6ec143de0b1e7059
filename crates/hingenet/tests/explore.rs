//! What the explorer's page asks: the answers are those of `query` and `predict`, and a hostile request is an error.

use hingenet::evaluate::generate;
use hingenet::explore::Explorer;
use hingenet::model::{Dataset, FitOptions, Known, Model, Posterior, Query, fit};
use hingenet::table::UnseenPolicy;
use hingenet::{Control, Table};
use serde_json::{Value, json};

fn data(n: usize, seed: u64) -> Table {
    generate("mixed", Some(n), seed).unwrap()
}

fn fitted(name: &str) -> Model {
    let data = Dataset::new(data(300, 4), "class", None).unwrap();
    fit(&name.parse().unwrap(), &data, FitOptions { seed: 1, ..FitOptions::default() }, &Control::default())
        .unwrap()
}

fn asked(explorer: &Explorer<'_>, request: &Value) -> Value {
    serde_json::from_str(&explorer.answer(&request.to_string()).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn near(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{what}: {a} {b}");
}

/// The first rows as sets of findings, as the page makes them from `rows`.
fn sets(explorer: &Explorer<'_>, table: &Table) -> Vec<Vec<Value>> {
    let rows = explorer.rows(table, table.n_rows()).unwrap();
    let facts = explorer.facts().unwrap();
    let columns = rows["columns"].as_array().unwrap();
    let finding = |i: usize, m: usize| {
        let cell = &columns[i][m];
        let states = facts["columns"][i]["states"].as_array();
        match states {
            _ if cell.is_null() => None,
            Some(states) => {
                let seen = cell.as_u64().unwrap() as usize;
                let l: Vec<f64> = (0..states.len()).map(|s| f64::from(u8::from(s == seen))).collect();
                Some(json!({ "column": i, "states": l }))
            }
            None => Some(json!({ "column": i, "value": cell })),
        }
    };
    (0..table.n_rows()).map(|m| (1..columns.len()).filter_map(|i| finding(i, m)).collect()).collect()
}

const MODELS: [&str; 9] =
    ["nb:ml", "tan:ml-bn-svm", "kdb2:ml", "aode:ml", "sgbn:or", "fisher:or", "kde-tan", "slb", "pool"];

#[test]
fn classes_of_rows_are_those_of_predict() {
    for name in MODELS {
        let model = fitted(name);
        let explorer = Explorer::new(&model).unwrap();
        let rows = data(40, 9);
        let predicted = model.predict(&rows, UnseenPolicy::Missing).unwrap();
        let answers = asked(&explorer, &json!({ "classes": { "sets": sets(&explorer, &rows) } }));
        let likelihood = model.log_likelihood(&rows, UnseenPolicy::Missing).ok();
        for (m, answer) in answers.as_array().unwrap().iter().enumerate() {
            for (p, log) in numbers(&answer["classes"]).iter().zip(predicted.row(m)) {
                near(*p, log.exp(), name);
            }
            if let Some(likelihood) = &likelihood {
                near(answer["logEvidence"].as_f64().unwrap(), likelihood[m].features, name);
            }
        }
    }
}

#[test]
fn beliefs_are_those_of_query() {
    for name in MODELS {
        let model = fitted(name);
        let explorer = Explorer::new(&model).unwrap();
        let columns = explorer.facts().unwrap()["columns"].as_array().unwrap().clone();
        let oil = columns.iter().position(|c| c["name"] == "oil").unwrap();
        let states = columns[oil]["states"].as_array().unwrap();
        let one = |s: usize| (0..states.len()).map(|t| f64::from(u8::from(s == t))).collect::<Vec<_>>();
        let reply = asked(
            &explorer,
            &json!({ "beliefs": { "known": [{ "column": oil, "states": one(1) }, { "column": 0, "states": [1.0, 0.5, 2.0] }] } }),
        );
        let classes = model.classes.iter().cloned().zip([1.0, 0.5, 2.0]).collect();
        let known = vec![
            ("oil".to_string(), Known::Value(states[1].as_str().unwrap().into())),
            ("class".to_string(), Known::Likelihood(classes)),
        ];
        let answer = model.query(&Query { known, ..Query::default() }).unwrap();
        assert_eq!(reply["logEvidence"].as_f64(), answer.log_evidence);
        assert_eq!(reply["conflict"].as_f64(), answer.conflict);
        for (column, posterior) in &answer.posterior {
            let i = columns.iter().position(|c| c["name"] == **column).unwrap();
            match posterior {
                Posterior::States(states) if i == 0 => {
                    assert_eq!(
                        numbers(&reply["classes"]),
                        states.iter().map(|(_, p)| *p).collect::<Vec<_>>()
                    );
                }
                Posterior::States(states) => {
                    let joint = numbers(&reply["columns"][i]["joint"]);
                    let k = model.classes.len();
                    for (row, (_, p)) in joint.chunks_exact(k).zip(states) {
                        near(row.iter().sum(), *p, name);
                    }
                }
                Posterior::Number { mean, .. } => {
                    let belief = &reply["columns"][i];
                    let found: f64 = match belief["normals"].as_array() {
                        Some(normals) => normals.iter().map(numbers).map(|n| n[1] * n[2]).sum(),
                        None => {
                            let (at, joint) = (numbers(&belief["at"]), numbers(&belief["joint"]));
                            let masses = joint.chunks_exact(model.classes.len());
                            at.iter().zip(masses).map(|(x, row)| x * row.iter().sum::<f64>()).sum()
                        }
                    };
                    near(found, *mean, name);
                }
            }
        }
        for measurement in &answer.next {
            let i = columns.iter().position(|c| c["name"] == *measurement.column).unwrap();
            assert_eq!(reply["next"][i].as_f64(), Some(measurement.nats), "{name}");
        }
        assert!(reply["next"][oil].is_null() && reply["columns"][0].is_null());
    }
}

/// A likelihood that leaves one state is an observation; one that is flat says nothing.
#[test]
fn unsure_sets_agree_with_sure_ones() {
    for name in ["nb:ml", "kdb2:ml", "aode:ml", "sgbn:or", "kde-tan"] {
        let model = fitted(name);
        let explorer = Explorer::new(&model).unwrap();
        let columns = explorer.facts().unwrap()["columns"].as_array().unwrap().clone();
        let oil = columns.iter().position(|c| c["name"] == "oil").unwrap();
        let r = columns[oil]["states"].as_array().unwrap().len();
        let all = asked(
            &explorer,
            &json!({ "classes": { "sets": [[], [{ "column": oil, "states": vec![1.0; r] }], [{ "column": 0, "states": [0.0, 3.0, 0.0] }]] } }),
        );
        for (a, b) in numbers(&all[0]["classes"]).iter().zip(numbers(&all[1]["classes"])) {
            near(*a, b, name);
        }
        near(all[1]["logEvidence"].as_f64().unwrap(), 0.0, name);
        assert_eq!(numbers(&all[2]["classes"]), [0.0, 1.0, 0.0]);
        let flat =
            json!({ "beliefs": { "known": [{ "column": oil, "states": vec![1.0; r] }], "about": oil } });
        assert!(asked(&explorer, &flat)["next"][1].is_number(), "{name}");
    }
}

#[test]
fn hostile_requests_are_errors() {
    let (tan, sgbn) = (fitted("tan:ml"), fitted("sgbn:or"));
    let requests = [
        json!(null),
        json!({}),
        json!({ "beliefs": {} }),
        json!({ "other": { "sets": [] } }),
        json!({ "beliefs": { "known": [], "about": 99 } }),
        json!({ "beliefs": { "known": [], "about": -1 } }),
        json!({ "beliefs": { "known": [{ "column": 99, "states": [1.0] }] } }),
        json!({ "beliefs": { "known": [{ "column": 0, "states": [1.0] }] } }),
        json!({ "beliefs": { "known": [{ "column": 0, "states": [0.0, 0.0, 0.0] }] } }),
        json!({ "beliefs": { "known": [{ "column": 0, "states": [-1.0, 1.0, 1.0] }] } }),
        json!({ "beliefs": { "known": [{ "column": 0, "states": [1.0, 1.0, 1.0] }, { "column": 0, "states": [1.0, 1.0, 1.0] }] } }),
        json!({ "beliefs": { "known": [{ "column": 0, "value": 1.0 }] } }),
        json!({ "beliefs": { "known": [{ "column": 0, "value": 1.0, "states": [1.0, 1.0, 1.0] }] } }),
        json!({ "beliefs": { "known": [{ "column": 0 }] } }),
        json!({ "classes": { "sets": vec![json!([]); 20_001] } }),
    ];
    for model in [&tan, &sgbn] {
        let explorer = Explorer::new(model).unwrap();
        for request in &requests {
            let text = request.to_string();
            assert!(explorer.answer(&text).is_err(), "{}", &text[..text.len().min(90)]);
        }
        let number = r#"{"beliefs": {"known": [{"column": 1, "value": 1e999}]}}"#;
        assert!(explorer.answer(number).is_err() && explorer.answer("{").is_err());
        assert!(explorer.answer(&" ".repeat(17 << 20)).is_err());
        assert!(explorer.answer(r#"{"beliefs": {"known": []}}"#).is_ok());
    }
}
