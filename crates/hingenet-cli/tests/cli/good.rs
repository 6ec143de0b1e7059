//! Good runs of the commands that need no particular model.

use crate::support::Folder;
use insta::assert_snapshot;

/// Two classes that a coin cannot tell, 12 rows, missing cells.
pub const TOYS: &str = "\
colour,size,weight,good
red,1,2.5,yes
red,2,2.25,yes
blue,1,?,yes
red,3,2.125,yes
blue,2,2,yes
red,1,1.5,yes
blue,3,0.5,no
green,2,0.25,no
green,1,0.75,no
,3,0.125,no
green,2,1,no
blue,1,0.5,no
";

#[test]
fn help_says_where_to_start() {
    assert_snapshot!(Folder::new().succeeds("--help"));
    assert_snapshot!(Folder::new().succeeds("evaluate --help"));
}

#[test]
fn generate_writes_rows_with_the_class_last() {
    let folder = Folder::new();
    assert_snapshot!(folder.succeeds("generate mixed -n 5 --seed 3"));
    assert_snapshot!("generate_forest", folder.succeeds("generate forest -n 2 --seed 3"));
    assert_snapshot!("generate_bn_one_order", folder.succeeds("generate bn-one-order -n 2 --seed 3"));
    assert_snapshot!("generate_bn", folder.succeeds("generate bn -n 2 --seed 3"));
    assert_snapshot!(folder.succeeds("generate corral -n 40 -o corral.csv"));
    assert_eq!(folder.text("corral.csv").lines().count(), 41);
    let lines = |name: &str| {
        folder.succeeds(&format!("generate {name} -n 2 -o g.csv"));
        folder.text("g.csv").lines().next().unwrap().to_string()
    };
    assert!(lines("waveform").starts_with("x00,") && lines("waveform").ends_with(",x20,class"));
    assert!(lines("ringnorm").starts_with("x01,") && lines("mofn-3-7-10").starts_with("bit_0,"));
}

