//! The list of models and the demo.

use crate::good::TOYS;
use crate::support::Folder;
use insta::assert_snapshot;

/// No row is shared between the two fits, and the model of all rows comes out.
#[test]
fn models_of_different_rows_are_merged() {
    let folder = Folder::generated("corral -n 300 -o all.csv");
    let text = folder.text("all.csv");
    let lines: Vec<&str> = text.lines().collect();
    let part = |rows: &[&str]| [&lines[..1], rows].concat().join("\n");
    folder.write("here.csv", part(&lines[1..120]).as_bytes());
    folder.write("there.csv", part(&lines[120..]).as_bytes());
    folder.succeeds("fit all.csv --target class --model tan:ml --keep-statistics -o all.hgn");
    folder.succeeds("fit here.csv --like all.hgn -o here.hgn");
    folder.succeeds("fit there.csv --like all.hgn -o there.hgn");
    folder.succeeds("merge there.hgn here.hgn -o both.hgn");
    assert!(folder.read("both.hgn") == folder.read("all.hgn"));
    folder.succeeds("fit here.csv --target class --model aode:ml -o plain.hgn");
    let shown = folder.fails("merge here.hgn plain.hgn -o both.hgn", 2);
    assert!(shown.contains("plain.hgn cannot be merged") && shown.contains("--keep-statistics"), "{shown}");
    assert!(folder.read("both.hgn") == folder.read("all.hgn"));
}

#[test]
fn models_are_listed_with_their_options() {
    let folder = Folder::new();
    assert_snapshot!("models_on_one_screen", folder.succeeds("models"));
    for model in hingenet::model::models() {
        let shown = folder.succeeds(&format!("models {}", model.name));
        assert!(shown.contains(&format!("\n{:<16} {}", model.name, model.about)), "{}", model.name);
    }
    assert_snapshot!(folder.succeeds("models slb"));
    assert_snapshot!(folder.fails("models forest", 2));
}

#[test]
fn the_demo_compares_models_and_says_what_to_type_next() {
    let folder = Folder::new();
    let shown = folder.succeeds("demo");
    assert!(shown.lines().all(|l| l.chars().count() <= 100), "{shown}");
    assert_snapshot!(without_last_digits(&shown));
    assert_eq!(folder.names(), ["hingenet-demo"]);
    for name in ["mixed.csv", "mixed.html", "mixed.hgn", "mixed-model.html", "waveform.csv", "waveform.html"]
    {
        assert!(!folder.read(&format!("hingenet-demo/{name}")).is_empty());
    }
    // the next command works
    folder.succeeds("explain hingenet-demo/mixed.hgn hingenet-demo/mixed.csv --row 1");
}

