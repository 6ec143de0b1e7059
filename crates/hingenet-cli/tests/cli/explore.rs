//! `hingenet explore`: a page that asks the program, until a signal ends it.

#![cfg(unix)]

use crate::interrupt::{exit_code, signal};
use crate::support::Folder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

/// A running program and the address that it printed.
struct Explorer {
    child: Child,
    host: String,
    token: String,
}

impl Explorer {
    fn start(folder: &Folder, line: &str) -> Self {
        let mut child = folder.command(line).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let (host, token) =
            url.strip_prefix("http://").and_then(|u| u.trim_end().split_once("/?token=")).unwrap();
        let (host, token) = (host.to_string(), token.to_string());
        Explorer { child, host, token }
    }

    /// Sends a request with its last headers and its body; gives head and body of the response.
    fn send(&self, first: &str, rest: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        write!(stream, "{first} HTTP/1.1\r\nHost: {}\r\n{rest}", self.host).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head.to_string(), body.to_string())
    }

    fn page(&self) -> String {
        let (head, body) = self.send(&format!("GET /?token={}", self.token), "\r\n");
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        body
    }

    fn ask(&self, question: Value) -> Value {
        let body = question.to_string();
        let headers = format!(
            "Authorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        let (head, body) = self.send("POST /ask", &headers);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}\n{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Ends it by a signal; the exit code, if it has one.
    fn end(mut self, name: &str) -> Option<i32> {
        signal(&self.child, name);
        exit_code(&mut self.child)
    }
}

/// A test that fails leaves no server behind.
impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn with_models() -> Folder {
    let folder = Folder::generated("mixed -n 300 --seed 1 -o d.csv");
    folder.succeeds("fit d.csv --target class --model tan:ml -o tan.hgn");
    folder
}

#[test]
fn a_page_is_served_and_its_questions_are_answered_as_by_query() {
    let folder = with_models();
    folder.succeeds("query tan.hgn --given oil=dark --json answer.json");
    let files = folder.names();
    let explorer = Explorer::start(&folder, "explore tan.hgn d.csv --no-open");
    let page = explorer.page();
    let given = page.split("id=\"explorer-given\">").nth(1).unwrap().split("</script>").next().unwrap();
    let given: Value = serde_json::from_str(given).unwrap();
    assert_eq!(given["server"]["token"], explorer.token.as_str());
    assert_eq!(given["rows"]["total"], 300);
    let is_known = |class: &Value| class.is_number();
    assert!(
        given["rows"]["columns"][0].as_array().unwrap().iter().all(is_known),
        "the rows have their class"
    );

    let columns = given["facts"]["columns"].as_array().unwrap();
    let oil = columns.iter().position(|c| c["name"] == "oil").unwrap();
    let states: Vec<f64> =
        columns[oil]["states"].as_array().unwrap().iter().map(|s| f64::from(s == "dark")).collect();
    assert_eq!(states.iter().sum::<f64>(), 1.0);
    let known = json!([{ "column": oil, "states": states }]);
    let beliefs = explorer.ask(json!({ "beliefs": { "known": known, "about": 0 } }));
    let asked: Value = serde_json::from_str(&folder.text("answer.json")).unwrap();
    let target = &asked["posterior"][asked["target"].as_str().unwrap()];
    for (state, p) in
        columns[0]["states"].as_array().unwrap().iter().zip(beliefs["classes"].as_array().unwrap())
    {
        let (ours, theirs) = (p.as_f64().unwrap(), target[state.as_str().unwrap()].as_f64().unwrap());
        assert!((ours - theirs).abs() < 1e-12, "{state}: {ours} and {theirs}");
    }
    let classes = explorer.ask(json!({ "classes": { "sets": [[], known] } }));
    let difference =
        |c: usize| classes[1]["classes"][c].as_f64().unwrap() - beliefs["classes"][c].as_f64().unwrap();
    assert!((0..3).all(|c| difference(c).abs() < 1e-12), "{classes} and {beliefs}");
    assert!(explorer.ask(json!("nonsense"))["error"].is_string());

    std::fs::remove_file(folder.path().join("answer.json")).unwrap();
    assert_eq!(explorer.end("INT"), Some(0), "Ctrl-C is how it is ended");
    assert_eq!(folder.names().len() + 1, files.len(), "nothing is written");
}

/// A pool answers in parallel; with one thread, which waits for questions, there is no other to help.
#[test]
fn one_thread_is_enough() {
    let folder = with_models();
    folder.succeeds("fit d.csv --target class --model pool,fast=true -o pool.hgn");
    let explorer = Explorer::start(&folder, "explore pool.hgn --threads 1 --no-open");
    assert!(explorer.page().contains("explorer-given"));
    let beliefs = explorer.ask(json!({ "beliefs": { "known": [], "about": 0 } }));
    let sum: f64 = beliefs["classes"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    assert_eq!(explorer.end("TERM"), None, "ended by the signal");
}

#[test]
fn what_cannot_be_explored_is_an_error() {
    let folder = with_models();
    folder.fails("explore absent.hgn --no-open", 3);
    folder.fails("explore tan.hgn absent.csv --no-open", 3);
    folder.fails("explore d.csv --no-open", 3);
    let first = Explorer::start(&folder, "explore tan.hgn --no-open");
    let port = first.host.split(':').nth(1).unwrap().to_string();
    let second = folder.fails(&format!("explore tan.hgn --no-open --port {port}"), 2);
    assert!(second.contains(&format!("cannot listen on port {port} of 127.0.0.1")), "{second}");
    assert!(second.contains("leave out --port"), "{second}");
    first.end("INT");
}

/// The browser is for people: it opens where the address goes to a terminal and there is a screen.
#[test]
fn the_browser_opens_for_people_only() {
    let folder = with_models();
    let opener = "#!/bin/sh\necho \"$1\" >opened.part && mv opened.part opened\n";
    folder.write("xdg-open", opener.as_bytes());
    folder.write("open", opener.as_bytes());
    for name in ["xdg-open", "open"] {
        std::fs::set_permissions(folder.path().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let opened = folder.path().join("opened");

    let mut piped = folder.command("explore tan.hgn");
    let mut child = piped.env("PATH", &path).env("DISPLAY", ":0").spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal(&child, "INT");
    assert_eq!(exit_code(&mut child), Some(0));
    assert!(!opened.exists(), "nobody sees where the address goes");

    // `script` of util-linux gives a program a terminal
    if !Command::new("script").arg("--version").output().is_ok_and(|o| o.status.success()) {
        eprintln!("there is no `script`: a terminal is not tried");
        return;
    }
    let program = crate::support::program();
    let mut terminal = Command::new("script");
    terminal
        .args(["-qec", &format!("exec {} explore tan.hgn", program.display()), "/dev/null"])
        .current_dir(folder.path());
    terminal.env("PATH", &path).env("DISPLAY", ":0").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = terminal.spawn().unwrap();
    let mut url = String::new();
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    shown.read_line(&mut url).unwrap();
    let start = std::time::Instant::now();
    while !opened.exists() {
        assert!(start.elapsed().as_secs() < 30, "the browser was not started");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(folder.text("opened").trim_end(), url.trim_end());
    // Ctrl-C as a terminal sends it
    child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    assert_eq!(exit_code(&mut child), Some(0));
}

#[test]
fn differences_of_class_networks_come_with_their_support() {
    let folder = Folder::with(&[]);
    folder.succeeds("generate gbn -n 300 --seed 1 -o gbn.csv");
    folder.succeeds("fit gbn.csv --target class --model sgbn:search,rounds=2 -o gbn.hgn");
    folder.succeeds("inspect gbn.hgn --data gbn.csv --shuffles 12 --format html -o page.html");
    let found = |page: &str| -> Value {
        let (_, rest) = page.split_once("id=\"explorer-given\">").unwrap();
        let given: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
        assert!(given["rows"]["columns"][0][0].is_number(), "rows have their class");
        given["differences"].clone()
    };
    let offline = found(&folder.text("page.html"));
    let first = &offline["found"][0];
    let support = first["support"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&support) && offline["expected"].is_number(), "{first}");
    assert!(folder.text("page.html").contains("How the classes differ"));
    let explorer = Explorer::start(&folder, "explore gbn.hgn gbn.csv --shuffles 12 --no-open");
    assert_eq!(found(&explorer.page()), offline);
    explorer.end("TERM");
    folder.succeeds("inspect gbn.hgn --data gbn.csv --shuffles 0 --format html -o page.html");
    assert!(found(&folder.text("page.html")).is_null());
    folder.fails("inspect gbn.hgn --data gbn.csv --shuffles 3 --format html -o page.html", 2);
}
