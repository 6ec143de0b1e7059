//! Rows that differ from those of training, names that are nearly right, files that need an option: what is told, and that
//! the remedy works.

use crate::good::TOYS;
use crate::support::Folder;

/// A folder with a model of the toys.
fn with_model() -> Folder {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    folder.succeeds("fit toys.csv --target good --model nb:ml -o m.hgn");
    folder
}

/// The same with these rows in `q.csv`, and what predicting them shows.
#[track_caller]
fn predicted(rows: &str) -> (Folder, String) {
    let folder = with_model();
    folder.write("q.csv", rows.as_bytes());
    let shown = folder.succeeds("predict m.hgn q.csv");
    (folder, shown)
}

/// The line of stderr that holds this text.
#[track_caller]
fn line_with<'a>(shown: &'a str, text: &str) -> &'a str {
    shown.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no `{text}` in {shown}"))
}

#[test]
fn a_file_with_none_of_the_columns_is_refused_by_every_command() {
    let folder = with_model();
    folder.write("other.csv", b"a;b\n1;2\n");
    for command in ["predict m.hgn other.csv", "explain m.hgn other.csv --row 1", "loglik m.hgn other.csv"] {
        let shown = folder.fails(command, 3);
        assert!(line_with(&shown, "error:").contains("none of the 3 columns of training"), "{shown}");
        let hint = line_with(&shown, "hint:");
        assert!(hint.contains("`colour`, `size`, `weight`") && hint.contains("`a`, `b`"), "{hint}");
        assert!(hint.contains("--delimiter") && hint.contains("--no-header"), "{hint}");
    }
}

#[test]
fn absent_columns_are_named_with_what_may_be_meant() {
    let (folder, shown) = predicted("Colour,size\nred,1\n");
    let line = line_with(&shown, "2 of 3 columns of training are not in the file");
    assert!(line.starts_with("warning:") && line.contains("`colour`, `weight`"), "{line}");
    assert!(line.contains("is `Colour` of the file meant to be `colour`?"), "{line}");
    let shown = folder.fails("predict m.hgn q.csv --strict -o out.csv", 3);
    assert!(shown.contains("or leave out --strict"), "{shown}");
}

#[test]
fn rows_far_from_training_and_unseen_categories_are_counted() {
    let (folder, shown) = predicted("colour,size,weight\nred,1,2\nmauve,1,2000\nred,-7,1\nmauve,2,1\n");
    let far = line_with(&shown, "far outside");
    assert!(
        far.contains("2 of 4 rows") && far.contains("`size` (as far as -7; training saw 1 to 3)"),
        "{far}"
    );
    assert!(far.contains("`weight` (as far as 2000; training saw 0.125 to 2.5)"), "{far}");
    let unseen = line_with(&shown, "`mauve`");
    assert!(unseen.contains("column `colour`: 2 of 4 cells"), "{unseen}");
    folder.fails("predict m.hgn q.csv --strict", 3);
    assert!(
        !folder.succeeds("predict m.hgn toys.csv --strict").contains("warning"),
        "training rows are near"
    );
    let one = folder.succeeds("explain m.hgn q.csv --row 2");
    assert!(one.contains("1 of 1 row ") && !one.contains("-7"), "{one}");
    let tested = folder.fails("evaluate toys.csv --target good --model nb:ml --test q.csv --strict", 3);
    assert!(tested.contains("there is no column `good`"), "{tested}");
}

#[test]
fn test_rows_are_compared_with_those_of_training() {
    let folder =
        Folder::with(&[("toys.csv", TOYS), ("t.csv", "colour,weight,good\nred,900,yes\nred,1,no\n")]);
    let line = "evaluate toys.csv --target good --model nb:ml --test t.csv";
    let shown = folder.succeeds(line);
    assert!(
        shown.contains("1 of 2 rows lie far outside") && shown.contains("1 of 3 columns of training is"),
        "{shown}"
    );
    folder.fails(&format!("{line} --strict"), 3);
}

