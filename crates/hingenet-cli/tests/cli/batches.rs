//! Tables in several files, and predictions in batches: what is written and said is the same as for one file at once.

use crate::good::TOYS;
use crate::support::Folder;
use std::path::Path;

/// Rows with everything that predictions tell of: absent columns, unseen categories, numbers far outside, large integers.
const ROWS: &str = "\
colour,size
red,1
violet,2
,?
blue,900
red,-70
mauve,9007199254740993
green,2
";

/// A folder with models and the rows, whole and in files of their own.
fn folder() -> Folder {
    let folder = Folder::with(&[("toys.csv", TOYS), ("rows.csv", ROWS)]);
    folder.succeeds("fit toys.csv --target good --model nb:ml --calibrate-sets=0.5 -o nb.hgn");
    folder.succeeds("fit toys.csv --target good --model pool,fast=true -o pool.hgn");
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    let (header, rows) = ROWS.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (number, part) in [&rows[..2], &[], &rows[2..3], &rows[3..]].iter().enumerate() {
        folder.write(
            &format!("parts/part-{number}.csv"),
            format!("{header}\n{}\n", part.join("\n")).as_bytes(),
        );
    }
    folder.write("parts/_SUCCESS", b"");
    folder
}

#[test]
fn predictions_in_batches_are_those_of_all_rows_at_once() {
    let folder = folder();
    for line in [
        "predict nb.hgn rows.csv",
        "predict nb.hgn rows.csv --proba --coverage 0.8 --explain=terms",
        "predict pool.hgn rows.csv --proba --terms",
        "predict pool.hgn rows.csv --explain",
    ] {
        let whole = folder.run(line);
        assert_eq!((whole.code, whole.stdout.lines().count()), (Some(0), 8), "{}", whole.show());
        assert!(whole.stderr.contains("3 of 7 rows lie far outside"), "{}", whole.stderr);
        for n in [1, 2, 3, 7] {
            let batches = folder.run(&format!("{line} --batch-rows {n}"));
            assert_eq!((&batches.stdout, &batches.stderr), (&whole.stdout, &whole.stderr), "{line} by {n}");
            folder.succeeds(&format!("{line} --batch-rows {n} -o p.csv"));
            assert_eq!(folder.text("p.csv"), whole.stdout, "{line} by {n}");
        }
        let input = folder.run_with_input(&format!("{} --batch-rows 3", line.replace("rows.csv", "-")), ROWS);
        assert_eq!(input.stdout, whole.stdout, "{line} from standard input");
        for parts in ["parts", "parts/part-?.csv"] {
            for n in [2, 100] {
                let parts = folder.run(&format!("{} --batch-rows {n}", line.replace("rows.csv", parts)));
                assert_eq!(parts.stdout, whole.stdout, "{line} of {}", parts.show());
            }
        }
    }
    let told = folder.run("predict nb.hgn rows.csv --batch-rows 3 -v").stderr;
    assert!(told.contains("rows were read in 3 batches of 3"), "{told}");
    assert!(told.contains("column `colour`: 5 categories, 1 cell missing"), "{told}");
    assert!(!folder.run("predict nb.hgn rows.csv -v").stderr.contains("batches"));
}

#[test]
fn a_batch_that_fails_leaves_nothing_of_those_before() {
    let folder = folder();
    folder.write("p.csv", b"old");
    folder.write("rows.csv", format!("{ROWS}red,big\n").as_bytes());
    let shown = folder.fails("predict nb.hgn rows.csv --batch-rows 2 -o p.csv", 3);
    assert!(shown.contains("rows.csv, line 9") && folder.text("p.csv") == "old", "{shown}");
    let run = folder.run("predict nb.hgn rows.csv --batch-rows 2");
    assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""));
    folder.write("rows.csv", ROWS.as_bytes());
    let shown = folder.fails("predict nb.hgn rows.csv --batch-rows 2 --strict -o p.csv", 3);
    assert!(folder.text("p.csv") == "old", "{shown}");
    let shown = folder.fails("predict nb.hgn rows.csv --batch-rows 1 --unseen error -o p.csv", 3);
    assert!(shown.contains("rows.csv, line 3") && shown.contains("`violet`"), "{shown}");
    folder.write("parts/part-3.csv", b"colour,size\nred,1\nred,big\n");
    folder.refuses("predict nb.hgn parts --batch-rows 2 -o p.csv", 3, &["parts/part-3.csv, line 3"]);
}

