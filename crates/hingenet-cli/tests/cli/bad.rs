//! Bad runs: a clear error with a remedy, the right exit code, nothing written, no panic.

use crate::good::TOYS;
use crate::support::Folder;
use insta::assert_snapshot;

/// `fit` and `evaluate` on a bad file: exit code 3, the same first line of error.
#[track_caller]
fn refused(text: &[u8]) -> String {
    let folder = Folder::new();
    folder.write("bad.csv", text);
    let fit = folder.fails("fit bad.csv --target y --model majority -o m.hgn", 3);
    let evaluate = folder.fails("evaluate bad.csv --target y --model majority --json out.json", 3);
    let errors = |shown: &str| shown.split("--- stderr\n").nth(1).unwrap_or_default().to_string();
    assert_eq!(errors(&fit), errors(&evaluate));
    errors(&fit)
}

/// Files that hold no table, and rows that cannot be learnt from.
#[test]
fn files_without_rows_to_learn_from() {
    for (name, text) in [
        ("empty_file", &b""[..]),
        ("header_only", b"x,y\n"),
        ("ragged_row", b"x,y\n1,a\n2\n3,b\n"),
        ("long_row", b"x,y\n1,a\n2,b,c\n"),
        ("invalid_utf_8", b"x,y\n1,a\n\xff\xfe,b\n"),
        ("duplicate_header", b"x,x,y\n1,2,a\n3,4,b\n"),
        ("open_quote", b"x,y\n\"1,a\n2,b\n"),
        ("one_row", b"x,y\n1,a\n"),
        ("one_class", b"x,y\n1,a\n2,a\n3,a\n"),
        ("target_absent", b"x,z\n1,a\n2,b\n"),
        ("no_class_at_all", b"x,y\n1,\n2,?\n3,NA\n"),
        ("missing_class", b"x,y\n1,a\n2,\n3,b\n"),
        ("no_features", b"y\na\nb\n"),
        ("infinity", b"x,y\n1,a\ninf,b\n3,a\n"),
        ("negative_infinity", b"x,y\n1,a\n-Infinity,b\n3,a\n"),
        ("overflow", b"x,y\n1,a\n1e999,b\n3,a\n"),
    ] {
        assert_snapshot!(name, refused(text));
    }
}

#[test]
fn more_than_65535_categories_are_refused_with_the_remedy() {
    let mut text = String::from("id,x,y\n");
    (0..65536).for_each(|m| text += &format!("v{m},{},{}\n", m % 7, m % 2));
    assert_snapshot!(refused(text.as_bytes()));
    let folder = Folder::with(&[("d.csv", &text)]);
    folder.succeeds("fit d.csv --target y --model majority -o m.hgn --ignore id");
}

#[test]
fn weights_that_make_no_sense() {
    let folder = Folder::with(&[
        ("negative.csv", "x,w,y\n1,-1,a\n2,1,b\n"),
        ("zero.csv", "x,w,y\n1,0,a\n2,0,b\n"),
        ("one_class.csv", "x,w,y\n1,1,a\n2,0,b\n"),
        ("text.csv", "x,w,y\n1,one,a\n2,two,b\n"),
        ("missing.csv", "x,w,y\n1,,a\n2,1,b\n"),
        ("huge.csv", "x,w,y\n1,1,a\n\n2,1,b\n3,1e308,b\n4,1,a\n"),
        ("heavy.csv", "x,w,y\n1,1,a\n2,0.1,b\n3,1e12,b\n4,1,a\n"),
    ]);
    for name in ["negative", "zero", "one_class", "text", "missing", "huge", "heavy"] {
        let line = format!("fit {name}.csv --target y --weights w --model majority -o m.hgn");
        assert_snapshot!(format!("weights_{name}"), folder.fails(&line, 3));
    }
}

#[test]
fn command_lines_that_make_no_sense() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    let line = |rest: &str| format!("evaluate toys.csv --target good {rest}");
    for (name, line) in [
        ("no command", String::new()),
        ("unknown command", "guess".into()),
        ("no target", "fit toys.csv -o m.hgn".into()),
        ("unknown model", line("--model forest")),
        ("unknown option", line("--model majority,depth=3")),
        ("folds 1", line("--model majority --folds 1")),
        ("rows that fall", line("--model majority --rows 8,4")),
        ("rate above 1", line("--model majority --missing 0,2")),
        ("rate is text", line("--model majority --missing much")),
        ("test and folds", line("--test toys.csv --folds 3")),
        ("sweep without values", line("--model majority --sweep lambda")),
        ("sweep of an unknown option", line("--model majority --sweep lambda=1,2")),
        (
            "class weight",
            "fit toys.csv --target good --model majority -o m.hgn --class-weight maybe=2".into(),
        ),
        ("delimiter", line("--delimiter ::")),
        ("generator", "generate noise".into()),
        ("no rows to generate", "generate corral -n 0".into()),
        ("shell", "completions tcsh".into()),
        ("quiet and verbose", line("--quiet -v")),
        ("overwrite the input", "fit toys.csv --target good --model majority -o toys.csv".into()),
    ] {
        assert_snapshot!(format!("usage_{}", name.replace(' ', "_")), folder.fails(&line, 2));
    }
}

