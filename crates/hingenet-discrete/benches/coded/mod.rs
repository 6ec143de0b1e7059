//! Coded rows from a folder that the side-by-side benchmarks write: `meta.json` (rows, test_rows, states,
//! classes) and one byte a cell, column after column (`x.u8`, `y.u8`, `xt.u8`, `yt.u8`), 255 for missing.

use hingenet_base::numeric::log::argmax;
use hingenet_data::table::Codes;
use hingenet_discrete::{Network, Samples};
use std::path::{Path, PathBuf};

/// Training rows, test features and test classes.
pub struct Coded {
    pub training: Samples,
    pub test: Vec<Codes>,
    pub test_class: Vec<u8>,
}

/// The folder behind `--data`, if it was given.
pub fn data_folder() -> Option<PathBuf> {
    let mut args = std::env::args().skip_while(|a| a != "--data").skip(1);
    args.next().map(PathBuf::from)
}

/// Reads a folder.
pub fn read(folder: &Path) -> Coded {
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let meta: serde_json::Value = serde_json::from_slice(&bytes("meta.json")).unwrap();
    let size = |key: &str| meta[key].as_u64().unwrap() as usize;
    let columns =
        |name: &str, rows: usize| bytes(name).chunks(rows).map(|c| Codes::U8(c.to_vec())).collect::<Vec<_>>();
    let states = meta["states"].as_array().unwrap().iter().map(|s| s.as_u64().unwrap() as usize);
    let card = std::iter::once(size("classes")).chain(states).collect();
    let mut all = vec![Codes::U8(bytes("y.u8"))];
    all.extend(columns("x.u8", size("rows")));
    Coded {
        training: Samples::new(card, all, None).unwrap(),
        test: columns("xt.u8", size("test_rows")),
        test_class: bytes("yt.u8"),
    }
}

/// Share of test rows classified right.
pub fn accuracy(network: &Network, data: &Coded) -> f64 {
    let joint = hingenet_discrete::inference::log_joint_rows(network, &data.test).unwrap();
    let k = network.structure().n_classes();
    let right = joint.chunks(k).zip(&data.test_class).filter(|(s, c)| argmax(s) == usize::from(**c)).count();
    right as f64 / data.test_class.len() as f64
}
