//! Every number in every table of the evaluation page is the number of the JSON, cell by cell, and is shown
//! rounded as stated.

mod html;

use hingenet::Control;
use hingenet::evaluate::{Plan, Protocol, Sweep, TestRows, TestSet, compare, generate, study};
use hingenet::model::{Dataset, FitOptions, ModelSpec, fit};
use hingenet::report::{EvaluationReport, ModelReport};
use hingenet_view::{evaluation_page, model_page};
use html::{Cell, Table, tables};
use serde_json::Value;

/// What a cell must hold.
enum Wanted {
    Text(String),
    /// The JSON number behind the cell and what is shown of it.
    Number(f64, String),
}

fn text(value: &Value) -> Wanted {
    Wanted::Text(value.as_str().unwrap().to_string())
}

fn decimals(value: &Value, n: usize) -> Wanted {
    match value.as_f64() {
        Some(x) => Wanted::Number(x, format!("{x:.n$}")),
        None => Wanted::Text("–".into()),
    }
}

fn percent(value: &Value) -> Wanted {
    match value.as_f64() {
        Some(x) => Wanted::Number(x, format!("{:.2}", 100.0 * x)),
        None => Wanted::Text("–".into()),
    }
}

fn percent_between(share: &Value) -> Wanted {
    let [x, low, high] = ["mean", "low", "high"].map(|key| share[key].as_f64().unwrap());
    assert!(0.0 <= low && low <= x && x <= high && high <= 1.0, "{share}");
    Wanted::Number(x, format!("{:.2} ({:.2}–{:.2})", 100.0 * x, 100.0 * low, 100.0 * high))
}

fn p_value(value: &Value) -> Wanted {
    match value.as_f64() {
        Some(p) if p < 0.001 => Wanted::Number(p, "< 0.001".into()),
        _ => decimals(value, 3),
    }
}

fn amount(value: &Value) -> Wanted {
    let x = value.as_f64().unwrap();
    Wanted::Number(x, if x.fract() == 0.0 { format!("{x:.0}") } else { format!("{x:.2}") })
}