#[test]
fn evaluate_prints_a_table_and_writes_json() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    assert_snapshot!(folder.succeeds(
        "evaluate toys.csv --target good --model majority --folds 3 --missing 0,0.5 --json out.json"
    ));
    let json = folder.text("out.json");
    assert!(json.starts_with(r#"{"data":{"rows":12,"features":3,"classes":["no","yes"]"#), "{json}");
    let keys = [
        "protocol",
        "folds",
        "repeats",
        "seed",
        "results",
        "model",
        "accuracy",
        "mean",
        "ci95",
        "balanced_error",
        "sd",
        "log_loss",
        "brier",
        "fit_seconds",
        "predict_seconds",
        "chosen",
        "missing",
        "rate",
    ];
    keys.iter().for_each(|key| assert!(json.contains(&format!("\"{key}\":")), "{key} in {json}"));
    let run = folder.run("evaluate toys.csv --target good --model majority --folds 3 --json - --quiet");
    assert!(run.stdout.starts_with("{\"data\"") && run.stdout.ends_with("}\n"), "{}", run.stdout);
    assert_eq!(run.stderr, "");
}

#[test]
fn the_json_of_an_evaluation_names_what_it_is_about() {
    let test = "good,colour\nno,green\nyes,violet\nyes,red\n";
    let folder = Folder::with(&[("toys.csv", TOYS), ("test.csv", test)]);
    let json = |more: &str| -> serde_json::Value {
        let run =
            folder.run(&format!("evaluate toys.csv --target good --model nb:ml --quiet --json - {more}"));
        serde_json::from_str(&run.stdout).unwrap()
    };
    let folds = json("--folds 3");
    assert_eq!((folds["format"].as_u64(), folds["data"]["target"].as_str()), (Some(1), Some("good")));
    assert_eq!(
        (folds["data"]["file"].as_str(), folds["protocol"].get("test_file")),
        (Some("toys.csv"), None)
    );
    let rows = folds["results"][0]["predictions"].as_array().unwrap();
    let numbers: Vec<u64> = rows.iter().map(|p| p["row"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<u64>>());
    let last = TOYS.lines().nth(1).unwrap();
    assert!(last.split(',').any(|cell| Some(cell) == rows[0]["class"].as_str()), "{last}: {}", rows[0]);
    // rows that are left out keep their numbers
    folder.write("toys.csv", TOYS.replacen("blue,2,2,yes", "blue,2,2,", 1).as_bytes());
    let dropped = json("--folds 3 --drop-unlabelled");
    let rows = dropped["results"][0]["predictions"].as_array().unwrap();
    let numbers: Vec<u64> = rows.iter().map(|p| p["row"].as_u64().unwrap()).collect();
    let gap = TOYS.lines().position(|line| line == "blue,2,2,yes").unwrap() as u64;
    assert_eq!(numbers, (1..=12).filter(|row| *row != gap).collect::<Vec<u64>>());
    let other = json("--test test.csv --drop-unlabelled");
    assert_eq!(other["protocol"]["test_file"], "test.csv");
    assert_eq!(other["results"][0]["predictions"].as_array().unwrap().len(), 3);
}

#[test]
fn a_learning_curve_is_a_table_of_rows_and_errors() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    assert_snapshot!(
        folder.succeeds("evaluate toys.csv --target good --model majority --folds 3 --rows 4,8")
    );
}

#[test]
fn rows_without_a_class_are_learnt_from_and_not_tested() {
    let toys = TOYS.replacen("blue,2,2,yes", "blue,2,2,", 1).replacen("green,1,0.75,no", "green,1,0.75,", 1);
    let folder = Folder::with(&[("toys.csv", &toys)]);
    let line = "evaluate toys.csv --target good --semi-supervised --folds 3 --model";
    assert_snapshot!(folder.succeeds(&format!("{line} nb:ml,tau=0 --model nb:ml,tau=1 --tests")));
    assert!(folder.fails(&format!("{line} majority"), 2).contains("cannot learn from rows without a class"));
}

#[test]
fn evaluate_on_a_test_file_has_one_split() {
    let test = "good,colour\nno,green\nyes,violet\nyes,red\n";
    let folder = Folder::with(&[("toys.csv", TOYS), ("test.csv", test)]);
    assert_snapshot!(folder.succeeds("evaluate toys.csv --target good --model majority --test test.csv"));
}

#[test]
fn groups_and_repeats_are_part_of_the_protocol() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    let line =
        "evaluate toys.csv --target good --model majority --folds 2 --repeats 2 --groups size --json -";
    let run = folder.run(line);
    assert!(
        run.stdout.contains(r#""protocol":{"folds":2,"repeats":2,"seed":0,"groups":"size"}"#),
        "{}",
        run.show()
    );
    assert!(run.stdout.contains(r#""features":2"#), "the group column is no feature");
}

#[test]
fn fit_predict_explain_and_inspect_work_together() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    assert_snapshot!(folder.succeeds("fit toys.csv --target good --model majority -o toys.hgn -v"));
    assert_snapshot!(folder.succeeds("inspect toys.hgn"));
    assert_snapshot!(folder.succeeds("inspect toys.hgn --format json"));
    assert_snapshot!(folder.succeeds("predict toys.hgn toys.csv --proba"));
    assert_snapshot!(folder.succeeds("explain toys.hgn toys.csv --row 2"));
}

#[test]
fn inspect_says_whether_a_pool_keeps_rows() {
    let folder = Folder::with(&[]);
    folder.succeeds("generate mixed -n 120 -o rows.csv");
    for (options, text, json) in [
        ("", "keeps       120 training rows and", "\"kept_rows\": 120"),
        (",rows=none,group=10", "keeps       no training rows, but", "\"least_rows\": 10"),
    ] {
        folder.succeeds(&format!("fit rows.csv --target class --model pool,fast=true{options} -o pool.hgn"));
        assert!(folder.run("inspect pool.hgn").stdout.contains(text), "{options}");
        assert!(folder.run("inspect pool.hgn --format json").stdout.contains(json), "{options}");
    }
}

#[test]
fn predict_takes_files_that_lack_columns_cells_and_the_target() {
    let folder = Folder::with(&[("toys.csv", TOYS), ("new.csv", "colour,other\nred,1\nviolet,2\n,3\n")]);
    folder.succeeds("fit toys.csv --target good --model majority -o toys.hgn");
    assert_snapshot!(folder.succeeds("predict toys.hgn new.csv"));
    assert_snapshot!(folder.fails("predict toys.hgn new.csv --unseen error", 3));
    folder.succeeds("predict toys.hgn new.csv -o out.csv");
    assert_eq!(folder.text("out.csv").lines().next(), Some("row,prediction"));
}

#[test]
fn standard_input_is_data_too() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    folder.succeeds("fit toys.csv --target good --model majority -o file.hgn");
    let run = folder.run_with_input("fit - --target good --model majority -o stdin.hgn", TOYS);
    assert_eq!(run.code, Some(0), "{}", run.show());
    assert_eq!(folder.read("file.hgn"), folder.read("stdin.hgn"));
    let from_file = folder.run("predict file.hgn toys.csv --proba").stdout;
    assert_eq!(folder.run_with_input("predict file.hgn - --proba", TOYS).stdout, from_file);
    let run = folder.run_with_input("evaluate - --target good --folds 2 --model majority", TOYS);
    assert_eq!(run.code, Some(0), "{}", run.show());
}

#[test]
fn weights_count_as_repetition_and_classes_can_be_weighted() {
    let folder = Folder::with(&[
        ("weighted.csv", "x,w,y\na,3,1\nb,1,0\n"),
        ("repeated.csv", "x,y\na,1\na,1\na,1\nb,0\n"),
    ]);
    let fit = |line: &str| {
        folder.succeeds(&format!("fit {line} --target y --model majority -o m.hgn"));
        folder.run("predict m.hgn repeated.csv --proba --quiet").stdout
    };
    assert_eq!(fit("weighted.csv --weights w"), fit("repeated.csv"));
    assert!(fit("repeated.csv --class-weight balanced").contains(",0.5,0.5"));
    assert_eq!(fit("repeated.csv --class-weight 0=3"), fit("repeated.csv --class-weight balanced"));
}

#[test]
fn reader_options_change_how_a_file_is_read() {
    let text = "id;code;y\n1;1;a\n2;x;b\n3;2;a\n";
    let folder = Folder::with(&[("d.csv", text)]);
    let fit = "fit d.csv --target y --model majority -o d.hgn --ignore id --na x --categorical code --delimiter ; -v";
    assert_snapshot!(folder.succeeds(fit));
    assert_snapshot!(folder.succeeds("inspect d.hgn"));
}

#[test]
fn unusual_columns_are_warned_about() {
    let text = "empty,id,x,y\n,9007199254740993,1,a\n,9007199254740995,2.5,b\n,1,3,a\n";
    let folder = Folder::with(&[("d.csv", text)]);
    assert_snapshot!(folder.succeeds("fit d.csv --target y --model majority -o d.hgn"));
    let quiet = folder.run("fit d.csv --target y --model majority -o d.hgn --quiet");
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = Folder::new().run(&format!("completions {shell}"));
        assert!(run.code == Some(0) && run.stdout.contains("evaluate"), "{shell}");
    }
}

