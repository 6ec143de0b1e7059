//! What the program writes to: nothing that is read, nothing twice, nothing that is read-only; links, pipes and modes stay.

use crate::good::TOYS;
use crate::support::{Folder, program};
use insta::assert_snapshot;

fn folder() -> Folder {
    let folder = Folder::with(&[("q.csv", TOYS), ("t.csv", TOYS), ("e.csv", "from,to\nsize,good\n")]);
    folder.succeeds("fit q.csv --target good --model majority -o m.hgn");
    folder
}

/// Runs a command that must be refused and leave every file as it was.
#[track_caller]
fn leaves_files(folder: &Folder, line: &str, code: i32) -> String {
    let contents = || folder.names().iter().map(|name| folder.read(name)).collect::<Vec<_>>();
    let before = contents();
    let shown = folder.fails(line, code);
    assert!(before == contents(), "{line} has changed a file");
    shown.split("--- stderr\n").nth(1).unwrap_or_default().to_string()
}

#[test]
fn no_command_overwrites_what_it_reads() {
    let folder = folder();
    folder.write("g.csv", b"size\n1\n\n");
    for (line, input) in [
        ("inspect m.hgn --format html --data q.csv -o q.csv", "q.csv"),
        ("inspect m.hgn -o ./m.hgn", "m.hgn"),
        ("evaluate q.csv --target good --test t.csv --json t.csv", "t.csv"),
        ("evaluate q.csv --target good --model dag:ml,edges=e.csv --json e.csv", "e.csv"),
        ("evaluate q.csv --target good --model dag:ml --sweep edges=e.csv,t.csv --json t.csv", "t.csv"),
        ("fit q.csv --target good --model dag:ml,edges=e.csv -o e.csv", "e.csv"),
        ("fit q.csv --target good --model pool,mask=g.csv -o g.csv", "g.csv"),
        ("fit q.csv --target good --model pool,a=dag:ml+edges=e.csv -o e.csv", "e.csv"),
        ("predict m.hgn q.csv -o m.hgn", "m.hgn"),
        ("loglik m.hgn q.csv -o q.csv", "q.csv"),
        ("sample m.hgn -o m.hgn", "m.hgn"),
        ("network q.csv --arcs e.csv -o e.json -o q.csv", "q.csv"),
    ] {
        let error = leaves_files(&folder, line, 2);
        assert!(error.contains(&format!("{input} is an input and would be overwritten")), "{line}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn an_input_under_another_name_is_still_an_input() {
    let folder = folder();
    std::fs::hard_link(folder.path().join("q.csv"), folder.path().join("hard.csv")).unwrap();
    std::os::unix::fs::symlink("q.csv", folder.path().join("soft.csv")).unwrap();
    for other in ["hard.csv", "soft.csv"] {
        let error = leaves_files(&folder, &format!("fit q.csv --target good --model majority -o {other}"), 2);
        assert!(error.contains("is an input"), "{error}");
    }
    let redirected = std::fs::File::open(folder.path().join("q.csv")).unwrap();
    let mut command = folder.command("fit - --target good --model majority -o q.csv");
    let output = command.stdin(redirected).output().unwrap();
    assert_eq!((output.status.code(), folder.text("q.csv").as_str()), (Some(2), TOYS));
}

#[test]
fn no_command_writes_two_results_to_one_place() {
    let folder = folder();
    for line in [
        "generate gbn -n 20 -o g --truth g",
        "generate gbn -n 20 --truth -",
        "evaluate q.csv --target good --model majority --report r.html --json ./r.html",
        "evaluate q.csv --target good --model majority --report - --json -",
        "network q.csv -o n.json -o n.json",
    ] {
        let error = leaves_files(&folder, line, 2);
        assert!(error.contains("two outputs would be written to"), "{line}: {error}");
    }
    let page = folder.run("evaluate q.csv --target good --model majority --folds 2 --report -");
    assert!(page.stdout.trim_end().ends_with("</html>"), "the table does not follow the page");
}

#[test]
fn a_report_is_a_page() {
    let folder = folder();
    let line =
        |name: &str| format!("evaluate q.csv --target good --model majority --folds 2 --report {name}");
    assert_snapshot!(leaves_files(&folder, &line("x.pdf"), 2));
    leaves_files(&folder, &line("x"), 2);
    folder.succeeds(&line("x.HTM"));
    assert!(folder.text("x.HTM").starts_with("<!DOCTYPE html>"));
}

#[cfg(unix)]
#[test]
fn links_pipes_modes_and_read_only_files_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let permissions = |mode: u32| std::fs::Permissions::from_mode(mode);
    let fit = |name: &str| format!("fit q.csv --target good --model majority -o {name}");
    let model = folder.read("m.hgn");

    std::fs::set_permissions(at("m.hgn"), permissions(0o600)).unwrap();
    symlink("m.hgn", at("link")).unwrap();
    folder.succeeds(&fit("link"));
    assert!(at("link").is_symlink());
    assert_eq!(at("m.hgn").metadata().unwrap().permissions().mode() & 0o777, 0o600);

    std::fs::set_permissions(at("m.hgn"), permissions(0o444)).unwrap();
    let error = leaves_files(&folder, &fit("m.hgn"), 1);
    assert!(error.contains("cannot write m.hgn: the file is read-only"), "{error}");

    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = at("pipe");
        move || std::fs::read(pipe).unwrap()
    });
    folder.succeeds(&fit("pipe"));
    // the version before turned the pipe into a file, and its reader would wait for ever
    assert!(at("pipe").metadata().unwrap().file_type().is_fifo());
    assert!(reader.join().unwrap() == model);

    let run = folder.run("predict m.hgn q.csv -o /dev/stdout");
    assert!(run.code == Some(0) && run.stdout.starts_with("row,prediction"), "{}", run.show());
    let leftover = folder.names().into_iter().filter(|name| name.starts_with('.')).collect::<Vec<_>>();
    assert!(leftover.is_empty(), "{leftover:?}");
}

