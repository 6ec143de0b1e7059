//! `hingenet network`: what it prints and writes, and how it fails.

use crate::support::Folder;
use insta::assert_snapshot;

/// Rows of x -> y -> z with a class in which z hangs on x instead.
fn rows() -> String {
    let mut text = String::from("x,y,z,w,class\n");
    let mut state = 12345u64;
    let mut noise = || {
        let mut sum = 0.0;
        for _ in 0..12 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            sum += (state >> 40) as f64 / (1u64 << 24) as f64;
        }
        sum - 6.0
    };
    for m in 0..200 {
        let (x, w) = (noise(), noise());
        let y = 0.9 * x + 0.6 * noise();
        let class = if m % 2 == 0 { "a" } else { "b" };
        let z = if m % 2 == 0 { 0.9 * y + 0.8 * w } else { -0.9 * x + 0.8 * w } + 0.6 * noise();
        text += &format!("{x:.4},{y:.4},{z:.4},{w:.4},{class}\n");
    }
    text
}

fn folder() -> Folder {
    Folder::with(&[
        ("d.csv", &rows()),
        ("truth.csv", "from,to\nx,y\ny,z\nw,z\n"),
        ("arcs.csv", "from,to,rule\ny,x,forbidden\nw,z,required\n"),
        ("nodes.csv", "node,group,tier,x,y\nx,left,0,0,1\ny,left,0,1,1\nz,right,1,2,0\nw,right,0,2,1\n"),
    ])
}

#[test]
fn one_network_without_a_target() {
    let folder = folder();
    assert_snapshot!(folder.succeeds("network d.csv --ignore class --truth truth.csv"));
}

#[test]
fn a_network_for_each_class_with_their_differences() {
    let folder = folder();
    for rest in ["--bootstrap 20 --nodes nodes.csv --arcs arcs.csv", "--method or --lambda1 40", "--method h"]
    {
        assert_snapshot!(folder.succeeds(&format!("network d.csv --target class {rest}")));
    }
}

#[test]
fn independence_tests_leave_directions_open() {
    let folder = folder();
    assert_snapshot!(
        folder.succeeds("network d.csv --ignore class --truth truth.csv --method pc --alpha 0.01")
    );
}

#[test]
fn every_method_of_the_help_learns() {
    let folder = folder();
    let help = folder.succeeds("network --help");
    let tests = ["pc", "gs", "iamb", "fast-iamb", "inter-iamb", "tc", "tc-bw"];
    for name in tests.into_iter().chain(["search", "h", "l1mb"]) {
        assert!(help.contains(&format!("- {name}:")), "{name}");
        folder.succeeds(&format!("network d.csv --ignore class --method {name} -o {name}.json --quiet"));
        let json: serde_json::Value = serde_json::from_str(&folder.text(&format!("{name}.json"))).unwrap();
        assert!(!json["networks"][0]["arcs"].as_array().unwrap().is_empty(), "{name}");
    }
    assert!(["or", "or-printed", "h-whole"].iter().all(|name| help.contains(&format!("- {name}:"))));
    let learn = |rest: &str| folder.succeeds(&format!("network d.csv --ignore class --method {rest}"));
    assert!(learn("or --start l1mb").contains("OR-SGBN from L1MB"));
    assert!(learn("or-printed --lambda1 20").contains("Algorithm 3 as printed, lambda1 20"));
    assert!(learn("h-whole").contains("warning: H-SGBN of the whole network, which goes to and fro"));
}