/// Figures of models that add floating-point numbers may differ by a row between kinds of processors.
fn without_last_digits(shown: &str) -> String {
    let line = |l: &str| match l.starts_with("sgbn") || l.starts_with("pool") {
        true => l.replace(|c: char| c.is_ascii_digit(), "#"),
        false => l.to_string(),
    };
    shown.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A folder with the toys and a model fitted to them.
fn fitted(model: &str) -> Folder {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    folder.succeeds(&format!("fit toys.csv --target good --model {model} -o toys.hgn"));
    folder
}

#[test]
fn the_pool_shows_its_terms_and_what_to_measure_next() {
    let folder = fitted("pool");
    folder.write("part.csv", b"size\n4\n");
    assert_snapshot!(folder.succeeds("inspect toys.hgn"));
    assert_snapshot!(folder.succeeds("predict toys.hgn part.csv --terms"));
    let shown = folder.succeeds("explain toys.hgn part.csv --row 1");
    assert!(shown.contains("what to measure next"), "{shown}");
    let explain = |kind: &str| -> serde_json::Value {
        let line = format!("explain toys.hgn part.csv --row 1 --format json --kind {kind}");
        serde_json::from_str(&folder.run(&line).stdout).unwrap()
    };
    let json = explain("terms");
    assert_eq!(json["kind"], "log_odds_change");
    assert_eq!(json["terms"][0]["feature"], "size");
    let json = explain("shapley");
    assert_eq!((&json["kind"], &json["values"][0]["feature"]), (&"shapley".into(), &"size".into()));
    assert!(
        json["next"][0]["information"].as_f64().unwrap() >= json["next"][1]["information"].as_f64().unwrap()
    );
    let json: serde_json::Value =
        serde_json::from_str(&folder.run("inspect toys.hgn --format json").stdout).unwrap();
    assert_eq!(json["pool"]["terms"][3]["name"], "K");
    assert_eq!(json["pool"]["terms"][3]["weights"].as_array().unwrap().len(), 4);
}

#[test]
fn where_no_model_is_named_the_pool_is_fitted() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    folder.succeeds("fit toys.csv --target good -o toys.hgn");
    assert!(folder.succeeds("inspect toys.hgn").contains("model       pool\n"));
    let shown = folder.succeeds("evaluate toys.csv --target good --folds 2");
    let places = ["majority", "nb:ml", "tan:ml", "pool"].map(|name| shown.find(name));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{shown}");
}

#[test]
fn evaluate_gives_the_curves_of_the_terms_of_a_pool() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    folder.succeeds("evaluate toys.csv --target good --model pool --folds 2 --missing 0,0.5 --json out.json");
    let json: serde_json::Value = serde_json::from_str(&folder.text("out.json")).unwrap();
    let terms = json["results"][0]["terms"].as_array().unwrap().clone();
    let names: Vec<&str> = terms.iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["P", "A", "G", "K"]);
    assert_eq!(terms[0]["missing"][1]["rate"], 0.5);
    assert!(terms[0]["missing"][1]["accuracy"].as_f64().unwrap() <= 1.0);
}

/// The values of a row of every model lead from the prior to the posterior log-odds of the class.
#[test]
fn explanations_as_data_add_up() {
    for model in ["majority", "nb:ml", "tan:ml", "kde-nb", "sgbn:or", "pool"] {
        let folder = fitted(model);
        folder.write("new.csv", b"colour,size,weight\nred,4,\n");
        let line = "explain toys.hgn new.csv --row 1 --format json --evaluations 1";
        let json: serde_json::Value = serde_json::from_str(&folder.run(line).stdout).unwrap();
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        let values = json["values"].as_array().unwrap();
        let sum: f64 = values.iter().map(|v| number(&v["value"])).sum();
        assert!((number(&json["base"]) + sum - number(&json["total"])).abs() <= 1e-9, "{model}: {json}");
        let p = number(&json["probabilities"][json["class"].as_str().unwrap()]);
        assert!((number(&json["total"]) - (p / (1.0 - p)).ln()).abs() <= 1e-6, "{model}: {json}");
        let mut features: Vec<&str> = values.iter().map(|v| v["feature"].as_str().unwrap()).collect();
        features.sort_unstable();
        assert_eq!(features, ["colour", "size"], "{model}");
        assert!(values.iter().all(|v| v["standard_error"].is_null()), "{model}: two features, exact: {json}");
    }
}

#[test]
fn values_of_many_features_have_a_standard_error() {
    let folder = Folder::with(&[]);
    folder.succeeds("generate waveform -n 90 -o waves.csv");
    folder.succeeds("fit waves.csv --target class --model kde-nb -o waves.hgn");
    let explain = |more: &str| {
        let line = format!("explain waves.hgn waves.csv --row 3 {more}");
        folder.run(&line).stdout
    };
    let json: serde_json::Value = serde_json::from_str(&explain("--format json")).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let values = json["values"].as_array().unwrap();
    let sum: f64 = values.iter().map(|v| number(&v["value"])).sum();
    assert!((number(&json["base"]) + sum - number(&json["total"])).abs() <= 1e-9, "{json}");
    assert!(values.iter().any(|v| number(&v["standard_error"]) > 0.0), "{json}");
    assert!(explain("").contains("standard error") && explain("") == explain("--threads 2"));
    assert_ne!(explain("--seed 4"), explain("--seed 5"));
}

