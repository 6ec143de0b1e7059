//! Golden cases of the discrete family.

use super::{Check, all_close, close, flat, indices, list};
use hingenet_base::control::Control;
use hingenet_base::graph::Dag;
use hingenet_base::numeric::log::softmax;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::{Codes, Column};
use hingenet_discrete::inference::{self, Inference};
use hingenet_discrete::structure::{self, PairStatistics, Root};
use hingenet_discrete::{Network, Samples, Structure, counts};
use serde_json::Value;
use std::path::Path;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[
    ("c1", c1),
    ("counts", counts),
    ("datasets", datasets),
    ("loglik", loglik),
    ("mdl", mdl),
    ("missing", missing),
    ("tan", tan),
];

/// The graph of a case.
pub fn dag(case: &Value) -> Dag {
    Dag::new(list(case, "parents").iter().map(indices).collect()).unwrap()
}

/// The structure of a case.
pub fn structure(case: &Value) -> Structure {
    Structure::new(indices(&case["card"]), dag(case)).unwrap()
}

/// Rows of states (missing = -1) as coded columns.
pub fn columns(card: &[usize], rows: &[Value]) -> Vec<Codes> {
    let rows: Vec<Vec<f64>> = rows.iter().map(flat).collect();
    let cell = |x: f64| (x >= 0.0).then_some(x as usize);
    let column = |i: usize| Codes::from_options(card[i], rows.iter().map(|row| cell(row[i])));
    (0..card.len()).map(column).collect()
}

/// The rows a case refers to by `X_ref`, with its weights.
pub fn samples(case: &Value, dir: &Path) -> Samples {
    let text = std::fs::read_to_string(dir.join("datasets.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let card = indices(&case["card"]);
    let rows = list(&file["datasets"][case["X_ref"].as_str().unwrap()], "X");
    let weights = case.get("weights").filter(|w| !w.is_null()).map(flat);
    Samples::new(card.clone(), columns(&card, rows), weights).unwrap()
}

fn counts(file: &Value, dir: &Path) {
    for case in list(file, "cases") {
        let s = structure(case);
        let alpha = case["alpha"].as_f64().unwrap();
        let n = counts::smoothed_counts(&s, &samples(case, dir), alpha).unwrap();
        all_close(&n, &flat(&case["counts"]), 1e-10, "counts");
        let w = counts::ml_parameters(&s, &n).unwrap();
        all_close(&w, &flat(&case["ml_params"]), 1e-10, "ml_params");
    }
}

fn tan(file: &Value, dir: &Path) {
    for case in list(file, "cases") {
        let pairs = PairStatistics::new(&samples(case, dir), &Control::default()).unwrap();
        let want: Vec<Vec<f64>> = list(case, "cmi_nats").iter().map(flat).collect();
        for i in 1..want.len() {
            for j in 1..want.len() {
                close(pairs.conditional_information(i, j), want[i][j], 1e-12, "cmi_nats");
            }
        }
        for (key, root) in [("root_first", Root::First), ("root_min_params", Root::MinParams)] {
            let tree = structure::tan(&pairs, root).unwrap();
            assert_eq!(tree.dag(), &dag(&case[key]), "{key}");
            let arcs = tree.dag().arcs().filter(|(from, _)| *from != 0);
            let mut edges: Vec<Vec<usize>> = arcs.map(|(a, b)| vec![a.min(b), a.max(b)]).collect();
            edges.sort();
            assert_eq!(edges, list(case, "tree_edges").iter().map(indices).collect::<Vec<_>>());
        }
    }
}

/// The network of a case of `missing.json`.
fn network(case: &Value) -> Network {
    Network::new(structure(case), flat(&case["params"])).unwrap()
}

fn missing(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let network = network(case);
        let card = network.structure().card();
        let rows = list(case, "Z");
        let k = card[0];
        let got = inference::log_joint_rows(&network, &columns(card, rows)[1..]).unwrap();
        let inference = Inference::new(&network);
        for (m, scores) in got.chunks(k).enumerate() {
            let mut posterior = scores.to_vec();
            let evidence = softmax(&mut posterior);
            all_close(&posterior, &flat(&case["posterior"][m]), 1e-10, "posterior");
            close(evidence, case["log_evidence"][m].as_f64().unwrap(), 1e-10, "log_evidence");
            let mut states: Vec<Option<usize>> =
                flat(&rows[m]).iter().map(|&x| (x >= 0.0).then_some(x as usize)).collect();
            states[0] = None;
            close(inference.log_evidence(&states).unwrap(), evidence, 1e-10, "evidence by elimination");
        }
    }
}

fn loglik(file: &Value, dir: &Path) {
    let text = std::fs::read_to_string(dir.join("missing.json")).unwrap();
    let params: Value = serde_json::from_str(&text).unwrap();
    for (case, from) in list(file, "cases").iter().zip(list(&params, "cases")) {
        let network = network(from);
        let card = network.structure().card();
        let rows = list(case, "X");
        let scores = inference::log_joint_rows(&network, &columns(card, rows)[1..]).unwrap();
        all_close(&scores, &flat(&case["class_scores"]), 1e-10, "class_scores");
        let states: Vec<Vec<usize>> = rows.iter().map(indices).collect();
        let joint: Vec<f64> = states.iter().map(|x| network.log_joint(|i| x[i])).collect();
        all_close(&joint, &flat(&case["log_joint"]), 1e-10, "log_joint");
        let mean = joint.iter().sum::<f64>() / joint.len() as f64;
        close(mean, case["mean_log_joint"].as_f64().unwrap(), 1e-10, "mean_log_joint");
    }
}

fn c1(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let dag = dag(case);
        let covering = dag.covering_parents(0);
        assert_eq!(covering.is_ok(), case["is_c1"].as_bool().unwrap(), "{case}");
        let children: Vec<usize> = (0..dag.len()).filter(|&i| dag.has_arc(0, i)).collect();
        assert_eq!(children, indices(&case["class_children"]));
        for i in children {
            let want = indices(&case["covering_parents"][i.to_string()]);
            assert_eq!(dag.covering_parent(i).into_iter().collect::<Vec<_>>(), want, "node {i} of {case}");
        }
    }
}

/// Rows that other files refer to by `X_ref`; nothing to check but that they are there.
fn datasets(file: &Value, _: &Path) {
    assert!(!file["datasets"].as_object().unwrap().is_empty());
}

fn mdl(file: &Value, _: &Path) {
    let tolerance = file["tolerance"]["cuts_abs"].as_f64().unwrap();
    for case in list(file, "cases") {
        let name = case["name"].as_str().unwrap();
        let class = indices(&case["y"]);
        let n_classes = class.iter().max().unwrap() + 1;
        let class = Codes::from_options(n_classes, class.into_iter().map(Some));
        let x = Column::numeric(name, flat(&case["x"]));
        let coder = FeatureCoder::learn(&x, &class, n_classes, None).unwrap();
        let FeatureCoder::Cuts { cuts } = &coder else { panic!("{name}: no cuts") };
        all_close(cuts, &flat(&case["cuts"]), tolerance, name);
        let codes: Vec<usize> = coder.code_column(&x).unwrap().iter().flatten().collect();
        assert_eq!(codes, indices(&case["codes_of_x"]), "{name}");
        assert_eq!(coder.n_states(), case["bins"].as_u64().unwrap() as usize, "{name}");
    }
}