#[test]
fn every_format_is_written_and_the_json_has_the_recovery_scores() {
    let folder = folder();
    let line = "network d.csv --target class --nodes nodes.csv --truth truth.csv --bootstrap 10 --half-samples \
                -o n.json -o n.dot -o n.svg -o n.html";
    folder.succeeds(line);
    let json: serde_json::Value = serde_json::from_str(&folder.text("n.json")).unwrap();
    assert_eq!(json["networks"].as_array().unwrap().len(), 2);
    assert!(json["networks"][0]["errors"]["class_total"].is_u64());
    assert!(json["networks"][0]["arcs"][0]["confidence"]["adjacency"].is_f64());
    assert_eq!(json["networks"][0]["blocks"]["groups"], 2);
    assert!(json["differences"].is_array() && json["expected_false"].is_f64());
    assert!(json["comparisons"][0]["chance"]["gained"].is_f64());
    assert_eq!(json["differences"][0]["second"], "b");
    assert!(folder.text("n.dot").starts_with("digraph") && folder.text("n.dot").contains("cluster_1"));
    assert!(
        folder.text("n.svg").starts_with("<svg") && folder.text("n.svg").contains("class b against class a")
    );
    for id in [
        "network",
        "differences",
        "apart",
        "matrix",
        "arcs",
        "confidence",
        "groups",
        "nodes",
        "recovery",
        "facts",
    ] {
        assert!(folder.text("n.html").contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    let stdout = folder.run("network d.csv --target class -o - --quiet").stdout;
    assert!(stdout.starts_with('{') && stdout.ends_with("}\n"));
}

#[test]
fn the_order_of_rows_and_the_number_of_threads_do_not_matter() {
    let text = rows();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    let folder = Folder::with(&[("d.csv", &text)]);
    let line = "network d.csv --target class --bootstrap 5 -o - --quiet";
    let first = folder.run(&format!("{line} --threads 1")).stdout;
    folder.write("d.csv", (lines.join("\n") + "\n").as_bytes());
    assert_eq!(folder.run(&format!("{line} --threads 2")).stdout, first);
}

#[test]
fn required_and_forbidden_arcs_are_kept() {
    let folder = folder();
    folder.write("rules.csv", b"from,to,rule\nx,w,required\nx,y,forbidden\ny,x,forbidden\n");
    for method in ["search", "or", "h"] {
        let line = format!("network d.csv --ignore class --method {method} --arcs rules.csv -o - --quiet");
        let json: serde_json::Value = serde_json::from_str(&folder.run(&line).stdout).unwrap();
        let arcs = json["networks"][0]["arcs"].as_array().unwrap();
        let has = |from: &str, to: &str| arcs.iter().any(|a| a["from"] == from && a["to"] == to);
        assert!(has("x", "w") && !has("x", "y") && !has("y", "x"), "{method}");
    }
}

#[test]
fn gaussian_models_are_drawn_too() {
    let folder = folder();
    folder.succeeds("fit d.csv --target class --model sgbn:or,lambda1=20 -o m.hgn");
    folder.succeeds("inspect m.hgn --format svg -o m.svg");
    folder.succeeds("inspect m.hgn --format dot -o m.dot");
    folder.succeeds("inspect m.hgn --format html -o m.html");
    assert!(folder.text("m.svg").contains("class a:") && folder.text("m.dot").contains("cluster_1"));
    assert!(folder.text("m.html").contains("<section id=\"apart\""));
}

#[test]
fn generated_networks_come_with_their_arcs() {
    let folder = Folder::new();
    assert_snapshot!(folder.succeeds("generate gbn -n 200 --seed 2 -o g.csv --truth g-arcs.csv"));
    assert_eq!(folder.text("g-arcs.csv").lines().count(), 81);
    folder.succeeds("network g.csv --target class --truth g-arcs.csv --rounds 5");
    assert_snapshot!(folder.fails("generate corral -o c.csv --truth t.csv", 2));
}

#[test]
fn bad_files_of_facts_are_refused_with_file_line_and_column() {
    let folder = folder();
    let refused = |name: &str, option: &str, text: &str, code: i32| {
        folder.write("bad.csv", text.as_bytes());
        let line = format!("network d.csv --ignore class {option} bad.csv -o out.json");
        assert_snapshot!(format!("network_{name}"), folder.fails(&line, code));
    };
    refused("truth_unknown_node", "--truth", "from,to\nx,y\nx,q\n", 3);
    refused("truth_no_column", "--truth", "from,too\nx,y\n", 3);
    refused("truth_cycle", "--truth", "from,to\nx,y\ny,x\n", 3);
    refused("truth_twice", "--truth", "from,to\nx,y\nx,y\n", 3);
    refused("truth_empty_cell", "--truth", "from,to\nx,\n", 3);
    refused("truth_self", "--truth", "from,to\nx,x\n", 3);
    refused("truth_empty", "--truth", "", 3);
    refused("truth_ragged", "--truth", "from,to\nx\n", 3);
    refused("arcs_rule", "--arcs", "from,to,rule\nx,y,maybe\n", 3);
    refused("arcs_contradiction", "--arcs", "from,to,rule\nx,y,required\nx,y,forbidden\n", 3);
    refused("arcs_cycle", "--arcs", "from,to,rule\nx,y,required\ny,x,required\n", 3);
    refused("nodes_twice", "--nodes", "node,group\nx,a\nx,b\n", 3);
    refused("nodes_tier", "--nodes", "node,tier\nx,1.5\n", 3);
    refused("nodes_some_tiers", "--nodes", "node,tier\nx,1\n", 3);
    refused("nodes_half_a_place", "--nodes", "node,x,y\nx,1,\n", 3);
    refused("nodes_text_as_number", "--nodes", "node,x,y\nx,one,2\n", 3);
}

#[test]
fn requests_that_make_no_sense() {
    let folder = folder();
    let fails = |name: &str, rest: &str, code: i32| {
        assert_snapshot!(format!("network_{name}"), folder.fails(&format!("network {rest}"), code));
    };
    fails("lambda1_for_search", "d.csv --lambda1 3", 2);
    fails("alpha_for_search", "d.csv --alpha 0.1", 2);
    fails("alpha_of_one", "d.csv --method gs --alpha 1", 2);
    fails("start_for_pc", "d.csv --method pc --start l1mb", 2);
    fails("lambda1_zero", "d.csv --method or --lambda1 0", 2);
    fails("no_runs", "d.csv --bootstrap 0", 2);
    fails("penalty", "d.csv --penalty -1", 2);
    fails("ending", "d.csv -o net.png", 2);
    fails("half_without_bootstrap", "d.csv --half-samples", 2);
    fails("overwrites_truth", "d.csv --truth truth.csv -o truth.csv", 2);
    folder.write("one.csv", b"x\n1\n2\n3\n");
    fails("one_node", "one.csv", 3);
    folder.write("few.csv", b"x,y,c\n1,2,a\n2,1,b\n3,5,b\n4,1,b\n");
    fails("one_row_in_a_class", "few.csv --target c", 3);
    folder.write("infinite.csv", b"x,y\n1,2\ninf,1\n3,5\n");
    fails("infinity", "infinite.csv", 3);
}

#[test]
fn unusual_columns_are_kept_as_isolated_nodes() {
    let folder =
        Folder::with(&[("d.csv", "x,same,twin,c\n1,5,1,a\n2,5,2,b\n3,5,3,a\n4,5,4,b\n?,5,6,a\n5,5,?,b\n")]);
    assert_snapshot!(folder.succeeds("network d.csv"));
}

/// Categories of one column exclude each other, which is no dependence to draw.
#[test]
fn no_arc_runs_between_indicators_of_one_column() {
    let row = |m: usize| {
        format!("{},{},{}\n", ["low", "mid", "high", "top"][m * 7 % 4], m * 13 % 10, m * 5 % 7 + m % 4)
    };
    let text: String = std::iter::once("level,x,y\n".to_string()).chain((0..200).map(row)).collect();
    let folder = Folder::with(&[("d.csv", &text)]);
    for method in ["search", "or", "h"] {
        folder.succeeds(&format!("network d.csv --method {method} -o net.json"));
        let text = folder.text("net.json");
        assert!(text.starts_with("{\n  \"format\": 1,"), "{text}");
        let ends: Vec<&str> =
            text.lines().filter(|l| l.contains("\"from\":") || l.contains("\"to\":")).collect();
        assert!(
            ends.chunks(2).all(|arc| !arc.iter().all(|end| end.contains("level="))),
            "{method}: {ends:?}"
        );
    }
}
