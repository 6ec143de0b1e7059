//! Questions for the evaluator in the page: programs, evidence drawn at random, and what the engine here answers, written to
//! `target/explorer` for the browser tests (`crates/hingenet-view/browser/engine.mjs`), which must find the same numbers.

use hingenet::Control;
use hingenet::evaluate::generate;
use hingenet::explore::Explorer;
use hingenet::model::{Dataset, FitOptions, fit};
use hingenet_base::numeric::random::Random;
use serde_json::{Value, json};
use std::path::Path;

const CASES: usize = 1000;

/// The class of the second but last has a parent.
const MODELS: [&str; 13] = [
    "nb:ml",
    "nb:mm",
    "tan:ml",
    "tan:ml-bn-svm",
    "kdb2:ml",
    "dag:ml,edges=class->oil;class->load;oil->speed;load->speed;site->class;maker->fluid;class->alarm;fluid->alarm;oil->alarm",
    "aode:ml",
    "sgbn:or",
    "sgbn:search",
    "kde-nb",
    "kde-tan",
    "slb",
    "slb-all,augment=raw_and_products",
];

/// Nothing is known of most columns; of the others a value, some that are excluded, or a likelihood.
fn drawn(facts: &Value, rows: &Value, random: &mut Random) -> Vec<Value> {
    let columns = facts["columns"].as_array().unwrap();
    let share = random.uniform();
    let n = rows["columns"][0].as_array().unwrap().len();
    let row = random.below(n);
    let mut finding = |(i, column): (usize, &Value)| {
        let is_known = random.uniform() < if i == 0 { 0.25 } else { share };
        let Some(r) = column["states"].as_array().map(Vec::len) else {
            // a value of some row, or far from all
            let row = if random.uniform() < 0.7 { row } else { random.below(n) };
            let far = if random.uniform() < 0.1 { 30.0 * random.normal() } else { 0.0 };
            let value = rows["columns"][i][row].as_f64()? + far;
            return is_known.then(|| json!({ "column": i, "value": value }));
        };
        let seen = rows["columns"][i][row].as_u64().map_or_else(|| random.below(r), |s| s as usize);
        let kind = random.uniform();
        let mut likelihood = |s: usize| match kind {
            k if k < 0.7 => f64::from(u8::from(s == seen)),
            k if k < 0.85 => f64::from(u8::from(s == seen || random.uniform() < 0.6)),
            _ => (0.1 + random.uniform()) * f64::from(u8::from(s == seen || random.uniform() < 0.8)),
        };
        let states: Vec<f64> = (0..r).map(&mut likelihood).collect();
        is_known.then(|| json!({ "column": i, "states": states }))
    };
    columns.iter().enumerate().filter_map(&mut finding).collect()
}

#[test]
fn cases_for_the_evaluator_in_the_page() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../explorer");
    std::fs::create_dir_all(&folder).unwrap();
    let table = generate("mixed", Some(250), 6).unwrap();
    for name in MODELS {
        let data = Dataset::new(table.clone(), "class", None).unwrap();
        let options = FitOptions { seed: 1, ..FitOptions::default() };
        let model = fit(&name.parse().unwrap(), &data, options, &Control::default()).unwrap();
        let explorer = Explorer::new(&model).unwrap();
        let program = explorer.program().unwrap().expect(name);
        let (facts, rows) = (explorer.facts().unwrap(), explorer.rows(&table, 250).unwrap());
        let mut random = Random::new(20);
        let mut impossible = 0;
        let mut case = |number: usize| {
            let known = drawn(&facts, &rows, &mut random);
            let about = if random.uniform() < 0.2 {
                random.below(facts["columns"].as_array().unwrap().len())
            } else {
                0
            };
            let request = json!({ "beliefs": { "known": known, "about": about } }).to_string();
            match explorer.answer(&request) {
                Ok(reply) => {
                    let mut answer: Value = serde_json::from_str(&reply).unwrap();
                    // grids are long: the columns of every fifth case
                    if reply.len() > 6000 && !number.is_multiple_of(5) {
                        answer.as_object_mut().unwrap().remove("columns");
                    }
                    json!({ "known": known, "about": about, "reply": answer })
                }
                Err(e) => {
                    impossible += 1;
                    assert!(e.to_string().contains("impossible"), "{name}: {e}");
                    json!({ "known": known, "about": about, "error": e.to_string() })
                }
            }
        };
        let cases: Vec<Value> = (0..CASES).map(&mut case).collect();
        assert!(impossible < CASES / 5, "{name}: {impossible}");
        let file = folder.join(format!("{}.json", name.split(',').next().unwrap().replace(':', "_")));
        std::fs::write(file, json!({ "model": name, "program": program, "cases": cases }).to_string())
            .unwrap();
    }
}