#[test]
fn files_that_are_not_there() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    assert_snapshot!(folder.fails("fit nowhere.csv --target good --model majority -o m.hgn", 3));
    assert_snapshot!(folder.fails("predict nowhere.hgn toys.csv", 3));
    assert_snapshot!(folder.fails("fit toys.csv --target good --model majority -o none/m.hgn", 1));
    assert_snapshot!(folder.fails("evaluate toys.csv --target good --model majority --json none/m.json", 1));
}

#[test]
fn protocols_that_the_rows_do_not_allow() {
    let folder =
        Folder::with(&[("few.csv", "x,y\n1,a\n2,b\n3,b\n"), ("lone.csv", "x,y\n1,a\n2,b\n3,b\n4,b\n5,b\n")]);
    assert_snapshot!(folder.fails("evaluate few.csv --target y --model majority", 3));
    assert_snapshot!(folder.fails("evaluate lone.csv --target y --model majority", 3));
    assert_snapshot!(folder.fails("evaluate lone.csv --target y --model majority --groups z", 3));
    folder.write("other.csv", b"x,y\n1,c\n");
    assert_snapshot!(folder.fails("evaluate lone.csv --target y --model majority --test other.csv", 3));
    let curve =
        |rows: &str| format!("evaluate toys.csv --target good --model majority --folds 3 --rows {rows}");
    folder.write("toys.csv", TOYS.as_bytes());
    assert_snapshot!("more_rows_than_a_part_has", folder.fails(&curve("4,9"), 3));
    let rare = TOYS.replace("0.5,no", "0.5,maybe") + "green,2,0.25,no\n".repeat(20).as_str();
    folder.write("toys.csv", rare.as_bytes());
    assert_snapshot!("a_class_that_would_vanish", folder.fails(&curve("2,8"), 3));
}

#[test]
fn model_files_that_are_damaged() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    folder.succeeds("fit toys.csv --target good --model majority -o m.hgn");
    let good = folder.read("m.hgn");
    folder.write("short.hgn", &good[..good.len() / 2]);
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    folder.write("flipped.hgn", &flipped);
    folder.write("empty.hgn", b"");
    for name in ["short", "flipped", "empty"] {
        assert_snapshot!(
            format!("model_{name}"),
            folder.fails(&format!("predict {name}.hgn toys.csv -o out.csv"), 3)
        );
    }
    assert_snapshot!("model_is_data", folder.fails("inspect toys.csv", 3));
}

#[test]
fn requests_that_a_model_cannot_fulfil() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    folder.succeeds("fit toys.csv --target good --model majority -o m.hgn");
    for line in [
        "sample m.hgn -n 3",
        "loglik m.hgn toys.csv",
        "inspect m.hgn --format bif -o m.bif",
        "explain m.hgn toys.csv --row 13",
        "explain m.hgn toys.csv --row 0",
    ] {
        assert_snapshot!(folder.fails(line, 2));
    }
}

/// Weights that no fit can hold are told as weights, by every family, and no good file is replaced.
#[test]
fn weights_are_refused_before_any_family_meets_them() {
    let folder = Folder::generated("waveform -n 40 -o plain.csv");
    for weight in ["1e30", "1e154", "1e308", "1e-320"] {
        let text = folder.text("plain.csv");
        let weighted = |(m, line): (usize, &str)| match m {
            0 => format!("w,{line}\n"),
            7 => format!("{weight},{line}\n"),
            _ => format!("1,{line}\n"),
        };
        let weighted: String = text.lines().enumerate().map(weighted).collect();
        folder.write("d.csv", weighted.as_bytes());
        for model in ["nb:ml", "nb:bn-svm", "kde-nb", "slb", "lu", "sgbn:or", "fisher:or", "pool,fast=true"] {
            let shown =
                folder.fails(&format!("fit d.csv --target class --weights w --model {model} -o m.hgn"), 3);
            assert!(shown.contains("d.csv, line 8: the weight is"), "{model}: {shown}");
        }
    }
}

