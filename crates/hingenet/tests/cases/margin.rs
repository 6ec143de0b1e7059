//! Golden cases of the margin-trained parameters of the discrete family.

use super::discrete::structure;
use super::{Check, all_close, flat, indices, list};
use hingenet::discrete::Network;
use hingenet::numeric::log::softmax;
use serde_json::Value;
use std::path::Path;

/// What is checked.
pub const CASES: &[(&str, Check)] = &[("normalise", normalise)];

fn normalise(file: &Value, _: &Path) {
    for case in list(file, "cases") {
        let network = Network::new(structure(case), flat(&case["w_in"])).unwrap().normalised().unwrap();
        all_close(network.w(), &flat(&case["w_out"]), 1e-10, "normalised parameters");
        let posterior: Vec<f64> =
            list(case, "Z").iter().flat_map(|z| posterior(&network, &indices(z))).collect();
        all_close(&posterior, &flat(&case["posterior"]), 1e-10, "posterior");
    }
}

/// P(c | z) of a complete row; its class (position 0) is ignored.
fn posterior(network: &Network, row: &[usize]) -> Vec<f64> {
    let score = |c: usize| network.log_joint(|i| if i == 0 { c } else { row[i] });
    let mut scores: Vec<f64> = (0..network.structure().n_classes()).map(score).collect();
    softmax(&mut scores);
    scores
}
