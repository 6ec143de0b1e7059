//! A sparse Gaussian network for each class, found by a search over orders, and how the classes differ.
//! `cargo run --release -p hingenet --example gaussian`

#![allow(clippy::print_stdout)]

use hingenet::evaluate::generate;
use hingenet::report::ModelReport;
use hingenet::{Dataset, Result, Sgbn, Table};

fn main() -> Result<()> {
    let data = Dataset::new(generate("gbn", Some(400), 1)?, "class", None)?;
    let model = Sgbn::search().rounds(5).fit(&data)?;
    let report = ModelReport::of(&model, &Table::default(), &[])?;
    for network in report.class_networks.iter().flat_map(|networks| &networks.networks) {
        println!("class {}", network.class.as_deref().unwrap_or_default());
        network.arcs.iter().for_each(|arc| println!("  {} -> {}: {:+.2}", arc.from, arc.to, arc.weight));
    }
    Ok(())
}