/// Columns without cells in a batch, and notes of many, are told as of the whole table.
#[test]
fn notes_are_those_of_the_whole_table() {
    let folder = folder();
    let rows = "colour,size,weight\nred,?,\nblue,9007199254740993,\nred,9007199254740995,\n";
    folder.write("rows.csv", rows.as_bytes());
    let whole = folder.run("predict nb.hgn rows.csv").stderr;
    let batches = folder.run("predict nb.hgn rows.csv --batch-rows 1").stderr;
    assert_eq!(whole, batches);
    assert!(
        whole.contains("column `weight`: every cell is missing") && !whole.contains("`size`: every"),
        "{whole}"
    );
    assert!(whole.contains("line 3: `9007199254740993`") && !whole.contains("9007199254740995"), "{whole}");
}

#[test]
fn more_rows_than_fit_the_memory_are_predicted() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    folder.succeeds("fit toys.csv --target good --model nb:ml -o m.hgn");
    let rows: String = TOYS.lines().skip(1).collect::<Vec<_>>().join("\n") + "\n";
    folder.write("many.csv", format!("colour,size,weight,good\n{}", rows.repeat(5000)).as_bytes());
    folder.fails("loglik m.hgn many.csv --max-memory 500k -o l.csv", 3);
    folder.succeeds("predict m.hgn many.csv --proba --max-memory 500k -o p.csv");
    let found = folder.text("p.csv");
    folder.succeeds("predict m.hgn many.csv --proba --max-memory 500k --batch-rows 5000 -o more.csv");
    assert!(found == folder.text("more.csv"), "batches of a size that was asked for");
    assert_eq!(found.lines().count(), 60_001);
    folder.succeeds("predict m.hgn many.csv --proba -o whole.csv");
    assert!(found == folder.text("whole.csv"), "batches of another size");
}

#[test]
fn every_command_takes_a_table_in_several_files() {
    let folder = Folder::with(&[("toys.csv", TOYS)]);
    std::fs::create_dir(folder.path().join("toys")).unwrap();
    let (header, rows) = TOYS.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (number, part) in rows.chunks(5).enumerate() {
        folder.write(&format!("toys/{number}.csv"), format!("{header}\n{}\n", part.join("\n")).as_bytes());
    }
    let run = |line: &str| {
        let run = folder.run(line);
        assert_eq!(run.code, Some(0), "{}", run.show());
        crate::support::without_times(&run.stdout)
    };
    folder.succeeds("fit toys.csv --target good --model nb:ml -o a.hgn");
    folder.succeeds("fit toys --target good --model nb:ml -o b.hgn");
    assert_eq!(run("predict a.hgn toys.csv --proba"), run("predict b.hgn toys --proba"));
    for line in [
        "evaluate toys.csv --target good --model nb:ml --folds 3",
        "evaluate toys.csv --target good --model nb:ml --test toys.csv",
        "explain a.hgn toys.csv --row 7",
        "loglik a.hgn toys.csv",
        "impute a.hgn toys.csv",
        "network toys.csv --ignore colour --target good",
    ] {
        assert_eq!(run(line), run(&line.replace("toys.csv", "toys")), "{line}");
        assert_eq!(run(line), run(&line.replace("toys.csv", "toys/?.csv")), "{line}");
    }
}

#[test]
fn an_output_is_no_file_of_the_table_it_is_made_from() {
    let folder = folder();
    for (line, problem) in [
        ("predict nb.hgn parts -o parts/part-1.csv", "would become a file of the table parts"),
        ("predict nb.hgn parts -o parts/new.csv", "would become a file of the table parts"),
        (
            "predict nb.hgn parts/*.csv -o parts/part-1.csv",
            "parts/part-1.csv is an input and would be overwritten",
        ),
    ] {
        folder.refuses(line, 2, &[problem]);
    }
    // names that are not there yet, of inputs and outputs that are written in other ways
    let whole = folder.path().join("parts/part-7.csv").display().to_string();
    for (pattern, output) in [
        ("parts/part-*.csv", "parts/part-7.csv"),
        ("./parts/part-[0-9].csv", &whole),
        ("?arts/*.csv", "./parts/../parts/part-7.csv"),
    ] {
        let run = folder.run(&format!("predict nb.hgn {pattern} -o {output}"));
        let problem = format!("{output} would become a file of the table {pattern}");
        assert!(run.code == Some(2) && run.stderr.contains(&problem), "{}", run.show());
        assert!(!Path::new(&whole).exists());
    }
    folder.succeeds("predict nb.hgn parts/part-?.csv -o part-7.csv");
    folder.succeeds("predict nb.hgn parts/part-*.csv -o parts/answers.csv");
    std::fs::remove_file(folder.path().join("parts/answers.csv")).unwrap();
    folder.succeeds("fit parts --target colour --drop-unlabelled --model majority -o ./parts/m.hgn");
    folder.refuses("predict nb.hgn none/*.csv", 3, &["none/*.csv"]);
}