fn percents(values: &Value, sign: f64) -> Wanted {
    let list = items(values).iter().map(|v| format!("{:.2}", 100.0 * sign * v.as_f64().unwrap()));
    Wanted::Text(list.collect::<Vec<_>>().join(", "))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number_after(id: &str) -> usize {
    id.rsplit('-').next().unwrap().parse().unwrap()
}

/// A point is an array of two numbers.
fn points(curve: &Value) -> Vec<(f64, f64)> {
    items(curve).iter().map(|p| (p[0].as_f64().unwrap(), p[1].as_f64().unwrap())).collect()
}

/// The rows a table must have, made from the JSON alone; none for a table nobody knows.
fn wanted(json: &Value, table: &Table) -> Option<Vec<Vec<Wanted>>> {
    let (results, models) = (items(&json["evaluation"]["results"]), items(&json["models"]));
    let id = table.id.as_str();
    let kind = id.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
    Some(match (kind, table.caption.as_str()) {
        ("accuracy", _) => results.iter().map(accuracy_row).collect(),
        ("differences", _) => difference_rows(json),
        ("models", c) if c.starts_with("All models") => results.iter().map(model_row).collect(),
        ("pairs", _) => items(&json["differences"]).iter().map(|d| pair_row(d, results)).collect(),
        ("mistakes", c) if c.contains(": each class against the rest") => {
            let result =
                results.iter().find(|r| c.starts_with(&format!("{}:", r["model"].as_str().unwrap())));
            items(&result.unwrap()["classes"]).iter().map(class_row).collect()
        }
        ("wrong", _) => {
            let model = &models[number_after(id)];
            let list = items(&model["mistakes"]);
            assert!(list.is_sorted_by_key(|m| m["of_class"].as_f64()), "the least probable first");
            assert!(list.len() as u64 <= model["n_mistakes"].as_u64().unwrap());
            list.iter().map(mistake_row).collect()
        }
        ("thresholds", c) => {
            let of_model = |r: &&Value| c.starts_with(&format!("{}:", r["model"].as_str().unwrap()));
            let classes = items(&results.iter().find(of_model).unwrap()["classes"]);
            let of_class = |k: &&Value| c.contains(&format!(": {} against", k["class"].as_str().unwrap()));
            threshold_rows(classes.iter().find(of_class).unwrap())
        }
        ("decision", _) => telling(json).flat_map(|i| decision_rows(&results[i], number_after(id))).collect(),
        ("reliability-all", _) => telling(json)
            .flat_map(|i| {
                let row = |b: &Value| {
                    let shares = ["stated", "correct", "low", "high"].map(|key| percent(&b[key]));
                    [text(&models[i]["model"]), amount(&b["weight"])].into_iter().chain(shares).collect()
                };
                items(&models[i]["reliability"]["bins"]).iter().map(row).collect::<Vec<_>>()
            })
            .collect(),
        ("margins-all", _) => telling(json).flat_map(|i| margin_rows(&models[i])).collect(),
        ("columns", _) => items(&json["findings"]["columns"])
            .iter()
            .map(|c| column_row(c, json["evaluation"]["data"]["rows"].as_f64().unwrap()))
            .collect(),
        ("confusion", _) => confusion_rows(json, number_after(id)),
        ("curve", _) => curve_points(json, |p| {
            let a = &p["accuracy"];
            ["mean", "high", "low"].map(|key| Value::from(1.0 - a[key].as_f64().unwrap()))
        }),
        ("curve-balanced", _) => {
            curve_points(json, |p| ["mean", "low", "high"].map(|key| p["balanced_error"][key].clone()))
        }
        ("missing", _) => models.iter().flat_map(|m| curve_rows(&m["missing"], &m["model"])).collect(),
        ("missing-parts", _) => {
            let model = &models[number_after(id)];
            let parts = items(&model["missing_parts"]).iter().flat_map(|c| curve_rows(c, &c["name"]));
            parts.chain(curve_rows(&model["missing"], &model["model"])).collect()
        }
        ("trade-off", _) => items(&json["trade_offs"][number_after(id)]["points"])
            .iter()
            .map(|p| {
                let (likelihood, slack) = (decimals(&p["log_likelihood"], 4), decimals(&p["slack"], 4));
                let shares = ["accuracy", "low", "high"].map(|key| percent(&p[key]));
                [text(&p["value"]), likelihood, slack].into_iter().chain(shares).collect()
            })
            .collect(),
        ("importance", _) => items(&json["importance"]["features"])
            .iter()
            .map(|f| vec![text(&f["feature"]), decimals(&f["mean"], 4), decimals(&f["sd"], 4)])
            .collect(),
        ("reliability", _) => reliability_rows(&models[number_after(id)]),
        ("margins", _) => {
            let margins = &models[number_after(id)]["margins"];
            let edges = items(&margins["edges"]);
            let row = |(k, s): (usize, &Value)| {
                vec![decimals(&edges[k], 3), decimals(&edges[k + 1], 3), percent(s)]
            };
            items(&margins["shares"]).iter().enumerate().map(row).collect()
        }
        ("class-balance", _) => {
            let mut classes: Vec<&Value> = items(&json["findings"]["classes"]).iter().collect();
            classes.sort_by(|a, b| b["share"].as_f64().unwrap().total_cmp(&a["share"].as_f64().unwrap()));
            let row = |c: &&Value| vec![text(&c["name"]), decimals(&c["count"], 0), percent(&c["share"])];
            classes.iter().map(row).collect()
        }
        ("missing-columns", _) => items(&json["findings"]["missing"])
            .iter()
            .map(|m| vec![text(&m["name"]), decimals(&m["count"], 0), percent(&m["share"])])
            .collect(),
        ("data", c) if c.starts_with("Columns that are missing together") => {
            let row = |p: &Value| {
                let names: Vec<&str> = items(&p[0]).iter().map(|n| n.as_str().unwrap()).collect();
                vec![Wanted::Text(names.join(", ")), decimals(&p[1], 0)]
            };
            items(&json["findings"]["patterns"]).iter().map(row).collect()
        }
        ("reproduce", "How the solvers ended") => models.iter().filter_map(solver_row).collect(),
        ("reproduce", c) if c.starts_with("Options chosen") => chosen_rows(results),
        _ => return None,
    })
}

/// Models that tell rows apart, the best first.
fn telling(json: &Value) -> impl Iterator<Item = usize> {
    let best = json["verdict"]["best"].as_u64().unwrap() as usize;
    let models: Vec<bool> = items(&json["models"]).iter().map(|m| m["model"] != "majority").collect();
    let others = (0..models.len()).filter(move |i| *i != best);
    std::iter::once(best).chain(others).filter(move |i| models[*i])
}

fn class_row(k: &Value) -> Vec<Wanted> {
    let share = |key: &str| match k[key].is_null() {
        true => Wanted::Text("–".into()),
        false => {
            let [x, low, high] = ["value", "low", "high"].map(|end| 100.0 * k[key][end].as_f64().unwrap());
            Wanted::Number(k[key]["value"].as_f64().unwrap(), format!("{x:.2} ({low:.2}–{high:.2})"))
        }
    };
    let shares = ["sensitivity", "specificity", "ppv", "npv"].map(share);
    let counts = ["true_positives", "false_positives", "false_negatives", "true_negatives"];
    [text(&k["class"])].into_iter().chain(shares).chain(counts.map(|n| amount(&k["counts"][n]))).collect()
}

fn mistake_row(m: &Value) -> Vec<Wanted> {
    assert!(m["class"] != m["answer"] && m["of_class"].as_f64() <= m["of_answer"].as_f64(), "{m}");
    vec![
        decimals(&m["row"], 0),
        text(&m["class"]),
        percent(&m["of_class"]),
        text(&m["answer"]),
        percent(&m["of_answer"]),
        decimals(&m["fold"], 0),
    ]
}

/// The shares of one class and the rows behind them.
fn threshold_rows(k: &Value) -> Vec<Vec<Wanted>> {
    let row = |name: &str, key: &str, right: &str, wrong: &str| {
        let count = |key: &str| k["counts"][key].as_f64().unwrap();
        let shares = ["value", "low", "high"].map(|end| percent(&k[key][end]));
        let rows = format!("{} of {}", count(right), count(right) + count(wrong));
        [Wanted::Text(name.into())].into_iter().chain(shares).chain([Wanted::Text(rows)]).collect()
    };
    let (tp, fp, fn_, tn) = ("true_positives", "false_positives", "false_negatives", "true_negatives");
    vec![
        row("sensitivity: rows of the class that are found", "sensitivity", tp, fn_),
        row("specificity: other rows left alone", "specificity", tn, fp),
        row("PPV: answers of the class that are right", "ppv", tp, fp),
        row("NPV: other answers that are right", "npv", tn, fn_),
    ]
}

fn decision_rows(result: &Value, class: usize) -> Vec<Vec<Wanted>> {
    let points = items(&result["classes"][class]["thresholds"]).iter().skip(9).step_by(10);
    let row = |p: &Value| {
        let worth = [decimals(&p["net_benefit"], 4), decimals(&p["treat_all"], 4)];
        [text(&result["model"]), percent(&p["threshold"])].into_iter().chain(worth).collect()
    };
    points.map(row).collect()
}

/// Shares of rows up to each edge, without the last bin, which holds all beyond it.
fn margin_rows(model: &Value) -> Vec<Vec<Wanted>> {
    let (edges, shares) = (items(&model["margins"]["edges"]), items(&model["margins"]["shares"]));
    let mut sum = 0.0;
    let row = |k: usize| {
        sum += shares[k].as_f64().unwrap();
        vec![text(&model["model"]), decimals(&edges[k + 1], 3), percent(&Value::from(sum))]
    };
    (0..shares.len() - 1).map(row).collect()
}

fn column_row(c: &Value, rows: f64) -> Vec<Wanted> {
    let missing = Value::from(c["missing"].as_f64().unwrap() / rows);
    let short = |x: &Value| format!("{:.4e}", x.as_f64().unwrap()).parse::<f64>().unwrap();
    let (low, high) = (&c["range"][0], &c["range"][1]);
    let range = if low.is_null() { "–".into() } else { format!("{} to {}", short(low), short(high)) };
    vec![
        text(&c["name"]),
        Wanted::Text(if c["is_numeric"] == true { "numbers" } else { "categories" }.into()),
        decimals(&c["distinct"], 0),
        Wanted::Text(range),
        decimals(&c["missing"], 0),
        percent(&missing),
        Wanted::Text(String::new()),
    ]
}

fn accuracy_row(r: &Value) -> Vec<Wanted> {
    let a = &r["accuracy"];
    let shares = ["mean", "low", "high"].map(|key| percent(&a[key]));
    [text(&r["model"])].into_iter().chain(shares).chain([percents(&a["folds"], 1.0)]).collect()
}

fn model_row(r: &Value) -> Vec<Wanted> {
    vec![
        text(&r["model"]),
        percent_between(&r["accuracy"]),
        percent_between(&r["balanced_error"]),
        decimals(&r["log_loss"], 4),
        decimals(&r["brier"], 4),
        decimals(&r["auc"], 4),
        decimals(&r["log_likelihood"], 3),
        decimals(&r["fit_seconds"], 3),
        decimals(&r["predict_seconds"], 3),
    ]
}

fn pair_row(d: &Value, results: &[Value]) -> Vec<Wanted> {
    let name = |key: &str| text(&results[d[key].as_u64().unwrap() as usize]["model"]);
    let ranks = &d["signed_ranks"];
    let p = [&d["p_value"], &d["p_adjusted"], &ranks["p_value"], &ranks["p_bonferroni"]].map(p_value);
    [name("first"), name("second"), percent(&d["mean"]), percent(&d["ci95"])].into_iter().chain(p).collect()
}

/// The best model less each other one: the sign turns where the best is the second of a pair.
fn difference_rows(json: &Value) -> Vec<Vec<Wanted>> {
    let results = items(&json["evaluation"]["results"]);
    let best = json["verdict"]["best"].as_u64().unwrap();
    let row = |i: u64| {
        let d = items(&json["differences"]).iter().find(|d| {
            let (a, b) = (d["first"].as_u64().unwrap(), d["second"].as_u64().unwrap());
            (a, b) == (best.min(i), best.max(i))
        })?;
        let sign = if d["first"].as_u64() == Some(best) { 1.0 } else { -1.0 };
        let mean = sign * d["mean"].as_f64().unwrap();
        Some(vec![
            text(&results[i as usize]["model"]),
            Wanted::Number(mean, format!("{:.2}", 100.0 * mean)),
            percent(&d["ci95"]),
            p_value(&d["p_value"]),
            p_value(&d["p_adjusted"]),
            p_value(&d["signed_ranks"]["p_value"]),
            p_value(&d["signed_ranks"]["p_bonferroni"]),
            percents(&d["folds"], sign),
        ])
    };
    (0..results.len() as u64).filter(|i| *i != best).filter_map(row).collect()
}

fn confusion_rows(json: &Value, model: usize) -> Vec<Vec<Wanted>> {
    let classes = items(&json["evaluation"]["data"]["classes"]);
    let counts = items(&json["evaluation"]["results"][model]["confusion"]);
    let rates = &json["models"][model]["rates"];
    let row = |(c, row): (usize, &Value)| {
        let mut cells = vec![text(&classes[c])];
        cells.extend(items(row).iter().map(amount));
        cells.push(percent(&rates[c][c]));
        cells
    };
    counts.iter().enumerate().map(row).collect()
}

/// Every point of the learning curves: model, rows, and a share with its interval.
fn curve_points(json: &Value, share: fn(&Value) -> [Value; 3]) -> Vec<Vec<Wanted>> {
    let row = |p: &Value| {
        let shares = share(p);
        let ends = shares.each_ref().map(|x| x.as_f64().unwrap());
        assert!(0.0 <= ends[1] && ends[1] <= ends[0] && ends[0] <= ends[2] && ends[2] <= 1.0, "{p}");
        [text(&p["model"]), decimals(&p["rows"], 0)].into_iter().chain(shares.iter().map(percent)).collect()
    };
    items(&json["evaluation"]["curve"]).iter().map(row).collect()
}

fn curve_rows(curve: &Value, name: &Value) -> Vec<Vec<Wanted>> {
    let band = items(&curve["band"]);
    let row = |(k, p): (usize, &Value)| {
        let ends = [percent(&band[k][0]), percent(&band[k][1])];
        [text(name), percent(&p[0]), percent(&p[1])].into_iter().chain(ends).collect()
    };
    items(&curve["points"]).iter().enumerate().map(row).collect()
}

fn reliability_rows(model: &Value) -> Vec<Vec<Wanted>> {
    let bins = |r: &Value, name: &str| {
        let row = |b: &Value| {
            let shares = ["stated", "correct", "low", "high"].map(|key| percent(&b[key]));
            let head =
                [Wanted::Text(name.into()), percent(&b["from"]), percent(&b["to"]), amount(&b["weight"])];
            head.into_iter().chain(shares).collect::<Vec<_>>()
        };
        items(&r["bins"]).iter().map(row).collect::<Vec<_>>()
    };
    match model["uncalibrated"].is_null() {
        true => bins(&model["reliability"], "as stated"),
        false => {
            let mut rows = bins(&model["reliability"], "after calibration");
            rows.extend(bins(&model["uncalibrated"], "before calibration"));
            rows
        }
    }
}

fn solver_row(model: &Value) -> Option<Vec<Wanted>> {
    let solvers = items(&model["solvers"]);
    let whole = |x: f64| Wanted::Number(x, format!("{x:.0}"));
    let gap = solvers.iter().filter_map(|s| s["gap"].as_f64()).reduce(f64::max);
    Some(vec![
        text(&model["model"]),
        text(&solvers.first()?["method"]),
        whole(solvers.len() as f64),
        whole(solvers.iter().filter(|s| s["converged"] == true).count() as f64),
        whole(solvers.iter().map(|s| s["iterations"].as_f64().unwrap()).fold(0.0, f64::max)),
        gap.map_or(Wanted::Text("–".into()), |g| Wanted::Number(g, format!("{g:.1e}"))),
    ])
}

fn chosen_rows(results: &[Value]) -> Vec<Vec<Wanted>> {
    let mut rows = Vec::new();
    for r in results {
        let folds = items(&r["chosen"]);
        let keys: std::collections::BTreeSet<&String> =
            folds.iter().flat_map(|c| c.as_object().unwrap().keys()).collect();
        for key in keys {
            let values: Vec<String> = folds.iter().map(|c| c[key].as_f64().unwrap().to_string()).collect();
            let cells = [r["model"].as_str().unwrap().to_string(), key.clone(), values.join(", ")];
            rows.push(cells.into_iter().map(Wanted::Text).collect());
        }
    }
    rows
}

fn agree(cell: &Cell, wanted: &Wanted, place: &str) {
    match wanted {
        Wanted::Text(text) => assert_eq!((&cell.text, cell.value), (text, None), "{place}"),
        Wanted::Number(x, shown) => {
            assert_eq!(cell.value, Some(*x), "{place}: the number behind the cell");
            assert_eq!(&cell.text, shown, "{place}: what is shown of {x}");
        }
    }
}

/// ROC and precision-recall tables list some points of long curves: each must be a point of the JSON.
fn check_curve(json: &Value, table: &Table) {
    let class = number_after(&table.id);
    let (curve, area) =
        if table.id.starts_with("roc") { ("roc", "auc") } else { ("precision_recall", "average_precision") };
    let mut per_model = vec![0; items(&json["models"]).len()];
    for row in &table.rows {
        let m = items(&json["models"]).iter().position(|m| m["model"] == row[0].text.as_str()).unwrap();
        let of_class = &json["models"][m]["classes"][class];
        let point = (row[1].value.unwrap(), row[2].value.unwrap());
        assert!(points(&of_class[curve]).contains(&point), "{}: {point:?}", table.id);
        agree(&row[1], &percent(&Value::from(point.0)), &table.id);
        agree(&row[2], &percent(&Value::from(point.1)), &table.id);
        agree(&row[3], &decimals(&of_class[area], 4), &table.id);
        per_model[m] += 1;
    }
    assert!(per_model.iter().all(|n| *n > 0), "{}: {per_model:?}", table.id);
}

/// Compares all tables of the page with the JSON of the report; gives the names of those seen.
fn check(report: &EvaluationReport) -> Vec<String> {
    let json = serde_json::to_value(report).unwrap();
    let page = evaluation_page(report).unwrap();
    let found = tables(&page);
    for table in &found {
        if table.id.starts_with("roc-") || table.id.starts_with("pr-") {
            check_curve(&json, table);
            continue;
        }
        let wanted =
            wanted(&json, table).unwrap_or_else(|| panic!("unknown table {} {}", table.id, table.caption));
        assert_eq!(table.rows.len(), wanted.len(), "rows of {} {}", table.id, table.caption);
        for (k, (row, wanted)) in table.rows.iter().zip(&wanted).enumerate() {
            assert_eq!(row.len(), table.header.len(), "cells of {} row {k}", table.id);
            assert_eq!(row.len(), wanted.len(), "cells of {} row {k}", table.id);
            row.iter().zip(wanted).enumerate().for_each(|(j, (cell, wanted))| {
                agree(cell, wanted, &format!("{} row {k} column {j}", table.id));
            });
        }
    }
    check_headlines(&json, &page);
    found.into_iter().map(|t| t.id).collect()
}

/// The cards and the verdict sentence.
fn check_headlines(json: &Value, page: &str) {
    let cards = html::cards(page);
    assert_eq!(cards.len(), items(&json["headlines"]).len());
    for (card, headline) in cards.iter().zip(items(&json["headlines"])) {
        let (x, is_share) = (headline["value"].as_f64().unwrap(), headline["is_share"] == true);
        let show = |x: f64| if is_share { format!("{:.2} %", 100.0 * x) } else { format!("{x:.4}") };
        assert_eq!(card.value, Some(x));
        let end = |key: &str| headline["interval"][key].as_f64();
        let interval = end("low").zip(end("high")).map(|(low, high)| {
            assert!(low <= x && x <= high && low >= 0.0, "{headline}");
            let bare = |x: f64| show(x).trim_end_matches(" %").to_string();
            format!(" 95 %: {}–{}", bare(low), bare(high))
        });
        assert_eq!(card.text, format!("{}{}", show(x), interval.unwrap_or_default()));
    }
    let verdict = html::text_of(page, "<p class=\"verdict\">");
    let best = &json["evaluation"]["results"][json["verdict"]["best"].as_u64().unwrap() as usize];
    let shown = |x: &Value| format!("{:.2}", 100.0 * x.as_f64().unwrap());
    assert!(verdict.contains(&format!("({} %)", shown(&json["verdict"]["majority_share"]))), "{verdict}");
    if json["verdict"]["is_useful"] == true {
        let accuracy = &best["accuracy"];
        let [mean, low, high] = ["mean", "low", "high"].map(|key| shown(&accuracy[key]));
        let claim = format!("{mean} % of unseen rows correctly (95 % interval {low}–{high} %)");
        assert!(verdict.contains(&claim), "{verdict}");
        assert!(
            verdict.contains(&format!("{} percentage points", shown(&json["verdict"]["gain"]))),
            "{verdict}"
        );
    }
}

fn specs(names: &[&str]) -> Vec<ModelSpec> {
    names.iter().map(|n| n.parse().unwrap()).collect()
}

#[test]
fn every_cell_of_a_cross_validation_is_the_number_of_the_json() {
    let data = Dataset::new(generate("mixed", Some(240), 1).unwrap(), "class", None).unwrap();
    let models = specs(&["majority", "nb:ml", "nb:mm,lambda=1", "sgbn:or", "pool,fast=true"]);
    let protocol = Protocol { folds: 3, missing: vec![0.3, 0.6], ..Protocol::default() };
    let mut report = study(&Plan::new(&models, &data, &protocol), &Control::default()).unwrap();
    let sweep: Sweep = "alpha=0.1,1,10".parse().unwrap();
    let swept = Plan { sweep: Some(&sweep), ..Plan::new(&models[1..2], &data, &protocol) };
    report.add_trade_off(&compare(&swept, &Control::default()).unwrap());
    let seen = check(&report);
    for name in
        ["accuracy", "differences", "models", "pairs", "missing", "missing-parts-4", "trade-off-0", "roc-0"]
    {
        assert!(seen.iter().any(|s| s == name), "{name} is not on the page: {seen:?}");
    }
    for name in [
        "pr-2",
        "reliability-2",
        "margins-4",
        "class-balance",
        "missing-columns",
        "data",
        "reproduce",
        "mistakes",
        "wrong-1",
        "thresholds",
        "decision-0",
        "reliability-all",
        "margins-all",
        "columns",
    ] {
        assert!(seen.iter().any(|s| s == name), "{name} is not on the page: {seen:?}");
    }
    assert!(report.models[2].uncalibrated.is_some(), "no model was calibrated: choose another");
}

#[test]
fn every_cell_of_a_test_file_is_the_number_of_the_json() {
    let table = generate("mixed", Some(300), 2).unwrap();
    let rows: Vec<usize> = (0..300).collect();
    let data = Dataset::new(table.rows(&rows[..200]), "class", None).unwrap();
    let test = TestSet::new(table.rows(&rows[200..]), "class", None, &data.classes).unwrap();
    let models = specs(&["nb:ml", "tan:ml"]);
    let protocol = Protocol { rows: vec![20, 60, 200], ..Protocol::default() };
    let plan = Plan { tested: TestRows::Set(&test), ..Plan::new(&models, &data, &protocol) };
    let seen = check(&study(&plan, &Control::default()).unwrap());
    for name in ["curve", "curve-balanced"] {
        assert!(seen.iter().any(|s| s == name), "{name} is not on the page: {seen:?}");
    }
}

/// Features that have nothing to do with the class must not yield a claim.
#[test]
fn noise_is_not_called_useful() {
    let table = generate("ringnorm", Some(200), 4).unwrap();
    let features = table.rows(&(0..200).rev().collect::<Vec<_>>());
    let mut data = Dataset::new(features, "class", None).unwrap();
    let other = Dataset::new(table, "class", None).unwrap();
    data.class = other.class;
    let models = specs(&["majority", "nb:ml", "tan:ml"]);
    let report = study(&Plan::new(&models, &data, &Protocol::default()), &Control::default()).unwrap();
    let verdict = html::text_of(&evaluation_page(&report).unwrap(), "<p class=\"verdict\">");
    assert!(!report.verdict.is_useful && report.verdict.worse.is_empty(), "{verdict}");
    assert!(
        verdict.starts_with("No model is more accurate") || verdict.starts_with("These rows do not show"),
        "{verdict}"
    );
}

/// Every parameter that moved stands in a table, those with an arc in the picture too.
#[test]
fn the_page_of_a_discriminative_network_shows_what_moved() {
    let data = Dataset::new(generate("gbn", Some(120), 1).unwrap(), "class", None).unwrap();
    let report_of = |name: &str| {
        let model = fit(&name.parse().unwrap(), &data, FitOptions::default(), &Control::default()).unwrap();
        ModelReport::of(&model, &data.features, &[0]).unwrap()
    };
    let report = report_of("sgbn:mm,lambda1=10,k=12,nu=0.3");
    let moved = &report.class_networks.as_ref().unwrap().moved;
    assert!(!moved.is_empty());
    let html = model_page(&report, None).unwrap();
    let tables = tables(&html);
    let listed: usize = tables.iter().filter(|t| t.id.starts_with("moved-")).map(|t| t.rows.len()).sum();
    assert_eq!(listed, moved.len());
    let changes: Vec<f64> = moved.iter().map(|w| w.after - w.before).collect();
    let cells = tables.iter().filter(|t| t.id.starts_with("moved-")).flat_map(|t| &t.rows);
    assert!(cells.map(|row| row[4].value.unwrap()).all(|x| changes.contains(&x)));
    let generative = model_page(&report_of("sgbn:or,lambda1=10"), None).unwrap();
    assert!(html.contains("<section id=\"moved\"") && !generative.contains("<section id=\"moved\""));
}