#[test]
fn a_chart_is_drawn_from_json_and_what_is_wrong_with_it_is_told() {
    let json = r#"{"label": "Error by rows", "x": {"label": "rows"}, "y": {"label": "error, %"},
        "series": [{"name": "slb", "points": [[200, 8.4], [600, 4.8]]}]}"#;
    let folder = Folder::with(&[("c.json", json), ("bad.json", "{\"label\": \"no axes\"}")]);
    folder.succeeds("chart c.json -o c.svg");
    let svg = folder.text("c.svg");
    assert!(
        svg.starts_with("<svg xmlns=") && svg.contains(">slb</text>") && svg.contains(">error, %</text>")
    );
    assert_eq!(folder.run_with_input("chart -", json).stdout, svg);
    folder.refuses("chart bad.json -o bad.svg", 3, &["bad.json: missing field `x`"]);
    folder.refuses("chart c.json -o c.json", 2, &["c.json is an input and would be overwritten"]);
}

#[test]
fn networks_are_drawn_again_from_their_json() {
    let folder = Folder::new();
    folder.succeeds("generate gbn -n 120 --seed 1 -o g.csv");
    folder.succeeds("network g.csv --target class --method or --shuffles 0 -o n.json -o n.svg");
    folder.succeeds("chart n.json -o again.svg");
    assert_eq!(folder.text("again.svg"), folder.text("n.svg"));
    folder.succeeds("chart n.json --show matrix -o m.svg");
    let arcs = folder.text("n.json").matches("\"is_compelled\"").count();
    assert_eq!(folder.text("m.svg").matches("<rect class=\"cell").count(), arcs);
    folder.refuses("chart n.json --show moved -o w.svg", 3, &["n.json: no parameter moved"]);
    folder.succeeds("fit g.csv --target class --model sgbn:mm,lambda1=10,k=60,nu=0.3 -o g.hgn");
    folder.succeeds("inspect g.hgn --format svg -o g.svg");
    assert!(folder.text("g.svg").contains("(constant) → "));
}