#[test]
fn decimal_commas_come_back_in_prediction() {
    let text = TOYS.replace(',', ";").replace('.', ",");
    let folder = Folder::with(&[("toys.csv", TOYS), ("commas.csv", &text)]);
    let shown = folder.succeeds("fit commas.csv --target good --model nb:ml -o c.hgn");
    assert!(line_with(&shown, "decimal commas").contains("read as numbers with decimal commas: `weight`"));
    folder.succeeds("fit toys.csv --target good --model nb:ml -o p.hgn");
    let run = |line: &str| folder.run(line).stdout;
    assert_eq!(run("predict c.hgn commas.csv --proba"), run("predict p.hgn toys.csv --proba"));
    assert_eq!(run("predict c.hgn toys.csv --proba"), run("predict c.hgn commas.csv --proba --decimal ,"));
    let refused = folder.fails("fit commas.csv --target good --numeric weight --decimal . -o m.hgn", 3);
    assert!(refused.contains("`2,5` is not a number"), "{refused}");
}

#[test]
fn a_file_without_names_is_read_after_following_the_hint() {
    let rows = TOYS.split_once('\n').unwrap().1;
    let folder = Folder::with(&[("rows.csv", rows)]);
    let hint = folder.fails("fit rows.csv --target good --model nb:ml -o m.hgn", 3);
    assert!(line_with(&hint, "hint:").contains("`--no-header`, and they are c1 to c4"), "{hint}");
    folder.succeeds("fit rows.csv --no-header --target c4 --model nb:ml -o m.hgn");
    assert_eq!(folder.run("predict m.hgn rows.csv --no-header").stdout.lines().count(), 13);
    assert!(folder.fails("predict m.hgn rows.csv", 3).contains("--no-header"));
}

#[test]
fn rows_without_a_class_are_left_out_on_request() {
    let folder = Folder::with(&[("gaps.csv", &TOYS.replace("0.25,no", "0.25,"))]);
    for command in ["fit gaps.csv -o m.hgn", "evaluate gaps.csv --folds 2", "network gaps.csv -o n.json"] {
        let model = if command.starts_with("network") { "" } else { "--model nb:ml" };
        let command = format!("{command} --target good {model}");
        let shown = folder.fails(&command, 3);
        assert!(
            line_with(&shown, "hint:").contains("`--drop-unlabelled`") && shown.contains("line 9"),
            "{shown}"
        );
        let shown = folder.succeeds(&format!("{command} --drop-unlabelled"));
        assert!(shown.contains("note: 1 row without a class left out"), "{shown}");
    }
    folder.write("bad.csv", b"x,y,w\n1,a,1\n2,,1\n3,b,-1\n");
    let shown = folder.fails("fit bad.csv --target y --weights w --drop-unlabelled -o m.hgn", 3);
    assert!(shown.contains("bad.csv, line 4"), "rows keep their lines: {shown}");
}

#[test]
fn names_that_are_nearly_right_are_proposed() {
    let folder = with_model();
    for (line, code, meant) in [
        ("fit toys.csv --target Good -o x.hgn", 3, "`good`"),
        ("fit toys.csv --target good --ignore colr -o x.hgn", 3, "`colour`"),
        ("fit toys.csv --target good --model tan:ml-bnsvm -o x.hgn", 2, "`tan:ml-bn-svm`"),
        ("fit toys.csv --target good --model nb:ml,alhpa=1 -o x.hgn", 2, "`alpha`"),
        ("fit toys.csv --target good --class-weight Yes=2 -o x.hgn", 2, "`yes`"),
        ("fit toys.csv --target good --model nb:ml --weigths w -o x.hgn", 2, "'--weights'"),
        ("sample m.hgn --given color=red", 3, "`colour`"),
        ("sample m.hgn --given colour=rad", 3, "`red`"),
        ("generate wavefrom", 2, "'waveform'"),
        ("evalute toys.csv --target good", 2, "'evaluate'"),
    ] {
        let shown = folder.fails(line, code);
        assert!(shown.contains(meant), "{line}: {shown}");
    }
    let family = folder.fails("fit toys.csv --target good --model tan -o x.hgn", 2);
    assert!(family.contains("one of tan:ml, tan:mcl, tan:mm, tan:bn-svm, tan:ml-bn-svm"), "{family}");
}

#[test]
fn all_models_fit_on_one_screen() {
    let folder = Folder::new();
    let text = folder.run("models").stdout;
    assert!(text.lines().count() <= 40, "{text}");
    assert!(text.lines().filter(|l| l.chars().count() > 120).count() <= 1, "{text}");
    for name in
        ["majority", "nb:RULE", "kdb4:RULE", ":ml-bn-svm", "pool", "slb-all", "fisher:RULE", ":search"]
    {
        assert!(text.contains(name), "{name} in {text}");
    }
    assert!(folder.run("models tan:ml-bn-svm").stdout.contains("lambda (default"));
}