/// Names, classes and cells with escape sequences, a bell, a carriage return and a mark that turns the writing direction.
const HOSTILE: &str = "x\u{1b}[31m,a\u{202e}b,y\n1,u\u{7},p\u{1b}]0;t\u{7}\n2,v\u{9b}2J,q\n3,u\u{7},p\u{1b}]0;t\u{7}\n4,v\u{9b}2J,q\n";

#[test]
fn no_text_of_the_data_commands_the_terminal() {
    let folder = Folder::with(&[("d.csv", HOSTILE)]);
    folder.succeeds("fit d.csv --target y --model nb:ml -o m.hgn");
    folder.write("bad.csv", "x\u{1b}[31m,y\n1,p\n\u{1b}[2J,q\n".as_bytes());
    folder.write("q.csv", "x\u{1b}[31m,a\u{202e}b\n1,\u{1b}[2J\n".as_bytes());
    for line in [
        "fit d.csv --target y --model nb:ml -o m.hgn -v",
        "fit d.csv --target z --model nb:ml -o m.hgn",
        "evaluate d.csv --target y --model nb:ml --folds 2",
        "predict m.hgn q.csv -o p.csv",
        "predict m.hgn q.csv --unseen error",
        "predict m.hgn bad.csv",
        "explain m.hgn d.csv --row 1",
        "inspect m.hgn",
        "network d.csv --target y",
    ] {
        let run = folder.run(line);
        let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!run.stdout.contains(harmful) && !run.stderr.contains(harmful), "{}", run.show());
    }
    let shown = folder.succeeds("inspect m.hgn");
    assert!(shown.contains("x\\u{1b}[31m") && shown.contains("p\\u{1b}]0;t\\u{7}"), "{shown}");
}

/// `script` gives a program a terminal and keeps what it shows there.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_tables_and_networks_as_it_shows_text_and_files_hold_them_as_they_are() {
    let folder = Folder::with(&[("d.csv", HOSTILE)]);
    folder.succeeds("fit d.csv --target y --model nb:ml -o m.hgn");
    for line in ["predict m.hgn d.csv --explain", "sample m.hgn -n 4", "inspect m.hgn --format dot"] {
        let piped = folder.run(line).stdout;
        assert!(piped.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{line}: {piped}");
        let words = format!("{} {line} --quiet 2> quiet", program().display());
        let mut command = std::process::Command::new("script");
        let run = command.args(["-qec", &words, "/dev/null"]).current_dir(folder.path()).output().unwrap();
        let shown = String::from_utf8(run.stdout).unwrap();
        assert!(run.status.success() && !shown.is_empty(), "{line}: {shown}");
        let harmful = |c: char| (c.is_control() && c != '\n' && c != '\r') || c == '\u{202e}';
        assert!(!shown.contains(harmful), "{line}: {shown:?}");
    }
}

#[test]
fn cells_that_a_spreadsheet_would_run_are_warned_of_and_written_as_they_are() {
    let data = "x,y\n1,=1+1\n2,-3\n1,=1+1\n2,-3\n";
    let folder = Folder::with(&[("d.csv", data)]);
    folder.succeeds("fit d.csv --target y --model nb:ml -o m.hgn");
    let run = folder.run("predict m.hgn d.csv -o p.csv");
    assert!(run.stderr.contains("column `prediction`: `=1+1` begins like a formula"), "{}", run.show());
    assert!(!run.stderr.contains("`-3`"), "a number is no formula: {}", run.show());
    assert_eq!(folder.text("p.csv"), "row,prediction\n1,=1+1\n2,-3\n3,=1+1\n4,-3\n");
}

#[test]
fn chosen_class_weights_are_told_by_their_option() {
    let folder = Folder::generated("mixed -n 120 -o d.csv");
    let run = folder.run("fit d.csv --target class --model slb,fraction=0.5 -o m.hgn");
    assert!(run.stderr.contains("note: chose class_weights = "), "{}", run.show());
    assert!(folder.succeeds("inspect m.hgn").contains("chosen      class_weights = "));
}