/// The least and the largest weight: every family has an answer, or says that so little weight is no row.
#[test]
fn weights_at_both_ends_are_fitted_by_every_family() {
    let folder = Folder::generated("waveform -n 60 -o plain.csv");
    let text = folder.text("plain.csv");
    let weighted = |weight: &str| -> String {
        let line = |(m, line): (usize, &str)| format!("{},{line}\n", if m == 0 { "w" } else { weight });
        text.lines().enumerate().map(line).collect()
    };
    folder.write("heavy.csv", weighted("1e12").as_bytes());
    folder.write("light.csv", weighted("1e-12").as_bytes());
    let fit = |data: &str, model: &str| {
        folder.run(&format!("fit {data}.csv --target class --weights w --model {model} -o m.hgn"))
    };
    for model in [
        "nb:ml",
        "tan:ml-bn-svm,lambda=1,gamma=1",
        "sgbn:or,lambda1=1",
        "fisher:or,lambda1=1",
        "pool,fast=true",
    ] {
        for data in ["heavy", "light"] {
            let run = fit(data, model);
            assert_eq!(run.code, Some(0), "{}", run.show());
        }
    }
    for model in ["kde-nb", "lu", "slb,fraction=0.01"] {
        let heavy = fit("heavy", model);
        assert_eq!(heavy.code, Some(0), "{}", heavy.show());
        let light = fit("light", model);
        let told = "all rows together weigh 6.0e-11, less than two rows";
        assert!(light.code == Some(3) && light.stderr.contains(told), "{}", light.show());
        assert!(light.stderr.contains("multiply all weights by the same number"), "{}", light.show());
    }
}

#[test]
fn a_model_that_needs_classes_says_so() {
    let folder = Folder::with(&[("toys.csv", &TOYS.replace("0.25,no", "0.25,"))]);
    assert_snapshot!(folder.fails("fit toys.csv --target good --semi-supervised --model pool -o m.hgn", 2));
}

#[test]
fn a_text_among_numbers_at_prediction_names_file_and_line() {
    let folder = Folder::with(&[("toys.csv", TOYS), ("q.csv", "size,weight\n1,2\n\n2,heavy\n")]);
    folder.succeeds("fit toys.csv --target good --model nb:ml -o m.hgn");
    assert_snapshot!(folder.fails("predict m.hgn q.csv", 3));
    let spreadsheet = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0\x1b[2J[Content_Types].xml";
    folder.write("q.xlsx", spreadsheet);
    assert_snapshot!(folder.fails("predict m.hgn q.xlsx", 3));
}

/// Options beyond which numbers overflow are refused before the fit, so the old model stays.
#[test]
fn options_that_would_overflow_leave_the_old_model() {
    let folder = Folder::generated("corral -n 60 -o d.csv");
    folder.succeeds("fit d.csv --target class --model majority -o m.hgn");
    let old = folder.read("m.hgn");
    for model in ["nb:ml-bn-svm,lambda=1e308,gamma=1", "slb,c=1e300", "slb,floor=1e12", "fisher:or,c=1e300"] {
        let line = format!("fit d.csv --target class --model {model} -o m.hgn -q");
        folder.refuses(&line, 2, &["expected a number", " to 1"]);
        assert!(folder.read("m.hgn") == old, "{model}");
    }
}

/// A new user's file: names of rows, dates, decimal commas and gaps lead to warnings before numbers, and to an error with
/// `--strict`.
#[test]
fn what_looks_wrong_with_the_data_is_told_first() {
    let row = |m: usize| {
        let gap = if m.is_multiple_of(7) { String::new() } else { format!("{},{}", m * 13 % 50, m % 10) };
        format!(
            "P{m:03};{}.{}.2021;{gap};{},{}50;{};{}\n",
            m % 28 + 1,
            m % 12 + 1,
            m % 7 + 1,
            m % 9,
            m * 37 % 43,
            ["well", "ill"][m * 5 % 11 % 2]
        )
    };
    let text: String =
        std::iter::once("patient;visit;dose;paid;age;state\n".to_string()).chain((0..80).map(row)).collect();
    let folder = Folder::with(&[("d.csv", &text)]);
    let run = folder.run("evaluate d.csv --target state --folds 2 --model nb:ml --report r.html");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for (column, problem) in [("patient", "names"), ("visit", "dates")] {
        let line = run.stderr.lines().find(|l| l.contains(&format!("`{column}`"))).unwrap_or_default();
        assert!(line.starts_with("warning: ") && line.contains(problem), "{}", run.stderr);
        let page = folder.text("r.html");
        let (top, _) = page.split_once("<p class=\"verdict\">").unwrap();
        let (_, warnings) = top.split_once("What looks wrong").expect("warnings stand above the verdict");
        assert!(warnings.contains(&format!("<li>column `{column}`")), "{column}: {warnings}");
    }
    assert!(!run.stderr.contains("`age`"), "{}", run.stderr);
    assert!(
        run.stderr.contains("note: read as numbers with decimal commas: `dose`, `paid`"),
        "{}",
        run.stderr
    );
    let refused = folder.fails("fit d.csv --target state --model nb:ml -o m.hgn --strict", 3);
    assert!(refused.contains("dates") && refused.contains("--ignore visit"), "{refused}");
    folder.succeeds("fit d.csv --target state --model nb:ml -o m.hgn --strict --ignore patient,visit");
}