/// One page for the program and one for each command that its help lists, each with its options.
#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    let help = folder.run("--help").stdout;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let starts = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|l| !l.starts_with(' ')));
    let commands = starts.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help");
    let mut expected: Vec<String> = commands.map(|name| format!("hingenet-{name}.1")).collect();
    expected.push("hingenet.1".into());
    expected.sort();
    assert_eq!(folder.run("manual -o share/man1").code, Some(0));
    let pages = std::fs::read_dir(folder.path().join("share/man1")).unwrap();
    let mut pages: Vec<String> = pages.map(|p| p.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    assert_eq!(pages, expected);
    let fit = folder.text("share/man1/hingenet-fit.1");
    for text in [".SH SYNOPSIS", "\\-\\-semi\\-supervised", "\\-\\-threads"] {
        assert!(fit.contains(text), "{text} is not in\n{fit}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    use std::process::{Command, Stdio};
    let mut head = Command::new(crate::support::program())
        .args(["generate", "waveform"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(head.stdout.take());
    let output = head.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

/// Models are told as they are done, cheap ones first; one that fails does not take the others with it.
#[test]
fn a_model_that_fails_leaves_the_others_their_figures() {
    let row = |m: usize| format!("{},{}\n", m * 7 % 40, ["a", "b"][m * 7 % 40 / 22]);
    let text: String = std::iter::once("x,y\n".to_string()).chain((0..40).map(row)).collect();
    let folder = Folder::with(&[("d.csv", &text)]);
    let run = folder.run(
        "evaluate d.csv --target y --folds 2 --model sgbn:or --model nb:ml --model majority --json e.json",
    );
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("warning: sgbn:or failed: "), "{}", run.stderr);
    assert!(run.stderr.contains("error: 1 of 3 models failed"), "{}", run.stderr);
    let place = |text: &str| run.stderr.find(text).unwrap_or_else(|| panic!("{text}: {}", run.stderr));
    assert!(place("majority: accuracy") < place("nb:ml: accuracy"), "{}", run.stderr);
    assert!(run.stdout.contains("nb:ml") && run.stdout.contains("majority"), "{}", run.stdout);
    let json: serde_json::Value = serde_json::from_str(&folder.text("e.json")).unwrap();
    assert_eq!(json["results"][0]["model"], "nb:ml");
    assert_eq!(json["failed"][0]["model"], "sgbn:or");
    let alone = folder.run("evaluate d.csv --target y --folds 2 --model sgbn:or");
    assert!(alone.code == Some(3) && !alone.stderr.contains("failed"), "{}", alone.stderr);
}

#[test]
fn prediction_sets_name_their_classes_so_that_they_can_be_read_back() {
    let rows: String = (0..80)
        .map(|m| {
            let class = if m % 7 == 0 {
                r"a|b"
            } else if m % 2 == 0 {
                "plain"
            } else {
                r"back\slash"
            };
            format!("{},{class}\n", (m * 37 % 11) as f64 + 20.0 * f64::from(m % 2))
        })
        .collect();
    let folder = Folder::with(&[("t.csv", &format!("x,class\n{rows}"))]);
    assert_snapshot!(folder.succeeds("fit t.csv --target class --model nb:ml --calibrate-sets=0.5 -o m.hgn"));
    folder.write("new.csv", b"x\n3\n25\n\n");
    assert_snapshot!(folder.succeeds("predict m.hgn new.csv --coverage 0.9 --proba"));
    assert_snapshot!(folder.fails("predict m.hgn new.csv --coverage 0.99", 2));
    folder.succeeds("fit t.csv --target class --model nb:ml -o plain.hgn");
    assert_snapshot!(folder.fails("predict plain.hgn new.csv --coverage 0.9", 2));
}