#[test]
fn naive_bayes_predicts_explains_and_shows_its_network() {
    let folder = fitted("nb:ml");
    assert_snapshot!(folder.succeeds("predict toys.hgn toys.csv --explain"));
    assert_snapshot!(folder.succeeds("explain toys.hgn toys.csv --row 1"));
    let terms = folder.succeeds("explain toys.hgn toys.csv --row 1 --kind terms");
    assert!(terms.contains("score for yes, against the mean of all classes"), "{terms}");
    let terms = folder.succeeds("predict toys.hgn toys.csv --explain=terms");
    assert!(terms.contains("1,yes,\"weight = 2.5 +1.61; colour = red +1.53;"), "{terms}");
    assert_snapshot!(folder.succeeds("inspect toys.hgn"));
    let shown = folder.succeeds("inspect toys.hgn --data toys.csv");
    assert!(shown.contains("mean absolute Shapley value") && shown.contains("over 12 rows"), "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&folder.run("inspect toys.hgn --data toys.csv --format json").stdout).unwrap();
    assert_eq!(json["importance"]["features"][0]["feature"], "weight");
    assert!(json["importance"]["features"][0]["mean"].as_f64().unwrap() > 2.0, "{json}");
    assert_snapshot!(folder.succeeds("inspect toys.hgn --format dot"));
    assert_snapshot!(folder.succeeds("inspect toys.hgn --format bif"));
    assert_snapshot!(folder.succeeds("inspect toys.hgn --format xmlbif"));
}

#[test]
fn generative_models_draw_rows_and_give_their_likelihood() {
    let folder = fitted("tan:ml");
    assert_snapshot!(folder.succeeds("sample toys.hgn -n 5 --given colour=green --seed 2"));
    assert_snapshot!(folder.fails("sample toys.hgn --given colour=violet", 3));
    assert_snapshot!(folder.fails("sample toys.hgn --given violet", 2));
    assert_snapshot!(folder.succeeds("loglik toys.hgn toys.csv"));
    folder.write("unlabelled.csv", b"colour\nred\n\n");
    assert_snapshot!(folder.succeeds("loglik toys.hgn unlabelled.csv"));
}

#[test]
fn pages_and_pictures_are_written() {
    let folder = fitted("tan:ml");
    let page = |name: &str| {
        let text = folder.text(name);
        assert!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"), "{name}");
        text
    };
    let line =
        "evaluate toys.csv --target good --model majority --model nb:ml --folds 2 --report report.html";
    let shown = folder.succeeds(line);
    assert!(shown.contains("wrote report.html"), "{shown}");
    assert!(page("report.html").contains(&format!("<code>hingenet {line}</code>")));
    folder.succeeds("inspect toys.hgn --format html --data toys.csv --row 2 -o model.html");
    assert!(page("model.html").contains("Row 2: "));
    folder.fails("inspect toys.hgn --format html --data toys.csv --row 99", 2);
    assert!(folder.run("inspect toys.hgn --format svg").stdout.starts_with("<svg "));
}

#[test]
fn density_models_have_a_picture_of_their_pairs() {
    let folder = fitted("kde-tan");
    let picture = folder.run("inspect toys.hgn --format svg").stdout;
    assert!(picture.starts_with("<svg ") && picture.contains("pairs of features"), "{picture}");
}

/// The guide shows the network that `demo` fits; after a change `docs/images/make` makes it anew.
#[test]
fn the_picture_of_the_guide_is_what_the_program_draws() {
    let folder = Folder::generated("mixed -n 3000 -o mixed.csv");
    folder.succeeds("fit mixed.csv --target class --model tan:ml -o mixed.hgn");
    let drawn = folder.run("inspect mixed.hgn --format svg").stdout;
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/images/network.svg");
    assert_eq!(drawn, std::fs::read_to_string(guide).unwrap());
}

#[test]
fn a_row_whose_features_are_all_missing_gets_the_class_prior() {
    let folder = fitted("tan:ml");
    folder.write("nothing.csv", b"colour,size,weight\n,,\n");
    let run = folder.run("predict toys.hgn nothing.csv --proba");
    let cells: Vec<&str> = run.stdout.lines().nth(1).unwrap_or_default().split(',').collect();
    let half = |text: &str| (text.parse::<f64>().unwrap() - 0.5).abs() < 1e-9;
    assert!(half(cells[2]) && half(cells[3]), "{}", run.show());
}

#[test]
fn a_sweep_evaluates_every_value() {
    let folder = Folder::generated("corral -n 100 -o corral.csv");
    let line = "evaluate corral.csv --target class --model nb:ml --sweep alpha=0.1,1,10 --json out.json";
    assert_snapshot!(folder.succeeds(line));
    let json = folder.text("out.json");
    assert!(json.contains(r#""sweep":[{"model":"nb:ml,alpha=0.1","key":"alpha","value":"0.1""#), "{json}");
    folder.succeeds("evaluate corral.csv --target class --model majority --model nb:ml --sweep alpha=1,2 --json both.json");
    let both: serde_json::Value = serde_json::from_str(&folder.text("both.json")).unwrap();
    assert_eq!(both["sweep"].as_array().map(Vec::len), Some(2), "majority has no such option");
    assert_snapshot!(folder.fails("evaluate corral.csv --target class --model nb:ml,alpha=-1", 2));
}

#[test]
fn rows_without_a_class_are_refused_or_learnt_from() {
    let rows = TOYS.replace("blue,2,2,yes", "blue,2,2,").replace("green,2,1,no", "green,2,1,");
    let folder = Folder::with(&[("toys.csv", &rows)]);
    let line = "fit toys.csv --target good --model nb:ml,tau=0.5 -o toys.hgn";
    assert_eq!(folder.run(line).code, Some(3));
    folder.succeeds(&format!("{line} --semi-supervised"));
    let predicted = folder.succeeds("predict toys.hgn toys.csv");
    assert_eq!(
        predicted.lines().filter(|l| l.ends_with(",yes") || l.ends_with(",no")).count(),
        12,
        "{predicted}"
    );
}

/// A search that runs out of time chooses among what it has tried, and says so; models without such a search refuse.
#[test]
fn a_fit_can_be_asked_for_within_a_time() {
    let folder = Folder::generated("mixed -n 300 --seed 1 -o d.csv");
    let run = folder.run("fit d.csv --target class --model tan:ml-bn-svm -o m.hgn --max-time 0");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("the time limit ended the search"), "{}", run.stderr);
    folder.succeeds("predict m.hgn d.csv -o p.csv");
    for model in ["pool", "slb", "sgbn:search", "fisher:or", "kde-tan", "aode:ml", "tan:ml"] {
        let late =
            folder.fails(&format!("fit d.csv --target class --model {model} -o n.hgn --max-time 0"), 3);
        assert!(late.contains("not done within") && late.contains("allow more time"), "{late}");
        assert!(!folder.names().contains(&"n.hgn".to_string()));
    }
    folder.succeeds("fit d.csv --target class --model kde-nb -o n.hgn --max-time 600");
    let bad = folder.fails("fit d.csv --target class --model tan:ml-bn-svm -o n.hgn --max-time=-1", 2);
    assert!(bad.contains("a number of seconds"), "{bad}");
    let both = "evaluate d.csv --target class --folds 2 --model majority --model tan:ml-bn-svm --max-time 0";
    let run = folder.run(&format!("{both} --json e.json"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("the time limit ended the search"), "{}", run.stderr);
    assert!(String::from_utf8_lossy(&folder.read("e.json")).contains("\"max_time\":0.0"));
    let one_late =
        "evaluate d.csv --target class --folds 2 --model majority --model kde-tan --max-time 0.000001";
    let late = folder.run(one_late);
    assert_eq!(late.code, Some(3), "{}", late.stderr);
    assert!(late.stdout.contains("majority") && late.stderr.contains("not done within"), "{}", late.show());
}

/// A column whose texts name the rows takes no part in a discrete network: with it the model says what it says without
/// it, also after it was saved.
#[test]
fn names_of_rows_take_no_part() {
    let folder = Folder::generated("corral -n 200 --seed 1 -o plain.csv");
    let plain = folder.text("plain.csv");
    let named = |(m, line): (usize, &str)| {
        if m == 0 { format!("name,{line}\n") } else { format!("row {m},{line}\n") }
    };
    let text: String = plain.lines().enumerate().map(named).collect();
    folder.write("named.csv", text.as_bytes());
    for model in ["nb:ml", "tan:ml", "kdb2:ml"] {
        let run = folder.run(&format!("fit named.csv --target class --model {model} -o named.hgn"));
        assert!(
            run.code == Some(0) && run.stderr.contains("`name` names the rows and takes no part"),
            "{}",
            run.stderr
        );
        folder.succeeds(&format!("fit plain.csv --target class --model {model} -o plain.hgn"));
        folder.succeeds("predict named.hgn named.csv --proba -o with.csv");
        folder.succeeds("predict plain.hgn plain.csv --proba -o without.csv");
        assert_eq!(folder.text("with.csv"), folder.text("without.csv"), "{model}");
    }
    folder.succeeds("sample named.hgn -n 5 -o s.csv");
    folder.succeeds("inspect named.hgn --format html -o m.html");
}

/// What follows, as text and as JSON; one line a fact.
#[test]
fn a_model_can_be_asked() {
    let folder = fitted("tan:ml");
    let facts = "query toys.hgn --given size=2 --not colour=red";
    assert_snapshot!(folder.succeeds(facts));
    folder.succeeds(&format!("{facts} --json q.json"));
    let answer: serde_json::Value = serde_json::from_slice(&folder.read("q.json")).unwrap();
    assert_eq!(answer["format"], 1);
    let total: f64 =
        answer["posterior"]["good"].as_object().unwrap().values().map(|p| p.as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-12);
    assert_eq!(answer["posterior"]["colour"]["red"], 0.0);
    assert!(answer["posterior"].get("size").is_none());
    for (facts, code) in [
        ("--given siz=2", 3),
        ("--given colour=blu", 3),
        ("--likelihood colour=red", 2),
        ("--given colour=red --not colour=red", 3),
    ] {
        assert_snapshot!(folder.fails(&format!("query toys.hgn {facts}"), code));
    }
}

#[test]
fn missing_cells_can_be_completed() {
    let folder = fitted("tan:ml");
    folder.write("gaps.csv", b"colour,size,weight,good\n,1,2.5,yes\nred,,,no\nblue,2,1,?\n");
    assert_snapshot!(folder.succeeds("impute toys.hgn gaps.csv --spread spread.csv -o full.csv"));
    let text = |name: &str| String::from_utf8(folder.read(name)).unwrap();
    let (full, spread) = (text("full.csv"), text("spread.csv"));
    assert!(full.starts_with("colour,size,weight,good\nred,1,2.5,yes\nred,2"), "{full}");
    assert!(full.ends_with("\nblue,2,1,\n"), "{full}");
    assert!(spread.starts_with("colour,size,weight\n0.648") && spread.ends_with("\n,,\n"), "{spread}");
    assert_snapshot!(folder.fails("impute toys.hgn gaps.csv --spread gaps.csv -o full.csv", 2));
}
